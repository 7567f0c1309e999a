"""Verdict of a study: agreement of its rows with published figures, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from interpulse.studies.outcome import Row
from interpulse.studies.status import Status

_MOST_NAMED = 3
"""Rows outside that are named, the farthest first."""


class Agreement(StrEnum):
    """How far ours lies from what is printed."""

    NEAR = "within 10 %"
    QUARTER = "within a quarter"
    OUTSIDE = "outside"
    HOLDS = "holds"
    """The paper prints no figure but a statement, such as a bound, and ours meets it."""
    EQUAL = "holds by equality"
    """Ours equals the bound of the statement: a smaller or larger figure would not meet it."""
    FAILS = "fails"
    """It does not."""
    UNDECIDED = "undecided"
    """The confidence interval of ours has values that meet the statement and values that do not."""
    INCONSISTENT = "inconsistent"
    """The paper's own figures contradict it."""
    NONE = "not measured"


APART = (Status.CALIBRATED, Status.BY_CONSTRUCTION)
"""Counted apart: their agreement says nothing about the model."""


def agreement(row: Row) -> Agreement:
    """How far ours lies from what is printed: by the ratio, or by the statement where there is only that."""
    if row.status is Status.PAPER_INCONSISTENT:
        return Agreement.INCONSISTENT
    if row.ours is None:
        return Agreement.NONE
    one_sided = (row.low is None) != (row.high is None)
    if one_sided or row.ratio is None:
        return _statement(row)
    off = round(abs(row.ratio - 1.0), 9)  # 1.1 is not quite 1 and a tenth.
    return Agreement.NEAR if off <= 0.1 else Agreement.QUARTER if off <= 0.25 else Agreement.OUTSIDE


def _statement(row: Row) -> Agreement:
    if row.undecided:
        return Agreement.UNDECIDED
    if not row.holds:
        return Agreement.FAILS
    # Ranks and counts reach a bound; a range of one value has no other way to be met.
    one_sided = (row.low is None) != (row.high is None)
    return Agreement.EQUAL if one_sided and row.ours in (row.low, row.high) else Agreement.HOLDS


def verdict(rows: Sequence[Row]) -> str:
    """How many of these rows, which compare with something published, agree how far, and what is off.

    Args:
        rows: such as `Rows.published` gives.
    """
    if not rows:
        return "verdict: no published figure to compare with"
    by: dict[Agreement, list[Row]] = {each: [] for each in Agreement}
    for row in rows:
        if row.status not in APART:
            by[agreement(row)].append(row)
    near, quarter, outside = (by[each] for each in (Agreement.NEAR, Agreement.QUARTER, Agreement.OUTSIDE))
    held, equal, failed = (by[each] for each in (Agreement.HOLDS, Agreement.EQUAL, Agreement.FAILS))
    figures, statements = len(near + quarter + outside), len(held + equal + failed)
    parts = []
    if figures:
        parts.append(f"{len(near)} of {figures} published figures within 10 %")
        parts += [f"{len(quarter)} within a quarter"] * bool(quarter) + [f"{len(outside)} outside"] * bool(outside)
    if statements:
        reached = f" ({len(equal)} by equality)" if equal else ""
        parts.append(f"{len(held + equal)} of {statements} statements hold{reached}")
    found = ", ".join(parts) or "no published figure that nothing was calibrated on"
    off = [f"{row.name} (x{row.ratio:.3g})" for row in sorted(outside, key=_farness, reverse=True)]
    off += [f"{row.name} (fails)" for row in failed]
    more = [f"and {len(off) - _MOST_NAMED} more"] * (len(off) > _MOST_NAMED)
    named = f"; off: {', '.join([*off[:_MOST_NAMED], *more])}" if off else ""
    apart = [(status.value, sum(row.status is status for row in rows)) for status in APART]
    apart += [(each.value, len(by[each])) for each in (Agreement.INCONSISTENT, Agreement.UNDECIDED, Agreement.NONE)]
    others = ", ".join(f"{count} {word}" for word, count in apart if count)
    return f"verdict: {found}{named}" + (f"; not counted: {others}" if others else "")


def _farness(row: Row) -> float:
    """How far ours lies from what is printed, as a logarithm; infinite where even the sign differs."""
    return abs(math.log(row.ratio)) if row.ratio is not None and row.ratio > 0 else math.inf

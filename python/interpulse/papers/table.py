"""Published figures beside ours, judged and counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from interpulse.studies.status import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interpulse.papers.catalogue import Paper
    from interpulse.studies.outcome import Row, Rows
    from interpulse.studies.registry import Entry


class Agreement(StrEnum):
    """How far ours lies from what is printed."""

    NEAR = "within 10 %"
    QUARTER = "within a quarter"
    OUTSIDE = "outside"
    HOLDS = "holds"
    """The paper prints no figure but a statement, such as a bound, and ours meets it."""
    FAILS = "fails"
    """It does not."""
    INCONSISTENT = "inconsistent"
    """The paper's own figures contradict it."""
    NONE = "not measured"


APART = (Status.CALIBRATED, Status.BY_CONSTRUCTION)
"""What agrees because it was made to says nothing about the model, and is counted apart."""


@dataclass(frozen=True)
class Line:
    """One row of a study that says something of a paper."""

    paper: str
    study: str
    row: Row

    @property
    def agreement(self) -> Agreement:
        """How far ours lies from what is printed: by the ratio, or by the statement where there is only that."""
        row = self.row
        if row.status is Status.PAPER_INCONSISTENT:
            return Agreement.INCONSISTENT
        if row.ours is None:
            return Agreement.NONE
        one_sided = (row.low is None) != (row.high is None)
        if one_sided or row.ratio is None:
            return Agreement.HOLDS if row.holds else Agreement.FAILS
        off = round(abs(row.ratio - 1.0), 9)  # 1.1 is not quite 1 and a tenth.
        return Agreement.NEAR if off <= 0.1 else Agreement.QUARTER if off <= 0.25 else Agreement.OUTSIDE

    def to_dict(self) -> dict[str, Any]:
        """The line as `--json` prints it."""
        return {"paper": self.paper, "study": self.study, "agreement": self.agreement, **self.row.to_dict()}


def lines(paper: Paper, study: Entry, rows: Rows) -> Iterator[Line]:
    """The rows of a study that say something of its paper, in the order of its published figures."""
    for row in rows.published():
        if row.name not in paper.repeats:
            yield Line(paper.name, study.title, row)


def counts(of: Iterable[Line]) -> dict[Status, Counter[Agreement]]:
    """How many lines of each status agree how far."""
    found: dict[Status, Counter[Agreement]] = {}
    for line in of:
        found.setdefault(line.row.status, Counter())[line.agreement] += 1
    return {status: found[status] for status in Status if status in found}


def summary(of: Iterable[Line]) -> str:
    """The counts in two sentences, what was made to agree apart."""
    by_status = counts(of)
    judged = sum((each for status, each in by_status.items() if status not in APART), Counter[Agreement]())
    parts = ", ".join(f"{judged[each]} {_SAID.get(each, each)}" for each in Agreement if judged[each])
    apart = ", ".join(f"{by_status[status].total()} {status}" for status in APART if status in by_status)
    return (
        f"Figures and statements that nothing was calibrated on: {judged.total()} ({parts or 'none'}). "
        f"Counted apart: {apart or 'none'}."
    )


_SAID = {Agreement.HOLDS: "with bounds met", Agreement.FAILS: "with bounds missed"}

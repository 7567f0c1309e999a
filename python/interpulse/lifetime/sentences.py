"""Sentences on a life: ends, time without power, and what suspensions cost in endurance and bring in tails."""

from __future__ import annotations

from collections.abc import Iterator

from interpulse.lifetime.profile import YEAR_DAYS
from interpulse.lifetime.result import Age, Life, Lifetime
from interpulse.runs.estimate import Estimate
from interpulse.tables.format import short_figure

TAIL = "read_p99_9_us"
"""Figure that suspensions lower."""

SAME = 0.01
"""Ratio of tails that is not reported."""


def sentences(each: Lifetime, life: Life) -> Iterator[str]:
    """What ends the drives of a case, what its suspensions cost, and what time without power does."""
    for why, text in (("reserve", "reserve of bad blocks exhausted"), ("ecc", "uncorrectable reads of the host")):
        ends = [end for end in each.ends if end.why == why]
        if not ends:
            continue
        years = sorted({f"{end.day / YEAR_DAYS:.2f}" for end in ends}, key=float)
        span = years[0] if len(years) == 1 else f"{years[0]} to {years[-1]}"
        seen = "" if why == "reserve" else ", in the first window that has some"
        beyond = "" if all(end.reached for end in ends) else ", extrapolated"
        yield f"{each.case}: {text} at {span} years in {len(ends)} of {life.seeds} drives{seen}{beyond}"
    end = each.end()
    if end is not None and end.low is not None and end.high is not None and end.low < end.high:
        mean, low, high = (f"{day / YEAR_DAYS:.2f}" for day in (end.value, end.low, end.high))
        yield f"{each.case}: end of life at {mean} years ({low} to {high}, 95 %)"
    if not each.ends:
        yield f"{each.case}: no drive ends"
    if each.stress:
        yield _cost(each, life.cases)
    yield from _rests(each, life)


def _cost(each: Lifetime, cases: list[Lifetime]) -> str:
    """What suspensions take, against the first case whose suspensions take less."""
    share = f"{each.case}: suspensions cause {100 * each.stress:.2g} % of the wear"
    other = next((case for case in cases if case.stress < each.stress), None)
    ratio = None if other is None else _tail_ratio(each, other)
    if other is None or ratio is None or abs(ratio.value - 1) < SAME:
        return share
    change = f"{100 * abs(ratio.value - 1):.2g} % {'below' if ratio.value < 1 else 'above'} that of {other.case}"
    taken = 100 * (each.stress - other.stress) / (1 - other.stress)
    ends = [case.end() for case in (other, each)]
    years = ""
    if ends[0] is not None and ends[1] is not None:
        years = "; the life changes from {:.2f} to {:.2f} years".format(*(end.value / YEAR_DAYS for end in ends if end))
    return f"{share}: {taken:.2g} % of the endurance for a read p99.9 {change}, over all ages{years}"


def _tail_ratio(each: Lifetime, other: Lifetime) -> Estimate | None:
    """Mean ratio of the tails over the ages at which drives of both cases live; None without any."""
    pairs = []
    theirs = {age.day: age.estimate(TAIL) for age in other.ages}
    for age in each.ages:
        ours, base = age.estimate(TAIL), theirs.get(age.day)
        if ours is not None and base is not None and base.value > 0 and ours.value > 0:
            pairs.append(ours.value / base.value)
    return Estimate.geometric(pairs) if pairs else None


def _rests(each: Lifetime, life: Life) -> Iterator[str]:
    """How reads differ before and after a time without power."""
    if life.profile is None:
        return
    for before, after in zip(each.ages, each.ages[1:], strict=False):
        period = life.profile.at(before.day)
        if period.power or period.begin < before.day:
            continue
        days = f"{after.day - before.day:g} days without power"
        warm = "" if period.celsius is None else f" at {period.celsius:g} °C"
        changes = [
            _change(before, after, "read_p99_us", "read p99", 1, "us"),
            _change(before, after, "retried_share", "retried reads", 100, "%"),
        ]
        if text := ", ".join(filter(None, changes)):
            yield f"{each.case}: {days}{warm} at {before.day / YEAR_DAYS:.2f} years: {text}"


def _change(before: Age, after: Age, figure: str, name: str, scale: float, unit: str) -> str:
    values = [age.estimate(figure) for age in (before, after)]
    if values[0] is None or values[1] is None:
        return ""
    old, new = (short_figure(scale * value.value) for value in values if value)
    return f"{name} {old} to {new} {unit}"

"""What a run comes to in a few lines: what differs between cases, what the slowest reads met, how sure it is."""

from __future__ import annotations

from interpulse.runs.latency import change, figure
from interpulse.tables.format import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from interpulse.runs.latency import Kind

TAILS = {"p99.9": "0.1 %", "p99.99": "0.01 %", "p99": "1 %"}
"""The tails whose causes are told, the first that there is, and how many of all requests they are."""

NAMED_SHARE = 0.2
"""A cause is named beside the largest one where it has at least so much of a tail."""

STEADY = {"yes": "yes", "no": "no, see the warning below", "unknown": "too short to tell"}


def lines(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The lines; none where no case has a latency to tell of."""
    told = [case for case in cases if any(_has(case, kind) for kind in ("read", "write"))]
    if not told:
        return
    kind: Kind = "read" if any(_has(case, "read") for case in told) else "write"
    if len(told) == len(cases) == 2:
        yield _compared(told[0], told[1], kind)
    elif len(told) <= 3:
        yield from (_alone(case, kind) for case in told)
    else:
        yield _range(told, kind)
    yield from _causes(told)
    yield from _steady(told)


def _has(case: Mapping[str, Any], kind: str) -> bool:
    return bool(case.get("latency_us", {}).get(kind, {}).get("count"))


def _of(case: Mapping[str, Any], kind: Kind) -> Mapping[str, Any]:
    found: Mapping[str, Any] = case.get("latency_us", {}).get(kind, {})
    return found


def _name(case: Mapping[str, Any]) -> str:
    return str(case.get("case", "?"))


def _compared(before: Mapping[str, Any], after: Mapping[str, Any], kind: Kind) -> str:
    old, new = _of(before, kind), _of(after, kind)
    parts = [
        f"{kind} {measure} {figure(old, measure)} -> {figure(new, measure)} us"
        f" ({_changed(old.get(measure), new.get(measure))})"
        for measure in ("p99.9", "p99", "mean")
    ]
    iops = [case.get("iops") for case in (before, after)]
    parts.append(f"{number(iops[0], 0)} -> {number(iops[1], 0)} IOPS ({_changed(*iops)})")
    return f"{_name(after)} against {_name(before)}: {', '.join(parts)}"


def _changed(old: float | None, new: float | None) -> str:
    shown = change(old, new)
    return shown if shown == "-" or shown.startswith("x") else f"{shown} %"


def _alone(case: Mapping[str, Any], kind: Kind) -> str:
    of = _of(case, kind)
    tails = ", ".join(f"{kind} {measure} {figure(of, measure)} us" for measure in ("p99.9", "p99", "mean"))
    return f"{_name(case)}: {tails}, {number(case.get('iops'), 0)} IOPS"


def _range(cases: Sequence[Mapping[str, Any]], kind: Kind) -> str:
    by = sorted(
        (case for case in cases if _of(case, kind).get("p99.9") is not None), key=lambda c: _of(c, kind)["p99.9"]
    )
    if not by:
        return f"{len(cases)} cases"
    least, most = (f"{_name(case)} {figure(_of(case, kind), 'p99.9')} us" for case in (by[0], by[-1]))
    return f"{kind} p99.9 of {len(by)} cases: least {least}, most {most}"


def _causes(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the slowest reads waited for, cases with the same answer together."""
    found: dict[tuple[str, tuple[str, ...]], list[tuple[str, float]]] = {}
    for case in cases:
        blame = case.get("tail_blame", {})
        tail = next((each for each in TAILS if each in blame), None)
        if tail is None or not blame[tail].get("shares"):
            continue
        (first, most), *others = sorted(blame[tail]["shares"].items(), key=lambda pair: -pair[1])
        causes = (first, *(cause for cause, share in others[:1] if share >= NAMED_SHARE))
        share = most + sum(share for cause, share in others[:1] if cause in causes)
        found.setdefault((tail, causes), []).append((_name(case), share))
    for (tail, causes), of in found.items():
        names = f"{', '.join(name for name, _ in of)}: " * (len(found) > 1)
        least, most = (f"{100 * end(share for _, share in of):.0f}" for end in (min, max))
        shares = least if least == most else f"{least} to {most}"
        words = " and ".join(cause.replace("_", " ") for cause in causes)
        yield f"{names}the slowest {TAILS[tail]} of reads: {shares} % of their time is {words}"


def _steady(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Whether the windows were steady, cases with the same answer together."""
    found: dict[str, list[str]] = {}
    for case in cases:
        verdict = case.get("steady", {}).get("verdict")
        if verdict in STEADY:
            found.setdefault(STEADY[verdict], []).append(_name(case))
    if len(found) == 1:
        yield f"window steady: {next(iter(found))}"
    elif found:
        each = (f"{words} ({', '.join(names)})" for words, names in found.items())
        yield f"window steady: {'; '.join(each)}"

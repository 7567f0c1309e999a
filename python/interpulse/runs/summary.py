"""Summary of a run in a few lines: differences between cases, causes of the slowest reads, warm-up, steadiness."""

from __future__ import annotations

from interpulse.runs.answer import answer
from interpulse.runs.latency import change, figure
from interpulse.runs.limits import bound_name, limited_by
from interpulse.runs.steadiness import is_uncertain, overload_advice, slope
from interpulse.tables.format import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from interpulse.runs.latency import Kind

TAILS = {"p99.9": "0.1 %", "p99.99": "0.01 %", "p99": "1 %"}
"""Tails in order of preference for the causes, and their share of all requests."""

NAMED_SHARE = 0.2
"""Least share of a tail that names the second largest cause."""

MOST_LIMITS = 2
"""Most cases of which each has a line about what bounds it, with figures; more share one with the names alone."""

CAUSES = {
    "stop": "stopping an operation",
    "suspend": "entering and leaving suspensions",
    "gc": "garbage collection",
    "bus": "the channel",
    "cache": "the write cache",
    "queue": "the submission queue",
    "fault": "stalls by faults",
    "read_cache": "reads in flight",
    "power": "the power budget",
}
"""Causes of latency whose names need other words in a sentence."""

MOST_COMPARED = 5
"""Most cases, of which each after the first has a sentence that compares it with the first."""

LEAST_READS = 10
"""Least number of reads of a tail whose causes are named."""

STEADY = {
    "yes": "yes",
    "no": "no, see the warning below",
    "overloaded": "no, overloaded",
    "unknown": "too short to decide",
}

FIGURES = {
    "waf": ("write amplification", 3),
    "iops": ("IOPS", 0),
    "read_p99_us": ("read p99, us", 1),
    "write_p99_us": ("write p99, us", 1),
    "backlog": ("requests outstanding", 0),
    "erases": ("blocks erased", 0),
    "refused": ("requests refused", 0),
}
"""Figures compared between the halves of a window: label and decimals."""


def config_label(cases: Sequence[Mapping[str, Any]]) -> str:
    """The hash of the configuration; of several cases, one over their hashes, in the order of the cases.

    Raises:
        ValueError: a hash is no hexadecimal number.
    """
    hashes = [str(case.get("config_hash", "")) for case in cases]
    if len(hashes) == 1:
        return f"config {hashes[0]}"
    if wrong := [each for each in hashes if not each.isalnum() or each.strip("0123456789abcdef")]:
        raise ValueError(f"config_hash {wrong[0]!r}: expected a hexadecimal number")
    # Each is uniform, so a sum with odd weights differs where one does or their order does: no digest is needed, whose
    # import would delay every run.
    every = sum((2 * at + 1) * int(each, 16) for at, each in enumerate(hashes)) % 2**128
    return f"config {every:032x} of {len(hashes)} cases"


def lines(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Lines of the summary; none if no case has a latency."""
    measured = [case for case in cases if any(has_latency(case, kind) for kind in ("read", "write"))]
    if not measured:
        return
    for said in (overload_advice, end_of_life, refused, data_loss):
        for case in measured:
            if text := said(case):
                yield text if len(measured) == 1 else f"{_name(case)}: {text}"
    kind: Kind = "read" if any(has_latency(case, "read") for case in measured) else "write"
    if len(measured) == len(cases) == 2:
        yield _compared(measured[0], measured[1], kind)
    elif len(measured) <= 3:
        yield from (alone(case, kind) for case in measured)
    else:
        yield extremes(measured, kind)
    yield from causes_of_tails(measured)
    yield from limits(measured)
    yield from steadiness(measured)


def answers(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Sentences of a short result: what should not be trusted, what changed, why the slowest reads are slow."""
    of, kind = measured(cases)
    is_steady = all(case.get("steady", {}).get("verdict") == "yes" for case in of)
    yield from reservations(of)
    if not is_steady:
        yield from steadiness(of)
    yield from changes(of, kind, whole=len(of) == len(cases))
    yield from causes_of_tails(of)
    yield from limits(of)
    if is_steady:
        yield from steadiness(of)


def measured(cases: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], Kind]:
    """The cases that have latencies, and the kind of request that is compared."""
    of = [case for case in cases if has_latency(case, "all")]
    return of, "read" if any(has_latency(case, "read") for case in of) else "write"


def reservations(of: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Interruption, overload, the end of a drive's life, lost data."""
    for case in of:
        if case.get("interrupted"):
            yield f"{_name(case)}: interrupted: {case['host_requests']:,} requests were measured"
    for said in (overload_advice, end_of_life, refused, data_loss):
        for case in of:
            if text := said(case):
                yield f"{_name(case)}: {text}" if len(of) > 1 else text


def changes(of: Sequence[Mapping[str, Any]], kind: Kind, *, whole: bool) -> Iterator[str]:
    """What each case changes against the first; of one case, or of many, their figures.

    Args:
        of: cases that have latencies.
        kind: whose tail the sentences are about.
        whole: whether no case is missing.
    """
    if len(of) == 1:
        yield alone(of[0], kind)
    elif whole and 1 < len(of) <= MOST_COMPARED:
        yield from (change_sentence(of[0], case) for case in of[1:])
    elif of:
        yield extremes(of, kind)


def change_sentence(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """What one case changes against another."""
    return f"{_name(after)}, against {_name(before)}: {answer(before, after) or 'nothing to compare'}"


def end_of_life(case: Mapping[str, Any]) -> str | None:
    """When the drive became read-only and how much the host had written; None if it did not."""
    smart = case.get("smart", {})
    if not smart.get("read_only"):
        return None
    written = smart["host_bytes_written"] / 1e9
    dead = smart.get("failed_dies", 0)
    why = "a lane had no reserved block left" if not dead else "the dies or reserved blocks left no longer sufficed"
    return (
        f"read-only from {smart['read_only_since_s']:.4g} s on: {why} after"
        f" {written:,.4g} GB of host data, {smart['percentage_used']:.0f} % of the rated cycles"
    )


def refused(case: Mapping[str, Any]) -> str | None:
    """Requests that the drive refused in the window, and flows of which it refused all; None if it refused none."""
    count = case.get("refused_requests")
    if not count:
        return None
    flows = case.get("flows", [])
    of_flow = [each["name"] for each in flows if each.get("refused_requests", 0) == each["host_requests"] > 0]
    named = f", all of {' and '.join(of_flow)}" if of_flow and len(flows) > 1 else ""
    zones = case.get("zones", {})
    failed = [*zones.get("failed_writes", {}).items(), *zones.get("failed_others", {}).items()]
    most = f", most with {max(failed, key=lambda pair: pair[1])[0]}" if failed else ""
    return f"{count:,} of {case['host_requests']:,} requests refused{named}{most}; they are not among the IOPS"


def data_loss(case: Mapping[str, Any]) -> str | None:
    """How much data faults have made uncorrectable, and on how many failed dies; None if there is none."""
    smart = case.get("smart", {})
    if not smart.get("lost_bytes"):
        return None
    dead = smart["failed_dies"]
    dies = f" with {dead} failed {'die' if dead == 1 else 'dies'}" if dead else ""
    reads = smart["reads_of_lost_data"]
    repaired = " of single drives, before repair by the array" if "array" in case else ""
    return (
        f"data lost: {smart['lost_bytes'] / 2**20:,.4g} MiB{repaired}{dies}, of which"
        f" {smart['lost_bytes_at_end'] / 2**20:,.4g} MiB were not written again; {reads:,} page reads failed"
    )


def has_latency(case: Mapping[str, Any], kind: str) -> bool:
    """Whether requests of this kind have completed."""
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


def alone(case: Mapping[str, Any], kind: Kind) -> str:
    """Tails and throughput of a case."""
    of = _of(case, kind)
    tails = ", ".join(f"{kind} {measure} {figure(of, measure)} us" for measure in ("p99.9", "p99", "mean"))
    return f"{_name(case)}: {tails}, {number(case.get('iops'), 0)} IOPS"


def extremes(cases: Sequence[Mapping[str, Any]], kind: Kind) -> str:
    """The cases with the least and the greatest tail."""
    by = sorted(
        (case for case in cases if _of(case, kind).get("p99.9") is not None), key=lambda c: _of(c, kind)["p99.9"]
    )
    if not by:
        return f"{len(cases)} cases"
    least, most = (f"{_name(case)} {figure(_of(case, kind), 'p99.9')} us" for case in (by[0], by[-1]))
    return f"{kind} p99.9 of {len(by)} cases: least {least}, most {most}"


def causes_of_tails(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Causes of the slowest reads, with one line for cases that have the same causes."""
    found: dict[tuple[str, tuple[str, ...]], list[tuple[str, float]]] = {}
    for case in cases:
        blame = case.get("tail_blame", {})
        # Fewer requests, often of one event, say nothing about causes.
        tail = next((each for each in TAILS if blame.get(each, {}).get("reads", 0) >= LEAST_READS), None)
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
        words = " and ".join(CAUSES.get(cause, cause.replace("_", " ")) for cause in causes)
        yield f"{names}the slowest {TAILS[tail]} of reads: {shares} % of their time is {words}"


def limits(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What bounds the throughput of each case; of many cases the names of the bounds."""
    if len(cases) <= MOST_LIMITS:
        for case in cases:
            if text := limited_by(case):
                yield f"{f'{_name(case)}: ' * (len(cases) > 1)}limited by {text}"
        return
    found: dict[str, list[str]] = {}
    for case in cases:
        if bound := bound_name(case):
            found.setdefault(bound, []).append(_name(case))
    if len(found) == 1 and sum(map(len, found.values())) == len(cases):
        yield f"all cases limited by {next(iter(found))}"
    elif found:
        each = (f"{bound}: {', '.join(names)}" for bound, names in found.items())
        yield f"limited by {'; by '.join(each)}"


def steadiness(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Steadiness of the windows, grouped by verdict."""
    found: dict[str, list[str]] = {}
    for case in cases:
        steady = case.get("steady", {})
        if words := STEADY.get(steady.get("verdict", "")):
            if "erases" in steady.get("unsure", ()):
                words += "; no block was erased yet, and write amplification rises when collection begins"
            elif steady["verdict"] == "yes" and is_uncertain(case):
                words += ", but too short for write amplification"
            found.setdefault(words, []).append(_name(case))
    if len(found) == 1:
        rises = f"; {slope(cases[0])}" if len(cases) == 1 and slope(cases[0]) else ""
        yield f"window steady: {next(iter(found))}{rises}"
    elif found:
        each = (f"{words} ({', '.join(names)})" for words, names in found.items())
        yield f"window steady: {'; '.join(each)}"


def warmup_lines(name: str, case: Mapping[str, Any]) -> Iterator[str]:
    """A line about the warm-up, if any or impossible, and a warning if the window was not steady."""
    warmup, steady = case.get("warmup", {}), case.get("steady", {})
    by, why = warmup.get("by"), warmup.get("why")
    if by == "none":
        yield f"{name}: no warm-up: {why}"
    elif by in ("load", "synthetic"):
        flow = "" if by == "load" else " of a synthetic flow before the trace"
        spent = f"{warmup['host_requests']:,} requests, {number(warmup['simulated_s'], 3)} s simulated"
        yield f"{name}: warmed up by {spent}{flow}" + (f"; {why}" if why else "")
    if steady.get("verdict") == "no":
        yield (
            f"warning: {name}: the window was not steady: {_halves(steady, 'drifts')} (first half, second half);"
            " give run.warmup or the window more time"
        )
    elif text := overload_advice(case):
        yield f"warning: {name}: {text}, or read the figures as those of a transient"
    elif steady.get("verdict") == "unknown":
        yield f"{name}: the window is too short to decide whether it was steady{_unsure(steady)}"
    if rises := slope(case):
        yield f"{name}: {rises}"


def _halves(steady: Mapping[str, Any], which: str) -> str:
    def text(name: str) -> str:
        label, digits = FIGURES.get(name, (name, 3))
        first, second = (number(half, digits) for half in steady["halves"][name])
        return f"{label} {first}, then {second}"

    return "; ".join(text(name) for name in steady[which])


def _unsure(steady: Mapping[str, Any]) -> str:
    if not steady.get("unsure"):
        return ""
    blocks = steady.get("lane_blocks")
    wrote = "" if blocks is None else f"; the host wrote {number(blocks, 2)} blocks of each lane"
    return f": {_halves(steady, 'unsure')}{wrote}"

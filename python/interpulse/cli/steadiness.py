"""What the terminal says of how sure a result is: how its drive came to work, and whether its window was steady."""

from __future__ import annotations

from interpulse.tables.format import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

FIGURES = {
    "waf": ("write amplification", 3),
    "iops": ("IOPS", 0),
    "read_p99_us": ("read p99, us", 1),
    "write_p99_us": ("write p99, us", 1),
}
"""The figures that are compared between the halves of a window, and the digits behind the point they are shown with."""


def lines(name: str, case: Mapping[str, Any]) -> Iterator[str]:
    """A line about the warm-up, if there was one or none could be, and a warning where the window was not steady."""
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
    elif steady.get("verdict") == "unknown":
        yield f"{name}: the window is too short to tell whether it was steady{_unsure(steady)}"


def _halves(steady: Mapping[str, Any], which: str) -> str:
    def figure(name: str) -> str:
        label, digits = FIGURES.get(name, (name, 3))
        first, second = (number(half, digits) for half in steady["halves"][name])
        return f"{label} {first}, then {second}"

    return "; ".join(figure(name) for name in steady[which])


def _unsure(steady: Mapping[str, Any]) -> str:
    if not steady.get("unsure"):
        return ""
    blocks = steady.get("lane_blocks")
    wrote = "" if blocks is None else f"; the host wrote {number(blocks, 2)} blocks of each lane"
    return f": {_halves(steady, 'unsure')}{wrote}"

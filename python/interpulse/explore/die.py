"""Timeline of the die that the slowest read waited for, as rectangles and as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from interpulse.logs.columns import Rows
from interpulse.report.cause_names import CAUSES, LOOKS, REST
from interpulse.report.charts import INK, Key
from interpulse.report.context import CAUSE_OF_USE
from interpulse.runs.answer import time as time_text

_NAMES = {
    "host_reads": "other reads",
    "programs": "program of the host",
    "gc": "garbage collection",
    "erases": "erase",
    "stop": "running on to a stop",
    "suspend": "suspended",
    "rest": "other",
}

KEYS = {
    "own": Key("the read itself", INK, hatch=" "),
    **{cause: Key(name, LOOKS.get(cause, REST)[0], hatch=LOOKS.get(cause, REST)[1]) for cause, name in _NAMES.items()},
}
"""What the colours mean, by cause."""

HEIGHTS = {"pulse": 1.0, "sense": 1.0, "verify": 0.6, "out": 0.45, "load": 0.45, "suspended": 0.15, "hold": 0.15}
"""Heights of phases; others are low."""

LOW = 0.3

MOST_PHASES = 2_000
"""Phases that are drawn: the last ones."""

NAMED = 0.05
"""Least share of a latency that names a cause."""

COLUMNS = ("left", "right", "bottom", "top", "what")


@dataclass(frozen=True)
class DieTimeline:
    """What one die did around the slowest read; times in us since it arrived."""

    title: str = ""
    pieces: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    """By key, the columns of its rectangles."""
    begin: float = 0.0
    end: float = 1.0
    latency: float = 0.0


def timeline(rows: Sequence[Rows], slowest: Mapping[str, Any] | None) -> DieTimeline:
    """The timeline from recorded rows; an empty one where nothing was recorded."""
    if slowest is None:
        return DieTimeline()
    numbers = [number for each in rows if each.table == "timeline.requests" for (number,) in each.values("number")]
    names = ("drive", "die", "from_ns", "to_ns", "what", "use", "operation", "block", "suspends", "request")
    phases = [row for each in rows if each.table == "timeline.dies" for row in each.values(*names)]
    own = [row for row in phases if row[-1] is not None and numbers[row[-1]] == slowest["number"]]
    if not own:
        return DieTimeline()
    drive, die = own[-1][:2]
    mine = [row for row in phases if row[:2] == (drive, die) and row[4] != "idle"][-MOST_PHASES:]
    arrival = slowest["arrival_ns"]
    pieces: dict[str, dict[str, list[Any]]] = {key: {name: [] for name in COLUMNS} for key in KEYS}
    for _, _, begin, end, what, use, operation, block, suspends, request in mine:
        is_own = request is not None and numbers[request] == slowest["number"]
        cause = CAUSE_OF_USE.get(use, "rest")
        of = pieces["own" if is_own else cause if cause in KEYS else "rest"]
        times = f", suspended {suspends} times" if suspends and operation else ""
        where = f", {operation} of block {block}{times}" if operation and block is not None else ""
        for name, value in zip(
            COLUMNS,
            ((begin - arrival) / 1e3, (end - arrival) / 1e3, 0.0, HEIGHTS.get(what, LOW), f"{what}{where}"),
            strict=True,
        ):
            of[name].append(value)
    several = len({row[0] for row in phases}) > 1
    return DieTimeline(
        title=f"drive {drive}, die {die}" if several else f"die {die}",
        pieces=pieces,
        begin=(mine[0][2] - arrival) / 1e3,
        end=(mine[-1][3] - arrival) / 1e3,
        latency=slowest["latency_ns"] / 1e3,
    )


def waits(slowest: Mapping[str, Any] | None) -> str:
    """What the slowest read waited for, the longest first."""
    if slowest is None:
        return "No read ended in the window."
    latency = slowest["latency_ns"]
    parts = list(_parts(slowest, latency))
    said = f": {'; '.join(parts)}" if parts else ""
    return f"The slowest read took {time_text(latency / 1e3)}{said}."


def _parts(slowest: Mapping[str, Any], latency: int) -> Iterator[str]:
    causes = {name: slowest.get(f"{name}_ns") or 0 for name in CAUSES}
    for name, ns in sorted(causes.items(), key=lambda pair: -pair[1]):
        if ns >= NAMED * latency:
            yield f"{time_text(ns / 1e3)} {CAUSES[name]}"

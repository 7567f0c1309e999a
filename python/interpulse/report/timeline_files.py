"""Recorded timelines beside a result, as `run --timeline worst:K` writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.installation import command
from interpulse.files.paths import open_file, read_text
from interpulse.logs.recording import file_names
from interpulse.logs.trace import Level, Slice
from interpulse.report.runs import Run

MOST_BYTES = 150_000_000
"""A larger trace takes minutes to read and is looked at with `interpulse view`."""

NEEDED = ("number", "arrival_ns", "latency_ns", "kind", "address_bytes", "size_bytes")
"""Fields of every slow request."""


@dataclass(frozen=True)
class Timeline:
    """Timeline of the slowest requests of one case; times in ns from the beginning of the window."""

    case: str
    slowest: Sequence[Mapping[str, Any]]
    """The rows of CASE.slowest.json."""
    slices: Sequence[Slice] = ()
    levels: Sequence[Level] = ()
    why: str = ""
    """Why there is nothing to draw, where there is nothing."""


def beside(run: Run, case: str) -> Timeline | None:
    """The timeline of a case of a run; None where none was recorded.

    Files that are no such timelines, or are of another run, are as good as none: `why` says what is wrong with them.
    """
    if run.folder is None:
        return None
    results = run.result.cases
    at = next(k for k, each in enumerate(results) if each.case == case)
    name = file_names([each.case for each in results])[at]
    path = run.folder / f"{name}.slowest.json"
    if not path.exists():
        return None
    try:
        slowest = _rows(path)
    except (ConfigError, ValueError, TypeError, KeyError, RecursionError) as error:
        return Timeline(case, (), why=f"{path.name} cannot be read: {error}")
    if not _agrees(results[at].raw, slowest):
        return Timeline(case, (), why=f"{path.name} is of another run than result.json and is left out")
    return _with_trace(case, slowest, run.folder / f"{name}.timeline.pftrace")


def _rows(path: Path) -> list[dict[str, Any]]:
    found = json.loads(read_text(path, "the slowest requests"))
    for row in found:
        if any(not isinstance(row[key], int) for key in NEEDED if key != "kind") or not isinstance(row["kind"], str):
            raise ValueError("no list of requests as docs/LOGS.md has it")
    return list(found)


def _agrees(raw: Mapping[str, Any], slowest: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the slowest of a kind took as long as the result says, to the nanosecond."""
    longest: dict[str, int] = {}
    for row in slowest:
        longest[row["kind"]] = max(row["latency_ns"], longest.get(row["kind"], 0))
    known = {kind: raw["latency_us"].get(kind, {}).get("max") for kind in longest}
    return all(us is None or round(us * 1000) == longest[kind] for kind, us in known.items())


def within(track: str) -> str:
    """The name of a track without the first part, the case's name as its files have it."""
    return track.partition(" / ")[2]


def _with_trace(case: str, slowest: Sequence[Mapping[str, Any]], path: Path) -> Timeline:
    try:
        from interpulse.logs import trace

        with open_file(path) as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            why = f"{path.name} has more than {MOST_BYTES:,} bytes, too many for a page: `interpulse view` shows it"
            return Timeline(case, slowest, why=why)
        slices, levels = trace.parsed(content)
    except ImportError:
        return Timeline(case, slowest, why=f"drawing them needs perfetto: {command('timeline')}")
    except FileNotFoundError:
        return Timeline(case, slowest, why="the run ended before they were followed")
    except (OSError, ValueError) as error:
        return Timeline(case, slowest, why=f"{path.name} cannot be read: {error}")
    followed = (each for each in slices if within(each.track).startswith("requests / slowest / "))
    known = {each.args.get("number") for each in followed}
    if not known <= {row["number"] for row in slowest}:
        return Timeline(case, slowest, why=f"{path.name} is of another run than {case}'s slowest requests")
    return Timeline(case, slowest, slices, levels)

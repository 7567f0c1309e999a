"""Recording of a run: a thread that stores its rows beside the result."""

from __future__ import annotations

import json
import math
import re
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from interpulse._core import ConfigError, Handle, Plan, version
from interpulse.configuration.extras import require
from interpulse.logs.columns import RawRows, Rows
from interpulse.logs.files import Growing
from interpulse.logs.options import LogOptions, time_ns, timeline_record
from interpulse.logs.slowest import SlowestRequests, named
from interpulse.tables.format import size

POLL_S = 0.1
"""How long the thread waits for rows."""

BYTES_A_ROW = {"requests": 17, "fio": 38}
"""About what a request takes in each log, as measured on a mixed load of 4 KiB requests."""


class Source(Protocol):
    """Source of rows."""

    def take_rows(self, timeout_s: float) -> RawRows | None:
        """The oldest rows not taken yet."""


@dataclass
class _Case:
    """Rows and files of one case."""

    name: str
    files: dict[str, Growing] = field(default_factory=dict)
    timeline: list[Rows] = field(default_factory=list)
    slowest: list[dict[str, Any]] = field(default_factory=list)
    worst: SlowestRequests | None = None
    requests: int = 0
    whole: bool = False


class Recording:
    """Recording of the cases of a plan into one folder.

    Attributes:
        names: the files that have been written.
        plan: whose cases are recorded. A run of more cases has these first.
        problems: write errors, a line each.
        notes: other messages, a line each.
    """

    def __init__(self, asked: LogOptions, folder: Path, plan: Plan, dashes: str = "") -> None:
        """Checks what can be checked before a run; the folder is there.

        Raises:
            ConfigError: a library is missing, the disk is too small, the run too short.
        """
        self.asked, self.folder, self.plan = asked, folder, plan
        self.names: list[str] = []
        self.problems: list[str] = []
        self.notes: list[str] = []
        self._dashes = dashes
        worst = asked.worst[0] if asked.worst is not None and asked.each else 0
        self._cases = [
            _Case(name, worst=SlowestRequests(worst) if worst else None) for name in file_names(plan.case_names)
        ]
        self._about = {"version": version, "config_hash": plan.config_hash}
        self._failed: set[tuple[int, str]] = set()
        self._second = False
        if asked.parquet:
            for package in ("pyarrow", "numpy"):
                require(package, "frames", f"{dashes}log requests or {dashes}series")
        if asked.timeline:
            for package in ("perfetto", "numpy"):
                require(package, "timeline", f"{dashes}timeline")
        settings = {entry.key: entry.value for entry in plan.entries()}
        self._longest_ns = asked.longest_ns(_dies(settings))
        self._check_room(settings)
        self._check_stretch(settings)

    def _check_room(self, settings: dict[str, str]) -> None:
        requests = settings.get("run.requests", "").replace("_", "")
        if not requests.isdigit():
            return
        free = shutil.disk_usage(self.folder).free
        for name, every in self.asked.logs.items():
            needed = int(requests) // every * BYTES_A_ROW[name] * len(self._cases)
            if needed > free:
                raise ConfigError(
                    f"{self._dashes}log {name}: {int(requests):,} requests of each case take about {size(needed)}, and "
                    f"the disk of {self.folder} has {size(free)}: log one in N of them ({self._dashes}log {name}:1/N)"
                )

    def _check_stretch(self, settings: dict[str, str]) -> None:
        text = settings.get("run.time", "")
        if self.asked.stretch_ns is None or not text[:1].isdigit():
            return
        begin, end = self.asked.stretch_ns
        ends = time_ns("run.time", text)
        if end > ends:
            raise ConfigError(
                f"{self._dashes}timeline {begin:,} ns..{end:,} ns: the run measures {text} (run.time), from 0 to "
                f"{ends:,} ns"
            )

    @property
    def following(self) -> bool:
        """Whether the second run, which follows the slowest requests, has started."""
        return self._second

    def records(self) -> list[str]:
        """The recording request of each case."""
        return [self.asked.record()] * len(self._cases)

    def records_of_second(self) -> list[str]:
        """The same for a second run, which follows the slowest requests; empty where there is none to follow."""
        if self.asked.worst is None or not any(case.slowest for case in self._cases):
            return []
        self._second = True
        return [
            timeline_record(
                [(each["arrival_ns"], each["arrival_ns"] + each["latency_ns"]) for each in case.slowest],
                self._longest_ns,
            )
            if case.slowest
            # The shortest possible run: there is nothing to follow.
            else timeline_record([(0, 1)])
            for case in self._cases
        ]

    def taking(self, handle: Handle) -> Taking:
        """Takes rows from a run inside the context."""
        return Taking(handle, self.take, self.problems)

    def take(self, rows: Rows) -> None:
        """Takes rows."""
        case = self._cases[rows.case]
        if rows.table == "end":
            if not self._second:
                case.requests, case.whole = rows.first("requests"), bool(rows.first("whole"))
                if case.worst is not None:
                    case.slowest = case.worst.rows()
        elif rows.table == "slowest":
            names = named(rows)
            case.slowest = [dict(zip(names, row, strict=True)) for row in rows.values(*names)]
        elif rows.table.startswith("timeline."):
            case.timeline.append(rows)
        else:
            if rows.table == "requests" and case.worst is not None:
                case.worst.take(rows)
                every = self.asked.logs.get("requests")
                if every is None:
                    return
                rows = rows.every(every)
            if (rows.case, rows.table) not in self._failed:
                self._store(case, rows)

    def _store(self, case: _Case, rows: Rows) -> None:
        from interpulse.logs.files import FioFile, FullError, ParquetFile

        try:
            if rows.table not in case.files:
                if rows.table.startswith("fio."):
                    file: Growing = FioFile(self.folder, f"{case.name}_lat.{rows.table.removeprefix('fio.')}.log")
                else:
                    file = ParquetFile(self.folder, f"{case.name}.{rows.table}.parquet")
                case.files[rows.table] = file
            case.files[rows.table].take(rows)
        except FullError:
            file = case.files[rows.table]
            self._failed.add((rows.case, rows.table))
            self.problems.append(f"{file.name} ends after {file.rows:,} rows: the disk of {self.folder} is full")
        except OSError as error:
            self._failed.add((rows.case, rows.table))
            self.problems.append(f"cannot write to {self.folder}: {error.strerror or error}")

    def finish(self) -> None:
        """Ends all files. What could not be written is among the problems, bugs too: none may cost a result."""
        for case in self._cases:
            try:
                self._finish(case)
            except Exception as error:  # noqa: BLE001 - see above
                self.problems.append(_fault(error))

    def _finish(self, case: _Case) -> None:
        about = self._about | {
            "case": case.name,
            "requests": str(case.requests),
            "one_in": str(self.asked.logs.get("requests", 1)),
        }
        for table, file in case.files.items():
            lost = (self._cases.index(case), table) in self._failed
            try:
                if file.close(about | {"whole": json.dumps(case.whole and not lost)}):
                    self.names.append(file.name)
            except (OSError, ValueError) as error:
                self.problems.append(f"cannot write {file.name}: {getattr(error, 'strerror', None) or error}")
        case.files = {}
        if self.asked.timeline:
            self._finish_timeline(case)

    def _finish_timeline(self, case: _Case) -> None:
        from interpulse.logs import trace
        from interpulse.logs.files import store

        windows = [
            row
            for rows in case.timeline
            if rows.table == "timeline.windows"
            for row in rows.values("from_ns", "to_ns", "whole")
        ]
        try:
            if case.slowest:
                raw = json.dumps(case.slowest, indent=2).encode() + b"\n"
                self.names.append(store(self.folder, f"{case.name}.slowest.json", raw))
            if not windows:
                if case.whole and not case.slowest:
                    # Nobody is failed by what only a report would have shown.
                    (self.notes if self.asked.bounded else self.problems).append(self._no_timeline(case))
                return
            content = trace.to_bytes(case.name, case.timeline, case.slowest)
            self.names.append(store(self.folder, f"{case.name}.timeline.pftrace", content))
        except OSError as error:
            self.problems.append(f"cannot write to {self.folder}: {error.strerror or error}")
            return
        for begin, end, whole in windows:
            if not whole:
                self.notes.append(
                    f"{case.name}: the timeline from {begin:,} ns ends at {end:,} ns: there the run ends, or more "
                    "happened than a timeline holds"
                )

    def _no_timeline(self, case: _Case) -> str:
        if self.asked.worst is not None:
            kind = self.asked.worst[1]
            return f"{case.name}: no {kind or 'request'} ended, so that there is no timeline of the slowest"
        begin, _ = self.asked.stretch_ns or (0, 0)
        return f"{case.name}: the run ended before {begin / 1e9:g} s, so that there is no timeline"


class Taking:
    """Takes rows from a run on a thread, and ends with it."""

    def __init__(self, source: Source, take: Callable[[Rows], None], problems: list[str]) -> None:
        self._source, self._take, self._problems = source, take, problems
        self._over = threading.Event()
        self._failed = False
        self._thread = threading.Thread(target=self._run, name="interpulse-rows", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Takes what is left of a run that has ended."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            over = self._over.is_set()
            raw = self._source.take_rows(0 if over else POLL_S)
            if raw is None:
                if over:
                    return
                continue
            # A fault here must not keep the run from ending: the rows are taken all the same.
            if not self._failed:
                try:
                    self._take(Rows.of(raw))
                except Exception as error:  # noqa: BLE001 - nor may it cost the result
                    self._failed = True
                    self._problems.append(_fault(error))


def file_names(cases: Sequence[str]) -> list[str]:
    """What the files of each case begin with: its name without what means something in paths, each another."""
    names: list[str] = []
    for case in cases:
        plain = re.sub(r"[^\w.+=,-]+", "-", case).strip(".") or "case"
        name, k = plain, 2
        while name in names:
            name, k = f"{plain}-{k}", k + 1
        names.append(name)
    return names


def _fault(error: Exception) -> str:
    return f"rows could not be stored: {type(error).__name__}: {error} (please report this: it is a bug)"


def _dies(settings: dict[str, str]) -> int:
    """How many dies there are in all drives, as far as the settings say it."""
    keys = ("geometry.channels", "geometry.chips-per-channel", "geometry.dies-per-chip", "array.drives")
    return math.prod(int(text) for key in keys if (text := settings.get(key, "")).isdigit())

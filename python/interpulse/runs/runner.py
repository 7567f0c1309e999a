"""Runner: a background run, watched from Python and stopped by Ctrl-C within a second."""

from __future__ import annotations

import os
import time

import interpulse._core as _core
from interpulse._core import ConfigError, RunError
from interpulse.configuration.config import Config
from interpulse.configuration.values import whole
from interpulse.files.cache import Cache
from interpulse.files.json_reader import parsed
from interpulse.files.paths import named
from interpulse.runs.result import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike
    from typing import Any, Protocol, Self, TypeAlias

    from interpulse._core import Handle, Plan, Progress
    from interpulse.logs.recording import Recording
    from interpulse.runs.fio.measured import FioRecording

    Keep: TypeAlias = Callable[[int, dict[str, Any]], None]
    """Takes in the result of a case that has ended, by its index in the plan."""

    class Going(Protocol):
        """How far a case has come, as `Progress` says it."""

        @property
        def case(self) -> str:
            """Its name."""

        @property
        def phase(self) -> str:
            """What it is doing."""

        @property
        def done(self) -> int:
            """How much of that is done."""

        @property
        def total(self) -> int:
            """How much there is to do, zero where nobody knows."""

        @property
        def unit(self) -> str:
            """What is counted."""

    class Watcher(Protocol):
        """Observer of a run, called from the thread that waits for it."""

        def progress(self, cases: Sequence[Progress]) -> None:
            """Called about ten times a second with the state of every case."""

        def note(self, line: str) -> None:
            """Called once for each line that the user should see."""


POLL_S = 0.1
"""How long the interpreter sleeps between two looks at a run: also the longest delay of Ctrl-C."""


MOST_JOBS = 1024
"""More than so many cases at a time are taken as that many: no machine has the cores."""

PATIENCE_S = 0.5
"""How long a stopped run that has measured nothing is waited for."""

MEASURING = ("run", "done")
"""The phases of a case in which there is a result to lose."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run.

    Attributes:
        result: what had been done by then, or None when no case had produced anything.
    """

    def __init__(self, result: Result | None) -> None:
        super().__init__("the run was interrupted")
        self.result = result


class Options:
    """How to run; nothing in here may change a result.

    Attributes:
        jobs: cases that run at a time.
        cache: where snapshots are kept.
        no_cache: neither read nor write snapshots.
        machine: what is shared with other runs, None for a run that has it to itself.
        rank: priority of the run among those; lower ranks go first.
    """

    def __init__(self, *, jobs: int | None = None, cache: Cache | None = None, no_cache: bool = False) -> None:
        self.jobs = len(os.sched_getaffinity(0)) if jobs is None else jobs
        self.cache = Cache.default() if cache is None else cache
        self.no_cache = no_cache
        self.machine: _core.Machine | None = None
        self.rank = 0
        if self.jobs < 1:
            raise ValueError(f"jobs = {self.jobs}: at least one case has to run at a time")

    @classmethod
    def of(cls, jobs: int | None, cache: Cache, *, no_cache: bool) -> Options:
        """As many cases at a time as there are cores, unless the number is given."""
        if jobs is None:
            return cls(cache=cache, no_cache=no_cache)
        return cls(jobs=min(jobs, MOST_JOBS), cache=cache, no_cache=no_cache)

    def shared(self, count: int, apart: int = 1) -> list[Self]:
        """The same for so many runs side by side, in the order in which cores are theirs.

        Args:
            count: of runs.
            apart: how many ranks each has, for runs that it consists of itself.
        """
        machine = _core.Machine(self.jobs) if self.machine is None else self.machine
        each = [type(self)(jobs=self.jobs, cache=self.cache, no_cache=self.no_cache) for _ in range(count)]
        for number, own in enumerate(each):
            own.machine, own.rank = machine, self.rank + number * apart
        return each


def run(
    config: Config | Mapping[str, Any] | str | PathLike[str],
    *,
    trace: str | PathLike[str] | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    progress: Callable[[list[Progress]], None] | None = None,
    skip_bad_rows: bool = False,
    cache_dir: str | PathLike[str] | None = None,
    no_cache: bool = False,
    out: str | PathLike[str] | None = None,
    log: str | Iterable[str] | None = None,
    series: str | None = None,
    timeline: str | None = None,
) -> Result:
    """Simulates every case of `config` and waits for the result, with the interpreter lock released.

    Args:
        config: what to simulate: a configuration, the path of a TOML file, or a dictionary with the keys of one.
        trace: a trace file that replaces the configured workload.
        seed: the seed of every random stream, 0 to 2**64 - 1; the configured one unless given.
        jobs: cases that run at a time; one per available core unless given, and fewer where memory is for fewer, which
            is a note. It never changes a result.
        progress: called about ten times a second, from this thread, with one `Progress` per case (`case`, `phase`,
            `done` of `total` in `unit`). An exception in it stops the run and is raised here.
        skip_bad_rows: count and report bad rows of a trace instead of refusing them.
        cache_dir: the folder for snapshots of preconditioned drives.
        no_cache: neither read nor write snapshots.
        out: the folder for `log`, `series` and `timeline` (docs/LOGS.md); made where there is none.
        log: `requests` for a row per request that ended in the measurement window, as Parquet; `fio` for fio's latency
            log; `requests:1/100` for one request in 100; or a list of these.
        series: a row per window of this length, such as `10ms`, as Parquet.
        timeline: what dies, buses and requests did from `1s..1.01s` of the measurement window, or around the slowest
            requests (`worst:20`, `worst:20:read`, `worst:20:each` for as many reads and writes), which takes a second
            run; as a Perfetto trace.

    Returns:
        The result of the first case, with those of all cases in `cases`; latencies in microseconds.

    Raises:
        ConfigError: the configuration or the trace cannot be used, or what is to be written down cannot be.
        OSError: a log, a series or a timeline could not be written, or only in part; `result` is then the result.
        RunError: the run failed for a reason that the user can mend. `partial` is then the JSON text of a result
            with the cases that did end (`Result.from_json` reads it), or None.
        InternalError: a bug of interpulse; an audit failed, for example.
        Interrupted: Ctrl-C; a KeyboardInterrupt that carries what had been done.
    """
    plan = Config.of(config).resolve(trace=trace, seed=seed, skip_bad_rows=skip_bad_rows)
    cache = Cache.default(None if cache_dir is None else named(cache_dir, "cache_dir"))
    options = Options.of(
        None if jobs is None else whole("jobs", jobs, "the number of jobs", 1), cache, no_cache=no_cache
    )
    recording = _recording(plan, out, log, series, timeline)
    result = execute(plan, options, _Callback(progress), recording=recording)
    if recording is not None:
        result.notes.extend(recording.notes)
        if recording.problems:
            error = OSError("; ".join(recording.problems))
            error.result = result  # type: ignore[attr-defined]
            raise error
    return result


def _recording(
    plan: Plan,
    out: str | PathLike[str] | None,
    log: str | Iterable[str] | None,
    series: str | None,
    timeline: str | None,
) -> Recording | None:
    """The recording that the options select, or None."""
    if log is None and series is None and timeline is None:
        if out is not None:
            raise ConfigError("out: seen a folder, and neither log, series nor timeline to write into it")
        return None
    from interpulse.logs.options import LogOptions
    from interpulse.logs.recording import Recording

    asked = LogOptions.of(log, series, timeline)
    if out is None:
        raise ConfigError("log, series and timeline need out, the folder that they are written into")
    folder = named(out, "out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"out = {folder}: {error.strerror or error}") from None
    return Recording(asked, folder, plan)


def execute(
    plan: Plan,
    options: Options,
    watcher: Watcher,
    keep: Keep | None = None,
    recording: Recording | FioRecording | None = None,
) -> Result:
    """Runs a plan to its end and reports progress to `watcher`; raises as `run` does.

    `keep` receives each case as soon as it ends, however the others end. `recording` stores its rows, also of an
    interrupted run; a second run of the cases of its plan, which come first here, follows the slowest requests.
    """
    if recording is None:
        return _execute(plan, options, watcher, keep, None, [])
    try:
        result = _execute(plan, options, watcher, keep, recording, recording.records())
        second = recording.records_of_second()
        if second:
            hint = " (--timeline none leaves that out)" if recording.asked.bounded else ""
            watcher.note(f"the slowest requests are followed in a second run{hint}")
            try:
                _execute(recording.plan, options, _Again(watcher), None, recording, second)
            except KeyboardInterrupt:
                raise Interrupted(result) from None
            except RunError as error:
                recording.problems.append(f"no timeline of the slowest requests: {error}")
        return result
    finally:
        recording.finish()


def _execute(
    plan: Plan,
    options: Options,
    watcher: Watcher,
    keep: Keep | None,
    recording: Recording | FioRecording | None,
    records: Sequence[str],
) -> Result:
    """Runs a plan once."""

    def pass_ended() -> None:
        for index, text in handle.ended():
            if keep is not None:
                keep(index, parsed(text))

    cache = options.cache
    start = (plan, options.jobs, cache.place, cache.limit_bytes, options.no_cache)
    if recording is None:
        sharing: dict[str, Any] = {"machine": options.machine, "rank": options.rank} if options.machine else {}
        handle = _core.start(*start, **sharing)
        return _wait(handle, watcher, pass_ended)
    handle = _core.start(*start, records)
    with recording.taking(handle):
        return _wait(handle, watcher, pass_ended)


def _wait(handle: Handle, watcher: Watcher, pass_ended: Callable[[], None]) -> Result:
    """Waits for a run."""
    noted = 0
    try:
        ended = False
        while not ended:
            ended = handle.wait(POLL_S)
            pass_ended()
            watcher.progress(handle.progress())
            notes = handle.notes()
            for line in notes[noted:]:
                watcher.note(line)
            noted = len(notes)
    except KeyboardInterrupt:
        raise Interrupted(_what_is_done(handle)) from None
    finally:
        handle.stop()  # No effect after the end; after an exception in the watcher, nothing else stops the run.
        pass_ended()
    return Result.from_json(handle.result(), notes=handle.notes())


def _what_is_done(handle: Handle) -> Result | None:
    """Stops the run and returns its partial result, None before the measurement. A second Ctrl-C ends the wait."""
    handle.stop()
    patience_ends = time.monotonic() + PATIENCE_S
    while not handle.wait(POLL_S):
        # Copying a state cannot be interrupted, and before a case runs nothing is lost.
        if time.monotonic() > patience_ends and not any(case.phase in MEASURING for case in handle.progress()):
            return None
    try:
        text = handle.result()
    except RunError as error:
        if error.partial is None:
            return None
        text = error.partial
    result = Result.from_json(text, notes=handle.notes())
    return result if any("iops" in case.raw for case in result.cases) else None


class _Again:
    """Watcher of a second run, whose notes are known."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def progress(self, cases: Sequence[Progress]) -> None:
        self.watcher.progress(cases)

    def note(self, line: str) -> None:
        pass


class _Callback:
    """A watcher that passes progress to a function; notes stay in the result."""

    def __init__(self, function: Callable[[list[Progress]], None] | None) -> None:
        self.function = function

    def progress(self, cases: Sequence[Progress]) -> None:
        if self.function is not None:
            self.function(list(cases))

    def note(self, line: str) -> None:
        pass

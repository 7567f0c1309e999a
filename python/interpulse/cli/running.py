"""What `interpulse run` does with what it was given: runs, keeps, prints. It reads only what that needs."""

from __future__ import annotations

from interpulse._core import RunError
from interpulse.cli.exits import INTERRUPTED, Undisturbed, UserError
from interpulse.cli.streams import emit, say
from interpulse.configuration.config import load_with_sets
from interpulse.files.cache import Cache
from interpulse.runs.result import Result
from interpulse.runs.runner import Interrupted, Options, execute
from interpulse.tables.layout import terminal_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from interpulse._core import Plan
    from interpulse.cli.outfolder import OutFolder
    from interpulse.logs.options import LogOptions
    from interpulse.logs.recording import Recording

REPORTED = ("report.histograms=true", "report.batches=true", "report.dies=true")
"""What `--report` asks the result to hold; it changes nothing else in it."""


def run_command(
    config: Path | str,
    *,
    sets: Sequence[str] | None = None,
    trace: Path | str | None = None,
    seed: int | None = None,
    out: Path | None = None,
    log: list[str] | None = None,
    series: str | None = None,
    timeline: str | None = None,
    report: bool = False,
    repeat: int | None = None,
    counters: bool = False,
    json: bool = False,
    jobs: int | None = None,
    skip_bad_rows: bool = False,
    no_cache: bool = False,
    cache_dir: Path | str | None = None,
) -> int:
    """Runs the command with these options; returns the exit status."""
    # What was asked of the result by hand counts.
    loaded = load_with_sets(config, [*(REPORTED if report else ()), *(sets or ())])
    options = Options.of(jobs, Cache.default(cache_dir), no_cache=no_cache)
    if report:
        from interpulse.report.page import need_bokeh

        need_bokeh()
    if report and out is None:
        from pathlib import Path

        out = Path(f"interpulse-{Path(config).stem}")
    asked = _asked(log, series, timeline, out, report=report)
    if counters and (json or repeat is not None):
        raise UserError(f"--counters ends the table of one run, and {'--json' if json else '--repeat'} prints none")
    if repeat is not None:
        from interpulse.cli.repeat import run_repeated

        if asked is not None and not asked.bounded:
            raise UserError("--log, --series and --timeline follow one seed, and --repeat runs several: leave one out")
        return run_repeated(
            loaded,
            repeat,
            options,
            seed=seed,
            trace=trace,
            skip_bad_rows=skip_bad_rows,
            out=out,
            json=json,
            report=report,
            asked=asked,
        )
    plan = loaded.resolve(trace=trace, seed=seed, skip_bad_rows=skip_bad_rows)
    folder = None if out is None else _opened(out)
    return _simulate(
        plan, options, folder, _recording(asked, folder, plan), json=json, report=report, counters=counters
    )


def _simulate(
    plan: Plan,
    options: Options,
    folder: OutFolder | None,
    recording: Recording | None,
    *,
    json: bool,
    report: bool,
    counters: bool,
) -> int:
    """Runs the cases, keeps what they gave in `folder`, and prints it; returns the exit status."""
    from interpulse.cli.progress import watch
    from interpulse.cli.table import render

    code = 0
    failure: RunError | None = None
    try:
        with watch() as watcher:
            result = execute(plan, options, watcher, recording=recording)
    except Interrupted as stop:
        code = INTERRUPTED
        if stop.result is None:
            say("interrupted before any case had a result")
            return code
        result = stop.result
        if recording is not None and recording.following:
            say("interrupted while the slowest requests were followed: the result is whole")
        else:
            say("interrupted: what follows is what had been done")
    except RunError as error:
        if error.partial is None:
            raise
        failure, result = error, Result.from_json(error.partial)

    # Neither a full disk nor a standard output that cannot be written to may cost the result of a long run: it is
    # stored first, which touches nothing but the folder, and printed whatever came of that.
    lost = None
    try:
        if folder is not None:
            with Undisturbed():
                lost = _store(folder, result, plan, recording, report=report, counters=counters)
    finally:
        shown = [] if json else [render(result, terminal_width(), counters=counters)]
        _print([*shown, result.to_json()] if json or lost else shown, lost)
    if lost:
        raise UserError(f"{lost}; the full result is on standard output instead")
    if recording is not None and recording.problems:
        raise UserError("; ".join(recording.problems))
    if failure is not None:
        raise failure
    return code


def _opened(path: Path) -> OutFolder:
    """The folder of `--out`, made before the run, which is not to end with nowhere to put its result."""
    from interpulse.cli.outfolder import OutFolder

    return OutFolder.open(path)


def _asked(
    log: list[str] | None, series: str | None, timeline: str | None, out: Path | None, *, report: bool
) -> LogOptions | None:
    """What is to be written down; None for nothing. A report has a timeline of its own, unless it is told otherwise."""
    if not (log or series is not None or timeline is not None or report):
        return None
    from importlib.util import find_spec

    from interpulse.logs.options import NO_TIMELINE, LogOptions
    from interpulse.logs.options import REPORTED as OF_REPORT

    bounded = report and timeline is None
    if timeline == NO_TIMELINE:
        if not report:
            raise UserError("--timeline none leaves out what --report would record: there is no --report")
        timeline = None
    elif bounded and find_spec("perfetto") is None:
        say(
            "note: the report cannot show what the slowest requests met without perfetto: pip install "
            "'interpulse[timeline]'"
        )
        bounded = False
    elif bounded:
        timeline = OF_REPORT
    asked = LogOptions.of(log, series, timeline, bounded=bounded, dashes="--")
    if not asked:
        return None
    if out is None:
        raise UserError("--log, --series and --timeline need --out DIR, the folder that they are written into")
    return asked


def _recording(asked: LogOptions | None, folder: OutFolder | None, plan: Plan) -> Recording | None:
    if asked is None or folder is None:
        return None
    from interpulse.logs.recording import Recording

    return Recording(asked, folder.path, plan, dashes="--")


def _store(
    folder: OutFolder, result: Result, plan: Plan, recording: Recording | None, *, report: bool, counters: bool
) -> str | None:
    """Writes the files of `--out`; returns what kept it from that."""
    try:
        from interpulse.cli.run_files import files

        names = folder.write(files(result, plan, counters=counters))
        if report:
            from interpulse.cli.report import of_runs

            names += folder.write(of_runs([(str(folder.path), result, plan)]))
    except OSError as error:
        return f"cannot write to {folder.path}: {error.strerror or error}"
    if recording is not None:
        names += recording.names
        for line in recording.notes:
            say(f"note: {line}")
    say(f"wrote {', '.join(names)} to {folder.path}")
    return None


def _print(texts: Sequence[str], lost: str | None) -> None:
    """Prints texts; says both problems where they could neither be stored nor printed."""
    try:
        for text in texts:
            emit(text)
    except UserError as error:
        raise UserError(f"{lost}; {error}" if lost else str(error)) from None

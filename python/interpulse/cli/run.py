"""`interpulse run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from interpulse._core import RunError
from interpulse.cache import Cache
from interpulse.cli.exits import INTERRUPTED, UserError, undisturbed
from interpulse.cli.options import MOST_SEEDS, CacheDir, ConfigPath, Jobs, Json, Seed, Sets, Trace, named_path
from interpulse.cli.streams import emit, say
from interpulse.config import load_with_sets
from interpulse.layout import terminal_width
from interpulse.result import Result
from interpulse.runner import Interrupted, Options, execute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse._core import Plan
    from interpulse.cli.outfolder import OutFolder
    from interpulse.logs.asked import Asked
    from interpulse.logs.recording import Recording

EPILOG = """\
Examples:

  interpulse run examples/quickstart.toml

  interpulse run examples/quickstart.toml --set flow.0.depth=16 --seed 7

  interpulse run examples/replay.toml --trace disk.csv.zst --skip-bad-rows

  interpulse run examples/quickstart.toml --json | python3 -m json.tool

  interpulse run examples/small.toml --out out --log requests --series 10ms --timeline worst:5:read

  interpulse run examples/small.toml --repeat 5 --report --out out

Ctrl-C, SIGTERM and SIGHUP stop the run and print what is done. Preconditioned drives are kept as snapshots, which \
`interpulse cache` lists and clears. docs/RESULTS.md explains every figure."""


REPORTED = ("report.histograms=true", "report.batches=true", "report.dies=true")
"""What `--report` asks the result to hold; it changes nothing else in it."""


def run(
    config: ConfigPath,
    sets: Sets = None,
    trace: Trace = None,
    seed: Seed = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=named_path,
            metavar="DIR",
            help="Also write result.json, table.txt and config.resolved.json into this folder, and power over time as "
            "power.csv, power.png and power.svg where power.trace is on.",
            show_default=False,
        ),
    ] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LOG",
            help="Also write a log of requests into the folder of --out: requests (Parquet) or fio (fio's latency "
            "log); requests:1/N or fio:1/N logs one in N; may be repeated.",
            show_default=False,
        ),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Also write a row for each window of this length, such as 10ms, into the folder of --out (Parquet).",
            show_default=False,
        ),
    ] = None,
    timeline: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN",
            help="Also write what dies, buses and requests did in a span of the measurement window (1s..1.01s), or "
            "around its slowest requests (worst:20, worst:20:read, worst:20:each; a second run), into the folder of "
            "--out as a Perfetto trace (`interpulse view` shows it). With --report it is worst:5:each, and none leaves "
            "the second run out.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help="Also write report.html, one page with plots that opens from disk, into the folder of --out, or into "
            "interpulse-NAME. What the slowest requests met is followed in a second run (--timeline none: it is not).",
        ),
    ] = False,
    repeat: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_SEEDS,
            help="Run N seeds in parallel, the first of which is that of --seed: every figure is their mean with a "
            "95 % interval, and --out has a folder for each.",
            show_default=False,
        ),
    ] = None,
    counters: Annotated[
        bool,
        typer.Option(
            "--counters", help="End the table with every counter that is not zero (`interpulse list counters`)."
        ),
    ] = False,
    json: Json = False,
    jobs: Jobs = None,
    skip_bad_rows: Annotated[
        bool,
        typer.Option("--skip-bad-rows", help="Count and report bad rows of a trace instead of refusing them."),
    ] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither read nor write snapshots.")] = False,
    cache_dir: CacheDir = None,
) -> int:
    """Simulate every case of a configuration and print one table.

    Below the latencies it says what explains them: write amplification, suspends, where read time went.
    """
    # What was asked of the result by hand counts.
    loaded = load_with_sets(config, [*(REPORTED if report else ()), *(sets or ())])
    options = Options.of(jobs, Cache.default(cache_dir), no_cache=no_cache)
    if report and out is None:
        out = Path(f"interpulse-{config.stem}")
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
            with undisturbed():
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
) -> Asked | None:
    """What is to be written down; None for nothing. A report has a timeline of its own, unless it is told otherwise."""
    if not (log or series is not None or timeline is not None or report):
        return None
    from importlib.util import find_spec

    from interpulse.logs.asked import NO_TIMELINE, Asked
    from interpulse.logs.asked import REPORTED as OF_REPORT

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
    asked = Asked.of(log, series, timeline, bounded=bounded, dashes="--")
    if not asked:
        return None
    if out is None:
        raise UserError("--log, --series and --timeline need --out DIR, the folder that they are written into")
    return asked


def _recording(asked: Asked | None, folder: OutFolder | None, plan: Plan) -> Recording | None:
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

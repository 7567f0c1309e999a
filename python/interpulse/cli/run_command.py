"""Implementation of `interpulse run`: run, store, print; imports only the modules that the options need."""

from __future__ import annotations

from interpulse._core import RunError
from interpulse.cli.exit_codes import INTERRUPTED, DeferSignals, UserError
from interpulse.cli.output_streams import emit, say
from interpulse.cli.output_streams import note as print_note
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
    from interpulse.cli.fio_jobs import FioOutput
    from interpulse.cli.out_folder import OutFolder
    from interpulse.configuration.config import Config
    from interpulse.logs.options import LogOptions
    from interpulse.logs.recording import Recording
    from interpulse.runs.fio.measured import FioRecording

REPORTED = ("report.histograms=true", "report.batches=true", "report.dies=true")
"""Settings that `--report` adds; the other fields of the result do not depend on them."""


def run_command(
    config: Path | str,
    *,
    sets: Sequence[str] | None = None,
    trace: Path | str | None = None,
    trace_keys: Sequence[tuple[str, str]] = (),
    seed: int | None = None,
    out: Path | None = None,
    log: list[str] | None = None,
    series: str | None = None,
    timeline: str | None = None,
    report: bool = False,
    repeat: int | None = None,
    full: bool = False,
    counters: bool = False,
    json: bool = False,
    jobs: int | None = None,
    skip_bad_rows: bool = False,
    cases: Sequence[str] | None = None,
    no_cache: bool = False,
    cache_dir: Path | str | None = None,
    drive: Path | None = None,
    output_format: str | None = None,
    start_state: Path | None = None,
    save_state: Path | None = None,
) -> int:
    """Runs the command; returns the exit code."""
    options = Options.of(jobs, Cache.default(cache_dir), no_cache=no_cache)
    # Explicit settings override those of the report.
    settings = [*(REPORTED if report else ()), *(sets or ())]
    if drive is None and not str(config).endswith(".fio"):
        loaded, ends = load_with_sets(config, settings, trace_keys), None
    else:
        from interpulse.cli.fio_jobs import loaded_jobs

        loaded, ends = loaded_jobs(
            config, drive, settings, options, seed, cases=cases, trace=trace, trace_keys=trace_keys
        )
    if report:
        from interpulse.report.page import need_bokeh

        need_bokeh()
    if report and out is None:
        from pathlib import Path

        out = Path(f"interpulse-{Path(config).stem}")
    logs = _log_options(log, series, timeline, out, report=report)
    _check_printed(output_format, logs, full=full, counters=counters, json=json, repeat=repeat is not None)
    if repeat is not None:
        from interpulse.cli.repeat import run_repeated

        if logs is not None and not logs.bounded:
            raise UserError("--log, --series and --timeline record one seed, and --repeat runs several: omit one")
        if start_state is not None or save_state is not None:
            raise UserError("--start-state and --save-state are for one run, and --repeat runs several: omit one")
        return run_repeated(
            loaded,
            repeat,
            options,
            seed=seed,
            trace=trace,
            skip_bad_rows=skip_bad_rows,
            cases=cases,
            out=out,
            json=json,
            report=report,
            logs=logs,
        )
    plan = loaded.resolve(trace=trace, seed=seed, skip_bad_rows=skip_bad_rows, ends=ends, cache=options.cache)
    _note_jobs(loaded)
    if cases:
        from interpulse.configuration.cases import positions

        plan = plan.only(positions(plan.case_names, cases))
    if start_state is not None or save_state is not None:
        plan = plan.with_state_files(start_state, save_state)
    folder = None
    if out is not None:
        from interpulse.cli.out_folder import OutFolder

        folder = OutFolder.open(out)
    fio = _fio_output(output_format, plan, loaded)
    recording = _recording(logs, folder, plan) if fio is None else fio.recording
    return _simulate(plan, options, folder, recording, json=json, report=report, full=full, counters=counters, fio=fio)


def _check_printed(
    output_format: str | None, logs: LogOptions | None, *, full: bool, counters: bool, json: bool, repeat: bool
) -> None:
    """Raises UserError for options of which each prints something else."""
    if output_format is not None:
        from interpulse.cli.fio_jobs import check_format

        check_format(output_format, logs, json=json, counters=counters, repeat=repeat)
    if counters and (json or repeat):
        raise UserError(f"--counters extends the table of one run, and {'--json' if json else '--repeat'} prints none")
    if full and (json or repeat or output_format is not None):
        other = "--json" if json else "--repeat" if repeat else "--output-format"
        raise UserError(f"--full prints the tables of one run, and {other} prints something else: omit one")


def _fio_output(output_format: str | None, plan: Plan, loaded: Config) -> FioOutput | None:
    if output_format is None:
        return None
    from interpulse.cli.fio_jobs import FioOutput

    return FioOutput(plan, loaded.jobs, output_format)


def _note_jobs(loaded: Config) -> None:
    """Prints what a user should know of a job file."""
    for line in loaded.jobs.notes if loaded.jobs is not None else ():
        print_note(line)


def _simulate(
    plan: Plan,
    options: Options,
    folder: OutFolder | None,
    recording: Recording | FioRecording | None,
    *,
    json: bool,
    report: bool,
    full: bool,
    counters: bool,
    fio: FioOutput | None = None,
) -> int:
    """Runs the cases, stores the result in `folder` and prints it; returns the exit code."""
    from interpulse.cli.progress import watch

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
            say("interrupted while the slowest requests were recorded: the result is complete")
        else:
            say("interrupted: the result is partial")
    except RunError as error:
        if error.partial is None:
            raise
        failure, result = error, Result.from_json(error.partial)

    # A full disk or a broken standard output must not lose the result of a long run: store first, then print even if
    # storing has failed.
    lost = None
    try:
        if folder is not None:
            with DeferSignals():
                lost = _store(folder, result, plan, recording, report=report, counters=counters, fio=fio)
    finally:
        shown = _texts(result, fio, json=json, full=full, counters=counters)
        _print([*shown, result.to_json()] if json or lost else shown, lost)
    if lost:
        raise UserError(f"{lost}; the full result is on standard output instead")
    if recording is not None and recording.problems:
        raise UserError("; ".join(recording.problems))
    if failure is not None:
        raise failure
    return code


def _log_options(
    log: list[str] | None, series: str | None, timeline: str | None, out: Path | None, *, report: bool
) -> LogOptions | None:
    """Options of logs and timelines, None without any; `--report` adds a timeline of the slowest requests."""
    if not (log or series is not None or timeline is not None or report):
        return None
    from importlib.util import find_spec

    from interpulse.logs.options import NO_TIMELINE, LogOptions
    from interpulse.logs.options import REPORTED as OF_REPORT

    bounded = report and timeline is None
    if timeline == NO_TIMELINE:
        if not report:
            raise UserError("--timeline none omits the timeline of --report: there is no --report")
        timeline = None
    elif bounded and find_spec("perfetto") is None:
        from interpulse.configuration.installation import command

        print_note(f"the report cannot show the slowest requests without perfetto: {command('timeline')}")
        bounded = False
    elif bounded:
        timeline = OF_REPORT
    logs = LogOptions.of(log, series, timeline, bounded=bounded, dashes="--")
    if not logs:
        return None
    if out is None:
        raise UserError("--log, --series and --timeline need --out DIR, the folder for their files")
    return logs


def _recording(logs: LogOptions | None, folder: OutFolder | None, plan: Plan) -> Recording | None:
    if logs is None or folder is None:
        return None
    from interpulse.logs.recording import Recording

    return Recording(logs, folder.path, plan, dashes="--")


def _store(
    folder: OutFolder,
    result: Result,
    plan: Plan,
    recording: Recording | FioRecording | None,
    *,
    report: bool,
    counters: bool,
    fio: FioOutput | None,
) -> str | None:
    """Writes the files of `--out`; returns the problem, if any."""
    try:
        from interpulse.cli.out_folder import run_files

        names = folder.write(run_files(result, plan, counters=counters))
        if fio is not None:
            names += folder.write([(fio.file_name, f"{fio.text}\n".encode())])
        if report:
            from interpulse.cli.report import page_files

            names += folder.write(page_files([(str(folder.path), result, plan)]))
    except OSError as error:
        return f"cannot write to {folder.path}: {error.strerror or error}"
    if recording is not None:
        names += recording.names
        for line in recording.notes:
            print_note(line)
    say(f"wrote {', '.join(names)} to {folder.path}")
    return None


def _texts(result: Result, fio: FioOutput | None, *, json: bool, full: bool, counters: bool) -> list[str]:
    """What is printed besides JSON; prints notes on fio's output."""
    if fio is not None:
        for line in fio.notes:
            print_note(line)
        return [fio.text]
    if json:
        return []
    if not (full or counters):
        from interpulse.cli import brief

        return [brief.render(result, terminal_width())]
    from interpulse.cli import table

    return [table.render(result, terminal_width(), counters=counters)]


def _print(texts: Sequence[str], lost: str | None) -> None:
    """Prints texts; a failure is reported together with the problem `lost` of storing them."""
    try:
        for text in texts:
            emit(text)
    except UserError as error:
        raise UserError(f"{lost}; {error}" if lost else str(error)) from None

"""`interpulse run` command: Typer options; `run_command` is the implementation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interpulse.cli.options import (
    MOST_SEEDS,
    CacheDir,
    CaseNames,
    ConfigPath,
    Jobs,
    Json,
    Seed,
    Sets,
    Trace,
    named_path,
)
from interpulse.cli.run_command import run_command
from interpulse.cli.trace_options import FlowKeys, flow_options

EPILOG = """\
Examples:

  interpulse run examples/quickstart.toml

  interpulse run examples/quickstart.toml --set flow.0.depth=16 --seed 7

  interpulse run examples/replay.toml --trace disk.csv.zst --skip-bad-rows

  interpulse run examples/quickstart.toml --json | python3 -m json.tool

  interpulse run examples/small.toml --out out --log requests --series 10ms --timeline worst:5:read

  interpulse run examples/small.toml --repeat 5 --report --out out

  interpulse run job.fio --drive drive.toml --output-format fio-json

Ctrl-C, SIGTERM and SIGHUP stop the run and print the partial result. Preconditioned drives are kept as snapshots, \
which `interpulse cache` lists and clears. docs/RESULTS.md explains every figure."""


@flow_options
def run(
    config: ConfigPath,
    sets: Sets = None,
    trace: Trace = None,
    *,
    drive: Annotated[
        Path | None,
        typer.Option(
            parser=named_path,
            metavar="DRIVE",
            help="CONFIG is a fio job file, which runs on this drive: a configuration without [[flow]], or a preset "
            "(`interpulse list drives`). See docs/FIO.md.",
        ),
    ] = None,
    output_format: Annotated[
        str | None,
        typer.Option(
            metavar="FMT",
            help="Print fio's JSON instead of the table: fio-json, or fio-json+ with all buckets of the latencies.",
        ),
    ] = None,
    trace_keys: FlowKeys,
    seed: Seed = None,
    cases: CaseNames = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=named_path,
            metavar="DIR",
            help="Also write result.json, table.txt and config.resolved.json into this folder, and power over time as "
            "power.csv, power.png and power.svg where power.trace is on.",
        ),
    ] = None,
    log: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LOG",
            help="Also write a log of requests into the folder of --out: requests (Parquet) or fio (fio's latency "
            "log); requests:1/N or fio:1/N logs one in N; may be repeated.",
        ),
    ] = None,
    series: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Also write a row for each window of this length, such as 10ms, into the folder of --out (Parquet).",
        ),
    ] = None,
    timeline: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN",
            help="Also write the activity of dies, buses and requests in a span of the window (1s..1.01s), or around "
            "its slowest requests (worst:20, worst:20:read, worst:20:each; a second run), into the folder of --out as "
            "a Perfetto trace (`interpulse view` shows it). With --report the default is worst:5:each; none omits "
            "the second run.",
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help="Also write report.html, one page with plots that opens from disk, into the folder of --out, or into "
            "interpulse-NAME. A second run records the slowest requests (--timeline none omits it).",
        ),
    ] = False,
    repeat: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            max=MOST_SEEDS,
            help="Run N seeds in parallel, starting with --seed: every figure is the mean over seeds with a 95 % "
            "interval, and --out has a folder for each seed.",
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Print all tables, as table.txt of --out has them, in place of one screen."),
    ] = False,
    counters: Annotated[
        bool,
        typer.Option(
            "--counters",
            help="Print all tables and every counter that is not zero (`interpulse list counters`).",
        ),
    ] = False,
    start_state: Annotated[
        Path | None,
        typer.Option(
            parser=named_path,
            metavar="FILE",
            help="Start with the drive of this state (`interpulse serve`, or --save-state) instead of [precondition].",
        ),
    ] = None,
    save_state: Annotated[
        Path | None,
        typer.Option(
            parser=named_path,
            metavar="FILE",
            help="Write the state of the drive at the end of the run, for --start-state and `interpulse serve`.",
        ),
    ] = None,
    json: Json = False,
    jobs: Jobs = None,
    skip_bad_rows: Annotated[
        bool,
        typer.Option("--skip-bad-rows", help="Count and report bad rows of a trace instead of rejecting them."),
    ] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither read nor write snapshots.")] = False,
    cache_dir: CacheDir = None,
) -> int:
    """Simulate every case of a configuration and print what changed, on one screen.

    --full prints all tables: latencies, write amplification, suspends, power, read time by cause.
    """
    return run_command(
        config,
        sets=sets,
        trace=trace,
        trace_keys=trace_keys,
        seed=seed,
        cases=cases,
        out=out,
        log=log,
        series=series,
        timeline=timeline,
        report=report,
        repeat=repeat,
        full=full,
        counters=counters,
        json=json,
        jobs=jobs,
        skip_bad_rows=skip_bad_rows,
        no_cache=no_cache,
        cache_dir=cache_dir,
        drive=drive,
        output_format=output_format,
        start_state=start_state,
        save_state=save_state,
    )

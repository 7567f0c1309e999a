"""`interpulse run --repeat`: several seeds at once, a folder for each, and what they come to together."""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

from interpulse import repeat
from interpulse._core import RunError
from interpulse.cli.exits import INTERRUPTED, UserError, undisturbed
from interpulse.cli.outfolder import OutFolder
from interpulse.cli.progress import watch
from interpulse.cli.run import files
from interpulse.cli.streams import emit, say
from interpulse.layout import Column, Sheet, fill, terminal_width
from interpulse.result import Result
from interpulse.runner import Interrupted, execute

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from interpulse.config import Config
    from interpulse.runner import Options


def run_repeated(
    config: Config,
    repeats: int,
    options: Options,
    *,
    seed: int | None,
    trace: Path | None,
    skip_bad_rows: bool,
    out: Path | None,
    json: bool,
    report: bool,
) -> int:
    """Runs a configuration with several seeds, stores and prints what they come to; returns the exit code."""
    whole = repeat.plan(config, repeats, seed=seed, trace=trace, skip_bad_rows=skip_bad_rows)
    folder = None if out is None else OutFolder.open(out)
    folders = [] if out is None else [OutFolder.open(out / f"seed-{each}") for each in whole.seeds]
    code = 0
    failure: RunError | None = None
    try:
        with watch() as watcher:
            ended = execute(whole.plan, options, watcher)
    except Interrupted as stop:
        code = INTERRUPTED
        if stop.result is None:
            say("interrupted before any case had a result")
            return code
        ended = stop.result
        say("interrupted: what follows is what had been done")
    except RunError as error:
        if error.partial is None:
            raise
        failure, ended = error, Result.from_json(error.partial)

    results = whole.results(ended)
    known = [result for result in results if any("iops" in case.raw for case in result.cases)]
    lost = None
    try:
        if folder is not None:
            try:
                with undisturbed():
                    plans = [config.resolve(trace=trace, seed=each, skip_bad_rows=skip_bad_rows) for each in whole.seeds]
                    for each, result, plan in zip(folders, results, plans, strict=True):
                        each.write(files(result, plan))
                    if report:
                        from interpulse.cli.report import of_runs

                        places = [str(each.path) for each in folders]
                        folder.write(of_runs([*zip(places, results, plans, strict=True)]))
                say(f"wrote {', '.join(each.path.name for each in folders)}{', report.html' * report} to {folder.path}")
            except OSError as error:
                lost = f"cannot write to {folder.path}: {error.strerror or error}"
    finally:
        told = json_text.dumps({"repeats": [result.raw for result in results]}, ensure_ascii=False)
        if not json:
            emit(summary(known, terminal_width()))
        if json or lost:
            emit(told)
    if lost:
        raise UserError(f"{lost}; the full results are on standard output instead")
    if failure is not None:
        raise failure
    return code


def summary(results: Sequence[Result], width: int) -> str:
    """Every figure of every case as the mean over seeds with its 95 % interval, in lines of at most `width` columns."""
    from interpulse.comparison import figures
    from interpulse.latency import UNSURE
    from interpulse.studies.estimate import Estimate
    from interpulse.text import short_figure

    by_case: dict[str, list[Result]] = {}
    for result in results:
        for case in result.cases:
            if "iops" in case.raw and not case.interrupted:
                by_case.setdefault(case.case, []).append(case)
    parts = []
    for name, cases in by_case.items():
        sheet = Sheet([Column("figure", "label"), Column("mean"), Column("95 % interval"), Column("least"), Column("most")])
        for figure, unit, read in figures():
            values = [value for case in cases if (value := read(case.raw)) is not None]
            if len(values) == len(cases):
                mean = Estimate.of(values)
                kind, _, measure = figure.partition(" ")
                mark = UNSURE * any(measure in case.latency_us.get(kind, {}).get("few", ()) for case in cases)
                interval = "-" if mean.low is None else f"{short_figure(mean.low)} .. {short_figure(mean.high)}"
                ends = (short_figure(end) for end in (min(values), max(values)))
                sheet.add_row(f"{figure}, {unit}" if unit else figure, mark + short_figure(mean.value), interval, *ends)
        seeds = f"seed{'s' * (len(cases) > 1)} {', '.join(str(case.seed) for case in cases)}"
        parts.append(f"{fill(f'{name}, {seeds}', width)}\n{sheet.text(width)}")
    if not parts:
        return "no case came to its end"
    marked = any(UNSURE in part for part in parts)
    return "\n\n".join([*parts, *[f"{UNSURE} fewer than ten requests lie beyond that percentile"] * marked])

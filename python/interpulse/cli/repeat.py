"""`interpulse run --repeat`: several seeds in parallel, a folder for each, and means over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from interpulse._core import Plan, RunError
from interpulse.cli.exit_codes import INTERRUPTED, DeferSignals, UserError
from interpulse.cli.out_folder import OutFolder, run_files
from interpulse.cli.output_streams import emit, say
from interpulse.cli.output_streams import note as print_note
from interpulse.cli.progress import watch
from interpulse.runs import repeat
from interpulse.runs.result import Result
from interpulse.runs.runner import Interrupted, Options, execute
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

if TYPE_CHECKING:
    from interpulse.configuration.config import Config
    from interpulse.logs.options import LogOptions
    from interpulse.logs.recording import Recording


def run_repeated(
    config: Config,
    repeats: int,
    options: Options,
    *,
    seed: int | None,
    trace: Path | str | None,
    skip_bad_rows: bool,
    cases: Sequence[str] | None,
    out: Path | None,
    json: bool,
    report: bool,
    logs: LogOptions | None,
) -> int:
    """Runs a configuration with several seeds, stores and prints the means; returns the exit code.

    `logs` apply to the first seed, which a report shows for everything that has no mean over seeds.
    """
    whole = repeat.plan(config, repeats, seed=seed, trace=trace, skip_bad_rows=skip_bad_rows, cases=cases)
    store = recording = None
    if out is not None:
        plans = [config.resolve(trace=trace, seed=each, skip_bad_rows=skip_bad_rows) for each in whole.seeds]
        store = _Store(OutFolder.open(out), [OutFolder.open(out / f"seed-{each}") for each in whole.seeds], plans)
        recording = _recording(logs, store)
    ended, code, failure = _ended(whole.plan, options, recording)
    if ended is None:
        return code
    results = whole.results(ended)
    # Stored first and printed in any case, like a single run.
    lost = None
    try:
        if store is not None:
            lost = store.write(results, report=report)
            for line in recording.notes if recording is not None else ():
                print_note(line)
    finally:
        if not json:
            emit(summary(results, terminal_width()))
        if json or lost:
            emit(Result.of_seeds(results).to_json())
    if lost:
        raise UserError(f"{lost}; the full results are on standard output instead")
    if recording is not None and recording.problems:
        raise UserError("; ".join(recording.problems))
    if failure is not None:
        raise failure
    return code


def _recording(logs: LogOptions | None, store: _Store) -> Recording | None:
    """Recording of the first seed, in its folder."""
    if logs is None:
        return None
    from interpulse.logs.recording import Recording

    return Recording(logs, store.each[0].path, store.plans[0], dashes="--")


def _ended(plan: Plan, options: Options, recording: Recording | None) -> tuple[Result | None, int, RunError | None]:
    """Runs a plan; returns the result, the exit code, and the error to raise after the result is stored."""
    try:
        with watch() as watcher:
            return execute(plan, options, watcher, recording=recording), 0, None
    except Interrupted as stop:
        say(f"interrupted{' before any case had a result' if stop.result is None else ': the result is partial'}")
        return stop.result, INTERRUPTED, None
    except RunError as error:
        if error.partial is None:
            raise
        return Result.from_json(error.partial), 0, error


@dataclass(frozen=True)
class _Store:
    """Output folders of all seeds."""

    folder: OutFolder
    each: Sequence[OutFolder]
    plans: Sequence[Plan]

    def write(self, results: Sequence[Result], *, report: bool) -> str | None:
        """Writes all files; returns the problem, if any."""
        try:
            with DeferSignals():
                for folder, result, plan in zip(self.each, results, self.plans, strict=True):
                    folder.write(run_files(result, plan))
                names = [folder.path.name for folder in self.each]
                if report:
                    from interpulse.cli.report import page_files

                    places = [str(folder.path) for folder in self.each]
                    names += self.folder.write(page_files([*zip(places, results, self.plans, strict=True)]))
        except OSError as error:
            return f"cannot write to {self.folder.path}: {error.strerror or error}"
        say(f"wrote {', '.join(names)} to {self.folder.path}")
        return None


def summary(results: Sequence[Result], width: int) -> str:
    """Means over seeds of all figures, with 95 % intervals, in lines of at most `width` columns."""
    from interpulse.runs.comparison import figures
    from interpulse.runs.estimate import Estimate
    from interpulse.runs.latency import UNSURE
    from interpulse.tables.format import short_figure

    by_case: dict[str, list[Result]] = {}
    for result in results:
        for case in result.cases:
            if "iops" in case.raw and not case.interrupted:
                by_case.setdefault(case.case, []).append(case)
    parts = []
    for name, cases in by_case.items():
        sheet = Sheet(
            [Column("figure", "label"), Column("mean"), Column("95 % interval"), Column("least"), Column("most")]
        )
        for figure, unit, read in figures():
            values = [value for case in cases if (value := read(case.raw)) is not None]
            if len(values) == len(cases):
                mean = Estimate.of(values)
                kind, _, measure = figure.partition(" ")
                mark = UNSURE * any(measure in _few(case, kind) for case in cases)
                interval = "-" if mean.low is None else f"{short_figure(mean.low)} .. {short_figure(mean.high)}"
                ends = (short_figure(end) for end in (min(values), max(values)))
                sheet.add_row(f"{figure}, {unit}" if unit else figure, mark + short_figure(mean.value), interval, *ends)
        seeds = f"seed{'s' * (len(cases) > 1)} {', '.join(str(case.seed) for case in cases)}"
        parts.append(f"{fill(f'{name}, {seeds}', width)}\n{sheet.text(width)}")
    if not parts:
        return "no case was completed"
    marked = any(UNSURE in part for part in parts)
    changed = _changed(by_case)
    foot = fill(f"{UNSURE} fewer than ten requests lie beyond that percentile", width)
    return "\n\n".join([*[fill(changed, width)] * bool(changed), *parts, *[foot] * marked])


def _changed(by_case: dict[str, list[Result]]) -> str:
    """Changes of the second of two cases against the first, paired by seed; empty unless there are two cases."""
    from interpulse.runs.comparison import figures
    from interpulse.runs.estimate import Estimate
    from interpulse.tables.format import short_figure

    if len(by_case) != 2:
        return ""
    (before, old), (after, new) = by_case.items()
    pairs = [(a.raw, b.raw) for a in old for b in new if a.seed == b.seed]
    read = {figure: of for figure, _, of in figures()}
    parts = []
    for figure in ("read p99.9", "read p99", "read mean", "all IOPS"):
        values = [(a, b) for a, b in ((read[figure](a), read[figure](b)) for a, b in pairs) if a and b]
        if values and len(values) == len(pairs):
            ratio = Estimate.geometric([b / a for a, b in values])
            sure = "" if ratio.low is None else f", {short_figure(ratio.low)} .. {short_figure(ratio.high)}"
            means = " -> ".join(short_figure(fmean(side)) for side in zip(*values, strict=True))
            parts.append(f"{figure} {means} (x{short_figure(ratio.value)}{sure})")
    seeds = f"{len(pairs)} seed{'s' * (len(pairs) != 1)}"
    interval = ", ratios with 95 % intervals" if len(pairs) > 1 else ""
    return f"{after} against {before}, {seeds}{interval}: {', '.join(parts)}" if parts else ""


def _few(case: Result, kind: str) -> Sequence[str]:
    """Percentiles of a kind with fewer than ten requests beyond them."""
    found: Sequence[str] = case.raw.get("latency_us", {}).get(kind, {}).get("few", ())
    return found

"""Results of a page: loaded from folders and grouped by configuration, case and seed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError, version
from interpulse.files.paths import read_text
from interpulse.runs import comparison
from interpulse.runs.comparison import Comparison, Row
from interpulse.runs.result import Result

RESOLVED = "config.resolved.json"
"""The name of the resolved configuration in the folder of `--out`."""

NOT_COMPARED = "not compared: "
"""Begin of the note about sides that have no case in common."""

SEEDS = "seed-*"
"""How the folders of `run --repeat` are called."""


@dataclass(frozen=True)
class Run:
    """One result and where it is from."""

    place: str
    result: Result
    entries: Sequence[Mapping[str, str]] = ()
    """Every setting: `key`, `value`, `origin`, `doc`; none where only the result itself is there."""
    folder: Path | None = None
    """Where logs and timelines lie beside it."""


@dataclass
class Series:
    """One case with all of its seeds: what a plot shows in one colour."""

    label: str
    side: str
    case: str
    raws: list[dict[str, Any]] = field(default_factory=list)
    """The results of its seeds, in ascending order."""
    runs: list[Run] = field(default_factory=list)
    """Where each of them is from."""

    @property
    def first(self) -> dict[str, Any]:
        """The result with the least seed: what is shown where seeds have no mean."""
        return self.raws[0]

    @property
    def seeds(self) -> list[int]:
        """The seeds."""
        return [int(raw["seed"]) for raw in self.raws]


@dataclass(frozen=True)
class Pair:
    """Two cases that are compared, with the figures of both."""

    before: Series
    after: Series
    rows: Sequence[Row]
    found: Comparison
    """The comparison that it is a part of."""


@dataclass(frozen=True)
class Report:
    """Content of a page."""

    runs: Sequence[Run]
    series: Sequence[Series]
    sides: Mapping[str, Sequence[Run]]
    """Runs of the same configuration by the letter of their side; one side where all differ in their seeds only."""
    pairs: Sequence[Pair]
    notes: Sequence[str]
    """Caveats."""
    pieces: int = 14_000
    """Rectangles in all drawings of the slowest requests, about 95 bytes each."""

    @property
    def comparisons(self) -> list[Comparison]:
        """Each once."""
        return list({id(pair.found): pair.found for pair in self.pairs}.values())

    def only_first(self) -> str:
        """What to say of a plot that shows one seed of several."""
        several = [each for each in self.series if len(each.raws) > 1]
        return f" Seed {several[0].first['seed']} of each." if several else ""


def load(paths: Iterable[Path]) -> list[Run]:
    """Reads results.

    Args:
        paths: files `result.json`, folders of `run --out`, or folders of `run --repeat`.

    Raises:
        ConfigError: one cannot be read, is no result, or is one of another schema; the message says which and why.
    """
    runs = []
    for path in paths:
        seeds = sorted(path.glob(SEEDS), key=_number) if path.is_dir() and not (path / comparison.FILE).exists() else []
        runs += [run for each in seeds or [path] for run in _load(each)]
    return runs


def _number(path: Path) -> tuple[int, str]:
    digits = path.name.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0, path.name


def _load(path: Path) -> list[Run]:
    """The runs of a result: one for each of its seeds."""
    result, place = comparison.read(path)
    for case in (seed for of_case in result.cases for seed in of_case.seeds):
        comparison.check(place, case)
    entries, folder = _entries(path), path if path.is_dir() else path.parent
    return [Run(place, seed, entries, folder) for seed in result.seeds]


def _entries(path: Path) -> list[dict[str, str]]:
    """The settings with their sources, where they lie beside the result."""
    file = (path if path.is_dir() else path.parent) / RESOLVED
    try:
        found = json.loads(read_text(file, "the settings"))["entries"]
        return [{key: str(entry[key]) for key in ("key", "value", "origin", "doc")} for entry in found]
    except (ConfigError, ValueError, KeyError, TypeError, RecursionError):
        return []  # The page says that there are no sources.


def of(runs: Sequence[Run]) -> Report:
    """Puts together runs that differ in nothing but their seeds, and compares what does differ.

    Raises:
        ConfigError: no run has a case with figures.
    """
    notes: list[str] = []
    sides = _sides(runs)
    series: list[Series] = []
    for side, of_side in sides.items():
        by_case: dict[str, Series] = {}
        for run in of_side:
            for raw in _whole(run, notes):
                label = raw["case"] if len(sides) == 1 else f"{side}: {raw['case']}"
                of_case = by_case.setdefault(raw["case"], Series(label, side, raw["case"]))
                of_case.raws.append(raw)
                of_case.runs.append(run)
        for each in by_case.values():
            pairs = sorted(zip(each.raws, each.runs, strict=True), key=lambda pair: int(pair[0]["seed"]))
            each.raws, each.runs = [raw for raw, _ in pairs], [run for _, run in pairs]
        series += by_case.values()
    if not series:
        detail = f": {'; '.join(notes)}" if notes else ""
        raise ConfigError(f"no case has figures to report{detail}")
    versions = {str(raw["version"]) for each in series for raw in each.raws}
    if versions != {version}:
        notes.append(f"measured by interpulse {', '.join(sorted(versions))}, this page is of {version}")
    return Report(runs, series, sides, list(_pairs(sides, series, notes)), notes)


def _whole(run: Run, notes: list[str]) -> Iterable[dict[str, Any]]:
    """The cases that have figures; what the others lack is noted."""
    for case in run.result.cases:
        detail = f"case {case.case} of {run.place}"
        if "error" in case.raw:
            notes.append(f"{detail} failed and is left out: {case.raw['error']}")
        elif "iops" not in case.raw:
            notes.append(f"{detail} was interrupted before anything was measured and is left out")
        else:
            if case.interrupted:
                notes.append(f"{detail} {comparison.SHORTER}")
            yield case.raw


def _sides(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """Runs by what they ran: equal configurations but for seeds, each seed once."""
    sides: list[tuple[object, set[int], list[Run]]] = []
    for run in runs:
        what = _what(run.result)
        for known, seeds, of_side in sides:
            if known == what and run.result.seed not in seeds:
                seeds.add(run.result.seed)
                of_side.append(run)
                break
        else:
            sides.append((what, {run.result.seed}, [run]))
    return {_letter(number): of_side for number, (_, _, of_side) in enumerate(sides)}


def _letter(number: int) -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    return letters[number] if number < len(letters) else f"{letters[number // 26 - 1]}{letters[number % 26]}"


def _what(result: Result) -> object:
    """What was run, without seeds and without the texts that change nothing."""
    return {
        case.case: {k: v for k, v in case.raw.get("config", {}).items() if k.split(".")[-1] != "seed"}
        for case in result.cases
    } | {"version": result.raw["version"]}


def _pairs(sides: Mapping[str, Sequence[Run]], series: Sequence[Series], notes: list[str]) -> Iterator[Pair]:
    """The first side with each other one; of a single side, its first case with each other one."""
    first, *others = ([run.result for run in of_side] for of_side in sides.values())
    if not others:
        before, *after = series
        for each in after:
            if found := _compared(first, first, (f"{before.case}={each.case}",), notes):
                yield Pair(before, each, found.rows, found)
        return
    one, *letters = sides
    by_case = {(each.side, each.case): each for each in series}
    for letter, other in zip(letters, others, strict=True):
        if found := _compared(first, other, (), notes):
            for case in dict.fromkeys(row.case for row in found.rows):
                # Sides of one case each are compared whatever the names are.
                before_name, _, after_name = case.partition(" -> ")
                names = (case, case) if (one, case) in by_case else (before_name, after_name)
                pair = by_case.get((one, names[0])), by_case.get((letter, names[1]))
                if pair[0] is not None and pair[1] is not None:
                    yield Pair(pair[0], pair[1], [row for row in found.rows if row.case == case], found)


def _compared(first: list[Result], other: list[Result], cases: tuple[str, ...], notes: list[str]) -> Comparison | None:
    try:
        return comparison.compare(first, other, cases=cases)
    except ConfigError as error:
        notes.append(f"{NOT_COMPARED}{error}")
        return None

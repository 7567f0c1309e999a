"""Comparison of two sides of results: ratio of every figure, with 95 % intervals over seeds.

Runs are paired by case and seed. Equal seeds give both sides the same load, so that chance affects both alike and the
ratio of a pair varies less than its figures.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from interpulse._core import ConfigError
from interpulse.files.paths import read_text
from interpulse.runs.document import problem
from interpulse.runs.estimate import CONFIDENCE, Estimate, mean_of
from interpulse.runs.latency import KINDS, MEASURES
from interpulse.runs.result import Result
from interpulse.runs.steadiness import overload
from interpulse.tables.format import csv_bytes, short_figure
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

if TYPE_CHECKING:
    from interpulse.runs.latency import Kind

One: TypeAlias = "Result | str | PathLike[str]"
"""A result, its JSON file, or the folder of `--out` that holds it."""
Side: TypeAlias = "One | Sequence[One]"
"""One or several of them, which differ in their seeds or hold different cases."""

FILE = "result.json"
"""The name of a result in the folder of `--out`."""

LARGEST = 2**30
"""Bytes of a result; keeps a mistaken name from filling the memory."""

_IDENTITY = ("schema_version", "version", "seed", "case")
"""Keys of every case, however short it was."""
SHORTER = "was interrupted: its figures are those of a shorter run"
"""The end of the note about an interrupted case."""
_SEVERAL = (
    "no interval can be given from one seed: run both sides with several, such as `interpulse run CONFIG --seed 1 "
    "--out a-1` and so on to 5, and compare them with `interpulse compare a-* -- b-*`"
)


def number_at(path: Sequence[str], raw: Mapping[str, Any]) -> float | None:
    """The number at this place of a case, None where there is none."""
    at: Any = raw
    for key in path:
        at = at.get(key) if isinstance(at, dict) else None
    return at if isinstance(at, int | float) and not isinstance(at, bool) and math.isfinite(at) else None


def _iops(kind: Kind, raw: Mapping[str, Any]) -> float | None:
    """Requests of a kind per simulated second."""
    every, count, total = (
        number_at(path, raw) for path in (("iops",), *(("latency_us", k, "count") for k in (kind, "all")))
    )
    return every * count / total if every and count and total else None


def _bandwidth(raw: Mapping[str, Any]) -> float | None:
    """Bytes of the host per simulated second, in MB/s."""
    moved = [number_at(("counters", "host", name), raw) for name in ("read_bytes", "written_bytes")]
    span = number_at(("simulated_s",), raw)
    known = [each for each in moved if each is not None]
    return sum(known) / span / 1e6 if known and span else None


def figures() -> Iterator[tuple[str, str, Callable[[Mapping[str, Any]], float | None]]]:
    """Every figure that is compared: its name, its unit, and where a case has it."""
    for kind in KINDS:
        yield f"{kind} IOPS", "1/s", partial(_iops, kind)
    yield "bandwidth", "MB/s", _bandwidth
    for kind in KINDS:
        for name in MEASURES:
            yield f"{kind} {name}", "us", partial(number_at, ("latency_us", kind, name))
    others: tuple[tuple[str, str, tuple[str, ...]], ...] = (
        ("write amplification", "", ("ftl", "waf")),
        ("erases", "", ("nand", "erases")),
        ("program suspensions", "", ("nand", "suspends", "program")),
        ("erase suspensions", "", ("nand", "suspends", "erase")),
        ("mean power", "mW", ("power", "mean_mw", "total")),
        ("energy per request", "uJ", ("power", "per_request_uj", "total")),
    )
    for label, unit, path in others:
        yield label, unit, partial(number_at, path)


@dataclass(frozen=True)
class Difference:
    """A setting that the two sides resolved to different values."""

    case: str
    key: str
    a: str | None
    """None where that side has no such setting."""
    b: str | None


@dataclass(frozen=True)
class Row:
    """One figure of one pair of cases."""

    case: str
    figure: str
    unit: str
    a: float | None
    """The mean over the paired seeds; None where that side has no such figure."""
    b: float | None
    pairs: int
    """How many seeds both sides have."""
    ratio: float | None = None
    """B over A, the geometric mean over the pairs; None unless all figures are positive."""
    low: float | None = None
    """The least that the ratio may be, with 95 % confidence; None with fewer than two pairs."""
    high: float | None = None

    @property
    def differs(self) -> bool | None:
        """Whether the interval leaves out 1; None without an interval."""
        return None if self.low is None or self.high is None else not self.low <= 1 <= self.high

    def to_dict(self) -> dict[str, Any]:
        """The known fields; a figure that does not exist is absent."""
        known = {key: value for key, value in asdict(self).items() if value is not None}
        return known if self.differs is None else known | {"differs": self.differs}


@dataclass(frozen=True)
class Comparison:
    """The figures of two sides, B over A. `print` shows the table of `interpulse compare`."""

    a: list[str]
    """Folders or files of side A."""
    b: list[str]
    differences: list[Difference]
    """Differences of the resolved configurations."""
    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    """Caveats."""

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON values."""
        differences = [{k: v for k, v in asdict(each).items() if v is not None} for each in self.differences]
        rows = [row.to_dict() for row in self.rows]
        sides = {"a": self.a, "b": self.b, "confidence": CONFIDENCE}
        return {**sides, "differences": differences, "rows": rows, "notes": self.notes}

    def to_json(self, *, indent: int | None = None) -> str:
        """Everything as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """The rows as CSV text, a figure that does not exist as an empty cell."""
        names = ("case", "figure", "unit", "a", "b", "pairs", "ratio", "low", "high", "differs")
        return csv_bytes(names, ([getattr(row, name) for name in names] for row in self.rows)).decode()

    def text(self, width: int) -> str:
        """The comparison in lines of at most `width` columns: what was changed, then what it changed."""
        parts = [fill(f"{side}: {', '.join(of)}", width) for side, of in (("A", self.a), ("B", self.b))]
        parts = ["\n".join(parts), f"What differs in the configuration\n{self._settings().text(width)}"]
        if not self.differences:
            parts[1] = "The configurations are the same."
        parts += [f"{fill(case, width)}\n{sheet.text(width)}" for case, sheet in self._sheets()]
        notes = "\n".join(fill(f"note: {note}", width) for note in self.notes)
        return "\n\n".join(part for part in (*parts, notes) if part)

    def __repr__(self) -> str:
        return self.text(terminal_width())

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        parts = [f"<p>{side}: {html.escape(', '.join(of))}</p>" for side, of in (("A", self.a), ("B", self.b))]
        parts += [self._settings().html()] * bool(self.differences)
        parts += [f"<p><b>{html.escape(case)}</b></p>{sheet.html()}" for case, sheet in self._sheets()]
        return "".join([*parts, *(f"<p>{html.escape(note)}</p>" for note in self.notes)])

    def _settings(self) -> Sheet:
        """The settings that differ; what differs in the same way in several cases is one row."""
        cases: dict[tuple[str, str, str], list[str]] = {}
        for each in self.differences:
            a, b = ("not there" if value is None else value for value in (each.a, each.b))
            cases.setdefault((each.key, a, b), []).append(each.case)
        heads = [Column("setting", "whole"), Column("A", "text"), Column("B", "text"), Column("case", "text")]
        sheet = Sheet(heads, narrow="records")
        every = list(dict.fromkeys(row.case for row in self.rows))
        for (key, a, b), of in cases.items():
            sheet.add_row(key, a, b, "all" if of == every else ", ".join(of))
        return sheet

    def _sheets(self) -> Iterator[tuple[str, Sheet]]:
        """The figures case by case."""
        for case in dict.fromkeys(row.case for row in self.rows):
            rows = [row for row in self.rows if row.case == case]
            pairs = rows[0].pairs
            several = [f"{CONFIDENCE * 100:.0f} % interval", "differs"] * (pairs > 1)
            heads = ["figure", "A", "B", "B / A", *several]
            sheet = Sheet([Column(heads[0], "label"), *map(Column, heads[1:])])
            for row in rows:
                ratio = "-" if row.ratio is None else f"{row.ratio:.4g}"
                interval = "-" if row.low is None or row.high is None else f"{row.low:.4g} .. {row.high:.4g}"
                detail = [interval, "*" if row.differs else ""] * (pairs > 1)
                name = f"{row.figure}, {row.unit}" if row.unit else row.figure
                sheet.add_row(name, short_figure(row.a), short_figure(row.b), ratio, *detail)
            yield f"{case}, {pairs} seed{'s' * (pairs > 1)}", sheet


@dataclass(frozen=True)
class _Run:
    """A case of one run."""

    place: str
    raw: Mapping[str, Any]

    @property
    def config(self) -> dict[str, str] | None:
        found = self.raw.get("config")
        return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) and found else None


_Cases: TypeAlias = dict[str, dict[int, _Run]]
"""The runs of a side by case and seed."""


def compare(a: Side, b: Side, *, cases: Iterable[str] | str = ()) -> Comparison:
    """Compares results figure by figure: B over A, with 95 % intervals where both sides have several seeds.

    Args:
        a: what is compared with: a `Result`, a `result.json`, a folder of `--out` or `--repeat`, or a list of these.
        b: what it is compared to, in the same way. Runs are paired by the names of their cases and by their seeds.
        cases: which cases: names that both sides have, or `"one=other"` for case `one` of A and `other` of B. All that
            both have unless given, or the only one of each.

    Raises:
        ConfigError: a file is no result, a run is there twice, or nothing can be paired; the message says which.
    """
    notes: list[str] = []
    left_runs, right_runs = _load("A", a, notes), _load("B", b, notes)
    versions = [", ".join(sorted({str(run.raw["version"]) for run in side})) for side in (left_runs, right_runs)]
    if versions[0] != versions[1]:
        detail = " and ".join(versions)
        notes.append(f"A and B are results of different versions ({detail}): figures may differ for that alone")
    rows: list[Row] = []
    differences: list[Difference] = []
    sides = (_by_case("A", left_runs, notes), _by_case("B", right_runs, notes))
    same, compared = True, list[_Run]()
    for case, left, right in _paired([cases] if isinstance(cases, str) else list(cases), *sides, notes):
        seeds = _seeds(case, left, right, notes)
        pairs = [(left[x], right[y]) for x, y in seeds]
        differences += _differences(case, *pairs[0], notes)
        rows += _rows(case, pairs)
        compared += [run for pair in pairs for run in pair]
        same = same and all(x.raw == y.raw for x, y in pairs)
    unsure = sum(run.raw.get("steady", {}).get("verdict") in ("no", "unknown") for run in compared)
    if unsure:
        notes.append(
            f"{unsure} of {len(compared)} windows were not steady or too short to decide: longer runs may differ from "
            "these figures by more than their intervals"
        )
    if same:
        notes.append("A and B are the same result: every figure equals itself")
    elif all(row.pairs == 1 for row in rows):
        notes.append(_SEVERAL)
    elif known := [row for row in rows if row.differs is not None]:
        chance = len(known) * (1 - CONFIDENCE)
        notes.append(f"{len(known)} figures have an interval: chance alone marks about {max(chance, 1):.0f} of them")
    return Comparison(_places(left_runs), _places(right_runs), differences, rows, notes)


def _places(runs: list[_Run]) -> list[str]:
    """Their folders or files."""
    return list(dict.fromkeys(run.place for run in runs))


def _load(name: str, side: Side, notes: list[str]) -> list[_Run]:
    """All cases of all results of a side; failed and stopped cases are noted."""
    several: Sequence[One] = side if isinstance(side, list | tuple) else [side]  # type: ignore[list-item]
    runs = []
    for number, each in enumerate(several, start=1):
        found = (
            [(each, f"result {number}")] if isinstance(each, Result) else [read(path) for path in _folders(Path(each))]
        )
        for place, case in ((at, seed) for of, at in found for of_case in of.cases for seed in of_case.seeds):
            check(place, case)
            detail = f"{name}: case {case.case} of {place}"
            if "error" in case.raw or "iops" not in case.raw:
                notes.append(f"{detail} has no figures and is left out: {case.raw.get('error', 'it was interrupted')}")
                continue
            if case.interrupted:
                notes.append(f"{detail} {SHORTER}")
            if text := overload(case.raw):
                notes.append(f"{detail} was {text}, so its latencies depend on the length of the run")
            runs.append(_Run(place, case.raw))
    if not runs:
        raise ConfigError(f"side {name} has no case with figures{'; ' if notes else ''}{'; '.join(notes)}")
    return runs


def _folders(path: Path) -> list[Path]:
    """The folder itself, or those of the seeds of `--repeat`."""
    seeds = [] if (path / FILE).exists() else [each for each in path.glob("seed-*") if (each / FILE).exists()]
    return sorted(seeds, key=lambda each: (len(each.name), each.name)) or [path]


def check(place: str, case: Result) -> None:
    """Raises ConfigError where a case has not what every case of a result has."""
    missing = [f"there is no '{key}'" for key in _IDENTITY if key not in case.raw]
    if not missing and (not isinstance(case.raw["seed"], int) or isinstance(case.raw["seed"], bool)):
        missing = [f"seed = {case.raw['seed']!r}"]
    if missing:
        raise ConfigError(f"{place} is not a result of `interpulse run`: {missing[0]}")


def read(path: Path) -> tuple[Result, str]:
    """The result in a file, or in a folder of `--out`."""
    file = path / FILE if path.is_dir() else path
    text = read_text(file, "the result", LARGEST)
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        why = f"is not JSON: {error}" if text.strip() else "is empty: a result is what `interpulse run --out` writes"
        raise ConfigError(f"{file} {why}") from None
    for study, key in (("experiment", "experiment"), ("characterization", "characterize")):
        if isinstance(raw, dict) and key in raw:
            raise ConfigError(f"{file} is the result of the {study} '{raw[key]}', not of `interpulse run`")
    what = problem(raw)
    if what is not None:
        raise ConfigError(f"{file} is not a result of `interpulse run`: {what}")
    return Result(raw), str(path)


def _by_case(name: str, runs: list[_Run], notes: list[str]) -> _Cases:
    """The runs of a side by case and seed, which have to differ in their seeds alone."""
    found: _Cases = {}
    for run in runs:
        case, seed = str(run.raw["case"]), int(run.raw["seed"])
        seeds = found.setdefault(case, {})
        if seed in seeds:
            places = f"{seeds[seed].place} and {run.place}"
            raise ConfigError(f"side {name} has case '{case}' with seed {seed} twice: {places}")
        if seeds:
            first = next(iter(seeds.values()))
            for each in _differences(case, first, run, []):
                # A preconditioning that has no seed of its own follows the run's.
                if each.key.split(".")[-1] != "seed":
                    detail = f"{each.key} = {each.a} in {first.place} and {each.b} in {run.place}"
                    raise ConfigError(f"side {name}: the runs of case '{case}' are not repetitions: {detail}")
        seeds[seed] = run
    counts = {len(seeds) for seeds in found.values()}
    if len(counts) > 1:
        notes.append(f"{name}: not every case has the same number of seeds")
    return found


def _paired(
    wanted: list[str], a: _Cases, b: _Cases, notes: list[str]
) -> list[tuple[str, dict[int, _Run], dict[int, _Run]]]:
    """The cases that belong together: what the pair is called, and its runs by seed."""
    names = f"A has {', '.join(a)}; B has {', '.join(b)}"
    pairs: list[tuple[str, str]] = []
    for text in wanted:
        one, _, other = (text, "", text) if text in a and text in b else text.partition("=")
        if one not in a or other not in b:
            raise ConfigError(f"no case '{text}' on both sides, nor a pair of cases A=B: {names}")
        pairs.append((one, other))
    if not wanted:
        pairs = [(name, name) for name in a if name in b]
        if not pairs and len(a) == len(b) == 1:
            pairs = [(next(iter(a)), next(iter(b)))]
        if not pairs:
            raise ConfigError(f"no case has the same name on both sides ({names}): pair them with --case one=other")
        for side, of, others in (("A", a, b), ("B", b, a)):
            left = [name for name in of if name not in others]
            if left and any(x == y for x, y in pairs):
                notes.append(f"only {side} has {', '.join(left)}: left out")
    return [(x if x == y else f"{x} -> {y}", a[x], b[y]) for x, y in pairs]


def _seeds(case: str, a: dict[int, _Run], b: dict[int, _Run], notes: list[str]) -> list[tuple[int, int]]:
    """The seeds that belong together."""
    both = [(seed, seed) for seed in a if seed in b]
    detail = f"A has {', '.join(map(str, a))}; B has {', '.join(map(str, b))}"
    if both:
        if len(both) < max(len(a), len(b)):
            notes.append(f"{case}: seeds that only one side has are left out ({detail})")
        return both
    if len(a) == len(b) == 1:
        notes.append(f"{case}: the seeds differ ({detail}): part of every ratio is another load")
        return [(next(iter(a)), next(iter(b)))]
    raise ConfigError(f"{case}: the sides have no seed in common ({detail}); runs are paired by seed")


def _differences(case: str, a: _Run, b: _Run, notes: list[str]) -> list[Difference]:
    """What two runs resolved differently."""
    left, right = a.config, b.config
    if left is None or right is None:
        notes.append(f"{case}: a result does not hold its configuration, so its differences are unknown")
        return []
    keys = dict.fromkeys([*left, *right])
    return [Difference(case, k, left.get(k), right.get(k)) for k in keys if left.get(k) != right.get(k)]


def _rows(case: str, pairs: list[tuple[_Run, _Run]]) -> Iterator[Row]:
    """Every figure that one side has at least."""
    for name, unit, read in figures():
        values = [(read(x.raw), read(y.raw)) for x, y in pairs]
        a, b = (mean_of(of) for of in zip(*values, strict=True))
        if a is None and b is None:
            continue
        ratios = [y / x for x, y in values if x is not None and y is not None and x > 0 and y > 0]
        if len(ratios) < len(pairs):
            yield Row(case, name, unit, a, b, len(pairs))
            continue
        mean = Estimate.geometric(ratios)
        yield Row(case, name, unit, a, b, len(pairs), mean.value, mean.low, mean.high)

"""Random miniature drives and loads, simulated in this process, and the true figures of any of their settings."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any
from unittest.mock import patch

import interpulse
from interpulse import Config, ConfigError, RunError
from interpulse.search import optimize
from interpulse.search.candidates import OPERATIONS, schemes
from interpulse.search.limits import Limit
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.engine import ProgressObserver
from interpulse.sweeps.simulations import Simulations

Raw = Mapping[str, Any]

AT_ONCE = 32
"""Simulations of one plan, which share the preconditioned state."""

QUICK = (4, 2)
"""Seeds of a true figure, and the factor on its window, while no conclusion is contradicted."""

PRECISE = (16, 4)
"""The same after a contradiction, which has to be confirmed."""

ERRORS = 6.0
"""Standard errors, and
`TOLERANCE`: a factor, by which a true figure has to lie on the other side to contradict a conclusion."""
TOLERANCE = 1.05

PART_ENTRIES = {"program": ("0us", "20us", "70us"), "erase": ("0us", "100us")}


@dataclass(frozen=True)
class World:
    """A drive with its load.

    Attributes:
        text: the configuration.
        entries: suspend entries that the part states, by operation.
        open_rate: requests per second of open arrivals; None for a closed loop.
    """

    number: int
    text: str
    entries: Mapping[str, str]
    open_rate: float | None

    @property
    def config(self) -> Config:
        """The configuration."""
        return Config(self.text)


@dataclass
class Runner:
    """Simulations in this process, in place of the workers of a search; equal requests run once."""

    known: dict[tuple[str, Sets], dict[str, Any]] = field(default_factory=dict)

    def run(self, plain: str, asked: Sequence[Sets]) -> list[Mapping[str, Any]]:
        """Answers in order, as `Simulations.run` gives them."""
        keys = [(plain, tuple(sorted(dict(sets).items()))) for sets in asked]
        missing = [key for key in dict.fromkeys(keys) if key not in self.known]
        for start in range(0, len(missing), AT_ONCE):
            self._do(missing[start : start + AT_ONCE])
        return [self.known[key] for key in keys]

    def _do(self, keys: Sequence[tuple[str, Sets]]) -> None:
        plain = keys[0][0]
        sections = "".join(
            f'\n[[case]]\nname = "c{at}"\nset = {json.dumps([f"{key}={value}" for key, value in sets])}\n'
            for at, (_, sets) in enumerate(keys)
        )
        try:
            cases = interpulse.run(Config(plain + sections), jobs=1, no_cache=True).cases
            self.known |= {key: {"raw": case.raw} for key, case in zip(keys, cases, strict=True)}
        except (ConfigError, RunError) as error:
            if len(keys) == 1:
                kind = "configuration" if isinstance(error, ConfigError) else "run"
                self.known[keys[0]] = {"error": {"kind": kind, "message": str(error)}}
                return
            for key in keys:
                self._do([key])


@contextmanager
def in_process(runner: Runner) -> Iterator[None]:
    """Lets searches simulate in this process, without workers, a store, and the pages that need one."""

    def run(self: Simulations, asked: Sequence[Sets]) -> list[Mapping[str, Any]]:
        self.simulated += len(asked)
        return runner.run(self.plain, asked)

    with patch.object(Simulations, "run", run), patch.object(optimize, "front_files", return_value=()):
        yield


@dataclass(frozen=True)
class Truth:
    """A true figure: mean over seeds with a wide interval."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Truth:
        """The truth of the values of seeds, by their logarithms where all are positive."""
        if min(values) <= 0:
            return cls(mean := fmean(values), mean - (width := _width(values)), mean + width)
        logs = [math.log(value) for value in values]
        mean, width = fmean(logs), _width(logs)
        return cls(math.exp(mean), math.exp(mean - width), math.exp(mean + width))

    def clearly_above(self, bound: float) -> bool:
        """Whether the figure exceeds a bound beyond chance and tolerance."""
        return self.low > bound * TOLERANCE

    def clearly_below(self, bound: float) -> bool:
        """Whether the figure is below a bound beyond chance and tolerance."""
        return self.high < bound / TOLERANCE


def _width(values: Sequence[float]) -> float:
    return ERRORS * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


class Facts:
    """True figures of the settings of a world."""

    def __init__(self, runner: Runner, plain: str, requests: int, effort: tuple[int, int] = QUICK) -> None:
        self._runner, self._plain, self._requests, self._effort = runner, plain, requests, effort

    def coarse(self, every: Sequence[Sets], seed: int = 77) -> list[Raw | None]:
        """One short simulation of each; None where it is not possible."""
        answers = self._runner.run(self._plain, [(*sets, ("seed", str(seed))) for sets in every])
        return [answer.get("raw") for answer in answers]

    def fine(self, sets: Sets) -> list[Raw]:
        """Long simulations with several seeds; empty where they are not possible."""
        seeds, factor = self._effort
        window = ("run.requests", str(self._requests * factor))
        asked = [(*sets, window, ("seed", str(1000 + seed))) for seed in range(seeds)]
        answers = self._runner.run(self._plain, asked)
        return [answer["raw"] for answer in answers if "raw" in answer]


def figure_of(limit: Limit, raws: Sequence[Raw]) -> Truth | None:
    """The true figure of a limit; None if there are no such requests."""
    values = [value for raw in raws if (value := limit.value(raw)) is not None]
    return Truth.of(values) if len(values) == len(raws) and values else None


def keeps_up(world: World, raws: Sequence[Raw], rate: float | None = None) -> bool | None:
    """Whether the offered load is served; None if that is not clear, and for closed loops True."""
    rate = world.open_rate if rate is None else rate
    if rate is None:
        return True
    served = Truth.of([raw["iops"] for raw in raws])
    return True if served.low > 0.98 * rate else False if served.high < 0.95 * rate else None


def clearly(limits: Sequence[Limit], raws: Sequence[Raw], served: bool | None) -> str:
    """`holds` or `misses` if the truth is beyond chance and tolerance, else an empty text."""
    if not raws:
        return ""
    found = [(limit, figure_of(limit, raws)) for limit in limits]
    if served is False or any(truth is not None and truth.clearly_above(limit.bound) for limit, truth in found):
        return "misses"
    all_below = all(truth is None or truth.clearly_below(limit.bound) for limit, truth in found)
    return "holds" if all_below and served else ""


DRIVE = """config_version = 1
drive = "a4-mini"
seed = 1
[precondition]
fill = "100%"
overwrite = "uniform"
[geometry]
channels = {channels}
chips-per-channel = {chips}
[part]
blocks-per-plane = {blocks}
pages-per-block = 96
layers = 8
program-suspend-entry = "{program_entry}"
erase-suspend-entry = "{erase_entry}"
[cache]
size = "{cache}"
[ftl]
over-provisioning = "{spare}%"
{suspend}[run]
requests = {requests}
[[flow]]
read = "{read}%"
{load}
"""


def draw(seed: int, number: int, *, requests: int) -> World:
    """A world; its rate is a share of what the drive serves without suspension."""
    rng = random.Random(f"{seed} {number}")
    entries = {operation: rng.choice(PART_ENTRIES[operation]) for operation in OPERATIONS}
    names = [name for name in schemes() if name not in ("ideal", "none")]
    suspend = ""
    if rng.random() < 0.5:
        for operation in rng.sample(OPERATIONS, rng.randint(1, 2)):
            suspend += f'[suspend.{operation}]\nscheme = "{rng.choice(names)}"\n'
    known = {
        "channels": rng.choice((1, 2)),
        "chips": rng.choice((1, 2)),
        "blocks": rng.choice((48, 64)),
        "program_entry": entries["program"],
        "erase_entry": entries["erase"],
        "cache": rng.choice(("512KiB", "1MiB", "4MiB")),
        "spare": rng.choice((30, 40)),
        "suspend": suspend,
        "requests": requests,
        "read": rng.choice((50, 70, 85, 95, 97)),
    }
    depth = rng.choice((2, 8, 32, 64))
    share = rng.choice((None, None, 0.2, 0.4, 0.6, 0.8))
    if share is None:
        return World(number, DRIVE.format(**known, load=f"depth = {depth}"), entries, None)
    calm = known | {"suspend": ""}
    most = interpulse.run(Config(DRIVE.format(**calm, load="depth = 64")), jobs=1, no_cache=True).cases[0].iops
    rate = float(f"{share * most:.3g}")
    load = f'pacing = "open"\nrate = "{rate:g}/s"\narrivals = "poisson"'
    return World(number, DRIVE.format(**known, load=load), entries, rate)


def plain_of(config: Config, folder: Path) -> str:
    """The configuration without comments and cases, as searches run it."""
    with Simulations(config, folder, ProgressObserver()) as simulations:
        return simulations.plain

"""Fit files: initial drive, known figures and free parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.configuration.values import toml
from interpulse.files.structured_text import read_toml
from interpulse.fitting.budget import DEFAULT as BUDGET
from interpulse.fitting.budget import read_budget
from interpulse.fitting.fio.loads import loads as loads_of_fio
from interpulse.fitting.parameters import Continuous, Discrete, Parameter, read_parameter
from interpulse.fitting.targets import REQUESTS, STATES, TOLERANCE, Load, Target, read_load, read_share, read_tolerance
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.tomlfile import TomlFile, read_given

KEYS = ("fit_version", "title", "config", "set", "load", "fio", "free", "tolerance", "hold-out", "requests", "seed",
        "repetitions", "budget", "scale", "flows")  # fmt: skip
OF_FIO = ("file", "state", "tolerance", "held-out")

HOLD_OUT = 0.2
"""Default share of held-out figures."""

BLOCKS = 12
"""Blocks per lane that the host fills in a window of random writes; with fewer, the result depends on a few victims."""

FEWEST = 5
"""Largest number of figures of which none is held out by default."""

MOST_FLOWS, NEVER = 8, "8640000s"
"""Maximum number of flows of a load, and the start of those that a load does not use: the latest that is legal."""


@dataclass(frozen=True)
class Spec:
    """A fit file.

    Attributes:
        config: the drive with the overrides of `[set]`, and a flow that the loads override.
        drive: its original sections without flows, cases and run.
        loads: the loads with their known figures.
        parameters: the free parameters.
        requests: minimum number of measured requests of a load.
        seed: the first seed.
        repetitions: number of seeds of the final simulations.
        budget_s: time that the fit may take, in seconds.
        scale: whether the drive becomes a scale model; None: if it is large.
        blocks: blocks of each lane that the host fills in a window of random writes.
        flows: flows of each load; the first is that of its figures.
    """

    path: str
    name: str
    config: Config
    drive: Mapping[str, Any]
    sets: Sets
    loads: tuple[Load, ...]
    parameters: tuple[Parameter, ...]
    requests: int = REQUESTS
    seed: int = 1
    repetitions: int = 3
    title: str = ""
    budget_s: float = math.inf
    scale: bool | None = None
    blocks: int = BLOCKS
    flows: int = 1

    @classmethod
    def of(cls, given: object) -> Spec:
        """Reads a fit from a path or a dictionary. Raises ConfigError."""
        return given if isinstance(given, Spec) else read_given(given, "fit", read_spec)

    @property
    def continuous(self) -> tuple[Continuous, ...]:
        """The continuous parameters."""
        return tuple(each for each in self.parameters if isinstance(each, Continuous))

    @property
    def discrete(self) -> tuple[Discrete, ...]:
        """The discrete parameters."""
        return tuple(each for each in self.parameters if isinstance(each, Discrete))

    def targets(self) -> list[tuple[Load, Target]]:
        """All figures with their loads, in order."""
        return [(load, target) for load in self.loads for target in load.targets]


def read_spec(text: str, path: str, folder: Path) -> Spec:
    """Reads the text of a fit file whose files are in `folder`. Raises ConfigError with the line of a mistake."""
    file = TomlFile.read(text, path, folder, KEYS)
    given = file.config()
    left_out = ("flow", "case", "run", "title")
    drive = {key: value for key, value in read_toml(given.text, given.path).items() if key not in left_out}
    flows = file.number("flows", 1, "a number of flows", 1, MOST_FLOWS + 1)
    base = {**drive, "run": {"requests": REQUESTS}, "flow": [{} for _ in range(flows)]}
    config = Config(toml(base), path=given.path)
    for key, value in (*given.sets, *file.settings()):
        config.set(key, value)
    values = {entry.key: entry.value for entry in config.entries()}
    spec = Spec(
        file.name,
        Path(path.strip("<>")).stem,
        config,
        drive,
        tuple(config.sets),
        tuple(with_idle_flows(load, flows) for load in _held_out(_loads(file), file)),
        _free(file, values),
        file.number("requests", REQUESTS, "a number of requests", 1000, 10**9),
        file.number("seed", 1, "a seed", 0, 2**31),
        file.number("repetitions", 3, "a number of seeds", 2, 1001),
        file.words("title"),
        read_budget(file.raw.get("budget", BUDGET), f"{file.place('budget')}: budget"),
        _scale(file),
        flows=flows,
    )
    used = sum(not target.held_out for _, target in spec.targets())
    if used < len(spec.parameters):
        raise ConfigError(
            f"{spec.path}: seen {used} figures that are not held out, and {len(spec.parameters)} parameters; expected "
            "at least as many figures: nothing else could be said of them"
        )
    return spec


def _scale(file: TomlFile) -> bool | None:
    value = file.raw.get("scale")
    if value is not None and not isinstance(value, bool):
        expected = "expected true or false; without it, drives of more than 64 GiB become scale models"
        raise ConfigError(f"{file.place('scale')}: scale: seen {value!r}; {expected}")
    return value


def _loads(file: TomlFile) -> tuple[Load, ...]:
    tolerance = TOLERANCE
    if "tolerance" in file.raw:
        tolerance = read_tolerance(file.raw["tolerance"], f"{file.place('tolerance')}: tolerance")
    found: list[Load] = []
    # At least one of both is required.
    if "load" in file.raw or "fio" not in file.raw:
        listed = file.tables("load", "with a figure, or [[fio]] with its output")
        found += [read_load(each, file.at("load", number), tolerance) for number, each in enumerate(listed)]
    if "fio" in file.raw:
        for number, each in enumerate(file.tables("fio", 'with file = "OUTPUT.json"')):
            found += _of_fio(each, file.at("fio", number), file.folder, tolerance)
    names = [load.name for load in found]
    for load in found:
        if names.count(load.name) > 1:
            seen = f"seen {load.name!r} twice"
            raise ConfigError(f"{load.place}: load.name: {seen}; expected a name of its own for each load")
    return tuple(found)


def with_idle_flows(load: Load, flows: int) -> Load:
    """The load with the flows that it does not set starting after its end."""
    idle = [number for number in range(1, flows) if not any(key.startswith(f"flow.{number}.") for key, _ in load.own)]
    return replace(load, own=(*load.own, *((f"flow.{number}.start", NEVER) for number in idle)))


def _of_fio(raw: Mapping[str, Any], at: Callable[[str | None], str], folder: Path, tolerance: float) -> list[Load]:
    for key in raw:
        if key not in OF_FIO:
            raise ConfigError(f"{at(key)}: fio: unknown key {key}; expected one of {', '.join(OF_FIO)}")
    file, state, out = raw.get("file"), raw.get("state"), raw.get("held-out", [])
    if not isinstance(file, str) or not file.strip():
        raise ConfigError(f"{at('file')}: fio.file: seen {file!r}; expected the output of fio --output-format=json")
    if state is not None and state not in STATES:
        raise ConfigError(f"{at('state')}: fio.state: seen {state!r}; expected one of {', '.join(STATES)}")
    if not isinstance(out, list) or not all(isinstance(each, str) for each in out):
        raise ConfigError(f"{at('held-out')}: fio.held-out: seen {out!r}; expected a list of names of jobs")
    if "tolerance" in raw:
        tolerance = read_tolerance(raw["tolerance"], f"{at('tolerance')}: fio.tolerance")
    try:
        return list(loads_of_fio(folder / file, tolerance, state, tuple(out)))
    except ConfigError as error:
        raise ConfigError(f"{at('file')}: fio.file: {error}") from None


def _held_out(loads: tuple[Load, ...], file: TomlFile) -> tuple[Load, ...]:
    """The loads with held-out figures: those of the file, or a share of evenly spaced ones."""
    said = "hold-out" in file.raw
    at = f"{file.place('hold-out')}: hold-out"
    share = read_share(file.raw["hold-out"], at) if said else HOLD_OUT
    if said and share > 0.5:
        raise ConfigError(f"{at}: seen {file.raw['hold-out']!r}; expected a share of at most one half")
    every = [target for load in loads for target in load.targets]
    if any(target.held_out for target in every) or (len(every) < FEWEST and not said):
        return loads
    count = round(share * len(every))
    # The middle of each part, so that the first figure, often the best known, is fitted.
    chosen = {int((number + 0.5) * len(every) / count) for number in range(count)}
    numbers = iter(range(len(every)))
    return tuple(
        replace(load, targets=tuple(replace(each, held_out=next(numbers) in chosen) for each in load.targets))
        for load in loads
    )


def _free(file: TomlFile, values: Mapping[str, str]) -> tuple[Parameter, ...]:
    found: list[Parameter] = []
    taken: set[str] = set()
    for number, each in enumerate(file.tables("free", 'with key = "host.firmware"')):
        at = file.at("free", number)
        parameter = read_parameter(each, at, file.folder, values)
        keys = {key for key, _ in parameter.parts} if isinstance(parameter, Continuous) else set(parameter.axis.keys)
        if keys & taken:
            both = ", ".join(sorted(keys & taken))
            raise ConfigError(f"{at(None)}: free: {both} is chosen twice; one of them has to go")
        taken |= keys
        found.append(parameter)
    if not any(isinstance(parameter, Continuous) for parameter in found):
        raise ConfigError(
            f"{file.at('free', 0)(None)}: free: seen choices alone; expected at least one [[free]] with from and to "
            "(`interpulse sweep` compares choices)"
        )
    return tuple(found)

"""Checks of a sweep before it runs: illegal values, memory, files, shared preconditioned states."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from pathlib import Path

from interpulse._core import ConfigError, Plan
from interpulse.configuration.config import Config
from interpulse.configuration.lists import listed
from interpulse.configuration.values import toml
from interpulse.files.cache import parse_size
from interpulse.files.paths import digest
from interpulse.files.structured_text import read_toml
from interpulse.sweeps.axes import FILE_KEYS, Choice, Sets
from interpulse.sweeps.points import settings
from interpulse.sweeps.spec import Spec

PLANES = ("geometry.channels", "geometry.chips-per-channel", "geometry.dies-per-chip", "part.planes")
"""Settings whose product is the number of planes of a drive."""

TRIES = 64
"""Tried points with a value before the value is rejected."""

BYTES_PER_UNIT = 10
"""Maximum memory of a drive per 4 KiB of raw capacity (docs/ARCHITECTURE.md)."""

BASE_BYTES = 160 * 2**20
"""Memory of a Python process with a Dask worker and the core."""

_NOT_SHAPING = {"flow", "run", "suspend", "schedule", "host", "link", "report", "power", "ecc", "seed", "title"}
"""Sections that change neither the memory of a drive nor its preconditioned state."""


@dataclass(frozen=True)
class Base:
    """Shared configuration of all simulations of a sweep.

    Attributes:
        text: the original text, for messages.
        path: its absolute path, to which file names are relative.
        plain: the text without comments and cases, which is run and hashed.
    """

    text: str
    path: str
    plain: str

    @classmethod
    def of(cls, config: Config) -> Base:
        """The base of a valid configuration, without its overrides, which points contain."""
        raw = read_toml(config.text, config.path)
        raw.pop("case", None)
        return cls(config.text, str(Path(config.path).absolute()), toml(raw))

    def config(self, sets: Sets) -> Config:
        """The configuration of one simulation; messages name the lines of the file."""
        config = Config(self.text, path=self.path).set("case", [])
        for key, value in sets:
            config.set(key, value)
        return config


@dataclass(frozen=True)
class Shape:
    """Properties of a simulation that do not depend on the load.

    Attributes:
        memory: required bytes, including the preconditioned state.
        state: identifies the preconditioned state.
    """

    memory: int = BASE_BYTES
    state: str = ""


@dataclass
class Files:
    """Hashes of input files, each read once."""

    known: dict[str, str] = field(default_factory=dict)

    def content(self, path: str) -> str:
        """A hash of a file's content; its path if unreadable, an error that the run reports."""
        if path not in self.known:
            self.known[path] = digest(path) or path
        return self.known[path]


def named_files(plan: Plan, base: Base) -> dict[str, str]:
    """Absolute paths of the files that a plan reads, by setting."""
    found = {}
    for entry in plan.entries():
        if FILE_KEYS.fullmatch(entry.key):
            path = Path(base.path).parent / entry.value
            if path.is_file():
                found[entry.key] = str(path)
    return found


def shape_of(plan: Plan, shaping: frozenset[str]) -> Shape:
    """Memory and state of a plan; `shaping`: the keys that a preconditioned state depends on."""
    values = {entry.key: entry.value for entry in plan.entries()}
    pages = math.prod(int(values.get(key, "1")) for key in (*PLANES, "part.blocks-per-plane", "part.pages-per-block"))
    raw = pages * parse_size(values.get("part.page-size", "16KiB"), "part.page-size")
    for key in ("drive.capacity", "drive.raw-capacity"):
        if values.get(key, "not set") != "not set":
            raw = max(raw, parse_size(values[key], key))
    drives = int(values["array.drives"]) if values.get("array.drives", "").isdigit() else 1
    # The factor of 2 is for the state and the drive built from it.
    memory = BASE_BYTES + 2 * drives * raw // 4096 * BYTES_PER_UNIT
    state = sorted((key, value) for key, value in values.items() if key in shaping)
    return Shape(memory, hashlib.sha256(repr(state).encode()).hexdigest()[:32])


@dataclass
class Checked:
    """A checked sweep.

    Attributes:
        base: the shared configuration.
        seed: the seed of the first repetition.
        files: the files of the configuration, by setting.
    """

    spec: Spec
    base: Base
    seed: int
    files: dict[str, str]
    contents: Files
    _shaping: frozenset[str]
    _shapes: dict[Sets, Shape] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: Spec) -> Checked:
        """Checks the configuration and every value of every axis.

        Raises:
            ConfigError: the configuration cannot be used, or a value is illegal at all its points.
        """
        plan = spec.config.resolve()
        base = Base.of(spec.config)
        seed = spec.seed
        if seed is None:
            seed = next(int(entry.value) for entry in plan.entries() if entry.key == "seed")
        checked = cls(spec, base, seed, named_files(plan, base), Files(), shaping_keys())
        checked._values()
        return checked

    def shape(self, sets: Sets) -> Shape:
        """Memory and state of a point, computed once for points that agree in the settings behind them."""
        own = tuple(each for each in sets if each[0].split(".")[0] not in _NOT_SHAPING)
        if own not in self._shapes:
            try:
                self._shapes[own] = shape_of(self.base.config(sets).resolve(), self._shaping)
            except ConfigError:  # The run reports the error.
                self._shapes[own] = Shape()
        return self._shapes[own]

    def inputs(self, sets: Sets) -> dict[str, str]:
        """Absolute paths of the files that a point reads, with hashes of their content."""
        named = dict(self.files)
        for key, value in sets:
            if FILE_KEYS.fullmatch(key):
                named.pop(key, None)
                if Path(value).is_file():
                    named[key] = str(Path(value).absolute())
        return {path: self.contents.content(path) for path in sorted(set(named.values()))}

    def _values(self) -> None:
        """Checks that every value is legal at some point."""
        axes = self.spec.all_axes
        first = tuple(axis.choices[0] for axis in axes)
        for at, axis in enumerate(axes[: len(self.spec.axes)]):
            for choice in axis.choices:
                error = self._try((*first[:at], choice, *first[at + 1 :]))
                if error is not None and (message := self._anywhere(at, choice, error)):
                    said = message.removeprefix("--set: ")
                    raise ConfigError(f"{axis.place}: axis: {said}")

    def _try(self, choices: tuple[Choice, ...]) -> str | None:
        try:
            self.base.config(settings(self.spec, choices)).resolve()
        except ConfigError as error:
            return str(error)
        return None

    def _anywhere(self, at: int, choice: Choice, first: str) -> str | None:
        """Why no point with this value can be used; None if one can, or if that is unknown."""
        axes = self.spec.all_axes
        total = math.prod(len(axis.choices) for number, axis in enumerate(axes) if number != at)
        tried = range(total) if total <= TRIES else [index * (total - 1) // (TRIES - 1) for index in range(TRIES)]
        alike = True
        for index in tried:
            choices, left = [], index
            for number, axis in enumerate(axes):
                if number == at:
                    choices.append(choice)
                else:
                    left, own = divmod(left, len(axis.choices))
                    choices.append(axis.choices[own])
            error = self._try(tuple(choices))
            if error is None:
                return None
            alike = alike and error == first
        return first if alike or total <= TRIES else None


def shaping_keys() -> frozenset[str]:
    """The settings that a preconditioned state depends on."""
    return frozenset(key["name"] for key in listed()["keys"] if key["shapes_state"])

"""Free parameters of a fit: settings with bounds and priors, and choices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.fitting import quantity
from interpulse.fitting.defaults import declared, shipped_values
from interpulse.fitting.times import TIMES, time_of
from interpulse.sweeps.axes import WAYS, Axis, Sets, read_axis

BEYOND = 2.0
"""Factor of the default bounds beyond the values of shipped parts and drives."""

LEAST_WITHIN = 1.5
"""Smallest width of a prior from shipped parts, as a factor."""

CONTINUOUS = ("a duration", "a size", "a transfer rate", "a fraction", "a number")
KEYS = ("key", "time", "from", "to", "prior", "within")


@dataclass(frozen=True)
class Continuous:
    """A quantity between two bounds, fitted by its logarithm.

    Attributes:
        name: a setting, or `tR`, `tPROG`, `tBERS`.
        kind: the kind of quantity.
        low: lower bound, in the basic unit.
        high: upper bound.
        prior: expected value; None for a uniform prior between the bounds.
        within: standard deviation of the prior, as a factor.
        parts: settings in fixed proportions, with the value of each for a total of 1; or a single setting.
        origin: source of bounds and prior.
    """

    name: str
    kind: str
    low: float
    high: float
    prior: float | None
    within: float
    parts: tuple[tuple[str, float], ...]
    origin: str

    def sets(self, value: float) -> Sets:
        """The settings for a value."""
        return tuple((key, quantity.setting(max(share * value, 0), self.kind)) for key, share in self.parts)

    def said(self, value: float) -> str:
        """A value with its unit."""
        return quantity.said(value, self.kind)


@dataclass(frozen=True)
class Discrete:
    """One of several choices, in order."""

    axis: Axis

    @property
    def name(self) -> str:
        """Name in messages."""
        return ", ".join(self.axis.keys)

    def sets(self, number: int) -> Sets:
        """The settings for a choice."""
        return self.axis.choices[number].sets

    def said(self, number: int) -> str:
        """Text of a choice."""
        return ", ".join(value for _, value in self.sets(number))


Parameter = Continuous | Discrete


def read_parameter(raw: object, at: Callable[[str | None], str], folder: Path, values: Mapping[str, str]) -> Parameter:
    """Reads a `[[free]]`; `at` returns the line of a key.

    Raises:
        ConfigError: invalid; the message has the place, the value and the legal values.
    """
    if not isinstance(raw, dict):
        raise ConfigError(f"{at(None)}: free: seen {raw!r}; expected a table [[free]]")
    if set(raw) & set(WAYS):
        try:
            return Discrete(read_axis(raw, at, folder))
        except ConfigError as error:
            raise ConfigError(str(error).replace(": axis", ": free")) from None
    for key in raw:
        if key not in KEYS:
            legal = ", ".join((*KEYS, "name", *WAYS))
            raise ConfigError(f"{at(key)}: free: unknown key {key}; expected one of {legal}")
    if ("key" in raw) == ("time" in raw):
        seen = "both" if "key" in raw else "neither"
        raise ConfigError(f"{at(None)}: free: seen {seen} key and time; expected one of them: a setting, or "
                          f"{', '.join(TIMES)}")  # fmt: skip
    name, kind, parts = _time(raw, at, values) if "time" in raw else _setting(raw, at, values)
    return _bounded(raw, at, name, kind, parts, values)


def _time(raw: Mapping[str, Any], at: Callable[[str | None], str], values: Mapping[str, str]) -> Any:  # noqa: ANN401
    name = raw["time"]
    if name not in TIMES:
        raise ConfigError(f"{at('time')}: free.time: seen {name!r}; expected one of {', '.join(TIMES)}")
    return name, "a duration", tuple(time_of(name, values).items())


def _setting(raw: Mapping[str, Any], at: Callable[[str | None], str], values: Mapping[str, str]) -> Any:  # noqa: ANN401
    name = raw["key"]
    key = declared(name) if isinstance(name, str) else None
    if key is None or name not in values:
        raise ConfigError(f"{at('key')}: free.key: seen {name!r}; expected a setting of this drive (interpulse show)")
    kind = key["holds"]
    if kind not in CONTINUOUS or key["list"]:
        raise ConfigError(
            f"{at('key')}: free.key: {name} is {kind}, which is not continuous; expected values = [...] "
            "with those to choose from"
        )
    return name, kind, ((name, 1.0),)


def _bounded(
    raw: Mapping[str, Any],
    at: Callable[[str | None], str],
    name: str,
    kind: str,
    parts: tuple[tuple[str, float], ...],
    values: Mapping[str, str],
) -> Continuous:
    def given(key: str) -> float | None:
        return None if key not in raw else quantity.read(raw[key], kind, f"{at(key)}: free.{key}")

    low, high, prior = given("from"), given("to"), given("prior")
    within = raw.get("within", 2)
    if isinstance(within, bool) or not isinstance(within, int | float) or not 1 < within <= 1e6:
        raise ConfigError(f"{at('within')}: free.within: seen {within!r}; expected a factor above 1")
    seen = shipped_values(name, values)
    origin = "given"
    if (low is None or high is None) and not seen:
        raise ConfigError(f"{at(None)}: free: no shipped part or drive has {name}; expected from and to")
    if seen and (low is None or high is None):
        origin = (
            f"{len(seen)} shipped parts or drives: {quantity.said(min(seen), kind)} to {quantity.said(max(seen), kind)}"
        )
        low = min(seen) / BEYOND if low is None else low
        high = max(seen) * BEYOND if high is None else high
        if prior is None and "within" not in raw:
            prior, within = _prior(seen)
            prior = min(max(prior, low), high)
    assert low is not None
    assert high is not None
    if not low < high:
        place = at("from" if "from" in raw else "to")
        said = f"{quantity.said(low, kind)} to {quantity.said(high, kind)}"
        raise ConfigError(f"{place}: free: seen from {said}; expected a range of {name}")
    if prior is not None and not low <= prior <= high:
        said = f"{quantity.said(low, kind)} to {quantity.said(high, kind)}"
        raise ConfigError(f"{at('prior')}: free.prior: seen {raw.get('prior')!r}; expected a value from {said}")
    return Continuous(name, kind, low, high, prior, float(within), parts, origin)


def _prior(seen: list[float]) -> tuple[float, float]:
    logs = [math.log(value) for value in seen]
    mean = sum(logs) / len(logs)
    spread = math.sqrt(sum((each - mean) ** 2 for each in logs) / max(len(logs) - 1, 1))
    return math.exp(mean), max(math.exp(spread), LEAST_WITHIN)

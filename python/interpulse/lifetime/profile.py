"""Profile of a life: periods with temperature, load and power, by the age at which each begins."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.config import parse_set
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.tomlfile import TomlFile, read_given

YEAR_DAYS = 365
KEYS = ("life_version", "title", "period")
PERIOD = ("from", "power", "temperature-c", "dwpd", "set")
LOAD = ("dwpd", "set")
"""Keys of a period with power."""

SUCH = 'with from = "2y" and temperature-c = 55'
COLDEST, HOTTEST = -55.0, 150.0
MOST_DWPD = 100_000.0
CLOSE = 1e-6
"""Days within which two windows are one."""

_AGE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([yd])\s*")
_FLOW = re.compile(r"flow\.\d+\.[^=]+=")
_ZERO_CELSIUS_K = 273.15
_BOLTZMANN_EV = 8.617333262e-5


@dataclass(frozen=True)
class Period:
    """A part of a life.

    Attributes:
        begin: age of the drive in days.
        power: whether the drive has power; without, nothing is written.
        celsius: temperature; None for that of the configuration.
        dwpd: drive writes per day.
        sets: keys of the load that differ from the configuration.
    """

    begin: float
    power: bool
    celsius: float | None
    dwpd: float
    sets: Sets = ()

    @property
    def cells(self) -> list[str]:
        """Power, temperature, load and changed keys as text."""
        warm = "as configured" if self.celsius is None else f"{self.celsius:g}"
        if not self.power:
            return ["off", warm, "-", "-"]
        return ["on", warm, f"{self.dwpd:g}", ", ".join(f"{key}={value}" for key, value in self.sets) or "-"]

    def to_dict(self) -> dict[str, Any]:
        """As JSON; what the configuration decides is absent."""
        found: dict[str, Any] = {"from_day": self.begin, "power": "on" if self.power else "off"}
        if self.celsius is not None:
            found["temperature_c"] = self.celsius
        return found | ({"dwpd": self.dwpd, "set": dict(self.sets)} if self.power else {})


@dataclass(frozen=True)
class Past:
    """Time in which the data of a window aged, at the temperature of the window.

    Attributes:
        factor: equivalent time of a day in which the drive wrote, in days.
        off_days: equivalent time without power.
        since: time since then, as a share of that in which all blocks are rewritten.
    """

    factor: float = 1.0
    off_days: float = 0.0
    since: float = 0.0


@dataclass(frozen=True)
class Profile:
    """Periods of a life, by age; the first begins with the drive.

    Attributes:
        periods: at least one.
        given: whether a file has them.
        places: file and line of each, for messages.
    """

    periods: tuple[Period, ...]
    given: bool = False
    places: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: object, years: float, dwpd: float) -> Profile:
        """The periods of a file or a dictionary; one of this rate without. Raises ConfigError with the line."""
        if given is None:
            return cls((Period(0.0, power=True, celsius=None, dwpd=dwpd),))
        return read_given(given, "profile", lambda text, path, folder: _read(text, path, folder, years, dwpd))

    def at(self, day: float) -> Period:
        """The period of a day."""
        return next(each for each in reversed(self.periods) if each.begin <= day + CLOSE)

    def load(self, day: float) -> Period:
        """The period whose load a window of this day has: without power, that before it was switched off."""
        return next(each for each in reversed(self.periods) if each.begin <= day + CLOSE and each.power)

    def days(self, years: float, windows: int) -> list[float]:
        """Days of the windows: at equal distances, and where a period begins, but none without power."""
        ends = years * YEAR_DAYS
        changes = [each.begin for each in self.periods[1:]]
        equal = [ends * k / (windows - 1) for k in range(windows)]
        found = [day for day in equal if all(abs(day - change) > CLOSE for change in changes)]
        return sorted([*(d for d in found if self._runs(d) or d == ends), *filter(self._is_seen, changes)])

    def spans(self, day: float) -> Iterator[tuple[float, float, Period]]:
        """Begin, end and period of all parts of the life after a day; the last has no end."""
        for period, after in itertools.zip_longest(self.periods, self.periods[1:]):
            end = math.inf if after is None else after.begin
            if end > day:
                yield max(day, period.begin), end, period

    def writes(self, day: float) -> float:
        """Host writes until a day, in capacities."""
        spans = [(begin, min(end, day), each) for begin, end, each in self.spans(0.0) if begin < day and each.power]
        return math.fsum((end - begin) * each.dwpd for begin, end, each in spans)

    def past(self, day: float, turn: float, energy: float, configured: float) -> Past:
        """The past of the data of a window at this day.

        Args:
            day: the age of the drive.
            turn: days with power in which all blocks are rewritten.
            energy: activation energy of charge loss, in eV.
            configured: temperature of the configuration.
        """

        def kelvin(period: Period) -> float:
            return (configured if period.celsius is None else period.celsius) + _ZERO_CELSIUS_K

        now = kelvin(self.load(day))
        left, on, off, since = turn, 0.0, 0.0, turn
        factor = 1.0
        for begin, end, period in reversed([each for each in self.spans(0.0) if each[0] < day]):
            factor = math.exp(energy / _BOLTZMANN_EV * (1 / now - 1 / kelvin(period)))
            length = min(end, day) - begin
            if not period.power:
                off += length * factor
                since = min(since, turn - left)
                continue
            length = min(length, left)
            on += length * factor
            left -= length
            if left <= 0:
                break
        # Data from before the life was written under its first period.
        return Past((on + left * factor) / turn, off, since / turn if off else 0.0)

    def check(self, legal: Callable[[Sets], object]) -> None:
        """Raises ConfigError with the line of a period whose keys the drive refuses."""
        for place, period in zip(self.places, self.periods, strict=False):
            try:
                legal((*period.sets, *temperature(period)))
            except ConfigError as error:
                raise ConfigError(f"{place}: period: {str(error).removeprefix('--set: ')}") from None

    def _runs(self, day: float) -> bool:
        return self.at(day).power

    def _is_seen(self, change: float) -> bool:
        """Whether a window shows a change: not one between two periods without power."""
        return self.at(change).power or self.at(change - 2 * CLOSE).power


def temperature(period: Period) -> Sets:
    """The setting of a period's temperature."""
    return () if period.celsius is None else (("errors.temperature-c", f"{period.celsius:g}"),)


def age_in_days(value: object, place: str) -> float:
    """Reads an age such as `2y` or `90d`. Raises ConfigError if it is none."""
    match = _AGE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ConfigError(f'{place}: seen {value!r}; expected an age in years or days, such as "2y" or "90d"')
    return float(match[1]) * (YEAR_DAYS if match[2] == "y" else 1)


def _read(text: str, path: str, folder: Path, years: float, dwpd: float) -> Profile:
    file = TomlFile.read(text, path, folder, KEYS)
    file.words("title")
    periods: list[Period] = []
    for number, table in enumerate(file.tables("period", SUCH)):
        periods.append(_period(table, file.at("period", number), periods, years, dwpd))
    places = tuple(file.place(None, "period", number) for number in range(len(periods)))
    return Profile(tuple(periods), given=True, places=places)


def _period(
    table: Mapping[str, Any], at: Callable[[str | None], str], before: Sequence[Period], years: float, dwpd: float
) -> Period:
    for key in table:
        if key not in PERIOD:
            raise ConfigError(f"{at(key)}: unknown key period.{key}; expected one of {', '.join(PERIOD)}")
    begin = _begin(table, at, before, years)
    power = table.get("power", "on")
    if power not in ("on", "off"):
        raise ConfigError(f'{at("power")}: period.power: seen {power!r}; expected "on" or "off"')
    if power == "off":
        if not before:
            raise ConfigError(f'{at("power")}: period.power: seen "off"; expected "on" in the first period')
        for key in LOAD:
            if key in table:
                raise ConfigError(
                    f'{at(key)}: period.{key}: seen {table[key]!r} with power = "off"; expected no load without power'
                )
    celsius = _number(table, "temperature-c", at, COLDEST, HOTTEST, "degrees Celsius")
    rate = _number(table, "dwpd", at, 0.0, MOST_DWPD, "drive writes per day")
    if rate == 0:
        raise ConfigError(f'{at("dwpd")}: period.dwpd: seen 0; expected more than 0, or power = "off"')
    return Period(begin, power == "on", celsius, dwpd if rate is None else rate, tuple(_sets(table, at)))


def _begin(table: Mapping[str, Any], at: Callable[[str | None], str], before: Sequence[Period], years: float) -> float:
    place = f"{at('from')}: period.from"
    if "from" not in table:
        raise ConfigError(f'{place}: seen none; expected the age at which the period begins, such as "2y"')
    begin = age_in_days(table["from"], place)
    if not before and begin > 0:
        raise ConfigError(f'{place}: seen {table["from"]!r}; expected "0y" for the first period')
    if before and begin < before[-1].begin + 1:
        last = f"{before[-1].begin:g}d"
        raise ConfigError(f"{place}: seen {table['from']!r}; expected at least a day after the period before, {last}")
    if begin >= years * YEAR_DAYS:
        raise ConfigError(f"{place}: seen {table['from']!r}; expected less than the life of {years:g} years")
    return begin


def _number(
    table: Mapping[str, Any], key: str, at: Callable[[str | None], str], least: float, most: float, unit: str
) -> float | None:
    found = table.get(key)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int | float) or not least <= found <= most:
        raise ConfigError(f"{at(key)}: period.{key}: seen {found!r}; expected {unit} from {least:g} to {most:g}")
    return float(found)


def _sets(table: Mapping[str, Any], at: Callable[[str | None], str]) -> Iterator[tuple[str, str]]:
    listed = table.get("set", [])
    place = f"{at('set')}: period.set"
    legal = 'expected keys of flows, such as ["flow.0.read=50%"]'
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise ConfigError(f"{place}: seen {listed!r}; {legal}")
    for each in listed:
        if not _FLOW.match(each):
            raise ConfigError(f"{place}: seen {each!r}; {legal}")
        yield parse_set(each)


Given = Mapping[str, Any] | str | PathLike[str] | None

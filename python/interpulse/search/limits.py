"""Limits on latency and wear as users write them: `read-p99.9` and `1ms`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.values import plain

KINDS = ("read", "write", "all")
MEASURES = ("mean", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999")
"""Measures that a limit can bound. A maximum is excluded: that of one window does not predict the next."""

NAMES = tuple(f"{kind}-{measure}" for kind in KINDS for measure in MEASURES)

_US = {"ns": Decimal("0.001"), "us": Decimal(1), "ms": Decimal(1000), "s": Decimal(1_000_000)}
_MOST_US = Decimal(86_400_000_000)
_TIME = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*")
_SHARE = re.compile(r"\s*(\d+(?:\.\d+)?(?:e-?\d+)?)\s*(%?)\s*")


@dataclass(frozen=True)
class Limit:
    """Upper bound of a latency.

    Attributes:
        kind: `read`, `write` or `all` requests.
        measure: `mean`, or a percentile such as `p99.9`.
        bound: in microseconds.
    """

    kind: str
    measure: str
    bound: float
    unit = "us"

    @property
    def name(self) -> str:
        """Name in messages: `read p99.9`."""
        return f"{self.kind} {self.measure}"

    def value(self, raw: Mapping[str, Any]) -> float | None:
        """Value in a result; None if no such request completed."""
        found = raw.get("latency_us", {}).get(self.kind, {}).get(self.measure)
        return None if found is None else float(found)

    def interval(self, raw: Mapping[str, Any]) -> tuple[float, float] | None:
        """95 % interval of one window; None if it has too few requests."""
        found = raw.get("latency_us", {}).get(self.kind, {}).get("interval", {}).get(self.measure)
        return None if found is None else (float(found[0]), float(found[1]))

    def few(self, raw: Mapping[str, Any]) -> bool:
        """Whether the result marks the percentile as one of too few requests."""
        return self.measure in raw.get("latency_us", {}).get(self.kind, {}).get("few", ())

    def below(self) -> list[Limit]:
        """The same bound on lower percentiles, which never exceed this one."""
        at = MEASURES.index(self.measure)
        return [Limit(self.kind, measure, self.bound) for measure in MEASURES[1:at]]

    @property
    def share(self) -> float:
        """Share of the requests beyond the percentile; 1 for a mean."""
        return 1.0 if self.measure == "mean" else 1 - float(self.measure[1:]) / 100

    def beyond(self, raw: Mapping[str, Any]) -> float | None:
        """Number of requests beyond the percentile; None for a mean."""
        if self.measure == "mean":
            return None
        count = raw.get("latency_us", {}).get(self.kind, {}).get("count", 0)
        return float(count) * self.share


@dataclass(frozen=True)
class Wear:
    """Upper bound of the wear added by suspensions, as a share of the wear by erases."""

    bound: float
    unit = ""
    name = "added wear"

    def value(self, raw: Mapping[str, Any]) -> float | None:
        """Value in a result; None if nothing was erased."""
        erases = raw.get("nand", {}).get("erases", 0)
        stress = raw.get("counters", {}).get("nand", {}).get("suspend_stress", 0)
        return stress / 1e6 / erases if erases else None

    def interval(self, raw: Mapping[str, Any]) -> tuple[float, float] | None:
        """Interval of one window, assuming that suspensions and erases are independent."""
        found, counts = self.value(raw), raw.get("nand", {})
        if found is None:
            return None
        suspends = sum(counts.get("suspends", {}).values())
        width = 2 * math.sqrt(1 / max(suspends, 1) + 1 / counts["erases"])
        return found * max(0.0, 1 - width), found * (1 + width)

    def few(self, raw: Mapping[str, Any]) -> bool:
        """Whether the window has fewer than ten erases."""
        return bool(raw.get("nand", {}).get("erases", 0) < 10)

    def below(self) -> list[Limit]:
        """None: no lower percentiles exist."""
        return []

    def beyond(self, raw: Mapping[str, Any]) -> float | None:
        """Number of erases."""
        return float(raw.get("nand", {}).get("erases", 0))


AnyLimit = Limit | Wear


def read_limits(given: object, place: str = "limits") -> list[Limit]:
    """Reads limits by name (`read-p99.9`, `read_p99_9` or `read p99.9`), each a time with its unit.

    Raises:
        ConfigError: no limit, or an invalid one.
    """
    if not isinstance(given, Mapping) or not given:
        raise ConfigError(f"{place}: seen {given!r}; expected at least one latency limit, such as read-p99.9 of 1ms")
    found = {}
    for name, value in given.items():
        limit = _limit(name, value, place)
        if (limit.kind, limit.measure) in found:
            raise ConfigError(f"{place}: seen {limit.name} twice; expected each limit once")
        found[limit.kind, limit.measure] = limit
    return sorted(found.values(), key=lambda each: NAMES.index(each.name.replace(" ", "-")))


def read_figure(name: object, place: str) -> Limit:
    """Reads the name of a figure without a bound, such as `read-p99.99`. Raises ConfigError if it is invalid."""
    return Limit(*_kind_and_measure(name, place), math.inf)


def _limit(name: object, value: object, place: str) -> Limit:
    return Limit(*_kind_and_measure(name, place), _microseconds(value, f"{place}: {name}"))


def _kind_and_measure(name: object, place: str) -> tuple[str, str]:
    words = str(name).strip().lstrip("-").lower().replace("_", "-").replace(" ", "-")
    words = re.sub(r"(p\d+)-(\d+)$", r"\1.\2", words)
    if words not in NAMES:
        kinds, measures = ", ".join(KINDS), ", ".join(MEASURES)
        raise ConfigError(
            f"{place}: seen {name!r}; expected KIND-MEASURE of {kinds} and {measures}, such as read-p99.9"
        )
    kind, _, measure = words.partition("-")
    return kind, measure


def _microseconds(value: object, place: str) -> float:
    text = plain(value, place)
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[2] not in _US or not 0 < (found := Decimal(match[1]) * _US[match[2]]) <= _MOST_US:
        raise ConfigError(f"{place}: seen {value!r}; expected a time above 0 with its unit, such as 1ms, 500us or 2s")
    return float(found)


def read_share(value: object, place: str) -> float:
    """Reads a share such as `2%` or `0.02`. Raises ConfigError if it is invalid."""
    text = plain(value, place)
    match = _SHARE.fullmatch(str(text)) if not isinstance(text, bool | list) else None
    found = Decimal(match[1]) / (100 if match[2] else 1) if match is not None else Decimal(-1)
    if not 0 < found <= 1000:
        raise ConfigError(f"{place}: seen {value!r}; expected a share above 0, such as 2% or 0.02")
    return float(found)


def said(limit: AnyLimit, value: float | None) -> str:
    """A value of a limit with its unit."""
    if value is None:
        return "-"
    if isinstance(limit, Wear):
        return f"{100 * value:.3g} %"
    return f"{value / 1e6:.4g} s" if value >= 1e6 else f"{value / 1000:.4g} ms" if value >= 1000 else f"{value:.4g} us"

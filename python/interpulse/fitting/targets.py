"""Targets of a fit: loads with their printed or measured figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.config import toml_value
from interpulse.fitting import quantity
from interpulse.search.limits import NAMES
from interpulse.sweeps.axes import Sets, flat_settings

STATES = ("filled", "steady", "empty")
"""State of the drive before a load: written once in order; then also at random until write amplification is steady;
or empty."""

ZONED = {"zone-append": "append", "zone-write": "write"}
"""Patterns of loads that write the zones of a zoned drive in order, with the command that they write with."""

PATTERNS = ("random", "sequential", *ZONED)

REQUESTS = 20_000
"""Measured requests of a load, unless a percentile or the write amplification needs more."""

BEYOND = 12
"""Minimum number of requests beyond the highest wanted percentile."""

TOLERANCE = 0.03
"""Default tolerance: printed figures are rounded."""

_LATENCY = re.compile(r"(read|write|all)-(mean|p[\d.]+)")


@dataclass(frozen=True)
class Target:
    """One figure under a load.

    Attributes:
        figure: `iops`, `bandwidth`, or a latency such as `read-p99.9`.
        value: requests or bytes per second, or nanoseconds.
        tolerance: tolerance as a share of the value.
        held_out: whether the figure is predicted instead of fitted.
        source: source of the figure.
    """

    figure: str
    value: float
    tolerance: float = TOLERANCE
    held_out: bool = False
    source: str = ""

    @property
    def kind(self) -> str:
        """The kind of quantity."""
        return {"iops": "a rate of requests", "bandwidth": "a bandwidth"}.get(self.figure, "a duration")

    @property
    def percentile(self) -> float | None:
        """The percentile, if it is one."""
        match = _LATENCY.fullmatch(self.figure)
        return float(match[2][1:]) if match is not None and match[2] != "mean" else None

    def of(self, raw: Mapping[str, Any], block: float) -> float | None:
        """The value in a result with requests of `block` bytes; None if no such request completed."""
        if self.figure in ("iops", "bandwidth"):
            # Host requests count flushes too, which are no reads or writes.
            found = float(raw["iops"]) * _transfers(raw) * (block if self.figure == "bandwidth" else 1)
            return found or None
        kind, _, measure = self.figure.partition("-")
        latency = raw.get("latency_us", {}).get(kind, {}).get(measure)
        return None if latency is None else 1e3 * float(latency)

    def few(self, raw: Mapping[str, Any]) -> bool:
        """Whether the result marks it as a percentile of too few requests."""
        kind, _, measure = self.figure.partition("-")
        return measure in raw.get("latency_us", {}).get(kind, {}).get("few", ())

    def said(self, value: float | None) -> str:
        """Text of a value with its unit."""
        return "-" if value is None else quantity.said(value, self.kind)


def _transfers(raw: Mapping[str, Any]) -> float:
    """Share of reads and writes among the requests of a result."""
    moved = sum(raw.get("latency_us", {}).get(kind, {}).get("count", 0) for kind in ("read", "write"))
    return float(moved / raw["host_requests"]) if raw.get("host_requests") and moved else 1.0


@dataclass(frozen=True)
class Unused:
    """A figure of a source that is not a target, and the reason."""

    figure: str
    why: str


@dataclass(frozen=True)
class Load:
    """A closed loop of requests with its known figures.

    Attributes:
        pattern: address pattern, `random` or `sequential`, or one of ZONED.
        read: share of reads.
        block: request size in bytes.
        depth: total number of outstanding requests.
        state: state of the drive before the load, see STATES.
        own: further settings.
        flush_every: writes between flushes, or None.
        unused: figures of the source that are not used.
        notes: what a reader of the fit should know about the source.
    """

    name: str
    place: str
    pattern: str
    read: float
    block: int
    depth: int
    state: str
    own: Sets = ()
    targets: tuple[Target, ...] = field(default=(), compare=False)
    flush_every: int | None = None
    unused: tuple[Unused, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    def sets(self, requests: int, window: int) -> Sets:
        """The settings for a window of at least these requests and, with overwrites, bytes."""
        wanted = [each.percentile for each in self.targets if each.percentile is not None]
        share = {"read": self.read, "write": 1 - self.read}
        least = max(
            (BEYOND / (1 - each.percentile / 100) / share.get(each.figure.partition("-")[0], 1)
             for each in self.targets if each.percentile is not None),
            default=0.0,
        )  # fmt: skip
        # A large request is as informative as its small parts.
        count = max(requests * min(1.0, 8 * 4096 / self.block), min(requests, 1000.0), least if wanted else 0)
        if self.state == "steady" and self.read < 1:
            count = max(count, window / self.block / (1 - self.read))
        flushes = (1 - self.read) / self.flush_every if self.flush_every else 0.0
        overwrite = "uniform" if self.state == "steady" else "none"
        return (
            ("precondition.fill", "0%" if self.state == "empty" else "100%"),
            ("precondition.overwrite", overwrite),
            (
                ("flow.0.zones", ZONED[self.pattern])
                if self.pattern in ZONED
                else ("flow.0.address", "sequential" if self.pattern == "sequential" else "uniform")
            ),
            ("flow.0.read", f"{100 * self.read:.6g}%"),
            ("flow.0.block-size", f"{self.block}B"),
            ("flow.0.alignment", f"{self.block}B"),
            ("flow.0.depth", str(self.depth)),
            *((("flow.0.flush-every", str(self.flush_every)),) if self.flush_every else ()),
            ("run.requests", str(round(count * (1 + flushes)))),
            *self.own,
        )


KEYS = ("name", "pattern", "read", "block-size", "depth", "state", "set", "tolerance", "held-out", "source")
FIGURES = ("iops", "bandwidth", *NAMES)


def read_load(raw: Mapping[str, Any], at: Callable[[str | None], str], tolerance: float) -> Load:
    """Reads a `[[load]]`; `at` returns the line of a key. Raises ConfigError with the line of a mistake."""
    raw = _undotted(raw)
    for key in raw:
        if key not in (*KEYS, *FIGURES):
            raise ConfigError(
                f"{at(key)}: load: unknown key {key}; expected one of {', '.join(KEYS)}, or a figure: iops, bandwidth, "
                "or a latency such as read-mean or read-p99.9"
            )
    name = raw.get("name")
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{at('name')}: load.name: seen {name!r}; expected a text, which no other load has")
    pattern = _one_of(raw, "pattern", PATTERNS, None, at)
    share = read_share(raw.get("read", 1), f"{at('read')}: load.read")
    block = round(quantity.read(raw.get("block-size", "4KiB"), "a size", f"{at('block-size')}: load.block-size"))
    depth = raw.get("depth")
    if not isinstance(depth, int) or isinstance(depth, bool) or not 1 <= depth <= 65535:
        raise ConfigError(
            f"{at('depth')}: load.depth: seen {depth!r}; expected the requests outstanding in all, from 1 to 65535"
        )
    state = _one_of(raw, "state", STATES, usual_state(pattern, share), at)
    targets = _targets(raw, at, tolerance)
    return Load(name, at(None), pattern, share, block, depth, state, _own(raw, at), targets)


def _undotted(raw: Mapping[str, Any]) -> dict[str, Any]:
    """The table with `read-p99.9` as one key, which TOML reads as a table `read-p99` with a key `9`."""
    found: dict[str, Any] = {}
    for key, value in raw.items():
        if isinstance(value, dict) and key != "set":
            found |= {f"{key}.{inner}": each for inner, each in value.items()}
        else:
            found[key] = value
    return found


def usual_state(pattern: str, read: float) -> str:
    """The usual state of measurements: steady for random writes, else filled in order."""
    return "steady" if pattern == "random" and read < 1 else "filled"


def _targets(raw: Mapping[str, Any], at: Callable[[str | None], str], tolerance: float) -> tuple[Target, ...]:
    out = raw.get("held-out", False)
    figures = [key for key in raw if key in FIGURES]
    if not isinstance(out, bool) and (not isinstance(out, list) or not set(map(str, out)) <= set(figures)):
        raise ConfigError(
            f"{at('held-out')}: load.held-out: seen {out!r}; expected true, or a list of figures of this load: "
            f"{', '.join(figures) or 'it has none'}"
        )
    if not figures:
        raise ConfigError(f"{at(None)}: load: seen no figure; expected iops, bandwidth, or a latency such as read-mean")
    if "tolerance" in raw:
        tolerance = read_tolerance(raw["tolerance"], f"{at('tolerance')}: load.tolerance")
    source = raw.get("source", "")
    if not isinstance(source, str):
        raise ConfigError(f"{at('source')}: load.source: seen {source!r}; expected a text")
    found = []
    for figure in figures:
        target = Target(figure, 0, tolerance, out if isinstance(out, bool) else figure in out, source)
        value = quantity.read(raw[figure], target.kind, f"{at(figure)}: load.{figure}")
        found.append(Target(figure, value, tolerance, target.held_out, source))
    return tuple(found)


def _own(raw: Mapping[str, Any], at: Callable[[str | None], str]) -> Sets:
    given = raw.get("set", {})
    if not isinstance(given, dict):
        raise ConfigError(
            f"{at('set')}: load.set: seen {given!r}; expected a table, such as {{ run.requests = 50000 }}"
        )
    try:
        return tuple((key, toml_value(value, key)) for key, value in flat_settings(given))
    except ConfigError as error:
        raise ConfigError(f"{at('set')}: load.set: {error}") from None


def _one_of(
    raw: Mapping[str, Any], key: str, legal: tuple[str, ...], default: str | None, at: Callable[[str | None], str]
) -> str:
    value = raw.get(key, default)
    if value not in legal:
        raise ConfigError(f"{at(key)}: load.{key}: seen {value!r}; expected one of {', '.join(legal)}")
    return str(value)


def read_share(value: object, place: str) -> float:
    """Reads a share from 0 to 1 or a percentage. Raises ConfigError if invalid."""
    zero = value in (0, "0", "0%") and not isinstance(value, bool)
    found = 0.0 if zero else quantity.read(value, "a fraction", place)
    if found > 1:
        raise ConfigError(f'{place}: seen {value!r}; expected a share from 0 to 1, such as "70%"')
    return found


def read_tolerance(value: object, place: str) -> float:
    """Reads a tolerance as a share. Raises ConfigError if invalid."""
    found = quantity.read(value, "a fraction", place)
    if not 0.001 <= found <= 1:
        raise ConfigError(f'{place}: seen {value!r}; expected a share of the figure from "0.1%" to "100%"')
    return found

"""Candidate suspension schemes of a part, from the registry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from interpulse._core import ConfigError, Entry
from interpulse.configuration.config import Config
from interpulse.configuration.lists import listed
from interpulse.configuration.values import toml
from interpulse.files.structured_text import read_toml
from interpulse.logs.options import time_ns
from interpulse.search.limits import AnyLimit
from interpulse.sweeps.axes import Sets

OPERATIONS = ("program", "erase")
BOUND = "ideal"
"""The ideal scheme: a bound on what suspension can achieve, in no part."""
NONE = "none"
SLICED = "sliced"
"""The scheme for parts that cannot suspend."""
_SUSPENDS = "loop-boundary"
"""A scheme that is legal if the part can suspend the operation."""

PUBLISHED_FOR = {
    "inter-phase": "program",
    "intra-phase-cancel": "program",
    "loop-boundary": "program",
    "pulse-remainder": "erase",
    "exact": "erase",
    "immediate": "erase",
    "deferred": "erase",
    "timeout": "erase",
    "adaptive": "erase",
    "safe-points": "erase",
    "sliced": "program",
}
"""The operation for which a scheme was published: breaks ties between schemes of equal cost."""

_DEFER = "defer-after"
_ENTRY = "safe-point-entry"
_ENDS_AFTER = ("max-suspended-time", "timeout")
"""Limits that end all suspensions of an operation; a scheme with few suspensions reaches them later than `ideal`."""
_LONGEST = "100s"


@dataclass(frozen=True)
class Way:
    """A variant: one scheme for one operation, with its settings.

    Attributes:
        operation: `program` or `erase`.
        scheme: name in the registry.
        sets: the overrides.
        doc: the description in the registry.
    """

    operation: str
    scheme: str
    sets: Sets
    doc: str = ""

    @property
    def label(self) -> str:
        """Text such as `immediate, min-interval=1100us`."""
        more = [f"{key.rsplit('.', 1)[1]}={value}" for key, value in self.sets[1:]]
        return ", ".join([self.scheme, *more])

    def with_limit(self, key: str, value: str) -> Way:
        """A copy with one more limit."""
        return Way(self.operation, self.scheme, (*self.sets, (f"suspend.{self.operation}.{key}", value)), self.doc)


@dataclass(frozen=True)
class Candidate:
    """A variant for programs and one for erases, or the unchanged configuration."""

    program: Way | None
    erase: Way | None

    @property
    def sets(self) -> Sets:
        """The overrides of both variants."""
        return tuple(each for way in (self.program, self.erase) if way is not None for each in way.sets)

    @property
    def strange(self) -> int:
        """Number of schemes that were published for the other operation."""
        ways = [way for way in (self.program, self.erase) if way is not None]
        return sum(PUBLISHED_FOR.get(way.scheme, way.operation) != way.operation for way in ways)

    @property
    def label(self) -> str:
        """Name in tables."""
        if self.program is None or self.erase is None:
            return "as configured"
        return f"programs {self.program.label}; erases {self.erase.label}"


@cache
def schemes() -> dict[str, str]:
    """All schemes of the registry with their descriptions."""
    return {each["name"]: each["doc"] for each in listed()["schemes"]}


@cache
def _bound_to_scheme() -> dict[str, frozenset[str]]:
    """Keys of an operation that only some schemes use, with these schemes."""
    found: dict[str, set[str]] = {}
    for key in listed()["keys"]:
        if match := re.fullmatch(r"suspend\.(?:program|erase)\.([a-z-]+)", key["name"]):
            for belongs in key["belongs_to"]:
                if of := re.fullmatch(r'scheme = "([a-z-]+)"', belongs):
                    found.setdefault(match[1], set()).add(of[1])
    return {key: frozenset(of) for key, of in found.items()}


def decided() -> frozenset[str]:
    """The keys of `suspend.program` and `suspend.erase` that the search sets."""
    return frozenset({"scheme", "max-suspends", "min-interval", *_bound_to_scheme()})


def without_suspension(config: Config) -> Config:
    """The configuration without schemes and their keys, in its cases and overrides too."""

    def stays(key: str) -> bool:
        match = re.fullmatch(r"suspend\.(?:program|erase)\.([a-z-]+)", key.strip())
        return match is None or match[1] not in decided()

    raw = read_toml(config.text, config.path)
    for operation in OPERATIONS:
        section = raw.get("suspend", {}).get(operation, {})
        for key in [key for key in section if key in decided()]:
            del section[key]
    for case in raw.get("case", []):
        case["set"] = [each for each in case.get("set", []) if stays(each.partition("=")[0])]
    changed = raw != read_toml(config.text, config.path)
    bare = Config(toml(raw) if changed else config.text, path=config.path)
    for key, value in config.sets:
        if stays(key):
            bare.set(key, value)
    return bare


def ways(
    operation: str,
    legal: Callable[[Sets], str | None],
    limits: Sequence[AnyLimit],
    cap: int | None,
    without: Sequence[str],
    entry: str | None = None,
) -> tuple[list[Way], dict[str, str]]:
    """The variants of an operation, and the refused schemes with reasons.

    Args:
        operation: `program` or `erase`.
        legal: returns why overrides cannot be used, or None.
        limits: the limits; `timeout` can defer by the bound of a write limit.
        cap: maximum number of suspensions of one operation by the data sheet.
        without: schemes that the part does not support.
        entry: `safe-point-entry` of the schemes that have it; None for its default.
    """
    found, refused = [], {}
    for scheme, doc in schemes().items():
        if scheme == BOUND:
            continue
        if scheme in without:
            refused[scheme] = "left out by --without"
            continue
        plain = Way(operation, scheme, ((f"suspend.{operation}.scheme", scheme),), doc)
        if entry is not None and scheme in _bound_to_scheme().get(_ENTRY, ()):
            plain = plain.with_limit(_ENTRY, entry)
        if cap is not None and scheme != NONE:
            plain = plain.with_limit("max-suspends", str(cap))
        if why := legal(plain.sets):
            refused[scheme] = why
            continue
        if scheme == SLICED and not legal(((f"suspend.{operation}.scheme", _SUSPENDS),)):
            refused[scheme] = "for parts that cannot suspend the operation"
            continue
        found.append(plain)
        writes = [limit.bound for limit in limits if getattr(limit, "kind", "") == "write"]
        if scheme in _bound_to_scheme().get(_DEFER, ()) and writes:
            promise = plain.with_limit(_DEFER, f"{min(writes):g}us")
            if not legal(promise.sets):
                found.append(promise)
    return found, refused


def uncapped(operation: str, values: Mapping[str, str]) -> Way:
    """Ideal suspension of an operation, without the configured limits that end its suspensions."""
    way = Way(operation, BOUND, ((f"suspend.{operation}.scheme", BOUND),), schemes()[BOUND])
    for key in _ENDS_AFTER:
        if values.get(f"suspend.{operation}.{key}", "not set") != "not set":
            way = way.with_limit(key, _LONGEST)
    return way


def safe_point_entry(operation: str, entries: Iterable[Entry]) -> str | None:
    """The `safe-point-entry` of an operation: as configured; `part` if the part states a suspend entry; else None."""
    found = {entry.key: entry for entry in entries}
    own = found.get(f"suspend.{operation}.{_ENTRY}")
    if own is not None and own.origin != "default":
        return own.value
    stated = found.get(f"part.{operation}-suspend-entry")
    if stated is None or stated.value == "not set":
        return None
    return "part" if time_ns(stated.key, stated.value) else None


def spaced(way: Way, values: Mapping[str, str]) -> Way | None:
    """A copy with a `min-interval` of 1.1 loops, so that every resume completes one loop."""
    if any(key.endswith(".min-interval") for key, _ in way.sets):
        return None
    part = f"part.{way.operation}-"
    loop = sum(time_ns(part + phase, values.get(part + phase, "0ns")) for phase in ("pulse", "reset", "verify"))
    return way.with_limit("min-interval", f"{loop * 1.1 / 1000:g}us") if loop else None


def check_names(without: Sequence[str]) -> None:
    """Raises ConfigError if a scheme is not in the registry."""
    for name in without:
        if name not in schemes():
            raise ConfigError(f"--without {name}: there is no such scheme; expected one of {', '.join(schemes())}")

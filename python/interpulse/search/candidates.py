"""Candidate suspension schemes of a part, from the registry."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.configuration.lists import listed
from interpulse.configuration.values import toml
from interpulse.logs.options import time_ns
from interpulse.search.limits import AnyLimit
from interpulse.sweeps.axes import Sets

OPERATIONS = ("program", "erase")
BOUND = "ideal"
"""The scheme that no part has: what it does not mend, no scheme will."""
NONE = "none"

PUBLISHED_FOR = {
    "inter-phase": "program",
    "intra-phase-cancel": "program",
    "loop-boundary": "program",
    "pulse-remainder": "erase",
    "exact": "erase",
    "immediate": "erase",
    "deferred": "erase",
    "timeout": "erase",
}
"""The operation for which its publication has a scheme: decides between schemes that come to the same."""

_DEFER = "defer-after"


@dataclass(frozen=True)
class Way:
    """One way to suspend an operation.

    Attributes:
        operation: `program` or `erase`.
        scheme: of the registry.
        sets: the overrides that make it.
        doc: what the registry says of the scheme.
    """

    operation: str
    scheme: str
    sets: Sets
    doc: str = ""

    @property
    def label(self) -> str:
        """Such as `immediate, min-interval=1100us`."""
        more = [f"{key.rsplit('.', 1)[1]}={value}" for key, value in self.sets[1:]]
        return ", ".join([self.scheme, *more])

    def with_limit(self, key: str, value: str) -> Way:
        """The same with one more limit."""
        return Way(self.operation, self.scheme, (*self.sets, (f"suspend.{self.operation}.{key}", value)), self.doc)


@dataclass(frozen=True)
class Candidate:
    """A way for programs and one for erases; or the configuration as it is."""

    program: Way | None
    erase: Way | None

    @property
    def sets(self) -> Sets:
        """The overrides that make it."""
        return tuple(each for way in (self.program, self.erase) if way is not None for each in way.sets)

    @property
    def strange(self) -> int:
        """How many of its schemes are not published for the operation."""
        ways = [way for way in (self.program, self.erase) if way is not None]
        return sum(PUBLISHED_FOR.get(way.scheme, way.operation) != way.operation for way in ways)

    @property
    def label(self) -> str:
        """What tables call it."""
        if self.program is None or self.erase is None:
            return "as configured"
        return f"programs {self.program.label}; erases {self.erase.label}"


@cache
def schemes() -> dict[str, str]:
    """Every scheme of the registry, with what it says of each."""
    return {each["name"]: each["doc"] for each in listed()["schemes"]}


@cache
def _bound_to_scheme() -> dict[str, frozenset[str]]:
    """Keys of a suspended operation that belong to a scheme, with the schemes that have them."""
    found: dict[str, set[str]] = {}
    for key in listed()["keys"]:
        if match := re.fullmatch(r"suspend\.(?:program|erase)\.([a-z-]+)", key["name"]):
            for belongs in key["belongs_to"]:
                if of := re.fullmatch(r'scheme = "([a-z-]+)"', belongs):
                    found.setdefault(match[1], set()).add(of[1])
    return {key: frozenset(of) for key, of in found.items()}


def decided() -> frozenset[str]:
    """The keys of `suspend.program` and `suspend.erase` that advice decides on."""
    return frozenset({"scheme", "max-suspends", "min-interval", *_bound_to_scheme()})


def without_suspension(config: Config) -> Config:
    """A configuration whose schemes, and what belongs to them, have been left out, in its cases and overrides too."""

    def stays(key: str) -> bool:
        match = re.fullmatch(r"suspend\.(?:program|erase)\.([a-z-]+)", key.strip())
        return match is None or match[1] not in decided()

    raw = tomllib.loads(config.text)
    for operation in OPERATIONS:
        section = raw.get("suspend", {}).get(operation, {})
        for key in [key for key in section if key in decided()]:
            del section[key]
    for case in raw.get("case", []):
        case["set"] = [each for each in case.get("set", []) if stays(each.partition("=")[0])]
    changed = raw != tomllib.loads(config.text)
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
) -> tuple[list[Way], dict[str, str]]:
    """What may be tried for an operation, and what may not with the reason.

    Args:
        operation: `program` or `erase`.
        legal: says why overrides cannot be used, None where they can.
        limits: what is to be kept; a write limit is a promise that `timeout` can defer by.
        cap: the most suspensions of one operation, as the data sheet has it.
        without: schemes that the part does not have.
    """
    found, refused = [], {}
    for scheme, doc in schemes().items():
        if scheme == BOUND:
            continue
        if scheme in without:
            refused[scheme] = "left out by --without"
            continue
        plain = Way(operation, scheme, ((f"suspend.{operation}.scheme", scheme),), doc)
        if cap is not None and scheme != NONE:
            plain = plain.with_limit("max-suspends", str(cap))
        if why := legal(plain.sets):
            refused[scheme] = why
            continue
        found.append(plain)
        writes = [limit.bound for limit in limits if getattr(limit, "kind", "") == "write"]
        if scheme in _bound_to_scheme().get(_DEFER, ()) and writes:
            promise = plain.with_limit(_DEFER, f"{min(writes):g}us")
            if not legal(promise.sets):
                found.append(promise)
    return found, refused


def spaced(way: Way, values: Mapping[str, str]) -> Way | None:
    """The same with a `min-interval` of somewhat more than a loop, so that a resume gets through one."""
    if any(key.endswith(".min-interval") for key, _ in way.sets):
        return None
    part = f"part.{way.operation}-"
    loop = sum(time_ns(part + phase, values.get(part + phase, "0ns")) for phase in ("pulse", "reset", "verify"))
    return way.with_limit("min-interval", f"{loop * 1.1 / 1000:g}us") if loop else None


def check_names(without: Sequence[str]) -> None:
    """Raises ConfigError where a scheme is not in the registry."""
    for name in without:
        if name not in schemes():
            raise ConfigError(f"--without {name}: there is no such scheme; expected one of {', '.join(schemes())}")

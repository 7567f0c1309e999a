"""Quantities of settings and targets: text with a unit to a number, and back."""

from __future__ import annotations

import re

from interpulse._core import ConfigError
from interpulse.tables.format import short_figure

_BINARY: dict[str, float] = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}

UNITS: dict[str, dict[str, float]] = {
    "a duration": {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9},
    "a size": _BINARY | {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
    "a transfer rate": {"MT/s": 1e6, "GT/s": 1e9},
    "a fraction": {"%": 0.01, "": 1},
    "a number": {"": 1},
    "a whole number": {"": 1},
    "a rate of requests": {"kIOPS": 1e3, "MIOPS": 1e6, "IOPS": 1, "k": 1e3, "/s": 1, "": 1},
    "a bandwidth": {"B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9} | {f"{u}/s": n for u, n in _BINARY.items()},
}
"""Legal units of each kind of quantity, with their size in the basic unit."""

_BASIC = {"a duration": "ns", "a size": "B", "a transfer rate": "MT/s", "a fraction": "%", "a bandwidth": "MB/s"}
_TEXT = re.compile(r"\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([A-Za-z%/]*)\s*")


def read(value: object, kind: str, place: str) -> float:
    """Reads a positive quantity in its basic unit: ns, bytes, transfers, requests or bytes per second, or a share of 1.

    Raises:
        ConfigError: invalid; the message has the place, the value and the legal units.
    """
    units = UNITS[kind]
    text = value if isinstance(value, str) else repr(value) if type(value) in (int, float) else ""
    match = _TEXT.fullmatch(text)
    if match is None or match[2] not in units or not 0 < (found := float(match[1]) * units[match[2]]) < 1e30:
        legal = ", ".join(unit or "no unit" for unit in units)
        raise ConfigError(f"{place}: seen {value!r}; expected {kind} above 0, in {legal}")
    return found


def setting(value: float, kind: str) -> str:
    """Text of a setting from a value in the basic unit: an integer for counts, else six digits."""
    if kind in ("a duration", "a size", "a whole number"):
        return f"{round(value)}{_BASIC.get(kind, '')}"
    unit = _BASIC.get(kind, "")
    return f"{value / UNITS[kind][unit]:.6g}{unit}"


def said(value: float, kind: str) -> str:
    """Text for messages from a value in the basic unit, with four digits."""
    scales = {
        "a duration": ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (0, "ns")),
        "a size": ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (0, "B")),
        "a transfer rate": ((1e9, "GT/s"), (0, "MT/s")),
        "a bandwidth": ((1e9, "GB/s"), (0, "MB/s")),
        "a rate of requests": ((1e3, "k"), (0, "")),
        "a fraction": ((0, "%"),),
    }.get(kind, ((0, ""),))
    for least, unit in scales:
        if value >= least:
            return f"{short_figure(value / UNITS[kind].get(unit, 1))} {unit}".rstrip()
    raise AssertionError(value)

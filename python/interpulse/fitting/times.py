"""Composite times of a part (tR, tPROG, tBERS), each the sum of several settings."""

from __future__ import annotations

import re
from collections.abc import Mapping

from interpulse.fitting import quantity

TIMES = {
    "tR": ("part.read-lsb", "part.read-csb", "part.read-msb", "part.read-top", "part.read-fifth"),
    "tPROG": ("part.program-pulse", "part.program-reset", "part.program-verify"),
    "tBERS": ("part.erase-pulse", "part.erase-reset", "part.erase-verify"),
}
"""Times of a part that are sums of several settings in fixed proportions."""

LOOPS = {"tPROG": "part.program-loops", "tBERS": "part.erase-loops"}


def time_of(name: str, values: Mapping[str, str]) -> dict[str, float]:
    """The settings of a composite time, scaled to a total of 1 ns; empty if the time is unknown."""
    found = {
        key: quantity.read(values[key], "a duration", key)
        for key in TIMES[name]
        if re.match(r"0+(\.0+)?[a-z]", values.get(key, "0ns")) is None
    }
    if not found:
        return {}
    whole = sum(found.values())
    # A read time is the mean over page types; a program or erase time is the sum of all loops.
    whole = whole * int(values[LOOPS[name]]) if name in LOOPS else whole / len(found)
    return {key: value / whole for key, value in found.items()}

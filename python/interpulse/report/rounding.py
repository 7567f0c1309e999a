"""Figures rounded to what is known of them: to the first digit of half their interval, or to three digits."""

from __future__ import annotations

import math

DIGITS = 3
"""Digits of a figure without an interval."""

FACTOR = 11
"""From this ratio on a change is a factor."""

MINUS = "\u2212"


def places(value: float, low: float | None = None, high: float | None = None, *, digits: int = DIGITS) -> int:
    """Decimals of a figure; negative where its last digits before the point are unknown."""
    half = 0.0 if low is None or high is None else (high - low) / 2
    if half > 0:
        return -math.floor(math.log10(half))
    return digits - 1 - math.floor(math.log10(abs(value))) if value else 0


def rounded(value: float, decimals: int) -> str:
    """The figure with so many decimals and its thousands separated."""
    return f"{round(value, decimals):,.{max(decimals, 0)}f}"


def known(value: float, low: float | None = None, high: float | None = None) -> str:
    """The figure as far as it is known."""
    return rounded(value, min(places(value, low, high), 6))


def interval(value: float, low: float, high: float) -> str:
    """The ends of its interval, as far as the figure is known."""
    decimals = min(places(value, low, high), 6)
    return f"{rounded(low, decimals)} … {rounded(high, decimals)}"


def half(low: float, high: float, decimals: int) -> str:
    """Half an interval, none where its ends are equal; where the decimals are too few, less than one of the last."""
    value, least = (high - low) / 2, 10.0**-decimals
    return f"±{rounded(value, decimals)}" if value >= 0.5 * least else f"<{rounded(least, decimals)}" if value else ""


def percent(ratio: float) -> str:
    """A ratio as a change: -78 %, 0 %, x12."""
    if ratio >= FACTOR:
        return f"x{ratio:,.0f}"
    if 0 < ratio < 0.01:
        # Not all of it.
        return f"{MINUS}{min(100 * (1 - ratio), 99.9):.1f}\u00a0%"
    change = round(100 * (ratio - 1))
    return f"{'+' if change > 0 else MINUS if change < 0 else ''}{abs(change)}\u00a0%"

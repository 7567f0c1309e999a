"""Answer of a comparison: what a case changes against the first one, in a sentence."""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

TAIL_UNCHANGED = 0.05
"""Largest change of a percentile that is called none: chance moves one by as much from seed to seed."""

UNCHANGED = 0.02
"""As `TAIL_UNCHANGED`, of means and throughput."""

POWER_UNCHANGED = 0.03
"""As `TAIL_UNCHANGED`, of power: erases, which differ most from window to window, take much of it."""

SMALL = 0.005
"""Ratio below which a percentage would be -100 %."""

TAILS = {"p99.9": "0.1 %", "p99": "1 %", "p50": "half"}
"""Tails in order of preference, with their share."""


def answer(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The sentence, without names of the cases; empty where they have nothing to compare."""
    parts = [*_kind("read", before, after), *_kind("write", before, after)]
    parts += _share("IOPS", before.get("iops"), after.get("iops"), UNCHANGED)
    old, new = (case.get("power", {}).get("mean_mw", {}).get("total") for case in (before, after))
    parts += _share("power", old, new, POWER_UNCHANGED)
    return "; ".join(parts)


def time(us: float) -> str:
    """A time in three digits: 1.73 us, 459 us, 4.68 ms."""
    value, unit = (us, "us") if us < 1000 else (us / 1e3, "ms") if us < 1e6 else (us / 1e6, "s")
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}"


def _kind(kind: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    old, new = (case.get("latency_us", {}).get(kind, {}) for case in (before, after))
    tail = next((name for name in TAILS if _is_sure(old, name) and _is_sure(new, name)), None)
    if tail is None or old.get("mean") is None or new.get("mean") is None:
        return
    steady = abs(new[tail] / old[tail] - 1) <= TAIL_UNCHANGED
    mean = abs(new["mean"] / old["mean"] - 1) <= UNCHANGED
    if steady and mean:
        yield f"{kind}s unchanged"
        return
    slowest = f"slowest {TAILS[tail]} of {kind}s"
    chance = ", within chance" if is_chance(old, new, tail) else ""
    yield f"{slowest} unchanged" if steady else f"{slowest}: {_pair(old[tail], new[tail], chance)}"
    yield f"{kind} mean unchanged" if mean else f"{kind} mean {_pair(old['mean'], new['mean'])}"


def _is_sure(of: Mapping[str, Any], name: str) -> bool:
    return bool(of.get(name)) and name not in of.get("few", ())


def is_chance(old: Mapping[str, Any], new: Mapping[str, Any], name: str) -> bool:
    """Whether the 95 % interval of the ratio, from the intervals of both runs, contains 1."""
    ends = [of.get("interval", {}).get(name) for of in (old, new)]
    if any(end is None or min(end) <= 0 for end in ends):
        return False
    widths = [math.log(high / low) / 2 for low, high in ends]
    return abs(math.log(new[name] / old[name])) <= math.hypot(*widths)


def _pair(old: float, new: float, addition: str = "") -> str:
    return f"{time(old)} -> {time(new)} ({_percent(old, new)}{addition})"


def _percent(old: float, new: float) -> str:
    ratio = new / old
    if ratio < SMALL:
        return f"1/{1 / ratio:,.0f} of it"
    return f"x{ratio:,.0f}" if ratio >= 11 else f"{100 * (ratio - 1):+.0f} %"


def _share(what: str, old: float | None, new: float | None, unchanged: float) -> Iterator[str]:
    if old and new and abs(new / old - 1) > unchanged:
        yield f"{what} {_percent(old, new)}"

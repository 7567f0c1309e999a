"""Aerospike Certification Tool: its three streams, its rules, and the search for the largest load that passes.

Streams and rates are those of the simulator that Kim et al., ATC'19, published; rules are those of slide 34.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from interpulse.experiments.atc19 import buckets, flow, share_above
from interpulse.runs.result import Result
from interpulse.studies.case import Sets

SMALL = "small-read"
"""The stream of rules i to iii."""

SMALL_READS = 2000
"""Reads of 1.5 KB per second at a multiplier of 1."""

LARGE = 24
"""Reads, and equally many writes, of 128 KB per second at a multiplier of 1."""

PERFORMANCE = (("i", 1, 5.0), ("ii", 8, 1.0), ("iii", 64, 0.1))
"""Rules of the tool: name, limit in milliseconds, and maximum percentage of slower small reads."""

LAG_S = 10.0
"""Rule iv: maximum lag of a stream behind its period (the authors' simulator)."""

BEHIND_S = 0.4
"""Age of an outstanding request at the end beyond which its stream never recovers and reaches `LAG_S` within the tool's
24 hours. Assumed: longer than the stalls from which T-ES (timeout 64 ms) recovers. It decides the stress results;
`atc19-act` has rows for other values."""


def load(multiplier: int) -> Sets:
    """Overrides of `act.toml` for a multiplier; large writes follow large reads by half a period."""
    half_ns = round(1e9 / (2 * LARGE * multiplier))
    return {
        "flow.0.rate": f"{SMALL_READS * multiplier}/s",
        "flow.1.rate": f"{LARGE * multiplier}/s",
        "flow.2.rate": f"{LARGE * multiplier}/s",
        "flow.2.start": f"{half_ns}ns",
    }


@dataclass(frozen=True)
class Verdict:
    """Verdict of the tool on a run."""

    slower_percent: dict[str, float]
    """Percentage of small reads above the limit of each performance rule."""
    lag_s: float
    """Longest duration of a request, completed or not."""
    waiting_s: float
    """Age of the oldest outstanding request at the end."""

    @classmethod
    def of(cls, result: Result) -> Verdict:
        """Judges a run of `act.toml`."""
        reads = buckets(flow(result, SMALL), "read")
        slower = {name: share_above(reads, 1000.0 * limit) for name, limit, _ in PERFORMANCE}
        waiting = max(result.raw.get("oldest_outstanding_us", {}).values(), default=0.0) / 1e6
        longest = result.latency_us["all"].get("max", 0.0) / 1e6
        return cls(slower, max(waiting, longest), waiting)

    @property
    def failed_performance(self) -> list[str]:
        """Failed performance rules."""
        return [name for name, _, most in PERFORMANCE if self.slower_percent[name] > most]

    @property
    def keeps_up(self) -> bool:
        """Whether the run passes the stress test, rule iv."""
        return self.within(BEHIND_S)

    def within(self, behind_s: float) -> bool:
        """As `keeps_up`, with this maximum age of the oldest outstanding request."""
        return self.lag_s <= LAG_S and self.waiting_s <= behind_s

    @property
    def failed(self) -> list[str]:
        """All failed rules."""
        return self.failed_performance + ([] if self.keeps_up else ["iv"])

    def why(self) -> str:
        """Failed rules with the measured values, as text."""
        reasons = [
            f"rule {name}: {self.slower_percent[name]:.2f} % of small reads above {limit} ms, at most {most:g} % may be"
            for name, limit, most in PERFORMANCE
            if name in self.failed_performance
        ]
        if not self.keeps_up:
            reasons.append(f"rule iv: {self.waiting_s:.2f} s behind at the end, {self.lag_s:.2f} s at most")
        return "; ".join(reasons)


class Bisection:
    """Bisection for the largest passing integer from `low` + 1 to `cap`, if all numbers above a failing one fail.

    `low` passes by assumption. The result and the next number have been tried, except `low` and numbers above `cap`.
    """

    def __init__(self, cap: int, low: int = 0) -> None:
        self.cap = cap
        self.passes = low
        self.fails = cap + 1

    @property
    def next(self) -> int | None:
        """The next number to try; None when the search has ended."""
        return (self.passes + self.fails) // 2 if self.fails - self.passes > 1 else None

    def record(self, number: int, passed: bool) -> None:
        """Records whether a number passed."""
        if passed:
            self.passes = max(self.passes, number)
        else:
            self.fails = min(self.fails, number)


Key = tuple[str, int]
"""A design and a multiplier."""


@dataclass(frozen=True)
class Limit:
    """A search for the largest multiplier at which `test` holds for a design."""

    design: str
    test: Callable[[Verdict], bool]
    range: Bisection


def search(limits: Iterable[Limit], judge: Callable[[set[Key]], dict[Key, Verdict]]) -> None:
    """Runs all searches in rounds, so that all processors are busy.

    Args:
        limits: the searches; their ranges are narrowed in place.
        judge: runs designs at multipliers and returns their verdicts.
    """
    limits = list(limits)
    seen: dict[Key, Verdict] = {}
    while True:
        for limit in limits:
            # Results of other searches on the same design narrow this one.
            while (number := limit.range.next) is not None and (limit.design, number) in seen:
                limit.range.record(number, limit.test(seen[limit.design, number]))
        wanted = {(limit.design, number) for limit in limits if (number := limit.range.next) is not None}
        if not wanted:
            return
        seen |= judge(wanted)

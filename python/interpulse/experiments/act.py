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
"""The stream that rules i to iii judge."""

SMALL_READS = 2000
"""Reads of 1.5 KB a second at a multiplier of 1."""

LARGE = 24
"""Reads, and as many writes, of 128 KB a second at a multiplier of 1."""

PERFORMANCE = (("i", 1, 5.0), ("ii", 8, 1.0), ("iii", 64, 0.1))
"""Name, limit in milliseconds, and the most percent of small reads that may be slower: what the tool judges."""

LAG_S = 10.0
"""Rule iv: a stream that is further behind its period than this has failed (the authors' simulator)."""

BEHIND_S = 0.4
"""A request still under way after this at the end of a run: its stream falls behind for good, and would be late by
`LAG_S` some time within the tool's 24 hours. Assumed: longer than the stalls that T-ES, whose timeout is 64 ms, makes
up for. It decides the stress results; `atc19-act` has rows for other values."""


def load(multiplier: int) -> Sets:
    """Overrides of `act.toml` for a multiplier; large writes come half a period after large reads."""
    half_ns = round(1e9 / (2 * LARGE * multiplier))
    return {
        "flow.0.rate": f"{SMALL_READS * multiplier}/s",
        "flow.1.rate": f"{LARGE * multiplier}/s",
        "flow.2.rate": f"{LARGE * multiplier}/s",
        "flow.2.start": f"{half_ns}ns",
    }


@dataclass(frozen=True)
class Verdict:
    """What the tool says of one run."""

    slower_percent: dict[str, float]
    """Small reads slower than the limit of each performance rule, by its name."""
    lag_s: float
    """The longest any request took, or had taken at the end."""
    waiting_s: float
    """How long the oldest request at the end had been under way."""

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
        """The performance rules that failed."""
        return [name for name, _, most in PERFORMANCE if self.slower_percent[name] > most]

    @property
    def keeps_up(self) -> bool:
        """Whether the stress test is passed: rule iv."""
        return self.within(BEHIND_S)

    def within(self, behind_s: float) -> bool:
        """The same where the oldest request at the end may have been under way for this long."""
        return self.lag_s <= LAG_S and self.waiting_s <= behind_s

    @property
    def failed(self) -> list[str]:
        """Every rule that failed."""
        return self.failed_performance + ([] if self.keeps_up else ["iv"])

    def why(self) -> str:
        """The rules that failed, with what was seen."""
        reasons = [
            f"rule {name}: {self.slower_percent[name]:.2f} % of small reads above {limit} ms, at most {most:g} % may be"
            for name, limit, most in PERFORMANCE
            if name in self.failed_performance
        ]
        if not self.keeps_up:
            reasons.append(f"rule iv: {self.waiting_s:.2f} s behind at the end, {self.lag_s:.2f} s at most")
        return "; ".join(reasons)


class Bisection:
    """The largest whole number from `low` + 1 to `cap` that passes, if what fails keeps failing above.

    `low` is taken to pass. The answer and the number after it have both been tried, except `low` and all above `cap`.
    """

    def __init__(self, cap: int, low: int = 0) -> None:
        self.cap = cap
        self.passes = low
        self.fails = cap + 1

    @property
    def next(self) -> int | None:
        """The number to try, None where the answer is known."""
        return (self.passes + self.fails) // 2 if self.fails - self.passes > 1 else None

    def record(self, number: int, passed: bool) -> None:
        """Takes in whether a number passed."""
        if passed:
            self.passes = max(self.passes, number)
        else:
            self.fails = min(self.fails, number)


Key = tuple[str, int]
"""A design and a multiplier."""


@dataclass(frozen=True)
class Limit:
    """A search: the largest multiplier at which `test` holds for the design of this name."""

    design: str
    test: Callable[[Verdict], bool]
    range: Bisection


def search(limits: Iterable[Limit], judge: Callable[[set[Key]], dict[Key, Verdict]]) -> None:
    """Moves all searches on together until each has its answer, so that every processor has something to do.

    Args:
        limits: the searches; their ranges are narrowed in place.
        judge: runs designs at multipliers and returns their verdicts.
    """
    limits = list(limits)
    seen: dict[Key, Verdict] = {}
    while True:
        for limit in limits:
            # What another search has tried on the same design narrows this one too.
            while (number := limit.range.next) is not None and (limit.design, number) in seen:
                limit.range.record(number, limit.test(seen[limit.design, number]))
        wanted = {(limit.design, number) for limit in limits if (number := limit.range.next) is not None}
        if not wanted:
            return
        seen |= judge(wanted)

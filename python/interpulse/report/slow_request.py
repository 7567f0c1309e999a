"""Slow request: its latency by cause and the die that it waited for.

The time that a request waited for a die is split by the activity of that die, as in the request's account
(`engine/account.rs`). Where the request's own slices are known, both agree to the nanosecond.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interpulse._core import ConfigError
from interpulse.logs.options import time_ns
from interpulse.logs.trace import Slice
from interpulse.report.context import Die, Operation, RequestContext, cut, spent, tracks
from interpulse.report.timeline_files import Timeline

WAITS = ("host_reads", "programs", "erases", "gc", "stop", "suspend")
"""The causes for which a request waits at a die."""

_ROOMY_NS = 20_000
"""Faster writes have not waited for a program."""


@dataclass
class SlowRequest:
    """A slow request and its context. Times are ns from the beginning of the window."""

    request: Mapping[str, Any]
    rank: int
    """Among those of its kind, from 1."""
    around: RequestContext
    waits: dict[str, int] = field(default_factory=dict)
    """Its latency by cause, the longest first; of an array what its die did meanwhile, as far as that is known."""
    dies: list[Die] = field(default_factory=list)
    """Relevant dies, the one that it waited for first."""
    span: tuple[int, int] | None = None
    """Begin and end of its wait for the die."""
    exact: bool = False
    """Whether the die's activity in this time equals the account, to the nanosecond."""
    inferred: bool = False
    """Whether the die is inferred, because there is no account."""
    again: tuple[int, int] | None = None
    """Begin and end of read retries on its die."""
    others: int = 0
    """Number of further dies that it read from."""
    last: Operation | None = None
    """The program that let a write in, or ended it."""
    gap_ns: int = 0
    """From the last that is known of it, a transfer or a program, until it was done."""

    @property
    def name(self) -> str:
        """`read 197387`."""
        return f"{self.request['kind']} {self.request['number']}"

    @property
    def latency(self) -> int:
        """How long it took."""
        return int(self.request["latency_ns"])

    @property
    def arrival(self) -> int:
        """When it came."""
        return int(self.request["arrival_ns"])

    @property
    def done(self) -> int:
        """When it was done."""
        return self.arrival + self.latency

    def own(self, of: Slice) -> bool:
        """Whether a slice of a die is done for this request."""
        return bool(of.args.get("for request") == self.request["number"])

    def first(self, of: Slice) -> bool:
        """Whether a slice of a die is its reading for the first time, not a retry."""
        return self.own(of) and "read again" not in of.args


def of(timeline: Timeline, config: Mapping[str, str]) -> list[SlowRequest]:
    """The slowest requests of a case.

    Args:
        timeline: what was recorded.
        config: the configuration of the case, as results hold it.
    """
    ranks: dict[str, int] = defaultdict(int)
    every = tracks(timeline)
    found = []
    for row in timeline.slowest:
        ranks[row["kind"]] += 1
        arrival, done = row["arrival_ns"], row["arrival_ns"] + row["latency_ns"]
        margin = max(row["latency_ns"] // 10, 1000)
        each = SlowRequest(row, ranks[row["kind"]], cut(every, arrival - margin, done + margin), _accounts(row))
        own = {name for name, die in each.around.dies.items() if any(map(each.own, die.slices))}
        if own:
            _of_read(each, own)
        elif each.waits and row["kind"] == "write":
            _of_write(each)
        elif not each.waits:
            _of_array(each, config)
        found.append(each)
    return found


def _accounts(row: Mapping[str, Any]) -> dict[str, int]:
    causes = {name.removesuffix("_ns"): ns for name, ns in row.items() if name.endswith("_ns") and ns}
    return dict(
        sorted(
            ((cause, ns) for cause, ns in causes.items() if cause not in ("arrival", "latency")),
            key=lambda pair: -pair[1],
        )
    )


def _of_read(it: SlowRequest, own: set[str]) -> None:
    """The die from which its last transfer came is the one that it waited for."""
    ends = {name: max(each.to_ns for each in it.around.dies[name].slices if it.own(each)) for name in own}
    die, *others = (it.around.dies[name] for name in sorted(own, key=lambda name: -ends[name]))
    it.dies, it.others = [die, *others], len(others)
    it.gap_ns = it.done - ends[die.name]
    begins = _begins(it, die)
    if "retry" in it.waits:
        begin = max((each.to_ns for each in die.slices if it.first(each)), default=die.slices[0].from_ns)
        it.again = (begin, it.done)
    waited = sum(it.waits.get(cause, 0) for cause in WAITS)
    for begin in reversed(begins):
        start = _start(die, begin, waited)
        did = spent(die, start, begin)
        if all(did.get(cause, 0) == it.waits.get(cause, 0) for cause in WAITS):
            it.span, it.exact = (start, begin), True
            return
        it.span = it.span or (start, begin)


def _begins(it: SlowRequest, die: Die) -> list[int]:
    """When its reads began on a die: each of them is a chain of slices without a gap."""
    begins: list[int] = []
    before: Slice | None = None
    for each in die.slices:
        if not it.first(each):
            before = None
            continue
        again = before is not None and each.name == "command" and before.name != "wait for the bus"
        if before is None or again or (each.name == "wait for the bus" and before.name == "data out"):
            begins.append(each.from_ns)
        before = each
    return begins


def _start(die: Die, begin: int, waited: int) -> int:
    """The instant since which a die was busy for so long until `begin`."""
    start, left = begin, waited
    for each in reversed(die.slices):
        if each.to_ns > begin:
            continue
        if left <= 0:
            break
        took = min(each.to_ns - each.from_ns, left)
        left -= took
        start = each.to_ns - took
    return start - left


def _of_write(it: SlowRequest) -> None:
    """A write that waited for a slot of the cache got it when a program of the host ended.

    One that is done when it is on flash is done with such a program.
    """
    if it.latency < _ROOMY_NS or next(iter(it.waits)) not in ("cache", "own_program", *WAITS):
        return
    ended = [
        operation
        for die in it.around.dies.values()
        for operation in die.operations
        if operation.what == "program" and operation.ended and it.arrival < operation.to_ns <= it.done
    ]
    if not ended:
        return
    it.last = max(ended, key=lambda operation: operation.to_ns)
    others = [die for name, die in it.around.dies.items() if name != it.last.die]
    it.dies = [
        it.around.dies[it.last.die],
        *sorted(others, key=lambda die: -_host_programs(die, it.arrival, it.done)),
    ]
    it.gap_ns = it.done - it.last.to_ns


def _host_programs(die: Die, begin: int, end: int) -> int:
    uses = ("pulse_host", "bus_program", "stop_program")
    found = (each for each in die.slices if each.args["use"] in uses)
    return sum(max(0, min(each.to_ns, end) - max(each.from_ns, begin)) for each in found)


def _of_array(it: SlowRequest, config: Mapping[str, str]) -> None:
    """No account is kept of an array's requests: the last data that came in time was theirs, in all likelihood."""
    try:
        decode = time_ns("ecc.latency", config.get("ecc.latency", "0ns"))
    except ConfigError:
        decode = 0
    ended = [
        (each.to_ns, die)
        for die in it.around.dies.values()
        for each in die.slices
        if each.args["use"] == "bus_host" and each.name == "data out" and it.arrival < each.to_ns <= it.done - decode
    ]
    if not ended:
        return
    end, die = max(ended, key=lambda pair: pair[0])
    others = [other for name, other in it.around.dies.items() if name != die.name]
    it.dies = [die, *sorted(others, key=lambda other: -sum(spent(other, it.arrival, it.done).values()))]
    commands = (each.from_ns for each in die.slices if each.name == "command" and each.to_ns <= end)
    begin = max(it.arrival, it.around.from_ns)
    it.span = (begin, max(begin, max(commands, default=begin)))
    it.gap_ns, it.inferred = it.done - end, True
    it.waits = dict(sorted(spent(die, *it.span).items(), key=lambda pair: -pair[1]))

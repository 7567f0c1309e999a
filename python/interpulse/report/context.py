"""Context of a slow request: recorded activity of dies and channels, queue lengths, programs and erases."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from interpulse.logs.trace import Level, Slice
from interpulse.report.timeline_files import Timeline, within

CAUSE_OF_USE = {
    "sense_host": "host_reads",
    "bus_host": "host_reads",
    "bus_program": "programs",
    "pulse_host": "programs",
    "sense_gc": "gc",
    "bus_gc": "gc",
    "pulse_gc": "gc",
    "erase": "erases",
    "stop_program": "stop",
    "stop_erase": "stop",
    "suspended": "suspend",
}
"""Cause of waiting by die activity (`flash/command/uses.rs`)."""

TRAIN = ("pulse", "verify", "voltage reset")
"""Slices that are a part of a pulse train."""


@dataclass(frozen=True)
class Operation:
    """A program or an erase on a die, in pieces where it was suspended."""

    die: str
    what: str
    block: int | None
    from_ns: int
    to_ns: int
    suspends: int
    began: bool
    """Whether its begin was recorded."""
    ended: bool
    """Whether its end was recorded."""
    stretches: tuple[tuple[int, int, bool], ...] = ()
    """Begin, end, and whether it ran (true) or was suspended."""


@dataclass
class Die:
    """A die in the stretch around a request."""

    name: str
    """`die 3`, or `drive 1: die 3`."""
    channel: str
    """`channel 1`, or `drive 1: channel 1`; empty where it is unknown."""
    slices: list[Slice]
    """In order of time."""

    @cached_property
    def operations(self) -> list[Operation]:
        """Its programs and erases, in order of time."""
        return list(_operations(self))


@dataclass
class RequestContext:
    """Everything recorded from shortly before a request arrived until shortly after it completed."""

    dies: dict[str, Die]
    channels: dict[str, list[Slice]]
    waiting: dict[str, list[Level]]
    """Queue lengths by die."""
    from_ns: int
    to_ns: int


def tracks(timeline: Timeline) -> RequestContext:
    """All tracks by the names that they have on the page."""
    dies: dict[str, list[Slice]] = defaultdict(list)
    channels: dict[str, list[Slice]] = defaultdict(list)
    waiting: dict[str, list[Level]] = defaultdict(list)
    for each in sorted(timeline.slices, key=lambda each: each.from_ns):
        group, _, name = within(each.track).partition(" / ")
        drive, _, kind = group.rpartition(": ")
        name = f"{drive}: {name}" if drive else name
        if kind == "dies":
            dies[name].append(each)
        elif kind == "channels":
            channels[name].append(each)
    for level in timeline.levels:
        group, _, name = within(level.track).partition(" / ")
        drive, _, kind = group.rpartition(": ")
        if kind == "waiting for a die":
            waiting[f"{drive}: {name}" if drive else name].append(level)
    ends = {(each.from_ns, each.to_ns, name) for name, found in channels.items() for each in found}
    by_time: dict[tuple[int, int], set[str]] = defaultdict(set)
    for begin, end, name in ends:
        by_time[begin, end].add(name)
    whole = {name: Die(name, _channel(name, found, by_time), found) for name, found in dies.items()}
    begin = min((each.from_ns for each in timeline.slices), default=0)
    end = max((each.to_ns for each in timeline.slices), default=0)
    return RequestContext(whole, dict(channels), dict(waiting), begin, end)


def _channel(die: str, slices: Sequence[Slice], by_time: Mapping[tuple[int, int], set[str]]) -> str:
    """The channel that moved data when the die did."""
    drive = die.rpartition(": ")[0]
    left: set[str] | None = None
    for each in slices:
        if each.name in ("data out", "command"):
            seen = {name for name in by_time.get((each.from_ns, each.to_ns), ()) if name.rpartition(": ")[0] == drive}
            if seen:
                left = seen if left is None else left & seen
                if len(left) == 1:
                    break
    return left.pop() if left is not None and len(left) == 1 else ""


def cut(of: RequestContext, begin: int, end: int) -> RequestContext:
    """The part that overlaps an interval; slices are not clipped."""

    def during(slices: Iterable[Slice]) -> list[Slice]:
        return [each for each in slices if each.to_ns > begin and each.from_ns < end]

    dies = {name: Die(name, die.channel, found) for name, die in of.dies.items() if (found := during(die.slices))}
    channels = {name: during(found) for name, found in of.channels.items()}
    levels = {
        name: [
            level
            for level, after in zip(found, [*found[1:], None], strict=True)
            if level.at_ns < end and (after is None or after.at_ns > begin)
        ]
        for name, found in of.waiting.items()
    }
    seen = [each for die in dies.values() for each in die.slices]
    first = min((each.from_ns for each in seen), default=begin)
    last = max((each.to_ns for each in seen), default=end)
    return RequestContext(dies, channels, levels, max(first, begin), min(last, end))


def _operations(die: Die) -> Iterator[Operation]:
    """Programs and erases of a die in order; one continues after the reads that suspend it."""
    kept: list[Slice] = []
    for each in die.slices:
        what = each.args.get("operation")
        if what is None or each.args.get("use") not in _LONG:
            continue
        if kept:
            last = kept[-1]
            same = (last.args["operation"], last.args.get("block")) == (what, each.args.get("block"))
            fresh = each.name == "page load" and any(one.name in TRAIN for one in kept)
            fewer = each.args.get("suspended so often", 0) < last.args.get("suspended so often", 0)
            if not same or fresh or fewer:
                yield _operation(die, kept)
                kept = []
        kept.append(each)
    if kept:
        yield _operation(die, kept)


_LONG = ("bus_program", "pulse_host", "pulse_gc", "bus_gc", "erase", "stop_program", "stop_erase", "suspended")


def _operation(die: Die, kept: Sequence[Slice]) -> Operation:
    first, last = kept[0], kept[-1]
    return Operation(
        die.name,
        first.args["operation"],
        first.args.get("block"),
        first.from_ns,
        last.to_ns,
        max(each.args.get("suspended so often", 0) for each in kept),
        first is not die.slices[0],
        last is not die.slices[-1],
        tuple(_stretches(kept)),
    )


def _stretches(kept: Sequence[Slice]) -> Iterator[tuple[int, int, bool]]:
    """Intervals in which an operation ran or was suspended."""
    begin = end = kept[0].from_ns
    for each in kept:
        if each.args["use"] == "suspended" and each.name == "suspended":
            continue
        if each.from_ns > end:
            if end > begin:
                yield begin, end, True
            yield end, each.from_ns, False
            begin = each.from_ns
        end = each.to_ns
    yield begin, max(end, begin), True
    if kept[-1].to_ns > end:
        yield end, kept[-1].to_ns, False


def spent(die: Die, begin: int, end: int) -> dict[str, int]:
    """Busy time of a die in an interval, by cause, in ns."""
    found: dict[str, int] = defaultdict(int)
    for each in die.slices:
        ns = min(each.to_ns, end) - max(each.from_ns, begin)
        if ns > 0:
            found[CAUSE_OF_USE[each.args["use"]]] += ns
    return dict(found)

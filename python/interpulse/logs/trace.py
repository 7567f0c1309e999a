"""Timelines as Perfetto traces: a track for each die, bus, queue and outstanding request.

The trace is protobuf, whose times are whole nanoseconds; zero is the beginning of the measurement window.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interpulse.logs.columns import Rows

if TYPE_CHECKING:
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket

SEQUENCE = 1
"""All packets are of one sequence."""

SHOWN = {
    "bus": "wait for the bus",
    "out": "data out",
    "load": "page load",
    "hold": "suspended",
    "reload": "buffer reload",
    "sense": "sensing",
    "reset": "voltage reset",
}
"""What phases are called where their name in results is too short."""

RETRYING = "retrying"
"""The state of a die that reads again what could not be decoded."""

IDLE = "idle"
"""Phases that make no slice: there is nothing to see."""

DIES = (
    *("window", "drive", "die", "from_ns", "to_ns", "what", "use", "operation", "block", "suspends"),
    *("running_on", "again", "request", "state"),
)


@dataclass(frozen=True)
class Slice:
    """A slice of a trace that has been read."""

    track: str
    """The names of the track and of those that it is in, from the outside, with ` / ` between."""
    name: str
    from_ns: int
    to_ns: int
    args: dict[str, Any]


@dataclass(frozen=True)
class Level:
    """A value of a trace that has been read, from an instant on."""

    track: str
    """As of a slice."""
    at_ns: int
    value: int


class Writer:
    """Packets of a trace."""

    def __init__(self) -> None:
        from perfetto.trace_builder.proto_builder import TraceProtoBuilder

        self._builder = TraceProtoBuilder()
        self._tracks = 0
        self._fresh = True

    def _packet(self, at: int) -> TracePacket:
        packet = self._builder.add_packet()
        packet.timestamp = at
        packet.trusted_packet_sequence_id = SEQUENCE
        if self._fresh:
            packet.sequence_flags = 1
            self._fresh = False
        return packet

    def track(self, name: str, parent: int | None = None, *, order: int = 0, counts: str | None = None) -> int:
        """A new track; one that counts has a unit."""
        self._tracks += 1
        packet = self._packet(0)
        described = packet.track_descriptor
        described.uuid, described.name, described.sibling_order_rank = self._tracks, name, order
        if parent is not None:
            described.parent_uuid = parent
        described.child_ordering = 3
        if counts is not None:
            described.counter.unit_name = counts
        return self._tracks

    def slice(
        self, track: int, name: str, begin: int, end: int, args: Iterable[tuple[str, Any]], flow: int | None
    ) -> None:
        """A slice; those of one `flow` are joined by arrows."""
        event = self._packet(begin).track_event
        event.type, event.track_uuid, event.name = 1, track, name
        for key, value in args:
            if value is not None:
                annotation = event.debug_annotations.add()
                annotation.name = key
                if isinstance(value, str):
                    annotation.string_value = value
                else:
                    annotation.int_value = value
        if flow is not None:
            event.flow_ids.append(flow)
        event = self._packet(end).track_event
        event.type, event.track_uuid = 2, track

    def count(self, track: int, at: int, value: int) -> None:
        """A value from an instant on."""
        event = self._packet(at).track_event
        event.type, event.track_uuid, event.counter_value = 4, track, value

    def to_bytes(self) -> bytes:
        """The whole trace."""
        return bytes(self._builder.serialize())


def to_bytes(case: str, tables: Sequence[Rows], slowest: Sequence[dict[str, Any]] = ()) -> bytes:
    """The trace of a case, from the tables of its timeline."""
    writer = Writer()
    ranks = {each["number"]: place for place, each in enumerate(slowest, 1)}
    root = writer.track(case)
    _requests(writer, writer.track("requests", root, order=1), _of(tables, "requests"), _stretches(tables), ranks)
    dies, buses = _of(tables, "dies"), _of(tables, "buses")
    numbers = {
        (row[0], place): row[1]
        for rows in _of(tables, "requests")
        for place, row in enumerate(rows.values("window", "number"))
    }
    drives = sorted({drive for rows in dies for drive, *_ in rows.values("drive")})
    for drive in drives:
        name = f"drive {drive}: " if len(drives) > 1 else ""
        _dies(writer, writer.track(f"{name}dies", root, order=2), dies, drive, numbers)
        _buses(writer, writer.track(f"{name}channels", root, order=3), buses, drive)
        _queues(writer, writer.track(f"{name}waiting for a die", root, order=4), _of(tables, "queues"), drive)
    return writer.to_bytes()


def _of(tables: Sequence[Rows], name: str) -> list[Rows]:
    return [rows for rows in tables if rows.table == f"timeline.{name}"]


def _stretches(tables: Sequence[Rows]) -> dict[int, tuple[int, int]]:
    """The beginning and the end of each window."""
    rows = [row for each in _of(tables, "windows") for row in each.values("window", "from_ns", "to_ns")]
    return {window: (begin, end) for window, begin, end in rows}


def _dies(
    writer: Writer, parent: int, tables: Sequence[Rows], drive: int, numbers: dict[tuple[int, int], int | None]
) -> None:
    """A track for each die that did something: what it did, phase by phase."""
    tracks: dict[int, int] = {}
    for rows in tables:
        for row in rows.values(*DIES):
            window, of, die, begin, end, what, use, operation, block, suspends, running_on, again, request, state = row
            if of != drive or what == IDLE:
                continue
            if die not in tracks:
                tracks[die] = writer.track(f"die {die}", parent, order=die)
            args = [("use", use), ("operation", operation), ("block", block)]
            args += [("suspended so often", suspends)] if operation else []
            args += [("runs on to a stop", 1)] if running_on else []
            args += [("done again", 1)] if again else []
            args += [("for request", numbers.get((window, request)))]
            args += [("read again", 1)] if state == RETRYING else []
            flow = None if request is None else _flow(window, request)
            # A die that retries is in one state from a sensing to the next.
            name = "command, data out, decode" if state == RETRYING and what == "bus" else SHOWN.get(what, what)
            writer.slice(tracks[die], name, begin, end, args, flow)


def _buses(writer: Writer, parent: int, tables: Sequence[Rows], drive: int) -> None:
    """A track for each channel: what moved over it."""
    tracks: dict[int, int] = {}
    columns = ("drive", "channel", "from_ns", "to_ns", "what", "bytes")
    for rows in tables:
        for of, channel, begin, end, what, moved in rows.values(*columns):
            if of == drive:
                if channel not in tracks:
                    tracks[channel] = writer.track(f"channel {channel}", parent, order=channel)
                writer.slice(tracks[channel], what, begin, end, [("bytes", moved)], None)


def _queues(writer: Writer, parent: int, tables: Sequence[Rows], drive: int) -> None:
    """A counter for each die: transactions that wait for it."""
    tracks: dict[int, int] = {}
    for rows in tables:
        for of, die, at, waiting in rows.values("drive", "die", "at_ns", "waiting"):
            if of == drive and (waiting or die in tracks):
                if die not in tracks:
                    tracks[die] = writer.track(f"die {die}", parent, order=die, counts="transactions")
                writer.count(tracks[die], at, waiting)


def _requests(
    writer: Writer, parent: int, tables: Sequence[Rows], stretches: dict[int, tuple[int, int]], ranks: dict[int, int]
) -> None:
    """A slice for each request, on the first track where it is alone, and how many there are."""
    depth = writer.track("outstanding", parent, order=0, counts="requests")
    slow = writer.track("slowest", parent, order=1) if ranks else parent
    lanes: dict[str, list[int]] = {}
    columns = ("window", "arrival_ns", "end_ns", "number", "flow", "kind", "address_bytes", "size_bytes")
    for rows in tables:
        changes: list[tuple[int, int]] = []
        busy: dict[str, list[tuple[int, int]]] = {}
        free: dict[str, list[int]] = {}
        for place, row in enumerate(rows.values(*columns)):
            window, arrival, ends, number, flow, kind, address, length = row
            first, last = stretches[window]
            begin, end = max(arrival, first), last if ends is None else min(ends, last)
            changes += [(begin, 1), *([(end, -1)] if ends is not None else [])]
            lane = _lane(flow, begin, end, busy, free)
            tracks = lanes.setdefault(flow, [])
            if lane == len(tracks):
                tracks.append(writer.track(f"{flow} {lane + 1}", parent, order=2 + lane))
            args = [("number", number), ("arrival_ns", arrival), ("address_bytes", address), ("size_bytes", length)]
            args += [("latency_ns", None if ends is None else ends - arrival)]
            writer.slice(tracks[lane], kind, begin, end, args, _flow(window, place))
            if number in ranks:
                own = writer.track(f"slowest {ranks[number]}", slow, order=ranks[number])
                writer.slice(own, f"{kind} {number}", begin, end, args, _flow(window, place))
        level = 0
        for at, by in sorted(changes):
            level += by
            writer.count(depth, at, level)


def _lane(flow: str, begin: int, end: int, busy: dict[str, list[tuple[int, int]]], free: dict[str, list[int]]) -> int:
    """The first lane of a flow that is free from `begin` on; taken until `end`."""
    taken, left = busy.setdefault(flow, []), free.setdefault(flow, [])
    while taken and taken[0][0] <= begin:
        heapq.heappush(left, heapq.heappop(taken)[1])
    lane = heapq.heappop(left) if left else len(taken)
    heapq.heappush(taken, (end, lane))
    return lane


def _flow(window: int, request: int) -> int:
    """What joins the slices of a request."""
    return (window << 32) + request + 1


def read(content: bytes) -> list[Slice]:
    """The slices of a trace that `to_bytes` has made, in the order of their ends."""
    return parsed(content)[0]


def parsed(content: bytes) -> tuple[list[Slice], list[Level]]:
    """The slices of a trace that `to_bytes` has made, in the order of their ends, and what its counters count.

    Raises:
        ValueError: it is no such trace.
    """
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

    trace = Trace()
    try:
        trace.ParseFromString(content)
    except Exception as error:
        # What protobuf raises has a name that depends on its version.
        if type(error).__name__ != "DecodeError":
            raise
        raise ValueError(f"no trace: {error}") from None
    names: dict[int, str] = {0: ""}
    begun: dict[int, Any] = {}
    slices, levels = [], []
    try:
        for packet in trace.packet:
            if packet.HasField("track_descriptor"):
                of = packet.track_descriptor
                outer = f"{names[of.parent_uuid]} / " if of.parent_uuid else ""
                names[of.uuid] = outer + of.name
            event = packet.track_event
            if event.type == 1:
                begun[event.track_uuid] = packet
            elif event.type == 2:
                first = begun.pop(event.track_uuid)
                args = dict(_args(first.track_event))
                name = first.track_event.name
                slices.append(Slice(names[event.track_uuid], name, first.timestamp, packet.timestamp, args))
            elif event.type == 4:
                levels.append(Level(names[event.track_uuid], packet.timestamp, event.counter_value))
    except KeyError as error:
        raise ValueError(f"a trace of somebody else: there is no track {error}") from None
    return slices, levels


def _args(event: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - what protobuf makes
    for each in event.debug_annotations:
        yield each.name, each.string_value if each.HasField("string_value") else each.int_value

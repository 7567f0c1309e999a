"""A model in SimPy with a drive from interpulse: clients that share it, one of which reads what the other writes.

The drive does nothing between two of its events, so the model needs one wake-up: at `next_event_ns`.
"""

from __future__ import annotations

import random
from statistics import mean
from typing import TYPE_CHECKING

import simpy

from interpulse import Device

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any

    from interpulse.embedding.completion import Completion

CONFIG = {"drive": "a4-mini", "part": {"blocks-per-plane": 24}, "cache": {"size": "1MiB"}}


class Drive:
    """A drive whose accesses are SimPy events; the unit of the environment's time is a nanosecond."""

    def __init__(self, env: simpy.Environment, config: dict[str, Any]) -> None:
        self.env = env
        self.device = Device(config)
        self._waiting: dict[int, simpy.Event] = {}
        self._wake_ns: int | None = None

    def access(self, op: str, offset: int = 0, length: int = 0) -> simpy.Event:
        """An event that succeeds with the `Completion` of this request."""
        event = self.env.event()
        self._waiting[self.device.submit(int(self.env.now), op, offset, length)] = event
        self._schedule()
        return event

    def _schedule(self) -> None:
        at = self.device.next_event_ns
        if not self._waiting or at is None:
            return
        # Without accesses nothing wakes the drive, so its next event may be in the past.
        at = max(at, int(self.env.now))
        if self._wake_ns is not None and self._wake_ns <= at:
            return
        self._wake_ns = at
        timeout = self.env.timeout(at - int(self.env.now), at)
        assert timeout.callbacks is not None
        timeout.callbacks.append(self._wake)

    def _wake(self, event: simpy.Event) -> None:
        if event.value != self._wake_ns:
            # An earlier wake-up has replaced this one.
            return
        self._wake_ns = None
        self.device.advance_to(int(self.env.now))
        while (done := self.device.pop()) is not None:
            self._waiting.pop(done.tag).succeed(done)
        self._schedule()


def writer(env: simpy.Environment, drive: Drive, pages: simpy.Store, count: int) -> Generator[simpy.Event, Any, None]:
    """Writes pages at random intervals and passes on which."""
    draw = random.Random(1)
    for _ in range(count):
        yield env.timeout(draw.randrange(100_000))
        offset = 16384 * draw.randrange(drive.device.capacity // 16384)
        yield drive.access("write", offset, 16384)
        yield pages.put(offset)


def reader(drive: Drive, pages: simpy.Store, seen: list[Completion]) -> Generator[simpy.Event, Any, None]:
    """Reads every page that was written, part by part."""
    while True:
        offset = yield pages.get()
        parts = [drive.access("read", offset + part, 4096) for part in range(0, 16384, 4096)]
        done = yield simpy.AllOf(drive.env, parts)
        seen += done.values()


def main(count: int = 1000) -> None:
    """Runs the model and prints what the reader saw."""
    env = simpy.Environment(initial_time=0)
    drive = Drive(env, CONFIG)
    pages = simpy.Store(env)
    seen: list[Completion] = []
    env.process(writer(env, drive, pages, count))
    env.process(reader(drive, pages, seen))
    env.run()
    audit = drive.device.finish()
    latency = mean(done.latency_ns for done in seen) / 1e3
    hits = drive.device.counters()["host"]["cache_read_hits"]
    print(f"{len(seen)} reads, mean latency {latency:.1f} us, {hits} from the write cache; {audit.requests} audited")


if __name__ == "__main__":
    main()

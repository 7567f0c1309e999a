"""SQLite under transfers beside reads of single accounts, by threads of this process."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread

from interpulse._core import RunError
from interpulse.blockdevice import filesystem
from interpulse.blockdevice.workload import KINDS, READ, SHARE_OF_READS, UPDATE, Latencies, Load

ACCOUNTS = 2_000_000
"""Rows of some 150 bytes: 300 MB."""

CLIENTS = 8

CACHE_KIB = 2048
"""Pages that each connection keeps in memory, in KiB; the page cache is emptied."""

EVICTIONS_S = 0.1
"""Seconds between two evictions."""

POLL_S = 0.1

NAME = "accounts.db"


class Sqlite:
    """SQLite with a write-ahead log, every commit durable."""

    programs = ()

    def prepare(self, place: Path) -> None:
        """Makes the database."""
        with _opened(place / NAME) as database:
            database.execute("create table account (id integer primary key, balance integer, filler text)")
            database.execute("create table history (id integer primary key, giver, taker, amount)")
            database.execute("begin")
            rows = ((number, 1000, f"{number:0120}") for number in range(ACCOUNTS))
            database.executemany("insert into account values (?, ?, ?)", rows)
            database.execute("commit")
            database.execute("pragma wal_checkpoint(truncate)")

    def run(self, place: Path, load: Load, watch: Callable[[float], None]) -> Latencies:
        """Runs the load."""
        clients = _Clients(place / NAME, load)
        threads = [Thread(target=clients.run, name=f"client-{number}") for number in range(CLIENTS)]
        threads.append(Thread(target=clients.evict, name="eviction"))
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads[:-1]):
                watch(time.monotonic() - clients.began)
                time.sleep(POLL_S)
        finally:
            clients.end.set()
            for thread in threads:
                thread.join()
        if clients.failed:
            raise RunError(f"SQLite: {clients.failed[0]}")
        return clients.latencies


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection, closed in the end: an open one keeps the file system mounted."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=600)) as database:
        database.execute("pragma journal_mode = wal")
        database.execute("pragma synchronous = full")
        database.execute(f"pragma cache_size = -{CACHE_KIB}")
        yield database


@dataclass
class _Clients:
    """Clients that share one sequence of arrivals: each takes the next when it is idle."""

    path: Path
    load: Load
    end: Event = field(default_factory=Event)
    began: float = field(default_factory=time.monotonic)
    latencies: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    failed: list[str] = field(default_factory=list)
    _writing: Lock = field(default_factory=Lock)
    _drawing: Lock = field(default_factory=Lock)
    _arrival: float = 0.0
    _draw: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._draw = random.Random(self.load.seed)

    def run(self) -> None:
        """Executes transactions until the end of the window."""
        try:
            with _opened(self.path) as database:
                while not self.end.is_set():
                    arrival, kind, one, other = self._next()
                    if arrival > self.load.warm_up + self.load.window:
                        return
                    # A wait in steps, so that Ctrl-C ends it soon.
                    while (left := self.began + arrival - time.monotonic()) > 0 and not self.end.wait(min(left, 0.2)):
                        pass
                    (self._read if kind == READ else self._update)(database, one, other)
                    if arrival >= self.load.warm_up:
                        self.latencies[kind].append(time.monotonic() - self.began - arrival)
        except sqlite3.Error as error:
            self.failed.append(str(error))
            self.end.set()

    def _next(self) -> tuple[float, str, int, int]:
        with self._drawing:
            self._arrival += self._draw.expovariate(self.load.rate)
            kind = READ if self._draw.random() < SHARE_OF_READS else UPDATE
            return self._arrival, kind, self._draw.randrange(ACCOUNTS), self._draw.randrange(ACCOUNTS)

    def _read(self, database: sqlite3.Connection, one: int, _: int) -> None:
        database.execute("select balance from account where id = ?", (one,)).fetchone()

    def _update(self, database: sqlite3.Connection, one: int, other: int) -> None:
        # SQLite has one writer at a time; a lock in order of arrival instead of its retries after pauses.
        with self._writing:
            database.execute("begin immediate")
            database.execute("update account set balance = balance - 1 where id = ?", (one,))
            database.execute("update account set balance = balance + 1 where id = ?", (other,))
            database.execute("insert into history (giver, taker, amount) values (?, ?, 1)", (one, other))
            database.execute("commit")

    def evict(self) -> None:
        """Empties the page cache of the database until the end."""
        files = [self.path, self.path.with_name(f"{NAME}-wal")]
        while not self.end.wait(EVICTIONS_S):
            filesystem.drop_cached(files)

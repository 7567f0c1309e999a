"""Does a served drive work for an hour, beside clients that misbehave, without growth?

`INTERPULSE_SOAK_S` is the number of seconds of the long soak (`make verify`), 3600 by default.
"""

from __future__ import annotations

import json
import os
import random
import socket
import threading
import time
import urllib.request
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psutil
import pytest

from tests.nbd_server import PATIENCE, Client, Served, serving

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONG_S = float(os.environ.get("INTERPULSE_SOAK_S", "3600"))

BLOCKS = 4096
"""Blocks of 4 KiB that each client writes and checks."""

MOST_GROWTH = 24 << 20
"""Bytes by which the memory of the server may be larger in the last quarter than in the second."""

SCHEMES = ("none", "ideal", "inter-phase", "immediate", "deferred", "timeout", "loop-boundary")


@dataclass
class Soak:
    """Clients of a server until a time."""

    server: Served
    end: float
    counts: dict[str, int] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)

    def goes_on(self) -> bool:
        return time.monotonic() < self.end and not self.errors

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number

    def run(self) -> None:
        works: list[Callable[[random.Random], None]] = [self.verify, self.verify, self.hostile, self.silent, self.watch]
        threads = [threading.Thread(target=self.guarded, args=(k, work)) for k, work in enumerate(works)]
        for thread in threads:
            thread.start()
        process = psutil.Process(self.server.process.pid)
        while self.goes_on() and process.is_running():
            self.memory.append(process.memory_info().rss)
            self.threads.append(process.num_threads())
            self.files.append(process.num_fds())
            time.sleep(0.5)
        for thread in threads:
            thread.join(timeout=PATIENCE)

    def guarded(self, seed: int, work: Callable[[random.Random], None]) -> None:
        try:
            work(random.Random(seed))
        except Exception as error:  # noqa: BLE001 - a thread reports whatever ends it
            self.errors.append(f"{work.__name__}: {error!r}")

    def verify(self, draw: random.Random) -> None:
        """Writes blocks of its own and reads them again, over connections that come and go."""
        # Clients share no block.
        first = (self.count_clients() - 1) * BLOCKS
        known: dict[int, bytes] = {}
        while self.goes_on():
            with Client(self.server.folder) as client:
                for _ in range(200):
                    block = draw.randrange(BLOCKS)
                    offset = (first + block) * 4096
                    match draw.randrange(4):
                        case 0:
                            known[block] = draw.randbytes(4096)
                            client.request(1, offset, 4096, known[block], flags=draw.randrange(2))
                        case 1:
                            client.request(4, offset, 4096)
                            known[block] = bytes(4096)
                        case 2:
                            client.request(3, 0, 0)
                        case _:
                            assert client.request(0, offset, 4096) == known.get(block, bytes(4096))
                    self.count("commands verified")

    def count_clients(self) -> int:
        self.count("verifying clients")
        return self.counts["verifying clients"]

    def hostile(self, draw: random.Random) -> None:
        """Connects and sends nothing, or what is no protocol."""
        while self.goes_on():
            with suppress(OSError), self.connected() as stream:
                if draw.randrange(2):
                    stream.sendall(draw.randbytes(draw.randrange(1, 5000)))
            self.count("hostile connections")
            time.sleep(0.05)

    def silent(self, _: random.Random) -> None:
        """Asks for reads and takes no reply."""
        while self.goes_on():
            with suppress(OSError), Client(self.server.folder) as client:
                client.socket.settimeout(0.5)
                with suppress(TimeoutError):
                    while self.goes_on():
                        client.socket.sendall(
                            b"\x25\x60\x95\x13\0\0\0\0" + bytes(8) + bytes(8) + (1 << 20).to_bytes(4, "big")
                        )
                self.count("clients that take no reply")
            time.sleep(0.5)

    def watch(self, draw: random.Random) -> None:
        """Reads the live view, and changes the suspension."""
        root = f"http://{self.server.web}"
        while self.goes_on():
            for path in ("/live.json", "/metrics", "/"):
                with urllib.request.urlopen(root + path, timeout=PATIENCE) as answer:
                    answer.read()
                self.count("views")
            if self.counts["views"] % 30 == 0 and self.counts.get("changes of the suspension", 0) < 900:
                body = {f"suspend.{kind}.scheme": draw.choice(SCHEMES) for kind in ("program", "erase")}
                request = urllib.request.Request(
                    f"{root}/suspension", json.dumps(body).encode(), {"Content-Type": "application/json"}
                )
                with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                    answer.read()
                self.count("changes of the suspension")
            time.sleep(0.3)

    def connected(self) -> socket.socket:
        here = os.open(self.server.folder, os.O_RDONLY)
        stream = socket.socket(socket.AF_UNIX)
        stream.settimeout(PATIENCE)
        stream.connect(f"/proc/self/fd/{here}/socket")
        os.close(here)
        return stream


def soak(folder: Path, seconds: float) -> None:
    with serving(folder, "--backing", "data", "--no-state", "--web", "127.0.0.1:0", "--json") as server:
        run = Soak(server, time.monotonic() + seconds)
        run.run()
        report = json.loads(server.end())
    assert run.errors == []
    quarter = len(run.memory) // 4
    early, late = max(run.memory[quarter : 2 * quarter]), max(run.memory[3 * quarter :])
    counts = ", ".join(f"{number} {what}" for what, number in sorted(run.counts.items()))
    mib = 1 << 20
    print(  # noqa: T201 - the summary of the step
        f"soak of {seconds:.0f} s: {counts}; memory {early / mib:.1f} MiB in the second quarter, "
        f"{late / mib:.1f} MiB in the last; at most {max(run.threads)} threads and {max(run.files)} files"
    )
    assert late - early < MOST_GROWTH
    assert max(run.threads) < 64
    assert max(run.files) < 128
    assert report["audited"]["requests"] > 0
    assert len(report["suspension"]["changes"]) == run.counts.get("changes of the suspension", 0)


def test_a_short_soak_grows_by_nothing(tmp_path: Path) -> None:
    soak(tmp_path, 6)


@pytest.mark.verify
@pytest.mark.timeout(LONG_S + 600)
def test_a_long_soak_grows_by_nothing(tmp_path: Path) -> None:
    soak(tmp_path, LONG_S)

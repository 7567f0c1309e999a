"""Does a served drive withstand connections that come and go in great number?"""

from __future__ import annotations

import os
import re
import socket
import time
from typing import TYPE_CHECKING

import psutil

from tests.nbd_server import PATIENCE, Client, serving

if TYPE_CHECKING:
    from pathlib import Path

CONNECTIONS = 10_000
MOST_GROWTH = 64 << 20
"""Bytes by which the memory of the server may grow: 16 connections have buffers of 256 KiB, and stacks of threads."""


def accounted(log: str) -> int:
    """Connections that the log accounts for: a line each, or counted where too many came at a time."""
    closed = len(re.findall(r"^connection \d+ closed: the client left during the handshake$", log, re.MULTILINE))
    refused = len(re.findall(r"^connection \d+ refused: 16 are open", log, re.MULTILINE))
    more = sum(map(int, re.findall(r"^(\d+) more lines about clients$", log, re.MULTILINE)))
    return closed + refused + more


def test_ten_thousand_connections_that_are_dropped_harm_nobody(tmp_path: Path) -> None:
    with serving(tmp_path) as server, Client(tmp_path) as good:
        good.request(1, 0, 4096, b"x" * 4096, flags=1)
        process = psutil.Process(server.process.pid)
        memory, threads = process.memory_info().rss, process.num_threads()
        here = os.open(tmp_path, os.O_RDONLY)
        most = 0
        for number in range(CONNECTIONS):
            with socket.socket(socket.AF_UNIX) as dropped:
                dropped.connect(f"/proc/self/fd/{here}/socket")
            if number % 500 == 0:
                assert good.request(0, 0, 4096) == b"x" * 4096
                most = max(most, process.memory_info().rss)
        os.close(here)
        assert good.request(0, 0, 4096) == b"x" * 4096
        began = time.monotonic()
        while accounted(server.log) < CONNECTIONS or process.num_threads() > threads:
            assert time.monotonic() - began < PATIENCE, server.log[-2000:]
            time.sleep(0.05)
        assert accounted(server.log) == CONNECTIONS
        assert max(most, process.memory_info().rss) - memory < MOST_GROWTH
        # Others are admitted again.
        with Client(tmp_path) as other:
            assert other.request(0, 0, 4096) == b"x" * 4096

"""Listening sockets of local workers: loopback addresses only."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil

from interpulse.sweeps.cluster import local


def _listening() -> set[str]:
    own = psutil.Process()
    found = set()
    for process in (own, *own.children(recursive=True)):
        sockets = process.net_connections(kind="inet")
        found |= {each.laddr.ip for each in sockets if each.status == psutil.CONN_LISTEN}
    return found


def test_local_workers_listen_on_loopback_only(tmp_path: Path) -> None:
    os.environ.setdefault("INTERPULSE_CACHE_DIR", str(tmp_path))
    before = _listening()
    with local(1, 0, lambda _: None) as workers:
        deadline = time.monotonic() + 60
        while not workers.slots():
            assert time.monotonic() < deadline, "no worker within a minute"
            time.sleep(0.1)
        listening = _listening() - before
    assert listening, "a scheduler and a worker listen"
    assert all(address.startswith("127.") or address == "::1" for address in listening), listening

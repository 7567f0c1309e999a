"""PostgreSQL under pgbench: transactions of TPC-B beside reads of single accounts."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

from interpulse._core import RunError
from interpulse.blockdevice import filesystem
from interpulse.blockdevice.postgres import Cluster
from interpulse.blockdevice.requirements import POSTGRESQL
from interpulse.blockdevice.workload import READ, SHARE_OF_READS, UPDATE, Latencies, Load

SCALE = 40
"""Branches of 100,000 accounts: some 600 MB."""

CLIENTS = 16

SETTINGS = {
    # The only memory of the database, a fortieth of it: the page cache is emptied.
    "shared_buffers": "16MB",
    # Written pages go to the drive soon, as they do where memory is short.
    "backend_flush_after": "64kB",
    # No checkpoint in the window: at the usual interval there is one in minutes of drive time.
    "max_wal_size": "512MB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
}

LARGE = 1 << 20
"""Bytes of a file from which on its pages are evicted; smaller ones are the catalogue."""

EVICTIONS_S = 0.1
"""Seconds between two evictions."""

POLL_S = 0.1


class PgBench:
    """PostgreSQL under pgbench."""

    programs = POSTGRESQL

    def prepare(self, place: Path) -> None:
        """Makes the database."""
        cluster = Cluster(place / "cluster", SETTINGS)
        cluster.create()
        with cluster.running():
            cluster.bench("-i", "-q", "-s", str(SCALE))
            cluster.sql("vacuum analyze")
            cluster.sql("checkpoint")

    def run(self, place: Path, load: Load, watch: Callable[[float], None]) -> Latencies:
        """Runs the load."""
        cluster = Cluster(place / "cluster", SETTINGS)
        logs = Path(tempfile.mkdtemp(prefix="interpulse-pgbench-"))
        logs.chmod(0o777)
        try:
            with cluster.running(), _evicting(place / "cluster" / "base"):
                self._bench(cluster, logs, load, watch)
            return latencies(logs, load)
        finally:
            shutil.rmtree(logs, ignore_errors=True)

    def _bench(self, cluster: Cluster, logs: Path, load: Load, watch: Callable[[float], None]) -> None:
        length = load.warm_up + load.window
        weight = round(SHARE_OF_READS / (1 - SHARE_OF_READS))
        options = ["-n", "-l", "-c", str(CLIENTS), "-j", "1", "-T", str(round(length)), "-R", f"{load.rate:g}"]
        options += ["-b", "tpcb-like@1", "-b", f"select-only@{weight}", f"--random-seed={load.seed % 2**31}"]
        with cluster.bench_process(logs, *options) as process:
            try:
                began = time.monotonic()
                while process.poll() is None:
                    watch(time.monotonic() - began)
                    time.sleep(POLL_S)
            except BaseException:
                process.kill()
                raise
            assert process.stdout is not None
            said = process.stdout.read()
        if process.returncode:
            raise RunError(f"pgbench ended with exit code {process.returncode}: {said.strip()[-2000:]}")


class _evicting:  # noqa: N801 - a context
    """Empties the page cache of the tables as long as the context lasts."""

    def __init__(self, tables: Path) -> None:
        self._files = filesystem.large_files(tables, LARGE)
        self._end = Event()
        self._thread = Thread(target=self._evict, name="eviction")

    def _evict(self) -> None:
        while not self._end.wait(EVICTIONS_S):
            filesystem.drop_cached(self._files)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


def latencies(logs: Path, load: Load) -> Latencies:
    """What pgbench has logged of the window: latency from the arrival, and kind by the number of the script."""
    rows = [line.split() for path in sorted(logs.iterdir()) for line in path.read_text().splitlines()]
    # Client, transaction, us from its arrival, script, and its end as s and us since 1970.
    ended = [(int(row[4]) + int(row[5]) / 1e6, row) for row in rows if row[2].isdigit()]
    if not ended:
        raise RunError("pgbench has logged no transaction")
    start = min(end - int(row[2]) / 1e6 for end, row in ended)
    found: dict[str, list[float]] = {READ: [], UPDATE: []}
    for end, row in ended:
        # By arrival: the window has all that arrived in it, however long it took.
        if end - int(row[2]) / 1e6 - start >= load.warm_up:
            found[UPDATE if row[3] == "0" else READ].append(int(row[2]) / 1e6)
    return found

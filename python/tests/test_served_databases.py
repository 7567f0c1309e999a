"""Do ext4, SQLite and PostgreSQL keep what they committed when a served drive is killed, or its power cut?"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interpulse._core import RunError
from interpulse.blockdevice import filesystem
from interpulse.blockdevice.postgres import Cluster
from interpulse.blockdevice.requirements import FILE_SYSTEM, POSTGRESQL, missing
from tests import sqlite_client
from tests.nbd_server import DRIVE, PATIENCE, Served, cut_power, serving
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

UNPROTECTED = DRIVE + '[power-loss]\nat = "10d"\noff-for = "1h"\n[cache]\nprotected = false\n'
"""A drive whose cache forgets what no flush covers. In real time it stays off after a cut, as its machine does."""

SETTINGS = {"shared_buffers": "16MB", "max_wal_size": "64MB", "checkpoint_timeout": "30s"}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that PostgreSQL's account can reach; those of pytest are closed to others."""
    lacking = missing(FILE_SYSTEM)
    if lacking:
        pytest.skip("; ".join(lacking))
    path = Path(tempfile.mkdtemp(prefix="interpulse-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@contextmanager
def mounted(folder: Path, *, fresh: bool, cut: bool = False) -> Iterator[tuple[Served, Path]]:
    """A server with a mounted ext4, which is checked before and after its use; with `cut` its power can be cut."""
    options = ["--backing", "data", "--no-state", "--json"]
    if cut:
        options += ["--pace", "real", "--web", "127.0.0.1:0"]
    with (
        serving(folder, *options, config=UNPROTECTED if cut else DRIVE) as server,
        on_device(folder, server, fresh=fresh) as place,
    ):
        yield server, place


@contextmanager
def on_device(folder: Path, server: Served, *, fresh: bool) -> Iterator[Path]:
    with filesystem.block_device(server.uri, folder) as device:
        if fresh:
            filesystem.make(device)
        filesystem.check(device)
        with filesystem.mounted(device, folder) as place:
            yield place
        if server.process.poll() is None:
            filesystem.check(device)


def test_files_of_ext4_are_there_after_a_restart(folder: Path) -> None:
    draw = random.Random(5)
    files = {f"{number}": draw.randbytes(draw.randrange(200_000)) for number in range(100)}
    with mounted(folder, fresh=True) as (server, place):
        for name, content in files.items():
            with (place / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        for name in [name for name in files if draw.random() < 0.5]:
            (place / name).unlink()
            del files[name]
        subprocess.run(["sync", "-f", place], check=True)
        filesystem.unmount(place)
        flushes = json.loads(server.end())["operations"]["flush"]["commands"]
        assert flushes > 10, "`fsync` of a file must reach the drive"
    with mounted(folder, fresh=False) as (_, place):
        found = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    assert found == files


def test_a_protected_cache_gets_no_flush_and_ends_with_its_use(folder: Path) -> None:
    with serving(folder, "--json") as server:
        with filesystem.block_device(server.uri, folder) as device:
            setting = Path("/sys/block") / device.name / "queue" / "write_cache"
            with filesystem.protected_cache(device):
                filesystem.make(device)
                assert setting.read_text().strip() == "write through"
            assert setting.read_text().strip() == "write back"
        operations = json.loads(server.end())["operations"]
    assert operations["write"]["commands"] > 3
    # The loop device itself flushes when it is detached.
    assert operations["flush"]["commands"] <= 2


def kill(server: Served, *, cut: bool) -> None:
    """Kills the server; with `cut` after the power of its drive, which stays off until then."""
    if cut:
        cut_power(server)
    server.process.kill()


def sqlite_kills(folder: Path, rounds: int, journal: str, *, cut: bool = False) -> None:
    """Kills servers under transfers, with `cut` after a power cut; every committed transfer is there afterwards."""
    draw = random.Random(6)
    committed = 0
    for number in range(rounds):
        with mounted(folder, fresh=number == 0, cut=cut) as (server, place):
            if committed:
                assert sqlite_client.problems(str(place / "db"), committed) == []
                committed = last_transfer(place / "db")
            line = [sys.executable, "-m", "tests.sqlite_client", str(place / "db"), journal, str(committed + 1)]
            client = subprocess.Popen(
                line, cwd=ROOT / "python", stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            assert client.stdout is not None
            stop = committed + draw.randrange(20, 200)
            for printed in client.stdout:
                committed = int(printed)
                if committed == stop:
                    kill(server, cut=cut)
            _, said = client.communicate(timeout=PATIENCE)
            assert server.process.wait(timeout=PATIENCE) == -signal.SIGKILL, said
            assert committed >= stop, said
    with mounted(folder, fresh=False) as (_, place):
        assert sqlite_client.problems(str(place / "db"), committed) == []


def last_transfer(path: Path) -> int:
    """The number of the last transfer, which may be one whose answer was lost."""
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("select max(id) from transfer").fetchone()[0])


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_sqlite_keeps_committed_transfers_when_the_server_is_killed(folder: Path, journal: str) -> None:
    sqlite_kills(folder, 2, journal)


@pytest.mark.verify
@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("cut", [False, True])
def test_sqlite_keeps_committed_transfers_over_20_kills(folder: Path, journal: str, *, cut: bool) -> None:
    sqlite_kills(folder, 20, journal, cut=cut)


def test_sqlite_keeps_committed_transfers_when_the_power_of_an_unprotected_drive_is_cut(folder: Path) -> None:
    sqlite_kills(folder, 2, "wal", cut=True)


@pytest.fixture
def cluster(folder: Path) -> Cluster:
    lacking = missing(POSTGRESQL)
    if lacking:
        pytest.skip("; ".join(lacking))
    return Cluster(folder / "mount" / "cluster", SETTINGS)


BALANCED = """with noted as (select coalesce(sum(delta), 0) as amount from pgbench_history)
select (select sum(abalance) from pgbench_accounts) = (select amount from noted)
and (select sum(tbalance) from pgbench_tellers) = (select amount from noted)
and (select sum(bbalance) from pgbench_branches) = (select amount from noted)"""
"""Whether pgbench's transactions are there whole or not at all."""


def postgresql_kills(folder: Path, cluster: Cluster, rounds: int, *, cut: bool = False) -> None:
    """Kills servers under pgbench and inserts of four sessions, which are there afterwards if they were committed."""
    draw = random.Random(7)
    committed: set[int] = set()
    for number in range(rounds + 1):
        with mounted(folder, fresh=number == 0, cut=cut) as (server, _):
            if number == 0:
                cluster.create()
            with cluster.running():
                if number == 0:
                    cluster.bench("-i", "-s", "1", "-q")
                    cluster.sql("create table noted (id bigint primary key, filler text); checkpoint")
                cluster.check()
                assert cluster.sql(BALANCED).strip() == "t"
                there = {int(line) for line in cluster.sql("select id from noted").split()}
                assert committed <= there
                if number == rounds:
                    break
                after = draw.uniform(0.5, 2.0)
                committed |= inserts_until_killed(cluster, server, after, 1_000_000 * number, cut=cut)
                cluster.kill()
    assert len(committed) > 20 * rounds


def inserts_until_killed(cluster: Cluster, server: Served, after: float, first: int, *, cut: bool) -> set[int]:
    """Inserts by four sessions beside pgbench; the server is killed after some seconds. Returns what was committed."""
    committed: set[int] = set()
    sessions = [cluster.session() for _ in range(4)]

    def insert(session: subprocess.Popen[str], number: int) -> None:
        assert session.stdin is not None
        assert session.stdout is not None
        with suppress(BrokenPipeError):
            while True:
                session.stdin.write(f"insert into noted values ({number}, repeat('x', 500)) returning id;\n")
                session.stdin.flush()
                # Printed when the command is complete, which is after the commit.
                if session.stdout.readline().strip() != str(number):
                    return
                committed.add(number)
                number += 1

    def load() -> None:
        with suppress(RunError):
            cluster.bench("-c", "4", "-j", "1", "-T", "60", "-n")

    threads = [
        threading.Thread(target=insert, args=(session, first + 100_000 * number))
        for number, session in enumerate(sessions)
    ]
    threads.append(threading.Thread(target=load))
    for thread in threads:
        thread.start()
    time.sleep(after)
    kill(server, cut=cut)
    server.process.wait(timeout=PATIENCE)
    cluster.kill()
    for session in sessions:
        session.kill()
        session.wait(timeout=PATIENCE)
    for thread in threads:
        thread.join(timeout=PATIENCE)
        assert not thread.is_alive()
    for session in sessions:
        for pipe in (session.stdin, session.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):
                pipe.close()
    return committed


def test_postgresql_keeps_commits_when_the_server_is_killed(folder: Path, cluster: Cluster) -> None:
    postgresql_kills(folder, cluster, 1)


@pytest.mark.verify
@pytest.mark.parametrize("cut", [False, True])
def test_postgresql_keeps_commits_over_10_kills(folder: Path, cluster: Cluster, *, cut: bool) -> None:
    postgresql_kills(folder, cluster, 10, cut=cut)

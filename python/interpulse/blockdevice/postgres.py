"""PostgreSQL with its data in a given folder, on a socket of its own."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from interpulse._core import RunError
from interpulse.blockdevice.commands import account, environment, give, run, start
from interpulse.blockdevice.requirements import program

USER = "postgres"
"""Account of the server and role in the database; PostgreSQL refuses root."""

READY = "database system is ready to accept connections"
"""Line of the server's log."""

PATIENCE = 120.0
"""Most seconds that a start or a stop may take."""

POLL = 0.02


@dataclass
class Cluster:
    """A database cluster.

    Attributes:
        data: folder of the cluster.
        settings: of the server, by name.
    """

    data: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    _sockets: Path = field(init=False)
    _server: subprocess.Popen[bytes] = field(init=False)

    def create(self) -> None:
        """Makes an empty cluster, which is durable."""
        self.data.mkdir()
        give(self.data, USER)
        run("initdb", "-D", self.data, "-U", USER, "--auth=trust", "--data-checksums", user=USER)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Starts the server and stops it in the end, at once where a normal stop fails.

        Raises:
            RunError: the server does not start; the message has the end of its log.
        """
        self._sockets = Path(tempfile.mkdtemp(prefix="interpulse-pg-"))
        try:
            give(self._sockets, USER)
            self._start()
            try:
                yield
            finally:
                self._stop()
        finally:
            shutil.rmtree(self._sockets, ignore_errors=True)

    def _start(self) -> None:
        given = {"listen_addresses": "", "unix_socket_directories": str(self._sockets), **self.settings}
        line = [program("postgres"), "-D", str(self.data)]
        for name, value in given.items():
            line += ["-c", f"{name}={value}"]
        path = self._sockets / "log"
        with path.open("w") as log:
            # A child of this process, not of `pg_ctl`: one that nobody waits for looks alive to the next server.
            self._server = subprocess.Popen(
                line,
                env=environment(),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **account(USER),
            )
        began = time.monotonic()
        while READY not in path.read_text(encoding="utf-8"):
            late = time.monotonic() - began > PATIENCE
            if late or self._server.poll() is not None:
                self.kill()
                raise RunError(f"PostgreSQL does not start: {path.read_text(encoding='utf-8').strip()[-2000:]}")
            time.sleep(POLL)

    def _stop(self) -> None:
        if self._server.poll() is None:
            self._server.send_signal(signal.SIGINT)
        try:
            self._server.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends the server at once and without a shutdown, as where its device has failed."""
        if self._server.poll() is None:
            self._server.send_signal(signal.SIGQUIT)
        try:
            self._server.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait(timeout=PATIENCE)

    def sql(self, text: str) -> str:
        """Runs SQL and returns its rows, unaligned."""
        return run("psql", *self._address(), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", text, user=USER)

    def session(self) -> subprocess.Popen[str]:
        """A psql that reads SQL from its standard input and prints rows, unaligned."""
        line = ("psql", *self._address(), "-X", "-q", "-A", "-t")
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        return start(*line, stdin=pipe, stdout=pipe, stderr=nothing, user=USER)

    def bench(self, *options: str, folder: Path | None = None) -> str:
        """Runs pgbench and returns what it prints."""
        return run("pgbench", *self._address(), *options, folder=folder, user=USER, patience=3600)

    def bench_process(self, folder: Path, *options: str) -> subprocess.Popen[str]:
        """Starts pgbench; its logs of transactions are files of `folder`, which its account must be able to write."""
        line = ("pgbench", *self._address(), *options)
        pipe, both = subprocess.PIPE, subprocess.STDOUT
        return start(*line, stdin=subprocess.DEVNULL, stdout=pipe, stderr=both, folder=folder, user=USER)

    def check(self) -> str:
        """Checks every table and index with pg_amcheck, heap against index; raises RunError for damage."""
        self.sql("create extension if not exists amcheck")
        return run("pg_amcheck", *self._address(), "--heapallindexed", "--parent-check", "postgres", user=USER)

    def _address(self) -> list[str]:
        return ["-h", str(self._sockets), "-U", USER]

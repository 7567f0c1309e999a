"""A cluster of Dask for tests: a scheduler and workers, each a process of its own, on addresses of this machine."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NODES = ("127.0.0.1", "127.0.0.2")


@dataclass
class TestCluster:
    """A scheduler and its workers.

    Attributes:
        address: of the scheduler.
        workers: the processes of the workers, by the address of their node.
        settings: what a client needs in its environment to be let in.
    """

    __test__ = False

    folder: Path
    address: str = ""
    workers: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    scheduler: subprocess.Popen[bytes] | None = None
    options: tuple[str, ...] = ()
    """Further ones of `dask worker`."""

    def start_worker(self, node: str, **environment: str) -> subprocess.Popen[bytes]:
        """Another worker on a node, of one thread."""
        options = (
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--host",
            node,
            "--local-directory",
            str(self.folder),
        )
        every = (self.address, *options, *self.options)
        self.workers[node] = self._process("distributed.cli.dask_worker", *every, **environment)
        return self.workers[node]

    def start_scheduler(self) -> None:
        """The scheduler; returns when its address is known."""
        file = self.folder / "scheduler.json"
        protocol = "tls" if self.settings else "tcp"
        options = ("--port", "0", "--no-dashboard", "--host", NODES[0], "--scheduler-file", str(file))
        self.scheduler = self._process("distributed.cli.dask_scheduler", *options, "--protocol", protocol)
        end = time.monotonic() + 60
        while not file.exists() and time.monotonic() < end and self.scheduler.poll() is None:
            time.sleep(0.05)
        import json

        while not self.address:
            try:
                self.address = json.loads(file.read_text())["address"]
            except ValueError:  # It is being written.
                time.sleep(0.05)

    def end(self) -> None:
        """Kills what is left."""
        for process in (*self.workers.values(), *([self.scheduler] if self.scheduler else ())):
            process.kill()
            process.wait()

    def _process(self, module: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        seen = os.environ | {"PYTHONPATH": str(ROOT / "python")} | self.settings | environment
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen([sys.executable, "-m", module, *options], env=seen, stdout=log, stderr=log)


@contextmanager
def started(folder: Path, *, tls: bool, cache: Path, options: tuple[str, ...] = ()) -> Iterator[TestCluster]:
    """A cluster of two nodes with a worker each, over TLS or not; the nodes share a cache folder."""
    folder.mkdir(parents=True, exist_ok=True)
    cluster = TestCluster(folder, settings=_certificates(folder) if tls else {}, options=options)
    with ExitStack() as ends:
        ends.callback(cluster.end)
        cluster.start_scheduler()
        for node in NODES:
            cluster.start_worker(node, INTERPULSE_CACHE_DIR=str(cache))
        yield cluster


def _certificates(folder: Path) -> dict[str, str]:
    """Dask's own settings for a certificate made for this test."""
    from distributed import Security

    made = Security.temporary()
    certificate, key = folder / "cert.pem", folder / "key.pem"
    certificate.write_text(made.tls_client_cert)
    key.write_text(made.tls_client_key)
    before = "DASK_DISTRIBUTED__COMM__TLS__"
    found = {f"{before}CA_FILE": str(certificate), "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "true"}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        found |= {f"{before}{role}__CERT": str(certificate), f"{before}{role}__KEY": str(key)}
    return found

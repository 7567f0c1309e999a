"""A PostgreSQL server for tests, from the programs of Debian's package `postgresql`: its own folder, on 127.0.0.1."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "me"
PASSWORD = "not-to-be-shown"
DATABASE = "studies"


@dataclass
class Server:
    """A server that runs.

    Attributes:
        url: of its database.
    """

    url: str
    stop: ExitStack


@contextmanager
def started() -> Iterator[Server]:
    """A server with an empty database, which knows who asks by a password. Skips where it is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    path = os.pathsep.join([*map(str, reversed(found)), os.environ["PATH"]])
    missing = [name for name in ("initdb", "pg_ctl", "createdb") if shutil.which(name, path=path) is None]
    if missing:
        pytest.skip(f"there is no {' and no '.join(missing)} here: apt-get install postgresql")
    pytest.importorskip("psycopg", reason="pip install 'psycopg[binary]'")
    with ExitStack() as ends:
        # Not below the folder of the tests: a server refuses to be root, and root's folders are closed to others.
        folder = Path(
            ends.enter_context(tempfile.TemporaryDirectory(prefix="interpulse-pg-", ignore_cleanup_errors=True))
        )
        (folder / "password").write_text(PASSWORD)
        who: dict[str, Any] = {}
        if os.geteuid() == 0:
            other = pwd.getpwnam("postgres")
            who = {"user": other.pw_uid, "group": other.pw_gid}
            for each in (folder, folder / "password"):
                os.chown(each, other.pw_uid, other.pw_gid)

        def run(*command: str) -> None:
            environment = os.environ | {"PATH": path, "PGPASSWORD": PASSWORD}
            ended = subprocess.run(
                command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=120, **who
            )
            assert ended.returncode == 0, ended.stdout + ended.stderr

        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        run("initdb", "-D", "data", "--auth=scram-sha-256", f"--username={USER}", "--pwfile=password")
        # What it says goes into a file: a server that has standard output of its starter keeps it open.
        run("pg_ctl", "-D", "data", "-l", "log", "-w", "-o", f"-h 127.0.0.1 -p {port} -k {folder}", "start")
        stop = ends.enter_context(ExitStack())
        stop.callback(run, "pg_ctl", "-D", "data", "-m", "immediate", "stop")
        run("createdb", "-h", "127.0.0.1", "-p", port, "-U", USER, DATABASE)
        yield Server(f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{port}/{DATABASE}", stop)

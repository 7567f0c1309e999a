"""`interpulse serve` as a process of the tests, and the clients that they start."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Self

DRIVE = 'drive = "a4-mini"\npart.blocks-per-plane = 24\nprecondition.fill = 0.0\n'
"""A drive of some 600 MB that is empty, and therefore ready at once."""

PATIENCE = 120
"""Seconds that a server or a client may take."""


class Served:
    """A running server, whose output is in files."""

    def __init__(self, folder: Path, *options: str, config: str = DRIVE) -> None:
        self.folder = folder
        (folder / "drive.toml").write_text(config)
        line = [sys.executable, "-m", "interpulse", "serve", "drive.toml", *options]
        settings = {"PYTHONPATH": str(ROOT / "python"), "INTERPULSE_CACHE_DIR": str(folder / "cache")}
        with (folder / "out").open("w") as out, (folder / "log").open("w") as log:
            # A session of its own: Ctrl-C of the tests does not reach it.
            self.process = subprocess.Popen(
                line, cwd=folder, env=os.environ | settings, stdout=out, stderr=log, start_new_session=True
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Kills it, whatever has happened."""
        self.process.kill()
        self.process.wait(timeout=PATIENCE)

    @property
    def log(self) -> str:
        """Standard error until now."""
        return (self.folder / "log").read_text()

    def wait(self) -> tuple[int, str, str]:
        """Waits for its end; exit code, standard output and standard error."""
        code = self.process.wait(timeout=PATIENCE)
        return code, (self.folder / "out").read_text(), self.log

    @property
    def uri(self) -> str:
        """The first address, once it listens."""
        began = time.monotonic()
        while not (found := re.search(r"^nbd\S*://.*$", self.log, re.MULTILINE)):
            assert self.process.poll() is None, self.log
            assert time.monotonic() - began < PATIENCE, self.log
            time.sleep(0.01)
        return found[0]

    @property
    def web(self) -> str:
        """`HOST:PORT` of the live view."""
        # It is printed last.
        began = time.monotonic()
        while not (found := re.search(r"^live view: http://(.*)/$", self.log, re.MULTILINE)):
            assert time.monotonic() - began < PATIENCE, self.log
            time.sleep(0.01)
        return found[1]

    @property
    def size(self) -> int:
        """Bytes of the export, as the server prints them."""
        found = re.search(r"([\d,]+) bytes at pace", self.log)
        assert found, self.log
        return int(found[1].replace(",", ""))

    def end(self) -> str:
        """Ends the server as Ctrl-C does, and returns what it prints."""
        self.process.send_signal(signal.SIGINT)
        code, out, log = self.wait()
        assert code == 0, log
        return out


@contextmanager
def started(folder: Path, *options: str, config: str = DRIVE) -> Iterator[Served]:
    """A server that is killed in the end, whatever happens."""
    with Served(folder, *options, config=config) as server:
        yield server


@contextmanager
def serving(folder: Path, *options: str, config: str = DRIVE) -> Iterator[Served]:
    """A server that listens on a socket in `folder`, at the highest pace unless `options` say otherwise."""
    pace = [] if "--pace" in options else ["--pace", "max"]
    with started(folder, "--listen", "unix:socket", *pace, *options, config=config) as server:
        assert server.uri
        yield server


def cut_power(server: Served) -> dict[str, Any]:
    """Cuts the power of a drive with a live view; returns the cuts so far when its data are those after the cut."""
    fields = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"http://{server.web}/power-cut", b"{}", fields)
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        cuts: dict[str, Any] = json.load(answer)
    return cuts


def client(name: str, *arguments: str, folder: Path) -> str:
    """Runs a client in `folder` and returns its output; skips the test where it is not installed."""
    if shutil.which(name) is None:
        package = {"nbdinfo": "libnbd-bin", "nbdcopy": "libnbd-bin", "qemu-img": "qemu-utils"}.get(name, name)
        pytest.skip(f"there is no {name} here: apt-get install {package}")
    done = subprocess.run([name, *arguments], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Client:
    """A client of the protocol, in plain sockets: the newest options are left out."""

    def __init__(self, folder: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE)
        here = os.open(folder, os.O_RDONLY)
        # A relative path, since those of sockets are short.
        self.socket.connect(f"/proc/self/fd/{here}/socket")
        os.close(here)
        self.read(18)
        self.socket.sendall(struct.pack(">IQII", 3, 0x49484156454F5054, 1, 5) + b"drive")
        self.read(10)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise ConnectionResetError
            data += part
        return data

    def request(self, kind: int, offset: int, length: int, data: bytes = b"", flags: int = 0) -> bytes:
        self.socket.sendall(struct.pack(">IHHQQI", 0x25609513, flags, kind, 0, offset, length) + data)
        magic, error, _ = struct.unpack(">IIQ", self.read(16))
        assert (magic, error) == (0x67446698, 0)
        return self.read(length) if kind == 0 else b""

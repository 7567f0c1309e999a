"""Do unmodified programs use a served drive as a block device, and is nothing lost that they made durable?"""

from __future__ import annotations

import ipaddress
import json
import os
import random
import signal
import socket
import struct
import time
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

import psutil
import pytest

import interpulse
from tests.nbd_server import DRIVE, PATIENCE, client, serving, started

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

MIB = 1 << 20

MOST_START_S = float("inf") if os.environ.get("INTERPULSE_VERIFY") is None else 5.0
"""Seconds that a start may take; speed is judged in `make verify` alone."""


def test_nbdinfo_sees_the_export(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        info = json.loads(client("nbdinfo", "--json", server.uri, folder=tmp_path))
        export = info["exports"][0]
        assert info["structured"]
        assert export["export-name"] == "drive"
        assert export["export-size"] == server.size
        assert (export["block_size_minimum"], export["block_size_preferred"], export["block_size_maximum"]) == (
            512,
            4096,
            32 * MIB,
        )
        able = ("can_flush", "can_fua", "can_trim", "can_zero", "can_fast_zero", "can_multi_conn", "can_df")
        assert all(export[name] for name in able)
        assert not export["is_read_only"]
        listed = client("nbdinfo", "--list", server.uri, folder=tmp_path)
        assert 'export="drive"' in listed


def test_nbdcopy_and_qemu_img_read_what_they_wrote(tmp_path: Path) -> None:
    with serving(tmp_path, "--backing", "data") as server:
        draw = random.Random(1)
        # Data, holes between them, and zeroes that are written.
        image = b"".join(draw.choice((draw.randbytes(MIB), bytes(MIB))) for _ in range(64))
        (tmp_path / "image").write_bytes(image + bytes(server.size - len(image)))
        client("nbdcopy", "image", server.uri, folder=tmp_path)
        client("nbdcopy", server.uri, "copy", folder=tmp_path)
        assert (tmp_path / "copy").read_bytes() == (tmp_path / "image").read_bytes()
        assert client("qemu-img", "compare", "-f", "raw", "-F", "raw", "image", server.uri, folder=tmp_path)
        mapped = json.loads(client("nbdinfo", "--map", "--json", server.uri, folder=tmp_path))
        assert sum(extent["length"] for extent in mapped) == server.size
        assert any(extent["type"] == 3 for extent in mapped), "holes stay holes"
        assert "latency in drive time" in server.end()
    held = (tmp_path / "data").stat().st_blocks * 512
    assert held < 100 * MIB, "the file is sparse"


def test_qemu_img_converts_and_measures(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        client("qemu-img", "create", "-f", "raw", "image", "32M", folder=tmp_path)
        (tmp_path / "image").write_bytes(random.Random(2).randbytes(32 * MIB))
        client("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", "image", server.uri, folder=tmp_path)
        client("nbdcopy", server.uri, "copy", folder=tmp_path)
        assert (tmp_path / "copy").read_bytes()[: 32 * MIB] == (tmp_path / "image").read_bytes()
        options = ("-c", "5000", "-d", "32", "-s", "4096", "-t", "none", "-w", "-f", "raw")
        assert "Run completed" in client("qemu-img", "bench", *options, server.uri, folder=tmp_path)


@pytest.mark.parametrize("jobs", [1, 8])
def test_fio_verifies_what_it_writes(tmp_path: Path, jobs: int) -> None:
    """Random writes, reads and trims by several connections, each checked by its checksum."""
    with serving(tmp_path) as server:
        options = [
            "--name=verify",
            "--ioengine=nbd",
            f"--uri={server.uri}",
            f"--numjobs={jobs}",
            "--size=8M",
            "--offset_increment=8M",
            "--bs=4k",
            "--iodepth=16",
            "--verify=crc32c",
            "--verify_fatal=1",
            "--rw=randwrite",
            "--do_verify=1",
            "--fsync=64",
            "--output-format=json",
        ]
        output = client("fio", *options, folder=tmp_path)
        found = json.loads(output[output.index("{") :])["jobs"]
        assert all(job["error"] == 0 for job in found)
        assert sum(job["read"]["total_ios"] for job in found) == jobs * 2048
        mixed = [*options[:8], "--rw=randtrimwrite", "--output-format=json"]
        client("fio", *mixed, folder=tmp_path)


def test_a_record_of_a_session_replays(tmp_path: Path) -> None:
    with serving(tmp_path, "--record", "session.trace", "--json") as server:
        (tmp_path / "image").write_bytes(random.Random(3).randbytes(8 * MIB))
        client("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", "image", server.uri, folder=tmp_path)
        report = json.loads(server.end())
    writes = report["operations"]["write"]
    assert report["recorded"] >= writes["commands"] > 0
    replay = f'{DRIVE}[[flow]]\nname = "replay"\ntrace = "{tmp_path / "session.trace"}"\n'
    replayed = interpulse.run(interpulse.Config.from_toml(replay)).raw
    assert replayed["counters"]["host"]["written_bytes"] == writes["bytes"] >= 8 * MIB


def kills(folder: Path, rounds: int) -> None:
    """Kills servers that write; what was durable before each kill is there after it, and a server starts within 5 s."""
    draw = random.Random(4)
    expected: dict[int, bytes] = {}
    durable = 0
    for _ in range(rounds):
        began = time.monotonic()
        with serving(folder, "--backing", "data", "--no-state") as server:
            took = time.monotonic() - began
            assert read_all(folder, expected) == expected
            durable += write_until_killed(folder, server.process.pid, draw, expected)
            server.process.wait(timeout=PATIENCE)
            assert took < MOST_START_S
    with serving(folder, "--backing", "data", "--no-state"):
        assert read_all(folder, expected) == expected
    assert durable > rounds


def test_what_was_durable_survives_a_kill(tmp_path: Path) -> None:
    kills(tmp_path, 3)


@pytest.mark.verify
@pytest.mark.timeout(1800)
def test_what_was_durable_survives_200_kills(tmp_path: Path) -> None:
    kills(tmp_path, 200)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--listen", "tcp:0.0.0.0:10809"], "other machines reach this address"),
        (["--listen", "nonsense"], "unix:PATH or tcp:HOST:PORT"),
        (["--pace", "fast"], "legal: real, max"),
        (["--pace", "0"], "legal: real, max"),
        (["--backing", "."], "a folder"),
        (["--backing", "small"], "expected 616562688 bytes"),
        (["--record", "small"], "a record needs a new file"),
        (["--case", "other"], "other"),
        (["--connections", "0"], "connections"),
        (["--set", "ftl.family=zoned"], "zoned"),
    ],
)
def test_wrong_input_is_refused(tmp_path: Path, options: list[str], expected: str) -> None:
    (tmp_path / "small").write_bytes(bytes(4096))
    listen = [] if "--listen" in options else ["--listen", "unix:socket"]
    with started(tmp_path, *listen, *options) as server:
        code, out, err = server.wait()
    assert code == 2, err
    assert expected in err
    assert out == ""
    assert (tmp_path / "small").read_bytes() == bytes(4096)
    assert not (tmp_path / "socket").exists()


def test_it_listens_on_loopback_alone(tmp_path: Path) -> None:
    with started(tmp_path, "--listen", "tcp:localhost:0", "--pace", "max") as server:
        uri = server.uri
        sockets = psutil.Process(server.process.pid).net_connections(kind="inet")
        listening = [each.laddr for each in sockets if each.status == psutil.CONN_LISTEN]
        assert len(listening) == 1
        assert ipaddress.ip_address(listening[0].ip).is_loopback
        assert f":{listening[0].port}/" in uri


def test_a_second_server_of_the_same_file_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, "--backing", "data"):
        (tmp_path / "other").mkdir()
        with started(tmp_path / "other", "--backing", "../data", "--listen", "unix:socket") as second:
            code, _, err = second.wait()
        assert code == 2
        assert "another server uses it" in err


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


def read_all(folder: Path, expected: dict[int, bytes]) -> dict[int, bytes]:
    with Client(folder) as reader:
        return {offset: reader.request(0, offset, len(data)) for offset, data in expected.items()}


def write_until_killed(folder: Path, pid: int, draw: random.Random, expected: dict[int, bytes]) -> int:
    """Writes blocks that are durable until a kill at a random moment; `expected` then has what was acknowledged."""
    durable, end = 0, draw.randrange(20, 200)
    waiting: dict[int, bytes] = {}
    with Client(folder) as writer, suppress(ConnectionResetError, BrokenPipeError):
        for step in count():
            if step == end:
                os.kill(pid, signal.SIGKILL)
            offset, data = draw.randrange(1000) * 4096, draw.randbytes(4096)
            # What is overwritten may be there or not until the new data are durable.
            expected.pop(offset, None)
            waiting.pop(offset, None)
            if step % 3 == 0:
                writer.request(1, offset, 4096, data, flags=1)
                expected[offset] = data
                durable += 1
                continue
            writer.request(1, offset, 4096, data)
            waiting[offset] = data
            if step % 9 == 1:
                writer.request(3, 0, 0)
                expected |= waiting
                durable += len(waiting)
                waiting.clear()
    return durable

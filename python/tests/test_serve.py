"""Do unmodified programs use a served drive as a block device, and is nothing lost that they made durable?"""

from __future__ import annotations

import ipaddress
import json
import random
from typing import TYPE_CHECKING

import psutil
import pytest

import interpulse
from tests.nbd_server import DRIVE, client, serving, started

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20


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

"""Does a full disk under a served drive reach the client as ENOSPC, with the data before it intact?"""

from __future__ import annotations

import errno
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.nbd_server import Client, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BLOCK = 64 << 10


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted here: it needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def write(client: Client, offset: int, data: bytes) -> int:
    """Writes with FUA and returns the error of the reply."""
    client.socket.sendall(struct.pack(">IHHQQI", 0x25609513, 1, 1, 7, offset, len(data)) + data)
    magic, error, cookie = struct.unpack(">IIQ", client.read(16))
    assert (magic, cookie) == (0x67446698, 7)
    return int(error)


def block(number: int) -> bytes:
    return bytes([number + 1]) * BLOCK


def test_a_full_disk_is_an_error_of_the_write_alone(tmp_path: Path, small_disk: Path) -> None:
    with serving(tmp_path, "--backing", str(small_disk / "data"), "--no-state") as server:
        with Client(tmp_path) as client:
            errors = [write(client, number * BLOCK, block(number)) for number in range(32)]
            stored = errors.index(errno.ENOSPC)
            assert 8 < stored <= 16
            assert errors[:stored] == [0] * stored
            assert set(errors[stored:]) == {errno.ENOSPC}
            for number in range(stored):
                assert client.request(0, number * BLOCK, BLOCK) == block(number)
            client.request(3, 0, 0)
            # A trim makes room again.
            client.request(4, 0, 2 * BLOCK)
            assert write(client, 100 * BLOCK, block(100)) == 0
            assert client.request(0, 100 * BLOCK, BLOCK) == block(100)
            assert client.request(0, 0, BLOCK) == bytes(BLOCK)
        server.end()

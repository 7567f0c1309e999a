"""Does a guest of qemu keep ext4 and SQLite on a served drive, as its NVMe drive and as its virtio disk?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import guest
from tests.nbd_server import serving

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = ("mkfs.ext4", "e2fsck", "sqlite3")

FIRST = """
set -e
mkfs.ext4 -q -F DEVICE
mount -t ext4 DEVICE /mnt
dd if=/dev/urandom of=/mnt/file bs=64k count=40 conv=fsync 2>/dev/null
md5sum < /mnt/file > /mnt/sum
sqlite3 /mnt/db 'pragma synchronous=extra; create table t (id integer primary key, filler)'
for number in $(seq 1 20); do
    sqlite3 /mnt/db "pragma synchronous=extra; insert into t values ($number, randomblob(3000))"
done
sync
fstrim /mnt
umount /mnt
e2fsck -fn DEVICE
"""

SECOND = """
set -e
e2fsck -fn DEVICE
mount -t ext4 DEVICE /mnt
[ "$(md5sum < /mnt/file)" = "$(cat /mnt/sum)" ]
echo "integrity: $(sqlite3 /mnt/db 'pragma integrity_check')"
echo "rows: $(sqlite3 /mnt/db 'select count(*), sum(length(filler)) from t')"
umount /mnt
"""


def boots(folder: Path, device: str, scripts: tuple[str, ...]) -> str:
    """A guest for each script, each on a server of its own; returns the console of the last."""
    name = {"nvme": "/dev/nvme0n1", "virtio-blk": "/dev/vda"}[device]
    for number, script in enumerate(scripts):
        with serving(folder, "--backing", "data", "--no-state") as server:
            place = folder / f"guest-{number}"
            place.mkdir()
            uri = server.uri.replace("socket=socket", "socket=../socket")
            console = guest.run(place, uri, script.replace("DEVICE", name), PROGRAMS, device)
            assert "guest: exit code 0" in console, console
            report = server.end()
            if number == 0:
                assert all(operation in report for operation in ("read", "write", "trim", "flush")), report
    return console


def test_a_guest_makes_an_ext4_on_an_nvme_drive(tmp_path: Path) -> None:
    boots(tmp_path, "nvme", (FIRST,))


@pytest.mark.verify
@pytest.mark.parametrize("device", ["nvme", "virtio-blk"])
def test_a_guest_finds_its_files_after_a_restart(tmp_path: Path, device: str) -> None:
    console = boots(tmp_path, device, (FIRST, SECOND))
    assert "integrity: ok" in console
    assert "rows: 20|60000" in console

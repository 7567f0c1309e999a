"""Programs and rights that a file system on a served drive needs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from interpulse._core import ConfigError

PACKAGES = {
    "nbdfuse": "libnbd-bin",
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
    "mkfs.ext4": "e2fsprogs",
    "e2fsck": "e2fsprogs",
    "initdb": "postgresql",
    "postgres": "postgresql",
    "pg_amcheck": "postgresql",
    "pgbench": "postgresql-contrib",
    "psql": "postgresql-client",
    "db_bench": "rocksdb-tools",
    "fstrim": "util-linux",
}
"""Debian's packages by program."""

FILE_SYSTEM = ("nbdfuse", "losetup", "mount", "umount", "mkfs.ext4", "e2fsck")
POSTGRESQL = ("initdb", "postgres", "pg_amcheck", "pgbench", "psql")

DEVICES = ("/dev/fuse", "/dev/loop-control")

CAP_SYS_ADMIN = 21
"""Bit of the capability that mounts need."""


def path() -> str:
    """Search path: the newest PostgreSQL first, then PATH and the folders of system programs."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: float(each.parent.name), reverse=True)
    return os.pathsep.join([*map(str, found), os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def program(name: str) -> str:
    """Path of a program.

    Raises:
        ConfigError: it is not installed; the message names Debian's package.
    """
    found = shutil.which(name, path=path())
    if found is None:
        raise ConfigError(f"there is no {name} here: apt-get install {PACKAGES.get(name, name)}")
    return found


def missing(programs: Sequence[str]) -> list[str]:
    """What this machine lacks of programs, devices and rights, each as a phrase that says what to do."""
    lacking: dict[str, list[str]] = {}
    for name in programs:
        if shutil.which(name, path=path()) is None:
            lacking.setdefault(PACKAGES[name], []).append(name)
    lines = [f"there is no {' and no '.join(names)}: apt-get install {package}" for package, names in lacking.items()]
    lines += [f"there is no {device}" for device in DEVICES if not Path(device).exists()]
    if not may_mount():
        lines.append("mounting needs root (CAP_SYS_ADMIN)")
    return lines


def may_mount() -> bool:
    """Whether this process may mount file systems."""
    status = Path("/proc/self/status")
    if not status.exists():
        return False
    for line in status.read_text(encoding="ascii").splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> CAP_SYS_ADMIN & 1)
    return False


def require(purpose: str, programs: Sequence[str]) -> None:
    """Raises ConfigError where something is missing, with all of it."""
    lines = missing(programs)
    if lines:
        raise ConfigError(f"{purpose} cannot run here: {'; '.join(lines)}")

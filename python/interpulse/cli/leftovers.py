"""What a killed process leaves in a folder of `--out`: a file that it was writing, which the next run there removes.

The name says who writes: the boot of the machine and its space of process numbers, and the process. One that lives no
longer, or a file of an hour, is nobody's: a file is written within seconds.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

OLD_S = 3600.0

_PREFIX, _SUFFIX = ".interpulse-", ".tmp"


def affixes() -> tuple[str, str]:
    """How the name of a file that this process is writing begins and ends."""
    return f"{_PREFIX}{_place()}-{os.getpid()}-", _SUFFIX


def clear(folder: Path) -> None:
    """Removes files that nobody writes any more. One that cannot be removed stays: it does no harm."""
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError):
            known = path.lstat()
            if stat.S_ISREG(known.st_mode) and (_is_dead(path.name) or time.time() - known.st_mtime > OLD_S):
                path.unlink()


def _is_dead(name: str) -> bool:
    """Whether the process that the name says was of this machine and has ended."""
    place, _, rest = name.removeprefix(_PREFIX).partition("-")
    number = rest.partition("-")[0]
    processes = Path("/proc")
    known = place == _place() and number.isdecimal() and (processes / "self").exists()
    return known and not (processes / number).exists()


@cache
def _place() -> str:
    """This boot of this machine and the space that its process numbers are of: elsewhere they mean other processes."""
    found = ""
    with suppress(OSError):
        found = Path("/proc/sys/kernel/random/boot_id").read_text() + str(Path("/proc/self/ns/pid").readlink())
    return hashlib.sha256(found.encode()).hexdigest()[:16]

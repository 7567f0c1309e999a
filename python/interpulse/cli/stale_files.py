"""Stale files: partial files that a killed process left in a folder of `--out`; the next run there removes them.

A file's name holds its writer: machine boot and process namespace, then the process number. A file is stale if that
process has ended or the file is older than an hour: a write takes seconds.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

OLD_S = 3600.0

_PREFIX, _SUFFIX = ".interpulse-", ".tmp"

_NAME = re.compile(r"\.interpulse-[0-9a-f]{16}-[0-9]+-[a-z0-9_]+\.tmp")
"""A name as `affixes` and `tempfile` make it: namespace, process, random characters."""


def affixes() -> tuple[str, str]:
    """Prefix and suffix of the names of files that this process is writing."""
    return f"{_PREFIX}{_namespace()}-{os.getpid()}-", _SUFFIX


def clear(folder: Path) -> None:
    """Removes stale files; a file that cannot be removed is harmless and remains."""
    for path in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError):
            known = path.lstat()
            if (
                _NAME.fullmatch(path.name)
                and stat.S_ISREG(known.st_mode)
                and (_is_dead(path.name) or time.time() - known.st_mtime > OLD_S)
            ):
                path.unlink()


def _is_dead(name: str) -> bool:
    """Whether the writer in this file name ran on this machine and has ended."""
    namespace, _, rest = name.removeprefix(_PREFIX).partition("-")
    number = rest.partition("-")[0]
    processes = Path("/proc")
    known = namespace == _namespace() and number.isdecimal() and (processes / "self").exists()
    return known and not (processes / number).exists()


@cache
def _namespace() -> str:
    """Hash of the machine's boot and the process namespace, outside which process numbers have no meaning."""
    found = ""
    with suppress(OSError):
        found = Path("/proc/sys/kernel/random/boot_id").read_text() + str(Path("/proc/self/ns/pid").readlink())
    return hashlib.sha256(found.encode()).hexdigest()[:16]

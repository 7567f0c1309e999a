"""Where snapshots of preconditioned drives are kept, and how much of the disk they may take."""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from interpulse._core import ConfigError

RESULTS = ".results"
"""How the names of the files end that hold what studies have computed so far."""

MAKING = ".making"
"""How the names of the files end by which workers of a sweep take turns to make a snapshot."""

SUFFIXES = (".snapshot", ".tmp", RESULTS, MAKING)
"""How the names of the cache's files end: whole snapshots, unfinished ones, results, turns."""

SPOOL = "sweeps"
"""The folder of what a machine of a cluster keeps of each sweep until it has been fetched."""

DEFAULT_LIMIT_BYTES = 8 * 2**30

_MOST_BYTES = 2**64 - 1

_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGT", start=1)}
_UNITS |= {f"{prefix}B": 1000**power for power, prefix in enumerate("kMGT", start=1)}


@dataclass(frozen=True, kw_only=True)
class Cache:
    """The folder of snapshots and the most bytes it may hold."""

    folder: Path
    limit_bytes: int

    @classmethod
    def default(cls, folder: Path | None = None) -> Cache:
        """The cache in `folder`, or where the environment says, or in the user's cache folder.

        `INTERPULSE_CACHE_DIR` names the folder and `INTERPULSE_CACHE_LIMIT` the limit (`8GiB` unless set).

        Raises:
            ConfigError: the limit in the environment is not a size.
        """
        limit = os.environ.get("INTERPULSE_CACHE_LIMIT")
        return cls(
            folder=folder or _default_folder(),
            limit_bytes=DEFAULT_LIMIT_BYTES if limit is None else parse_size(limit, "INTERPULSE_CACHE_LIMIT"),
        )

    def files(self) -> list[tuple[Path, int]]:
        """The folder of each sweep, then the cache's files, with their sizes in bytes; empty without a folder."""
        found = [
            (path, sum(each.stat().st_size for each in path.rglob("*") if each.is_file()))
            for path in sorted((self.folder / SPOOL).glob("*"))
            if path.is_dir() and not path.is_symlink()
        ]
        for path in sorted(self.folder.glob("*")):
            # A run that goes on may rename or delete one while we look.
            with suppress(FileNotFoundError):
                if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink():
                    found.append((path, path.stat().st_size))
        return found

    def clear(self) -> int:
        """Deletes the cache's files, and nothing else in the folder; returns the bytes freed.

        Raises:
            OSError: a file could not be deleted.
        """
        files = self.files()
        for path, _ in files:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        return sum(size for _, size in files)


def _default_folder() -> Path:
    named = os.environ.get("INTERPULSE_CACHE_DIR")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "interpulse"


def parse_size(text: str, name: str) -> int:
    """Bytes from text such as `512MiB` or `8 GB`; `name` is what messages call the setting.

    Raises:
        ConfigError: the text is not a size, or more than a disk can hold.
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if match is None or match[2] not in _UNITS:
        units = ", ".join(unit for unit in _UNITS if unit)
        raise ConfigError(f"{name} = '{text}' is not a size: write a number and one of {units}")
    count = int(Decimal(match[1]) * _UNITS[match[2]])
    if count > _MOST_BYTES:
        raise ConfigError(f"{name} = '{text}' is too much: at most {_MOST_BYTES // 2**40}TiB")
    return count

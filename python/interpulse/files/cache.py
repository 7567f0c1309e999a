"""Snapshot cache: folder and size limit of preconditioned drives."""

from __future__ import annotations

import os

from interpulse._core import ConfigError
from interpulse.files.paths import as_path_has_it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

RESULTS = ".results"
"""Suffix of the stores of studies."""

MAKING = ".making"
"""Suffix of the locks of sweep workers that make a snapshot."""

SUFFIXES = (".snapshot", ".tmp", RESULTS, MAKING)
"""Suffixes of the files in the cache: snapshots, unfinished snapshots, stores, locks."""

SPOOL = "sweeps"
"""The folder where a machine of a cluster keeps the answers of a sweep until they are fetched."""

DEFAULT_LIMIT_BYTES = 8 * 2**30

_MOST_BYTES = 2**64 - 1

_UNITS = {"": 1, "B": 1}
_UNITS |= {f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGT", start=1)}
_UNITS |= {f"{prefix}B": 1000**power for power, prefix in enumerate("kMGT", start=1)}


class Cache:
    """The folder of snapshots and the most bytes it may hold."""

    def __init__(self, *, place: str, limit_bytes: int) -> None:
        self.place, self.limit_bytes = place, limit_bytes

    @property
    def folder(self) -> Path:
        """The place as a path."""
        from pathlib import Path

        return Path(self.place)

    @classmethod
    def default(cls, folder: Path | str | None = None) -> Cache:
        """The cache in `folder`, or where the environment says, or in the user's cache folder.

        `INTERPULSE_CACHE_DIR` names the folder and `INTERPULSE_CACHE_LIMIT` the limit (`8GiB` unless set).

        Raises:
            ConfigError: the limit in the environment is not a size.
        """
        limit = os.environ.get("INTERPULSE_CACHE_LIMIT")
        return cls(
            place=str(folder) if folder else _default_place(),
            limit_bytes=DEFAULT_LIMIT_BYTES if limit is None else parse_size(limit, "INTERPULSE_CACHE_LIMIT"),
        )

    def files(self) -> list[tuple[Path, int]]:
        """The folder of each sweep, then the cache's files, with their sizes in bytes; empty without a folder."""
        from contextlib import suppress

        found = [
            (path, sum(each.stat().st_size for each in path.rglob("*") if each.is_file()))
            for path in sorted((self.folder / SPOOL).glob("*"))
            if path.is_dir() and not path.is_symlink()
        ]
        for path in sorted(self.folder.glob("*")):
            # A concurrent run may rename or delete a file.
            with suppress(FileNotFoundError):
                if path.suffix in SUFFIXES and path.is_file() and not path.is_symlink():
                    found.append((path, path.stat().st_size))
        return found

    def clear(self) -> int:
        """Deletes the cache's files, and nothing else in the folder; returns the bytes freed.

        Raises:
            OSError: a file could not be deleted.
        """
        import shutil

        files = self.files()
        for path, _ in files:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        return sum(size for _, size in files)


def _default_place() -> str:
    named = os.environ.get("INTERPULSE_CACHE_DIR")
    if named:
        return as_path_has_it(named)
    base = os.environ.get("XDG_CACHE_HOME") or f"{_home()}/.cache"
    return as_path_has_it(f"{base}/interpulse")


def _home() -> str:
    home = os.path.expanduser("~")  # noqa: PTH111 - a run starts without pathlib
    if home != "~":
        return home
    from pathlib import Path

    return str(Path.home())  # Raises with the reason.


def parse_size(text: str, name: str) -> int:
    """Bytes from text such as `512MiB` or `8 GB`; `name` is what messages call the setting.

    Raises:
        ConfigError: the text is not a size, or more than a disk can hold.
    """
    import re

    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if match is None or match[2] not in _UNITS:
        units = ", ".join(unit for unit in _UNITS if unit)
        raise ConfigError(f"{name} = '{text}' is not a size: write a number and one of {units}")
    from decimal import Decimal

    count = int(Decimal(match[1]) * _UNITS[match[2]])
    if count > _MOST_BYTES:
        raise ConfigError(f"{name} = '{text}' is too much: at most {_MOST_BYTES // 2**40}TiB")
    return count

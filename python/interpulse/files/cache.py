"""Snapshot cache: folder and size limit of preconditioned drives."""

from __future__ import annotations

import os

from interpulse._core import ConfigError
from interpulse.files.paths import as_path_has_it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

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
        """The folder of each sweep, then the cache's own files, with their sizes in bytes; empty without a folder."""
        from interpulse.files.cache_contents import entries

        return [(each.path, each.size_bytes) for each in entries(self.folder)]

    def clear(self) -> int:
        """Deletes the cache's own files, and nothing else in the folder; returns the bytes freed.

        Raises:
            OSError: a file could not be deleted.
        """
        from interpulse.files.cache_contents import delete, entries

        found = entries(self.folder)
        for each in found:
            delete(each)
        return sum(each.size_bytes for each in found)


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

"""Contents of the cache folder: recognition, sizes and deletion of files that interpulse wrote, by name and content.

The folder may be shared with other programs, or be named by mistake. Links are neither followed nor deleted.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

RESULTS = ".results"
"""Suffix of the stores of studies."""

MAKING = ".making"
"""Suffix of the locks of sweep workers that make a snapshot."""

SPOOL = "sweeps"
"""The folder where a machine of a cluster keeps the answers of a sweep until they are fetched."""

_MAGIC = b"INTERPLS"
"""First bytes of a snapshot, as crates/study/src/initial_state/own_files.rs has them."""

_HASH = "[0-9a-f]{32}"
_BUILD = "[0-9a-f]{16}"

_STORES = re.compile(rf"{_HASH}|[a-z0-9-]+-{_BUILD}")
"""Names of folders of answers: those of a worker's copies, and those of a study."""

_STORE_FILES = {
    "objects": re.compile(rf"[0-9a-f]{{2}}/{_HASH}|[0-9a-f]{{2}}/\.[a-z0-9_]{{8}}\.tmp"),
    "index": re.compile(r"[^/]+-\d+-[0-9a-f]{8}"),
    "locks": re.compile(_HASH),
    "": re.compile(r"store\.json|\.[a-z0-9_]{8}\.tmp"),
}
"""Names of the files of a store of answers, by folder."""


def _is_snapshot(first: bytes) -> bool:
    return first == _MAGIC


def _is_partial(first: bytes) -> bool:
    """The header of a snapshot is complete at the end."""
    return first in (b"", _MAGIC) or not any(first)


def _is_results(first: bytes) -> bool:
    """Lines begin with a checksum; damaged ones are blanked."""
    return re.fullmatch(rb"[0-9a-f]*| *", first) is not None


def _is_log_of_requests(first: bytes) -> bool:
    return first == b"fio vers"


def _is_lock(first: bytes) -> bool:
    return not first


_FILES: tuple[tuple[re.Pattern[str], Callable[[bytes], bool]], ...] = (
    (re.compile(rf"{_HASH}-v\d{{1,9}}\.snapshot"), _is_snapshot),
    (re.compile(rf"{_HASH}\.(?:{_BUILD}-)?\d{{1,10}}-\d{{1,20}}\.tmp"), _is_partial),
    (re.compile(rf"[A-Za-z0-9_.-]+-{_BUILD}{re.escape(RESULTS)}"), _is_results),
    (re.compile(rf"{_HASH}{re.escape(MAKING)}"), _is_lock),
    (re.compile(rf"fio-{_HASH}\.iolog"), _is_log_of_requests),
)
"""Names of the files in the cache, and the test of their first eight bytes."""


@dataclass(frozen=True)
class Entry:
    """A file of the cache, or a folder with the answers of a sweep.

    Attributes:
        files: paths of its files below `path`; empty for a file.
    """

    path: Path
    size_bytes: int
    files: tuple[str, ...] = ()


def entries(folder: Path) -> list[Entry]:
    """The folder of each sweep, then the cache's files, sorted; empty without a folder."""
    found = []
    for name in _names(folder / SPOOL):
        if _STORES.fullmatch(name) and (store := _store(folder / SPOOL / name)) is not None:
            found.append(store)
    for name in _names(folder):
        is_own = next((test for pattern, test in _FILES if pattern.fullmatch(name)), None)
        if is_own is not None and (size := _own_size(folder / name, is_own)) is not None:
            found.append(Entry(folder / name, size))
    return found


def delete(entry: Entry) -> None:
    """Deletes a file, or the files of a store and its folders if nothing else is in them.

    Raises:
        OSError: a file could not be deleted.
    """
    if not entry.files:
        entry.path.unlink(missing_ok=True)
        return
    for name in entry.files:
        with suppress(FileNotFoundError):
            _unlink(entry.path, name)
    folders = {str(Path(name).parent) for name in entry.files} | {"objects", "index", "locks"}
    for name in sorted(folders - {"."}, key=len, reverse=True):
        with suppress(OSError):
            (entry.path / name).rmdir()
    with suppress(OSError):
        entry.path.rmdir()


def delete_store(folder: Path) -> None:
    """Deletes the store of answers in a folder, if it is one."""
    store = _store(folder)
    if store is not None:
        delete(store)


def _names(folder: Path) -> list[str]:
    """Names in a folder, sorted; none if it is not a folder or a link to one."""
    try:
        if folder.name == SPOOL and folder.is_symlink():
            return []
        return sorted(path.name for path in folder.iterdir())
    except OSError:
        return []


def _own_size(path: Path, is_own: Callable[[bytes], bool]) -> int | None:
    """The size of a regular file whose first bytes pass the test; None for anything else, or if it is gone."""
    with suppress(OSError):
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            known = os.fstat(descriptor)
            if stat.S_ISREG(known.st_mode) and is_own(os.pread(descriptor, len(_MAGIC), 0)):
                return known.st_size
        finally:
            os.close(descriptor)
    return None


def _store(folder: Path) -> Entry | None:
    """The store of answers in a folder, with the files that have names of a store; None if it is none."""
    try:
        descriptor = os.open(folder / "store.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            described = json.loads(file.read(4096))
    except (OSError, ValueError, RecursionError):
        return None
    if folder.is_symlink() or not isinstance(described, dict) or described.keys() != {"format", "id"}:
        return None
    files = list(_store_files(folder))
    return Entry(folder, sum(size for _, size in files), tuple(name for name, _ in files))


def _store_files(folder: Path) -> Iterator[tuple[str, int]]:
    for inside, folders, names, descriptor in os.fwalk(folder, follow_symlinks=False):
        within = os.path.relpath(inside, folder)
        top, _, rest = ("", "", "") if within == "." else within.partition("/")
        folders[:] = sorted(each for each in folders if top == "objects" or each in _STORE_FILES)
        for name in sorted(names):
            known = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            pattern = _STORE_FILES.get(top)
            path = f"{rest}/{name}" if rest else name
            if stat.S_ISREG(known.st_mode) and pattern is not None and pattern.fullmatch(path):
                yield (name if within == "." else f"{within}/{name}"), known.st_size


def _unlink(folder: Path, name: str) -> None:
    """Deletes a file below a folder; raises OSError if a folder on the way has become a link."""
    *inside, last = name.split("/")
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for each in inside:
            deeper = os.open(each, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = deeper
        os.unlink(last, dir_fd=descriptor)
    finally:
        os.close(descriptor)

"""ext4 on a served drive: nbdfuse shows the export as a file, a loop device makes a block device of it."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from interpulse._core import RunError
from interpulse.blockdevice.commands import environment, run
from interpulse.blockdevice.requirements import program

PATIENCE = 30.0
"""Most seconds that a mount may take to appear or to end."""

POLL = 0.02

VOLATILE = "write back"
"""Write cache of a device to which the kernel sends flushes."""

PROTECTED = "write through"
"""Write cache of a device to which it sends none."""


@contextmanager
def block_device(uri: str, folder: Path) -> Iterator[Path]:
    """A loop device on an export.

    The loop device uses direct I/O: requests are not serialised, and no page cache lies between it and the server.

    Args:
        uri: NBD address of the export.
        folder: where files of the mount are made; relative sockets of `uri` are relative to it.

    Raises:
        RunError: the export cannot be mounted.
    """
    with _fuse_file(uri, folder) as file:
        device = Path(run("losetup", "--find", "--show", "--direct-io=on", file).strip())
        _send_flushes(device)
        try:
            yield device
        finally:
            run("losetup", "--detach", device)


def _cache_setting(device: Path) -> Path:
    """Where the kernel keeps whether the write cache of a device is volatile."""
    return Path("/sys/block") / device.name / "queue" / "write_cache"


def _set_cache(device: Path, kind: str) -> None:
    """Sets it. Raises RunError where the kernel refuses, as in containers whose `/sys` is read-only."""
    try:
        _cache_setting(device).write_text(kind, encoding="ascii")
    except OSError as error:
        raise RunError(f"{_cache_setting(device)}: cannot set '{kind}': {error.strerror}") from None


def _send_flushes(device: Path) -> None:
    """Sets the device's write cache to volatile, as loop devices have it, whatever an earlier user has set."""
    if _cache_setting(device).read_text(encoding="ascii").strip() != VOLATILE:
        _set_cache(device, VOLATILE)


@contextmanager
def _fuse_file(uri: str, folder: Path) -> Iterator[Path]:
    """The export as a file."""
    file = folder / "export"
    file.touch()
    with (folder / "nbdfuse.log").open("w") as log:
        # A session of its own: Ctrl-C does not take the device from a mounted file system.
        fuse = subprocess.Popen(
            [program("nbdfuse"), str(file), uri],
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _await_mount(file, fuse, folder / "nbdfuse.log")
        yield file
    finally:
        # Without `umount` here: the kernel ends it when the process has ended.
        fuse.terminate()
        try:
            fuse.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            fuse.kill()
            fuse.wait(timeout=PATIENCE)
        if _is_mounted(file):
            unmount(file)


def _is_mounted(place: Path) -> bool:
    lines = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return any(line.split(" ")[1] == str(place.resolve()) for line in lines)


def _await_mount(file: Path, fuse: subprocess.Popen[bytes], log: Path) -> None:
    began = time.monotonic()
    while not _is_mounted(file):
        if fuse.poll() is not None:
            raise RunError(f"nbdfuse ended with exit code {fuse.returncode}: {log.read_text().strip()[-2000:]}")
        if time.monotonic() - began > PATIENCE:
            raise RunError(f"nbdfuse has not mounted the export within {PATIENCE:.0f} s")
        time.sleep(POLL)


def make(device: Path) -> None:
    """Makes an empty ext4 on a device.

    Without trims, which would empty a preconditioned drive, and with its tables written now instead of later.
    """
    run("mkfs.ext4", "-q", "-F", "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", device)


@contextmanager
def mounted(device: Path, folder: Path) -> Iterator[Path]:
    """Mounts the ext4 of a device below `folder`. Raises RunError where it cannot be mounted."""
    place = folder / "mount"
    place.mkdir(exist_ok=True)
    run("mount", "-t", "ext4", "-o", "noatime", device, place)
    try:
        yield place
    finally:
        unmount(place)


def unmount(place: Path) -> None:
    """Unmounts, and waits for processes that have just ended and still use it."""
    began = time.monotonic()
    while _is_mounted(place):
        last = time.monotonic() - began > PATIENCE
        with suppress(RunError):
            run("umount", *(["--lazy"] if last else []), place)
        if last:
            return
        time.sleep(POLL)


def check(device: Path) -> str:
    """Replays the journal and checks the whole file system; returns what e2fsck prints.

    Raises:
        RunError: the file system has errors beyond those that the replay of a journal repairs.
    """
    # 1 after a replay: "errors corrected". What is left must be none, which the second pass shows.
    first = run("e2fsck", "-p", device, codes=(0, 1))
    return first + run("e2fsck", "-f", "-n", device)


@contextmanager
def protected_cache(device: Path) -> Iterator[None]:
    """Declares the write cache of a device non-volatile, as drives with power-loss protection do: no flush is sent.

    The setting would outlive the loop device, whose number serves another file next: it is undone in the end.
    """
    _set_cache(device, PROTECTED)
    try:
        yield
    finally:
        _set_cache(device, VOLATILE)


def large_files(folder: Path, least: int) -> list[Path]:
    """Files below a folder of at least so many bytes."""
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size >= least]


def drop_cached(files: Iterable[Path]) -> None:
    """Evicts the clean pages of files from the page cache.

    A database's own cache is then its only memory, as where the data are much larger than memory.
    """
    for path in files:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)

"""Files of jobs on the drive: a device is the drive, each file a part of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from interpulse._core import ConfigError
from interpulse.fio.job import Job
from interpulse.tables.format import size as size_text

FILE_ALIGNMENT = 2**20
"""Files begin at multiples of it and of their request sizes."""


@dataclass(frozen=True)
class Clone:
    """One of the `numjobs` clones of a job.

    Attributes:
        number: from 0.
        name: of its flow, unique.
    """

    job: Job
    number: int
    name: str


@dataclass(frozen=True)
class Region:
    """Bytes of the drive that a clone addresses.

    Attributes:
        start: first byte.
        length: bytes, a multiple of the alignment of the job.
    """

    start: int
    length: int


def clones_of(jobs: Sequence[Job]) -> list[Clone]:
    """The clones of all jobs, in the order of fio."""
    found: list[Clone] = []
    taken: set[str] = set()
    for job in jobs:
        for number in range(job.clones):
            base = job.name if job.clones == 1 else f"{job.name}.{number}"
            name, again = base, 2
            while name in taken:
                name, again = f"{base}-{again}", again + 1
            taken.add(name)
            found.append(Clone(job, number, name))
    return found


def is_device(name: str) -> bool:
    """Whether a file name is that of a drive."""
    return name.startswith(("/dev/", "\\\\.\\", "trtype="))


def lay_out(clones: Sequence[Clone], capacity: int) -> tuple[list[Region], list[str]]:
    """The region of each clone, and notes about the places of files.

    A file is as large as the largest range that a clone has in it, or as `filesize` says. Files follow each other from
    the start of the drive.

    Args:
        clones: clones of all jobs.
        capacity: of the drive in bytes.

    Raises:
        ConfigError: a job has no size, two drives or a drive and files are named, or the drive is too small.
    """
    # Addresses of a log are those of the drive.
    own = [clone for clone in clones if clone.job.log is None]
    names = [_file_name(clone) for clone in own]
    devices = sorted({name for name in names if is_device(name)})
    if len(devices) > 1:
        other = next(c for c, name in zip(own, names, strict=True) if name == devices[1])
        raise other.job.refused("filename", f"{devices[0]} is named too: a run has one drive")
    files: dict[str, list[Clone]] = {}
    for clone, name in zip(own, names, strict=True):
        files.setdefault(name, []).append(clone)
    if devices and len(files) > 1:
        name = next(name for name in files if name not in devices)
        raise files[name][0].job.refused(
            "filename", f"{name} is a file and {devices[0]} the whole drive: name one of them"
        )
    base: dict[str, tuple[int, int]] = {}
    end, notes = 0, []
    for name, users in files.items():
        if name in devices:
            base[name] = 0, capacity
            continue
        length = max(_file_length(clone) for clone in users)
        unit = math.lcm(FILE_ALIGNMENT, *(clone.job.alignment for clone in users))
        start = -(-end // unit) * unit
        end = start + length
        base[name] = start, length
        if end > capacity:
            raise ConfigError(
                f"{users[0].job.place}: job {users[0].job.name}: its file {name} would end at {size_text(end)} "
                f"({end} bytes); expected files within the drive, which has {size_text(capacity)} ({capacity} bytes)"
            )
        notes.append(f"{users[0].job.place}: the file {name} has the bytes {start} to {end} of the drive")
    regions = {clone.name: _region(clone, *base[name]) for clone, name in zip(own, names, strict=True)}
    return [regions.get(clone.name, Region(0, capacity)) for clone in clones], notes


def _file_name(clone: Clone) -> str:
    job = clone.job
    if job.files is not None:
        return job.files
    folder = job.given("directory")
    form = job.given("filename_format")
    name = form.value if form and form.value else "$jobname.$jobnum.$filenum"
    for word, value in (("$jobname", job.name), ("$jobnum", str(clone.number)), ("$filenum", "0")):
        name = name.replace(word, value)
    if form and job.clones > 1 and "$jobnum" not in (form.value or ""):
        raise form.refused("clones would have one file, in which fio gives only the first one requests: use filename")
    if form and "$" in name:
        raise form.wrong("a name with $jobname, $jobnum and $filenum")
    return f"{folder.value + '/' if folder and folder.value else ''}{name}"


def _offset(clone: Clone, file: int | None) -> int:
    """First byte in the file, as fio has it; `file` is its length where shares refer to it."""
    job = clone.job

    def of(value: int | Fraction) -> int:
        return int(value * (file or 0)) if isinstance(value, Fraction) else value

    moved = of(job.offset) + clone.number * of(job.offset_increment)
    if isinstance(job.offset, Fraction):
        unit = job.offset_align or job.alignment
        moved = -(-moved // unit) * unit
    return moved


def _file_length(clone: Clone) -> int:
    job = clone.job
    if job.filesize is not None:
        return job.filesize
    for name, value in (("size", job.size), ("offset", job.offset), ("offset_increment", job.offset_increment)):
        if isinstance(value, Fraction):
            given = job.given(name)
            assert given is not None
            raise given.wrong("bytes, or filesize beside it: the size of a file that it would be a share of is unknown")
    if job.size is None:
        raise ConfigError(
            f"{job.place}: job {job.name}: seen no size; expected size, or filename=/dev/... for the drive"
        )
    return _offset(clone, None) + int(job.size)


def _region(clone: Clone, start: int, length: int) -> Region:
    job = clone.job
    offset = _offset(clone, length)
    if isinstance(job.size, Fraction):
        size = min(int(job.size * length), length - offset)
    else:
        size = length - offset if job.size is None else job.size
    if offset + size > length and job.filesize is None and job.size is not None and offset < length:
        # fio shortens a range that ends after its device.
        size = length - offset
    if offset >= length or offset + size > length:
        raise job.refused(
            "offset",
            f"the range of clone {clone.number} begins at {offset} and ends at {offset + size}; "
            f"expected an end within the {length} bytes of its file or drive",
        )
    whole = size // job.alignment * job.alignment
    if whole < max(size for sizes in job.used_sizes for size, _ in sizes):
        raise job.refused("size", f"a range of {size} bytes has no room for a request")
    return Region(start + offset, whole)

"""Requests of jobs that no flow makes from distributions: one pass, as a log that a flow replays.

The order of decisions is fio's (io_u.c): direction, address, size. With the random map a block is used once, a used one
is replaced by the next free one, and a request ends before the next used block.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path

from interpulse.files.atomic_file import whole_file
from interpulse.fio.job import KINDS, Job, Sizes
from interpulse.fio.layout import Clone, Region

MOST_ROWS = 4_000_000
"""Limit of the requests of one log."""

HEADER = "fio version 2 iolog\n"


def why_logged(job: Job, region: Region) -> str:
    """The option that needs a log, and why; empty if the job is a flow of distributions."""
    if job.pause_ns:
        return "thinktime"
    if job.kinds == ("trim", "write"):
        return "rw"
    if job.run or job.skip:
        return "rw"
    if job.random and any(share < 100 for share in job.random_percent):
        return "percentage_random"
    if _maps(job) and len({least_of(job, kind) for kind in job.kinds}) > 1:
        raise job.refused(_sizes_name(job), "sizes of reads and writes that differ need norandommap")
    same = len(set(job.used_sizes)) == 1
    if job.one_size is None and (not same or not job.random or _maps(job) or not job.time_based):
        return _sizes_name(job)
    if job.flush_every and len(job.kinds) > 1 and not job.time_based:
        return "fsync" if "fsync" in job.options else "fdatasync"
    if region.start % job.alignment:
        return "offset"
    return ""


def _sizes_name(job: Job) -> str:
    return next((name for name in ("bssplit", "bsrange", "bs") if name in job.options), "bs")


def least_of(job: Job, kind: str) -> int:
    """The least size of a kind of requests, which aligns its addresses."""
    return min(size for size, _ in job.sizes[KINDS.index(kind)])


def _maps(job: Job) -> bool:
    return job.covers and not job.distribution.address


def write_log(clone: Clone, region: Region, limit: int | None, seed: int, folder: Path) -> tuple[Path, int, int]:
    """Writes the requests of a clone into a file of `folder`, named by its content.

    Args:
        clone: of a job.
        region: bytes of the drive.
        limit: bytes to transfer; `None` for one pass.
        seed: of all random decisions.
        folder: of the file.

    Returns:
        The file, its requests, and its flushes.

    Raises:
        ConfigError: there are more than `MOST_ROWS` requests, or the addresses are of another distribution.
        OSError: the file cannot be written.
    """
    which = why_logged(clone.job, region)
    if clone.job.random and clone.job.distribution.address not in ("", "parts"):
        raise clone.job.refused("random_distribution", f"{which} is given too, which takes uniform or zoned addresses")
    too_many = f"with it a job makes at most {MOST_ROWS} requests in a pass: give a smaller size or io_size"
    if (region.length if limit is None else limit) / _mean(clone.job) > 2 * MOST_ROWS:
        raise clone.job.refused(which, too_many)
    lines = [HEADER, "/dev/drive add\n", "/dev/drive open\n"]
    count = flushes = 0
    for kind, number, size in _rows(clone, region, limit, seed):
        if kind == "wait":
            lines.append(f"/dev/drive wait {number}\n")
            continue
        lines.append(f"/dev/drive {kind} {number} {size}\n")
        flushes += kind == "sync"
        count += kind != "sync"
        if count > MOST_ROWS:
            raise clone.job.refused(which, too_many)
    raw = "".join(lines).encode()
    path = folder / f"fio-{hashlib.sha256(raw).hexdigest()[:32]}.iolog"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(raw)
    return path, count, flushes


def _mean(job: Job) -> float:
    """Mean size of a request, in bytes."""
    shares = {"read": job.reads, "write": 1 - job.reads} if job.kinds == ("read", "write") else {job.kinds[0]: 1.0}
    mean = 0.0
    for kind, share in shares.items():
        sizes = job.sizes[KINDS.index(kind)]
        mean += share * sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)
    return mean


def _rows(clone: Clone, region: Region, limit: int | None, seed: int) -> Iterator[tuple[str, int, int]]:
    """Kind, address in bytes (of `wait`: us) and size of each row."""
    job = clone.job
    key = f"{seed} {job.name} {clone.number}".encode()
    rng = random.Random(int.from_bytes(hashlib.sha256(key).digest()[:8], "big"))
    pass_ = _Pass(job, region, rng)
    total = region.length if limit is None else limit
    done = writes = issued = 0
    while done < total and (job.number_ios is None or issued < job.number_ios):
        for kind, address, size in pass_.next():
            if job.pause_ns and issued and issued % job.pause_blocks == 0:
                yield "wait", job.pause_ns // 1000, 0
            if kind == "write" and job.flush_every and writes and writes % job.flush_every == 0:
                yield "sync", 0, 0
            yield kind, region.start + address, size
            issued += 1
            writes += kind == "write"
            # A pair of trim and write counts once.
            done += 0 if kind == "trim" and job.kinds == ("trim", "write") else size
        if pass_.full:
            # A job that leaves out bytes is not continued at the start of its file.
            if job.skip or 0 < total - done < job.alignment:
                return
            pass_ = _Pass(job, region, rng)


class _Pass:
    """Generator of requests until all blocks are used.

    Attributes:
        full: whether the pass has ended.
    """

    def __init__(self, job: Job, region: Region, rng: random.Random) -> None:
        self._job, self._rng = job, rng
        self._unit = job.alignment
        aligned = job.alignment != job.least
        self._units = {kind: job.alignment if aligned else least_of(job, kind) for kind in job.kinds}
        self._length = region.length
        self._blocks = region.length // self._unit
        self._used = bytearray(self._blocks) if job.random and _maps(job) else None
        self._free = self._blocks
        self._last = dict.fromkeys(KINDS, 0)
        self._left_in_run = 0
        self.full = False
        self._sizes = {kind: _Choice(job.sizes[KINDS.index(kind)]) for kind in KINDS}

    def next(self) -> list[tuple[str, int, int]]:
        """The next request, or a trim with its write."""
        job = self._job
        if job.kinds == ("read", "write"):
            kind = "read" if self._rng.random() < job.reads else "write"
        else:
            kind = job.kinds[0]
        address = self._address(kind)
        size = min(self._sizes[kind].draw(self._rng), self._length - address)
        if self._used is not None:
            size = self._mark(address, size)
        self._last[kind] = address + size
        # Sequential reads and writes of a mix each have a position: the pass ends by its bytes, not at an end.
        if not job.random and self._last[kind] + job.skip + self._unit > self._length:
            self._last[kind] = 0
            self.full = len(job.kinds) == 1 or job.kinds == ("trim", "write")
        else:
            self._last[kind] += job.skip
        if job.kinds == ("trim", "write"):
            return [("trim", address, size), ("write", address, size)]
        return [(kind, address, size)]

    def _address(self, kind: str) -> int:
        job = self._job
        if not job.random:
            return self._last[kind]
        if job.run:
            if self._left_in_run and self._last[kind] < self._length:
                self._left_in_run -= 1
                return self._last[kind]
            self._left_in_run = job.run - 1
        share = job.random_percent[KINDS.index(kind)]
        if share < 100 and self._rng.random() * 100 >= share:
            return self._last[kind] if self._last[kind] < self._length else 0
        if self._used is None:
            return self._place(self._length // self._units[kind]) * self._units[kind]
        block = self._rng.randrange(self._blocks)
        if self._used[block]:
            block = self._used.find(b"\0", block)
            if block < 0:
                block = self._used.find(b"\0")
        return block * self._unit

    def _place(self, blocks: int) -> int:
        """A random one of so many blocks, without the map."""
        keys = dict(self._job.distribution.keys)
        if "part-traffic" not in keys:
            return self._rng.randrange(blocks)
        sizes, traffic = keys["part-sizes"], keys["part-traffic"]
        assert isinstance(sizes, tuple)
        assert isinstance(traffic, tuple)
        (part,) = self._rng.choices(range(len(sizes)), traffic)
        whole = sum(sizes)
        first = round(blocks * sum(sizes[:part]) / whole)
        end = max(round(blocks * sum(sizes[: part + 1]) / whole), first + 1)
        return min(self._rng.randrange(first, end), blocks - 1)

    def _mark(self, address: int, size: int) -> int:
        """Marks the blocks of a request used; returns its size, which ends before the next used block."""
        assert self._used is not None
        first = address // self._unit
        count = -(-size // self._unit)
        if self._used[first]:
            # The address follows the last one, and was used before.
            return size
        taken = self._used.find(b"\1", first, first + count)
        if taken >= 0:
            count = taken - first
            size = count * self._unit
        self._used[first : first + count] = b"\1" * count
        self._free -= count
        self.full = self._free == 0
        return size


class _Choice:
    """Choice of a size by weight."""

    def __init__(self, sizes: Sizes) -> None:
        self._only = sizes[0][0] if len(sizes) == 1 else None
        self._values = [size for size, _ in sizes]
        self._cumulative: list[float] = []
        total = 0.0
        for _, weight in sizes:
            total += weight
            self._cumulative.append(total)

    def draw(self, rng: random.Random) -> int:
        """A size in bytes."""
        if self._only is not None:
            return self._only
        return rng.choices(self._values, cum_weights=self._cumulative)[0]

"""Flows of jobs: keys of `[[flow]]` for each clone, with their times."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from interpulse.fio.job import SECTOR, Job
from interpulse.fio.layout import Clone, Region, lay_out
from interpulse.fio.options import table
from interpulse.fio.requests import why_logged, write_log

PASSES = 1_000_000
"""Passes of a log that repeats until its runtime ends."""


@dataclass(frozen=True)
class JobFlow:
    """The flow of a clone.

    Attributes:
        keys: keys of `[[flow]]` with their values in TOML, without start and stop.
        group: number of the group in fio's output.
        phase: phases run one after another (`stonewall`).
        lasts_ns: from its start to its end, where that is known.
        limit_ns: from its start to the end of its runtime, or `None`.
        requests: of the whole flow, without flushes, where that is known.
    """

    clone: Clone
    region: Region
    keys: Mapping[str, str]
    group: int
    phase: int
    lasts_ns: int | None
    limit_ns: int | None
    requests: int | None

    @property
    def job(self) -> Job:
        """The job."""
        return self.clone.job


def flows_of(
    clones: Sequence[Clone], capacity: int, seed: int, folder: Path, extra: Mapping[str, str]
) -> tuple[list[JobFlow], list[str]]:
    """The flows of all clones, and notes.

    Args:
        clones: clones of all jobs.
        capacity: of the drive in bytes.
        seed: of logs of requests.
        folder: for logs of requests.
        extra: further keys of each flow.

    Raises:
        ConfigError: a job has no counterpart, or does not fit on the drive.
        OSError: a log of requests cannot be written.
    """
    regions, notes = lay_out(clones, capacity)
    notes = [*_without_effect(clones), *notes]
    found: list[JobFlow] = []
    group = phase = of_group = of_phase = 0
    for clone, region in zip(clones, regions, strict=True):
        job = clone.job
        if clone.number == 0:
            if (job.stonewall or job.new_group) and of_group:
                group, of_group = group + 1, 0
            if job.stonewall and of_phase:
                phase, of_phase = phase + 1, 0
            notes += _notes(job)
        of_group, of_phase = of_group + 1, of_phase + 1
        keys, requests, more = _keys(clone, region, seed, folder)
        notes += more
        limit = None if job.runtime_ns is None else job.ramp_ns + job.runtime_ns
        keys = {"name": json.dumps(clone.name, ensure_ascii=False)} | keys | dict(extra)
        lasts = limit if job.time_based else None
        found.append(JobFlow(clone, region, keys, group, phase, lasts, limit, requests))
    return found, list(dict.fromkeys(notes))


def _without_effect(clones: Sequence[Clone]) -> list[str]:
    """One note on all options that concern the host or fio's files."""
    found = {
        f"{given.seen} ({given.place.rpartition(':')[2]})": None
        for clone in clones
        for name, given in clone.job.options.items()
        if table()[name].treatment in ("host", "output")
    }
    place = clones[0].job.place.rpartition(":")[0]
    return [f"{place}: without effect on a simulated drive (docs/FIO.md says why): {', '.join(found)}"] if found else []


def _notes(job: Job) -> list[str]:
    notes = list(job.notes)
    if job.rate_per_s is not None:
        given = job.given("rate_iops") or job.given("rate")
        assert given is not None
        notes.append(
            f"{given.place}: {given.seen}: requests arrive at this rate; fio would hold them back with iodepth="
            f"{job.depth} outstanding, so the drive must keep up (steady.load of the result says whether it does)"
        )
    if "direct" not in job.options and "buffered" not in job.options and job.log is None:
        notes.append(
            f"{job.place}: job {job.name}: no direct=1: no page cache is simulated, every request reaches the drive"
        )
    if job.distribution.address == "zipf":
        given = job.given("random_distribution")
        assert given is not None
        notes.append(f"{given.place}: {given.seen}: ranks have the exact weights, which fio approximates")
    return notes


def _keys(clone: Clone, region: Region, seed: int, folder: Path) -> tuple[dict[str, str], int | None, list[str]]:
    """Keys of the flow, its requests if they are known, and notes."""
    job = clone.job
    if job.log is not None:
        return _replay(job), None, []
    which = why_logged(job, region)
    if which:
        return _logged(clone, region, which, seed, folder)
    return (*_made_up(job, region), [])


def _replay(job: Job) -> dict[str, str]:
    assert job.log is not None
    given = job.options["read_iolog"]
    path = Path(job.log)
    if not path.is_absolute():
        path = Path(given.place.rpartition(":")[0]).parent / path
    try:
        with path.open("rb") as file:
            first = file.readline(100)
    except OSError as error:
        raise given.wrong(f"a log that can be read ({error.strerror or error})") from None
    untimed = first.startswith(b"fio version 2")
    # Otherwise the unit would depend on the rows; fio writes and reads microseconds since 3.31.
    keys = {"trace": _text(str(path.absolute()))} | (
        {"time-unit": '"us"'} if first.startswith(b"fio version 3") else {}
    )
    if untimed or job.log_closed:
        keys |= {"pacing": '"closed"', "depth": str(job.depth)}
    elif job.log_speed != 1:
        keys["speed"] = repr(job.log_speed)
    keys |= {key: '"skip"' for kind, key in (("trim", "discards"), ("sync", "flushes")) if kind in job.log_skip}
    return keys


def _logged(
    clone: Clone, region: Region, which: str, seed: int, folder: Path
) -> tuple[dict[str, str], int | None, list[str]]:
    job = clone.job
    if job.rate_per_s is not None:
        raise job.refused(which, "a rate is given too: requests of a log with pauses or several sizes have no rate")
    limit = None if job.time_based else _bytes(job, region)
    path, count, flushes = write_log(clone, region, limit, seed, folder)
    keys = {"trace": _text(str(path)), "format": '"fio-v2"', "pacing": '"closed"', "depth": str(job.depth)}
    passes = PASSES if job.time_based else job.loops
    if passes > 1:
        keys["repeat"] = str(passes)
    given = job.given(which)
    where = f"{given.place}: {given.seen}" if given else f"{job.place}: job {job.name}"
    again = ", which repeat until its runtime ends" if job.time_based else ""
    notes = [f"{where}: a log of {count} requests is replayed{again}"] if clone.number == 0 else []
    del flushes
    return keys, None if job.time_based else count * passes, notes


def _bytes(job: Job, region: Region) -> int:
    """Bytes of all passes but those of `loops`."""
    if job.io_size is None:
        return region.length
    return int(job.io_size * region.length) if isinstance(job.io_size, Fraction) else job.io_size


def request_count(job: Job, region: Region) -> int:
    """Requests of a job of one size, as fio counts them: a pass ends early where less than a request is left."""
    size = job.one_size or job.alignment
    limit, each = _bytes(job, region), region.length // size
    passes, rest = divmod(limit, each * size)
    count = passes * each + (0 if passes and rest < size else -(-rest // size))
    count *= job.loops
    return count if job.number_ios is None else min(count, job.number_ios)


def _made_up(job: Job, region: Region) -> tuple[dict[str, str], int | None]:
    """Keys of a flow of distributions, and its requests if they are known."""
    sizes = job.used_sizes[0]
    keys: dict[str, str] = {}
    if job.rate_per_s is None:
        keys |= {"pacing": '"closed"', "depth": str(job.depth)}
    else:
        arrivals = "poisson" if job.poisson else "fixed"
        keys |= {"pacing": '"open"', "rate": f'"{float(job.rate_per_s)!r}/s"', "arrivals": _text(arrivals)}
    keys["read"] = repr(job.reads)
    if job.kinds == ("trim",):
        keys |= {"read": "0.0", "trim": "1.0"}
    if len(sizes) == 1:
        keys["block-size"] = _text(f"{sizes[0][0]}B")
    else:
        keys["sizes"] = "[" + ", ".join(_text(f"{size}B") for size, _ in sizes) + "]"
        keys["size-weights"] = "[" + ", ".join(repr(float(weight)) for _, weight in sizes) + "]"
    keys["alignment"] = _text(f"{job.alignment}B")
    keys |= _address(job, region)
    if job.flush_every and "write" in job.kinds:
        keys["flush-every"] = str(job.flush_every)
    if job.time_based:
        return keys, None
    count = request_count(job, region)
    # Flushes count as requests of a flow; none follows the last write.
    flushes = (count - 1) // job.flush_every if job.flush_every and job.kinds == ("write",) else 0
    keys["requests"] = str(count + flushes)
    return keys, count


def _address(job: Job, region: Region) -> dict[str, str]:
    if not job.random:
        return {"address": _text("sequential" if len(job.kinds) == 1 else "sequential-by-kind")}
    of = job.distribution
    if of.parts:
        known = sum(size for _, size in of.parts)
        given = job.options["random_distribution"]
        if known > region.length:
            raise given.wrong(f"sizes of at most the {region.length} bytes of the job; these are {known}")
        parts = [*of.parts, *([(0.0, region.length - known)] if known < region.length else [])]
        sizes, traffic = [100 * size / region.length for _, size in parts], [share for share, _ in parts]
        return {"address": '"parts"', "part-sizes": repr(sizes), "part-traffic": repr(traffic)}
    if of.address:
        values = {key: repr(list(value) if isinstance(value, tuple) else value) for key, value in of.keys}
        return {"address": _text(of.address)} | values
    return {"address": '"permuted"' if job.covers else '"uniform"'}


def placed(keys: Mapping[str, str], region: Region, capacity: int) -> dict[str, str]:
    """Keys with the region as shares of the drive; half a sector more, so that rounding down gives its sectors."""
    if "trace" in keys:
        return dict(keys)
    sectors = capacity // SECTOR
    first, end = region.start // SECTOR, (region.start + region.length) // SECTOR
    found = dict(keys)
    if first:
        found["from"] = repr((first + 0.5) / sectors)
    if end < sectors:
        found["to"] = repr((end + 0.5) / sectors)
    return found


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)

"""Reader of fio's JSON output: jobs as loads, measurements as targets.

Field names are those of fio 3 (`fio --output-format=json`, stat.c): latencies in nanoseconds under `clat_ns`, from the
submission of a request to its completion, which is what the simulator calls latency.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.files.paths import read_text, shown
from interpulse.files.structured_text import read_json
from interpulse.fitting.targets import BEYOND, Load, Target, usual_state

VERSION = re.compile(r"fio-3\.\d+.*")

MIXES = {
    "read": ("sequential", "read"),
    "write": ("sequential", "write"),
    "rw": ("sequential", "mixed"),
    "readwrite": ("sequential", "mixed"),
    "randread": ("random", "read"),
    "randwrite": ("random", "write"),
    "randrw": ("random", "mixed"),
}
"""fio's `rw` as pattern and direction."""

SYNCHRONOUS = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
"""Engines with one outstanding request per job, which ignore `iodepth` (fio's HOWTO, ioengine)."""

HINDERED = ("rate", "rate_iops", "thinktime", "bssplit", "bsrange", "random_distribution", "zonemode", "trim")
"""Options that make a job more than a closed loop of one kind of request."""

PERCENTILES = {"99.000000": "p99", "99.900000": "p99.9", "99.990000": "p99.99", "99.999000": "p99.999"}

_SIZE = re.compile(r"(\d+)([kmg]?)(?:i?b)?", re.IGNORECASE)


def loads(path: Path, tolerance: float, state: str | None, held_out: tuple[str, ...]) -> Iterator[Load]:
    """The loads of a file; `held_out`: jobs whose figures are predicted.

    Raises:
        ConfigError: the file is not fio's JSON, of an unsupported version, or one of its jobs cannot be a load.
    """
    whole = _read(path)
    everywhere = whole.get("global options", {})
    groups: dict[int, list[Mapping[str, Any]]] = {}
    for number, job in enumerate(whole["jobs"]):
        groups.setdefault(job.get("groupid", number), []).append(job)
    names = [str(job.get("jobname")) for job in whole["jobs"]]
    for name in held_out:
        if name not in names:
            raise ConfigError(f"{shown(path)}: held-out: there is no job {name!r}; expected one of {', '.join(names)}")
    for group in groups.values():
        yield _load(path, everywhere, group, tolerance, state, held_out)


def _read(path: Path) -> dict[str, Any]:
    text = read_text(path, "fio's output", most=256 * 2**20)
    # fio prints notes before its JSON.
    begin = re.search(r"^\{", text, re.MULTILINE)
    what = "fio's JSON (--output-format=json)"
    whole = read_json(text[begin.start() :], shown(path), what) if begin is not None else None
    if not isinstance(whole, dict) or "fio version" not in whole:
        raise ConfigError(f"{shown(path)}: there is no 'fio version'; expected the output of fio --output-format=json")
    if not VERSION.fullmatch(str(whole["fio version"])):
        raise ConfigError(
            f"{shown(path)}: fio version: seen {whole['fio version']!r}; expected fio-3.0 or later: before, latencies "
            "were in microseconds under other names"
        )
    jobs = whole.get("jobs")
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        seen = "those of a server's clients (client_stats)" if "client_stats" in whole else "none"
        raise ConfigError(f"{shown(path)}: jobs: seen {seen}; expected at least one job that ran on this machine")
    return whole


def _load(
    path: Path,
    everywhere: Mapping[str, Any],
    group: list[Mapping[str, Any]],
    tolerance: float,
    state: str | None,
    held_out: tuple[str, ...],
) -> Load:
    first = group[0]
    name = str(first.get("jobname", "fio"))
    place = f"{shown(path)}: job {name}"
    options = {**everywhere, **first.get("job options", {})}
    for other in group[1:]:
        if not _alike(options, {**everywhere, **other.get("job options", {})}):
            raise ConfigError(
                f"{place}: job {other.get('jobname')} ran at the same time with other options; expected one kind of "
                "load at a time (stonewall in the job file)"
            )
    for option in HINDERED:
        if option in options:
            raise ConfigError(f"{place}: {option}: seen {options[option]!r}; expected a job without it: a closed loop")
    kind = str(options.get("rw", options.get("readwrite", "read")))
    if kind not in MIXES:
        raise ConfigError(f"{place}: rw: seen {kind!r}; expected one of {', '.join(MIXES)}")
    pattern, direction = MIXES[kind]
    share = {"read": 1.0, "write": 0.0}.get(direction, _whole(options, "rwmixread", place, 50) / 100)
    depth = 1 if options.get("ioengine", "psync") in SYNCHRONOUS else _whole(options, "iodepth", place, 1)
    # Jobs of a group that fio reports together are one entry.
    jobs = len(group) if len(group) > 1 else _whole(options, "numjobs", place, 1)
    targets = tuple(_figures(group, share, tolerance, f"fio, {shown(path.name)}", place, name in held_out))
    return Load(
        name,
        place,
        pattern,
        share,
        _block(options.get("bs", options.get("blocksize", "4096")), place),
        depth * jobs,
        state or usual_state(pattern, share),
        (),
        targets,
    )


def _alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    free = {"name", "filename", "offset", "stonewall", "numjobs"}
    return {k: v for k, v in one.items() if k not in free} == {k: v for k, v in other.items() if k not in free}


def _whole(options: Mapping[str, Any], key: str, place: str, default: int) -> int:
    text = str(options.get(key, default))
    if not text.isdigit() or not 0 <= int(text) <= 65535:
        raise ConfigError(f"{place}: {key}: seen {text!r}; expected a whole number")
    return int(text)


def _block(text: object, place: str) -> int:
    match = _SIZE.fullmatch(str(text))
    if match is None:
        raise ConfigError(f"{place}: bs: seen {text!r}; expected one size, such as 4k")
    return int(match[1]) << 10 * " kmg".index(match[2].lower() or " ")


def _figures(
    group: list[Mapping[str, Any]], share: float, tolerance: float, source: str, place: str, out: bool
) -> Iterator[Target]:
    """Measurements of a group: requests per second of all jobs, and percentiles of each direction.

    With one direction the mean adds no information: it is the depth over the rate (Little's law). With two, the mean
    of reads does.
    """
    directions = [which for which, part in (("read", share), ("write", 1 - share)) if part > 0]
    try:
        total = sum(float(job[which]["iops"]) for job in group for which in directions)
        if not total > 0:
            raise ConfigError(f"{place}: iops: seen 0; expected a job that did something")
        yield Target("iops", total, tolerance, out, source)
        for which in directions:
            counts = [int(job[which]["total_ios"]) for job in group]
            if not sum(counts):
                continue
            means = [float(job[which]["clat_ns"]["mean"]) for job in group]
            mean = sum(m * n for m, n in zip(means, counts, strict=True)) / sum(counts)
            if which == "read" and len(directions) > 1:
                yield Target("read-mean", mean, tolerance, out, source)
            # Percentiles of several jobs cannot be merged.
            percentiles = group[0][which]["clat_ns"].get("percentile", {}) if len(group) == 1 else {}
            for key, measure in PERCENTILES.items():
                if key in percentiles and sum(counts) * (1 - float(key) / 100) >= BEYOND:
                    yield Target(f"{which}-{measure}", float(percentiles[key]), max(tolerance, 0.05), out, source)
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigError(f"{place}: {error} is missing or not a number; expected a job as written by fio 3") from None

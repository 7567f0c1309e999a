"""Job files in configurations: `[[flow]] fio = "job.fio"` becomes the flows of its jobs."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import interpulse._core as _core
from interpulse._core import ConfigError
from interpulse.files.cache import Cache
from interpulse.files.paths import shown
from interpulse.fio.flows import JobFlow, flows_of, placed
from interpulse.fio.job import Job, read_job
from interpulse.fio.jobfile import Section, read_job_file
from interpulse.fio.layout import clones_of

MEASURED = {"run.warmup", "run.warmup-requests", "run.requests", "run.time"}
"""Keys that decide what a run measures."""

BESIDE = ("fio", "queue", "placement-handle")
"""Keys that a flow with a job file may have."""

Sets: TypeAlias = "list[tuple[str, str]]"
ToToml: TypeAlias = Callable[[Mapping[str, Any]], str]
"""Writes a configuration as TOML."""
Ends: TypeAlias = Callable[[str, str, Sets], int]
"""Simulates a text with its name and overrides; returns when its last request ends, in ns."""

_HEADER = re.compile(r"^[ \t]*\[\[\s*flow\s*\]\]", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)


@dataclass(frozen=True)
class Jobs:
    """Jobs of the job files of a configuration.

    Attributes:
        sections: sections of all job files.
        flows: flows made from them, the last ones of the configuration.
        before: number of other flows.
        starts_ns: start of each flow.
        notes: what a user should know of the reading, a line each.
    """

    sections: tuple[Section, ...]
    flows: tuple[JobFlow, ...]
    before: int
    starts_ns: tuple[int, ...]
    notes: tuple[str, ...]


def expanded(
    text: str,
    path: str,
    sets: Sets,
    seed: int | None,
    *,
    to_toml: ToToml,
    ends: Ends | None,
    cache: Cache | None,
) -> tuple[str, Sets, Jobs] | None:
    """The configuration with its job files as flows, at the end; None without a job file.

    Args:
        text: TOML; what is wrong in it is left to the core.
        path: its name in messages; job files lie beside it.
        sets: overrides.
        seed: replaces the seed of the configuration.
        to_toml: writes a configuration as TOML.
        ends: as in `Config.resolve`.
        cache: as in `Config.resolve`.

    Raises:
        ConfigError: a job file is wrong, a job has no counterpart, or the configuration does not go with it.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    tables = data.get("flow")
    if not isinstance(tables, list) or not any(isinstance(each, dict) and "fio" in each for each in tables):
        return None
    if sum(isinstance(each, dict) and "fio" in each for each in tables) > 1:
        raise ConfigError(f"{shown(path)}: flow: seen several flows with fio; expected one job file")
    others, headers = _without(text, data, tables, to_toml)
    base = (others, path, sets, seed)
    capacity, seed_of_logs = _drive(*base, data)
    folder = (cache or Cache.default()).folder
    number, table = next(
        (number, each) for number, each in enumerate(tables) if isinstance(each, dict) and "fio" in each
    )
    place = f"{shown(path)}: flow.{number}"
    flows, notes, sections = _flows_of(table, place, Path(path), capacity, seed_of_logs, folder)
    run = data.get("run")
    given = {f"run.{key}" for key in run} if isinstance(run, dict) else set()
    given |= {key for key, _ in sets if key.startswith("run.")}
    own = _window([flow.job for flow in flows], given)
    texts = [placed(flow.keys, flow.region, capacity) for flow in flows]
    starts = _starts(flows, texts, given, lambda first: _end(first, ends, others, path, own + sets))
    notes += [
        f"{shown(path)}: {key} is set: the measurement is that of the configuration, not of the jobs"
        for key in sorted(given & MEASURED)
    ]
    whole = others + _tables(flows, texts, starts)
    return whole, own + sets, Jobs(tuple(sections), tuple(flows), headers, tuple(starts), tuple(notes))


def _without(text: str, data: Mapping[str, Any], tables: Sequence[Any], to_toml: ToToml) -> tuple[str, int]:
    """The text without the flows of job files, with the lines of the others, and the number of the others."""
    others = [each for each in tables if not (isinstance(each, dict) and "fio" in each)]
    begins = [match.start() for match in _HEADER.finditer(text)]
    if len(begins) != len(tables):
        rest = {key: value for key, value in data.items() if key != "flow"}
        return to_toml(rest | ({"flow": others} if others else {})), len(others)
    for begin, table in reversed(list(zip(begins, tables, strict=True))):
        if "fio" not in table:
            continue
        line = text.index("\n", begin) if "\n" in text[begin:] else len(text)
        following = _TABLE.search(text, line)
        end = following.start() if following else len(text)
        text = text[:begin] + "\n" * text[begin:end].count("\n") + text[end:]
    return text.rstrip("\n") + "\n" * max(1, len(text) - len(text.rstrip("\n"))), len(others)


def _drive(text: str, path: str, sets: Sets, seed: int | None, data: Mapping[str, Any]) -> tuple[int, int]:
    """Capacity of the drive in bytes, and the seed."""
    if "namespace" in data:
        raise ConfigError(
            f"{shown(path)}: namespace: seen [[namespace]] beside a fio job file; expected a drive without"
        )
    kept = [(key, value) for key, value in sets if not key.startswith("flow")]
    plan = _core.resolve(f"{text}\n[[flow]]\nrequests = 1\n", path, kept, None, seed, False)
    capacities = plan.capacity_bytes
    if len(set(capacities)) > 1:
        sizes = ", ".join(f"{name}: {size}" for name, size in zip(plan.case_names, capacities, strict=True))
        raise ConfigError(
            f"{shown(path)}: cases: seen capacities in bytes of {sizes}; expected equal ones, because the "
            "jobs of a fio job file have one place on the drive"
        )
    found = next((entry.value for entry in plan.entries() if entry.key == "seed"), "0")
    return capacities[0], int(found.replace("_", ""))


def _flows_of(
    table: Mapping[str, Any], place: str, config: Path, capacity: int, seed: int, folder: Path
) -> tuple[list[JobFlow], list[str], list[Section]]:
    name = table["fio"]
    if not isinstance(name, str) or not name.strip():
        raise ConfigError(f"{place}.fio: seen {name!r:.80}; expected the path of a fio job file")
    for key in table:
        if key not in BESIDE:
            raise ConfigError(
                f"{place}.{key}: seen beside fio, whose jobs decide it; expected only {', '.join(BESIDE[1:])}"
            )
    sections = read_job_file(config.parent / name)
    jobs = [read_job(section) for section in sections]
    extra = {key: json.dumps(table[key]) for key in BESIDE[1:] if key in table}
    try:
        flows, notes = flows_of(clones_of(jobs), capacity, seed, folder, extra)
    except OSError as error:
        raise ConfigError(f"{place}.fio: cannot write into {folder}: {error.strerror or error}") from None
    return flows, notes, sections


def _window(jobs: Sequence[Job], given_keys: set[str]) -> Sets:
    """Overrides that make the measurement window that of the jobs, unless the configuration has one."""
    ramps = {job.ramp_ns for job in jobs}
    given = given_keys & {"run.warmup", "run.warmup-requests"}
    if ramps != {0}:
        first = next(job for job in jobs if job.ramp_ns)
        if len(ramps) > 1:
            raise first.refused("ramp_time", "other jobs have another one: a run has one time before the measurement")
        if any(job.stonewall or job.start_ns for job in jobs[1:]) or jobs[0].start_ns:
            raise first.refused("ramp_time", "jobs start at different times (stonewall, startdelay)")
        if given:
            raise first.refused("ramp_time", f"the configuration has {min(given)} too")
        return [("run.warmup", f"{first.ramp_ns}ns")]
    return [] if given else [("run.warmup", "0ns")]


def _starts(
    flows: Sequence[JobFlow],
    texts: Sequence[Mapping[str, str]],
    given: set[str],
    end_of: Callable[[str], int | None],
) -> list[int]:
    """Start of each flow: phases begin when all flows before them have ended.

    Args:
        flows: of all jobs.
        texts: their keys.
        given: keys of [run] that the configuration has.
        end_of: simulates flows in TOML and returns when their last request ends; `None` where that is not possible.
    """
    starts: list[int] = []
    begins = 0
    for number, flow in enumerate(flows):
        if number and flow.phase > flows[number - 1].phase:
            before = zip(flows[:number], starts, strict=True)
            known = [None if of.lasts_ns is None else start + of.lasts_ns for of, start in before]
            last = [end for end in known if end is not None]
            if len(last) == len(known):
                begins = max(last)
            else:
                begins = _measured(flow, given, end_of(_tables(flows[:number], texts[:number], starts)))
        starts.append(max(begins, flow.job.start_ns))
    return starts


def _measured(flow: JobFlow, given: set[str], end: int | None) -> int:
    """The end that a simulation found; raises ConfigError if no end was found."""
    unknown = "the jobs before it have no known end: give them time_based and runtime"
    if end is None:
        raise flow.job.refused("stonewall", f"{unknown} (interpulse run JOB.fio --drive DRIVE simulates them first)")
    if given & MEASURED:
        raise flow.job.refused("stonewall", f"{unknown}, or omit {', '.join(sorted(given & MEASURED))}")
    return end


def _end(flows: str, ends: Ends | None, others: str, path: str, sets: Sets) -> int | None:
    return None if ends is None else ends(others + flows, path, sets)


def _tables(flows: Sequence[JobFlow], texts: Sequence[Mapping[str, str]], starts: Sequence[int]) -> str:
    """The flows in TOML."""
    found = []
    for flow, keys, start in zip(flows, texts, starts, strict=False):
        times = {"start": f'"{start}ns"'} if start else {}
        if flow.limit_ns is not None:
            times["stop"] = f'"{start + flow.limit_ns}ns"'
        lines = [f"{key} = {value}" for key, value in (dict(keys) | times).items()]
        found.append("\n".join(["[[flow]]", *lines, ""]))
    return "\n" + "\n".join(found)

"""Reader of fio's JSON output: jobs as loads, measurements as targets.

Field names are those of fio 3 (`fio --output-format=json`, stat.c): latencies in nanoseconds under `clat_ns`, from the
submission of a request to its completion, which is what the simulator calls latency.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.files.paths import shown
from interpulse.fitting.fio.figures import figures_of
from interpulse.fitting.fio.measured import DIRECTIONS, Direction, direction_of, flushes_of, merged, number
from interpulse.fitting.fio.options import alike, check_options, options_of
from interpulse.fitting.fio.output import read_output
from interpulse.fitting.fio.shape import Shape, shape_of
from interpulse.fitting.targets import Load, usual_state

LOST = 0.01
"""Largest share of dropped and short requests."""

START_S = 2.0
"""Time that fio needs beside its jobs, with its rounding to seconds."""


def loads(path: Path, tolerance: float, state: str | None, held_out: tuple[str, ...]) -> Iterator[Load]:
    """The loads of a file; `held_out`: jobs whose figures are predicted.

    Raises:
        ConfigError: the file is not fio's JSON, of an unsupported version, or one of its jobs cannot be a load.
    """
    whole = read_output(path)
    everywhere = whole.get("global options", {})
    groups: dict[object, list[Mapping[str, Any]]] = {}
    for at, job in enumerate(whole["jobs"]):
        group = job.get("groupid", f"job {at}")
        groups.setdefault(group if isinstance(group, int | str) else str(group), []).append(job)
    names = [str(job.get("jobname")) for job in whole["jobs"]]
    for name in held_out:
        if name not in names:
            raise ConfigError(f"{shown(path)}: held-out: there is no job {name!r}; expected one of {', '.join(names)}")
    read = [Group(path, everywhere, jobs) for jobs in groups.values()]
    _check_order(path, read)
    for group in read:
        yield group.load(tolerance, state, bool(set(held_out) & set(group.names)))


class Group:
    """Jobs that ran at the same time, which are one load.

    Attributes:
        names: their names.
        options: the options of the first one; those of the others make the same load.
        parts: measurements by direction.
        flushes: number and mean latency of the flushes.
    """

    def __init__(self, path: Path, everywhere: object, jobs: list[Mapping[str, Any]]) -> None:
        """Reads the jobs. Raises ConfigError if they are not one kind of load, or if one failed."""
        self.names = [str(job.get("jobname", "fio")) for job in jobs]
        self.place = f"{shown(path)}: job {self.names[0]}"
        self._source = f"fio, {shown(path.name)}"
        self._jobs = jobs
        every = []
        for job, name in zip(jobs, self.names, strict=True):
            place = f"{shown(path)}: job {name}"
            every.append(options_of(everywhere, job.get("job options", {}), place))
            _check_errors(job, place)
            check_options(every[-1], place)
        other = alike(every)
        if other is not None:
            raise ConfigError(
                f"{self.place}: job {self.names[other]} ran at the same time with other options; expected one kind of "
                "load at a time (stonewall in the job file)"
            )
        _check_devices(every, self.place)
        self.options = every[0]
        self.parts = {name: part for name in DIRECTIONS if (part := self._merged(name)) is not None}
        flushes = [flushes_of(job, self.place) for job in jobs]
        count = sum(each for each, _ in flushes)
        self.flushes = count, sum(each * mean for each, mean in flushes) / max(count, 1)

    @property
    def seconds(self) -> float:
        """Duration of the measurement; 0 if unknown."""
        return max((part.seconds for part in self.parts.values()), default=0.0)

    @property
    def elapsed(self) -> float:
        """Duration of the whole of fio until these jobs ended; 0 if unknown."""
        return max(number(job, "elapsed", self.place, 0) for job in self._jobs)

    def _merged(self, name: str) -> Direction | None:
        parts = [part for job in self._jobs if (part := direction_of(job, name, self.place)) is not None]
        return merged(parts) if parts else None

    def load(self, tolerance: float, state: str | None, out: bool) -> Load:
        """The load with its targets. Raises ConfigError where options and measurements contradict each other."""
        self._check_traffic()
        shape = shape_of(self.options, self.parts, self.flushes, len(self._jobs), self.place)
        targets, unused = figures_of(self.parts, shape, len(self._jobs), tolerance, self._source, out)
        return Load(
            self.names[0],
            self.place,
            shape.pattern,
            shape.read,
            shape.block,
            shape.depth,
            state or usual_state(shape.pattern, shape.read),
            (),
            targets,
            shape.flush_every,
            tuple(unused),
            self._notes(shape),
        )

    def _notes(self, shape: Shape) -> tuple[str, ...]:
        return tuple(f"{self.place}: {note}" for note in shape.notes)

    def _check_traffic(self) -> None:
        if not self.parts:
            raise ConfigError(f"{self.place}: iops: seen 0; expected a job that did something")
        for name, part in self.parts.items():
            if part.lost > LOST * part.count:
                raise ConfigError(
                    f"{self.place}: {name}: seen {part.lost} short or dropped requests of {part.count}; expected at "
                    f"most {100 * LOST:g} %"
                )


def _check_errors(job: Mapping[str, Any], place: str) -> None:
    for key in ("error", "total_err"):
        if number(job, key, place, 0):
            raise ConfigError(
                f"{place}: {key}: seen {job[key]!r}; expected 0: what a failed job measured is no figure of the drive"
            )


def _check_devices(every: list[dict[str, str]], place: str) -> None:
    """Raises ConfigError if the jobs used several devices: together they are no single drive."""
    files = {name for options in every for name in options.get("filename", "").replace("\\:", "").split(":") if name}
    devices = sorted({name for name in files if name.startswith("/dev/")})
    if len(devices) > 1:
        raise ConfigError(f"{place}: filename: seen {', '.join(devices)}; expected one device, which the fit is of")


def _check_order(path: Path, groups: list[Group]) -> None:
    """Raises ConfigError if groups ran at the same time (new_group), as far as their times show."""
    later = [group for group in groups[1:] if "stonewall" not in group.options]
    took, elapsed = sum(group.seconds for group in groups), max(group.elapsed for group in groups)
    if later and elapsed and took > 1.05 * elapsed + START_S:
        raise ConfigError(
            f"{shown(path)}: elapsed: seen {elapsed:g} s, in which {len(groups)} groups of jobs ran for {took:.0f} s "
            "in all; expected one group at a time (stonewall, without new_group)"
        )

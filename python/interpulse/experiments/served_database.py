"""A database on a served drive, without suspension and with several schemes: the frame of both databases."""

from __future__ import annotations

import hashlib
import math
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from interpulse._core import ConfigError, RunError
from interpulse.blockdevice import commands, filesystem, requirements
from interpulse.blockdevice.server import Served, serving
from interpulse.blockdevice.workload import KINDS, Load, Workload
from interpulse.configuration.config import Config, toml_value
from interpulse.experiments.served_database_output import outcome
from interpulse.studies.case import Sets, derived_seed
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome

DRIVE = "../database/drive.toml"
"""The drive of both databases, from the folder of the study."""

PACE = 10.0
"""Wall time over drive time, where `--pace` does not say another one."""

WAYS: dict[str, Sets] = {
    "none": {},
    "zambelli": {"suspend.program.scheme": "loop-boundary", "suspend.program.max-suspends": 10},
    "fast12": {"suspend.program.scheme": "intra-phase-cancel", "suspend.erase.scheme": "pulse-remainder"},
    "atc19": {"suspend.erase.scheme": "timeout"},
    "both": {"suspend.program.scheme": "loop-boundary", "suspend.erase.scheme": "timeout"},
    "ideal": {"suspend.program.scheme": "ideal", "suspend.erase.scheme": "ideal"},
}
"""Suspension of the papers, of two of them together, and the bound."""

WARM_UP_S = {True: 0.2, False: 0.6}
WINDOW_S = {True: 0.6, False: 2.4}
"""Drive time of a quick and a full run."""

QUANTILES = [1 - 10 ** (-step / 20) for step in range(81)]
"""Points of the curves: from the least to the slowest of ten thousand."""

LEAST_FREE = 6 << 30
"""Bytes of memory from which on the data are kept in it: a disk that is busy elsewhere would delay the server."""

ONE_AT_A_TIME = Lock()
"""Seeds are threads; two measurements at a time would disturb each other."""


@dataclass(frozen=True)
class Job:
    """One measurement."""

    way: str
    repeat: int
    seed: int
    rate: float
    pace: float
    quick: bool
    config_hash: str

    @property
    def name(self) -> str:
        """Name in progress lines."""
        return f"{self.way} #{self.repeat + 1}"

    @property
    def identity(self) -> str:
        """A hash of all that determines the load; the answer also depends on the machine."""
        return hashlib.sha256(f"served database 2 {self}".encode()).hexdigest()[:32]

    @property
    def load(self) -> Load:
        """The load in wall time."""
        warm_up, window = (WARM_UP_S[self.quick] * self.pace, WINDOW_S[self.quick] * self.pace)
        return Load(self.rate / self.pace, warm_up, window, self.seed)


@dataclass(frozen=True)
class Running:
    """Progress of a measurement."""

    case: str
    phase: str
    done: int = 0
    total: int = 0
    unit: str = "s"


@dataclass
class Bench:
    """A prepared database, and measurements on copies of it."""

    context: Context
    config: Config
    workload: Workload
    folder: Path
    _prepared: bool = field(default=False, init=False)

    def measure(self, job: Job) -> dict[str, Any]:
        """Measures one way on a copy of the prepared drive."""
        if not self._prepared:
            self._prepare()
        for suffix in ("", ".state"):
            _copy_sparse(self.folder / f"base{suffix}", self.folder / f"data{suffix}")
        sets = [f"{key}={toml_value(value)}" for key, value in WAYS[job.way].items()]
        length = round(job.load.warm_up + job.load.window)

        def watch(seconds: float) -> None:
            self._progress(Running(job.name, "load", min(round(seconds), length), length))

        self._progress(Running(job.name, "start"))
        with (
            self._drive(f"{job.pace:g}", "data", *sets) as (served, device),
            filesystem.protected_cache(device),
            filesystem.mounted(device, self.folder) as place,
        ):
            latencies = self.workload.run(place, job.load, watch)
        lost = [kind for kind in KINDS if not latencies[kind]]
        if lost:
            raise RunError(f"{job.name}: no {lost[0]} transaction has ended; is the load too high for the drive?")
        return {"transactions": {kind: summary(latencies[kind], job.pace) for kind in KINDS}, "drive": served.report}

    def _prepare(self) -> None:
        """Makes file system and database at the highest pace, on a full drive in its steady state."""
        self._progress(Running("database", "prepare"))
        with (
            self._drive("max", "base") as (_, device),
            self._made(device) as place,
        ):
            self.workload.prepare(place)
        self._prepared = True

    @contextmanager
    def _made(self, device: Path) -> Iterator[Path]:
        filesystem.make(device)
        with filesystem.mounted(device, self.folder) as place:
            yield place
        filesystem.check(device)

    @contextmanager
    def _drive(self, pace: str, backing: str, *sets: str) -> Iterator[tuple[Served, Path]]:
        """The served drive as a block device."""
        overrides = [f"{key}={toml_value(value)}" for key, value in self.config.sets]
        options = ("--backing", str(self.folder / backing))
        with (
            serving(self.folder, Path(self.config.path), pace, *options, sets=[*overrides, *sets]) as served,
            filesystem.block_device(served.uri, self.folder) as device,
        ):
            yield served, device

    def _progress(self, running: Running) -> None:
        self.context.progress([running])


def _copy_sparse(source: Path, target: Path) -> None:
    """Copies a file with its holes."""
    target.unlink(missing_ok=True)
    commands.run("cp", "--sparse=always", source, target)


def growth(latencies: Sequence[float]) -> float:
    """Mean latency of the last quarter over that of the first: far above 1, the load is more than what is served."""
    quarter = max(1, len(latencies) // 4)
    return sum(latencies[-quarter:]) / sum(latencies[:quarter])


def summary(latencies: Sequence[float], pace: float) -> dict[str, Any]:
    """Percentiles in us of drive time, of latencies in the order of completion."""
    ordered = sorted(1e6 * each / pace for each in latencies)

    def at(quantile: float) -> float:
        return ordered[min(len(ordered) - 1, math.ceil(quantile * len(ordered)) - 1 if quantile else 0)]

    return {
        "count": len(ordered),
        "growth": growth(latencies),
        "mean": math.fsum(ordered) / len(ordered),
        **{name: at(quantile) for name, quantile in {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}.items()},
        "curve": [at(quantile) for quantile in QUANTILES if quantile <= 1 - 1 / len(ordered)],
    }


def run(context: Context, workload: Workload, rate: float) -> Outcome:
    """Runs the experiment at so many transactions per second of drive time."""
    if context.workers is not None:
        raise ConfigError(f"{context.name} needs the devices of this machine and cannot run on a cluster")
    requirements.require(f"experiment {context.name}", (*requirements.FILE_SYSTEM, *workload.programs))
    pace = context.pace or PACE
    config = context.config(DRIVE)
    jobs = []
    for way, sets in WAYS.items():
        hashed = context.plan(way, config, sets).config_hash
        jobs += [
            Job(way, repeat, derived_seed(context.seed, repeat), rate, pace, context.quick, hashed)
            for repeat in range(context.repeats)
        ]
    # Repeats before ways: a slow drift of the machine falls on all ways alike.
    jobs.sort(key=lambda job: job.repeat)

    def do(missing: Sequence[Job]) -> None:
        if not missing:
            return
        with ONE_AT_A_TIME, _folder() as folder:
            bench = Bench(context, config, workload, folder)
            for job in missing:
                context.keep({job.identity: bench.measure(job)})

    answers = context.answers(jobs, do)
    found: dict[str, list[Mapping[str, Any]]] = {way: [] for way in WAYS}
    for job, answer in zip(jobs, answers, strict=True):
        found[job.way].append(answer)
    return outcome(context.rows(), found, QUANTILES, pace, rate)


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder for the data, in memory where there is room; PostgreSQL's account can reach it."""
    memory = Path("/dev/shm")
    inside = memory if memory.is_dir() and shutil.disk_usage(memory).free >= LEAST_FREE else None
    folder = Path(tempfile.mkdtemp(prefix="interpulse-database-", dir=inside))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)

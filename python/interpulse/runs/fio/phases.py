"""Runs of job files: the configuration of a job file and a drive, and simulations that find when jobs end."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import interpulse._core as _core
from interpulse._core import ConfigError
from interpulse.configuration.cases import positions
from interpulse.configuration.config import Config
from interpulse.files.paths import read_text, shown
from interpulse.fio.jobfile import read_job_file
from interpulse.runs.runner import execute

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interpulse.fio.expansion import Ends, Jobs, Sets
    from interpulse.runs.runner import Going, Options


def job_config(job_file: Path, drive: Path) -> Config:
    """The configuration that runs a job file on a drive.

    Args:
        job_file: of fio.
        drive: a configuration without [[flow]], or the name of a preset.

    Raises:
        ConfigError: a file cannot be read, or the drive has flows of its own.
    """
    read_job_file(job_file)
    if not drive.exists() and drive.suffix != ".toml":
        text, path = f"drive = {json.dumps(str(drive))}\n", f"<--drive {drive}>"
    else:
        text, path = read_text(drive, "the configuration of the drive"), str(drive)
    try:
        keys = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        # The core has the message for text that is no TOML.
        _core.resolve(text, path, [], None, None, False)
        raise
    if "flow" in keys:
        raise ConfigError(
            f"{shown(path)}: flow: seen [[flow]] beside the job file {shown(job_file)}; expected a drive without flows"
        )
    return Config.from_toml(f"{text}\n[[flow]]\nfio = {json.dumps(str(job_file.absolute()))}\n", path=path)


class _Quiet:
    """Watcher of a run whose notes come again with the whole run."""

    def progress(self, cases: Sequence[Going]) -> None:
        """Shows nothing."""

    def note(self, line: str) -> None:
        """Shows nothing."""


def ends_by_simulation(options: Options, seed: int | None, cases: Sequence[str] | None = None) -> Ends:
    """Function that simulates the first jobs of a job file to find when they end."""

    def ends(text: str, path: str, sets: Sets) -> int:
        plan = _core.resolve(text, path, sets, None, seed, False)
        if cases:
            plan = plan.only(positions(plan.case_names, cases))
        if len(plan.case_names) > 1:
            raise ConfigError(
                f"{shown(path)}: case: seen {len(plan.case_names)} cases; expected one (--case): jobs after stonewall "
                "begin when those before it have ended, which differs from case to case"
            )
        simulated: float = execute(plan, options, _Quiet()).raw["simulated_s"]
        return math.ceil(simulated * 1e9)

    return ends


def flow_starts(jobs: Jobs | None) -> Callable[[str], int]:
    """Start of each flow from the beginning of the measurement window, by its name."""
    starts: dict[str, int] = {}
    if jobs is not None:
        pairs = zip(jobs.flows, jobs.starts_ns, strict=True)
        starts = {flow.clone.name: start for flow, start in pairs}
    return lambda name: starts.get(name, 0)

"""Options of `interpulse run` for job files and fio's output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interpulse._core import Plan
from interpulse.cli.exit_codes import UserError
from interpulse.configuration.config import Config, parse_set
from interpulse.fio.expansion import Ends, Jobs
from interpulse.logs.options import LogOptions
from interpulse.runs.fio.measured import FioRecording
from interpulse.runs.fio.output import FORMATS, fio_json, held_back
from interpulse.runs.fio.phases import ends_by_simulation, flow_starts, job_config
from interpulse.runs.runner import Options


def loaded_jobs(
    job_file: Path | str,
    drive: Path | None,
    settings: Sequence[str],
    options: Options,
    seed: int | None,
    *,
    cases: Sequence[str] | None,
    trace: Path | str | None,
    trace_keys: Sequence[tuple[str, str]],
) -> tuple[Config, Ends]:
    """The configuration of a job file on a drive with `--set` options, and the function for its `ends`."""
    if drive is None:
        raise UserError(f"{job_file}: a fio job file runs on a drive: give --drive with a configuration or a preset")
    if trace is not None or trace_keys:
        raise UserError("--trace and its siblings replay a trace; a job file has read_iolog for that")
    config = job_config(Path(job_file), drive)
    for text in settings:
        key, value = parse_set(text)
        config.set(key, value)
    return config, ends_by_simulation(options, seed, cases)


def check_format(output_format: str, logs: LogOptions | None, *, json: bool, counters: bool, repeat: bool) -> None:
    """Raises UserError for an unknown format, or beside options that print or record something else."""
    if output_format not in FORMATS:
        raise UserError(f"--output-format: seen {output_format!r}; expected {' or '.join(FORMATS)}")
    beside = {"--json": json, "--counters": counters, "--repeat": repeat}
    beside["--log, --series, --timeline and --report"] = logs is not None
    for option, given in beside.items():
        if given:
            raise UserError(f"--output-format prints fio's output of one run: omit {option}")


class FioOutput:
    """fio's output of a run: records all requests, then writes the text.

    Attributes:
        recording: of the run.
    """

    def __init__(self, plan: Plan, jobs: Jobs | None, output_format: str) -> None:
        self._jobs, self._plus = jobs, output_format == FORMATS[1]
        self.recording = FioRecording(plan, flow_starts(jobs))
        self.file_name = "fio.json"

    @property
    def notes(self) -> list[str]:
        """What a user should know of the figures."""
        return [] if self._jobs is None else held_back(self.recording.flows, self._jobs)

    @property
    def text(self) -> str:
        """The JSON document."""
        return fio_json(self.recording.flows, self._jobs, plus=self._plus)

"""A worker's function that writes down how much CPU time the simulator itself took: the threads of the core alone."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse.sweeps import worker

if TYPE_CHECKING:
    from interpulse.sweeps.batch import Batch, Report

SPENT = "INTERPULSE_TEST_SPENT"
"""The variable that names the folder of what is written down."""

_run = worker._Worker._run


def _timed(self: Any, *given: Any) -> Any:  # noqa: ANN401 - as the method
    # What this thread does meanwhile (looking, keeping what has ended) is the sweep's.
    whole, own = time.process_time(), time.thread_time()
    try:
        return _run(self, *given)
    finally:
        spent = (time.process_time() - whole) - (time.thread_time() - own)
        with (Path(os.environ[SPENT]) / str(os.getpid())).open("a") as file:
            file.write(f"{spent}\n")


def run(batch: Batch) -> Report:
    """As `run_batch`."""
    worker._Worker._run = _timed  # type: ignore[method-assign, assignment]
    return worker.run_batch(batch)

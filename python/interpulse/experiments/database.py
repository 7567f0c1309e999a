"""PostgreSQL under pgbench on a served drive, without suspension and with several schemes."""

from __future__ import annotations

from interpulse.blockdevice.pgbench import PgBench
from interpulse.experiments.served_database import run as run_on_drive
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome

RATE = 1500.0
"""Transactions per second of drive time: half of what the drive without suspension sustains with 16 clients."""


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    return run_on_drive(context, PgBench(), RATE)

"""SQLite on a served drive, without suspension and with several schemes."""

from __future__ import annotations

from interpulse.blockdevice.sqlite import Sqlite
from interpulse.experiments.served_database import run as run_on_drive
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome

RATE = 500.0
"""Transactions per second of drive time; SQLite executes the quarter of them that writes one after the other, and a
higher rate is too much for it without suspension."""


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    return run_on_drive(context, Sqlite(), RATE)

"""Program suspension in a TLC drive (Zambelli et al., Electronics 2021)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpulse.experiments.case import Case
from interpulse.experiments.outcome import Outcome

if TYPE_CHECKING:
    from interpulse.experiments.context import Context


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    drive = context.config("drive.toml")
    ten = {"suspend.program.scheme": "loop-boundary", "suspend.program.max-suspends": 10}
    results = context.run([Case("none", drive), Case("ten", drive, ten)])
    rows = context.rows()
    rows.add("iops_gain_qd64_25w", (results["ten"][0].iops - results["none"][0].iops) / 1e3)
    return Outcome(rows)

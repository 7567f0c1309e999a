"""The page about runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interpulse.report import registry, runs
from interpulse.report.page import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse.report.runs import Run


def page(of: Sequence[Run]) -> bytes:
    """The page as a file; several runs are compared.

    Raises:
        ConfigError: no run has a case with figures.
        ValueError: the page would be too large.
    """
    report = runs.of(of)
    title = next((run.result.raw.get("config", {}).get("title") for run in of), None) or "interpulse report"
    seeds = sorted({seed for series in report.series for seed in series.seeds})
    parts = [
        f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}",
        f"config {of[0].result.config_hash}" if len(of) == 1 else f"{len(of)} results",
        f"{len(report.series)} case{'s' * (len(report.series) > 1)}",
    ]
    return render(_title(of) or title, "; ".join(parts), registry.sections(report), report.notes)


def _title(of: Sequence[Run]) -> str:
    """What the configurations call themselves, where they agree."""
    found = {entry["value"] for run in of for entry in run.entries if entry["key"] == "title"}
    return found.pop() if len(found) == 1 and found != {"not set"} else ""

"""Page about runs."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from interpulse.report import registry, runs
from interpulse.report.page import render
from interpulse.report.runs import Run
from interpulse.runs.summary import config_label


def page(of: Sequence[Run]) -> bytes:
    """The page as a file; several runs are compared.

    Raises:
        ConfigError: no run has a case with figures, or Bokeh is not installed.
        ValueError: the page would be too large.
    """
    report = runs.of(of)
    title = next((run.result.raw.get("config", {}).get("title") for run in of), None) or "interpulse report"
    seeds = sorted({seed for series in report.series for seed in series.seeds})
    count = f"{len(of)} results; {len(report.series)} case{'s' * (len(report.series) > 1)}"
    what = config_label([case.raw for case in of[0].result.cases]) if len(of) == 1 else count
    about = f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}; {what}"
    # A page that is too large gets fewer drawings, then none.
    for pieces in (report.pieces, report.pieces // 4):
        with suppress(ValueError):
            return render(_title(of) or title, about, registry.sections(replace(report, pieces=pieces)), report.notes)
    return render(_title(of) or title, about, registry.sections(replace(report, pieces=0)), report.notes)


def _title(of: Sequence[Run]) -> str:
    """The title of the configurations, where they agree."""
    found = {entry["value"] for run in of for entry in run.entries if entry["key"] == "title"}
    return found.pop() if len(found) == 1 and found != {"not set"} else ""

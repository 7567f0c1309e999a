"""Section registry of a page about runs; a section is one line here and one file in `sections/`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from interpulse.report.elements import Section
from interpulse.report.runs import Report

SECTIONS = (
    "answer",
    "slowest",
    "figures",
    "latency",
    "attribution",
    "over_time",
    "activity",
    "dies",
    "wear",
    "power",
    "configuration",
    "method",
)
"""The files, each with a function `section` that takes a `Report` and returns a `Section`, None with nothing to say."""


def sections(report: Report) -> Iterator[Section]:
    """The sections that have something to say."""
    for name in SECTIONS:
        found: Section | None = import_module(f"interpulse.report.sections.{name}").section(report)
        if found is not None:
            yield found

"""The experiment `decade`: every scheme and erase method is in it, and its rows and plot have all ways of a drive."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from interpulse.configuration.lists import listed
from interpulse.experiments import decade, decade_ways
from interpulse.experiments.registry import find
from interpulse.plotting.plots import to_bytes

if TYPE_CHECKING:
    import pytest


def test_every_scheme_and_erase_method_is_a_way() -> None:
    lists = listed()
    schemes = {str(way.sets.get("suspend.erase.scheme", "none")) for way in decade_ways.WAYS}
    assert schemes >= {scheme["name"] for scheme in lists["schemes"]}
    assert len({way.name for way in decade_ways.WAYS}) == len(decade_ways.WAYS)
    years = [way.year for way in decade_ways.WAYS]
    assert years == sorted(years)
    assert len({drive.name for drive in decade_ways.drives()}) == 8


def test_rows_notes_and_plot_of_two_small_drives(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"run.requests": 3000, "run.warmup": "10ms", "part.blocks-per-plane": 32, "precondition.drive-writes": 0.2}
    ways = [way for way in decade_ways.WAYS if way.name in ("none", "ideal", "loop-boundary", "aero")]
    kinds = [drive for drive in decade_ways.drives() if drive.name in ("tlc", "tlc-iwl")]
    monkeypatch.setattr(decade, "WAYS", ways)
    monkeypatch.setattr(decade, "drives", lambda: kinds)
    monkeypatch.setattr(decade, "LENGTHS", {True: small})
    outcome = decade.run(replace(find("decade").context(quick=True), seeds=1))
    rows = {row.name: row.ours for row in outcome.rows.ordered()}
    assert len(rows) >= len(kinds) * len(ways) * len(decade.MEASURES)
    assert rows["tlc_read_p99.9_ideal"] < rows["tlc_read_p99.9_none"]  # type: ignore[operator]
    assert [note.split(":")[0] for note in outcome.notes] == [*(drive.title for drive in kinds), "windows steady"]
    assert all("shortest with loop-boundary" in note for note in outcome.notes[:-1])
    (plot,) = outcome.plots
    forms = dict(to_bytes(plot))
    assert b"read p99.99" in forms["svg"] or forms["svg"].count(b"<path") > 100
    assert len(forms["png"]) > 10_000

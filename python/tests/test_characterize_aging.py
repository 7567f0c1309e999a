"""*Do `interpulse characterize retention` and `endurance` say what time and wear do to cells?* The quick runs."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from interpulse.characterize import part
from interpulse.characterize.aging import CYCLES, HOURS, PAGE_TYPES, READS, crossing
from interpulse.characterize.registry import find
from interpulse.characterize.retention import CELSIUS, FILE, READ_COUNTS, TABLE_CYCLES, TABLE_HOURS, TABLE_LAYERS
from interpulse.studies.outcome import Outcome
from interpulse.studies.output import to_json


def _quick(kind: str) -> tuple[Outcome, dict[str, Any]]:
    tester = find(kind).context("a4-tlc", quick=True)
    outcome = find(kind).run(tester)
    answer: dict[str, Any] = json.loads(to_json(tester, outcome))
    return outcome, answer


@pytest.fixture(scope="module")
def retention() -> tuple[Outcome, dict[str, Any]]:
    return _quick("retention")


@pytest.fixture(scope="module")
def endurance() -> tuple[Outcome, dict[str, Any]]:
    return _quick("endurance")


def test_every_place_has_its_rows(retention: tuple[Outcome, dict[str, Any]]) -> None:
    _, found = retention
    places = len(CYCLES) * len(CELSIUS) * len(HOURS)
    assert len(found["retention"]) == places * len(PAGE_TYPES) * len(READS)
    assert len(found["thresholds"]) == places
    assert len(found["states"]) == 8 * places
    assert len(found["read_disturb"]) == len(CYCLES) * len(READ_COUNTS) * len(PAGE_TYPES) * len(READS)
    assert len(found["capability"]) == len(CYCLES) * len(CELSIUS) * len(READS)


def test_the_state_table_is_met(retention: tuple[Outcome, dict[str, Any]]) -> None:
    _, found = retention
    means = [row for row in found["published"] if row["name"].startswith("mean_")]
    assert len(means) == 8
    assert all(row["holds"] for row in means), means
    # Few cells: the rates of a year, of which there are enough errors even here.
    rates = [row for row in found["published"] if row["name"] in ("rber_optimal_1y", "rber_frozen_1y")]
    assert all(row["holds"] for row in rates), rates


def test_heat_and_wear_cost_retention(retention: tuple[Outcome, dict[str, Any]]) -> None:
    _, found = retention

    def keeps(cycles: int, celsius: float) -> float:
        (row,) = [
            row
            for row in found["capability"]
            if (row["cycles"], row["celsius"], row["read"]) == (cycles, celsius, "calibrated")
        ]
        return float("inf") if row["hours_to_limit"] is None else float(row["hours_to_limit"])

    assert keeps(3000, 55.0) < keeps(3000, 25.0)
    assert keeps(3000, 55.0) < keeps(0, 55.0)


def test_the_error_table_is_one(retention: tuple[Outcome, dict[str, Any]]) -> None:
    outcome, _ = retention
    files = dict(outcome.files)
    assert list(files) == [part.FILE, FILE]
    table = tomllib.loads(files[FILE].decode())["error-table"]
    assert (table["cycles"], table["layer-fraction"]) == (list(TABLE_CYCLES), list(TABLE_LAYERS))
    assert table["retention-h"] == list(TABLE_HOURS)
    entries = len(TABLE_CYCLES) * len(TABLE_HOURS) * len(TABLE_LAYERS) * 3 * len(table["attempts"])
    assert len(table["rber"]) == entries
    assert all(0 < rate <= 0.5 for rate in table["rber"])


def test_wear_slows_erases_and_speeds_programs(endurance: tuple[Outcome, dict[str, Any]]) -> None:
    outcome, found = endurance
    first, last = found["operations"][0], found["operations"][-1]
    assert last["tprog_mean_us"] < first["tprog_mean_us"]
    assert last["tbers_mean_us"] > 2 * first["tbers_mean_us"]
    assert first["tprog_mean_us"] == pytest.approx(2000, rel=0.1)
    keys = tomllib.loads(dict(outcome.files)[part.FILE].decode())["part"]
    assert (keys["program-loops"]["value"], keys["erase-loops"]["value"]) == (16, 5)
    by_kept = {
        row["kept"]: row["cycles_to_limit"] or float("inf")
        for row in found["cycles_to_limit"]
        if row["read"] == "calibrated"
    }
    assert by_kept["3 months, 40 °C"] < by_kept["none"]


def test_a_limit_is_crossed_between_two_points() -> None:
    # Straight in both logarithms: from 10 to 1000 at the square root of the distance.
    assert crossing([1.0, 100.0], [10.0, 1000.0], 100.0) == pytest.approx(10.0)
    assert crossing([1.0, 100.0], [200.0, 1000.0], 100.0) == 1.0
    assert crossing([1.0, 100.0], [10.0, 90.0], 100.0) is None
    assert crossing([0.0, 100.0], [10.0, 1000.0], 100.0) == pytest.approx(50.0)

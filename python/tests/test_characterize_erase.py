"""*Does `interpulse characterize erase` say what suspension does to blocks?* The quick run, with fewer cells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interpulse.characterize.erase import DESIGNS, RATED, loads


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    from interpulse.characterize.registry import find
    from interpulse.studies.output import to_json

    tester = find("erase").context("a4-tlc", quick=True, settings={"cells": 512})
    answer: dict[str, Any] = json.loads(to_json(tester, find("erase").run(tester)))
    return answer


def _row(found: dict[str, Any], load: str, design: str) -> dict[str, Any]:
    (row,) = [row for row in found["schemes"] if (row["load"], row["design"]) == (load, design)]
    return dict(row)


def test_every_load_and_design_has_a_row(found: dict[str, Any]) -> None:
    assert len(found["schemes"]) == 1 + sum(len(of) for of in loads().values())
    assert all(row["passed"] for row in found["schemes"])
    assert {row["design"] for row in found["schemes"]} == set(DESIGNS)


def test_blocks_are_suspended_about_as_often_as_in_the_experiment(found: dict[str, Any]) -> None:
    for row in found["schemes"][1:]:
        assert row["suspends_mean"] == pytest.approx(row["suspends_asked"], rel=0.5), row


def test_what_is_done_again_wears_and_what_is_not_does_not(found: dict[str, Any]) -> None:
    for load in loads():
        for design in ("ideal", "des"):
            row = _row(found, load, design)
            assert row["stress_ratio"] == pytest.approx(1)
            assert row["deeper_steps"] == pytest.approx(0)
        for design in ("es", "ies", "tes"):
            row = _row(found, load, design)
            assert row["stress_ratio"] > 1.2
            assert row["lifetime_cycles"] == pytest.approx(found["limit_cycles"] / row["stress_ratio"])
            assert row["effective_cycles"] == pytest.approx(RATED * row["stress_ratio"])
    # A ramp hardly erases; a restarted pulse does.
    assert _row(found, "starvation", "es")["deeper_counted_steps"] == pytest.approx(0)
    assert _row(found, "starvation", "ies")["deeper_counted_steps"] > 10


def test_every_statement_of_the_slides_holds(found: dict[str, Any]) -> None:
    judged = [row for row in found["published"] if row["holds"] is not None]
    assert len(judged) == 6
    assert all(row["holds"] for row in judged), judged


def test_uncorrectable_errors_grow_with_wear(found: dict[str, Any]) -> None:
    rates = [row["uber"] for row in found["uber"]]
    assert rates == sorted(rates)
    assert 500 < found["limit_cycles"] < 5000


def test_an_option_of_another_kind_is_refused() -> None:
    from typer.testing import CliRunner

    from interpulse.cli.app import app

    done = CliRunner().invoke(app, ["characterize", "erase", "--poll", "host", "--no-cache", "--json"])
    assert done.exit_code != 0
    assert "--poll does not apply to characterize erase" in str(done.exception)

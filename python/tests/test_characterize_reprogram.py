"""*Does `interpulse characterize reprogram` make the paper's tables of what the core answers?*"""

from __future__ import annotations

import json
import tomllib
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from interpulse import _core
from interpulse.characterize import reprogram_table
from interpulse.characterize.part import FILE
from interpulse.characterize.registry import find
from interpulse.characterize.reprogram import SCHEMES
from interpulse.cli.app import app
from interpulse.studies.output import to_json


class FakeBlock:
    """Pages with errors that are easy to count: the layer's number, and ten times it with default reads."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.tables: list[dict[str, Any]] = []

    def cell_job(self, kind: str, request: str) -> str:
        """As `_core.cell_job`."""
        if kind == "part":
            part = {"preset": "ressd-tlc", "stated": [], "program_pulse_us": 35.0, "pages_per_block": 384}
            return json.dumps(part | {"program_loops": 24, "program_verify_us": 90.0, "two_bit_read_us": 53.0})
        if kind == "reprogram-block":
            return json.dumps({"layers": 64, "word_lines": 4})
        asked = json.loads(request)
        if kind == "reprogram-table":
            self.tables.append(asked)
            return json.dumps({"toml": "[error-table]\n", "spread_ln_sd": 0.25})
        self.asked.append(asked)
        first = asked["first_layer"]
        layers = range(first, first + asked["layers"])
        pages = [self._page(layer, page) for layer in layers for page in ("lower", "upper")]
        older = [{**page, "errors_calibrated": page["errors_calibrated"] + 1} for page in pages]
        pulses = {0: (20, None), 2: (15, 10)}.get(asked["super_layer"], (14, 9))
        first_pulses, again = ({"pulses": n and 8 * n, "programs": 8 if n else 0} for n in pulses)
        answer: dict[str, Any] = {"pages": pages, "aged": [older for _ in asked.get("hours", ())]}
        answer |= {"first": first_pulses, "again": {key: value or 0 for key, value in again.items()}}
        if "histogram_bin" in asked:
            # Parts begin at different voltages.
            answer["histogram"] = {"from": 4 * first, "bin": 4, "states": [[1, 2]] * 8}
        return json.dumps(answer)

    @staticmethod
    def _page(layer: int, page: str) -> dict[str, Any]:
        errors = {"errors_default": 10 * layer, "errors_calibrated": layer}
        return {"layer": layer, "word_line": 0, "page_type": page, **errors}


def _found(monkeypatch: pytest.MonkeyPatch, *, quick: bool) -> tuple[FakeBlock, dict[str, Any]]:
    block = FakeBlock()
    monkeypatch.setattr(_core, "cell_job", block.cell_job)
    tester = find("reprogram").context("b17a-tlc", quick=quick)
    return block, json.loads(to_json(tester, find("reprogram").run(tester)))


def test_a_full_run_has_every_layer_of_a_block_once(monkeypatch: pytest.MonkeyPatch) -> None:
    block, found = _found(monkeypatch, quick=False)
    for height in SCHEMES.values():
        parts = [asked for asked in block.asked if asked["super_layer"] == height and "hours" not in asked]
        layers = [n for asked in parts for n in range(asked["first_layer"], asked["first_layer"] + asked["layers"])]
        assert sorted(layers) == list(range(64))
        assert all(asked["first_layer"] % max(height, 1) == 0 for asked in parts)
    assert [row["name"] for row in found["table2"]] == list(SCHEMES)
    for row in found["table2"]:
        assert row == {**row, "dvo_max": 630, "dvo_mean": 315, "ovo_max": 63, "ovo_mean": 31.5, "pages": 128}
    assert [(row["name"], row["retention"], row["max"], row["mean"], row["pages"]) for row in found["table3"]] == [
        ("normal", False, 63, 31.5, 128),
        ("normal", True, 64, 32.5, 128),
        ("reprogram", False, 63, 31.5, 128),
        ("reprogram", True, 64, 32.5, 128),
    ]


def test_the_part_has_the_loops_of_reprogramming(monkeypatch: pytest.MonkeyPatch) -> None:
    """15 and 10 pulses where a conventional program takes 20: of the part's 24 loops."""
    block = FakeBlock()
    monkeypatch.setattr(_core, "cell_job", block.cell_job)
    outcome = find("reprogram").run(find("reprogram").context("b17a-tlc", quick=True))
    part = tomllib.loads(dict(outcome.files)[FILE].decode())["part"]["reprogram"]
    values = {key: of["value"] for key, of in part.items()}
    assert values == {
        "mlc-loops": 18,
        "mlc-pulse": "35us",
        "mlc-verify": "90us",
        "loops": 12,
        "pulse": "35us",
        "verify": "90us",
        "read": "53us",
    }


def test_histograms_of_parts_are_laid_upon_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    _, found = _found(monkeypatch, quick=False)
    first = found["histograms"][0]
    assert (first["name"], first["from"], first["bin"]) == ("conventional", 0, 4)
    # Six parts of twelve layers begin twelve bins apart.
    expected = [0] * 62
    for part in range(6):
        expected[12 * part] += 1
        expected[12 * part + 1] += 2
    assert first["states"] == [expected] * 8


def test_a_quick_run_has_the_same_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    block, found = _found(monkeypatch, quick=True)
    _, full = _found(monkeypatch, quick=False)
    for key in ("table2", "table3", "histograms"):
        assert [row["name"] for row in found[key]] == [row["name"] for row in full[key]]
    assert [row["name"] for row in found["published"]] == [row["name"] for row in full["published"]]
    assert all(asked["first_layer"] % max(asked["super_layer"], 1) == 0 for asked in block.asked)
    assert all(asked["layers"] % max(asked["super_layer"], 1) == 0 for asked in block.asked)


def test_the_error_table_has_every_place_of_its_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    for quick in (True, False):
        block, found = _found(monkeypatch, quick=quick)
        (table,) = block.tables
        pieces = [asked for asked in block.asked if "steps" in asked]
        places = list(product(table["cycles"], table["reprograms"], table["layer_fraction"]))
        assert len(places) == len(pieces) == len(table["pieces"])
        for (cycles, reprograms, fraction), asked in zip(places, pieces, strict=True):
            assert (asked["cycles"], asked["steps"]) == (cycles, 2 * reprograms)
            assert asked["super_layer"] == (2 if reprograms else 0)
            assert (asked["first_layer"] + 1) / 64 == fraction
            assert (asked["hours"], asked["celsius"]) == (table["hours"], table["celsius"])
            assert asked["cells"] == table["cells"]
        assert found["error_table"] == {"spread_ln_sd": 0.25}


def test_a_drive_takes_the_error_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real core with few cells: the file is a table for a drive of three bits a cell, reprogrammed or not."""
    monkeypatch.setattr(reprogram_table, "QUICK_CELLS", 2048)
    tester = find("reprogram").context("b17a-tlc", quick=True)
    table = reprogram_table.of(tester, 64, tester.ask(reprogram_table.jobs(tester, 64)))
    (tmp_path / reprogram_table.FILE).write_text(table.toml)
    config = tmp_path / "drive.toml"
    config.write_text(
        'drive = "a4"\n[errors]\ntable = "errors.toml"\ninitial-age = "90d"\n'
        "[run]\nrequests = 10\n[[flow]]\ndepth = 1\n"
    )
    for sets in ([], ["--set", "errors.reprograms=2"]):
        shown = CliRunner().invoke(app, ["show", str(config), *sets])
        assert shown.exit_code == 0, shown.output
        assert "errors.toml" in shown.output
    # Drives know the counts of the table and none beyond.
    beyond = CliRunner().invoke(app, ["show", str(config), "--set", "errors.reprograms=3"])
    assert "errors.reprograms: seen 3; expected at most 2, where the table ends" in str(beyond.exception)
    (axes,) = tomllib.loads(table.toml).values()
    assert (axes["cycles"], axes["reprograms"], axes["attempts"]) == ([0, 1000], [0, 1, 2], ["default", "calibrated"])
    assert len(axes["rber"]) == 2 * 3 * 3 * 3 * 3 * 2


def test_quick_figures_hold_against_the_paper() -> None:
    """The real core, quick: every bound of both tables."""
    tester = find("reprogram").context("b17a-tlc", quick=True)
    found = json.loads(to_json(tester, find("reprogram").run(tester)))
    missed = [row for row in found["published"] if row["holds"] is not True]
    assert len(found["published"]) == 4 * 4 + 1 + 8
    assert not missed, missed

"""*Does `interpulse characterize reprogram` make the paper's tables of what the core answers?*"""

from __future__ import annotations

import json
from typing import Any

import pytest

from interpulse import _core
from interpulse.characterize.bench import Bench
from interpulse.characterize.output import to_json
from interpulse.characterize.registry import find
from interpulse.characterize.reprogram import SCHEMES


class FakeBlock:
    """Pages with errors that are easy to count: the layer's number, and ten times it with default reads."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def cell_job(self, kind: str, request: str) -> str:
        """As `_core.cell_job`."""
        if kind == "part":
            return json.dumps({"preset": "ressd-tlc", "stated": [], "program_pulse_us": 35.0, "pages_per_block": 384})
        if kind == "reprogram-block":
            return json.dumps({"layers": 64, "word_lines": 4})
        asked = json.loads(request)
        self.asked.append(asked)
        first = asked["first_layer"]
        layers = range(first, first + asked["layers"])
        pages = [self._page(layer, page) for layer in layers for page in ("lower", "upper")]
        answer: dict[str, Any] = {"pages": pages}
        if "hours" in asked:
            answer["aged"] = [{**page, "errors_calibrated": page["errors_calibrated"] + 1} for page in pages]
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
    bench = Bench("reprogram", "b17a-tlc", quick=quick)
    return block, json.loads(to_json(bench, find("reprogram").run(bench)))


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


def test_quick_figures_hold_against_the_paper() -> None:
    """The real core, quick: every bound of both tables."""
    bench = Bench("reprogram", "b17a-tlc", quick=True)
    found = json.loads(to_json(bench, find("reprogram").run(bench)))
    missed = [row for row in found["published"] if row["holds"] is not True]
    assert len(found["published"]) == 4 * 4 + 1 + 8
    assert not missed, missed

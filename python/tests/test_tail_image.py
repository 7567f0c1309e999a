"""Is the plot of the tail, drawn without a browser, the first plot of the page?"""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interpulse.configuration import extras
from interpulse.plotting.plots import style
from interpulse.report import runs, tail_image
from interpulse.report.sections import latency
from tests import sample
from tests.test_plots import drawn, labels_are_apart, legends_hide_nothing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended

    Cli = Callable[..., Ended]


def case(name: str, seed: int, *, whole: bool = True) -> dict[str, Any]:
    made = sample.case(name)
    made["seed"] = seed
    made["latency_us"]["read"] = sample.summary(1000, 100.0 * seed) | {"few": ["p99.9"]}
    if whole:
        made["histogram_us"] = {"read": [[60.0 * seed, 900], [400.0 * seed, 95], [1500.0 * seed, 5]], "write": []}
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """As `run --repeat 2` leaves it."""
    for seed in (1, 2):
        place = tmp_path / "out" / f"seed-{seed}"
        place.mkdir(parents=True)
        result = sample.result(case("none", seed), case("a $longer$ name", seed), case("_c", seed))
        (place / "result.json").write_text(json.dumps(result))
    return tmp_path / "out"


@pytest.mark.parametrize("place", ["seed-1", "seed-1/result.json", "."])
def test_a_result_and_a_folder_of_seeds_have_a_plot(place: str, folder: Path, interpulse: Cli) -> None:
    ended = interpulse("report", str(folder / place), "--image", str(folder / "tail.png"))
    assert ended.code == 0
    content = (folder / "tail.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert struct.unpack(">II", content[16:24]) == (1200, 675)
    assert interpulse("report", str(folder / place), "--image", str(folder / "tail.SVG")).code == 0
    text = (folder / "tail.SVG").read_text(encoding="utf-8")
    assert "<svg" in text
    assert interpulse("report", str(folder / place), "--image", str(folder / "again.svg")).code == 0
    assert (folder / "again.svg").read_text(encoding="utf-8") == text
    assert not list(folder.rglob("*.html")), "a plot, and no page"


def test_it_has_the_numbers_of_the_page(folder: Path) -> None:
    report = runs.of(runs.load([folder]))
    chart = latency.chart(report, "read")
    assert chart is not None
    with style():
        figure = tail_image.draw(latency.lines(report, "read"))
        renderer = drawn(figure)
    legends_hide_nothing(figure, renderer)
    (axis,) = figure.axes
    every: list[Any] = axis.get_lines()
    labels_are_apart(axis, renderer)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["none", "a $longer$ name", "_c"]
    for label, colour in zip(("none", "a $longer$ name", "_c"), ("#0072b2", "#d55e00", "#007a5a"), strict=True):
        curves = [line for line in every if line.get_drawstyle() == "steps-post"]
        seen = {x for line in curves if line.get_color() == colour for x in line.get_xdata()}
        assert seen == {row[2] for row in chart.rows if row[:2] == [label, "curve"]}
        marks = [row for row in chart.rows if row[0] == label and row[1] != "curve"]
        found = [line for line in every if line.get_marker() == "o" and line.get_markeredgecolor() == colour]
        assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in found] == [(row[2], row[3]) for row in marks]
        assert [line.get_markerfacecolor() == "#ffffff" for line in found] == [row[7] for row in marks]
    pooled = {row[2]: row[4] for row in chart.rows if row[0] == "none" and row[1] == "curve"}
    assert pooled[120.0] == 200, "of two thousand reads of both seeds, after 900 of each"


def test_what_is_missing_is_said(folder: Path, tmp_path: Path, interpulse: Cli) -> None:
    one = tmp_path / "one.json"
    one.write_text(json.dumps(sample.result(case("none", 1, whole=False))))
    ended = interpulse("report", str(one), "--image", str(tmp_path / "one.svg"))
    assert ended.code == 0
    assert "holds no histogram" in ended.err
    found = latency.lines(runs.of(runs.load([one])), "read")
    with style():
        (axis,) = tail_image.draw(found).axes
    assert {line.get_drawstyle() for line in axis.get_lines()} == {"default"}
    assert axis.get_title("left") == "Tail of reads: none"
    ended = interpulse("report", str(one), str(folder), "--image", str(tmp_path / "both.svg"))
    assert ended.code == 0
    assert "not compared" not in ended.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--image", "tail.pdf"], "--image tail.pdf: a plot is written as .svg or .png"),
        (["--image", "tail"], "--image tail: a plot is written as .svg or .png"),
        (["--image", "tail.svg", "--out", "page.html"], "omit one"),
        (["--image", "{}/seed-1/result.json/tail.svg"], "this is a file, not a folder"),
    ],
)
def test_wrong_images_are_refused(arguments: list[str], message: str, folder: Path, interpulse: Cli) -> None:
    ended = interpulse("report", str(folder), *(each.format(folder) for each in arguments))
    assert ended.code == 2
    assert message in ended.err
    assert not Path("tail").exists()


def test_without_reads_or_matplotlib_there_is_none(
    folder: Path, tmp_path: Path, interpulse: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes = case("none", 1)
    writes["latency_us"]["read"] = {"count": 0}
    one = tmp_path / "one.json"
    one.write_text(json.dumps(sample.result(writes)))
    image = tmp_path / "tail.svg"
    ended = interpulse("report", str(one), "--image", str(image))
    assert (ended.code, image.exists()) == (2, False)
    assert "no case has reads" in ended.err
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "matplotlib" else sys)
    ended = interpulse("report", str(folder), "--image", str(image))
    assert (ended.code, image.exists()) == (2, False)
    assert "a plot needs matplotlib, which is not installed" in ended.err

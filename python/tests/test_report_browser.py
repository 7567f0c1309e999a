"""Does the page work in a browser: is every plot drawn, do hover, zoom, legends and CSV work, and can everyone use it?

A real headless Chromium, which `make verify` looks for by the names that distributions give it (Debian: apt install
chromium), or where INTERPULSE_BROWSER says; `.venv/bin/playwright install chromium` gives one, too.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import os
import re
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interpulse.cli import run_app
from interpulse.report import page as pages
from tests import experiment_sample
from tests.browser import MARKS, browser
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PIL import Image
    from playwright.sync_api import Browser, Locator, Page

__all__ = ["browser"]

pytestmark = MARKS

SMALL = ROOT / "examples" / "small.toml"
READY = "document.documentElement.dataset.ready === 'yes'"
DRAWN = "document.documentElement.dataset.drawn === 'yes'"
"""Also what is folded away."""

LAPTOP: Any = {"width": 1280, "height": 720}

MOST_HIGH = {1280: 1500, 390: 3200}
"""Pixels of a page with all folded away, by its width: 23,855 and 34,932 before there was a first screen."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of two cases with all that a page can show, and one other configuration."""
    top = tmp_path_factory.mktemp("browser")
    asked = ["run", str(SMALL), "--report", "--no-cache", "--set", "run.requests=40000", "--set", "power.trace=true"]
    assert run_app([*asked, "--repeat", "2", "--out", str(top / "out")]) == 0
    assert run_app([*asked, "--set", "flow.0.depth=4", "--out", str(top / "other")]) == 0
    assert run_app(["report", str(top / "out"), str(top / "other"), "--out", str(top / "both.html")]) == 0
    return top


@pytest.fixture(params=["out/report.html", "both.html"])
def opened(request: pytest.FixtureRequest, browser: Browser, folder: Path) -> Iterator[Page]:
    yield from _opened(browser, folder / request.param)


@pytest.fixture
def first(browser: Browser, folder: Path) -> Iterator[Page]:
    """The page of the repeated run."""
    yield from _opened(browser, folder / "out" / pages.NAME)


def _opened(
    browser: Browser,
    path: Path,
    scheme: Any = "light",  # noqa: ANN401 - a literal
    *,
    unfold: bool = True,
    size: Any = None,  # noqa: ANN401 - a size of a viewport
    where: str = "",
) -> Iterator[Page]:
    """The page, from disk and without a network; nothing may be said on the console but how long it took.

    Args:
        browser: of the module.
        path: of the page.
        scheme: light or dark.
        unfold: whether every section is drawn and opened.
        size: of the window.
        where: an anchor, with its sign.
    """
    size = size or {"width": 1200, "height": 900}
    context = browser.new_context(viewport=size, color_scheme=scheme, offline=True)
    # A busy machine is no fault of the page.
    context.set_default_timeout(180_000)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda line: said.append(line.text) if line.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("requestfailed", lambda request: said.append(request.url))
    page.goto(path.as_uri() + where)
    page.wait_for_function(READY, timeout=120_000)
    if unfold:
        page.wait_for_function(DRAWN, timeout=180_000)
        page.evaluate("document.querySelectorAll('details.fold').forEach(each => { each.open = true; })")
        page.wait_for_timeout(300)
    yield page
    assert said == []
    context.close()


def charts(page: Page) -> list[str]:
    return [each.get_attribute("data-chart") or "" for each in page.locator(".chart").all()]


def tables(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.locator("#data").text_content() or "")["tables"]
    return found


def ends(page: Page, name: str) -> list[float]:
    """The ends of a chart's ranges, x first."""
    found: list[float] = page.evaluate(
        """name => {
          const groups = JSON.parse(document.getElementById('data').textContent).plots;
          const roots = Object.assign({}, ...groups.map(of => of.roots));
          const figure = Bokeh.documents.flatMap(each => each.roots()).find(root => roots[root.id] === 'plot-' + name);
          return [figure.x_range.start, figure.x_range.end, figure.y_range.start, figure.y_range.end];
        }""",
        name,
    )
    return found


def plot(page: Page, name: str) -> Locator:
    """A chart's place, in view."""
    found = page.locator(f"#plot-{name}")
    found.scroll_into_view_if_needed()
    return found


def colours(page: Page, name: str) -> set[tuple[int, ...]]:
    """The colours of a chart as it is shown."""
    from PIL import Image

    with Image.open(io.BytesIO(plot(page, name).screenshot())) as shot:
        found = shot.convert("RGB").getcolors(1 << 24)
    assert found is not None
    return {colour for count, colour in found if count > 3 and isinstance(colour, tuple)}


def test_every_plot_is_drawn(opened: Page) -> None:
    names = charts(opened)
    assert len(names) >= 20
    for name in names:
        seen = colours(opened, name)
        assert any(max(colour) - min(colour) > 40 for colour in seen), f"{name}: nothing in colour"
        box = plot(opened, name).bounding_box()
        assert box is not None
        assert box["width"] > (600 if name == "latency-read" else 900), name
        assert box["height"] >= 100, name


def test_hover_says_what_is_below(first: Page) -> None:
    for name, expected in (
        ("blame", ["cause", "share", "%"]),
        ("dies", ["die", "busy", "programming"]),
        ("activity-by-program", ["suspensions", "programs"]),
        ("wear-2", ["mean cycles"]),
        ("over-time-dies-1", ["share"]),
    ):
        place = plot(first, name)
        box = place.bounding_box()
        assert box is not None
        tip = first.locator(".bk-tooltip-content:visible")
        text = ""
        # Somewhere along a line through the plot there is something.
        for step in range(3, 40):
            first.mouse.move(box["x"] + box["width"] * step / 40, box["y"] + box["height"] * 0.62)
            first.wait_for_timeout(100)
            if tip.count():
                text = tip.first.inner_text()
                break
        for word in expected:
            assert word in text, (name, text)


def test_buttons_zoom_and_give_the_whole_back(first: Page) -> None:
    for name in ("latency-read", "over-time-iops", "power-operations"):
        chart = first.locator(f"#chart-{name}")
        whole = ends(first, name)
        chart.get_by_role("button", name="Zoom in").click()
        near = ends(first, name)
        assert near[0] > whole[0], name
        assert near[1] < whole[1], name
        chart.get_by_role("button", name="Right").click()
        assert ends(first, name)[0] > near[0]
        chart.get_by_role("button", name="Left").click()
        assert ends(first, name) == pytest.approx(near, abs=1e-9)
        chart.get_by_role("button", name="Zoom out").click()
        assert ends(first, name) == pytest.approx(whole, abs=1e-9)
        chart.get_by_role("button", name="Zoom in").click()
        chart.get_by_role("button", name=re.compile("^Whole")).click()
        assert ends(first, name) == whole


def _drawn(page: Page, name: str) -> dict[str, Any]:
    """What a chart with something to choose shows: rectangles by legend entry, names of strips from the top, labels."""
    found: dict[str, Any] = page.evaluate(
        """name => {
          const groups = JSON.parse(document.getElementById('data').textContent).plots;
          const roots = Object.assign({}, ...groups.map(of => of.roots));
          const figure = Bokeh.documents.flatMap(each => each.roots()).find(root => roots[root.id] === 'plot-' + name);
          const strips = [...figure.left[0].major_label_overrides.entries()].sort((a, b) => b[0] - a[0]);
          const of = (renderer) => {
            const data = renderer.data_source.data;
            const count = data.left ? data.left.length : 0;
            return Array.from({length: count}, (_, k) => [data.strip[k], data.what[k], data.left[k], data.right[k]]);
          };
          return {
            strips: strips.map(([, strip]) => strip),
            pieces: Object.fromEntries(figure.renderers.map(each => [each.name, of(each)])),
          };
        }""",
        name,
    )
    return found


def test_the_timeline_of_the_slowest_read_opens(first: Page) -> None:
    """And that of any other request, by the pointer and by the keyboard."""
    from interpulse.report import swimlanes

    for name in ("slowest-1", "slowest-2"):
        rows = tables(first)[name]["rows"]
        buttons = first.locator(f'[data-in="{name}"]')
        assert buttons.count() >= 5
        for k in range(buttons.count()):
            button = buttons.nth(k)
            wanted = button.get_attribute("data-pick") or ""
            if k % 2:
                button.click()
            else:
                button.focus()
                first.keyboard.press("Enter")
            assert button.get_attribute("aria-pressed") == "true"
            assert buttons.and_(first.locator('[aria-pressed="true"]')).count() == 1
            drawn = _drawn(first, name)
            expected = [row for row in rows if row[0] == wanted]
            assert drawn["strips"] == list(dict.fromkeys(row[1] for row in expected))
            for key in swimlanes.KEYS.values():
                of_key = [[row[1], row[2], row[4], row[5]] for row in expected if row[3] == key.label]
                assert drawn["pieces"].get(key.label, []) == of_key, (wanted, key.label)
            assert wanted in (first.locator(f"#chart-{name} .shown").text_content() or "")
            assert first.locator("#said").text_content() == f"{wanted} shown"
    # Of its die there is what it waited for in colour, and the read itself in ink.
    buttons = first.locator('[data-in="slowest-1"]')
    buttons.first.click()
    first.wait_for_timeout(300)
    seen = colours(first, "slowest-1")
    assert {(0, 122, 90), (26, 26, 26)} <= seen, "the erase, and the read"
    whole = ends(first, "slowest-1")
    chart = first.locator("#chart-slowest-1")
    chart.get_by_role("button", name="Zoom in").click()
    chart.get_by_role("button", name=re.compile("^Whole")).click()
    assert ends(first, "slowest-1") == whole


def test_dragging_zooms(first: Page) -> None:
    whole = ends(first, "latency-read")
    box = plot(first, "latency-read").bounding_box()
    assert box is not None
    first.mouse.move(box["x"] + 400, box["y"] + 100)
    first.mouse.down()
    first.mouse.move(box["x"] + 700, box["y"] + 250, steps=5)
    first.mouse.up()
    near = ends(first, "latency-read")
    assert whole[0] < near[0] < near[1] < whole[1]


def test_the_brush_zooms_all_that_is_over_time(first: Page) -> None:
    over_time = [name for name in charts(first) if name.startswith("over-time-") and name != "over-time-brush"]
    assert len(over_time) >= 5
    whole = ends(first, "over-time-iops")
    box = plot(first, "over-time-brush").bounding_box()
    assert box is not None
    first.mouse.move(box["x"] + 300, box["y"] + 60)
    first.mouse.down()
    first.mouse.move(box["x"] + 600, box["y"] + 60, steps=8)
    first.mouse.up()
    for name in over_time:
        near = ends(first, name)
        assert whole[0] <= near[0] < near[1] <= whole[1], name
        assert near[1] - near[0] < 0.6 * (whole[1] - whole[0]), name
    first.locator("#chart-over-time-brush").get_by_role("button", name=re.compile("^Whole")).click()
    assert ends(first, "over-time-waf")[:2] == whole[:2]


def test_a_legend_hides_what_it_names(first: Page) -> None:
    before = colours(first, "latency-read")
    entry = first.locator("#chart-latency-read .legend button").first
    assert entry.get_attribute("aria-pressed") == "true"
    # By keyboard alone.
    entry.focus()
    first.keyboard.press("Enter")
    assert entry.get_attribute("aria-pressed") == "false"
    first.wait_for_timeout(300)
    assert (0, 114, 178) in before
    assert (0, 114, 178) not in colours(first, "latency-read")
    first.keyboard.press("Space")
    first.wait_for_timeout(300)
    assert (0, 114, 178) in colours(first, "latency-read")


KEPT = """() => {
  window.kept = [];
  const real = URL.createObjectURL;
  URL.createObjectURL = (blob) => { window.kept.push({ blob }); return real.call(URL, blob); };
  HTMLAnchorElement.prototype.click = function () { Object.assign(window.kept.at(-1), { name: this.download }); };
}"""
"""What the page hands to the browser to be saved is kept instead: of dozens, browsers under test lose some."""


def _as_drawn(text: str, table: dict[str, Any], name: str) -> None:
    head, *rows = csv.reader(io.StringIO(text, newline=""))
    assert head == table["columns"]
    assert len(rows) == len(table["rows"]), name
    for cells, row in zip(rows, table["rows"], strict=True):
        for cell, value in zip(cells, row, strict=True):
            known = cell == value if isinstance(value, str) else value is None or isinstance(value, bool)
            assert known or float(cell) == value, name


def test_every_plot_saves_its_csv(opened: Page) -> None:
    expected = tables(opened)
    assert set(expected) == set(charts(opened))
    opened.evaluate(KEPT)
    for name, table in expected.items():
        opened.locator(f"#chart-{name}").get_by_role("button", name=re.compile("^CSV")).click()
        said, kind, text = opened.evaluate(
            "async () => { const k = window.kept.at(-1); return [k.name, k.blob.type, await k.blob.text()]; }"
        )
        assert (said, kind) == (f"{name}.csv", "text/csv")
        _as_drawn(text, table, name)
    assert opened.evaluate("() => window.kept.length") == len(expected)


COLOURS = """async (content) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${content}`)).blob());
    const canvas = new OffscreenCanvas(image.width, 160);
    const pen = canvas.getContext("2d");
    pen.drawImage(image, 0, 0);
    const { data } = pen.getImageData(0, 0, image.width, 160);
    const found = new Set();
    for (let at = 0; at < data.length; at += 4) found.add(`rgb(${data[at]}, ${data[at + 1]}, ${data[at + 2]})`);
    return [...found];
}"""
"""Colours of the head of an image."""


def test_a_csv_arrives_as_a_download(browser: Browser, folder: Path) -> None:
    for page in _opened(browser, folder / "out" / pages.NAME, "light"):
        with page.expect_download() as waiting:
            page.locator("#chart-blame").get_by_role("button", name=re.compile("^CSV")).click()
        assert waiting.value.suggested_filename == "blame.csv"
        _as_drawn(Path(waiting.value.path()).read_text(encoding="utf-8"), tables(page)["blame"], "blame")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_image_has_plot_title_and_legend(browser: Browser, folder: Path, scheme: str) -> None:
    for page in _opened(browser, folder / "out" / pages.NAME, scheme):
        with page.expect_download() as waiting:
            page.locator("#chart-latency-read").get_by_role("button", name=re.compile("PNG")).click()
        assert waiting.value.suggested_filename == "latency-read.png"
        content = Path(waiting.value.path()).read_bytes()
        plot = page.locator("#plot-latency-read").bounding_box()
        assert plot is not None
        width, height = struct.unpack(">II", content[16:24])
        assert abs(width - 2 * plot["width"]) <= 4, "twice the pixels of the screen"
        assert height > 2 * (plot["height"] + 40), "title and legend are above the plot"
        assert page.evaluate("window.devicePixelRatio") == 1
        colours = page.evaluate(COLOURS, base64.b64encode(content).decode())
        drawn = page.evaluate(
            "() => [...document.querySelectorAll('#chart-latency-read .legend path')]"
            ".map((e) => getComputedStyle(e).stroke)"
        )
        assert drawn
        assert set(drawn) <= set(colours), "the colour of each curve is in its legend"


def test_numbers_can_be_read_beside_a_plot(first: Page) -> None:
    chart = first.locator("#chart-blame")
    chart.locator("details.numbers > summary").click()
    chart.locator("details table").wait_for()
    table = tables(first)["blame"]
    assert chart.locator("details thead th").all_inner_texts() == table["columns"]
    assert chart.locator("details tbody tr").count() == min(len(table["rows"]), 500)


def _paper(page: Page) -> list[int]:
    """The colour that most of a chart has."""
    from PIL import Image

    with Image.open(io.BytesIO(plot(page, "latency-all").screenshot())) as shot:
        found = shot.convert("RGB").getcolors(1 << 24)
    assert found is not None
    return [*max(found)[1]]  # type: ignore[misc] # pixels of RGB are tuples


def test_light_and_dark_follow_the_system_the_button_and_paper(browser: Browser, folder: Path) -> None:
    for dark in _opened(browser, folder / "out" / pages.NAME, "dark"):
        assert _paper(dark) == [0x17, 0x19, 0x1D]
        assert (0x4F, 0xA8, 0xDC) in colours(dark, "latency-read"), "lines are brighter on dark paper"
        dark.locator("#theme").click()
        assert _paper(dark) == [255, 255, 255]
        assert (0, 114, 178) in colours(dark, "latency-read")
        dark.locator("#theme").click()
        assert _paper(dark) == [0x17, 0x19, 0x1D]
        dark.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert _paper(dark) == [255, 255, 255], "paper is white"
        dark.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert _paper(dark) == [0x17, 0x19, 0x1D]


def test_it_prints(first: Page) -> None:
    first.evaluate("document.querySelectorAll('details.fold').forEach(each => { each.open = false; })")
    first.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert first.evaluate("[...document.querySelectorAll('details.fold')].every(each => each.open)"), "paper unfolds"
    first.emulate_media(media="print")
    first.set_viewport_size({"width": 718, "height": 1000})
    assert not first.locator(".buttons").first.is_visible()
    assert first.evaluate("document.documentElement.scrollWidth") <= 718, "plots are as wide as the paper"
    assert len(first.pdf()) > 50_000
    first.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert first.evaluate("[...document.querySelectorAll('details.fold')].every(each => !each.open)")


PICTURES = ROOT / "python" / "tests" / "data" / "report"
"""What the insides of all plots of the first page look like, in few pixels."""

RENEW = "INTERPULSE_PICTURES"
"""Set to 1 it has the pictures written anew: look at them, and at the page, before they are committed."""

GRID = (72, 24)
"""Pixels of a picture. Axes and their letters are outside, so that fonts matter little."""

SCREENS = ROOT / "python" / "tests" / "data" / "report-screen"
"""The first screen of that page, light and dark."""

SCREEN = (80, 45)
SCREEN_APART = 0.12
"""Share of pixels that may be others: letters of another font are."""

APART, MOST_APART = 20, 0.03
"""From so many of 255 on a pixel is another one, and so many of all may be."""


def _picture(page: Page, name: str) -> Image.Image:
    """The inside of a plot, shrunk."""
    from PIL import Image

    box = page.evaluate(
        """name => {
          const groups = JSON.parse(document.getElementById('data').textContent).plots;
          const roots = Object.assign({}, ...groups.map(of => of.roots));
          const view = [...Bokeh.index].find(each => roots[each.model.id] === 'plot-' + name);
          const {left, top, right, bottom} = view.frame.bbox;
          return [left, top, right, bottom];
        }""",
        name,
    )
    with Image.open(io.BytesIO(plot(page, name).screenshot())) as shot:
        return shot.convert("RGB").crop(tuple(map(round, box))).resize(GRID, Image.Resampling.BOX)


def _apart(one: Image.Image, other: Image.Image) -> float:
    """The share of pixels that are others."""
    import numpy as np

    pixels = [np.asarray(each.convert("RGB"), dtype=int) for each in (one, other)]
    return float((np.abs(pixels[0] - pixels[1]).max(axis=2) > APART).mean())


def test_plots_look_as_they_did(first: Page) -> None:
    from PIL import Image

    names = charts(first)
    seen = {name: _picture(first, name) for name in names}
    if os.environ.get(RENEW) == "1":
        PICTURES.mkdir(exist_ok=True)
        for old in PICTURES.glob("*.png"):
            old.unlink()
        for name, picture in seen.items():
            picture.save(PICTURES / f"{name}.png", optimize=True)
        pytest.skip(f"the pictures were written anew: look at {PICTURES}")
    assert {path.stem for path in PICTURES.glob("*.png")} == set(names)
    stored = {name: Image.open(PICTURES / f"{name}.png").convert("RGB") for name in names}
    far = {name: share for name in names if (share := _apart(seen[name], stored[name])) > MOST_APART}
    assert not far, f"with {RENEW}=1 they are written anew"
    # Another plot would not do.
    assert _apart(seen["latency-read"], stored["latency-write"]) > MOST_APART
    assert _apart(seen["slowest-1"], stored["slowest-2"]) > MOST_APART


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["out/report.html", "both.html"])
def test_axe_finds_nothing_serious(name: str, scheme: str, browser: Browser, folder: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for page in _opened(browser, folder / name, scheme):
        # Open, so that it is looked at; the tables of numbers are all made by the same lines.
        page.evaluate(
            "[...document.querySelectorAll('details')].filter((each, k) => k < 2 || !each.matches('.numbers'))"
            ".forEach(each => { each.open = true; })"
        )
        page.wait_for_timeout(300)
        results = Axe().run(page).response
        assert len(results["passes"]) > 20, "it must have looked"
        serious = [
            (each["id"], each["nodes"][0]["html"]) for each in results["violations"] if each["impact"] != "minor"
        ]
        assert serious == []


def test_everything_is_reached_with_the_keyboard(first: Page) -> None:
    reached = set()
    for _ in range(40):
        first.keyboard.press("Tab")
        reached.add(first.evaluate("document.activeElement.textContent.trim()"))
    assert {"To the content", "Latency", "Dark or light", "+", "CSV", "no-suspend", "suspend-10"} <= reached
    first.locator("#chart-latency-all").get_by_role("button", name="Zoom in").focus()
    whole = ends(first, "latency-all")
    first.keyboard.press("Enter")
    assert ends(first, "latency-all") != whole
    assert first.locator("#said").text_content() == "Tail of all requests: Zoom in"


def test_a_narrow_window_scrolls_tables_and_not_the_page(browser: Browser, folder: Path) -> None:
    for page in _opened(browser, folder / "both.html"):
        page.set_viewport_size({"width": 400, "height": 800})
        page.wait_for_timeout(500)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        covered = """() => {
            const title = document.createRange(), button = document.getElementById('theme').getBoundingClientRect();
            title.selectNodeContents(document.querySelector('h1'));
            return [...title.getClientRects()].some(line => line.left < button.right && line.right > button.left
                && line.top < button.bottom && line.bottom > button.top);
        }"""
        assert not page.evaluate(covered)


def _inside(page: Page, selector: str) -> None:
    """An element is there, is as high as something that can be read, and needs no scrolling."""
    box = page.locator(selector).first.bounding_box()
    assert box is not None, selector
    assert box["height"] > 15, selector
    window = page.viewport_size
    assert window is not None
    assert box["y"] + box["height"] <= window["height"], f"{selector} ends below the first screen: {box}"
    assert box["x"] + box["width"] <= window["width"], selector


@pytest.mark.parametrize("name", ["out/report.html", "both.html"])
def test_the_first_screen_answers(name: str, browser: Browser, folder: Path) -> None:
    """Sentence, four figures, the tail and the causes need no scrolling; the page is a twentieth of what it was.

    Boxes and not pixels: other fonts move every letter, and only where a box ends matters.
    """
    for page in _opened(browser, folder / name, unfold=False, size=LAPTOP):
        page.wait_for_function(DRAWN, timeout=180_000)
        assert page.locator("details.fold[open]").count() == 0
        assert page.locator(".four > div").count() == 4
        for selector in (".answer", ".four", "#plot-latency-read", ".bars", '.action[href="#slowest"]'):
            _inside(page, selector)
        assert page.locator(".answer").inner_text().strip().endswith(".")
        for width, height in MOST_HIGH.items():
            page.set_viewport_size({"width": width, "height": 800})
            page.wait_for_timeout(500)
            assert page.evaluate("document.documentElement.scrollHeight") <= height
            assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_first_screen_looks_as_it_did(browser: Browser, folder: Path) -> None:
    """Blocks of the first screen in few pixels, in which letters are grey: what moves, or loses its colour, is seen."""
    from PIL import Image

    for scheme in ("light", "dark"):
        for page in _opened(browser, folder / "out" / pages.NAME, scheme, unfold=False, size=LAPTOP):
            with Image.open(io.BytesIO(page.screenshot())) as shot:
                seen = shot.convert("RGB").resize(SCREEN, Image.Resampling.BOX)
            path = SCREENS / f"first-{scheme}.png"
            if os.environ.get(RENEW) == "1":
                SCREENS.mkdir(exist_ok=True)
                seen.save(path, optimize=True)
                continue
            stored = Image.open(path).convert("RGB")
            assert _apart(seen, stored) < SCREEN_APART, f"with {RENEW}=1 it is written anew"
            assert _apart(seen, stored.rotate(180)) > SCREEN_APART, "another screen would not do"


def test_links_and_addresses_open_what_they_name(browser: Browser, folder: Path) -> None:
    for page in _opened(browser, folder / "out" / pages.NAME, unfold=False, size=LAPTOP, where="#power"):
        page.wait_for_function("document.getElementById('power').dataset.drawn === 'yes'")
        assert page.locator("#power").get_attribute("open") is not None
        page.locator('.action[href="#slowest"]').click()
        page.wait_for_function("document.getElementById('slowest').dataset.drawn === 'yes'")
        assert page.locator("#slowest").get_attribute("open") is not None
        assert page.locator('[data-in="slowest-1"]').first.is_visible(), "the slowest request, in one click"
        # Closed by hand, the same link opens it again.
        page.locator("#slowest > summary").click()
        page.evaluate("window.scrollTo(0, 0)")
        page.locator('.action[href="#slowest"]').click()
        page.wait_for_timeout(200)
        assert page.locator("#slowest").get_attribute("open") is not None


def test_a_page_of_an_experiment_works(browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A miniature one."""
    from interpulse.experiments import registry

    monkeypatch.setattr(registry, "EXPERIMENTS", (experiment_sample.MINI,))
    monkeypatch.setattr(registry, "SETUPS", experiment_sample.prepare(tmp_path / "setups"))
    out = tmp_path / "mini"
    assert run_app(["experiment", "mini", "--quick", "--repeat", "2", "--no-cache", "--out", str(out)]) == 0
    for page in _opened(browser, out / pages.NAME):
        assert page.locator(".picture img").count() == 1
        page.set_viewport_size(LAPTOP)
        for selector in (".answer", ".four", ".picture img"):
            _inside(page, selector)
        assert "_" not in page.locator(".picture figcaption").first.inner_text(), "a caption is no name of a file"
        assert page.evaluate("[...document.images].every(each => each.naturalWidth > 100)")
        assert len(charts(page)) == 1
        # Paper, ink, a grey diamond, and a colour for each status.
        assert {(0, 114, 178), (102, 102, 102)} <= colours(page, charts(page)[0])
        assert {row[0] for row in tables(page)["published-1"]["rows"]} == {"read_mean", "suspended_gain"}

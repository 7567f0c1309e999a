"""Do the controls of `interpulse explore` move its figures, and do pins, links, export and keyboard work, for everyone?

Needs a browser, as test_report_browser.py.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from interpulse.cli import run_app
from interpulse.explore.base import WITHOUT
from interpulse.explore.view import MINUS
from tests.browser import MARKS, browser
from tests.conftest import Child
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

__all__ = ["browser"]

pytestmark = MARKS

CHOSEN = "programs: loop-boundary; erases: deferred"
SHORT = "window=20000"
"""The query of a page with one short window."""

READY = "document.body.dataset.status === 'ready' && window.explore.asked === 0 && window.explore.timer === null"
PATIENCE_MS = 240_000
"""A busy machine is no fault of the page."""


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server, as the command line starts it."""
    folder = tmp_path_factory.mktemp("explore")
    settings = {"PYTHONPATH": str(ROOT / "python"), "INTERPULSE_CACHE_DIR": str(folder / "cache")}
    line = [sys.executable, "-m", "interpulse", "explore", "--no-browser", "--port", "0"]
    with (folder / "err").open("w") as err:
        running = Child(line, cwd=folder, env=os.environ | settings, text=True, stdout=-1, stderr=err)
    with running:
        assert running.stdout is not None
        found = running.stdout.readline().strip()
        assert found, (folder / "err").read_text()
        yield found
        running.kill()
    assert "Traceback" not in (folder / "err").read_text()


def opened(browser: Browser, url: str, query: str = SHORT, **options: Any) -> Iterator[Page]:  # noqa: ANN401 - as Playwright
    """A page with its first figures; nothing may be said on the console."""
    settings = {"viewport": {"width": 1280, "height": 900}} | options
    context = browser.new_context(**settings)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda line: said.append(line.text) if line.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(f"{url}?{query}")
    page.wait_for_function(READY)
    yield page
    assert said == []
    context.close()


@pytest.fixture
def page(browser: Browser, url: str) -> Iterator[Page]:
    yield from opened(browser, url)


def figures(page: Page) -> dict[str, Any]:
    """The exact latencies of the page, by case."""
    found: dict[str, Any] = json.loads(page.evaluate("document.body.dataset.shown"))
    return found


def after(page: Page, generation: str | None) -> None:
    """Waits for the figures of a newer change."""
    page.wait_for_function(f"document.body.dataset.generation !== '{generation}' && {READY}")


def generation(page: Page) -> str | None:
    found: str | None = page.evaluate("document.body.dataset.generation")
    return found


def choose(page: Page, label: str, value: str) -> None:
    """Changes a control, and waits for its figures."""
    before = generation(page)
    field = page.get_by_label(label, exact=True)
    if field.evaluate("each => each.tagName") == "SELECT":
        field.select_option(value)
    else:
        field.fill(value)
    after(page, before)


CHANGES = {
    "Programs: Minimum interval, µs": "200",
    "Programs: Most suspends": "1",
    "Programs: Scheme": "immediate",
    "Erases: Minimum interval, µs": "1500",
    "Erases: Most suspends": "1",
    "Erases: Scheme": "none",
    "Load: Arrivals, requests/s": "30000",
    "Load: Reads, %": "95",
    "Load: Load": "depth",
    "Load: Outstanding, requests": "32",
    "Drive: Flash part": "ressd-tlc",
    "Drive: Over-provisioning, % of capacity": "20",
    "Window: Window": "50000",
    "Window: Seed": "2",
}
"""A change of every control; an interval has no effect where one suspend is the limit."""


def test_every_control_moves_the_figures(page: Page) -> None:
    for label, value in CHANGES.items():
        before = figures(page)
        choose(page, label, value)
        assert figures(page) != before, label
        # Wall time depends on the machine, and fails nothing.
        print(f"{label}: {page.evaluate('window.explore.took'):.0f} ms", flush=True)  # noqa: T201
    assert page.locator("#problem").is_hidden()


def test_figures_equal_those_of_the_saved_configuration(
    page: Page, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    choose(page, "Load: Arrivals, requests/s", "25000")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save configuration").click()
    command = (page.locator("#command").text_content() or "").split()
    assert command == ["interpulse", "run", saved.value.suggested_filename]
    path = tmp_path / saved.value.suggested_filename
    saved.value.save_as(path)
    assert path.read_text() == page.locator("#toml").text_content()
    capfd.readouterr()
    assert run_app(["run", str(path), "--json"]) == 0
    cases = json.loads(capfd.readouterr().out)["cases"]
    shown = figures(page)
    assert [case["case"] for case in cases] == list(shown) == [WITHOUT, CHOSEN]
    for case in cases:
        for kind, latency in shown[case["case"]].items():
            assert latency == case["seeds"][0]["latency_us"][kind]


def test_the_answer_names_the_change_and_what_is_unsure(page: Page) -> None:
    answer = page.locator("h1").text_content() or ""
    assert answer.startswith(("Slowest 0.1 % of reads: ", "Slowest 1 % of reads: "))
    assert "→" in answer
    assert "too short to be sure" in (page.locator("#doubts").text_content() or "")
    assert "too short to be sure" in (page.locator("#cards").text_content() or "")
    labels = page.evaluate(
        """() => Bokeh.documents[0].roots().find(each => each.name === 'tail-read').renderers
          .flatMap(each => each.data_source.data.text ?? [])"""
    )
    assert labels == ["too short to be sure"]
    dashes = page.evaluate(
        """() => Bokeh.documents[0].roots().find(each => each.name === 'tail-read').renderers
          .filter(each => each.name === 'now').map(each => [each.data_source.data.left, each.glyph.line_dash])"""
    )
    (sure, _), (rest, _) = sorted(dashes, key=lambda pair: -len(pair[0]))
    assert min(sure) >= 10
    assert max(rest[1:]) < 10


def test_a_pin_stays_and_is_compared(page: Page) -> None:
    before = figures(page)[CHOSEN]["read"]["p99.9"]
    page.get_by_role("button", name="Pin this curve").press("Enter")
    row = page.locator("#pins tr")
    row.wait_for()
    assert "programs loop-boundary (at most 10); erases deferred" in (row.text_content() or "")
    choose(page, "Erases: Scheme", "none")
    now = list(figures(page).values())[-1]["read"]["p99.9"]
    first = row.locator("td").first
    page.wait_for_function("document.querySelector('#pins td .against').textContent.includes('%')")
    percent = float(
        (first.locator(".against").text_content() or "").removeprefix("now ").rstrip(" %").replace(MINUS, "-")
    )
    assert percent == pytest.approx(100 * (now / before - 1), abs=0.051)
    assert "pin A" in (page.locator("#tail-legend").text_content() or "")
    page.get_by_role("button", name="Remove pin A").click()
    page.locator("#pinned").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.id") == "pin"


def test_a_link_restores_the_controls_and_the_figures(browser: Browser, url: str, page: Page) -> None:
    choose(page, "Load: Reads, %", "60")
    choose(page, "Erases: Scheme", "immediate")
    address = page.evaluate("location.href")
    assert dict(parse_qsl(urlsplit(address).query)) == {"erase": "immediate", "read": "60", "window": "20000"}
    shown = figures(page)
    for other in opened(browser, url, urlsplit(address).query):
        assert other.get_by_label("Load: Reads, %", exact=True).input_value() == "60"
        assert other.get_by_label("Erases: Scheme", exact=True).input_value() == "immediate"
        assert figures(other) == shown
    page.get_by_role("button", name="As configured").click()
    page.wait_for_function("document.getElementById('read').value === '75'")


def test_a_wrong_link_and_a_refused_combination_are_explained(browser: Browser, url: str) -> None:
    for page in opened(browser, url, f"{SHORT}&program=fast&erase-max=0"):
        text = page.locator("#problem").text_content() or ""
        assert "program: seen 'fast'; expected one of none, ideal" in text
        assert "erase-max: seen '0'; expected a whole number from 1" in text
        page.get_by_label("Drive: Over-provisioning, % of capacity", exact=True).fill("1")
        page.wait_for_function("document.body.dataset.status === 'refused'")
        assert "ftl.over-provisioning = 0.01" in (page.locator("#problem").text_content() or "")
        page.get_by_label("Drive: Over-provisioning, % of capacity", exact=True).fill("x")
        page.wait_for_function("document.getElementById('problem').textContent.includes(\"op: seen 'x'\")")
        choose(page, "Drive: Over-provisioning, % of capacity", "28")
        page.locator("#problem").wait_for(state="hidden")


def test_the_newest_of_many_changes_counts(page: Page) -> None:
    for rate in range(10_000, 30_001, 1_000):
        page.get_by_label("Load: Arrivals, requests/s", exact=True).fill(str(rate))
    page.wait_for_function(f"document.getElementById('toml').textContent.includes('30000/s') && {READY}")
    assert page.get_by_label("Load: Arrivals, requests/s", exact=True).input_value() == "30000"


def test_sliders_work_by_keyboard(page: Page) -> None:
    before = generation(page)
    slider = page.get_by_label("Load: Arrivals, slider", exact=True)
    slider.focus()
    for _ in range(60):
        slider.press("ArrowRight")
    after(page, before)
    rate = int(page.get_by_label("Load: Arrivals, requests/s", exact=True).input_value())
    assert rate > 20_000
    page.wait_for_function(f"document.getElementById('toml').textContent.includes('\"{rate}/s\"')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious(browser: Browser, url: str, scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for page in opened(browser, url, color_scheme=scheme, viewport={"width": width, "height": 850}):
        page.evaluate("document.getElementById('fold').open = true")
        page.get_by_role("button", name="Pin this curve").click()
        page.locator("#pins tr").wait_for()
        results = Axe().run(page).response
        assert len(results["passes"]) > 20, "it must have looked"
        serious = [(each["id"], each["nodes"][0]["html"]) for each in results["violations"]]
        assert serious == []
        # Nothing but tables and code is wider than the window.
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_plots_have_dark_paper(browser: Browser, url: str) -> None:
    for page in opened(browser, url, color_scheme="dark"):
        colour = "Bokeh.documents[0].roots().map(each => each.background_fill_color)"
        assert set(page.evaluate(colour)) == {"#17191d"}
        page.get_by_role("button", name="Dark or light").click()
        assert set(page.evaluate(colour)) == {"#ffffff"}

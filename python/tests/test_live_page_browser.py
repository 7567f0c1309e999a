"""Does the live page of a served drive show the figures of its metrics, accessibly, and change the suspension?

Needs a browser, as test_report_browser.py.
"""

from __future__ import annotations

import random
import re
import urllib.request
from typing import TYPE_CHECKING

import pytest

from tests.browser import MARKS, browser
from tests.nbd_server import Served, client, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from playwright.sync_api import Browser, Page

__all__ = ["browser"]

pytestmark = MARKS


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that has worked and now rests."""
    folder = tmp_path_factory.mktemp("served")
    with serving(folder, "--web", "127.0.0.1:0") as server:
        (folder / "image").write_bytes(random.Random(1).randbytes(32 << 20))
        client("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", "image", server.uri, folder=folder)
        client("nbdcopy", server.uri, "copy", folder=folder)
        yield server


@pytest.fixture
def page(browser: Browser, served: Served) -> Iterator[Page]:
    """The page with its first figures; a console error fails the test."""
    opened: Any = browser.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.goto(f"http://{served.web}/")
    opened.locator("#operations tr").nth(1).wait_for()
    yield opened
    opened.close()
    # A refused change is an answer with status 400, which browsers report by themselves.
    assert [line for line in errors if "400 (Bad Request)" not in line] == []


def metrics(served: Served) -> dict[str, float]:
    with urllib.request.urlopen(f"http://{served.web}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    samples = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
    return {name.removeprefix("interpulse_"): float(value) for name, value in samples}


def rows(page: Page, name: str) -> list[list[str]]:
    found: list[list[str]] = page.evaluate(
        "name => [...document.querySelectorAll(`#${name} tr`)]"
        ".map(row => [...row.cells].map(cell => cell.textContent))",
        name,
    )
    return found


def number(text: str) -> float:
    return float(text.replace(",", ""))


def test_figures_equal_those_of_the_metrics(page: Page, served: Served) -> None:
    page.wait_for_timeout(1500)
    found = metrics(served)
    operations = {row[0]: row for row in rows(page, "operations")}
    assert {"read", "write"} <= set(operations)
    for name, row in operations.items():
        assert number(row[5]) == found[f'commands_total{{op="{name}"}}']
        assert number(row[6]) == found[f'command_errors_total{{op="{name}"}}']
    drive = dict(rows(page, "drive"))
    assert number(drive["commands outstanding"]) == found["commands_outstanding"]
    assert drive["dies busy"] == f"{found['dies_busy']:.0f} of {found['dies']:.0f}"
    assert drive["dies with a suspended operation"] == f"{found['dies_suspended']:.0f} of {found['dies']:.0f}"
    lanes = drive["lanes below the threshold of garbage collection"]
    assert lanes == f"{found['lanes_collecting']:.0f} of {found['lanes']:.0f}"
    assert number(drive["units in the write cache"]) == found["write_cache_units"]
    assert number(drive["write amplification"]) == pytest.approx(found["write_amplification_ratio"], abs=5.1e-4)
    text = page.locator("#session").text_content()
    drive_time = re.search(r"([\d.,]+) s of drive time", text or "")
    assert drive_time
    assert number(drive_time[1]) == pytest.approx(found["drive_seconds_total"], abs=0.051)
    assert len(rows(page, "slowest")) == 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(scheme: Any, page: Page) -> None:  # noqa: ANN401 - a literal of the library
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=scheme)
    results = Axe().run(page).response
    assert len(results["passes"]) > 10, "it must have looked"
    serious = [(each["id"], each["nodes"][0]["html"]) for each in results["violations"] if each["impact"] != "minor"]
    assert serious == []


def said(page: Page, name: str, text: str) -> None:
    """Waits for an element that says this."""
    page.locator(f"#{name}").filter(has_text=text).wait_for()


def test_controls_change_the_suspension(page: Page, served: Served) -> None:
    page.get_by_label("Erases: scheme").select_option("deferred")
    page.locator("#erase-max").fill("4")
    page.get_by_role("button", name="Change").press("Enter")
    said(page, "changed", "Changed at")
    assert metrics(served)['suspension_info{program="none",erase="deferred"}'] == 1
    said(page, "changes", "suspend.erase.max-suspends = 4")
    page.locator("#erase-max").fill("few")
    page.get_by_role("button", name="Change").click()
    said(page, "changed", "max-suspends")
    assert metrics(served)["suspension_changes_total"] == 1
    page.get_by_label("Erases: scheme").select_option("none")
    page.locator("#erase-max").fill("")
    page.get_by_role("button", name="Change").click()
    said(page, "changed", "Changed at")
    assert metrics(served)['suspension_info{program="none",erase="none"}'] == 1

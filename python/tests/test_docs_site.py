"""Does the site of the documents open from disk and from a server, with a search that finds, and ask no other machine?

In a real headless Chromium, which is found as `browser.py` says.
"""

from __future__ import annotations

import functools
import http.server
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import MARKS, browser
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

__all__ = ["browser"]

pytestmark = MARKS


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as `make docs` makes it."""
    pytest.importorskip("sphinx", reason="Sphinx is not installed: `make docs` does")
    out = tmp_path_factory.mktemp("site")
    subprocess.run([sys.executable, str(ROOT / "python" / "tools" / "docs_site.py"), str(out)], check=True)
    return out


@pytest.fixture(params=["disk", "server"])
def base(request: pytest.FixtureRequest, site: Path) -> Iterator[str]:
    """Where the site is: a folder, or a server on loopback."""
    if request.param == "disk":
        yield site.as_uri()
        return
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Says nothing."""


ABORTED = "net::ERR_ABORTED"


@pytest.fixture
def page(browser: Browser, base: str) -> Iterator[Page]:
    """A page of the site; nothing may be asked of other machines, nor said on the console."""
    opened = browser.new_page(viewport={"width": 1200, "height": 900})
    asked: list[str] = []
    said: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    # What was still coming when the page was left, such as its icon, has not failed.
    opened.on("requestfailed", lambda request: None if request.failure == ABORTED else said.append(request.url))
    opened.goto(f"{base}/index.html")
    yield opened
    opened.close()
    assert all(url.startswith((base, "data:")) for url in asked)
    assert not said


def pictures_are_there(page: Page) -> int:
    """How many pictures the page has; each must have been loaded."""
    sizes: list[int] = page.eval_on_selector_all("img", "all => all.map(each => each.naturalWidth)")
    assert all(sizes), page.url
    return len(sizes)


def test_the_search_finds(page: Page) -> None:
    page.locator("input[name=q]:visible").fill("suspend")
    page.keyboard.press("Enter")
    page.locator("#search-results li a").first.wait_for()
    page.wait_for_function("document.querySelectorAll('#search-results li').length > 20")
    page.locator("#search-results li a", has_text="Suspension schemes").first.click()
    page.wait_for_load_state()
    assert "/docs/schemes/README.html" in page.url


def test_the_pages_lead_to_each_other(page: Page) -> None:
    assert pictures_are_there(page) >= 2
    page.locator(".sidebar-tree a", has_text="Gallery").click()
    assert page.locator("h1").inner_text().startswith("Gallery")
    assert pictures_are_there(page) > 15
    page.locator("article a", has_text="CHARACTERIZE").first.click()
    assert page.locator("h1").inner_text().startswith("Characterizing cells")
    page.locator(".sidebar-brand").first.click()
    assert page.locator("h1").inner_text().startswith("interpulse")


@pytest.mark.parametrize("name", ["README", "docs/GALLERY", "docs/CONFIGURATION", "docs/schemes/README", "docs/PAPERS"])
def test_a_narrow_page_does_not_move_sideways(page: Page, base: str, name: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{base}/{name}.html")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


TUTORIALS = ["first-run", "data-sheet", "trace", "own-scheme"]


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_has_a_picture_and_a_page_before_and_after(page: Page, base: str, name: str) -> None:
    page.goto(f"{base}/docs/tutorials/{name}.html")
    assert pictures_are_there(page) >= 1
    for which in ("prev", "next"):
        link = page.locator(f".related-pages .{which}-page")
        assert link.count() == 1
        assert (link.get_attribute("href") or "").endswith(".html")


def test_contents_are_by_what_a_reader_wants(page: Page) -> None:
    captions = page.locator(".sidebar-tree .caption").all_inner_texts()
    assert [each.lower() for each in captions] == ["tutorials", "how-to", "reference", "explanation", "records"]


def test_the_page_of_the_package_has_types(page: Page, base: str) -> None:
    page.goto(f"{base}/docs/PYTHON.html")
    text = page.locator("#interpulse\\.advise").inner_text()
    assert "config: Config | Mapping[str, Any] | str | PathLike[str]" in " ".join(text.split())
    assert page.locator("dt[id^='interpulse.']").count() > 50


@pytest.mark.parametrize("name", ["README", "docs/tutorials/first-run", "docs/PYTHON", "docs/COMMAND-LINE"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Page, base: str, scheme: Any, name: str) -> None:  # noqa: ANN401 - a literal
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=scheme)
    page.goto(f"{base}/{name}.html")
    back = page.eval_on_selector("body", "each => getComputedStyle(each).backgroundColor")
    code = page.eval_on_selector_all(".highlight", "all => all.map(each => getComputedStyle(each).backgroundColor)")
    darker = [sum(map(int, re.findall(r"\d+", colour)[:3])) < 3 * 128 for colour in (back, *code)]
    assert set(darker) == {scheme == "dark"}, "page and code are both light or both dark"
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []

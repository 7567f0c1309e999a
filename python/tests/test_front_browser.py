"""Does a click on a point of a Pareto front open the report of its run?

Needs a browser, as test_report_browser.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import interpulse
from tests.browser import MARKS, browser
from tests.test_optimize import STUDY
from tests.test_report_browser import READY

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

__all__ = ["browser"]

pytestmark = MARKS

WHERE = """() => {
  const view = Object.values(Bokeh.index.roots ?? Bokeh.index)[0]
  const data = view.model.renderers.find(each => each.name === "on the front").data_source.data
  const box = view.el.getBoundingClientRect()
  const frame = view.frame ?? view.frame_view
  return [box.x + frame.x_scale.compute(data.x[0]), box.y + frame.y_scale.compute(data.y[0])]
}"""
"""Where the library has drawn the first point of the front."""


def test_a_click_on_a_point_opens_the_report_of_its_run(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "real.toml"
    path.write_text(STUDY.replace("trials = 12", "trials = 3").replace("<= 2000", "<= 1e9").replace("p99_us", "p50_us"))
    found = interpulse.optimize(path, out=tmp_path / "o")
    assert found.page is not None
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(found.page.as_uri())
    page.wait_for_function(READY)
    page.locator("#plot-front-1").scroll_into_view_if_needed()
    x, y = page.evaluate(WHERE)
    with page.context.expect_page() as opened:
        page.mouse.click(x, y)
    assert opened.value.url.endswith(f"runs/trial-{found.front[0].number}.html")
    assert not errors

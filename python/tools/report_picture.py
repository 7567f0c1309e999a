"""Writes the pictures of docs/REPORT.md: plots of the page about examples/small.toml, as a browser shows them.

Needs Playwright and a Chromium, as the tests of the page do; INTERPULSE_BROWSER says where that is.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image
from playwright.sync_api import sync_playwright

from interpulse.cli import run_app

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parent.parent.parent
PICTURES = {"report.png": ("latency-read", "blame"), "report-slowest.png": ("slowest-2",)}
"""The plots of each picture."""
PICKED = 5
"""The button of the request that is shown: the slowest write, which waits while programs are suspended."""
WIDTH = 900


def main() -> int:
    """Runs the example, opens its page and keeps the plots; the exit code is that of the run."""
    browser = os.environ.get("INTERPULSE_BROWSER") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        code = run_app(["run", str(ROOT / "examples" / "small.toml"), "--report", "--out", folder])
        if code:
            return code
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = started.new_page(viewport={"width": WIDTH, "height": 1200}, color_scheme="light")
        page.goto((Path(folder) / "report.html").as_uri())
        page.wait_for_function("document.documentElement.dataset.ready === 'yes'", timeout=120_000)
        # What can be pressed on paper is nothing.
        page.add_style_tag(content=".buttons, details { display: none }")
        page.locator('[data-in="slowest-2"]').nth(PICKED).click()
        for picture, names in PICTURES.items():
            shots = [Image.open(io.BytesIO(page.locator(f"#chart-{name}").screenshot())) for name in names]
            below_each_other(shots).quantize(64).save(ROOT / "docs" / picture, optimize=True)
        started.close()
    return 0


def below_each_other(shots: Sequence[Image.Image]) -> Image.Image:
    """One picture of several."""
    whole = Image.new("RGB", (max(shot.width for shot in shots), sum(shot.height for shot in shots)), "white")
    top = 0
    for shot in shots:
        whole.paste(shot, (0, top))
        top += shot.height
    return whole


if __name__ == "__main__":
    raise SystemExit(main())

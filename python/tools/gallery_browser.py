"""Browser screenshots of reports and timelines."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from PIL import Image, ImageOps

from interpulse.logs.viewer import Viewer

if TYPE_CHECKING:
    from gallery_table import Picture
    from playwright.sync_api import Page

SHARP = 1.5
"""Pixels per CSS pixel."""

MARGIN = 15
"""White pixels around a chart."""

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
SLOW_MS = 180_000


class Browser:
    """A headless Chromium, started at its first use."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._started: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _page(self, picture: Picture) -> Page:
        if self._started is None:
            from playwright.sync_api import Error, sync_playwright

            found = os.environ.get("INTERPULSE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
            playwright = self._stack.enter_context(sync_playwright())
            try:
                # The sandbox needs rights that containers do not have.
                self._started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
            except Error as error:
                names = ", ".join(NAMES)
                raise SystemExit(
                    f"no browser found; install one of {names}, name another in INTERPULSE_BROWSER, or run "
                    f"`playwright install chromium` ({str(error).splitlines()[0]})"
                ) from None
            self._stack.callback(self._started.close)
        viewport = {"width": picture.width, "height": picture.height or 1000}
        page: Page = self._started.new_page(viewport=viewport, device_scale_factor=SHARP, color_scheme="light")
        page.set_default_timeout(SLOW_MS)
        return page

    def chart(self, folder: Path, picture: Picture) -> Image.Image:
        """A chart of a report with title and legend, or the top of the page (`page`)."""
        page = self._page(picture)
        page.goto((folder / "report.html").absolute().as_uri())
        page.wait_for_function("document.documentElement.dataset.ready === 'yes'")
        if picture.chart == "page":
            return _image(page.screenshot())
        # Controls are useless in a picture.
        page.add_style_tag(content=".buttons, details.numbers { display: none }")
        fold = page.locator(f"details.fold:has(#chart-{picture.chart})")
        if fold.count():
            fold.evaluate("each => { each.open = true; }")
            page.wait_for_function(
                "id => document.getElementById(id).dataset.drawn === 'yes'", arg=fold.get_attribute("id")
            )
        shown = _image(page.locator(f"#chart-{picture.chart}").screenshot()).convert("RGB")
        return ImageOps.expand(shown, MARGIN, "white")

    def timeline(self, trace: Path, picture: Picture) -> Image.Image:
        """The dies of a timeline in `interpulse view`, which opens them."""
        viewer = Viewer.of(trace, 0)
        thread = threading.Thread(target=viewer.server.serve_forever)
        thread.start()
        try:
            page = self._page(picture)
            page.goto(viewer.url)
            name = ".pf-middle-ellipsis-left:text-is('{}')"
            page.locator(name.format("die 0")).wait_for()
            # Hides the menu, which covers tracks.
            page.keyboard.press("Control+b")
            page.wait_for_timeout(3000)
            return _image(page.screenshot())
        finally:
            viewer.server.shutdown()
            thread.join()
            viewer.server.server_close()

    def explore(self, picture: Picture) -> Image.Image:
        """The page of `interpulse explore` with the longer window."""
        line = [sys.executable, "-m", *shlex.split(picture.command), "--no-browser", "--port", "0"]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as running:
            try:
                assert running.stdout is not None
                page = self._page(picture)
                page.goto(f"{running.stdout.readline().strip()}?{picture.explore}")
                page.wait_for_function("document.body.dataset.status === 'ready'")
                page.wait_for_timeout(1000)
                return _image(page.screenshot())
            finally:
                running.terminate()


def _image(content: bytes) -> Image.Image:
    return Image.open(io.BytesIO(content))

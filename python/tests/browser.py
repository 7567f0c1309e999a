"""A headless Chromium for the tests of pages."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

MARKS = [
    pytest.mark.verify,
    # Playwright leaves sockets of its own loop to the interpreter's end.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
"""Of the modules of such tests."""

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: `make dev` does")
    own = os.environ.get("INTERPULSE_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    with sync_api.sync_playwright() as playwright:
        found = own or playwright.chromium.executable_path
        if not Path(found).exists():
            pytest.skip(
                "there is no Chromium on this machine: apt install chromium, or .venv/bin/playwright install chromium"
            )
        # Without a sandbox of its own, which needs rights that containers do not give.
        started = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield started
        started.close()

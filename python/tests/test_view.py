"""Does `interpulse view` serve the trace and the UI on loopback, to nobody else, and does the UI show it?"""

from __future__ import annotations

import shutil
import sys
import threading
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import interpulse
from interpulse.logs.viewer import ALONE, Viewer
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytest.importorskip("viztracer")
pytest.importorskip("perfetto")


@pytest.fixture(scope="module")
def timeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A timeline of 3 ms."""
    out = tmp_path_factory.mktemp("out")
    config = interpulse.Config.load(str(ROOT / "examples" / "small.toml"))
    config.set("run.requests", 2000).set("precondition.overwrite", "none")
    interpulse.run(config, out=out, timeline="1ms..4ms", no_cache=True)
    return out / "suspend-10.timeline.pftrace"


@contextmanager
def serving(path: Path) -> Iterator[Viewer]:
    viewer = Viewer.of(path, 0)
    thread = threading.Thread(target=viewer.server.serve_forever)
    thread.start()
    try:
        yield viewer
    finally:
        viewer.server.shutdown()
        thread.join()
        viewer.server.server_close()


def test_the_ui_and_the_trace_are_served_on_loopback(timeline: Path) -> None:
    with serving(timeline) as viewer:
        host, port = viewer.server.server_address[:2]
        assert host == "127.0.0.1"
        assert viewer.url == f"http://127.0.0.1:{port}/#!/?url=http://127.0.0.1:{port}/trace"
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/trace") as answer:
            assert answer.read() == timeline.read_bytes()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/") as answer:
            assert b"Perfetto UI" in answer.read()
            assert answer.headers["Content-Security-Policy"] == ALONE


def test_what_is_no_timeline_is_refused(timeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(interpulse.ConfigError, match=r"cannot read .*nothing: No such file"):
        Viewer.of(tmp_path / "nothing", 0)
    (tmp_path / "text").write_text("number,latency\n")
    with pytest.raises(interpulse.ConfigError, match=r"is no timeline: expected the CASE\.timeline"):
        Viewer.of(tmp_path / "text", 0)
    with (
        serving(timeline) as viewer,
        pytest.raises(interpulse.ConfigError, match=r"cannot listen on port .*in use"),
    ):
        Viewer.of(timeline, viewer.server.server_port)
    monkeypatch.setitem(sys.modules, "viztracer", None)
    with pytest.raises(interpulse.ConfigError, match=r"pip install 'interpulse\[timeline\]'"):
        Viewer.of(timeline, 0)


@pytest.mark.verify
def test_the_ui_shows_every_track(timeline: Path) -> None:
    """In a browser that may reach nothing but the server."""
    browsers = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on this machine")
    with serving(timeline) as viewer, browsers.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        faults: list[str] = []
        elsewhere: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("response", lambda answer: elsewhere.append(answer.url))
        page.goto(viewer.url)
        title = ".pf-middle-ellipsis-left:text-is('{}')"
        closed = ".pf-track__menubar:has({}) .pf-track__collapse-button:has-text('expand_more')"
        for name in ("suspend-10", "dies"):
            page.locator(title.format(name)).wait_for(timeout=60_000)
            # A track with others in it may be open from the start.
            if page.locator(closed.format(title.format(name))).count():
                page.locator(closed.format(title.format(name))).click()
        for k in range(8):
            page.locator(title.format(f"die {k}")).wait_for(timeout=60_000)
        assert not faults
        here = (viewer.url.partition("#")[0], "data:", "blob:")
        assert all(url.startswith(here) for url in elsewhere)
        browser.close()

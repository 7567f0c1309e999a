"""Does `interpulse view` serve the trace and the UI on loopback, to nobody else, and does the UI show it?"""

from __future__ import annotations

import http.client
import json
import shutil
import sys
import threading
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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
    with Viewer.of(path, 0) as viewer:
        thread = threading.Thread(target=viewer.server.serve_forever)
        thread.start()
        try:
            yield viewer
        finally:
            viewer.server.shutdown()
            thread.join()


def asked(viewer: Viewer, path: str, method: str = "GET", **headers: Any) -> tuple[int, bytes]:  # noqa: ANN401 - a value or several
    """Status and content of a request with these headers, and no others."""
    connection = http.client.HTTPConnection("127.0.0.1", viewer.server.server_port, timeout=30)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, values in headers.items():
        for value in [values] if isinstance(values, str) else values:
            connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    try:
        return answer.status, answer.read()
    finally:
        connection.close()


def test_the_ui_and_the_trace_are_served_on_loopback(timeline: Path) -> None:
    with serving(timeline) as viewer:
        host, port = viewer.server.server_address[:2]
        assert host == "127.0.0.1"
        root = f"http://127.0.0.1:{port}/{viewer.server.secret}"
        url, _, opening = viewer.url.partition("&")
        assert url == f"{root}/#!/?url={root}/trace"
        assert "visStart" not in opening, "no list of the slowest lies beside it"
        with urllib.request.urlopen(f"{root}/trace") as answer:
            assert answer.read() == timeline.read_bytes()
        with urllib.request.urlopen(f"{root}/") as answer:
            assert b"Perfetto UI" in answer.read()
            assert answer.headers["Content-Security-Policy"] == ALONE
            assert answer.headers["Referrer-Policy"] == "no-referrer"
        head = urllib.request.Request(f"{root}/trace", method="HEAD")
        with urllib.request.urlopen(head) as answer:
            assert int(answer.headers["Content-Length"]) == timeline.stat().st_size


def test_a_request_without_the_secret_or_from_elsewhere_is_refused(timeline: Path) -> None:
    with serving(timeline) as viewer:
        port, secret = viewer.server.server_port, viewer.server.secret
        own = f"127.0.0.1:{port}"
        for host in (own, f"localhost:{port}", f"[::1]:{port}", f"LOCALHOST:{port}"):
            assert asked(viewer, f"/{secret}/trace", Host=host)[0] == 200, host
        assert asked(viewer, f"/{secret}/trace", Host=own, Origin=f"http://{own}")[0] == 200
        refused: list[tuple[str, dict[str, Any]]] = [
            ("/trace", {"Host": own}),
            ("/", {"Host": own}),
            ("/index.html", {"Host": own}),
            (f"/{secret}", {"Host": own}),
            (f"/{secret}x/trace", {"Host": own}),
            (f"/{secret[:-1]}/trace", {"Host": own}),
            (f"/x/../{secret}/trace", {"Host": own}),
            (f"http://{own}/{secret}/trace", {"Host": own}),
            (f"/{secret}/trace", {}),
            (f"/{secret}/trace", {"Host": "evil.example"}),
            (f"/{secret}/trace", {"Host": f"evil.example:{port}"}),
            (f"/{secret}/trace", {"Host": f"127.0.0.1.evil.example:{port}"}),
            (f"/{secret}/trace", {"Host": f"localhost@evil.example:{port}"}),
            (f"/{secret}/trace", {"Host": f"127.0.0.1:{port + 1}"}),
            (f"/{secret}/trace", {"Host": "127.0.0.1"}),
            (f"/{secret}/trace", {"Host": f"0.0.0.0:{port}"}),
            (f"/{secret}/trace", {"Host": "127.0.0.1:x"}),
            (f"/{secret}/trace", {"Host": [own, "evil.example"]}),
            (f"/{secret}/trace", {"Host": own, "Origin": "http://evil.example"}),
            (f"/{secret}/trace", {"Host": own, "Origin": "null"}),
            (f"/{secret}/trace", {"Host": own, "Origin": f"https://{own}"}),
            (f"/{secret}/trace", {"Host": own, "Origin": f"http://127.0.0.1:{port + 1}"}),
        ]
        content = timeline.read_bytes()
        for path, headers in refused:
            status, body = asked(viewer, path, **headers)
            assert status == 403, (path, headers)
            assert content[:64] not in body
            assert secret.encode() not in body
        assert asked(viewer, f"/{secret}/trace", method="POST", Host=own)[0] == 501
        assert asked(viewer, f"/{secret}/assets/", Host=own)[0] == 404, "no list of a folder"
        assert asked(viewer, f"/{secret}/../../../../../../../../etc/passwd", Host=own)[0] == 404


def test_what_takes_the_name_of_the_timeline_is_not_served(timeline: Path, tmp_path: Path) -> None:
    path, other = tmp_path / "own.timeline.pftrace", tmp_path / "secret"
    shutil.copy(timeline, path)
    other.write_text("of another program")
    with serving(path) as viewer:
        place = f"/{viewer.server.secret}/trace"
        path.unlink()
        path.symlink_to(other)
        status, content = asked(viewer, place, Host=f"127.0.0.1:{viewer.server.server_port}")
        assert (status, content) == (200, timeline.read_bytes())


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
    with pytest.raises(interpulse.ConfigError, match=r"make -C .* dev"):
        Viewer.of(timeline, 0)


@pytest.fixture(scope="module")
def slowest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A timeline of the slowest reads."""
    out = tmp_path_factory.mktemp("slowest")
    config = interpulse.Config.load(str(ROOT / "examples" / "small.toml"))
    config.set("run.requests", 2000).set("precondition.overwrite", "none")
    interpulse.run(config, out=out, timeline="worst:3:read", no_cache=True)
    return out / "suspend-10.timeline.pftrace"


def test_the_ui_begins_with_the_slowest_request(slowest: Path) -> None:
    first = json.loads(slowest.with_name("suspend-10.slowest.json").read_text())[0]
    with serving(slowest) as viewer:
        asked_for = dict(part.split("=", 1) for part in viewer.url.split("&")[1:])
    assert int(asked_for["visStart"]) <= first["arrival_ns"]
    assert first["latency_ns"] < int(asked_for["visEnd"]) - int(asked_for["visStart"]) < 1.2 * first["latency_ns"]
    # Such as a list that somebody has edited.
    slowest.with_name("suspend-10.slowest.json").rename(slowest.with_name("kept"))
    slowest.with_name("suspend-10.slowest.json").write_text('[{"arrival_ns": "x"}]')
    with serving(slowest) as viewer:
        assert "visStart" not in viewer.url
    slowest.with_name("kept").rename(slowest.with_name("suspend-10.slowest.json"))


@pytest.mark.verify
def test_the_ui_opens_dies_and_the_slowest_request(slowest: Path) -> None:
    browsers = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium on this machine")
    with serving(slowest) as viewer, browsers.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1600, "height": 1000})
        page.set_default_timeout(180_000)
        page.goto(viewer.url)
        title = ".pf-middle-ellipsis-left:text-is('{}')"
        for name in ("slowest 1", "die 0", "die 7"):
            page.locator(title.format(name)).first.wait_for()
        assert not page.locator(title.format("outstanding")).count(), "requests are folded away"
        browser.close()


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

"""Does `interpulse top` show a served drive at work, change its suspension, and say what is wrong with an address?"""

from __future__ import annotations

import http.server
import json
import os
import pty
import random
import select
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from interpulse.cli import run_app
from interpulse.serving.screen import screen
from tests.nbd_server import PATIENCE, client, serving
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MIB = 1 << 20
TOKEN = "a-token-of-the-test"
WEB = ["--web", "127.0.0.1:0"]


def top(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = run_app(["top", *arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_one_screen_shows_what_the_drive_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(tmp_path, *WEB) as server:
        (tmp_path / "image").write_bytes(random.Random(1).randbytes(16 * MIB))
        client("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", "image", server.uri, folder=tmp_path)
        code, out, _ = top(capsys, server.web, "--once")
        assert code == 0
        lines = out.splitlines()
        assert all(len(line) <= 80 for line in lines), out
        live = json.loads(top(capsys, server.web, "--json")[1])
        writes = next(of for of in live["operations"] if of["operation"] == "write")
        assert writes["commands"] > 0
        row = next(line for line in lines if line.startswith("write "))
        assert row.split()[-2:] == [str(writes["commands"]), "0"]
        assert f"Dies busy    {live['busy_dies']} of {live['dies']}, " in out
        assert f"Write amp.   {live['write_amplification']:.3f}" in out
        assert "Suspension   program none, erase none, 0 changes" in out
        assert len(lines) - lines.index("Slowest commands") == len(live["slowest"]) + 2


def test_a_change_is_made_shown_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(tmp_path, *WEB, "--web-token", TOKEN) as server:
        change = ["--set", "suspend.erase.scheme=deferred", "--set", "suspend.erase.max-suspends=4"]
        code, out, err = top(capsys, server.web, "--token", TOKEN, "--once", *change)
        assert code == 0, err
        assert "s of drive time: program none, erase deferred" in err
        assert "Suspension   program none, erase deferred, 1 changes" in out
        code, _, err = top(capsys, server.web, "--token", TOKEN, "--once", "--set", "suspend.erase.scheme=never")
        assert code == 2
        assert "inter-phase" in err, "legal names"
        code, _, err = top(capsys, server.web, "--token", TOKEN, "--set", "deferred")
        assert code == 2
        assert "expected KEY=VALUE" in err
        assert "suspension changed at 0.000000000 s of drive time: suspend.erase.scheme = deferred" in server.end()


def test_a_token_is_needed_where_one_is_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(tmp_path, *WEB, "--web-token", TOKEN) as server:
        code, _, err = top(capsys, server.web, "--once")
        assert (code, "it is missing" in err) == (2, True)
        code, _, err = top(capsys, server.web, "--once", "--token", "another-token-of-it")
        assert (code, "this one is wrong" in err) == (2, True)


class Foreign(http.server.BaseHTTPRequestHandler):
    """Another server: its answer is that of the path of the class."""

    body = b"<html>"
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status)
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def foreign() -> Iterator[str]:
    server = http.server.HTTPServer(("127.0.0.1", 0), Foreign)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, b"<html>", "its answer is no JSON"),
        (200, b"[1]", "its JSON has no `config_hash`"),
        (200, b'{"config_hash": 3}', "a server of another version"),
        (404, b"no", "status 404 for /live.json"),
    ],
)
def test_another_server_is_no_live_view(
    foreign: str,
    status: int,
    body: bytes,
    expected: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Foreign, "status", status)
    monkeypatch.setattr(Foreign, "body", body)
    code, out, err = top(capsys, foreign, "--once")
    assert (code, out) == (2, "")
    assert expected in err
    assert foreign in err


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1", "expected HOST:PORT"),
        ("127.0.0.1:x", "expected HOST:PORT"),
        ("127.0.0.1:0", "expected HOST:PORT"),
        ("http://127.0.0.1:80/live", "expected HOST:PORT"),
        ("127.0.0.1:1", "refused"),
        ("no-such-host.invalid:8080", "no-such-host.invalid:8080"),
    ],
)
def test_a_wrong_address_is_refused(address: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = top(capsys, address, "--once")
    assert (code, out) == (2, "")
    assert expected in err
    assert "another version" not in err


def test_an_old_screen_needs_no_slip_and_no_commands() -> None:
    view = {
        "config_hash": "abc",
        "pace": "max",
        "wall_s": 0.0,
        "drive_s": 0.0,
        "window_s": 1.0,
        "operations": [],
        "slip_us": None,
        "outstanding": 0,
        "dies": 8,
        "busy_dies": 0,
        "suspended_dies": 0,
        "lanes": 8,
        "collecting_lanes": 0,
        "cached_units": 0,
        "write_amplification": None,
        "suspension": {"program": "none", "erase": "none", "changes": []},
        "slowest": [],
    }
    lines = screen(view)
    assert "Write amp.   -" in lines
    assert "Slip         max pace" in lines
    assert all(len(line) <= 80 for line in lines)


def test_screens_follow_each_other_in_a_terminal_until_ctrl_c(tmp_path: Path) -> None:
    with serving(tmp_path, *WEB) as server:
        parent, child = pty.openpty()
        line = [sys.executable, "-m", "interpulse", "top", server.web, "--interval", "0.1"]
        settings = os.environ | {"PYTHONPATH": str(ROOT / "python"), "TERM": "xterm", "COLUMNS": "80", "LINES": "40"}
        with subprocess.Popen(line, stdin=child, stdout=child, stderr=child, env=settings) as shown:
            os.close(child)
            seen, began = b"", time.monotonic()
            while seen.count(b"Slowest commands") < 3:
                assert time.monotonic() - began < PATIENCE, seen
                if select.select([parent], [], [], 1.0)[0]:
                    seen += os.read(parent, 65536)
            shown.send_signal(signal.SIGINT)
            while select.select([parent], [], [], 1.0)[0]:
                try:
                    seen += os.read(parent, 65536)
                except OSError:
                    break
            assert shown.wait(timeout=PATIENCE) == 0, seen
        os.close(parent)
        assert b"\x1b[?1049l" in seen, "the terminal is as before"

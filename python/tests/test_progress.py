"""Does progress say where each case is, start over in each phase, and never show nonsense?"""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import struct
import termios
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import pytest

from interpulse.cli import progress, study_progress
from interpulse.cli.live_display import Row, View
from interpulse.cli.wait_status import WaitStatus
from interpulse.tables.format import number, short, size
from interpulse.tables.layout import cells
from tests import fake_core
from tests.conftest import process
from tests.sample import ROOT

if TYPE_CHECKING:
    from interpulse import Progress


def at(case: str, phase: str, done: int, total: int = 100) -> Progress:
    return cast("Progress", fake_core.Progress(case, phase, done, total, "requests"))


def test_lines_come_with_each_phase_and_then_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    lines = progress.Lines()
    for done in range(3):
        lines.progress([at("none", "precondition", done), at("suspend", "precondition", 0, 0)])
    now += progress.LINE_EVERY_S
    lines.progress([at("none", "precondition", 50), at("suspend", "precondition", 1500, 0)])
    lines.note("wrote a snapshot")
    lines.progress([at("none", "run", 0, 12_000_000)])
    now += progress.LINE_EVERY_S
    lines.progress([at("none", "run", 12_000_000, 12_000_000)])
    captured = capsys.readouterr()
    assert captured.out == ""
    assert [line.rstrip() for line in captured.err.splitlines()] == [
        "none: precondition 0 % of 100 requests",
        "suspend: precondition",
        "none: precondition 50 % of 100 requests, 10 requests/s, about 5 s left",
        "suspend: precondition 1.5k requests, 300 requests/s, 5 s so far",
        "note: wrote a snapshot",
        "none: run 0 % of 12.0M requests",
    ]


def screen(width: int, **console: Any) -> tuple[View, io.StringIO]:  # noqa: ANN401 - as `Console`
    from rich.console import Console

    text = io.StringIO()
    return View(Console(file=text, force_terminal=True, width=width, **console)), text


def test_the_view_starts_over_in_each_phase_and_says_rate_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    view, text = screen(100)
    terminal = progress.Terminal(view)
    terminal.progress([at("none", "precondition", 0, 0), at("suspend", "waiting", 0, 0)])
    now += 4
    terminal.progress([at("none", "precondition", 80, 0), at("suspend", "waiting", 0, 0)])
    assert view.rows[0] == Row("none: precondition", None, "80 requests", "20 requests/s", "4 s so far")
    assert view.rows[1] == Row("suspend: waiting", None, "")
    terminal.progress([at("none", "run", 10, 100), at("suspend", "run", 0, 4000)])
    assert view.rows[0] == Row("none: run", 0.1, "10 % of 100 requests"), "of a new phase nothing is known yet"
    now += 2
    terminal.progress([at("none", "run", 60, 100), at("suspend", "run", 4, 4000)])
    assert view.rows[0] == Row("none: run", 0.6, "60 % of 100 requests", "25 requests/s", "about 2 s left")
    assert view.rows[1].left.startswith("about 33 min left, at "), "what takes long is told with its end"
    terminal.progress([at("none", "done", 100, 100), at("suspend", "run", 5, 4000)])
    assert view.rows[0] == Row("none: done", 1.0, "100 % of 100 requests")
    terminal.note("[a] note")
    assert text.getvalue() == "note: [a] note\n"


def test_a_run_that_ends_by_time_tells_how_fast_time_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    etas = progress.CaseEtas()
    for done in (0, 1500):
        case = cast("Progress", fake_core.Progress("a", "run", done, 60_000, "ms simulated"))
        told = etas.texts(case)
        now += 3
    assert told == ("x0.5 real time", "about 2 min left")


def test_of_many_cases_those_that_run_are_shown() -> None:
    view, _ = screen(100)
    terminal = progress.Terminal(view)
    phases = ["done"] * 5 + ["run"] * 3 + ["waiting"] * 12
    terminal.progress([at(f"c{number}", phase, 50) for number, phase in enumerate(phases)])
    assert [row.label for row in view.rows] == ["20 cases", "c5: run", "c6: run", "c7: run"]
    assert view.rows[0].amount == "5 done"


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
def test_the_view_is_never_wider_than_the_terminal(width: int) -> None:
    view, _ = screen(width)
    view.rows = [
        Row(
            "a-case-with-a-rather-long-name: precondition",
            0.37,
            "37 % of 10.0M requests",
            "1.2M requests/s",
            "about 12 s",
        ),
        Row("閾値電圧: run", None, "131.1k requests", "82.8k requests/s", "2 s so far"),
        Row("short: run", 1.0, "100 % of 10.0M requests"),
    ]
    text = io.StringIO()
    from rich.console import Console

    Console(file=text, force_terminal=True, width=width, no_color=True).print(view)
    shown = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in text.getvalue().splitlines()]
    assert len(shown) == 3, "a line each"
    assert all(cells(line) < width for line in shown)
    assert "37 %" in shown[0]
    assert ("about 12 s" in shown[0]) == (width >= 40)
    assert ("━" in shown[0]) == (width >= 80)


def test_a_study_shows_what_runs_and_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    view, _ = screen(80)
    terminal = study_progress.Terminal("mini", "simulations", study_progress.Board(view), alone=True)
    terminal.study(4, 24, [])
    now += 10
    terminal.study(9, 24, [at("one", "done", 100), at("two", "run", 0), at("three", "waiting", 0)])
    # The one that has ended is among the nine.
    assert view.rows[0] == Row("mini", 9 / 24, "9 of 24 simulations", left="about 30 s left")
    assert [row.label for row in view.rows] == ["mini", "two: run"]


def test_of_several_studies_those_show_that_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    view, text = screen(80)
    board = study_progress.Board(view)
    terminals = [study_progress.Terminal(name, "jobs", board, alone=False) for name in ("one", "two", "kept")]
    one, two, kept = map(WaitStatus, terminals)
    one.study(0, 30, [])
    one.study(0, 30, [at("a", "run", 1)])
    two.study(1, 2, [at("a", "waiting", 0)])
    assert [row.label for row in view.rows] == ["one", "a: run"], "what waits for a core has not begun"
    two.study(1, 2, [at("a", "precondition", 5)])
    kept.study(4, 4, [])
    assert [row.label for row in view.rows] == ["one", "a: run", "two", "a: precondition", "kept"]
    kept.end()
    now += 4
    one.study(10, 30, [at("b", "run", 7)])
    assert view.rows[0].left == "about 8 s left"
    for step in range(80):
        now += 0.1
        one.study(10, 30, [at("b", "run", 7 + step)])
        two.study(1, 2, [at("a", "precondition", 5)])
    assert [row.label for row in view.rows] == ["one", "b: run", "two"], "what has a state and no core stands still"
    for _ in range(1000):
        now += 0.1
        one.study(10, 30, [at("b", "run", 86)])
    one.study(10, 30, [at("b", "run", 87)])
    now += 4
    one.study(20, 30, [at("c", "run", 1)])
    assert view.rows[0].left == "about 4 s left", "the hundred seconds that others had the cores are not of its pace"
    two.note("a line")
    assert text.getvalue() == "note: two: a line\n"


def test_lines_of_several_studies_say_whose_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (WaitStatus(study_progress.Lines(name, "jobs", alone=False)) for name in ("one", "two"))
    one.study(0, 3, [])
    two.study(0, 2, [])
    assert capsys.readouterr().err == ""
    two.study(1, 2, [])
    two.note("a line")
    assert capsys.readouterr().err == "two: 1 of 2 jobs\nnote: two: a line\n"


PLAIN = {"TERM": "dumb"}


@pytest.mark.parametrize(
    ("environment", "moves", "coloured"),
    [
        ({"TERM": "xterm-256color"}, True, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, True, False),
        (PLAIN, False, False),
    ],
)
def test_a_terminal_has_the_view_without_colour_where_none_is_wanted(
    environment: dict[str, str], moves: bool, coloured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Standard error is a terminal of 60 columns, standard output a file."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 60, 0, 0))
    script = "from interpulse.cli import main; main()"
    arguments = ("run", str(ROOT / "examples" / "small.toml"), "--json")
    with process("-c", script, *arguments, stderr=theirs) as running:
        os.close(theirs)
        said = b""
        with suppress(OSError):  # How a terminal says that nobody writes to it any more.
            while piece := os.read(ours, 65536):
                said += piece
        os.close(ours)
        assert running.stdout is not None
        assert json.loads(running.stdout.read())["cases"]
    assert running.returncode == 0
    text = said.decode()
    assert ("\x1b[2K" in text) == moves
    assert bool(re.search("\x1b\\[3[0-9]m", text)) == coloured
    assert moves or "\x1b" not in text
    plain = re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", text)
    # How much of a run is seen depends on how fast it is.
    assert re.search("no-suspend: (run|done)", plain)
    assert not moves or max(map(cells, re.split("[\r\n]+", plain))) < 60


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.0, "0.0"), (999.94, "999.9"), (1000.0, "1,000"), (1234567.8, "1,234,568")]
)
def test_numbers(value: float | None, text: str) -> None:
    assert number(value) == text


def test_short_counts_and_sizes() -> None:
    assert [short(count) for count in (0, 950, 12_345, 4_100_000, 2e9)] == ["0", "950", "12.3k", "4.1M", "2.0G"]
    assert [size(count) for count in (0, 1023, 1024, 5 * 2**20, 2**31, 2**41)] == [
        "0 B",
        "1023 B",
        "1.0 KiB",
        "5.0 MiB",
        "2.0 GiB",
        "2.0 TiB",
    ]

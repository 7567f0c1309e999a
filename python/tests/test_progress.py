"""Does progress say where each case is, start over in each phase, and never show nonsense?"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, cast

import pytest

from interpulse.cli import progress
from interpulse.text import number, short, size
from tests import fake_core

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
        "none: precondition 50 % of 100 requests",
        "suspend: precondition 1.5k requests",
        "note: wrote a snapshot",
        "none: run 0 % of 12.0M requests",
    ]


def test_bars_start_over_in_each_phase() -> None:
    from rich.console import Console
    from rich.progress import Progress as Bars

    screen = io.StringIO()
    with Bars(console=Console(file=screen, force_terminal=True, width=100), auto_refresh=False) as bars:
        terminal = progress.Terminal(bars)
        terminal.progress([at("none", "precondition", 0, 0)])
        assert bars.tasks[0].total is None, "an unknown end is a pulsing bar"
        terminal.progress([at("none", "precondition", 90), at("suspend", "precondition", 10)])
        assert [task.percentage for task in bars.tasks] == [90, 10]
        terminal.progress([at("none", "run", 5)])
        assert bars.tasks[0].description == "none: run"
        assert bars.tasks[0].completed == 5
        terminal.note("[a] note")
    assert "note: [a] note" in screen.getvalue()


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

"""Do names with commands of a terminal in them reach the terminal? Every output and message is escaped."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from interpulse.cli import live_display, output_streams
from tests.sample import two_cases

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended
    from tests.fake_core import FakeCore

HOSTILE = [
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\x1b[2J\x1b[H",
    "\x9b31m",
    "\rerror: none",
    "\x08\x08\x08",
    "\x07",
    "\x7f",
    "\x85next",
    "\u202egnp.exe",
    "\u2066isolated\u2069",
    "\u2028line",
    "\x00nothing",
    "\x0b\x0c",
]
"""Colours, titles, clearing, C1 codes, carriage returns, backspaces, and characters that reorder a line."""


def clean(text: str) -> bool:
    return all(each in "\n\t" or each.isprintable() for each in text)


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_results_notes_and_progress_have_no_control_characters(
    name: str, core: FakeCore, config_file: str, interpulse: Callable[..., Ended]
) -> None:
    core.result = two_cases()
    core.result["case"] = core.result["cases"][0]["case"] = name
    core.notes = [f"trace {name}: read", f"trace {name}\nerror: all is lost"]
    for options in ((), ("--json",)):
        ended = interpulse("run", config_file, *options)
        assert ended.code == 0
        assert clean(ended.out), ended.out
        assert clean(ended.err), ended.err
        assert "\nerror:" not in ended.err, "a note is one paragraph"
    assert ended.json()["cases"][0]["case"] == name, "JSON has the name itself"
    core.config_error = f"{name}: no such key"
    ended = interpulse("run", config_file)
    assert ended.code == 2
    assert clean(ended.err)


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_the_live_display_has_no_control_characters(name: str) -> None:
    from rich.console import Console

    text = io.StringIO()
    shown = live_display.View(Console(file=text, width=100))
    shown.note(f"case {name}")
    assert clean(text.getvalue())
    row = live_display.Row(f"{name}: run", 0.5, "1 request")
    assert all(clean(part) for line in live_display.lines([row], 80) for part in line)


def test_text_without_control_characters_is_printed_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    text = "größer\t→ 10 µs\n┃ 表 é 🙂 \N{NO-BREAK SPACE}."
    output_streams.emit(text)
    output_streams.say(text)
    assert capsys.readouterr() == (f"{text}\n", f"{text}\n")


def test_json_stays_json(capsys: pytest.CaptureFixture[str]) -> None:
    given = {"case": "".join(HOSTILE)}
    output_streams.emit(json.dumps(given, ensure_ascii=False))
    assert json.loads(capsys.readouterr().out) == given


def test_a_file_name_is_escaped(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    for name in ("\x1b[31mred", "two\nlines", "\u202egnp"):
        for command in (("cache", "--cache-dir"), ("report",), ("compare", "x"), ("view",), ("sweep",)):
            ended = interpulse(*command, str(tmp_path / name))
            assert clean(ended.out + ended.err)

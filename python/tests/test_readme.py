"""Does every command of the README parse, and is every figure of its first lines what a run gives?"""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest
import typer

from interpulse import Config, run
from interpulse.cli.app import app
from interpulse.flash.die import Die
from tests.sample import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (interpulse .+?)\s+# .+$", README, re.MULTILINE)
TARGETS = re.findall(r"^    make ([a-z]+) ", README, re.MULTILINE)


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 8
    assert TARGETS == ["demo", "test"]
    assert all(re.search(rf"^{name}:", (ROOT / "Makefile").read_text(), re.MULTILINE) for name in TARGETS)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_understood(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = shlex.split(command)[1:]
    group: Any = typer.main.get_command(app)
    name, sub, rest = group.resolve_command(group.make_context("interpulse", list(words)), words)
    parsed = sub.make_context(name, rest).params
    if name in ("run", "advise", "slo", "show"):
        assert Config.load(parsed["config"]).case_names


def test_the_read_of_the_picture_waits_as_long_as_the_text_says() -> None:
    waits = re.search(r"waits for the end of the program, ([\d.]+) ms", README)
    assert waits is not None
    # The command of the picture, docs/GALLERY.md, without suspension.
    program, read = Die("a4-tlc", "program", "none").run([900_000]).operations
    assert program.done_ns is not None
    assert read.done_ns is not None
    assert read.done_ns > program.done_ns
    assert f"{(program.done_ns - read.arrived_ns) / 1e6:.1f}" == waits[1]


@pytest.mark.verify
def test_the_tails_are_those_of_the_example() -> None:
    words = r"1 % of the reads take longer than ([\d.]+) ms; with suspended programs, longer than ([\d.]+) ms"
    said = re.search(words, README)
    assert said is not None
    cases = run(Config.load(ROOT / "examples" / "tail.toml"), no_cache=True).cases
    assert [f"{case.percentile('read', 99) / 1000:.1f}" for case in cases[:2]] == list(said.groups())

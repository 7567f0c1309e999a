"""Arguments that are read without Typer mean what they mean to Typer."""

from __future__ import annotations

import inspect
import random
from pathlib import Path
from typing import Any

import pytest
from typer import Context
from typer.main import get_group

from interpulse.cli import fast_path
from interpulse.cli.app import app
from interpulse.cli.run_command import run_command
from interpulse.files.paths import as_path_has_it

CONFIGS = ["a.toml", "./a.toml", "b//c.toml", "d/", "-", "", " ", ".hidden/e.toml"]
TEXTS = [
    "",
    "x=1",
    "--json",
    "-1",
    "0",
    "007",
    "3",
    "1001",
    "18446744073709551615",
    "18446744073709551616",
    "a/./b",
    "²",
]
GROUP = get_group(app)
COMMAND = GROUP.get_command(Context(GROUP), "run")


def of_typer(arguments: list[str]) -> dict[str, Any]:
    """What Typer makes of the arguments of `run`."""
    assert COMMAND is not None
    return COMMAND.make_context("run", list(arguments)).params


def defaults() -> dict[str, Any]:
    parameters = inspect.signature(run_command).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not inspect.Parameter.empty}


def texts(options: dict[str, Any]) -> dict[str, Any]:
    """Options that are given, with paths as texts."""

    def text(value: object) -> object:
        return str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value

    found = {name: text(value) for name, value in options.items()}
    return {name: value for name, value in found.items() if value or value == 0}


def drawn(rng: random.Random) -> list[str]:
    """Arguments that are often right and often not."""
    pieces = []
    for _ in range(rng.randrange(5)):
        option = rng.choice([*fast_path.FLAGS, *(*fast_path.VALUES,) * 2, "--out", "--repeat", "--nothing", "-h", "--"])
        value = rng.choice(TEXTS)
        likely = option in fast_path.VALUES if rng.random() < 0.9 else rng.random() < 0.5
        pieces.append(([f"{option}={value}"] if rng.random() < 0.3 else [option, value]) if likely else [option])
    pieces += [
        [rng.choice(CONFIGS[:3] if rng.random() < 0.7 else CONFIGS)] for _ in range(rng.choice((0, 1, 1, 1, 1, 2)))
    ]
    rng.shuffle(pieces)
    return [argument for piece in pieces for argument in piece]


def test_whatever_is_read_without_typer_is_what_typer_reads() -> None:
    rng = random.Random(20)
    read = 0
    for _ in range(3000):
        arguments = drawn(rng)
        found = fast_path.read(["run", *arguments])
        if found is not None:
            read += 1
            assert texts(defaults() | found) == texts(of_typer(arguments)), arguments
    assert read > 500


@pytest.mark.parametrize(
    "arguments",
    [
        ["a.toml"],
        ["a.toml", "--set", "x=1", "--set=y=2", "--seed", "0", "--json"],
        [
            "--jobs=2",
            "--no-cache",
            "--cache-dir",
            "kept",
            "--trace",
            "t.csv",
            "--skip-bad-rows",
            "a.toml",
            "--counters",
        ],
    ],
)
def test_a_common_call_is_read_without_typer(arguments: list[str]) -> None:
    assert fast_path.read(["run", *arguments]) is not None


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["run"],
        ["run", "--help"],
        ["run", "a.toml", "--help"],
        ["show", "a.toml"],
        ["run", "a", "b"],
        ["run", "a", "--x"],
    ],
)
def test_all_else_is_left_to_typer(arguments: list[str]) -> None:
    assert fast_path.read(arguments) is None


@pytest.mark.parametrize(
    "text", ["", ".", "/", "a", "a/", "//a", "a//b", "./a", "a/.", "a/./b", ".a/.b", "../a", "a/.."]
)
def test_a_name_is_written_as_pathlib_writes_it(text: str) -> None:
    assert as_path_has_it(text) == str(Path(text))

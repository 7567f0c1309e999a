"""What a command has to import before it does anything; and that what starts fast converts arguments as Typer does."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from typer._click.core import Context
from typer._click.exceptions import ClickException
from typer.core import TyperArgument, TyperOption
from typer.main import get_group

from interpulse.cli import app, conversion
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CODE = """
import sys
before = set(sys.modules)
from interpulse.cli import run_app
code = run_app(sys.argv[2:])
open(sys.argv[1], "w").write(" ".join(sorted(set(sys.modules) - before)))
sys.exit(code)
"""

SMALL = "examples/small.toml"

NEEDED = {"interpulse", "typer", "annotated_doc", "shellingham"}
"""What is not of the standard library and may be imported: ourselves, Typer, and what Typer needs to be imported. No
SciPy, Matplotlib, NumPy, Rich, Pydantic, Polars or PyArrow."""

OF_RUN = {
    *("_core", "cache", "config", "latency", "layout", "result", "runner", "text", "userfile", "values"),
    *("cli", "cli.conversion", "cli.exits", "cli.loading", "cli.options", "cli.streams"),
    *("cli.power", "cli.progress", "cli.run", "cli.steadiness", "cli.table"),
}
"""The files of the package that a run without `--out` needs."""


def imported(tmp_path: Path, *arguments: str) -> set[str]:
    listed = tmp_path / "modules"
    ended = subprocess.run(
        [sys.executable, "-c", CODE, str(listed), *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return set(listed.read_text().split())


def test_a_run_reads_no_file_that_it_does_not_need(tmp_path: Path) -> None:
    of_run = imported(tmp_path, "run", SMALL, "--set", "run.requests=100", "--seed", "7", "--jobs", "1", "--no-cache")
    assert {name.split(".")[0] for name in of_run} - sys.stdlib_module_names <= NEEDED
    assert {name.removeprefix("interpulse.") for name in of_run if name.startswith("interpulse.")} <= OF_RUN


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("list",), ("show", SMALL), ("scheme", "exact")])
def test_nothing_starts_with_what_only_plots_and_statistics_need(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert {name.split(".")[0] for name in imported(tmp_path, *arguments)} - sys.stdlib_module_names <= NEEDED


VALUES = (
    *("0", "7", "007", "+7", " 7 ", "1_0", "-1", "1.5", "x", "", "\u0667", "program", "9" * 5000),
    *(str(2**64 - 1), str(2**64), 7, -1, None),
)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("run", "seed"),
        ("run", "jobs"),
        ("run", "out"),
        ("experiment", "seed"),
        ("list", "kind"),
        ("scheme", "operation"),
    ],
)
def test_values_are_those_of_typer(command: str, name: str, value: object) -> None:
    context = Context(get_group(app))
    found = get_group(app).get_command(context, command)
    assert found is not None
    (parameter,) = (each for each in found.params if each.name == name)
    assert isinstance(parameter, TyperOption | TyperArgument)
    assert isinstance(parameter.get_runtime_param(), conversion._Direct)

    def outcome(converter: Any) -> object:  # noqa: ANN401
        try:
            return converter.coerce(value, param=parameter, ctx=context)
        except (ClickException, TypeError) as refusal:
            return str(refusal)

    assert outcome(parameter.get_runtime_param()) == outcome(conversion._by_typer(parameter))


def test_repeated_settings_are_those_of_typer() -> None:
    context = Context(get_group(app))
    found = get_group(app).get_command(context, "run")
    assert found is not None
    (sets,) = (each for each in found.params if each.name == "sets")
    assert isinstance(sets, TyperOption)
    for value in ((), ("a=1",), ["a=1", "b=2"], None):
        direct, typer = sets.get_runtime_param(), conversion._by_typer(sets)
        assert direct.coerce(value, sets, context) == typer.coerce(value, sets, context)

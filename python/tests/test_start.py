"""What does a command have to import before it does anything?"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

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

UNNEEDED = {"scipy", "matplotlib", "numpy", "rich", "polars", "pyarrow", "jsonschema", "dask", "distributed"}
"""What plots, statistics and tables of data frames need, and nothing else."""

COSTLY = {"typer", "dataclasses", "inspect", "pathlib", "decimal", "datetime", "html", "csv", "shutil", "traceback"}
COSTLY |= {"typing", "signal", "contextlib", "threading"}
"""What takes longer to read than it would save a run."""

OF_JSON = {"json", "re", "enum", "functools", "collections"}
"""What `json` is and reads, which only writing JSON anew is worth."""

OF_RUN = {
    *("_core", "configuration", "configuration.config", "configuration.values"),
    *("files", "files.cache", "files.json_reader", "files.paths", "runs", "runs.document", "runs.latency"),
    *("runs.limits", "runs.result", "runs.runner", "runs.steadiness"),
    *("tables", "tables.format", "tables.layout"),
    *("cli", "cli.exit_codes", "cli.fast_path", "cli.output_streams", "cli.run_command"),
    *("cli.eta", "cli.power", "cli.progress", "runs.summary", "cli.table"),
    *("cli.brief", "runs.answer", "tables.tail_plot"),
}
"""The files of the package that a run without `--out` needs."""


def imported(tmp_path: Path, *arguments: str) -> set[str]:
    listed = tmp_path / "modules"
    ended = subprocess.run(
        [sys.executable, "-c", CODE, str(listed), *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return set(listed.read_text().split())


@pytest.mark.parametrize("cache", [(), ("--no-cache",), ("--cache-dir", "{}/kept", "--json")])
def test_a_run_reads_no_file_that_it_does_not_need(tmp_path: Path, cache: tuple[str, ...]) -> None:
    arguments = ("run", SMALL, "--set", "flow.0.requests=100", "--seed", "7", "--jobs", "1")
    of_run = imported(tmp_path, *arguments, *(each.format(tmp_path) for each in cache))
    of_others = UNNEEDED | COSTLY | (set() if "--json" in cache else OF_JSON)
    assert of_others.isdisjoint(name.split(".")[0] for name in of_run)
    assert {name.removeprefix("interpulse.") for name in of_run if name.startswith("interpulse.")} <= OF_RUN


@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("list",), ("show", SMALL), ("scheme", "exact")])
def test_nothing_starts_with_what_only_plots_and_statistics_need(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert UNNEEDED.isdisjoint(name.split(".")[0] for name in imported(tmp_path, *arguments))

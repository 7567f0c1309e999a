"""Do the examples in the documents run, and do version and licence agree everywhere?"""

from __future__ import annotations

import importlib.util
import re
import tomllib
from typing import TYPE_CHECKING

import pytest

from interpulse import Config, run
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BLOCKS = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def execute(code: str, name: str) -> None:
    exec(compile(code, name, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_the_readme_runs(code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    execute(code, "README.md")
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    execute(path.read_text(), str(path))
    assert capsys.readouterr().out


def test_the_error_table_of_the_document_runs_on_every_drive_of_three_bits(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "RELIABILITY.md").read_text()
    (table,) = (block for block in re.findall(r"^```toml\n(.*?)^```", text, re.M | re.S) if "[error-table]" in block)
    path = tmp_path / "table.toml"
    path.write_text(table)
    tried = 0
    for example in sorted((ROOT / "examples").glob("*.toml")):
        config = Config.load(example)
        # One needs a trace, and one compares with a drive of two bits.
        if example.stem not in ("replay", "ressd"):
            config.set("errors.table", str(path)).entries()
            tried += 1
    assert tried > 5
    small = Config.load(ROOT / "examples" / "small.toml").set("run.requests", 1000).set("errors.table", str(path))
    assert run(small, no_cache=True).raw["reliability"]


def test_there_is_something_to_run() -> None:
    assert BLOCKS
    assert EXAMPLES


def test_one_version_everywhere() -> None:
    from interpulse import __version__

    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert __version__ == cargo["version"]
    assert project["dynamic"] == ["version"]
    assert cargo["license"] == project["license"] == "Apache-2.0 OR MIT"
    assert f"## [{cargo['version']}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_lock_names_exact_versions_and_no_place() -> None:
    lines = [line for line in (ROOT / "requirements-dev.lock").read_text().splitlines() if not line.startswith("#")]
    assert lines
    for line in lines:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line), line


def test_the_configuration_page_is_what_the_reader_says() -> None:
    path = ROOT / "python" / "tools" / "config_page.py"
    spec = importlib.util.spec_from_file_location("config_page", path)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = (ROOT / "docs" / "CONFIGURATION.md").read_text()
    assert written == tool.page(), "run `make golden`"

"""`interpulse doctor`, and the commands that install packages in a clone, with pipx and in environments."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from interpulse.cli import doctor
from interpulse.configuration import installation
from interpulse.files.cache import Cache
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def test_the_findings_name_this_clone_and_its_machine(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "interpulse", "doctor", "--json", "--cache-dir", str(tmp_path / "new")]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert found["installation"] == f"clone in {ROOT}"
    assert list(found["extras"]) == list(installation.PURPOSES)
    assert found["extras"]["plot"]["packages"] == ["bokeh", "matplotlib"]
    assert all(of["missing"] == [] and of["command"] is None for of in found["extras"].values())
    assert found["machine"]["cores"] >= 1
    assert found["machine"]["memory_bytes"] > 1 << 28
    assert found["snapshots"]["folder"] == str(tmp_path / "new")
    assert found["snapshots"]["used_bytes"] == 0
    assert not (tmp_path / "new").exists(), "looking makes no folder"


def test_what_is_missing_is_shown_with_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_is_installed", lambda package: package != "bokeh")
    monkeypatch.setattr("shutil.which", lambda name, path=None: None if name == "fio" else f"/bin/{name}")  # noqa: ARG005 - as it is called
    text = doctor.text(doctor.findings(Cache.default(str(tmp_path))), 100)
    lines = text.splitlines()
    assert any(line.startswith("plot ") and "lacks bokeh" in line for line in lines), text
    assert any(line.startswith("search ") and "lacks bokeh" in line for line in lines), "it contains plot"
    assert any(line.startswith("frames ") and "installed" in line for line in lines), text
    assert lines[lines.index("what is missing comes with") + 1 :] == [f"  make -C {ROOT} dev", "  apt-get install fio"]
    assert "what is missing" not in doctor.text(_complete(tmp_path, monkeypatch), 100)


def _complete(folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    monkeypatch.setattr(installation, "_is_installed", lambda package: True)  # noqa: ARG005 - as it is called
    monkeypatch.setattr("shutil.which", lambda name, path=None: f"/bin/{name}")  # noqa: ARG005 - as it is called
    return doctor.findings(Cache.default(str(folder)))


@pytest.mark.parametrize(
    ("prefix", "pip", "expected"),
    [
        ("/home/u/.local/share/pipx/venvs/interpulse", True, "pipx inject interpulse 'bokeh>=3.8' 'matplotlib>=3.9'"),
        ("/home/u/venv", True, f"{sys.executable} -m pip install 'bokeh>=3.8' 'matplotlib>=3.9'"),
        ("/home/u/venv", False, f"uv pip install --python {sys.executable} 'bokeh>=3.8' 'matplotlib>=3.9'"),
    ],
)
def test_a_wheel_names_packages_since_no_index_has_interpulse(
    monkeypatch: pytest.MonkeyPatch, prefix: str, pip: bool, expected: str
) -> None:
    monkeypatch.setattr(installation, "clone", lambda: None)
    monkeypatch.setattr(installation, "_is_installed", lambda package: False)  # noqa: ARG005 - as it is called
    monkeypatch.setattr(installation, "find_spec", lambda name: object() if pip and name == "pip" else None)
    monkeypatch.setattr(sys, "prefix", prefix)
    assert installation.command("plot") == expected


def test_only_missing_packages_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "clone", lambda: None)
    monkeypatch.setattr(installation, "_is_installed", lambda package: package != "scipy")
    assert installation.missing("fit") == {"scipy": "scipy>=1.13"}
    assert installation.command("fit").endswith(" 'scipy>=1.13'")


def test_an_extra_without_metadata_has_a_command_that_names_something(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "clone", lambda: None)
    monkeypatch.setattr(installation, "packages", lambda extra: {})  # noqa: ARG005 - as it is called
    assert installation.command("plot", "bokeh").endswith(" bokeh")
    assert installation.command("plot").startswith("install interpulse again")

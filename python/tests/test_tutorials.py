"""Does every command of the tutorials work, print what the page shows, and print the figures that its prose names?"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "docs" / "tutorials"


def load() -> Any:  # noqa: ANN401 - a module
    spec = importlib.util.spec_from_file_location("tutorials", ROOT / "python" / "tools" / "tutorials.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Its data classes look their module up.
    sys.modules["tutorials"] = module
    spec.loader.exec_module(module)
    return module


TOOL = load()
NAMES = [pytest.param(name, marks=pytest.mark.verify if name in TOOL.LONG else ()) for name in TOOL.tutorials()]


@pytest.mark.parametrize("name", NAMES)
def test_a_tutorial_does_what_it_shows(name: str, tmp_path: Path) -> None:
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    if name in TOOL.LONG:
        TOOL.clone(tmp_path)
    taken = TOOL.outputs_of(name, tmp_path)
    assert taken
    for step, output in taken:
        assert TOOL.agrees(step.output, output), f"$ {step.text}\n{output}\n`python python/tools/tutorials.py {name}`"
    if name in TOOL.PICTURES:
        drawn, shown = TOOL.PICTURES[name]
        assert (tmp_path / drawn).read_bytes() == (FOLDER / shown).read_bytes(), "the picture is what the commands draw"
    assert not TOOL.unsupported(page, [output for _, output in taken]), "figures that no command prints"


@pytest.mark.parametrize("name", TOOL.tutorials())
def test_a_tutorial_has_a_picture_and_a_way_on(name: str) -> None:
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    picture = re.search(r"^!\[.+\]\((.+)\)$", page, re.MULTILINE)
    assert picture is not None
    assert (FOLDER / picture[1]).is_file()
    assert "\n## Next\n" in page
    assert f"({name}.md)" in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_scheme_is_the_file_that_is_compiled_and_its_change_applies(tmp_path: Path) -> None:
    steps: dict[str, Any] = {}
    for step in TOOL.steps((FOLDER / "own-scheme.md").read_text(encoding="utf-8")):
        steps.setdefault(step.kind, step)
    # crates/flash/tests/tutorial_scheme.rs compiles and tests it.
    assert steps["file"].text == (ROOT / "examples" / "schemes" / "nearest.rs").read_text(encoding="utf-8")
    registry = tmp_path / "crates" / "flash" / "src" / "suspend" / "mod.rs"
    registry.parent.mkdir(parents=True)
    shutil.copyfile(ROOT / "crates" / "flash" / "src" / "suspend" / "mod.rs", registry)
    TOOL.run(steps["diff"], tmp_path, {"PATH": "/usr/bin:/bin"})
    assert '"nearest" => nearest::Nearest' in registry.read_text(encoding="utf-8")


def test_what_differs_is_noticed(tmp_path: Path) -> None:
    assert TOOL.agrees("a\n...\nd\n", "a\nb\nc\nd\n")
    assert TOOL.agrees("a\n...\n", "a\n")
    assert not TOOL.agrees("a\n...\nd\n", "a\nb\ne\n")
    assert not TOOL.agrees("a 1\n", "a 2\n")
    text = "It takes 2.5 ms or 7 %.\n\n```console\n$ echo 2.5 ms\n2.5 ms\n$ echo \\\n    b\nb\n```\n"
    steps = list(TOOL.steps(text))
    assert [(step.text, step.output) for step in steps] == [("echo 2.5 ms", "2.5 ms\n"), ("echo \\\n    b", "b\n")]
    assert TOOL.unsupported(text, []) == ["7%"]
    outputs = [(step, TOOL.run(step, tmp_path, {"PATH": "/usr/bin:/bin"})) for step in steps]
    assert all(TOOL.agrees(step.output, output) for step, output in outputs)
    with pytest.raises(TOOL.TutorialError, match="ended with code 3"):
        TOOL.run(next(TOOL.steps("```console\n$ exit 3\n```\n")), tmp_path, {"PATH": "/usr/bin:/bin"})
    with pytest.raises(TOOL.TutorialError, match="begins with a command"):
        list(TOOL.steps("```console\necho\n```\n"))
    changed = TOOL.rewritten(
        text.replace("\n2.5 ms\n", "\n9 ms\n"), [(TOOL.Step("console", "", "echo 2.5 ms", "9 ms\n"), "2.5 ms\n")]
    )
    assert changed == text


def test_a_clone_has_what_is_committed(tmp_path: Path) -> None:
    if subprocess.run(["git", "-C", str(ROOT), "rev-parse"], capture_output=True, check=False).returncode:
        pytest.skip("this is no clone")
    TOOL.clone(tmp_path / "clone")
    assert (tmp_path / "clone" / "Makefile").is_file()
    assert not (tmp_path / "clone" / ".venv").exists()

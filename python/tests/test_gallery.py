"""Does the gallery show the pictures that there are, each with a command that would be understood?"""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest
import typer

from interpulse import Config
from interpulse.characterize.registry import KINDS
from interpulse.cli.app import app
from interpulse.experiments.registry import EXPERIMENTS
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = ROOT / "python" / "tools"
FOLDER = ROOT / "docs" / "gallery"
PAGE = ROOT / "docs" / "GALLERY.md"
README = ROOT / "README.md"
STUDIES: dict[str, Any] = {"experiment": EXPERIMENTS, "characterize": KINDS}


@pytest.fixture(scope="module")
def gallery() -> Iterator[Any]:
    """The tool, as it is found beside the others."""
    before = set(sys.modules)
    sys.path.insert(0, str(TOOLS))
    try:
        spec = importlib.util.spec_from_file_location("gallery", TOOLS / "gallery.py")
        assert spec is not None
        assert spec.loader is not None
        tool = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tool)
        yield tool
    finally:
        sys.path.remove(str(TOOLS))
        for name in set(sys.modules) - before:
            if name.startswith("gallery"):
                del sys.modules[name]


def test_the_page_is_what_the_table_says(gallery: Any) -> None:  # noqa: ANN401 - a module
    assert PAGE.read_text(encoding="utf-8") == gallery.page(), "run `make gallery`"


def test_the_page_shows_exactly_the_pictures_that_there_are() -> None:
    shown = re.findall(r"^!\[.+\]\(gallery/(.+)\)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(shown) > 15
    assert sorted(shown) == sorted(path.name for path in FOLDER.iterdir())


def test_pictures_are_whole_and_small() -> None:
    begins = {".png": b"\x89PNG\r\n", ".svg": b"<?xml"}
    ends = {".png": b"IEND\xaeB`\x82", ".svg": b"</svg>\n"}
    total = 0
    for path in FOLDER.iterdir():
        content = path.read_bytes()
        assert content.startswith(begins[path.suffix]), path.name
        assert content.endswith(ends[path.suffix]), path.name
        total += len(content)
    assert total < 3_000_000


def commands() -> list[str]:
    """The commands of the page."""
    return list(dict.fromkeys(re.findall(r"^    (interpulse .+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)))


@pytest.mark.parametrize("command", commands())
def test_a_command_is_understood(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = shlex.split(command)[1:]
    if words[0] == "view":
        # What it views is what the command above it writes.
        assert f"--out {words[1].rpartition('/')[0]}\n" in PAGE.read_text(encoding="utf-8")
        words[1] = "README.md"
    group: Any = typer.main.get_command(app)
    name, sub, rest = group.resolve_command(group.make_context("interpulse", list(words)), words)
    parsed = sub.make_context(name, rest).params
    if name == "run":
        config = Config.load(parsed["config"])
        for each in parsed["sets"]:
            key, _, value = each.partition("=")
            config.set(key, value)
        assert config.entries()
    elif name in STUDIES:
        assert set(parsed.get("names") or [parsed["kind"]]) <= {each.name for each in STUDIES[name]}
    assert name in ("view", "explore") or str(parsed["out"]).startswith("out/gallery/")


def test_the_readme_opens_with_a_train_and_a_tail() -> None:
    text = README.read_text(encoding="utf-8")
    first = text.partition("\n## ")[0]
    assert re.findall(r"\((docs/gallery/.+?)\)", first) == ["docs/gallery/train.svg", "docs/gallery/read-tail.png"]
    for picture in re.findall(r"!\[.+?\]\((.+?)\)", text):
        assert (ROOT / picture).is_file(), picture

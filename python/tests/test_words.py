"""Are the documents short: words by hand in all, and bytes of every page by hand?"""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from tests.sample import ROOT

MOST_WORDS = 55_000
MOST_BYTES = 10_240
MOST = {"README.md": 6_144, "CONTRIBUTING.md": 8_192, "CHANGELOG.md": 30_000}
"""Bytes of pages with a limit of their own; the changelog grows by a line for each change."""

TUTORIAL_BYTES = 8_192
"""Of a tutorial with the output of its commands."""


@pytest.fixture(scope="module")
def tool() -> Any:  # noqa: ANN401 - a module
    spec = importlib.util.spec_from_file_location("words", ROOT / "python" / "tools" / "words.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_documents_have_few_words(tool: Any) -> None:  # noqa: ANN401 - a module
    found = sum(count for count, _ in tool.counts().values())
    assert 20_000 < found <= MOST_WORDS, f"{found} words: `python python/tools/words.py` lists them by page"


def test_no_page_by_hand_is_long(tool: Any) -> None:  # noqa: ANN401 - a module
    long = {name: size for name, (_, size) in tool.counts().items() if size > MOST.get(name, MOST_BYTES)}
    assert not long
    for name, most in MOST.items():
        assert (ROOT / name).stat().st_size <= most, name


def test_a_tutorial_is_read_in_minutes() -> None:
    sizes = {page.name: page.stat().st_size for page in (ROOT / "docs" / "tutorials").glob("*.md")}
    assert len(sizes) >= 5
    assert max(sizes.values()) <= TUTORIAL_BYTES, sizes


def test_generated_parts_do_not_count(tool: Any) -> None:  # noqa: ANN401 - a module
    assert tool.words("one | two, -- 3 |\n") == 3
    text = "a\n<!-- figures:begin -->\nb c\n<!-- figures:end -->\nd\n"
    assert tool.BLOCK.sub("", text).split() == ["a", "d"]
    assert {"docs/COMMAND-LINE.md", "docs/RESULTS.md"} & set(tool.counts()) == {"docs/RESULTS.md"}
    assert all((ROOT / name).is_file() for name in tool.GENERATED)

"""Words and bytes that the documents have by hand: everything but generated pages and generated blocks.

python python/tools/words.py prints pages by words, the most first.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

FOLDERS = ("bench", "crates", "docs", "examples", "experiments", "fuzz", "python")
"""Folders whose pages count, besides the pages of the root."""

GENERATED = frozenset(
    f"docs/{name}.md"
    for name in (
        "COMMAND-LINE",
        "CONFIGURATION",
        "COUNTERS",
        "GALLERY",
        "IMPORT",
        "PAPERS",
        "PEERS",
        "PYTHON",
        "RESULT-KEYS",
        "VERIFY",
    )
)
"""Pages that a tool or command writes as a whole."""

CHECKED = re.compile(r"^```console$.*?^```$", re.MULTILINE | re.DOTALL)
"""Commands and output of a tutorial, which its tool rewrites."""

BLOCK = re.compile(r"^<!-- (\w+):begin -->$.*?^<!-- \1:end -->$", re.MULTILINE | re.DOTALL)
"""A generated block, between its marks."""


def pages() -> list[Path]:
    """All pages of the repository."""
    return sorted([*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))])


def by_hand(page: Path) -> str:
    """The text of a page without its generated blocks."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    return CHECKED.sub("", text) if page.parent.name == "tutorials" else text


def words(text: str) -> int:
    """The number of words: runs between blanks with a letter or a digit."""
    return sum(any(each.isalnum() for each in word) for word in text.split())


def counts() -> dict[str, tuple[int, int]]:
    """Words and bytes by hand of each page that has some."""
    texts = {str(page.relative_to(ROOT)): by_hand(page) for page in pages()}
    return {name: (words(text), len(text.encode())) for name, text in texts.items() if name not in GENERATED}


if __name__ == "__main__":
    found = counts()
    for name, (count, size) in sorted(found.items(), key=lambda item: -item[1][0]):
        print(f"{count:>7,} words {size:>7,} bytes  {name}")  # noqa: T201
    print(f"{sum(count for count, _ in found.values()):>7,} words by hand")  # noqa: T201

"""Do the links of all documents lead to pages, files and headings that are there?"""

from __future__ import annotations

import re
import runpy
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

from tests.sample import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def links_of(text: str) -> list[str]:
    """Where the links and pictures of a text lead to."""
    found = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        found += [str(each.attrGet("href") or each.attrGet("src") or "") for each in token.children or ()]
    return [each for each in found if each]


@cache
def headings_of(path: Path) -> frozenset[str]:
    """The names that the headings of a page have in links: lower case, without punctuation, spaces as hyphens."""
    names: dict[str, int] = {}
    tokens = MarkdownIt("commonmark").enable("table").parse(path.read_text(encoding="utf-8"))
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            text = "".join(each.content for each in inside.children or ())
            name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            names[name] = names.get(name, 0) + 1
    return frozenset(f"{name}-{k}" if k else name for name, count in names.items() for k in range(count))


def broken(path: Path, text: str) -> list[str]:
    """The links of the text of a page that lead nowhere."""
    wrong = []
    for link in links_of(text):
        if re.match(r"[a-z]+:", link):
            if not link.startswith("https://"):
                wrong.append(link)
            continue
        file, _, heading = unquote(link).partition("#")
        to = (path.parent / file).resolve() if file else path
        there = to.exists() and to.is_relative_to(ROOT)
        if not there or (heading and heading not in headings_of(to)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path: Path) -> None:
    assert not broken(path, path.read_text(encoding="utf-8"))


def test_what_leads_nowhere_is_seen() -> None:
    page = ROOT / "docs" / "POWER.md"
    table = "| a |\n|---|\n| [f](G.md) |\n"
    text = f"# A\n\n[a](NO.md) ![b](no.png) [c](RESULTS.md#no-such) [d](#no-such) [e](http://x)\n\n{table}"
    assert broken(page, text) == ["NO.md", "no.png", "RESULTS.md#no-such", "#no-such", "http://x", "G.md"]
    assert not broken(page, "[a](RESULTS.md) [b](RESULTS.md#what-limits) [c](https://x.org) [d](../README.md#limits)\n")


def test_every_document_stands_in_the_contents_of_the_site() -> None:
    contents = runpy.run_path(str(ROOT / "docs" / "site" / "conf.py"))["CONTENTS"]
    listed = {page for under in contents.values() for pages in under.values() for page in pages}
    own = {str(path.relative_to(ROOT).with_suffix("")) for path in DOCUMENTS if path.parent != ROOT / "docs" / "adr"}
    schemes = {page for page in own if page.startswith("docs/schemes/")}
    assert own - schemes - {"README"} == {page for page in listed if "*" not in page} - schemes


def test_there_are_documents() -> None:
    assert len(DOCUMENTS) > 40
    assert sum(len(links_of(path.read_text(encoding="utf-8"))) for path in DOCUMENTS) > 150

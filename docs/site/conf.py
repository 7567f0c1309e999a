"""How Sphinx makes the documents a site: `make docs`. The pages are those of the repository, links and all."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent.parent

project = "interpulse"
version = release = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
project_copyright = "the interpulse contributors, Apache-2.0 OR MIT"

extensions = ["myst_parser"]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md"]
# Folders that need not be looked through.
exclude_patterns = [".*", "crates", "examples", "experiments", "fuzz", "out", "python", "site", "target"]
# Links to headings are written as the usual hosts of repositories name these.
myst_heading_anchors = 6
# A link that leads nowhere is a warning, and the tool that calls Sphinx makes warnings errors.
nitpicky = True

html_theme = "furo"
html_title = f"interpulse {version}"
html_favicon = "icon.svg"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
# It reads the pages that it found again, which browsers refuse for pages that were opened from disk.
html_show_search_summary = False

CONTENTS = {
    "README": {
        "First": ["docs/GALLERY", "docs/CHOOSING", "docs/schemes/README"],
        "Papers": ["docs/EXPERIMENTS", "docs/PAPERS"],
        "Runs": [
            "docs/CONFIGURATION",
            "docs/RESULTS",
            "docs/COUNTERS",
            "docs/REPORT",
            "docs/LOGS",
            "docs/SWEEP",
            "docs/SEARCH",
            "docs/TRACES",
        ],
        "Drives": ["docs/PARTS", "docs/FIT", "docs/ARRAY", "docs/RELIABILITY", "docs/POWER", "docs/POWERLOSS"],
        "Cells": ["docs/CELLS", "docs/CHARACTERIZE", "docs/REPROGRAM"],
        "Development": ["docs/ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "docs/SPEED", "docs/VERIFY"],
    },
    "docs/schemes/README": {"Schemes": ["*"]},
    "docs/ARCHITECTURE": {"Records": ["adr/*"]},
}
"""The order of the pages, by headings, below each page that has others below it. A page that is in none is an error."""


def _add_contents(_app: Sphinx, name: str, source: list[str]) -> None:
    """Adds what the file in the repository does not show: the list of the pages below it."""
    for caption, pages in CONTENTS.get(name, {}).items():
        entries = "\n".join(page if "*" in page else f"/{page}" for page in pages)
        options = ":hidden:\n:glob:" + (f"\n:caption: {caption}" if name == root_doc else "")
        source[0] += f"\n\n```{{toctree}}\n{options}\n\n{entries}\n```\n"


def _add_index(app: Sphinx, error: Exception | None) -> None:
    """The first page under the name that browsers and servers look for, too."""
    if error is None:
        shutil.copyfile(Path(app.outdir) / f"{root_doc}.html", Path(app.outdir) / "index.html")


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _add_contents)
    app.connect("build-finished", _add_index)

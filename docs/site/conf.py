"""Sphinx configuration of the documentation site (`make docs`). Pages are those of the repository, links included."""

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
# Folders without pages.
exclude_patterns = [".*", "crates", "examples", "experiments", "fuzz", "out", "python", "site", "target"]
# Links to headings are written as the usual hosts of repositories name these.
myst_heading_anchors = 6
# Broken links are warnings, and the calling tool turns warnings into errors.
nitpicky = True

html_theme = "furo"
html_title = f"interpulse {version}"
html_favicon = "icon.svg"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
# A summary needs to read pages again, which browsers refuse for pages opened from disk.
html_show_search_summary = False

CONTENTS = {
    "README": {
        "First": ["docs/GALLERY", "docs/CHOOSING", "docs/schemes/README"],
        "Papers": ["docs/EXPERIMENTS", "docs/PAPERS", "docs/PEERS", "docs/COMPARISON"],
        "Runs": [
            "docs/CONFIGURATION",
            "docs/RESULTS",
            "docs/COUNTERS",
            "docs/REPORT",
            "docs/LOGS",
            "docs/SWEEP",
            "docs/EMBEDDING",
            "docs/SERVE",
            "docs/SERVE_LIVE",
            "docs/SERVE_TLS",
            "docs/DATABASE",
            "docs/STATE",
            "docs/SEARCH",
            "docs/TRACES",
            "docs/TRACE-READING",
            "docs/TWINS",
            "docs/TRACE-TOOLS",
            "docs/FIO",
        ],
        "Drives": [
            "docs/IMPORT",
            "docs/PARTS",
            "docs/FIT",
            "docs/DRIVES",
            "docs/PREDICTIONS",
            "docs/SLC",
            "docs/PROGRAMMING",
            "docs/MAPPING",
            "docs/CONTROLLER",
            "docs/ARRAY",
            "docs/ZNS",
            "docs/RELIABILITY",
            "docs/FAULTS",
            "docs/POWER",
            "docs/POWERLOSS",
            "docs/QUEUES",
            "docs/COMMANDS",
            "docs/NAMESPACES",
            "docs/PLACEMENT",
        ],
        "Cells": ["docs/CELLS", "docs/CHARACTERIZE", "docs/REPROGRAM"],
        "Development": [
            "docs/ARCHITECTURE",
            "docs/GLOSSARY",
            "CONTRIBUTING",
            "CHANGELOG",
            "docs/SPEED",
            "docs/VERIFY",
            "docs/RELEASING",
            "SECURITY",
        ],
    },
    "docs/schemes/README": {"Schemes": ["*"]},
    "docs/EXPERIMENTS": {
        "Papers": [f"docs/experiments/{name}" for name in ("suspend-tlc", "fast12", "atc19", "starblaze", "ressd")],
    },
    "docs/ARRAY": {
        "How-to": ["docs/howto/lost-drive", "docs/howto/gc-windows", "docs/howto/write-hole"],
    },
    "docs/LOGS": {"How-to": ["docs/howto/slowest-requests", "docs/howto/request-log"]},
    "docs/FIT": {"How-to": ["docs/howto/fit-data-sheet", "docs/howto/fit-fio"]},
    "docs/CHOOSING": {
        "How-to": ["docs/howto/read-tail", "docs/howto/choose-scheme", "docs/howto/starvation"],
    },
    "docs/SEARCH": {"How-to": ["docs/howto/largest-load", "docs/howto/trade-offs"]},
    "docs/SWEEP": {"How-to": ["docs/howto/sweep-settings", "docs/howto/sweep-cluster"]},
    "docs/POWERLOSS": {"How-to": ["docs/howto/power-cut", "docs/howto/size-capacitors"]},
    "docs/ARCHITECTURE": {"Records": ["adr/*"]},
}
"""Contents: pages by heading, below each parent page. A page that is missing here is an error."""


def _add_contents(_app: Sphinx, name: str, source: list[str]) -> None:
    """Adds the hidden list of subpages to a page."""
    for caption, pages in CONTENTS.get(name, {}).items():
        entries = "\n".join(page if "*" in page else f"/{page}" for page in pages)
        options = ":hidden:\n:glob:" + (f"\n:caption: {caption}" if name == root_doc else "")
        source[0] += f"\n\n```{{toctree}}\n{options}\n\n{entries}\n```\n"


def _add_index(app: Sphinx, error: Exception | None) -> None:
    """Copies the first page to index.html, which browsers and servers look for."""
    if error is None:
        shutil.copyfile(Path(app.outdir) / f"{root_doc}.html", Path(app.outdir) / "index.html")


def setup(app: Sphinx) -> None:
    """Registers the hooks with Sphinx."""
    app.connect("source-read", _add_contents)
    app.connect("build-finished", _add_index)

"""Sphinx configuration of the documentation site (`make docs`). Pages are those of the repository, links included."""

from __future__ import annotations

import shutil
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent.parent

project = "interpulse"
version = release = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
project_copyright = "the interpulse contributors, Apache-2.0 OR MIT"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
# The package of this repository, and not an installed one.
sys.path.insert(0, str(ROOT / "python"))
autodoc_member_order = "bysource"
napoleon_use_ivar = True
# Types are names of annotations, many of them of other packages.
nitpick_ignore_regex = [("py:.*", ".*")]
# `--option` is no dash.
smartquotes = False
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
        "Tutorials": [
            "docs/tutorials/README",
            "docs/tutorials/first-run",
            "docs/tutorials/data-sheet",
            "docs/tutorials/trace",
            "docs/tutorials/own-scheme",
        ],
        "How-to": [
            "docs/howto/read-tail",
            "docs/howto/slowest-requests",
            "docs/howto/choose-scheme",
            "docs/EXPLORE",
            "docs/howto/starvation",
            "docs/howto/largest-load",
            "docs/howto/trade-offs",
            "docs/howto/fit-data-sheet",
            "docs/howto/fit-fio",
            "docs/howto/sweep-settings",
            "docs/howto/sweep-cluster",
            "docs/howto/request-log",
            "docs/howto/lost-drive",
            "docs/howto/gc-windows",
            "docs/howto/write-hole",
            "docs/howto/power-cut",
            "docs/howto/size-capacitors",
            "docs/SERVE",
            "docs/SERVE_LIVE",
            "docs/SERVE_TLS",
            "docs/EMBEDDING",
        ],
        "Reference": [
            "docs/CONFIGURATION",
            "docs/COMMAND-LINE",
            "docs/PYTHON",
            "docs/RUNS",
            "docs/RESULTS",
            "docs/RESULT-KEYS",
            "docs/COUNTERS",
            "docs/REPORT",
            "docs/LOGS",
            "docs/SEARCH",
            "docs/SWEEP",
            "docs/LIFE",
            "docs/FIT",
            "docs/STATE",
            "docs/PARTS",
            "docs/schemes/README",
            "docs/TRACES",
            "docs/TRACE-READING",
            "docs/TRACE-TOOLS",
            "docs/FIO",
            "docs/IMPORT",
            "docs/COMMANDS",
            "docs/NAMESPACES",
            "docs/QUEUES",
            "docs/PLACEMENT",
            "docs/GLOSSARY",
        ],
        "Explanation": [
            "docs/CHOOSING",
            "docs/ARCHITECTURE",
            "docs/CONTROLLER",
            "docs/MAPPING",
            "docs/PROGRAMMING",
            "docs/SLC",
            "docs/ZNS",
            "docs/ARRAY",
            "docs/POWERLOSS",
            "docs/RELIABILITY",
            "docs/FAULTS",
            "docs/POWER",
            "docs/CELLS",
            "docs/CHARACTERIZE",
            "docs/REPROGRAM",
            "docs/TWINS",
            "docs/DRIVES",
            "docs/PREDICTIONS",
            "docs/EXPERIMENTS",
            "docs/COMPARISON",
            "docs/PEERS",
            "docs/DATABASE",
            "docs/SPEED",
            "docs/GALLERY",
        ],
        "Records": [
            "CHANGELOG",
            "CONTRIBUTING",
            "SECURITY",
            "docs/RELEASING",
            "docs/PAPERS",
            "docs/VERIFY",
        ],
    },
    "docs/schemes/README": {"Schemes": ["*"]},
    "docs/EXPERIMENTS": {
        "Papers": [
            f"docs/experiments/{name}"
            for name in ("suspend-tlc", "fast12", "atc19", "starblaze", "ressd", "decade", "blind")
        ],
    },
    "docs/ARCHITECTURE": {"Decisions": ["adr/*"]},
}
"""Contents: pages by what a reader wants, below each parent page. A page that is missing here is an error."""

AUTODOC = """
```{eval-rst}
.. automodule:: interpulse
   :members:
```
"""
"""Body of the page of the Python package, in place of the generated one."""


def _add_autodoc(_app: Sphinx, name: str, source: list[str]) -> None:
    """Replaces the generated page of the Python package, from its table on."""
    if name == "docs/PYTHON":
        source[0] = source[0].partition("\n| name |")[0] + AUTODOC


def _without_signature(
    _app: Sphinx, what: str, _name: str, _of: object, _options: object, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Hides the constructor of results, which have many fields and which only functions of the package make."""
    return ("", None) if what == "class" and "<factory>" in (signature or "") else (signature, returns)


def _add_contents(_app: Sphinx, name: str, source: list[str]) -> None:
    """Adds the hidden list of subpages to a page."""
    for caption, pages in CONTENTS.get(name, {}).items():
        entries = "\n".join(page if "*" in page else f"/{page}" for page in pages)
        options = ":hidden:\n:glob:" + (f"\n:caption: {caption}" if name == root_doc else "")
        source[0] += f"\n\n```{{toctree}}\n{options}\n\n{entries}\n```\n"


def _make_accessible(_app: Sphinx, _name: str, _template: str, context: dict[str, Any], _tree: object) -> None:
    """Gives captions of the contents a level, and the keyboard code that scrolls sideways."""
    for part, old, new in (
        ("furo_navigation_tree", 'role="heading"', 'role="heading" aria-level="2"'),
        ("body", "<pre>", '<pre tabindex="0">'),
    ):
        if part in context:
            context[part] = context[part].replace(old, new)


def _add_index(app: Sphinx, error: Exception | None) -> None:
    """Copies the first page to index.html, which browsers and servers look for."""
    if error is None:
        shutil.copyfile(Path(app.outdir) / f"{root_doc}.html", Path(app.outdir) / "index.html")


def setup(app: Sphinx) -> None:
    """Registers the hooks with Sphinx."""
    app.connect("autodoc-process-signature", _without_signature)
    app.connect("source-read", _add_autodoc)
    app.connect("source-read", _add_contents)
    # After the theme has made its part.
    app.connect("html-page-context", _make_accessible, priority=900)
    app.connect("build-finished", _add_index)

"""Searchable documentation site in `site/` (`make docs`). Neither the build nor the site needs a network.

Broken links to pages, files and headings, pages missing in the contents and all other warnings are errors.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx

ROOT = Path(__file__).parent.parent.parent
SITE = ROOT / "site"


def main(out: Path = SITE) -> int:
    """Builds the site into a folder; returns the exit code of Sphinx."""
    checks = ["--fail-on-warning", "--keep-going", "--fresh-env", "--quiet"]
    # Sphinx's cache of pages is not part of the site.
    kept = ["--doctree-dir", str(ROOT / "target" / "site")]
    code: int = sphinx(
        [*checks, *kept, "--builder", "html", "--conf-dir", str(ROOT / "docs" / "site"), str(ROOT), str(out)]
    )
    if code == 0:
        print(f"wrote {os.path.relpath(out / 'index.html')}")  # noqa: T201
    return code


if __name__ == "__main__":
    raise SystemExit(main(*map(Path, sys.argv[1:])))

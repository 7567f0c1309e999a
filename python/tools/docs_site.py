"""Makes the documents a searchable site in `site/`: what `make docs` does. Needs no network, and neither does the site.

A link to a page, a file or a heading that is not there, a page in no list of contents, and any other warning are
errors.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx

ROOT = Path(__file__).parent.parent.parent
SITE = ROOT / "site"


def main(out: Path = SITE) -> int:
    """Builds the site into a folder; the exit code is that of Sphinx."""
    checks = ["--fail-on-warning", "--keep-going", "--fresh-env", "--quiet"]
    # What it remembers of pages lies beside the site rather than in it.
    kept = ["--doctree-dir", str(ROOT / "target" / "site")]
    code: int = sphinx(
        [*checks, *kept, "--builder", "html", "--conf-dir", str(ROOT / "docs" / "site"), str(ROOT), str(out)]
    )
    if code == 0:
        print(f"wrote {os.path.relpath(out / 'index.html')}")  # noqa: T201
    return code


if __name__ == "__main__":
    raise SystemExit(main(*map(Path, sys.argv[1:])))

"""Writes docs/PAPERS.md from the results of `interpulse papers`; options such as --quick and --jobs are passed on.

What earlier runs left in the cache folder is not run again. Run by `make papers` and not by `make golden`, because it
takes minutes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from interpulse.cli import run_app

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "PAPERS.md"


def main(options: list[str]) -> int:
    """Runs the command and stores its page; returns its exit code. A run that did not end leaves the page as it was."""
    with tempfile.TemporaryDirectory() as folder:
        code = run_app(["papers", *options, "--out", folder])
        if code == 0:
            PAGE.write_bytes((Path(folder) / PAGE.name).read_bytes())
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

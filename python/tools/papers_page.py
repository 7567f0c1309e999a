"""Generator of docs/PAPERS.md from `interpulse papers` (`make papers`).

Options such as --quick and --jobs are passed to the command. Results in the cache folder are reused. `make golden`
does not include this tool, because it takes minutes.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from interpulse.cli import run_app

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "PAPERS.md"


def main(options: list[str]) -> int:
    """Runs the command and stores its page; returns the exit code. After a failure the page is unchanged."""
    with tempfile.TemporaryDirectory() as folder:
        code = run_app(["papers", *options, "--out", folder])
        if code == 0:
            PAGE.write_bytes((Path(folder) / PAGE.name).read_bytes())
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Source distribution: `python python/tools/sdist.py FOLDER` builds it there and prints its path.

maturin stores every file without its executable bit, and installers copy the command as they find it: the archive is
written again with that bit.
"""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SCRIPTS = "/python/data/scripts/"


def main() -> int:
    """Builds the archive and prints its path."""
    folder = Path(sys.argv[1]).resolve()
    maturin = Path(sys.executable).parent / "maturin"
    subprocess.run([maturin, "sdist", "--out", folder], cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
    made = max(folder.glob("*.tar.gz"), key=lambda path: path.stat().st_mtime_ns)
    made.write_bytes(with_executable_scripts(made.read_bytes()))
    print(made)  # noqa: T201
    return 0


def with_executable_scripts(archive: bytes) -> bytes:
    """The same archive, in which scripts can be executed; the same bytes for the same archive."""
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(archive)) as old,
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as whole,
        tarfile.open(fileobj=whole, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in old:
            if SCRIPTS in member.name:
                member.mode |= 0o111
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return packed.getvalue()


if __name__ == "__main__":
    raise SystemExit(main())

"""`interpulse cache` command."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer

from interpulse.cli.options import CacheDir, Json
from interpulse.cli.output_streams import emit
from interpulse.files.cache import Cache
from interpulse.files.cache_contents import MAKING
from interpulse.tables.format import size
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

EPILOG = """\
Examples:

  interpulse cache

  interpulse cache --clear

A run that writes a snapshot says so. INTERPULSE_CACHE_DIR moves the folder, INTERPULSE_CACHE_LIMIT (such as 2GiB) \
sets its capacity, and `interpulse run --no-cache` does not use it. Partial snapshots of killed runs are removed when \
the next snapshot is written, and by --clear."""


_REMARKS = {
    ".tmp": " (being written, or partial after a killed run)",
    MAKING: " (lock for building a state in a sweep)",
    "": " (to be fetched by a sweep on a cluster)",
}


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete all snapshots, stale files and results.")] = False,
    cache_dir: CacheDir = None,
    json: Json = False,
) -> None:
    """Show the folder and sizes of snapshots of preconditioned drives."""
    kept = Cache.default(cache_dir)
    freed = kept.clear() if clear else 0
    files = kept.files()
    used = sum(count for _, count in files)
    if json:
        shown = {
            "folder": str(kept.folder),
            "limit_bytes": kept.limit_bytes,
            "used_bytes": used,
            "freed_bytes": freed,
            "files": [{"name": path.name, "bytes": count} for path, count in files],
        }
        emit(json_text.dumps(shown))
        return
    if clear:
        emit(f"deleted {size(freed)}")
    if files:
        sheet = Sheet([Column("", "figure"), Column("", "text")])
        for path, count in files:
            sheet.add_row(f"{size(count):>10}", path.name + _REMARKS.get(path.suffix, ""))
        emit(sheet.text(terminal_width()))
    emit(fill(f"{kept.folder}: {size(used)} of at most {size(kept.limit_bytes)}", terminal_width()))

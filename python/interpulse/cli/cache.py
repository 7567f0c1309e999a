"""`interpulse cache`."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer

from interpulse.cli.options import CacheDir, Json
from interpulse.cli.streams import emit
from interpulse.files.cache import MAKING, Cache
from interpulse.tables.format import size
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

EPILOG = """\
Examples:

  interpulse cache

  interpulse cache --clear

A run that writes a snapshot says so. INTERPULSE_CACHE_DIR moves the folder, INTERPULSE_CACHE_LIMIT (such as 2GiB) \
changes how much it may hold, and `interpulse run --no-cache` does without it. What a killed run left of a snapshot \
goes when the next one is written, or with --clear."""


_REMARKS = {
    ".tmp": " (being written, or left by a killed run)",
    MAKING: " (whose turn it is to make a state, in a sweep)",
    "": " (what a sweep on a cluster has not fetched yet)",
}


def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Delete every snapshot, leftover and kept result.")] = False,
    cache_dir: CacheDir = None,
    json: Json = False,
) -> None:
    """Show where snapshots of preconditioned drives are kept and how large they are."""
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

"""Fast option reader of `interpulse run`: avoids the import of Typer, which doubles the CPU time of a small run.

Typer handles all other calls, mistakes and requests for help, and is the only source of messages about options.
"""

from __future__ import annotations

import os

from interpulse.files.paths import as_path_has_it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

MOST_DIGITS = 18
"""Typer checks the range of longer numbers."""

FLAGS = {
    "--report": "report",
    "--counters": "counters",
    "--full": "full",
    "--json": "json",
    "--skip-bad-rows": "skip_bad_rows",
    "--no-cache": "no_cache",
}
"""Options without a value: keyword argument of each."""


def _name(text: str) -> str | None:
    """A non-empty path; Typer rejects an empty one."""
    return as_path_has_it(text) if text.strip() else None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MOST_DIGITS else None


def _count(text: str) -> int | None:
    return _number(text) or None


VALUES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "--set": ("sets", str),
    "--case": ("cases", str),
    "--trace": ("trace", _name),
    "--seed": ("seed", _number),
    "--jobs": ("jobs", _count),
    "--cache-dir": ("cache_dir", _name),
}
"""Options with a value: keyword argument and parser; the parser returns None to leave the value to Typer."""


REPEATED = ("sets", "cases")
"""Keyword arguments of options that may be repeated."""


def read(arguments: Sequence[str]) -> dict[str, Any] | None:
    """Keyword arguments of `run_command`; None to leave the arguments to Typer."""
    if arguments[:1] != ["run"] or "_INTERPULSE_COMPLETE" in os.environ:
        return None
    found: dict[str, Any] = {}
    rest = iter(arguments[1:])
    for argument in rest:
        value: str | int | None
        if not argument.startswith("-"):
            name, value = "config", _name(argument)
        elif argument in FLAGS:
            name, value = FLAGS[argument], True
        else:
            option, equals, given = argument.partition("=")
            if option not in VALUES:
                return None
            name, reads = VALUES[option]
            value = reads(given if equals else next(rest, ""))
        if name in REPEATED and value:
            found.setdefault(name, []).append(value)
        elif value is None or value == "" or name in found:
            return None
        else:
            found[name] = value
    return found if "config" in found else None

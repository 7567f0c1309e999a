"""Text of fio's output: finds the JSON document in it and checks its version.

With several `--output-format`s, text and terse lines are above or below the JSON; notes of fio are above it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError
from interpulse.files.paths import read_text, shown
from interpulse.files.structured_text import check_depth, too_deep

VERSION = re.compile(r"fio-3\.\d+.*")

MOST_BYTES = 256 * 2**20

WANTED = "expected the output of fio --output-format=json"


def read_output(path: Path) -> dict[str, Any]:
    """The JSON document of a file with fio's output.

    Raises:
        ConfigError: there is none or more than one, or it is of another version or a server's clients.
    """
    text = read_text(path, "fio's output", most=MOST_BYTES)
    try:
        found, error = _documents(text, shown(path))
    except RecursionError:
        raise ConfigError(too_deep(shown(path))) from None
    if error:
        raise ConfigError(f"{shown(path)}: this is not fio's JSON: {error}; expected --output-format=json")
    if not found:
        raise ConfigError(f"{shown(path)}: there is no 'fio version'; {WANTED}")
    if len(found) > 1:
        raise ConfigError(
            f"{shown(path)}: seen {len(found)} outputs of fio in one file; expected one: without --status-interval, "
            "each run in a file of its own"
        )
    (whole,) = found
    if not VERSION.fullmatch(str(whole["fio version"])):
        raise ConfigError(
            f"{shown(path)}: fio version: seen {whole['fio version']!r}; expected fio-3.0 or later: before, latencies "
            "were in microseconds under other names"
        )
    jobs = whole.get("jobs")
    if not isinstance(jobs, list) or not jobs or not all(isinstance(job, dict) for job in jobs):
        seen = "those of a server's clients (client_stats)" if "client_stats" in whole else "none"
        raise ConfigError(f"{shown(path)}: jobs: seen {seen}; expected at least one job that ran on this machine")
    return whole


_OBJECT = re.compile(r"^\s*\{", re.MULTILINE)
_BEGIN = re.compile(r'\s*"fio version"')


def _documents(text: str, place: str) -> tuple[list[dict[str, Any]], str]:
    """All JSON documents of fio, and the error of one that is broken or, if there are none, of the first try."""
    found: list[dict[str, Any]] = []
    wrong = broken = ""
    decoder = json.JSONDecoder()
    at = 0
    while (match := _OBJECT.search(text, at)) is not None:
        at = match.end()
        try:
            value, end = decoder.raw_decode(text, at - 1)
        except ValueError as error:
            wrong = wrong or str(error)
            if _BEGIN.match(text, at):
                broken = broken or str(error)
        else:
            check_depth(value, place)
            at = end
            if isinstance(value, dict) and "fio version" in value:
                found.append(value)
    return found, broken or ("" if found else wrong)

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

VERSION = re.compile(r"fio-3\.\d+.*")

MOST_BYTES = 256 * 2**20

WANTED = "expected the output of fio --output-format=json"


def read_output(path: Path) -> dict[str, Any]:
    """The JSON document of a file with fio's output.

    Raises:
        ConfigError: there is none or more than one, or it is of another version or a server's clients.
    """
    found, error = _documents(read_text(path, "fio's output", most=MOST_BYTES))
    if not found and error:
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


def _documents(text: str) -> tuple[list[dict[str, Any]], str]:
    """All JSON documents of fio, and the error of the first text that begins like one and is none."""
    found: list[dict[str, Any]] = []
    wrong = ""
    decoder = json.JSONDecoder()
    begin, at = re.compile(r"^\s*\{", re.MULTILINE), 0
    while (match := begin.search(text, at)) is not None:
        try:
            value, at = decoder.raw_decode(text, match.end() - 1)
        except ValueError as error:
            # Lines of the normal output never begin with a brace, but another program's may.
            wrong, at = wrong or str(error), match.end()
            if found or '"fio version"' in text[at : at + 200]:
                break
        except RecursionError:
            return [], "it is nested too deeply"
        else:
            if isinstance(value, dict) and "fio version" in value:
                found.append(value)
    return found, wrong

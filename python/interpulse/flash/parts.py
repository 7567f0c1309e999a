"""Flash parts by preset name or file, and a drive of one die for each."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from interpulse._core import ConfigError, Entry
from interpulse.configuration.config import Config
from interpulse.configuration.lists import listed
from interpulse.files.paths import read_text

DIE = """[geometry]
channels = 1
chips-per-channel = 1
[ftl]
over-provisioning = "30%"
[run]
requests = 1
[[flow]]
"""
"""The rest of a drive of one die."""


def is_file(part: str) -> bool:
    """Whether a part is meant to be a file: its name ends in .toml, or has a folder in it."""
    return part.endswith(".toml") or "/" in part


def one_die(part: str) -> Config:
    """A drive of one die of this part: a preset (`interpulse list parts`) or a part file.

    Raises:
        ConfigError: there is no such preset, or the file cannot be read.
    """
    if is_file(part):
        read_text(part, "the part file")
        named = f"file = {json.dumps(part)}"
    else:
        names = [each["name"] for each in listed()["parts"]]
        if part not in names:
            raise ConfigError(f"there is no part '{part}'; one of {', '.join(names)}, or a file that ends in .toml")
        named = f'preset = "{part}"'
    return Config.from_toml(f"[part]\n{named}\n{DIE}", path="one die")


def figures(part: str) -> list[Entry]:
    """Everything that is known of a part, with its sources. Raises as `one_die`, and if the part is not one."""
    return [entry for entry in one_die(part).entries() if entry.key.startswith("part.")]


@cache
def keys() -> dict[str, dict[str, Any]]:
    """The keys of a part as their reader declares them, by their names in `[part]`, in its order."""
    return {key["name"].removeprefix("part."): key for key in listed()["keys"] if key["name"].startswith("part.")}

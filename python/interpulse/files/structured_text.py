"""TOML and JSON of users: nesting and dotted keys within limits, and one kind of error for all mistakes.

The parsers of Python recurse for each level, and the time of tomllib grows with the square of the parts of a key.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from interpulse._core import ConfigError

MOST_DEPTH = 64
"""Levels of tables and lists. No file of interpulse or fio has more than ten."""

MOST_PARTS = 64
"""Parts of a dotted key."""

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')[ \t]*"""
_LONG_KEY = re.compile(rf"(?:^|[{{,])[ \t]*\[?\[?[ \t]*(?:{_PART}\.[ \t]*){{{MOST_PARTS}}}", re.MULTILINE)


def read_toml(text: str, place: str) -> dict[str, Any]:
    """The content of a TOML text; messages begin with `place`.

    Raises:
        ConfigError: it is not TOML, or is nested too deeply.
    """
    if (found := _LONG_KEY.search(text)) is not None:
        line = text.count("\n", 0, found.end()) + 1
        raise ConfigError(f"{place}:{line}: seen a key of more than {MOST_PARTS} parts; no key has as many")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{place}: this is not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(too_deep(place)) from None
    check_depth(content, place)
    return content


def read_json(text: str, place: str, what: str = "JSON") -> Any:  # noqa: ANN401 - any value of JSON
    """The value of a JSON text; messages begin with `place`, and call the text `what`.

    Raises:
        ConfigError: it is not JSON, or is nested too deeply.
    """
    try:
        content = json.loads(text)
    except RecursionError:
        raise ConfigError(too_deep(place)) from None
    except ValueError as error:
        raise ConfigError(f"{place}: this is not {what}: {error}") from None
    check_depth(content, place)
    return content


def check_depth(content: object, place: str) -> None:
    """Refuses a value of more than `MOST_DEPTH` levels. Raises ConfigError; its message begins with `place`."""
    depth, level = 0, [content]
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            raise ConfigError(too_deep(place))
        level = [
            child
            for each in level
            if isinstance(each, dict | list)
            for child in (each.values() if isinstance(each, dict) else each)
            if isinstance(child, dict | list)
        ]


def too_deep(place: str) -> str:
    """Message about nesting without end."""
    return f"{place}: seen tables or lists nested more than {MOST_DEPTH} deep; expected at most {MOST_DEPTH}"

"""Where in a TOML file something is written: the parser of the standard library does not say."""

from __future__ import annotations

import re

_HEADER = re.compile(r"^\s*\[\[?\s*([A-Za-z0-9_.\"-]+)\s*\]\]?\s*(#.*)?$")


def line_of(text: str, table: str, number: int = 0, key: str | None = None) -> int:
    """The line, from 1, of a key in the `number`-th table of this name; that of its heading where the key is not found.

    Keys above the first table are in the table `""`. It is for messages alone: what is not found is line 1.
    """
    seen, inside, found = -1, not table, 1
    for at, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header is not None:
            seen += header[1] == table
            inside = header[1] == table and seen == number
            if inside:
                found = at
        elif inside and key is not None and re.match(rf"\s*[\"']?{re.escape(key)}[\"']?\s*[=.]", line):
            return at
    return found

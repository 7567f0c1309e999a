"""Reader of text files with `name = value` lines and sections in brackets."""

from __future__ import annotations

import re

from interpulse._core import ConfigError
from interpulse.files.paths import open_file, shown
from interpulse.importing.parameters import Seen

MOST_BYTES = 1 << 20
_MOST_LINES = 20_000
_LONGEST = 4096


def read_lines(path: str, what: str) -> list[str]:
    """Lines of a file; bytes that are not UTF-8 are replaced, since old files have comments in other encodings.

    Raises:
        ConfigError: it cannot be read, is empty, too large, or binary.
    """
    name = shown(path)
    try:
        with open_file(path) as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {what} {name}: {getattr(error, 'strerror', None) or error}") from None
    if len(content) > MOST_BYTES:
        raise ConfigError(f"cannot read {what} {name}: it is larger than {MOST_BYTES >> 20} MiB")
    if not content.strip():
        raise ConfigError(f"{name}: seen an empty file; expected {what}")
    if b"\0" in content:
        raise ConfigError(f"{name}: seen a binary file; expected {what}, which is text")
    lines = content.decode("utf-8", "replace").lstrip("\ufeff").splitlines()
    if len(lines) > _MOST_LINES or any(len(line) > _LONGEST for line in lines):
        raise ConfigError(f"{name}: seen more than {_MOST_LINES} lines, or one of more than {_LONGEST} characters")
    return lines


def assignments(
    path: str, what: str, problems: list[str], *, end: str = "", sections: bool = False
) -> dict[str, list[Seen]]:
    """Names and values by section; without `sections` all are in the section "".

    Args:
        path: file to read.
        what: what messages call it.
        problems: gets a message for each line that is neither an assignment nor a comment.
        end: what may end a value, such as ";".
        sections: whether `[name]` begins a section.

    Raises:
        ConfigError: the file cannot be read.
    """
    name, section = shown(path), ""
    found: dict[str, list[Seen]] = {} if sections else {"": []}
    for number, line in enumerate(read_lines(path, what), 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        head = re.fullmatch(r"\[\s*([\w.-]+)\s*\]", text)
        if sections and head:
            section = head[1]
            if section in found:
                problems.append(f"{name}:{number}: [{section}]: seen twice; expected it once")
            found.setdefault(section, [])
            continue
        key, equal, value = text.partition("=")
        key, value = key.strip(), value.strip().removesuffix(end).strip() if end else value.strip()
        if not equal or not key or "\ufffd" in text:
            expected = "name = value" + (" or [section]" if sections else "")
            why = "bytes that are not UTF-8" if "\ufffd" in text else ascii(text[:40])
            problems.append(f"{name}:{number}: seen {why}; expected {expected}")
            continue
        if sections and not section:
            problems.append(f"{name}:{number}: {key[:40]!a}: seen before the first section; expected [section] first")
            continue
        found[section].append(Seen(key[:200], value, number))
    return found

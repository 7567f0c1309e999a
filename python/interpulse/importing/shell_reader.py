"""Reader of `-device NAME,...` in shell scripts: variables are expanded, nothing is executed."""

from __future__ import annotations

import re

from interpulse._core import ConfigError
from interpulse.files.paths import shown
from interpulse.importing.lines_reader import read_lines
from interpulse.importing.parameters import Seen

_ASSIGNED = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][\w.]*)=(.*)$")
_NAME = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::?-([^}]*))?\}|([A-Za-z_]\w*))")
_MOST = 1 << 16
"""Characters of an expanded text."""

Piece = tuple[str, int]
"""A text and its line."""


def device_properties(path: str, device: str, what: str) -> list[Seen]:
    """Properties of the only `-device NAME,...` of a script, or of a file with `name=value` alone.

    Raises:
        ConfigError: the file cannot be read, or has no such device, or several different ones.
    """
    name = shown(path)
    variables: dict[str, list[Piece]] = {}
    found: dict[str, list[Piece]] = {}
    alone: list[Piece] = []
    for text, line in _joined(read_lines(path, what)):
        assigned = _ASSIGNED.match(text)
        pieces = _expanded(assigned[2] if assigned else text, variables, line, name)
        if assigned and not text.lstrip().startswith(f"{device},"):
            variables[assigned[1]] = pieces
            alone.append((f"{assigned[1]}={_text(pieces)},", line))
        elif device_list := _after(pieces, device):
            found[_text(device_list)] = device_list
        elif re.match(rf"\s*{device},", text):
            alone += [(_text(pieces).strip().removeprefix(f"{device},") + ",", line)]
    if not found:
        lists = [_after(pieces, device) for pieces in variables.values()]
        found = {_text(each): each for each in lists if each}
    if len(found) > 1:
        raise ConfigError(f"{name}: seen {len(found)} different devices {device}; expected one")
    if found:
        return _properties(next(iter(found.values())), name)
    if not alone:
        raise ConfigError(f"{name}: seen no `-device {device},...`; expected one, or its properties as name=value")
    return _properties(alone, name)


def _joined(lines: list[str]) -> list[Piece]:
    """Lines without comments; those that end with a backslash are joined."""
    joined: list[Piece] = []
    before, start = "", 0
    for number, line in enumerate(lines, 1):
        text = re.sub(r"(^|\s)#.*$", "", line).rstrip()
        start = start or number
        if text.endswith("\\"):
            before += text[:-1] + " "
            continue
        joined.append((before + text, start))
        before, start = "", 0
    return [each for each in joined if each[0].strip()]


def _expanded(text: str, variables: dict[str, list[Piece]], line: int, name: str) -> list[Piece]:
    """A text with its variables replaced and without quotes; unknown variables stay as they are."""
    pieces: list[Piece] = []
    place = 0
    for each in _NAME.finditer(text):
        pieces.append((text[place : each.start()], line))
        unset = [(each[0] if each[2] is None else each[2], line)]
        pieces += variables.get(each[1] or each[3], unset)
        place = each.end()
    pieces.append((text[place:], line))
    pieces = [(re.sub(r"[\"']", "", part), number) for part, number in pieces if part]
    if sum(len(part) for part, _ in pieces) > _MOST:
        raise ConfigError(
            f"{name}:{line}: seen variables of more than {_MOST} characters; expected a list of properties"
        )
    return pieces


def _text(pieces: list[Piece]) -> str:
    return "".join(part for part, _ in pieces)


def _after(pieces: list[Piece], device: str) -> list[Piece]:
    """What follows `-device NAME,` up to the next blank."""
    found = re.search(rf"-device\s+{device}(?:,|(?=\s)|$)", _text(pieces))
    if not found:
        return []
    rest: list[Piece] = []
    skip = found.end()
    for part, line in pieces:
        if skip >= len(part):
            skip -= len(part)
            continue
        kept, skip = part[skip:], 0
        word = kept.split(maxsplit=1)
        if kept[:1].isspace():
            break
        rest.append((word[0] if word else "", line))
        if len(word) > 1 or kept[-1:].isspace():
            break
    return rest


def _properties(pieces: list[Piece], name: str) -> list[Seen]:
    """Names and values between commas, each with the line of its value."""
    lines = [line for part, line in pieces for _ in part]
    seen, place = [], 0
    for word in _text(pieces).split(","):
        line = lines[min(place + max(len(word) - 1, 0), len(lines) - 1)] if lines else 1
        place += len(word) + 1
        key, equal, value = word.partition("=")
        if not word.strip():
            continue
        if not equal:
            raise ConfigError(f"{name}:{line}: seen {word[:40]!a}; expected name=value between commas")
        seen.append(Seen(key.strip()[:200], value, line))
    return seen

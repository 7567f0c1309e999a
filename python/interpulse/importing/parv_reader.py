"""Reader of DiskSim's parameter files (parv): blocks of assignments between commas."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from interpulse._core import ConfigError
from interpulse.files.paths import shown
from interpulse.importing.lines_reader import read_lines
from interpulse.importing.parameters import Seen

_MOST_DEPTH = 8
_MOST_BLOCKS = 2000


@dataclass
class Block:
    """A block with its kind, its name and its assignments; inner blocks are assignments, too."""

    kind: str
    name: str
    line: int
    pairs: list[Seen] = field(default_factory=list)
    inner: list[Block] = field(default_factory=list)


def read_parv(path: str, what: str) -> list[Block]:
    """The outer blocks of a file; statements without a block (`instantiate`, `topology`) are blocks without values.

    Raises:
        ConfigError: the file cannot be read, or its brackets do not match.
    """
    return _Reader(shown(path), read_lines(path, what)).blocks()


class _Reader:
    def __init__(self, name: str, lines: list[str]) -> None:
        self._name = name
        self._chars = [(c, n) for n, line in enumerate(lines, 1) for c in line.partition("#")[0] + "\n"]
        self._place = 0
        self._count = 0

    def blocks(self) -> list[Block]:
        """Every outer block."""
        found = []
        while (word := self._until("{[]}")) or self._place < len(self._chars):
            char, line = self._taken()
            word = re.sub(r"^as \S+ ?", "", word)
            kind, _, name = word.rpartition(" ")
            if char == "{":
                found.append(self._block(kind or name, name if kind else "", line, 1))
            elif char == "[":
                self._list(line)
                found.append(Block(word.split(" ")[0] or "list", "", line))
            elif char == "":
                if word:
                    found.append(Block(word.split(" ")[0], "", self._last()))
                break
            else:
                raise ConfigError(
                    f"{self._name}:{line}: seen {char!r} without its opening bracket; expected a parv file"
                )
        return found

    def _block(self, kind: str, name: str, line: int, depth: int) -> Block:
        self._count += 1
        if depth > _MOST_DEPTH or self._count > _MOST_BLOCKS:
            raise ConfigError(f"{self._name}:{line}: seen more than {_MOST_DEPTH} levels or {_MOST_BLOCKS} blocks")
        block = Block(kind.strip(), name.strip(), line)
        while True:
            key, (char, place) = self._until("={},[]"), self._taken()
            if char == "=":
                block.pairs.append(self._assigned(block, key, place, depth))
            elif char in (",", "}") and not key:
                if char == "}":
                    return block
            elif char == "":
                raise ConfigError(f"{self._name}:{line}: {kind} {name}: seen no closing bracket; expected }}")
            else:
                raise ConfigError(f"{self._name}:{place}: seen {key[:40]!a}; expected name = value, between commas")

    def _assigned(self, block: Block, key: str, place: int, depth: int) -> Seen:
        """The value of an assignment; a bracket that ends the block is left for it."""
        value = self._until("{},[]=")
        char, line = self._taken()
        if char == "{":
            block.inner.append(self._block(value, key, line, depth + 1))
            return Seen(key[:200], value, place)
        if char == "[":
            self._list(line)
            return Seen(key[:200], f"{value}[...]", place)
        if char == "}":
            self._place -= 1
        elif char not in (",", ""):
            raise ConfigError(
                f"{self._name}:{line}: {key[:60]}: seen {char!r} in the value; expected a comma before it"
            )
        return Seen(key[:200], value, place)

    def _list(self, line: int) -> None:
        """Skips a list in brackets, with the lists in it."""
        open_lists = 1
        while open_lists:
            self._until("[]")
            char, _ = self._taken()
            if char == "":
                raise ConfigError(f"{self._name}:{line}: seen no closing bracket; expected ]")
            open_lists += 1 if char == "[" else -1

    def _until(self, ends: str) -> str:
        """Text up to one of the characters, its blanks joined."""
        start = self._place
        while self._place < len(self._chars) and self._chars[self._place][0] not in ends:
            self._place += 1
        return " ".join("".join(c for c, _ in self._chars[start : self._place]).split())

    def _taken(self) -> tuple[str, int]:
        """The next character and its line; "" at the end."""
        if self._place >= len(self._chars):
            return "", self._last()
        self._place += 1
        return self._chars[self._place - 1]

    def _last(self) -> int:
        return self._chars[-1][1] if self._chars else 1

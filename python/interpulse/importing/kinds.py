"""Kinds of parameter values: how a text is read, and what is legal."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

_LONGEST = 40
"""Characters of a value that a message shows."""


class ValueRefusedError(Exception):
    """A text is no value of its kind; the message says what is legal."""


@dataclass(frozen=True)
class Whole:
    """Whole number, with an optional range and factor: a value of the file times `unit` is the value that is used."""

    least: int = 0
    most: int = 2**63 - 1

    @property
    def legal(self) -> str:
        """What is legal, for messages and pages."""
        return f"a whole number {_range(self.least, self.most, 2**63 - 1)}"

    def read(self, text: str) -> int:
        """The value of a text.

        Raises:
            ValueRefusedError: it is no whole number, or out of range.
        """
        if not re.fullmatch(r"[+-]?[0-9]{1,30}", text):
            raise ValueRefusedError(self.legal)
        value = int(text)
        if not self.least <= value <= self.most:
            raise ValueRefusedError(self.legal)
        return value


@dataclass(frozen=True)
class Number:
    """Number, with an optional range."""

    least: float = 0.0
    most: float = math.inf
    above: bool = False
    """Whether `least` itself is illegal."""

    @property
    def legal(self) -> str:
        """What is legal, for messages and pages."""
        head = f"a number {'above' if self.above else 'of at least'} {self.least:g}"
        return head if math.isinf(self.most) else f"{head} and at most {self.most:g}"

    def read(self, text: str) -> float:
        """The value of a text.

        Raises:
            ValueRefusedError: it is no finite number, or out of range.
        """
        if not re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?[fFlL]?", text) or len(text) > 400:
            raise ValueRefusedError(self.legal)
        value = float(text.rstrip("fFlL"))
        if not math.isfinite(value) or not self.least <= value <= self.most or (self.above and value == self.least):
            raise ValueRefusedError(self.legal)
        return value


@dataclass(frozen=True)
class Flag:
    """Truth value."""

    true: tuple[str, ...] = ("true",)
    false: tuple[str, ...] = ("false",)

    @property
    def legal(self) -> str:
        """What is legal, for messages and pages."""
        return " or ".join([*self.true, *self.false])

    def read(self, text: str) -> bool:
        """The value of a text.

        Raises:
            ValueRefusedError: it is none of the words.
        """
        word = text.lower()
        if word in self.true:
            return True
        if word in self.false:
            return False
        raise ValueRefusedError(self.legal)


@dataclass(frozen=True)
class Choice:
    """One of several words, in the program's spelling."""

    words: tuple[str, ...]
    any_case: bool = True

    @property
    def legal(self) -> str:
        """What is legal, for messages and pages."""
        return ", ".join(self.words)

    def read(self, text: str) -> str:
        """The word as the program spells it.

        Raises:
            ValueRefusedError: it is none of the words.
        """
        for word in self.words:
            if text == word or (self.any_case and text.lower() == word.lower()):
                return word
        raise ValueRefusedError(f"one of {self.legal}")


@dataclass(frozen=True)
class Coded:
    """Whole numbers that stand for choices."""

    codes: dict[int, str] = field(hash=False)

    @property
    def legal(self) -> str:
        """What is legal, for messages and pages."""
        return ", ".join(f"{code} ({what})" for code, what in self.codes.items())

    def read(self, text: str) -> int:
        """The number.

        Raises:
            ValueRefusedError: it has no meaning.
        """
        if re.fullmatch(r"[+-]?[0-9]{1,9}", text) and int(text) in self.codes:
            return int(text)
        raise ValueRefusedError(f"one of {self.legal}")


@dataclass(frozen=True)
class Ids:
    """List of numbers between commas, counted from 0."""

    legal: str = "numbers from 0 between commas, such as 0,1,2"
    most: int = 4096

    def read(self, text: str) -> tuple[int, ...]:
        """The numbers, sorted, each once.

        Raises:
            ValueRefusedError: it is no such list.
        """
        if len(text) > self.most or not re.fullmatch(r"\s*[0-9]{1,5}\s*(,\s*[0-9]{1,5}\s*)*", text):
            raise ValueRefusedError(self.legal)
        return tuple(sorted({int(each) for each in text.split(",")}))


@dataclass(frozen=True)
class Text:
    """Any text of one line that is not empty."""

    legal: str = "a text"
    most: int = 4096

    def read(self, text: str) -> str:
        """The text.

        Raises:
            ValueRefusedError: it is empty, too long, or not printable.
        """
        if not text or len(text) > self.most or not text.isprintable():
            raise ValueRefusedError("a text of one line")
        return text


@dataclass(frozen=True)
class Size:
    """Bytes, with an optional suffix in powers of 1,024."""

    least: int = 0

    @property
    def legal(self) -> str:
        """What is legal, for messages and pages."""
        return f"bytes, or a number with K, M, G or T, of at least {self.least}"

    def read(self, text: str) -> int:
        """Bytes.

        Raises:
            ValueRefusedError: it is no size, or out of range.
        """
        found = re.fullmatch(r"([0-9]{1,19})\s*([KMGT]?)(i?B)?", text, re.IGNORECASE)
        if not found:
            raise ValueRefusedError(self.legal)
        value = int(found[1]) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[found[2].upper()]
        if not self.least <= value < 2**63:
            raise ValueRefusedError(self.legal)
        return value


Kind = Whole | Number | Flag | Choice | Coded | Ids | Text | Size


def seen(text: object) -> str:
    """A value in a message: one line, shortened."""
    shown = str(text)
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}... ({len(shown)} characters)"
    return f'"{shown}"' if shown.isprintable() else ascii(shown)


def _range(least: int, most: int, unlimited: int) -> str:
    return f"of at least {least}" if most == unlimited else f"from {least} to {most}"


def plain(value: Any) -> str:  # noqa: ANN401 - a value of any kind
    """A read value as pages and reports show it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)

"""Values of fio's options: sizes, times, flags, lists of directions, ranges, shares."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from interpulse.fio.jobfile import Given

MOST = 2**62
"""Limit of whole numbers."""

_NUMBER = re.compile(r"(0[xX][0-9a-fA-F]{1,16}|\d{1,19})")
_SIZE = re.compile(r"(0[xX][0-9a-fA-F]{1,16}|\d{1,19})\s*(?:([kmgtp])(i?)(b?)|b)?", re.IGNORECASE)
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s*%")
_TIME = re.compile(r"(\d{1,15})\s*([a-z]*)", re.IGNORECASE)
_NS = {"d": 86_400 * 10**9, "h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "sec": 10**9}
_NS |= {"ms": 10**6, "msec": 10**6, "us": 10**3, "usec": 10**3}
LONGEST_NS = 8_640_000 * 10**9
"""The longest time of a flow, 100 days."""

SIZE = "bytes such as 4k, 64KB or 1g"


def whole(given: Given, least: int = 0, most: int = MOST) -> int:
    """A whole number."""
    found = _NUMBER.fullmatch(given.value or "")
    number = int(found[1], 0) if found and not re.fullmatch(r"0\d+", found[1]) else _decimal(found)
    if number is None or not least <= number <= most:
        raise given.wrong(f"a whole number from {least} to {most}")
    return number


def _decimal(found: re.Match[str] | None) -> int | None:
    return int(found[1]) if found else None


def percentage(given: Given, most: int = 100) -> int:
    """A whole percentage, with or without %."""
    return whole(Given(given.name, given.spelling, (given.value or "").removesuffix("%"), given.place), 0, most)


def flag(given: Given) -> bool:
    """A flag or truth value: no value is true."""
    if given.value is None:
        return True
    if not re.fullmatch(r"\d{1,9}", given.value):
        raise given.wrong("1 or 0")
    return int(given.value) > 0


def size_of(text: str, kb: int) -> int | None:
    """Bytes of a text such as `4k`; `None` if it is none.

    `kb` is what k, kb and ki mean, 1024 or 1000; kib means the other one, as fio 3.33 reads it.
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    digits = found[1]
    number = int(digits, 16) if digits[:2].lower() == "0x" else int(digits)
    base = 2024 - kb if found[3] and found[4] else kb
    bytes_ = number * base ** " kmgtp".index((found[2] or " ").lower())
    return bytes_ if bytes_ <= MOST else None


def size(given: Given, kb: int, least: int = 0) -> int:
    """Bytes."""
    found = size_of(given.value or "", kb)
    if found is None or found < least:
        raise given.wrong(SIZE if least == 0 else f"{SIZE}, at least {least}")
    return found


def size_or_share(given: Given, kb: int) -> int | Fraction:
    """Bytes, or a share given in percent."""
    found = _PERCENT.fullmatch(given.value or "")
    if found is None:
        bytes_ = size_of(given.value or "", kb)
        if bytes_ is None:
            raise given.wrong(f"{SIZE}, or a percentage such as 50%")
        return bytes_
    share = Fraction(found[1]) / 100
    if share > 1:
        raise given.wrong("at most 100%")
    return share


def duration_ns(given: Given, unit: str = "s") -> int:
    """Nanoseconds; without a unit the number has `unit`."""
    found = _TIME.fullmatch(given.value or "")
    factor = _NS.get((found[2] or unit).lower()) if found else None
    if found is None or factor is None or int(found[1]) * factor > LONGEST_NS:
        bare = {"s": "seconds", "us": "microseconds"}[unit]
        raise given.wrong(f"{bare}, or a time such as 10s, 500ms or 2m, of at most 100 days")
    return int(found[1]) * factor


def check_kind(given: Given, kind: str) -> None:
    """Raises ConfigError for a value that is none of its type, for options that are not evaluated further."""
    text = given.value or ""
    if kind in ("flag", "bool"):
        flag(given)
    elif kind == "number" and not re.fullmatch(r"[-+]?(0[xX][0-9a-fA-F]+|[\d.]+)%?([,:/-].*)?", text):
        raise given.wrong("a number")
    elif kind == "size" and not re.match(r"[\d,]", text):
        raise given.wrong(SIZE)
    elif kind == "time" and not re.match(r"\d", text):
        raise given.wrong("a time such as 10s")


def number(text: str) -> float | None:
    """A number with decimals, `None` if the text is none."""
    return float(text) if re.fullmatch(r"\d{1,9}(\.\d{1,12})?", text.strip()) else None


def by_direction(given: Given) -> list[str]:
    """Texts for reads, writes and trims; the last one given counts for the rest."""
    parts = [part.strip() for part in (given.value or "").split(",")]
    if len(parts) > 3:
        raise given.wrong("at most three values between commas: reads, writes, trims")
    while len(parts) < 3:
        parts.append(parts[-1])
    return parts


def sizes(given: Given, kb: int) -> list[int]:
    """Sizes of reads, writes and trims; an empty one between commas is 4096, fio's default."""
    found = [size_of(part, kb) if part else 4096 for part in by_direction(given)]
    if any(each is None or not each for each in found):
        raise given.wrong(f"{SIZE}, up to three between commas, for reads, writes and trims")
    return [each for each in found if each is not None]


def percentages(given: Given) -> tuple[int, int, int]:
    """Percentages of reads, writes and trims."""
    parts = by_direction(given)
    found = [percentage(Given(given.name, given.spelling, part, given.place)) for part in parts]
    return found[0], found[1], found[2]


def percentiles(given: Given) -> tuple[float, ...]:
    """Up to 20 percentages between colons, ascending."""
    found = [number(part) for part in (given.value or "").split(":")]
    if any(each is None or not 0 < each <= 100 for each in found) or len(found) > 20:
        raise given.wrong("up to 20 percentages between colons, such as 50:99:99.9")
    return tuple(sorted(each for each in found if each is not None))


def ranges(given: Given, kb: int) -> list[tuple[int, int]]:
    """Ranges of sizes of reads, writes and trims."""
    found = []
    for part in by_direction(Given(given.name, given.spelling, (given.value or "").replace("/", ","), given.place)):
        ends = [size_of(end, kb) for end in re.split("[-:]", part)]
        if len(ends) != 2 or not ends[0] or not ends[1]:
            raise given.wrong("a range such as 4k-16k, up to three between commas")
        found.append((min(ends[0], ends[1]), max(ends[0], ends[1])))
    return found


def splits(given: Given, kb: int) -> list[list[tuple[int, float]]]:
    """Sizes with their shares in percent, of reads, writes and trims. Sizes without a share divide what is left."""
    return [_split(given, part, kb) for part in by_direction(given)]


def _split(given: Given, text: str, kb: int) -> list[tuple[int, float]]:
    expected = "sizes with percentages such as 4k/70:64k/30"
    found: list[tuple[int, float | None]] = []
    for part in text.split(":"):
        first, slash, share = part.partition("/")
        bytes_ = size_of(first, kb)
        percent = number(share) if slash and share.strip() else None
        if not bytes_ or (slash and share.strip() and percent is None):
            raise given.wrong(expected)
        found.append((bytes_, percent))
    known = math.fsum(percent for _, percent in found if percent is not None)
    open_ = [percent for _, percent in found if percent is None]
    if known > 100 + 1e-9 or (not open_ and known < 100 - 1e-9):
        raise given.wrong(f"{expected}, of 100 % in all; these are {known:g} %")
    rest = (100 - known) / max(len(open_), 1)
    every = [(bytes_, rest if percent is None else percent) for bytes_, percent in found]
    return [(bytes_, percent) for bytes_, percent in every if percent > 0]

"""Values of `random_distribution`: keys of a flow that have the same distribution."""

from __future__ import annotations

from dataclasses import dataclass

from interpulse.fio import values
from interpulse.fio.jobfile import Given

EXPECTED = "random, zipf:THETA, pareto:H, normal:DEVIATION, zoned:ACCESSES/SIZE:... or zoned_abs:ACCESSES/BYTES:..."
DEFAULTS = {"zipf": "1.1", "pareto": "0.2", "normal": "0"}
"""Values that fio takes where none is given."""

CENTER = "a centre of the distribution: its ranks are scattered over the region"


@dataclass(frozen=True)
class Distribution:
    """Distribution of random addresses.

    Attributes:
        address: pattern of a flow; empty for uniform addresses.
        keys: keys of the flow.
        parts: share of requests in % and bytes, of `zoned_abs`; their sizes are weights of `parts`.
    """

    address: str = ""
    keys: tuple[tuple[str, float | tuple[float, ...]], ...] = ()
    parts: tuple[tuple[float, int], ...] = ()


UNIFORM = Distribution()


def read_distribution(given: Given, kb: int) -> Distribution:
    """The distribution of an option. Raises ConfigError if it is illegal or has no counterpart."""
    parts = (given.value or "").split(",")
    if any(part.strip() != parts[0].strip() for part in parts[1:]):
        raise given.refused("distributions of reads, writes and trims that differ")
    name, _, rest = parts[0].strip().partition(":")
    if name == "random" and not rest:
        return UNIFORM
    if name in ("zoned", "zoned_abs"):
        return _zoned(given, rest, kb if name == "zoned_abs" else None)
    if name not in ("zipf", "pareto", "normal"):
        raise given.wrong(EXPECTED)
    first, *more = rest.split(":") if rest else [DEFAULTS[name]]
    value = values.number(first)
    if value is None or len(more) > 1:
        raise given.wrong(EXPECTED)
    if more:
        raise given.refused(CENTER)
    return _ranked(given, name, value)


def _ranked(given: Given, name: str, value: float) -> Distribution:
    """A distribution of ranks."""
    if name == "zipf":
        if not 0 < value <= 10 or value == 1:
            raise given.wrong("zipf:THETA with a theta above 0 and up to 10, and not 1, as in fio")
        return Distribution("zipf", (("exponent", value),))
    if name == "pareto":
        if not 0.001 <= value <= 0.999:
            raise given.wrong("pareto:H with an H from 0.001 to 0.999")
        return Distribution("pareto", (("pareto-share", value),))
    if not 0 <= value < 100:
        raise given.wrong("normal:DEVIATION with a deviation from 0 to below 100")
    return Distribution("normal", (("deviation", min(value / 100, 0.5)),))


def _zoned(given: Given, text: str, kb: int | None) -> Distribution:
    accesses: list[float] = []
    sizes: list[float] = []
    rest: list[int] = []
    for place, part in enumerate(text.split(":")):
        share, slash, size = part.partition("/")
        access = values.number(share)
        # A part without a size has what the others leave.
        extent = (values.number(size) if kb is None else values.size_of(size, kb)) if size else 0
        if access is None or not slash or extent is None or bool(size) != bool(extent):
            raise given.wrong(EXPECTED)
        accesses.append(access)
        sizes.append(float(extent))
        rest += [] if size else [place]
    if rest and (len(rest) > 1 or kb is not None or sum(sizes) >= 100):
        raise given.wrong("at most one part without a size, in zoned, after parts of less than 100 % in all")
    for place in rest:
        sizes[place] = 100 - sum(sizes)
    if abs(sum(accesses) - 100) > 1e-6:
        raise given.wrong(f"accesses of 100 % in all; these are {sum(accesses):g} %")
    if kb is not None:
        absolute = tuple((access, int(size)) for access, size in zip(accesses, sizes, strict=True))
        return Distribution("parts", (), absolute)
    if sum(sizes) > 100 + 1e-6:
        raise given.wrong(f"sizes of at most 100 % in all; these are {sum(sizes):g} %")
    if sum(sizes) < 100 - 1e-6:
        sizes.append(100 - sum(sizes))
        accesses.append(0.0)
    return Distribution("parts", (("part-sizes", tuple(sizes)), ("part-traffic", tuple(accesses))))

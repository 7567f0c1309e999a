"""Data sheet import: a part file from printed figures, their typical split and assumed values.

Times are whole nanoseconds. What a figure is, its legal range and its default are the simulator's own (`parts.keys`);
this file only splits a program and an erase of a stated length into loops.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.flash.parts import DIE, keys

SHEET = "data sheet"
ASSUMED = "assumed: "

PAGE_TYPES = ("lsb", "csb", "msb", "top", "fifth")

PRINTED = {
    "tr": "sensing time tR: one for all pages of a word line, or one for each separated by commas",
    "tprog": "time tPROG of a program of one word line",
    "tbers": "time tBERS of an erase of a fresh block",
    "pages": "pages per block",
    "blocks": "blocks per plane",
    "planes": "planes per die",
    "page_size": "user bytes of a page",
    "bits": "bits per cell: 1 or slc, 2 or mlc, 3 or tlc, 4 or qlc, 5 or plc",
}
"""What every data sheet prints, by the option that takes it."""

TYPICAL = {
    "tr": "60us",
    "tprog": "700us",
    "tbers": "5ms",
    "pages": "2112",
    "blocks": "1500",
    "planes": "4",
    "page_size": "16KiB",
    "bits": "tlc",
}
"""What a 3D TLC part of today prints."""

TYPICAL_OF_FIVE_BITS = {"tr": "150us", "tprog": "12250us", "pages": "2120"}
"""What replaces it for five bits per cell, of which no data sheet is public: times above those of the dies of four bits
in docs/PARTS.md, and pages that make whole word lines."""

BITS = {"1": 1, "slc": 1, "2": 2, "mlc": 2, "3": 3, "tlc": 3, "4": 4, "qlc": 4, "5": 5, "plc": 5}
LOOPS = {1: 5, 2: 10, 3: 16, 4: 28, 5: 49}
"""Loops of a program by bits per cell, where none are given."""
VERIFY_SHARE = {1: Fraction(3, 10), 2: Fraction(1, 2), 3: Fraction(18, 25), 4: Fraction(4, 5), 5: Fraction(17, 20)}
"""What the verifies of a program loop take of it, by bits per cell: one for each state that is verified."""
ERASE_LOOPS = 5
ERASE_VERIFY_NS = 100_000
CYCLES = {1: 50_000, 2: 10_000, 3: 3_000, 4: 1_000, 5: 300}
"""Rated cycles by bits per cell."""

_UNITS_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_UNITS_BYTES = {"B": 1, "KiB": 1024, "MiB": 1024**2, "kB": 1000}
_NUMBERS = ("a whole number", "a number")
_FLAG = "true or false"


@dataclass(frozen=True)
class Figure:
    """A value as TOML writes it, and where it comes from."""

    value: str
    source: str


def part_file(name: str, given: dict[str, str], further: dict[str, str], *, typical: bool = False) -> str:
    """The text of a part file.

    Args:
        name: what the part is called.
        given: lines of the data sheet, by the names in `PRINTED`.
        further: other figures of the data sheet by their keys of `[part]`, such as `program-loops` or `power.standby`.
        typical: takes typical values for lines that are not given, and says so in the file.

    Raises:
        ConfigError: lines are missing (the message names all of them), a figure is not legal, or there is no such key.
    """
    lacking = [option for option in PRINTED if option not in given]
    usual = typical_lines(given)
    if lacking and not typical:
        lines = (f"\n  --{each.replace('_', '-')}: {PRINTED[each]} (typically {usual[each]})" for each in lacking)
        what = "1 line of the data sheet is" if len(lacking) == 1 else f"{len(lacking)} lines of the data sheet are"
        raise ConfigError(f"{what} missing:{''.join(lines)}\n  --typical takes these values and says so in the file")
    if "interface" in further:
        raise ConfigError(
            "interface: a data sheet prints the rate itself; expected --bus-rate instead, and where "
            "the overhead of commands is known --set command-cycles=TIME (docs/PARTS.md lists it by interface)"
        )
    for key in further:
        if key not in keys() or key in ("file", "preset", "name"):
            raise ConfigError(f"{key}: a part has no such figure; docs/CONFIGURATION.md has all keys of `part`")
    known = {
        option: (given[option].strip(), SHEET) if option in given else (usual[option], f"{ASSUMED}typical value")
        for option in PRINTED
    }
    own = {key: Figure(_literal(key, text), SHEET) for key, text in further.items()}
    derived = _derived(known, further)
    _check_contradictions(given, own, derived)
    text = _text(name, known, {**derived, **own})
    try:
        entries = Config.from_toml(f"{text}{DIE}", path="part").entries()
    except ConfigError as error:
        # There is no such file yet, so its lines mean nothing.
        raise ConfigError(re.sub(r"^part:\d+: ", "", str(error))) from None
    defaulted = [entry.key.removeprefix("part.") for entry in entries if entry.origin == "default"]
    unsaid = [key for key in defaulted if key in keys() and keys()[key]["need"] != "optional"]
    if unsaid:
        raise AssertionError(f"a part file has to state every figure, and this one lacks {', '.join(unsaid)}")
    return text


def typical_lines(given: dict[str, str]) -> dict[str, str]:
    """What a part with the bits per cell of `given` prints."""
    five = BITS.get(given.get("bits", "").strip().lower()) == 5
    return TYPICAL | (TYPICAL_OF_FIVE_BITS if five else {})


def time_ns(what: str, text: str) -> int:
    """A time with its unit in ns.

    Raises:
        ConfigError: it is none; the message begins with `what`.
    """
    match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,9})?) ?(ns|us|ms|s)", text)
    if match is None:
        raise ConfigError(f"{what} '{text}': a time is a number with its unit (ns, us, ms or s), such as 60us")
    ns = Decimal(match[1]) * _UNITS_NS[match[2]]
    if ns != int(ns) or ns == 0:
        raise ConfigError(f"{what} '{text}': a whole number of nanoseconds, and not zero")
    return int(ns)


def _derived(known: dict[str, tuple[str, str]], further: dict[str, str]) -> dict[str, Figure]:
    """Every figure of a part: as the data sheet prints it, as a part of what it prints, or as it usually is."""
    bits_text, bits_source = known["bits"]
    if bits_text.lower() not in BITS:
        raise ConfigError(f"--bits {bits_text}: {PRINTED['bits']}")
    bits = BITS[bits_text.lower()]
    types = ("lsb", "msb") if bits == 2 else PAGE_TYPES[:bits]
    figures = {
        key: Figure(_whole(option, known[option][0]), known[option][1])
        for key, option in (("planes", "planes"), ("blocks-per-plane", "blocks"), ("pages-per-block", "pages"))
    }
    size, size_source = known["page_size"]
    pages = int(figures["pages-per-block"].value)
    word_lines = pages // bits
    if pages % bits:
        near = " or ".join(str(count * bits) for count in (word_lines, word_lines + 1) if count)
        raise ConfigError(
            f"--pages {pages}: a word line of {bits} bits per cell has {bits} pages; expected a multiple of {bits}, "
            f"such as {near}"
        )
    usual = f"{ASSUMED}usual for {bits} bit(s) per cell"
    figures |= {
        "page-size": Figure(json.dumps(size), size_source),
        "page-parity": Figure(json.dumps(f"{_bytes(size) // 8}B"), f"{ASSUMED}an eighth of the page"),
        "bits-per-cell": Figure(str(bits), bits_source),
        "layers": Figure(
            str(word_lines // 4 if word_lines % 4 == 0 and word_lines else 1),
            f"{ASSUMED}four word lines on a layer where that fits; no timing depends on it",
        ),
        "program-mode": Figure(json.dumps("page" if bits == 1 else "one-shot"), usual),
        "endurance": Figure(str(CYCLES[bits]), usual),
        "voltage-reset": Figure('"4us"', f"{ASSUMED}as Wu & He print it for planar parts, FAST'12, slide 8"),
        "command-cycles": Figure('"100ns"', f"{ASSUMED}about eight command and address cycles of 12.5 ns"),
        **_reads(types, *known["tr"]),
        **_train("program", known["tprog"], further, LOOPS[bits], lambda loop: round(loop * VERIFY_SHARE[bits])),
        **_train("erase", known["tbers"], further, ERASE_LOOPS, lambda loop: min(ERASE_VERIFY_NS, loop // 10)),
    }
    for key, declared in keys().items():
        page = key.removeprefix("power.sense-")
        # What belongs to a choice that is not the default goes with that choice.
        apart = key.startswith(("reprogram.", "slc-mode.", "two-step.")) or (
            key.startswith(("cache.", "sub-block-")) and declared["belongs_to"]
        )
        if key in figures or apart or (page in PAGE_TYPES and page not in types):
            continue
        if declared["typical"] is not None and not key.startswith("read-"):
            figures[key] = Figure(_literal(key, declared["typical"]), f"{ASSUMED}typical value")
        elif declared["need"] == "default":
            zero = declared["default"] == "0ns"
            why = "nothing beyond the printed times" if zero else "the default"
            why = "the default of docs/POWER.md" if key.startswith("power.") else why
            figures[key] = Figure(_literal(key, declared["default"]), ASSUMED + why)
    return figures


def _check_contradictions(given: dict[str, str], own: dict[str, Figure], derived: dict[str, Figure]) -> None:
    """Raises ConfigError if a figure of `--set` differs from what a given line of the data sheet says."""
    lines = {
        "pages": ["pages-per-block"],
        "blocks": ["blocks-per-plane"],
        "planes": ["planes"],
        "page_size": ["page-size"],
        "bits": ["bits-per-cell"],
        "tr": [f"read-{page}" for page in PAGE_TYPES],
    }
    for option, of in lines.items():
        for key in of:
            # A page that this part does not have is refused by the reader of parts.
            if option in given and key in own and key in derived and own[key].value != derived[key].value:
                raise ConfigError(_contradiction(option, given[option], f"{key}={_bare(own[key])}"))
    for kind, option in (("program", "tprog"), ("erase", "tbers")):
        parts = [f"{kind}-{part}" for part in ("loops", "pulse", "verify")]
        named = [key for key in parts if key in own]
        if option not in given or f"{kind}-pulse" not in own:
            continue
        loops, pulse, verify = (_bare({**derived, **own}[key]) for key in parts)
        count = int(_whole(parts[0], loops))
        total = count * (time_ns(f"--set {parts[1]}", pulse) + time_ns(f"--set {parts[2]}", verify))
        # Loops are whole nanoseconds: each may be half of one off.
        if abs(total - time_ns(f"--{option}", given[option])) > count:
            sets = " --set ".join(f"{key}={_bare(own[key])}" for key in named)
            raise ConfigError(f"{_contradiction(option, given[option], sets)}: {count} loops last {_us(total)}")


def _contradiction(option: str, text: str, sets: str) -> str:
    return (
        f"--set {sets}: seen --{option.replace('_', '-')} {text} too, which says something else; expected one of both"
    )


def _bare(figure: Figure) -> str:
    """The value without the quotes of TOML."""
    return figure.value.strip('"')


def _reads(types: tuple[str, ...], text: str, source: str) -> dict[str, Figure]:
    """The sensing time of each page type."""
    times = [each.strip() for each in text.split(",")]
    if len(times) not in (1, len(types)):
        raise ConfigError(f"--tr {text}: one time, or one for each page of a word line ({', '.join(types)})")
    for each in times:
        time_ns("--tr", each)
    one = f"{source} (one tR for all pages)" if len(times) < len(types) else source
    return {f"read-{page}": Figure(json.dumps(times[k % len(times)]), one) for k, page in enumerate(types)}


def _train(
    kind: str, line: tuple[str, str], further: dict[str, str], usual: int, verify_ns: Callable[[int], int]
) -> dict[str, Figure]:
    """Loops of pulse and verify that together last as long as the data sheet prints."""
    option = {"program": "tprog", "erase": "tbers"}[kind]
    total = time_ns(f"--{option}", line[0])
    given = further.get(f"{kind}-loops")
    # Where loops are assumed, so many that whole nanoseconds add up to what is printed.
    near = sorted(range(1, min(2 * usual, total) + 1), key=lambda loops: abs(loops - usual))
    loops = int(_whole(f"{kind}-loops", given)) if given else next(n for n in near if total % n == 0)
    loop = max(2, round(Fraction(total, loops)))
    verify = time_ns(f"--{kind}-verify", further[f"{kind}-verify"]) if f"{kind}-verify" in further else verify_ns(loop)
    if verify >= loop:
        raise ConfigError(f"--{kind}-verify {_us(verify)}: a loop of {_us(loop)} has to hold a pulse beside it")
    split = f"{loops} x ({_us(loop - verify)} + {_us(verify)}) = {_us(loops * loop)}; {option} is {line[0]} ({line[1]})"
    return {
        f"{kind}-loops": Figure(str(loops), f"{ASSUMED}typical split: {split}"),
        f"{kind}-pulse": Figure(json.dumps(_us(loop - verify)), f"{ASSUMED}typical split: {split}"),
        f"{kind}-verify": Figure(json.dumps(_us(verify)), f"{ASSUMED}typical split: {split}"),
    }


def _text(name: str, known: dict[str, tuple[str, str]], figures: dict[str, Figure]) -> str:
    """The file: every key in the reader's order, under what it means."""
    given = [f"{option.replace('_', '-')} {text}" for option, (text, source) in known.items() if source == SHEET]
    lines = [
        f"# The flash part {name}, written by `interpulse part new`. docs/PARTS.md explains it.",
        f"# From the data sheet: {', '.join(given) or 'nothing'}.",
        "# Every figure says where it comes from: what begins with 'assumed' is worth replacing. A drive takes this",
        '# file as its part with   [part] file = "..."   and `interpulse part check` says whether it is one.',
        "[part]",
        f"name = {json.dumps(name, ensure_ascii=False)}",
    ]
    section = ""
    for key, declared in keys().items():
        if key not in figures:
            continue
        of, _, leaf = key.rpartition(".")
        if of != section:
            section = of
            lines += ["", f"[part.{of}]"]
        figure = figures[key]
        source = json.dumps(figure.source, ensure_ascii=False)
        lines += [f"# {declared['doc']}", f"{leaf} = {{ value = {figure.value}, source = {source} }}"]
    return "\n".join(lines) + "\n"


def _literal(key: str, text: str) -> str:
    """A value as TOML writes it."""
    holds = keys()[key]["holds"]
    bare = (holds in _NUMBERS and re.fullmatch(r"[0-9.]+", text)) or (holds == _FLAG and text in ("true", "false"))
    return text if bare else json.dumps(text)


def _whole(option: str, text: str) -> str:
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) == 0:
        raise ConfigError(f"--{option} {text}: a whole number from 1, such as {TYPICAL.get(option, '16')}")
    return str(int(text))


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d{1,9}) ?(B|KiB|MiB|kB)", text)
    if match is None:
        raise ConfigError(f"--page-size {text}: a size is a number with its unit (B, KiB, MiB or kB), such as 16KiB")
    return int(match[1]) * _UNITS_BYTES[match[2]]


def part_values(text: str) -> dict[str, str]:
    """Values of the text of a part file by their keys of `[part]`."""
    return {entry.key.removeprefix("part."): entry.value for entry in Config.from_toml(f"{text}{DIE}").entries()}


def check_density(text: str, values: Mapping[str, str]) -> None:
    """Compares the density that a data sheet prints with the geometry, which has up to a fifth more for bad blocks.

    Raises:
        ConfigError: `text` is no density, or the geometry has another.
    """
    match = re.fullmatch(r"(\d{1,6}(?:\.\d{1,6})?) ?(Gb|Tb)", text)
    if match is None:
        raise ConfigError(f"--density '{text}': a density is a number with its unit (Gb or Tb), such as 512Gb")
    printed = Decimal(match[1]) * {"Gb": 2**30, "Tb": 2**40}[match[2]]
    if not Decimal("0.9") * printed <= _bits(values) <= Decimal("1.2") * printed:
        of = {"planes": "planes", "blocks": "blocks-per-plane", "pages": "pages-per-block", "page-size": "page-size"}
        seen = ", ".join(f"--{option} {values[key]}" for option, key in of.items())
        raise ConfigError(f"--density {text}: seen {density(values)} by {seen}; expected 0.9 to 1.2 of the density")


def _bits(values: Mapping[str, str]) -> int:
    """User bits of a die."""
    count = math.prod(int(values[key]) for key in ("planes", "blocks-per-plane", "pages-per-block"))
    return count * _bytes(values["page-size"]) * 8


def density(values: Mapping[str, str]) -> str:
    """Capacity of a die in Gb, without spare areas, as data sheets print it: from its keys of `[part]`."""
    return f"{_bits(values) / 2**30:,.4g} Gb"


def _us(ns: int) -> str:
    """A time as a configuration takes it."""
    return f"{Decimal(ns) / 1000:f}us"

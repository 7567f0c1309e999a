"""Wrong values for every key there is, made from what it declares: type, unit, range, choices, what it belongs to."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from interpulse import Config, ConfigError, _core
from tests.hostile.records import Wrong

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BASE = 'drive = "a4-mini"\n[run]\nrequests = 10\n[[flow]]\nname = "only"\n'

LEGAL = {"part.blocks-per-plane": "96", "part.pages-per-block": "192", "part.bits-per-cell": "3"}
"""Values that a drive needs, where the smallest legal one makes none."""

EXAMPLES = {
    "a fraction": "0.5",
    "a duration": "1ms",
    "a size": "64KiB",
    "a current": "1mA",
    "a voltage": "1V",
    "a power": "1W",
    "an energy per bit": "1pJ/bit",
    "a transfer rate": "400MT/s",
    "a power or a current": "10W",
    "a number per second": "1000/s",
    "true or false": "true",
    "a text": "x",
    "a name": "x",
}
"""A value of each type that has a unit or is a word; the others take 1."""

UNITLESS = ("a whole number", "a number", "a fraction", "true or false", "a text", "a name")

APPLIES = {
    "bits-per-cell = 3": ("drive=ressd-mini",),
    "bits-per-cell = 4 or 5": ("part.bits-per-cell=4", "part.layers=4", "part.read-top=80us"),
    "bits-per-cell = 5": ("part.bits-per-cell=5", "part.layers=4", "part.read-top=80us", "part.read-fifth=90us"),
    'an errors.table other than "ideal"': ("errors.table=cai-tlc",),
    "stages in soft-sensings": ("ecc.soft-sensings=[1]", "ecc.soft-capability=[100]", 'ecc.soft-latency=["1us"]'),
    "[power-loss]": ("power-loss.at=1ms",),
    "[array]": ("array.level=raid5", "array.drives=4"),
    'consistency = "resync" and [power-loss]': ("power-loss.at=1ms",),
    'format = "oraclegeneral"': ("flow.0.format=oraclegeneral", "flow.0.address-unit=4KiB"),
    "fail-drive": ("array.fail-drive=1",),
    "fail-drive or fail-after-errors": ("array.fail-drive=1",),
    "drives that fail by their errors and not at chosen times, and fail-drive is given": ("errors.table=cai-tlc",),
    "rebuild-rate": (
        "array.fail-drive=1",
        "array.rebuild-rate=1MiB",
        "suspend.program.scheme=loop-boundary",
        "suspend.program.max-suspends=1",
        "array.rebuild-suspend.max-suspends=2",
    ),
    "an `overwrite` pattern": ("precondition.overwrite=uniform",),
    "`sizes`": ('flow.0.sizes=["4KiB"]', "flow.0.size-weights=[1]"),
    "a flow that replays a `trace`": ("flow.0.trace=t.csv",),
    "a flow with a `twin`": ("flow.0.twin=msr-prxy-0",),
    "repeat": ("flow.0.trace=t.csv", "flow.0.repeat=2"),
    "update-burst": ("flow.0.update-burst=2", "flow.0.pacing=recorded"),
    'retry = "pipelined"': ("ecc.retry=pipelined",),
    'retry = "on-die"': ("ecc.retry=on-die",),
    "reprogram = true": ("drive=ressd-mini", "ftl.hotness=update-interval", "ftl.reprogram=true"),
    "trace = true": ("power.trace=true",),
    "a section [ftl.slc-cache]": (
        "ftl.slc-cache.kind=dynamic",
        "ftl.slc-cache.size=64MiB",
        "part.slc-mode.loops=2",
        "part.slc-mode.pulse=20us",
        "part.slc-mode.verify=20us",
        "part.slc-mode.read=35us",
        "part.slc-mode.endurance=30000",
    ),
    'admission = "by-handle"': ("ftl.slc-cache.admission=by-handle", "ftl.placement=streams", "ftl.streams=1"),
    "a given command-timeout": ("host.command-timeout=1ms",),
    "a given fold-above": ("ftl.slc-cache.fold-above=80%",),
    "[dram]": ("dram.width=32",),
    "[read-cache]": ("read-cache.size=1MiB",),
    "copyback = true": ("ftl.copyback=true",),
    "sub-blocks above 1": ("part.sub-blocks=5",),
    'program-mode = "two-step"': (
        "part.program-mode=two-step",
        "part.two-step.loops=2",
        "part.two-step.pulse=20us",
        "part.two-step.verify=20us",
        "part.two-step.first-pages=3",
        "part.two-step.second-pages=3",
    ),
    "a given die-stall-every": ("faults.die-stall-every=1s",),
    "a given capacitor-voltage": ("power-loss.at=1ms", "power-loss.capacitor-voltage=12V"),
    'wear-out = "normal" or "lognormal"': ("faults.wear-out=normal",),
    "a fault at a time, without `after`": ("fault.0.kind=die-failure", "fault.0.die=0"),
    "a fault after a number of commands, without `at`": ("fault.0.kind=die-failure", "fault.0.die=0"),
}
"""What makes a key apply, by what it says that it belongs to; `name = "value"` says it by itself."""

Sets = tuple[tuple[str, str], ...]


def base(sets: Sets) -> str:
    """The base, with the namespace, fault or format that one of these settings needs."""
    namespace = any(
        key.startswith("namespace.") or key in {"flow.0.namespace", "format.0.namespace"} for key, _ in sets
    )
    fault = any(key.startswith("fault.") for key, _ in sets)
    formats = any(key.startswith("format.") for key, _ in sets)
    return BASE + "[[namespace]]\n" * namespace + "[[fault]]\n" * fault + "[[format]]\n" * formats


@cache
def keys() -> tuple[dict[str, Any], ...]:
    """The record of all keys; one that several ways declare stands once for each."""
    return tuple(json.loads(_core.lists())["keys"])


def written(key: dict[str, Any]) -> str:
    """The key as `--set` takes it, of the first flow, case or fault."""
    return str(key["name"]).replace(".N.", ".0.")


def legal(key: dict[str, Any]) -> str:
    """A value that the key takes, as far as its declaration tells."""
    if str(key["name"]) in LEGAL:
        return LEGAL[str(key["name"])]
    default = key["default"]
    if default and default not in ("[]", "none"):
        quoted = key["list"] and not key["holds"].startswith(("a whole", "a number", "a fraction"))
        return re.sub(r"[^\[\], ]+", r'"\g<0>"', default) if quoted else str(default)
    if key["choices"]:
        value = key["choices"][0]["name"]
    else:
        low = re.match(r"from (\S+) to", key["range"])
        value = low[1] if low and low[1] != "0" else EXAMPLES.get(key["holds"], "1")
    if not key["list"]:
        return str(value)
    return f"[{value}]" if key["holds"] in UNITLESS[:3] else f'["{value}"]'


@cache
def context(name: str, belongs: tuple[str, ...]) -> Sets | None:
    """Settings beside which a key may be written, itself among them; None where none are found."""
    record = {written(key): key for key in keys()}
    section = name.rpartition(".")[0]
    sets: dict[str, str] = {}
    for what in belongs:
        stated = re.fullmatch(r'([\w-]+) = "?([^" ]+)"?', what)
        if what in APPLIES:
            sets |= dict(each.split("=", 1) for each in APPLIES[what])
        elif stated:
            sets[f"{section}.{stated[1]}"] = stated[2]
    own = next(key for key in keys() if written(key) == name and tuple(key["belongs_to"]) == belongs)
    sets[name] = sets.get(name, legal(own))
    for _ in range(16):
        try:
            resolved(tuple(sets.items()))
        except ConfigError as error:
            # One that is missing, or a line for each of several.
            missing = re.findall(r"([\w.-]+): missing key|^  ([\w.-]+): .*; expected", str(error), re.MULTILINE)
            found = {one or several for one, several in missing} - sets.keys()
            if not found & record.keys():
                return None
            sets |= {key: legal(record[key]) for key in sorted(found & record.keys())}
        else:
            return tuple((key, value) for key, value in sets.items() if key != name)
    return None


def resolved(sets: Sets) -> None:
    """Resolves the base with these settings."""
    wanted = Config.from_toml(base(sets))
    for key, value in sets:
        wanted.set(key, value)
    wanted.resolve()


def wrong_values(key: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong, and the value."""
    holds, unitless = key["holds"], key["holds"] in UNITLESS
    text = holds in ("a text", "a name")
    wrap = (lambda value: f"[{value}]") if key["list"] else (lambda value: value)
    if not (text and not key["choices"]):
        yield "an empty value", wrap('""') if key["list"] else '""'
        yield "a word that is none", wrap('"nonsense"')
    yield "a table", "{ a = 1 }"
    yield "a date", "1979-05-27"
    yield "a list in a list", "[[1], [2]]"
    yield "another type", wrap("3") if text else "{ value = {} }" if holds == "true or false" else wrap("true")
    if holds == "true or false":
        yield "a number for a truth", "1"
        yield "a capital letter", '"True"'
        return
    if text:
        if key["choices"]:
            yield "a near miss", wrap(f'"{key["choices"][0]["name"]}x"')
            yield "another case", wrap(f'"{key["choices"][0]["name"].upper()}"')
        return
    unit = re.search(r"[A-Za-z/]+$", EXAMPLES.get(holds, ""))
    of = unit[0] if unit else ""
    quote = (lambda number: f'"{number}{of}"') if of else str
    for about, number in (("no number", "nan"), ("infinity", "inf"), ("less than everything", "-inf")):
        yield about, wrap(number)
    yield "a number beyond all", wrap(quote("9" * 40))
    yield "another unit", wrap('"5parsec"')
    yield "two numbers", wrap(f'"1 2{of}"')
    if holds != "a number" or not key["range"].startswith("from -"):
        yield "a negative number", wrap(quote(-1))
    if not unitless:
        yield "no unit", wrap("5")
    if holds == "a whole number":
        yield "half of one", wrap("1.5")
    for about, value in beyond(key["range"], whole=holds == "a whole number"):
        yield about, wrap(f'"{value}"' if re.search("[A-Za-z]", value) else value)


def beyond(words: str, *, whole: bool) -> Iterator[tuple[str, str]]:
    """Values just outside of a range in words."""
    number = r"(-?[\d.]+)(\S*)"
    if low := re.search(rf"from {number}|at least {number}", words):
        least, unit = (low[1] or low[3], low[2] or low[4])
        if float(least) != 0:
            yield (
                "too little",
                f"{int(least) - 1 if whole else float(least) * (1.01 if float(least) < 0 else 0.5):.12g}{unit}",
            )
    if positive := re.search(rf"greater than {number}", words):
        yield "nothing", f"{positive[1]}{positive[2]}"
    if high := re.search(rf"to {number}|at most {number}", words):
        most, unit = (high[1] or high[3], high[2] or high[4])
        yield "too much", f"{int(most) + 1 if whole else float(most) * 1.5:.12g}{unit}"


def wrong_settings(of: Sequence[dict[str, Any]]) -> Iterator[Wrong]:
    """These keys with every kind of wrong value, where they apply; misspelt; and where they do not apply."""
    named = {written(key) for key in keys()}
    for key in of:
        name = written(key)
        beside = context(name, tuple(key["belongs_to"]))
        if beside is not None:
            for about, value in wrong_values(key):
                yield Wrong(
                    kind="config",
                    about=f"{name}, {about}",
                    text=base(((name, value),)),
                    sets=(*beside, (name, value)),
                    # A list of the wrong length contradicts those that belong to it.
                    names=(name,),
                    absent=("unknown key",),
                )
        section, _, last = name.rpartition(".")
        misspelt = f"{section}.{last}x".lstrip(".")
        if misspelt not in named and section not in {"case.0", "fault.0", "format.0"}:
            # Where the key is required, its absence is told, with what may have been meant.
            sets = (*(beside or ()), (misspelt, "1"))
            names = (misspelt, f'"{last}x" is written: was it meant?', f"{section.partition('.')[0]}.")
            yield Wrong(kind="config", about=f"{misspelt} for {name}", text=base(sets), sets=sets, names=names)
        if key["belongs_to"] and key["need"] != "required" and not _applies(name, legal(key)):
            about, absent = f"{name} where it does not apply", ("unknown key", "unknown section")
            sets = ((name, legal(key)),)
            top = section.partition(".")[0] + "."
            yield Wrong(kind="config", about=about, text=base(sets), sets=sets, names=(top,), absent=absent)


def _applies(name: str, value: str) -> bool:
    try:
        resolved(((name, value),))
    except ConfigError:
        return False
    return True


def duplicates() -> Iterator[Wrong]:
    """A key, a section or an entry twice in one file."""
    for key in keys():
        section, _, last = str(key["name"]).rpartition(".")
        if not section or ".N" in str(key["name"]):
            continue
        text = f"{BASE}[{section}]\n{last} = 1\n{last} = 1\n"
        names = ("mine.toml:6", "mine.toml:7", "mine.toml:8")
        yield Wrong(kind="config", about=f"{section}.{last} twice", text=text, names=names)

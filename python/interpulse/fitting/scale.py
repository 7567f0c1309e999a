"""Scale models: a large drive with few and short blocks, which reaches its steady state after seconds.

All dies, planes and channels are kept, and so are over-provisioning and the share of time that erases take. Many short
blocks keep write amplification: the blocks that are open, and those that collection reserves, are a small share of
the spare ones.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.configuration.values import toml, typed
from interpulse.files.cache import parse_size
from interpulse.fitting import quantity
from interpulse.fitting.spec import Spec
from interpulse.fitting.targets import REQUESTS
from interpulse.fitting.times import TIMES
from interpulse.sweeps.check import PLANES
from interpulse.tables.format import size

ABOVE = 64 * 2**30
"""Raw capacity in bytes above which a drive becomes a scale model without being asked."""

PAGES = 24
"""Pages per block of a scale model, rounded up to whole word lines."""

MOST_BLOCKS = 768
"""Blocks per plane of a scale model, unless the drive has fewer."""

FEWEST_BLOCKS = 192
"""Blocks per plane of a scale model of very many dies."""

LARGEST = 48 * 2**30
"""Raw capacity in bytes that a scale model should not exceed."""

VICTIMS, LEAST_BLOCKS = 256, 4
"""Blocks that the host fills in a window of random writes: in all dies, and in each at least."""

CACHED_LINES = 2
"""Word lines of all planes that the write cache of a scale model can hold at least."""

SIZES = ("drive.capacity", "drive.raw-capacity", "part.blocks-per-plane", "part.pages-per-block")
"""Settings that a scale model replaces."""

SOURCE = "interpulse fit: scale model"


def raw_bytes(values: Mapping[str, str]) -> int:
    """Raw capacity of a drive in bytes."""
    counts = (*PLANES, "part.blocks-per-plane", "part.pages-per-block")
    return math.prod(int(values[key]) for key in counts) * parse_size(values["part.page-size"], "part.page-size")


def scale_model(spec: Spec, wanted: bool | None) -> tuple[Spec, list[str]]:
    """The fit of a scale model, with notes about it; the same fit if the drive is small or is not to be scaled.

    Args:
        spec: the fit.
        wanted: whether to scale; None: if the raw capacity exceeds `ABOVE`.

    Raises:
        ConfigError: a scale model is wanted, and the fit changes the size of the drive itself.
    """
    values = {entry.key: entry.value for entry in spec.config.entries()}
    whole = raw_bytes(values)
    if wanted is False or (wanted is None and whole <= ABOVE):
        return spec, []
    taken = sorted({key for key in _own_keys(spec) if key in SIZES})
    if taken:
        why = f"{', '.join(taken)} is chosen by the fit itself (free, or set of a load)"
        if wanted:
            raise ConfigError(f"{spec.path}: --scale: {why}; expected a drive of one size")
        return spec, [f"the drive of {size(whole)} is simulated at full size: {why}"]
    changes = _changes(spec, values)
    found = _first_valid(spec, values, changes)
    if found is None:
        why = "no valid scale model of it was found"
        if wanted:
            raise ConfigError(f"{spec.path}: --scale: {why}; expected a drive that short blocks leave valid")
        return spec, [f"the drive of {size(whole)} is simulated at full size: {why}"]
    small, sets = found
    now = raw_bytes({entry.key: entry.value for entry in small.config.entries()})
    if now >= whole:
        return spec, []
    said = ", ".join(f"{key} {value}" for key, value in sets.items())
    note = (
        f"scale model: {size(now)} of {size(whole)} raw, all dies; {said}. Write amplification and rates are those of "
        "the drive to some percent; tails of latency from erases and collection are not (--no-scale: full size)"
    )
    if "part.erase-pulse" not in sets:
        note += "; erases take a larger share of the time, as the fit chooses their times"
    dies = math.prod(int(values[key]) for key in PLANES if key != "part.planes")
    return replace(small, blocks=min(small.blocks, max(LEAST_BLOCKS, math.ceil(VICTIMS / dies)))), [note]


def _own_keys(spec: Spec) -> set[str]:
    keys = {key for load in spec.loads for key, _ in load.own}
    keys |= {key for each in spec.continuous for key, _ in each.parts}
    return keys | {key for each in spec.discrete for key in each.axis.keys}


def _changes(spec: Spec, values: Mapping[str, str]) -> dict[str, str]:
    """The settings of the scale model, without layers."""
    bits = int(values["part.bits-per-cell"])
    pages = min(int(values["part.pages-per-block"]), bits * math.ceil(PAGES / bits))
    page = parse_size(values["part.page-size"], "part.page-size")
    planes = math.prod(int(values[key]) for key in PLANES)
    most = LARGEST // (planes * pages * page)
    blocks = min(int(values["part.blocks-per-plane"]), max(FEWEST_BLOCKS, min(MOST_BLOCKS, most)))
    changes = {"part.pages-per-block": str(pages), "part.blocks-per-plane": str(blocks)}
    taken = _own_keys(spec)
    if "cache.size" not in taken:
        ratio = planes * blocks * pages * page / raw_bytes(values)
        least = CACHED_LINES * planes * bits * page
        cache = parse_size(values["cache.size"], "cache.size")
        # In multiples of 64 KiB, which is the smallest cache.
        changes["cache.size"] = f"{max(1, round(min(cache, max(cache * ratio, least)) / 65536)) * 64}KiB"
    if not any(key.startswith("part.erase-") for key in taken):
        share = pages / int(values["part.pages-per-block"])
        for key in TIMES["tBERS"]:
            changes[key] = (
                f"{round(share * quantity.read(values[key], 'a duration', key))}ns" if _some(values[key]) else "0ns"
            )
    return {key: value for key, value in changes.items() if value != values.get(key)}


def _some(value: str) -> bool:
    return float("".join(each for each in value if each.isdigit() or each == ".") or 0) > 0


def _first_valid(spec: Spec, values: Mapping[str, str], changes: dict[str, str]) -> tuple[Spec, dict[str, str]] | None:
    """The scale model with as many layers as its short blocks allow."""
    lines = int(changes.get("part.pages-per-block", values["part.pages-per-block"])) // int(
        values["part.bits-per-cell"]
    )
    for layers in dict.fromkeys((int(values["part.layers"]), lines, 4, 2, 1)):
        sets = dict(changes)
        if layers != int(values["part.layers"]):
            sets["part.layers"] = str(layers)
        small = _with(spec, sets)
        try:
            small.config.entries()
        except ConfigError:
            continue
        return small, sets
    return None


def _with(spec: Spec, sets: Mapping[str, str]) -> Spec:
    """The fit with other settings of its drive, which have their source."""
    drive = copy.deepcopy(dict(spec.drive))
    if isinstance(drive.get("drive"), str):
        drive["drive"] = {"preset": drive["drive"]}
    gone = {*sets, *SIZES}
    for key in gone:
        section, _, last = key.partition(".")
        if isinstance(drive.get(section), dict):
            drive[section].pop(last, None)
    if drive.get("drive") == {}:
        del drive["drive"]
    for key, value in sets.items():
        at: dict[str, Any] = drive
        *path, last = key.split(".")
        for name in path:
            at = at.setdefault(name, {})
        at[last] = {"value": typed(value), "source": SOURCE}
    kept = tuple(each for each in spec.sets if each[0] not in gone)
    config = Config(
        toml({**drive, "run": {"requests": REQUESTS}, "flow": [{} for _ in range(spec.flows)]}), path=spec.config.path
    )
    for key, text in kept:
        config.set(key, text)
    return replace(spec, config=config, drive=drive, sets=kept)

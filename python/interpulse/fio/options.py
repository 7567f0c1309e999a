"""Table of fio's options (`options.txt`): names, types, and what becomes of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

VERSION = "fio-3.33"
"""Version whose options the table has."""

SYNCHRONOUS = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap")
"""Engines with one outstanding request per job, which ignore `iodepth` (fio's HOWTO, ioengine)."""

ENGINES = (*SYNCHRONOUS, "libaio", "io_uring", "io_uring_cmd", "posixaio", "solarisaio", "windowsaio", "sg", "xnvme")
"""Engines whose requests go to a block device."""

DRIVERS = ("null", "nvme", "spdk", "libblkio", "libpmem", "dev-dax")
"""Further engines of job files: their requests are those of any asynchronous engine."""


@dataclass(frozen=True)
class Option:
    """A row of the table.

    Attributes:
        name: first name.
        aliases: other names.
        kind: type of the value.
        treatment: `read`, `host`, `output`, `drop`, `only` or `no`, as the table explains them.
        values: legal values of `only`.
        why: meaning, or the reason of a refusal.
    """

    name: str
    aliases: tuple[str, ...]
    kind: str
    treatment: str
    values: tuple[str, ...]
    why: str


@cache
def table() -> Mapping[str, Option]:
    """The options by their first names, in the order of the table."""
    text = (files("interpulse.fio") / "options.txt").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        names, kind, treatment, why = (part.strip() for part in line.split("|"))
        name, *aliases = names.split("/")
        word, *values = treatment.split()
        found[name] = Option(name, tuple(aliases), kind, word, tuple(values), why)
    return found


@cache
def first_names() -> Mapping[str, str]:
    """First name of every name."""
    return {alias: each.name for each in table().values() for alias in (each.name, *each.aliases)}

"""Part file of a measured part, for `part.file`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from interpulse.characterize.tester import Job, Tester
from interpulse.configuration.values import literal, typed

FILE = "part.toml"
"""Name in the folder of `--out`."""

TRAINS = tuple(f"{kind}-{figure}" for kind in ("program", "erase") for figure in ("loops", "pulse", "verify"))
"""Figures that together last as long as the tPROG and tBERS of a data sheet; a part file's own are kept together."""


@dataclass
class PartFile:
    """A part: its preset, parameters from the cells, and measured values with their sources."""

    preset: str
    """Preset of the drive's part, such as `a4-tlc`."""
    keys: dict[str, tuple[int | float | str, str]] = field(default_factory=dict)
    """Values with sources, by key of the section `[part]`."""

    pulse_us: float = 0.0
    """Pulse of a program loop, including its reset."""
    pages_per_block: int = 1
    """Usable pages per block."""
    program_loops: int = 1
    """Loops per program."""
    verify_us: float = 0.0
    """Time of all verifies of a loop."""
    two_bit_read_us: float = 0.0
    """Read time with two bits per cell: the part's value, or that of its fastest page."""
    given: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Values and sources of the part file on the tester, by key of the section `[part]`."""
    changes: list[str] = field(default_factory=list)
    """Lines on measured values that differ from the part file, and which of the two the file has."""

    @classmethod
    def of(cls, tester: Tester) -> PartFile:
        """The part on the tester without measured values; runs one job. Raises as `Tester.ask`."""
        (part,) = tester.ask([Job("part", {})])
        stated = {key: (typed(value), tester.source(key, value, source)) for key, value, source in part["stated"]}
        given = {key: figure for key, figure in tester.given.items() if f"part.{key}" not in dict(tester.overrides)}
        stated |= {key: (typed(value), source) for key, (value, source) in given.items() if key in TRAINS}
        return cls(
            part["preset"],
            stated,
            part["program_pulse_us"],
            part["pages_per_block"],
            int(given["program-loops"][0]) if "program-loops" in given else part["program_loops"],
            part["program_verify_us"],
            part["two_bit_read_us"],
            given,
        )

    def measured(self, key: str, value: float | str, source: str) -> None:
        """Adds a measured value, or a line on it where the part file states the figure.

        A figure of a part file is kept, unless it is assumed there and no part of its tPROG or tBERS.

        Args:
            key: key of the section `[part]`.
            value: a number, or text with a unit.
            source: sample and method.
        """
        own, origin = self.given.get(key, (None, ""))
        if own is None:
            self.keys[key] = (value, source)
        elif typed(own) == value:
            pass
        elif key in TRAINS or not origin.startswith("assumed"):
            self.changes.append(f"{key} = {own} of the part file is kept ({origin}); measured: {value} ({source})")
        else:
            self.keys[key] = (value, source)
            self.changes.append(f"{key} = {value} replaces the {own} of the part file ({origin}): {source}")

    def file(self, tester: Tester) -> tuple[str, bytes]:
        """Name and content, with the origin in its comments; `changes` become notes of the outcome."""
        tester.changes = self.changes
        lines = [
            f"# {tester.head()}",
            '# A drive takes it as its part:   [part] file = "part.toml"   (docs/CHARACTERIZE.md)',
            *(f"# {line}" for line in self.changes),
            "[part]",
            f"preset = {literal(self.preset)}",
        ]
        for key, (value, source) in self.keys.items():
            lines.append(f"{key} = {{ value = {literal(value)}, source = {literal(source)} }}")
        return FILE, ("\n".join(lines) + "\n").encode()


def microseconds(us: float) -> str:
    """Configuration text of a time: whole nanoseconds, in microseconds."""
    ns = round(us * 1000)
    whole, rest = divmod(ns, 1000)
    return f"{whole}us" if rest == 0 else f"{whole}.{rest:03}".rstrip("0") + "us"

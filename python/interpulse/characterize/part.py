"""Part file of a measured part, for `part.file`."""

from __future__ import annotations

from dataclasses import dataclass, field

from interpulse.characterize.tester import Job, Tester
from interpulse.configuration.values import literal, typed

FILE = "part.toml"
"""Name in the folder of `--out`."""


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

    @classmethod
    def of(cls, tester: Tester) -> PartFile:
        """The part on the tester without measured values; runs one job. Raises as `Tester.ask`."""
        (part,) = tester.ask([Job("part", {})])
        stated = {key: (typed(value), source) for key, value, source in part["stated"]}
        return cls(
            part["preset"],
            stated,
            part["program_pulse_us"],
            part["pages_per_block"],
            part["program_loops"],
            part["program_verify_us"],
            part["two_bit_read_us"],
        )

    def measured(self, key: str, value: float | str, source: str) -> None:
        """Adds a measured value.

        Args:
            key: key of the section `[part]`.
            value: a number, or text with a unit.
            source: sample and method.
        """
        self.keys[key] = (value, source)

    def file(self, tester: Tester) -> tuple[str, bytes]:
        """Name and content, with the origin in its comments."""
        lines = [
            f"# {tester.head()}",
            '# A drive takes it as its part:   [part] file = "part.toml"   (docs/CHARACTERIZE.md)',
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

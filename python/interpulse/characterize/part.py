"""Part file of a measured part, for `part.file`."""

from __future__ import annotations

from dataclasses import dataclass, field

from interpulse.characterize.tester import Job, Tester
from interpulse.configuration.values import literal, typed

FILE = "part.toml"
"""Its name in the folder of `--out`."""


@dataclass
class PartFile:
    """A part: its preset, what the cells say beside it, and what was measured, each with its origin."""

    preset: str
    """Of the drive's part, such as `a4-tlc`."""
    keys: dict[str, tuple[int | float | str, str]] = field(default_factory=dict)
    """Values with their sources, by the key of the section `[part]`."""

    pulse_us: float = 0.0
    """The pulse of a program loop and the reset beside it."""
    pages_per_block: int = 1
    """Pages of a block that can hold data."""
    program_loops: int = 1
    """Loops of a program of the part."""
    verify_us: float = 0.0
    """All verifies of a loop."""
    two_bit_read_us: float = 0.0
    """Sensing a page of a word line with two bits per cell: the part's own time, or that of its fastest page."""

    @classmethod
    def of(cls, tester: Tester) -> PartFile:
        """The part on the tester, nothing of it measured yet: one job. Raises as `Tester.ask`."""
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
        """Adds a figure.

        Args:
            key: of the section `[part]`.
            value: a number, or text with its unit.
            source: what it was measured on, and how.
        """
        self.keys[key] = (value, source)

    def file(self, tester: Tester) -> tuple[str, bytes]:
        """Its name and its content, which says how it was made."""
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
    """A time as a configuration takes it: whole nanoseconds, written in microseconds."""
    ns = round(us * 1000)
    whole, rest = divmod(ns, 1000)
    return f"{whole}us" if rest == 0 else f"{whole}.{rest:03}".rstrip("0") + "us"

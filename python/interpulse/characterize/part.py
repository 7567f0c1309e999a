"""A measured part as a file that the configuration of a drive names with `part.file`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from interpulse.config import Config

FILE = "part.toml"
"""Its name in the folder of `--out`."""

_UNITS_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


@dataclass
class PartFile:
    """A part: the preset it was measured on, and what was measured, each with its origin."""

    preset: str
    """Of the drive's part, such as `a4-tlc`."""
    keys: dict[str, tuple[int | float | str, str]] = field(default_factory=dict)
    """Values with their sources, by the key of the section `[part]`."""

    def measured(self, key: str, value: float | str, source: str) -> None:
        """Adds a figure.

        Args:
            key: of the section `[part]`.
            value: a number, or text with its unit.
            source: what it was measured on, and how.
        """
        self.keys[key] = (value, source)

    def preset_us(self, key: str) -> float:
        """A time of the preset in microseconds.

        Raises:
            ConfigError: there is no such preset.
        """
        config = Config(f'drive = "a4"\n[part]\npreset = {json.dumps(self.preset)}\n[run]\nrequests = 1\n[[flow]]\n')
        shown = next(entry.value for entry in config.entries() if entry.key == f"part.{key}")
        match = re.fullmatch(r"([0-9.]+)(ns|us|ms|s)", shown)
        assert match is not None, shown
        return float(match[1]) * _UNITS_US[match[2]]

    def text(self, head: str) -> str:
        """The file; `head` says in one line how it was made."""
        lines = [
            f"# {head}",
            '# A drive takes it as its part:   [part] file = "part.toml"   (docs/CHARACTERIZE.md)',
            "[part]",
            f"preset = {json.dumps(self.preset)}",
        ]
        for key, (value, source) in self.keys.items():
            shown = json.dumps(value) if isinstance(value, str) else repr(value)
            lines.append(f"{key} = {{ value = {shown}, source = {json.dumps(source, ensure_ascii=False)} }}")
        return "\n".join(lines) + "\n"


def microseconds(us: float) -> str:
    """A time as a configuration takes it: whole nanoseconds, written in microseconds."""
    ns = round(us * 1000)
    whole, rest = divmod(ns, 1000)
    return f"{whole}us" if rest == 0 else f"{whole}.{rest:03}".rstrip("0") + "us"

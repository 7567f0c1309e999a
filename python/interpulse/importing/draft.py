"""Configuration under construction: every key with its value and the parameters it comes from."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.configuration.values import literal
from interpulse.files.paths import shown
from interpulse.importing.parameters import Values

_SECTIONS = (
    *("part", "geometry", "ecc", "ftl", "schedule", "suspend.program", "suspend.erase", "cache", "read-cache"),
    *("firmware", "host", "link", "power", "errors", "faults", "precondition", "run", "report"),
)
"""Order of the sections in a file."""


@dataclass(frozen=True)
class Setting:
    """A key with its value, and where the value comes from."""

    key: str
    value: Any
    source: str


@dataclass
class Draft:
    """A configuration that an import writes.

    `settings` are its keys; `used` says which parameters they come from; `reasons` why a parameter that usually has a
    counterpart has none in this configuration; `notes` are remarks for the user.
    """

    name: str
    title: str
    settings: dict[str, Setting] = field(default_factory=dict)
    used: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    reasons: dict[tuple[str, str], str] = field(default_factory=dict)
    constants: list[tuple[str, str]] = field(default_factory=list)
    """Keys that come from the program itself or from a choice of ours, each with the reason."""
    notes: list[str] = field(default_factory=list)

    def set(self, key: str, value: Any, values: Values, *names: str) -> None:  # noqa: ANN401 - any setting
        """Sets a key from parameters of a section.

        Raises:
            ConfigError: another parameter has set it before.
        """
        if key in self.settings:
            raise ConfigError(f"{values.file}: {', '.join(names)}: {key} has a value from {self.settings[key].source}")
        self.settings[key] = Setting(key, value, "; ".join(values.place(name) for name in names))
        self.link(key, values, *names)

    def link(self, key: str, values: Values, *names: str) -> None:
        """Records that a key depends on further parameters."""
        for name in names:
            keys = self.used.setdefault((values.section, name), [])
            if key not in keys:
                keys.append(key)

    def assume(self, key: str, value: Any, why: str) -> None:  # noqa: ANN401 - any setting
        """Sets a key that no parameter decides."""
        self.settings[key] = Setting(key, value, why)
        self.constants.append((key, why))

    def unused(self, values: Values, reason: str, *names: str) -> None:
        """Records why parameters have no counterpart in this configuration."""
        for name in names:
            self.reasons[values.section, name] = reason

    def note(self, text: str) -> None:
        """Adds a remark, once."""
        if text not in self.notes:
            self.notes.append(text)

    def apply(self, values: Values) -> None:
        """Sets the keys of all parameters whose declaration has a conversion."""
        for parameter in values:
            if parameter.write is not None and (values.given(parameter.name) or parameter.default is not None):
                self.set(parameter.keys[0], parameter.write(values[parameter.name]), values, parameter.name)

    def toml(self) -> str:
        """The configuration as TOML, each key with its source."""
        return "\n".join(self._lines()) + "\n"

    def check(self, path: str) -> None:
        """Resolves the configuration as a run does.

        Args:
            path: file that the configuration is written to; a trace is looked for beside it.

        Raises:
            ConfigError: a value has no counterpart here; the message names the parameter that it comes from.
        """
        try:
            Config.from_toml(self.toml(), path=path).resolve()
        except ConfigError as error:
            raise ConfigError(self._explained(str(error), path)) from None

    def _lines(self) -> list[str]:
        lines = ["config_version = 1", f"title = {literal(shown(self.title))}"]
        lines += [_line(each.key, each) for key, each in self.settings.items() if "." not in key]
        groups: dict[str, list[Setting]] = {}
        for each in self.settings.values():
            section, _, key = each.key.rpartition(".")
            if key != each.key:
                groups.setdefault(section, []).append(each)
        order = {name: place for place, name in enumerate(_SECTIONS)}
        for section in sorted(groups, key=lambda name: (order.get(name, len(order)), _number(name))):
            head = "[[flow]]" if section.startswith("flow.") else f"[{section}]"
            lines += ["", head, *(_line(each.key.rpartition(".")[2], each) for each in groups[section])]
        return lines

    def _explained(self, message: str, path: str) -> str:
        """A message about the written file in terms of the imported one."""
        rest = message.removeprefix(f"{path}:")
        number, _, text = rest.partition(":")
        if rest == message or not number.isdigit():
            text, sources = message, []
        else:
            lines, text = self._lines(), text.strip()
            key = lines[int(number) - 1].partition(" =")[0] if int(number) <= len(lines) else ""
            named = [
                each
                for each in self.settings.values()
                if re.search(rf"(?<![\w.-]){re.escape(each.key)}(?![\w.-])", text)
            ]
            sources = [each.source for each in named or self.settings.values() if named or each.key.endswith(f".{key}")]
        where = f" ({'; '.join(dict.fromkeys(sources[:3]))})" if sources else ""
        return f"{self.name}: no configuration of interpulse has these values{where}: {text}"


def _line(key: str, each: Setting) -> str:
    return f"{key} = {{ value = {literal(each.value)}, source = {literal(each.source)} }}"


def _number(section: str) -> tuple[str, int]:
    found = re.search(r"\d+", section)
    return (section.partition(".")[0], int(found[0]) if found else 0)

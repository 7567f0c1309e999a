"""Controls of the page: names, ranges, and their values as text, as links have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlencode

from interpulse._core import ConfigError
from interpulse.configuration.lists import listed

OPERATIONS = ("program", "erase")
"""Operations that are suspended."""

AUTOMATIC = "automatic"
"""The window that follows the speed of the machine."""

WINDOWS = (20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)
"""Windows in requests."""

_LONGEST = 20
"""Most characters of a value that is no choice."""


@dataclass(frozen=True, kw_only=True)
class Control:
    """One control: a choice, or a number within limits."""

    name: str
    """Name in links."""
    label: str
    choices: tuple[tuple[str, str], ...] = ()
    """Legal values of a choice, each with its text."""
    least: float = 0
    most: float = 0
    whole: bool = True
    optional: bool = False
    """Whether the field may be empty: no limit."""
    unit: str = ""
    slider: str = ""
    """Scale of the slider: `linear`, `log`, or empty for none."""

    def parsed(self, text: str) -> str:
        """The value in its canonical form.

        Raises:
            ConfigError: it is not legal here; the message names the control, the value seen and the legal ones.
        """
        text = text.strip()
        if self.choices:
            if text not in dict(self.choices):
                names = ", ".join(each or "empty" for each, _ in self.choices)
                raise ConfigError(f"{self.name}: seen {text[:80]!r}; expected one of {names}")
            return text
        if not text and self.optional:
            return ""
        number = _number(text, whole=self.whole)
        if number is None or not self.least <= number <= self.most:
            kind = "a whole number" if self.whole else "a number"
            empty = ", or nothing for no limit" * self.optional
            raise ConfigError(
                f"{self.name}: seen {text[:80]!r}; expected {kind} from {self.least:,} to {self.most:,}{empty}"
            )
        return f"{number}" if self.whole else f"{number:.10g}"


@cache
def controls() -> tuple[Control, ...]:
    """All controls in the order of the page."""
    lists = listed()
    parts = (("", "as configured"), *((each["name"], each["doc"]) for each in lists["parts"]))
    schemes = tuple((each["name"], each["doc"]) for each in lists["schemes"])
    suspension = [
        control
        for operation in OPERATIONS
        for control in (
            Control(name=operation, label="Scheme", choices=schemes),
            Control(name=f"{operation}-max", label="Most suspends", least=1, most=100_000, optional=True),
            Control(name=f"{operation}-interval", label="Minimum interval", most=1_000_000, whole=False, unit="µs"),
        )
    ]
    windows = ((AUTOMATIC, "automatic"), *((str(count), f"{count:,} requests") for count in WINDOWS))
    return (
        *suspension,
        Control(name="load", label="Load", choices=(("rate", "arrivals at a rate"), ("depth", "queue depth"))),
        Control(name="rate", label="Arrivals", least=100, most=2_000_000, unit="requests/s", slider="log"),
        Control(name="depth", label="Outstanding", least=1, most=1024, unit="requests", slider="log"),
        Control(name="read", label="Reads", most=100, whole=False, unit="%", slider="linear"),
        Control(name="part", label="Flash part", choices=parts),
        Control(
            name="op", label="Over-provisioning", least=1, most=200, whole=False, unit="% of capacity", slider="linear"
        ),
        Control(name="window", label="Window", choices=windows),
        Control(name="seed", label="Seed", most=2**64 - 1),
    )


def named(name: str) -> Control:
    """The control of this name.

    Raises:
        ConfigError: there is none.
    """
    for control in controls():
        if control.name == name:
            return control
    raise ConfigError(f"{name[:80]!r}: no control; expected one of {', '.join(each.name for each in controls())}")


def state_of(configured: Mapping[str, str], given: Iterable[tuple[str, str]]) -> tuple[dict[str, str], list[str]]:
    """Values of all controls: those given, otherwise the configured ones; and what is wrong with those refused."""
    state, wrong = dict(configured), []
    for name, text in given:
        try:
            state[name] = named(name).parsed(text)
        except ConfigError as error:
            wrong.append(str(error))
    return state, wrong


def query(configured: Mapping[str, str], state: Mapping[str, str]) -> str:
    """The query of a link that restores the state: only what differs from the configuration."""
    changed = {name: value for name, value in state.items() if value != configured[name]}
    return urlencode(changed)


def _number(text: str, *, whole: bool) -> float | int | None:
    """The number, or None; whole numbers keep all digits."""
    if len(text) > _LONGEST:
        return None
    try:
        return int(text) if whole and text.isascii() and text.isdigit() else None if whole else float(text)
    except ValueError:
        return None

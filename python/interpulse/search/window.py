"""Length of the measured window, and its extension for limits that need more requests."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from interpulse.sweeps.axes import Sets

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|ms|s)")


@dataclass(frozen=True)
class Window:
    """Measured window of a configuration.

    Attributes:
        key: the setting that ends the window; None if the flows end it.
        length: value of the setting.
        unit: of the value.
    """

    key: str | None
    length: float = 0.0
    unit: str = ""

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Window:
        """The window of a resolved configuration."""
        requests = values.get("run.requests", "not set")
        if requests.isdigit():
            return cls("run.requests", int(requests))
        match = _TIME.fullmatch(values.get("run.time", "not set"))
        return cls(None) if match is None else cls("run.time", float(match[1]), match[2])

    def sets(self, times: float) -> Sets:
        """The overrides that scale the window; empty for a factor of 1."""
        if self.key is None or times == 1:
            return ()
        if self.unit:
            return ((self.key, f"{self.length * times:.6g}{self.unit}"),)
        return ((self.key, str(max(1, round(self.length * times)))),)

    @property
    def scales(self) -> bool:
        """Whether the window can be extended: traces and flows with a number of requests end by themselves."""
        return self.key is not None

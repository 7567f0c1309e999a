"""Load of a configuration, and the overrides that scale it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from interpulse._core import ConfigError
from interpulse.sweeps.axes import Sets

DEEPEST = 65535
FASTEST = 1e9


@dataclass(frozen=True)
class Load:
    """Total load of all flows, scaled in proportion.

    Attributes:
        kind: `rate` (open arrivals), `depth` (closed loops) or `speed` (recorded times).
        at: the configured load: requests per second, outstanding requests, or a speed factor.
        shares: the setting of each flow with its share of the load.
    """

    kind: str
    at: float
    shares: tuple[tuple[str, float], ...]

    @classmethod
    def of(cls, values: Mapping[str, str], case: str) -> Load:
        """The load of a resolved configuration.

        Raises:
            ConfigError: no flow, or flows with different pacing.
        """
        found: dict[str, float] = {}
        kinds: dict[str, str] = {}
        for key, value in values.items():
            if match := re.fullmatch(r"flow\.(\d+)\.pacing", key):
                kind = {"open": "rate", "closed": "depth", "recorded": "speed"}[value]
                setting = f"flow.{match[1]}.{kind}"
                kinds[setting] = kind
                number = re.match(r"[\d.]+(?:e[+-]?\d+)?", values[setting])
                assert number is not None, values[setting]
                found[setting] = float(number[0])
        if len(set(kinds.values())) != 1:
            seen = ", ".join(f"{setting} = {values[setting]}" for setting in kinds) or "no flow"
            raise ConfigError(
                f"case {case}: seen {seen}; expected flows that are all open (pacing and rate), all closed (depth), or "
                "all recorded (speed): the load is what rises for all of them"
            )
        kind = next(iter(kinds.values()))
        total = max(found.values()) if kind == "speed" else sum(found.values())
        return cls(kind, total, tuple((setting, value / total) for setting, value in found.items()))

    @property
    def whole(self) -> bool:
        """Whether the load is an integer."""
        return self.kind == "depth"

    @property
    def unit(self) -> str:
        """The unit in messages."""
        return {"rate": "requests/s", "depth": "outstanding", "speed": "times the recorded speed"}[self.kind]

    @property
    def least(self) -> float:
        """Lower end of the search."""
        return float(len(self.shares)) if self.whole else self.at / 1024

    @property
    def most(self) -> float:
        """Upper end of the search."""
        cap = DEEPEST * len(self.shares) if self.whole else {"rate": FASTEST, "speed": 1e6}[self.kind]
        return min(cap, self.at * 1024)

    def tidy(self, load: float) -> float:
        """The nearest tried load: an integer, or four digits."""
        bound = min(max(load, self.least), self.most)
        return float(round(bound)) if self.whole else float(f"{bound:.4g}")

    def between(self, low: float, high: float) -> float:
        """The geometric mean of two loads, for depths the arithmetic one."""
        return self.tidy(math.sqrt(low * high)) if not self.whole else float(int(low + high) // 2)

    def sets(self, load: float) -> Sets:
        """The overrides for a load."""
        if self.whole:
            return tuple((setting, str(max(1, round(share * load)))) for setting, share in self.shares)
        unit = "/s" if self.kind == "rate" else ""
        return tuple((setting, f"{share * load:.6g}{unit}") for setting, share in self.shares)

    def said(self, load: float | None) -> str:
        """Text of a load with its unit."""
        if load is None:
            return "-"
        figure = f"{load:,.0f}" if load >= 1000 or self.whole else f"{load:.4g}"
        return f"{figure} {self.unit}"

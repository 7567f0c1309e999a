"""One die driven by hand: operations that arrive at chosen instants, and what the die did when."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from interpulse import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse._core import Plan

HORIZON_NS = 1_000_000_000
"""A second: beyond any program or erase that makes progress."""


@dataclass(frozen=True)
class Span:
    """A stretch of time, in ns, during which the die was in one state."""

    start: int
    end: int
    state: str
    """`idle`, `command`, `sensing`, `out-wait`, `out`, `load-wait`, `load`, `pulsing`, `stopping`, `entering`,
    `suspended` or `resuming`."""
    operation: str | None
    """The program or erase on the die, running or suspended."""

    @property
    def length(self) -> int:
        """Its length in ns."""
        return self.end - self.start


@dataclass(frozen=True)
class Operation:
    """What became of an operation; instants in ns."""

    kind: str
    arrived: int
    done: int | None
    """None if it was not complete before the horizon."""


@dataclass(frozen=True)
class Timeline:
    """What the die did, span by span, and every operation in the order of arrival."""

    spans: list[Span]
    operations: list[Operation]


def drive(
    plan: Plan,
    arrivals: Sequence[tuple[str, int]],
    *,
    probe: tuple[int, int] | None = None,
    seed: int = 1,
    horizon_ns: int = HORIZON_NS,
) -> Timeline:
    """Drives one die of the first case of a plan.

    Args:
        plan: a resolved configuration; its part, scheduling and suspension count, its workload does not.
        arrivals: operations (`read`, `gc-read`, `program`, `gc-program`, `erase`) with their instants in ns.
        probe: reads so many ns after the first pulse of a program or erase, and after each command to resume it.
        seed: selects the sample of dies, where the part's word lines or blocks differ.
        horizon_ns: nothing is simulated beyond this instant.

    Raises:
        ConfigError: there is no such operation, or the horizon is out of range.
    """
    told = json.loads(_core.die_timeline(plan, arrivals, probe, seed, horizon_ns))
    return Timeline(
        spans=[Span(*span) for span in told["spans"]],
        operations=[Operation(each["kind"], each["arrived_ns"], each["done_ns"]) for each in told["operations"]],
    )

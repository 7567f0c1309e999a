"""Single die with a suspension scheme: its timeline when reads arrive during a program or an erase.

The die is that of the simulator, with its queue, bus and decoder; only the drive above it is missing. Times are whole
nanoseconds, with a scheme from the instant at which the operation arrives.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import interpulse._core as _core
from interpulse._core import ConfigError, Plan
from interpulse.configuration.lists import listed
from interpulse.flash.parts import one_die

OPERATIONS = ("program", "erase")
"""Operations that a scheme suspends."""

LONGEST_NS = 10_000_000_000
"""The latest arrival."""

HORIZON_NS = 60_000_000_000
"""Nothing is simulated beyond this: a scheme may starve its operation for as long as reads come."""

PULSES = frozenset({"pulse", "reset", "verify"})
"""The phases of a train."""

READING = frozenset({"sense", "predict", "out"})
"""The phases of a read on its die, besides its command."""

INSTANTS = 500
"""Arrival instants behind the figures of `Costs`."""


@dataclass(frozen=True)
class Phase:
    """A stretch of time during which the die did one thing."""

    from_ns: int
    to_ns: int
    what: str
    """`pulse`, `verify`, `sense`, ...: `interpulse_flash::phases` has them all."""
    operation: str | None
    """The program or erase on the die, running or suspended."""
    running_on: bool
    """The train runs on to a stop that has been asked for."""
    again: bool
    """This part of the train had been done before, and a stop threw it away."""

    @property
    def length_ns(self) -> int:
        """Its length."""
        return self.to_ns - self.from_ns


@dataclass(frozen=True)
class Span:
    """A stretch of time during which the die was in one state."""

    from_ns: int
    to_ns: int
    state: str
    """`idle`, `command`, `sensing`, `predicting`, `out-wait`, `out`, `retrying`, `load-wait`, `load`, `pulsing`,
    `stopping`, `entering`, `suspended` or `resuming`."""
    operation: str | None
    """The program or erase on the die, running or suspended."""

    @property
    def length_ns(self) -> int:
        """Its length."""
        return self.to_ns - self.from_ns


@dataclass(frozen=True)
class Operation:
    """What became of a program, an erase or a read."""

    kind: str
    arrived_ns: int
    done_ns: int | None
    """`None` if it was not done when the simulation ended."""


class Timeline:
    """What happened on the die."""

    def __init__(self, seen: dict[str, Any]) -> None:
        self._raw = seen

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """What it did."""
        return tuple(Phase(*phase) for phase in self._raw["phases"])

    @cached_property
    def spans(self) -> tuple[Span, ...]:
        """The states that it was in."""
        return tuple(Span(*span) for span in self._raw["spans"])

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """What became of each, by its arrival; the long operation that a `Die` runs comes first."""
        seen = self._raw["operations"]
        return tuple(Operation(each["kind"], each["arrived_ns"], each["done_ns"]) for each in seen)

    @property
    def suspends(self) -> int:
        """How often programs and erases were suspended."""
        return int(self._raw["suspends"])

    @property
    def reads(self) -> list[Operation]:
        """The reads by their arrival."""
        return [operation for operation in self.operations if operation.kind == "read"]

    def spent_ns(self, *what: str) -> int:
        """The time of all phases of these kinds."""
        return sum(phase.length_ns for phase in self.phases if phase.what in what)

    @property
    def again_ns(self) -> int:
        """Time of the train that was done again because a stop had thrown it away."""
        return sum(phase.length_ns for phase in self.phases if phase.again)

    @property
    def ran_on_ns(self) -> int:
        """Time for which the train ran on to a stop that had been asked for."""
        return sum(phase.length_ns for phase in self.phases if phase.running_on)


def drive(
    plan: Plan,
    arrivals: Sequence[tuple[str, int]],
    *,
    probe: tuple[int, int] | None = None,
    seed: int = 1,
    horizon_ns: int = HORIZON_NS,
) -> Timeline:
    """Drives one die of the first case of a plan by hand.

    Args:
        plan: a resolved configuration; its part, scheduling and suspension count, its workload does not.
        arrivals: operations (`read`, `gc-read`, `program`, `gc-program`, `erase`) with their instants in ns.
        probe: reads so many ns after the first pulse of a program or erase, and after each command to resume it.
        seed: selects the sample of dies, where the part's word lines or blocks differ.
        horizon_ns: nothing is simulated beyond this instant.

    Raises:
        ConfigError: there is no such operation, or the horizon is out of range.
    """
    first, then = probe or (None, None)
    return Timeline(json.loads(_core.die_timeline(plan, arrivals, first, then, seed, horizon_ns)))


@dataclass(frozen=True)
class Costs:
    """What a read waits and what its stop costs, over reads that arrive at evenly spread instants of the operation.

    All in ns. The means from `longer_ns` on are over the arrivals that suspended the operation.
    """

    wait_mean_ns: float
    wait_worst_ns: int
    suspended: int
    """How many of the arrivals suspended the operation."""
    longer_ns: float
    """How much longer the operation took."""
    parts_ns: dict[str, float]
    """What that consists of: `read`, `discharge`, `entry`, `again`, `ramp`, `reload`, `resume`."""


class Die:
    """One die of a part whose programs or erases are suspended by a scheme."""

    def __init__(self, part: str, operation: str, scheme: str, sets: Sequence[tuple[str, str]] = ()) -> None:
        """Resolves the configuration.

        Args:
            part: a part preset (`interpulse list parts`), or a part file.
            operation: `program` or `erase`: what runs on the die.
            scheme: how it is suspended (`interpulse list schemes`).
            sets: further settings, as `--set` takes them.

        Raises:
            ConfigError: there is no such part, operation or scheme, or a setting is not legal.
        """
        _one_of("operation", operation, OPERATIONS)
        _one_of("scheme", scheme, [each["name"] for each in listed()["schemes"]])
        taken = {"part.preset": "part", "part.file": "part", f"suspend.{operation}.scheme": "scheme"}
        for key, _ in sets:
            if key in taken:
                raise ConfigError(f"{key} is not for --set here: it is the {taken[key]} that this command is given")
        self.part = part
        self.operation = operation
        self.scheme = scheme
        self.sets = tuple(sets)
        config = one_die(part)
        for key, value in [(f"suspend.{operation}.scheme", scheme), *sets]:
            config.set(key, value)
        self._plan = config.resolve()

    def run(self, reads: Iterable[int] = (), writes: Iterable[int] = ()) -> Timeline:
        """Runs the operation from time 0, with reads (of one unit) and host programs that arrive at these instants.

        Raises:
            ConfigError: an instant is negative or later than 10 s.
        """
        others = [("read", at) for at in reads] + [("program", at) for at in writes]
        for kind, at in others:
            if not 0 <= at <= LONGEST_NS:
                raise ConfigError(f"a {kind} at {at} ns: it has to arrive within 0 and {LONGEST_NS} ns")
        return drive(self._plan, [(self.operation, 0), *others])

    @cached_property
    def read_alone_ns(self) -> int:
        """Latency of a read on an idle die."""
        done = drive(self._plan, [("read", 0)]).operations[0].done_ns
        return done or 0

    @cached_property
    def page_type(self) -> str:
        """Page type of the reads, the first of a word line; empty with one bit per cell."""
        bits = next(entry.value for entry in self._plan.entries() if entry.key == "part.bits-per-cell")
        return "" if bits == "1" else "lsb"

    @cached_property
    def alone(self) -> Timeline:
        """The timeline of the operation without reads."""
        return self.run()

    @cached_property
    def alone_ns(self) -> int:
        """Length of the operation without reads."""
        return self.alone.operations[0].done_ns or 0

    def two_reads(self) -> list[int]:
        """Arrivals that show a scheme: in the middle of an early pulse, then in the middle of a late verify."""
        pulses = [phase for phase in self.alone.phases if phase.what == "pulse"]
        if not pulses:
            return [0]
        reads = [_middle(pulses[len(pulses) // 4])]
        verifies = [
            phase
            for phase in self.run(reads).phases
            if phase.what == "verify" and not phase.again and phase.from_ns >= max(reads[0], 6 * self.alone_ns // 10)
        ]
        return reads + [_middle(phase) for phase in verifies[:1]]

    def costs(self) -> Costs:
        """Lets one read arrive at each of `INSTANTS` evenly spread instants of the operation, a run for each."""
        waits: list[int] = []
        stops: list[tuple[int, Timeline]] = []
        for k in range(INSTANTS):
            at = (2 * k + 1) * self.alone_ns // (2 * INSTANTS)
            seen = self.run([at])
            waits.append(waited_ns(self, seen.reads[0]) or 0)
            if seen.suspends:
                stops.append(((seen.operations[0].done_ns or 0) - self.alone_ns, seen))
        count = max(len(stops), 1)

        def mean(of: Iterable[int]) -> float:
            return sum(of) / count

        read_ns = self._read_on_die_ns
        parts = {"read": float(read_ns) if stops else 0.0, "again": mean(seen.again_ns for _, seen in stops)}
        for what in ("discharge", "entry", "ramp", "reload", "resume"):
            # Between slices time passes without reads, too.
            parts[what] = mean(seen.spent_ns(what) - self.alone.spent_ns(what) for _, seen in stops)
        return Costs(
            wait_mean_ns=sum(waits) / INSTANTS,
            wait_worst_ns=max(waits),
            suspended=len(stops),
            longer_ns=mean(longer for longer, _ in stops),
            parts_ns=parts,
        )

    @cached_property
    def _read_on_die_ns(self) -> int:
        """How long a read occupies its die: command, sensing, data out."""
        return drive(self._plan, [("read", 0)]).phases[-1].to_ns


def waited_ns(die: Die, read: Operation) -> int | None:
    """How much longer a read took than on an idle die; None if it did not complete."""
    return None if read.done_ns is None else read.done_ns - read.arrived_ns - die.read_alone_ns


def _middle(phase: Phase) -> int:
    return (phase.from_ns + phase.to_ns) // 2


def _one_of(what: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise ConfigError(f"there is no {what} '{name}'; one of {', '.join(names)}")

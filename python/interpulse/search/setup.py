"""Set-up of a scheme search: runs without the configured schemes, cases, windows, schemes that the part allows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from interpulse._core import ConfigError
from interpulse.configuration.config import Config
from interpulse.configuration.values import whole
from interpulse.search.candidates import (
    OPERATIONS,
    Way,
    check_names,
    safe_point_entry,
    ways,
    without_suspension,
)
from interpulse.search.judge import BEYOND, MOST_LONGER, check_enough
from interpulse.search.limits import AnyLimit
from interpulse.search.traffic import check_traffic
from interpulse.search.window import Window
from interpulse.sweeps.axes import Sets
from interpulse.sweeps.engine import ProgressObserver
from interpulse.sweeps.simulations import Simulations, choose, folder_of

ERASES = 20
"""Erases of a window that the configured one is not shortened below."""


class Found(Protocol):
    """Result of a search."""

    simulated: int
    kept: int
    path: Path | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""


class Setup:
    """What every search of schemes starts with.

    Attributes:
        bare: runs of the configuration without its schemes.
        own: runs of the configuration as it is; the same object where it has no schemes.
        cases: the overrides of each chosen case for `bare`.
        own_cases: the same for `own`.
        values: the resolved settings of each case.
        windows: the measured window of each case.
    """

    def __init__(
        self, bare: Simulations, own: Simulations, limits: Sequence[AnyLimit], cases: Sequence[str] | None
    ) -> None:
        self.bare, self.own = bare, own
        self.cases = choose(bare.cases, cases)
        self.own_cases = choose(own.cases, cases)
        self.values = {name: bare.values(sets) for name, sets in self.cases.items()}
        check_traffic(limits, self.values.values(), bare.path)
        self.windows = {name: Window.of(values) for name, values in self.values.items()}

    def legal(self, sets: Sets) -> str | None:
        """Why overrides cannot be used in one of the cases, or None."""
        for own in self.cases.values():
            try:
                self.bare.plan((*own, *sets))
            except ConfigError as error:
                return str(error).split(": ", 1)[-1]
        return None

    def ways(
        self, limits: Sequence[AnyLimit], cap: int | None, without: Sequence[str]
    ) -> tuple[dict[str, list[Way]], dict[str, dict[str, str]]]:
        """The variants of each operation, and the refused schemes with reasons.

        Args:
            limits: as for `candidates.ways`.
            cap: maximum number of suspensions of one operation; None: as configured.
            without: schemes that the part does not support.
        """
        found: dict[str, list[Way]] = {}
        refused: dict[str, dict[str, str]] = {}
        for operation in OPERATIONS:
            every = self.own.cases.values()
            configured = {self.own.values(sets).get(f"suspend.{operation}.max-suspends") for sets in every}
            most = max((int(each) for each in configured if each is not None and each.isdigit()), default=None)
            plans = [self.own.plan(sets) for sets in every]
            entry = next((each for plan in plans if (each := safe_point_entry(operation, plan.entries()))), None)
            found[operation], refused[operation] = ways(
                operation, self.legal, limits, cap if cap is not None else most, without, entry
            )
        return found, refused

    def lengths(self, limits: Sequence[AnyLimit]) -> dict[str, float]:
        """The window that the limits need, as a multiple of the configured one, by case, from one run of each.

        Raises:
            ConfigError: a percentile has too few requests beyond it even in the longest window.
            RunError: a simulation failed.
        """
        names = list(self.own_cases)
        asked = [self.own.with_seed(self.own_cases[name], 0) for name in names]
        found = {}
        for name, raw in zip(names, self.own.results(asked), strict=True):
            scales = self.windows[name].scales
            check_enough(name, raw, limits, scales=scales)
            beyond = [each for limit in limits if (each := limit.beyond(raw)) is not None and each > 0]
            times = min(MOST_LONGER, BEYOND / min(beyond, default=BEYOND))
            # Fewer erases would not show in what erase schemes differ, and more than configured may not exist.
            erases = raw.get("nand", {}).get("erases", 0)
            times = max(times, min(1.0, ERASES / erases)) if erases else times
            # Without a percentile there is no lower bound on the window.
            found[name] = times if scales else 1.0
        return found

    def store(self, found: Found, name: str) -> None:
        """Counts the simulations of a search in its result, and writes it. Raises RunError if that fails."""
        both = {id(each): each for each in (self.bare, self.own)}.values()
        found.simulated, found.kept = sum(each.simulated for each in both), sum(each.kept for each in both)
        found.path = self.own.write(name, (json.dumps(found.to_dict(), indent=1) + "\n").encode())


@contextmanager
def opened(
    given: Config,
    limits: Sequence[AnyLimit],
    observer: ProgressObserver,
    *,
    out: str | PathLike[str] | None,
    cases: Sequence[str] | None,
    on: object,
    jobs: int | None,
) -> Iterator[Setup]:
    """A set-up whose workers stop at the end. Raises ConfigError if the configuration or a limit cannot be used."""
    given.resolve()
    bare = without_suspension(given)
    with ExitStack() as ends:
        where = folder_of(given, out)
        own = ends.enter_context(Simulations(given, where, observer, on=on, jobs=jobs))
        changed = (bare.text, bare.sets) != (given.text, given.sets)
        free = ends.enter_context(Simulations(bare, where, observer, on=on, jobs=jobs)) if changed else own
        yield Setup(free, own, limits, cases)


def read_part_limits(
    seeds: object, max_suspends: object, without: str | Sequence[str]
) -> tuple[int, int | None, Sequence[str]]:
    """Reads the number of seeds, the part's limit of suspensions and the schemes that it lacks. Raises ConfigError."""
    count = whole("seeds", seeds, "a number of seeds", 2, 1001)
    cap = None if max_suspends is None else whole("max_suspends", max_suspends, "a number of suspensions", 1)
    lacks = [without] if isinstance(without, str) else without
    check_names(lacks)
    return count, cap, lacks

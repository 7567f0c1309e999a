"""Simulation of the current settings: a short window at once, a longer one while nobody changes anything."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock
from typing import Any, Self

import interpulse._core as _core
from interpulse._core import Plan
from interpulse.explore.base import SHORT_WARMUP, WARMUP, Base, Setup
from interpulse.explore.controls import AUTOMATIC, WINDOWS
from interpulse.files.cache import Cache
from interpulse.files.json_reader import parsed
from interpulse.logs.columns import Rows
from interpulse.logs.options import timeline_record

POLL_S = 0.01
"""How long a thread waits between two looks at a run: also the longest delay of a newer change."""

FIRST_S = 0.1
"""Time that the first window may take, as far as the speed is known."""

LONGER_S = 2.0
"""Time that the longer window may take."""

LONGEST = 500_000
"""Requests of the longest automatic window: of 75 % reads some 40 lie beyond p99.99."""

ASSUMED_PER_S = 600_000.0
"""Requests per second before anything was measured."""

MOST_KEPT = 16
"""Results of cases without suspension that are kept."""

SNAPSHOT_BYTES = 1 << 30
"""Limit of the snapshots of drives with another part or over-provisioning; their folder is deleted at the end."""

LONGEST_STRETCH_NS = 20_000_000
"""Of a request that takes longer the end is followed."""

_KEPT = (
    *("case", "seed", "iops", "latency_us", "tail_blame", "read_wait_us", "power", "nand", "ftl", "steady"),
    *("histogram_us", "host_requests", "simulated_s", "config_hash", "error"),
)
"""Keys of a result that the page shows."""


class StaleError(Exception):
    """A newer change has replaced this one."""


@dataclass(frozen=True)
class Outcome:
    """Result of a window."""

    setup: Setup
    cases: list[dict[str, Any]]
    """Of each case of the setup, in its order."""
    slowest: dict[str, Any] | None
    """The slowest read of the last case, with what it waited for in ns."""
    notes: list[str]
    took_s: float
    longer: bool
    """Whether a longer window follows."""


@dataclass
class Simulator:
    """Simulations of all pages of a server, on as many threads as there are cores."""

    base: Base
    closing: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self._jobs = len(os.sched_getaffinity(0))
        self.pool = ThreadPoolExecutor(self._jobs, thread_name_prefix="interpulse-explore")
        self._lock = Lock()
        self._kept: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._per_s = ASSUMED_PER_S
        self._folder = tempfile.TemporaryDirectory(prefix="interpulse-explore-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Stops what runs, and deletes the snapshots."""
        self.closing.set()
        self.pool.shutdown(wait=True, cancel_futures=True)
        self._folder.cleanup()

    def windows(self, state: Mapping[str, str]) -> list[int]:
        """The windows to simulate, the first of which takes little time."""
        if state["window"] != AUTOMATIC:
            return [int(state["window"])]
        first, longer = self._window(FIRST_S, SHORT_WARMUP), self._window(LONGER_S, WARMUP)
        return [first, longer] if longer > first else [first]

    def _window(self, seconds: float, warmup: int) -> int:
        fitting = [count for count in WINDOWS if count <= LONGEST and count + warmup <= seconds * self._per_s]
        return fitting[-1] if fitting else WINDOWS[0]

    def run(
        self,
        setup: Setup,
        state: Mapping[str, str],
        is_stale: Callable[[], bool],
        progress: Callable[[str], None],
        *,
        longer: bool = False,
    ) -> Outcome:
        """Simulates the cases of a setup.

        Raises:
            ConfigError: the simulator refuses the configuration.
            RunError: the run failed.
            StaleError: `is_stale` or the end of the server stopped it.
        """
        began = time.perf_counter()
        plan = setup.config().resolve()
        numbers = list(range(len(setup.cases)))
        with self._lock:
            known = self._kept.get(setup.without)
        if known is not None and len(numbers) > 1:
            numbers = numbers[1:]
        records = ["{}"] * (len(numbers) - 1) + [json.dumps({"slowest": 1, "kind": "read"})]
        texts, rows, notes = self._simulate(plan.only(numbers), records, state, is_stale, progress)
        found = [_trimmed(case) for case in texts]
        if not any(line.startswith("preconditioned state") for line in notes):  # Otherwise a state was built, too.
            self._learn(found, time.perf_counter() - began)
        if numbers[0] == 0:
            self._keep(setup.without, found[0])
        elif known is not None:
            found.insert(0, known)
        slowest = next((_first(each) for each in rows if each.table == "slowest" and each.count), None)
        return Outcome(setup, found, slowest, notes, time.perf_counter() - began, longer)

    def follow(self, outcome: Outcome, state: Mapping[str, str], is_stale: Callable[[], bool]) -> list[Rows]:
        """What dies did around the slowest read: the same run again, up to its end. Raises as `run`."""
        if outcome.slowest is None:
            return []
        plan = outcome.setup.config().resolve().only([len(outcome.setup.cases) - 1])
        arrival = outcome.slowest["arrival_ns"]
        stretch = (arrival, arrival + outcome.slowest["latency_ns"])
        record = timeline_record([stretch], LONGEST_STRETCH_NS)
        _, rows, _ = self._simulate(plan, [record], state, is_stale, lambda _: None, figures=False)
        return [each for each in rows if each.table.startswith("timeline.")]

    def _cache(self, state: Mapping[str, str]) -> Cache:
        """Snapshots of the configured drive are the user's; those of changed ones are temporary."""
        if self.base.shapes_state(state):
            return Cache(place=str(Path(self._folder.name)), limit_bytes=SNAPSHOT_BYTES)
        return Cache.default()

    def _simulate(
        self,
        plan: Plan,
        records: Sequence[str],
        state: Mapping[str, str],
        is_stale: Callable[[], bool],
        progress: Callable[[str], None],
        *,
        figures: bool = True,
    ) -> tuple[list[dict[str, Any]], list[Rows], list[str]]:
        cache = self._cache(state)
        handle = _core.start(plan, self._jobs, cache.place, cache.limit_bytes, False, list(records))
        rows: list[Rows] = []
        reported, ended = time.perf_counter(), False
        try:
            while not ended:
                ended = handle.wait(POLL_S)
                while (raw := handle.take_rows(0)) is not None:
                    rows.append(Rows.of(raw))
                if is_stale() or self.closing.is_set():
                    raise StaleError
                if time.perf_counter() - reported > 0.5:
                    reported = time.perf_counter()
                    progress(_phase(handle.progress()))
        finally:
            handle.stop()  # No effect after the end.
        texts = handle.result()  # Raises what went wrong.
        cases = [case["seeds"][0] | {"case": case["case"]} for case in parsed(texts)["cases"]] if figures else []
        return cases, rows, list(handle.notes())

    def _learn(self, cases: Sequence[Mapping[str, Any]], took_s: float) -> None:
        """Adapts the speed: requests of a case, those of the warm-up too, per second of waiting."""
        requests = max(case.get("host_requests", 0) + case.get("warmed", 0) for case in cases)
        with self._lock:
            self._per_s += 0.5 * (requests / max(took_s, 1e-3) - self._per_s)

    def _keep(self, text: str, case: dict[str, Any]) -> None:
        with self._lock:
            self._kept[text] = case
            self._kept.move_to_end(text)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)


def _trimmed(case: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: case[key] for key in _KEPT if key in case}
    return kept | {"warmed": case.get("warmup", {}).get("host_requests", 0)}


def _first(rows: Rows) -> dict[str, Any]:
    return dict(zip(rows.columns, rows.values(*rows.columns)[0], strict=True))


def _phase(cases: Sequence[_core.Progress]) -> str:
    """How far the slowest case is."""
    going = [case for case in cases if case.phase != "done"]
    if not going:
        return "ending"
    case = going[0]
    share = f" {100 * case.done / case.total:.0f} %" if case.total else ""
    return f"{case.phase}{share}"

"""A stand-in for the compiled core: the same names, answers made up on the spot.

Tests of how the face behaves (tables, files, exit codes, Ctrl-C) use it, since the real core cannot be told to fail.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Entry:
    """As `_core.Entry`."""

    key: str
    value: str
    origin: str
    doc: str


@dataclass(frozen=True)
class Progress:
    """As `_core.Progress`."""

    case: str
    phase: str
    done: int
    total: int
    unit: str


@dataclass
class FakeCore:
    """What the stand-in answers, and what it was asked."""

    result: dict[str, Any] = field(default_factory=dict)
    duration_s: float = 0.0
    config_error: str | None = None
    run_error: tuple[str, str] | None = None
    """The name of the exception and its message."""
    partial: bool = False
    """Whether the error carries the prepared result."""
    notes: list[str] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    starts: list[dict[str, Any]] = field(default_factory=list)

    def resolve(
        self,
        text: str,
        path: str,
        sets: Sequence[tuple[str, str]],
        trace: str | None,
        seed: int | None,
        skip_bad_rows: bool,
        trace_keys: Sequence[tuple[str, str]] = (),
    ) -> Plan:
        """As `_core.resolve`."""
        if self.config_error is not None:
            from interpulse import ConfigError

            raise ConfigError(self.config_error)
        asked = {"text": text, "path": path, "sets": list(sets), "trace": trace, "seed": seed}
        keys = {"trace_keys": list(trace_keys)} if trace_keys else {}
        self.requests.append(asked | {"skip_bad_rows": skip_bad_rows} | keys)
        return Plan(self, [Entry(key, value, "--set", "an override") for key, value in sets])

    def start(self, plan: Plan, jobs: int, cache_dir: str | None, cache_limit: int, no_cache: bool) -> Handle:
        """As `_core.start`."""
        self.starts.append({"jobs": jobs, "cache_dir": cache_dir, "limit": cache_limit, "no_cache": no_cache})
        return Handle(plan.core, time.monotonic() + self.duration_s)

    def lists(self) -> str:
        """As `_core.lists`."""
        one = [{"name": "first", "doc": "what it is"}]
        policies = [{"kind": "gc", "name": "greedy", "doc": "fewest valid pages"}]
        lists = {"parts": one, "drives": one, "schemes": one, "policies": policies, "twins": one, "formats": one}
        lists["error-tables"] = one
        lists["counters"] = [{"kind": "counters.ftl", "name": "gc_runs", "unit": "blocks", "doc": "victims chosen"}]
        return json.dumps(lists)


@dataclass
class Plan:
    """As `_core.Plan`."""

    core: FakeCore
    shown: list[Entry]

    @property
    def config_hash(self) -> str:
        """A fixed hash."""
        return "0123456789abcdef"

    @property
    def case_names(self) -> list[str]:
        """The names of the prepared result's cases."""
        return [case["case"] for case in self.core.result["cases"]]

    def entries(self) -> list[Entry]:
        """One entry that is always there, then the overrides."""
        return [Entry("part", "a4-tlc", "examples/x.toml:3", "the flash part"), *self.shown]


@dataclass
class Handle:
    """As `_core.Handle`."""

    core: FakeCore
    end: float
    stopped: bool = False

    def wait(self, timeout_s: float) -> bool:
        """Sleeps until the end or the timeout."""
        left = self.end - time.monotonic()
        if not self.stopped and left > 0:
            time.sleep(min(left, timeout_s))
        return self.stopped or time.monotonic() >= self.end

    def progress(self) -> list[Progress]:
        """Halfway, always."""
        return [Progress(case["case"], "run", 50, 100, "requests") for case in self.core.result["cases"]]

    def notes(self) -> list[str]:
        """The prepared notes."""
        return list(self.core.notes)

    def ended(self) -> list[tuple[int, str]]:
        """Nothing: no test of the face alone keeps single cases."""
        return []

    def stop(self) -> None:
        """Ends the waiting."""
        self.stopped = True

    def result(self) -> str:
        """The prepared result, marked when it was cut short, or the prepared error."""
        import interpulse

        if self.core.run_error is not None:
            name, message = self.core.run_error
            error = getattr(interpulse, name)(message)
            if self.core.partial:
                error.partial = json.dumps(self.core.result)
            raise error
        early = self.stopped and time.monotonic() < self.end
        if not early:
            return json.dumps(self.core.result)
        stopped = json.loads(json.dumps(self.core.result)) | {"interrupted": True}
        stopped["cases"][-1]["seeds"][-1]["interrupted"] = True
        return json.dumps(stopped)


def replace(core: FakeCore) -> None:
    """Puts the stand-in's functions into the core module for the rest of this process."""
    from interpulse import _core

    vars(_core).update(resolve=core.resolve, start=core.start, lists=core.lists)


def main() -> None:
    """The command line on a stand-in for tests that need a process of its own.

    The first argument is a JSON object with fields of `FakeCore`; the rest goes to the command line.
    """
    from tests.sample import two_cases

    settings = json.loads(sys.argv[1])
    replace(dataclasses.replace(FakeCore(result=two_cases()), **settings))
    from interpulse.cli import main as run_command_line

    run_command_line(sys.argv[2:])


if __name__ == "__main__":
    main()

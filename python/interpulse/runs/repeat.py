"""Plan for several seeds of a configuration: all cases of all seeds, so that they run in parallel."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError, Plan
from interpulse.configuration.cases import positions
from interpulse.configuration.config import Config
from interpulse.configuration.values import toml
from interpulse.runs.result import Result

_LAST_SEED = 2**64 - 1


@dataclass(frozen=True)
class Repeated:
    """A plan of all seeds."""

    plan: Plan
    seeds: Sequence[int]
    cases: Sequence[str]

    def results(self, whole: Result) -> list[Result]:
        """The result of each seed, in the order of `seeds`; cases have the names of the configuration.

        Seeds without results, as after an interruption, have cases without figures.
        """
        raw = whole.document
        count = len(self.cases)
        # The plan has the cases of each seed one after another, under names of their own.
        for at, case in enumerate(raw["cases"]):
            case["case"] = self.cases[at % count]
        parts = (raw["cases"][k * count : (k + 1) * count] for k in range(len(self.seeds)))
        return [Result({**raw, "cases": part}) for part in parts]


def plan(
    config: Config,
    repeats: int,
    *,
    seed: int | None,
    trace: Path | str | None,
    skip_bad_rows: bool,
    cases: Sequence[str] | None = None,
) -> Repeated:
    """Resolves a configuration for several seeds: its own, or `seed`, and those that follow.

    Args:
        config: what to run.
        repeats: how many seeds, at least one.
        seed: the first one; the configured one unless given.
        trace: as `Config.resolve` takes it.
        skip_bad_rows: as `Config.resolve` takes it.
        cases: names of cases; None for all.

    Raises:
        ConfigError: the configuration cannot be used, there is no such case, or it says itself which case has which
            seed.
    """
    once = config.resolve(trace=trace, seed=seed, skip_bad_rows=skip_bad_rows)
    names = once.case_names
    chosen = positions(names, cases)
    first = next(int(entry.value) for entry in once.entries() if entry.key == "seed")
    if first + repeats - 1 > _LAST_SEED:
        raise ConfigError(f"seed {first} and the {repeats - 1} after it: the last seed is {_LAST_SEED}")
    seeds = [*range(first, first + repeats)]
    if any(key.strip().split(".")[0] == "case" for key, _ in config.sets):
        raise ConfigError("--repeat takes the cases as the file has them: put what --set changes in them into the file")
    given: list[dict[str, Any]] = tomllib.loads(config.text).get("case", [])
    for case in given:
        if any(text.partition("=")[0].strip() == "seed" for text in case.get("set", ())):
            raise ConfigError(f"case '{case['name']}' sets its own seed: --repeat gives every case the same ones")
    more = [_of_seed(case, each) for each in seeds[1:] for case in given]
    if not given:
        more = [_of_seed({"name": name}, each) for each in seeds for name in once.case_names]
    text = config.text + "".join(f"\n[[case]]\n{toml(case)}" for case in more)
    whole = Config.from_toml(text, path=config.path)
    for key, value in config.sets:
        # An override of all cases would win over the seeds that they set.
        if key.strip() != "seed":
            whole.set(key, value)
    for number, case in enumerate(given):
        whole.set(f"case.{number}.set", [*case.get("set", ()), f"seed={first}"])
    resolved = whole.resolve(trace=trace, skip_bad_rows=skip_bad_rows)
    if cases:
        # The cases of each seed follow each other.
        resolved = resolved.only([seed * len(names) + at for seed in range(repeats) for at in chosen])
    return Repeated(resolved, seeds, [names[at] for at in chosen])


def _of_seed(case: Mapping[str, Any], seed: int) -> dict[str, Any]:
    return {"name": f"{case['name']}, seed {seed}", "set": [*case.get("set", ()), f"seed={seed}"]}

"""Case of a study: a configuration, its overrides and its number of repetitions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from interpulse._core import Plan
from interpulse.configuration.config import Config, toml_value
from interpulse.configuration.values import Value
from interpulse.files.paths import digest

Sets: TypeAlias = "Mapping[str, Value]"
"""Overrides by their dotted keys."""

_SEED_BITS = 63


@dataclass(frozen=True)
class Case:
    """What is to be simulated.

    Attributes:
        name: unique in the study; the key of its results.
        config: the configuration that it shares with others, without `[[case]]` sections.
        sets: overrides, as `--set` takes them; later ones win.
        repeats: how many seeds it is run with.
    """

    name: str
    config: Config
    sets: Sets = field(default_factory=dict)
    repeats: int = 1


@dataclass(frozen=True)
class Job:
    """One repetition of a case, resolved."""

    case: Case
    repeat: int
    seed: int
    config_hash: str
    """Of the resolved configuration, its seed included."""
    identity: str
    """`config_hash`, the content of every trace and what is reported: equal identities give equal results."""

    @classmethod
    def of(cls, case: Case, repeat: int, seed: int) -> Job:
        """Resolves repetition `repeat` of a case in a study with this seed.

        Raises:
            ConfigError: the configuration or an override cannot be used.
        """
        own = derived_seed(seed, repeat)
        config = case.config.copy()
        for key, value in case.sets.items():
            config.set(key, value)
        plan = config.resolve(seed=own)
        # A path that is not readable is reported by the run itself, with the line that names it.
        content = "".join(digest(path) or path for path in traces_of(plan))
        # What is reported changes no figure and no hash, but a kept result may lack it.
        reported = sorted((key, value) for key, value in config.sets if key.startswith("report."))
        identity = hashlib.sha256(f"{plan.config_hash} {content} {reported}".encode()).hexdigest()[:32]
        return cls(case, repeat, own, plan.config_hash, identity)

    @property
    def name(self) -> str:
        """The name in progress and in messages: the case, and which repetition where there are several."""
        return self.case.name if self.case.repeats == 1 else f"{self.case.name} #{self.repeat + 1}"

    def overrides(self) -> list[str]:
        """The overrides as the list `set` of a `[[case]]` section takes them."""
        sets = dict(self.case.config.sets)
        sets |= {key: toml_value(value) for key, value in self.case.sets.items()}
        return [f"{key}={value}" for key, value in (sets | {"seed": str(self.seed)}).items()]


def derived_seed(seed: int, repeat: int) -> int:
    """The seed of a repetition: the study's own for the first, a hash of both for the others.

    It does not depend on the case, so that cases compared with each other see the same arrivals.
    """
    if repeat == 0:
        return seed
    digest = hashlib.sha256(f"interpulse experiment {seed} {repeat}".encode()).digest()
    return int.from_bytes(digest[:8]) >> (64 - _SEED_BITS)


def traces_of(plan: Plan) -> list[str]:
    """The trace files that a plan replays."""
    return [entry.value for entry in plan.entries() if entry.key.startswith("flow.") and entry.key.endswith(".trace")]

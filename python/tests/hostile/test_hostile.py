"""Is every wrong input refused in words that name it, and does every fault around a run end in a result or a message?

A seeded sample of both runs always, all of them with INTERPULSE_VERIFY=1. A failure prints the input or the fault.
"""

from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from tests.hostile import damage, files
from tests.hostile.commands import calls, commands
from tests.hostile.crew import judged
from tests.hostile.damage import packed_trace
from tests.hostile.features import features
from tests.hostile.looking import pipes, shown, sweeps
from tests.hostile.records import Report, Wrong
from tests.hostile.settings import context, duplicates, keys, written, wrong_settings
from tests.hostile.surroundings import limits, places, signals, streams, tongues
from tests.hostile.world import World, tiny, untimed
from tests.hostile.written import cases, configurations, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

LEAST_INPUTS, LEAST_FAULTS, LEAST_OF_FEATURES = 700, 200, 100
SAMPLED_KEYS, SAMPLED_INPUTS, SAMPLED_FAULTS = 24, 150, 25


def faults() -> list[tuple[str, Callable[[World], str | None]]]:
    """All faults, by name."""
    makers = (damage.snapshots, damage.answers, damage.traces, streams, places, limits, signals, tongues)
    return [fault for maker in makers for fault in maker()]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> World:
    """What the tiny drive gives where nothing is wrong."""
    folder = tmp_path_factory.mktemp("sound")
    result = tiny(folder)
    (snapshot,) = folder.glob("*.snapshot")
    return World(folder, untimed(result.raw), (snapshot.name, snapshot.read_bytes()), packed_trace())


def suffered(chosen: Sequence[tuple[str, Callable[[World], str | None]]], sound: World, tmp_path: Path) -> Report:
    """Every fault, in a folder of its own, and what was wrong with what followed."""

    def suffer(index: int) -> str | None:
        folder = tmp_path / str(index)
        folder.mkdir()
        try:
            return chosen[index][1](World(folder, sound.reference, sound.snapshot, sound.packed))
        except Exception as error:  # noqa: BLE001 - whatever is raised is what is wrong
            return f"{type(error).__name__}: {error}"

    report = Report()
    with ThreadPoolExecutor(os.cpu_count()) as crew:
        for (name, _), verdict in zip(chosen, crew.map(suffer, range(len(chosen))), strict=True):
            report.add(name, verdict)
    return report


def inputs(of: Sequence[dict[str, Any]]) -> list[Wrong]:
    """The wrong inputs made of these keys, and those made by hand."""
    by_hand = (
        configurations,
        features,
        cases,
        settings,
        files.named,
        files.traces,
        commands,
        calls,
        shown,
        pipes,
        sweeps,
    )
    return [*wrong_settings(of), *duplicates(), *(wrong for make in by_hand for wrong in make())]


def test_a_sample_of_wrong_inputs() -> None:
    chance = random.Random(3)
    report = judged(chance.sample(inputs(chance.sample(keys(), SAMPLED_KEYS)), SAMPLED_INPUTS))
    assert report.judged == SAMPLED_INPUTS
    report.check()


def test_wrong_inputs_of_features() -> None:
    report = judged([*features()])
    assert report.judged >= LEAST_OF_FEATURES
    report.check()


def test_a_sample_of_faults(sound: World, tmp_path: Path) -> None:
    suffered(random.Random(3).sample(faults(), SAMPLED_FAULTS), sound, tmp_path).check()


def test_nearly_every_key_is_tried_where_it_applies() -> None:
    # Keys of a namespace are those of `ftl`, some of which are refused beside namespaces.
    declared = [key for key in keys() if not key["name"].startswith("namespace.")]
    chosen = random.Random(4).sample(declared, SAMPLED_KEYS)
    without = [written(key) for key in chosen if context(written(key), tuple(key["belongs_to"])) is None]
    assert len(without) <= SAMPLED_KEYS // 8, without


@pytest.mark.verify
def test_all_wrong_inputs() -> None:
    report = judged(inputs(keys()))
    print(f"\nhostile inputs: {report.judged}, failed: {len(report.failures)}")  # noqa: T201
    assert report.judged >= LEAST_INPUTS
    report.check()


@pytest.mark.verify
def test_all_faults(sound: World, tmp_path: Path) -> None:
    report = suffered(faults(), sound, tmp_path)
    print(f"\nhostile faults: {report.judged}, failed: {len(report.failures)}")  # noqa: T201
    assert report.judged >= LEAST_FAULTS
    report.check()

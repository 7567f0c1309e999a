"""Does the check of unprinted choices find the untuned rows that a choice moves, and only those?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from interpulse import ConfigError
from interpulse.experiments.choices import FILE, Choice, choices, moves
from interpulse.experiments.registry import EXPERIMENTS, find
from interpulse.studies.case import Job
from interpulse.studies.context import Context
from interpulse.studies.status import Status
from tests import experiment_sample

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from interpulse.studies.case import Case
    from interpulse.studies.outcome import Outcome


def test_a_choice_that_moves_a_untuned_row_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    experiment_sample.install(monkeypatch, tmp_path)

    def run(sets: dict[str, Any]) -> Outcome:
        return experiment_sample.MINI.run(experiment_sample.MINI.context(quick=True, seeds=1, assume=sets))

    pages = Choice("pages", {"part.program-mode": "page"}, "one page at a time")
    same = Choice("same", {"report.histograms": True}, "nothing of the drive")
    (move,) = moves([same, pages], run)
    assert (move.row, move.choice) == ("suspended_gain", pages)
    assert str(move).startswith("suspended_gain: ")
    assert str(move).endswith("with pages: one page at a time")


def test_every_experiment_with_untuned_rows_has_choices_that_its_drive_takes() -> None:
    for experiment in EXPERIMENTS:
        context = experiment.context()
        if all(row.status is not Status.UNTUNED for row in context.expected().rows.values()):
            continue
        found = choices(context.folder / FILE)
        assert len({choice.name for choice in found}) == len(found) >= 5, experiment.name
        file = "../suspend-tlc/drive.toml" if experiment.name == "suspend-tlc-power" else "drive.toml"
        for choice in found:
            experiment.context(assume={**choice.sets, "run.requests": 1000}).config(file).resolve()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[choice]]\nname = 'a'\nset = {}\nwhy = 'b'\n", "choice 1: exactly 'name', 'set' (a table of overrides)"),
        ("[[choice]]\nname = 'a'\nwhy = 'b'\n", "choice 1: exactly 'name', 'set' (a table of overrides)"),
        ("[[choice]\n", "is not TOML"),
    ],
)
def test_a_wrong_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        choices(path)
    assert str(path) in str(error.value)
    assert message in str(error.value)


class _StopError(Exception):
    """Ends an experiment whose cases are known."""


@pytest.mark.parametrize("choice", choices(find("starblaze").context().folder / FILE), ids=lambda each: each.name)
def test_every_case_of_starblaze_takes_each_choice(choice: Choice, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a part whose program writes one page, in the cases that change the cache register."""
    resolved: list[str] = []

    def run(_: Context, cases: Iterable[Case]) -> dict[str, Any]:
        before = len(resolved)
        resolved.extend(Job.of(case, 0, 1).name for case in cases)
        if before:
            raise _StopError
        return {}

    monkeypatch.setattr(Context, "run", run)
    experiment = find("starblaze")
    with pytest.raises(_StopError):
        experiment.run(experiment.context(quick=True, seeds=1, assume=choice.sets))
    assert len(resolved) > 50

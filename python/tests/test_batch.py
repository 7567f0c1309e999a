"""Are several studies one batch: none waits for the slowest case of another, and each is what it is alone?"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

import pytest

from interpulse.experiments import registry
from interpulse.files.cache import Cache
from interpulse.papers import catalogue
from interpulse.runs.runner import Options, execute
from interpulse.studies import batch, pool
from interpulse.studies.pool import CellJob, LocalWorkers
from tests import experiment_sample
from tests.conftest import interrupted, process

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from interpulse.runs.runner import Going
    from interpulse.studies.context import Context
    from interpulse.studies.outcome import Outcome
    from tests.conftest import Ended

    Command = Callable[..., Ended]

NAMES = ("mini", "other", "third")

QUICK = ("--quick", "--repeat", "1")

PAPER = """
[[paper]]
name = "{0}"
title = "{0}"
experiments = ["{0}"]
[[paper.missing]]
figure = "Figure 9"
why = "nobody can."
"""


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Three experiments, each of a paper of its own; the folder of their files."""
    setups = experiment_sample.install(monkeypatch, tmp_path).parent
    for name in NAMES[1:]:
        shutil.copytree(setups / "mini", setups / name)
    monkeypatch.setattr(registry, "EXPERIMENTS", tuple(replace(experiment_sample.MINI, name=name) for name in NAMES))
    file = tmp_path / "papers.toml"
    file.write_text("".join(map(PAPER.format, NAMES)))
    monkeypatch.setattr(catalogue, "FILE", file)
    return setups


def slowest(monkeypatch: pytest.MonkeyPatch, name: str, others: int) -> None:
    """Has every case of a study wait until so many other calls of the simulator have ended."""
    ended, all_ended, lock = [0], Event(), Lock()

    def call(plan: Any, options: Options, watcher: Any, *rest: Any) -> Any:  # noqa: ANN401 - passed on
        if watcher.name == name:
            # The time is only there so that a failure ends.
            assert all_ended.wait(60), f"the others waited for {name}"
            return execute(plan, options, watcher, *rest)
        result = execute(plan, options, watcher, *rest)
        with lock:
            ended[0] += 1
            if ended[0] == others:
                all_ended.set()
        return result

    monkeypatch.setattr(pool, "execute", call)


@pytest.mark.usefixtures("three")
def test_no_experiment_waits_for_the_slowest_case_of_another(
    interpulse: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    alone = [interpulse("experiment", name, *QUICK, "--json", "--no-cache").out for name in NAMES]
    slowest(monkeypatch, "mini", 2)
    ended = interpulse("experiment", *NAMES, *QUICK, "--json", "--jobs", "1")
    assert (ended.code, ended.out) == (0, "".join(alone)), "in the order in which they were named"
    again = interpulse("experiment", *reversed(NAMES), "mini", *QUICK, "--all", "--out", str(tmp_path / "out"))
    assert again.code == 0
    assert [line.split()[0] for line in again.out.splitlines() if "interpulse" in line] == [*reversed(NAMES)]
    for name, text in zip(NAMES, alone, strict=True):
        assert json.loads((tmp_path / "out" / name / "result.json").read_text()) == json.loads(text)
        assert (tmp_path / "out" / name / "table.txt").read_text().strip() in again.out


@pytest.mark.usefixtures("three")
def test_no_paper_waits_for_the_slowest_case_of_another(interpulse: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    slowest(monkeypatch, "mini", 2)
    ended = interpulse("papers", "--quick", "--json")
    assert [row["paper"] for row in ended.json()["rows"]] == [name for name in NAMES for _ in range(2)]
    assert interpulse("papers", "--quick", "--json", "--no-cache", "--jobs", "1", "other").code == 0


@pytest.mark.usefixtures("three")
def test_no_seed_waits_for_the_slowest_case_of_another(interpulse: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first call of the simulator is of whichever seed comes first; it ends last."""
    whole = interpulse("experiment", "mini", "--quick", "--json", "--no-cache").out
    calls, ended, all_ended, lock = [0], [0], Event(), Lock()

    def call(*given: Any) -> Any:  # noqa: ANN401 - passed on
        with lock:
            calls[0] += 1
            first = calls[0] == 1
        assert not first or all_ended.wait(60), "the other seeds waited for one"
        result = execute(*given)
        with lock:
            ended[0] += 1
            if ended[0] == 2:
                all_ended.set()
        return result

    monkeypatch.setattr(pool, "execute", call)
    assert interpulse("experiment", "mini", "--quick", "--json").out == whole


@pytest.mark.usefixtures("three")
def test_a_search_has_others_beside_it_between_its_rounds(
    interpulse: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Which cases a study asks for later may depend on what the first ones gave."""
    whole = experiment_sample.run
    rounds: list[float] = []

    def searched(context: Context) -> Outcome:
        if context.name == "mini":
            for case in experiment_sample.cases(context):
                depth = 4 if rounds and rounds[-1] > 0 else 2
                (found,) = context.run(
                    [replace(case, name=f"round {len(rounds)}", sets={"flow.0.depth": depth})]
                ).values()
                rounds.append(found[0].iops)
        return whole(context)

    monkeypatch.setattr(experiment_sample, "run", searched)
    slowest(monkeypatch, "third", 4)  # Three rounds of one, and one of another.
    ended = interpulse("experiment", *NAMES, *QUICK, "--json", "--cache-dir", str(tmp_path / "cache"))
    assert (ended.code, len(ended.out.splitlines()), len(set(rounds))) == (0, 3, 2)


@pytest.mark.usefixtures("three")
def test_one_that_fails_keeps_no_other_from_its_end(
    interpulse: Command, monkeypatch: pytest.MonkeyPatch, three: Path
) -> None:
    counted = experiment_sample.counted(monkeypatch)
    drive = three / "other" / "drive.toml"
    right = drive.read_text()
    drive.write_text(right.replace("depth = 8", "depht = 8"))
    ended = interpulse("experiment", *NAMES, *QUICK, "--json")
    assert (ended.code, ended.out, sorted(counted)) == (2, "", [2, 2])
    assert "depht" in ended.error()
    assert "note: other: it failed, and the others continue: " in ended.err
    drive.write_text(right)
    assert interpulse("experiment", *NAMES, *QUICK, "--json").code == 0
    assert sorted(counted) == [2, 2, 2], "what had ended is kept"


SCRIPT = """\
import sys, time
from dataclasses import replace
from pathlib import Path
from interpulse.cli import main
from interpulse.experiments import registry
from interpulse.studies import pool
from tests import experiment_sample
stuck, setups, cache, *arguments = sys.argv[1:]
registry.EXPERIMENTS = tuple(replace(experiment_sample.MINI, name=name) for name in ("mini", "other", "third"))
registry.SETUPS = Path(setups)
execute = pool.execute
def slow(plan, options, context, *rest):
    if context.name == stuck:
        kept = lambda: sum(path.read_bytes().count(b"\\n") for path in Path(cache).glob("*.results"))
        while kept() < 4:
            time.sleep(0.01)
        print("waiting", file=sys.stderr, flush=True)
        while True:
            time.sleep(0.01)
            context.progress([])
    print("batch", context.name, file=sys.stderr, flush=True)
    return execute(plan, options, context, *rest)
pool.execute = slow
main(["experiment", "mini", "other", "third", "--quick", "--repeat", "1", "--json", "--cache-dir", cache, *arguments])
"""


def test_ctrl_c_keeps_what_the_others_have_done(three: Path, tmp_path: Path) -> None:
    """The first study never ends; the others have, beside it, when Ctrl-C comes."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    cache = str(tmp_path / "cache")
    code, out, err = interrupted(process(str(script), "mini", str(three), cache), "waiting")
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert f"interrupted after 4 of 6 jobs; completed ones are stored in {cache}, and the same command continues" in err
    again = process(str(script), "-", str(three), cache)
    out, err = again.communicate(timeout=60)
    assert [line for line in err.splitlines() if line.startswith("batch")] == ["batch mini"]
    whole = process(str(script), "-", str(three), str(tmp_path / "another"), "--jobs", "1")
    assert (out, again.returncode) == (whole.communicate(timeout=60)[0], 0)


class Silent:
    """A watcher that says nothing, and stops when it is told to."""

    def __init__(self) -> None:
        self.stop = Event()

    def progress(self, cases: Sequence[Going]) -> None:  # noqa: ARG002 - as a watcher
        if self.stop.is_set():
            raise KeyboardInterrupt

    def note(self, line: str) -> None:
        pass


class Counted(CellJob):
    """A job that counts how many of them go on."""

    now, most, lock = 0, 0, Lock()

    def answer(self) -> dict[str, Any]:
        with Counted.lock:
            Counted.now += 1
            Counted.most = max(Counted.most, Counted.now)
        Event().wait(0.002)
        with Counted.lock:
            Counted.now -= 1
        return {}


def test_cells_take_no_core_that_another_run_has(tmp_path: Path) -> None:
    every = Options(jobs=2, cache=Cache.default(tmp_path)).shared(3)
    kept: dict[str, dict[str, Any]] = {}

    def keep(answers: Mapping[str, dict[str, Any]]) -> None:
        kept.update(answers)

    def asked(rank: int) -> list[Counted]:
        return [Counted("a kind", f"{rank} {number}") for number in range(40)]

    machine = every[0].machine
    assert machine is not None
    assert machine.take(0, 1.0)
    threads = [Thread(target=LocalWorkers(own).compute, args=(asked(own.rank), Silent(), keep)) for own in every]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept) == 120
    assert Counted.most == 1, "one of two cores is this test's"


def test_cells_that_wait_for_a_core_end_with_ctrl_c(tmp_path: Path) -> None:
    (own,) = Options(jobs=1, cache=Cache.default(tmp_path)).shared(1)
    assert own.machine is not None
    assert own.machine.take(0, 1.0)
    watcher, kept = Silent(), dict[str, dict[str, Any]]()
    watcher.stop.set()
    with pytest.raises(KeyboardInterrupt):
        LocalWorkers(own).compute([Counted("a kind", "x")], watcher, kept.update)
    assert kept == {}


def test_ranks_of_seeds_lie_between_those_of_studies() -> None:
    """A core goes to the first study that has something for it, and in that to its first seed."""
    first, second = Options(jobs=1).shared(2, batch.RANKS)
    seeds = [each for study in (first, second) for each in study.shared(3)]
    assert [each.rank for each in seeds] == sorted(each.rank for each in seeds)
    assert len({each.rank for each in seeds}) == 6
    assert {each.machine for each in seeds} == {first.machine}

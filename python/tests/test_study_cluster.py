"""Do studies run on a cluster as they do here: the same bytes, nothing lost, nothing twice, failures told?"""

from __future__ import annotations

import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

import dask
import pytest
from distributed import Client

from interpulse import Config, ConfigError, RunError
from interpulse.characterize import tester
from interpulse.experiments import registry
from interpulse.studies.case import Case
from interpulse.studies.context import Context, Form, Reporter
from interpulse.sweeps.connection import Connection
from interpulse.sweeps.engine import Engine
from interpulse.sweeps.remote import RemoteRunner
from tests import experiment_sample
from tests.conftest import process
from tests.dask_cluster import NODES, TestCluster, started
from tests.test_kept import SCRIPT, ended

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Sequence

    from interpulse.sweeps.batch import Batch, Piece
    from tests.conftest import Ended

    Command = Callable[..., Ended]

FORM = Form("experiment", rows="rows", jobs="simulations")


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestCluster]:
    """Two nodes, a worker on each."""
    folder = tmp_path_factory.mktemp("cluster")
    with started(folder, tls=False, cache=folder / "cache") as cluster:
        yield cluster


def lines(folder: Path, where: str = "sweeps/*/index/*") -> int:
    """What workers have done: each answer has a line in the index of its store."""
    return sum(path.read_bytes().count(b"\n") for path in folder.glob(where))


def test_a_study_has_the_same_bytes_on_a_cluster_and_nothing_runs_again_here(
    nodes: TestCluster, interpulse: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment_sample.install(monkeypatch, tmp_path)
    seen = experiment_sample.counted(monkeypatch)
    study = ("experiment", "mini", "--quick", "--repeat", "2")
    far = interpulse(*study, "--out", "far", "--cache-dir", "far-cache", "--on", nodes.address)
    assert far.code == 0, far.err
    assert not seen, "nothing was simulated in this process"
    assert lines(tmp_path / "far-cache") == 4
    near = interpulse(*study, "--out", "near", "--cache-dir", "near-cache")
    assert near.out == far.out
    names = sorted(path.name for path in (tmp_path / "near").iterdir())
    assert {"rows.csv", "table.txt"} <= set(names)
    for name in names:
        assert (tmp_path / "far" / name).read_bytes() == (tmp_path / "near" / name).read_bytes(), name

    seen.clear()
    here = interpulse(*study, "--out", "here", "--cache-dir", "far-cache")
    assert (here.out, seen) == (far.out, []), "what a cluster did is kept where runs here look"


class Engines:
    """Stands before the engine: some of its lists of jobs do not end until so many others have."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, slow: Callable[[Engine, int], bool], others: int) -> None:
        self.priorities: dict[str, set[int]] = {}
        run, submit = Engine.run, Client.submit
        begun, ended, all_ended, lock = [0], [0], Event(), Lock()

        def held(engine: Engine, pieces: Sequence[Piece]) -> None:
            with lock:
                number, begun[0] = begun[0], begun[0] + 1
            if slow(engine, number):
                # The time is only there so that a failure ends.
                assert all_ended.wait(60), "the others waited for one"
                run(engine, pieces)
                return
            run(engine, pieces)
            with lock:
                ended[0] += 1
                if ended[0] == others:
                    all_ended.set()

        def seen(client: Client, task: Any, batch: Batch, *, priority: int, **rest: Any) -> Any:  # noqa: ANN401
            with lock:
                self.priorities.setdefault(Path(batch.store).name.partition("-")[0], set()).add(priority)
            return submit(client, task, batch, priority=priority, **rest)

        monkeypatch.setattr(Engine, "run", held)
        monkeypatch.setattr(Client, "submit", seen)


def test_studies_and_seeds_on_a_cluster_do_not_wait_for_each_other(
    nodes: TestCluster, interpulse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bytes and their order are those of this machine; what was named first comes first where workers have both."""
    setups = experiment_sample.install(monkeypatch, tmp_path).parent
    shutil.copytree(setups / "mini", setups / "other")
    names = ("mini", "other")
    monkeypatch.setattr(registry, "EXPERIMENTS", tuple(replace(experiment_sample.MINI, name=name) for name in names))
    study = ("experiment", *names, "--quick", "--repeat", "2", "--json")
    near = interpulse(*study, "--cache-dir", "near")
    slow: list[tuple[Callable[[Engine, int], bool], int]] = [
        (lambda engine, _: "mini" in engine.store.folder.name, 2),
        (lambda _, number: number == 0, 3),
    ]
    for number, (which, others) in enumerate(slow):
        with pytest.MonkeyPatch.context() as patched:
            engines = Engines(patched, which, others)
            far = interpulse(*study, "--cache-dir", f"far{number}", "--on", nodes.address)
        assert (far.code, far.out) == (0, near.out), far.err
        first, then = (engines.priorities[name] for name in names)
        assert len(first) == len(then) == 2, "each seed has its own"
        assert min(first) > max(then)


def test_what_all_studies_fail_with_is_said_once(
    interpulse: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setups = experiment_sample.install(monkeypatch, tmp_path).parent
    shutil.copytree(setups / "mini", setups / "other")
    names = ("mini", "other")
    monkeypatch.setattr(registry, "EXPERIMENTS", tuple(replace(experiment_sample.MINI, name=name) for name in names))
    refused = interpulse("experiment", *names, "--quick", "--on", "tcp://127.0.0.1:1")
    assert refused.code == 2
    assert refused.err.count("it failed, and the others continue: --on tcp://127.0.0.1:1: no scheduler answers") == 1


class Ending:
    """A watcher that ends what tells it anything; a note would say that workers are waited for."""

    def progress(self, cases: Sequence[object]) -> None:  # noqa: ARG002 - as a watcher
        raise KeyboardInterrupt

    def note(self, line: str) -> None:
        raise AssertionError(line)


def test_a_study_that_waits_for_a_worker_or_for_another_ends_when_it_is_told_to(tmp_path: Path) -> None:
    alone = TestCluster(tmp_path)
    with ExitStack() as ends:
        ends.callback(alone.end)
        alone.start_scheduler()
        connection = ends.enter_context(Connection(alone.address))
        with pytest.raises(KeyboardInterrupt):
            connection.cluster(Ending())

        begun, ending = Event(), Event()

        class First(Ending):
            def progress(self, cases: Sequence[object]) -> None:  # noqa: ARG002 - as a watcher
                begun.set()
                if ending.is_set():
                    raise KeyboardInterrupt

            def note(self, line: str) -> None:
                assert "no worker yet" in line

        with ThreadPoolExecutor() as pool:
            first = pool.submit(connection.cluster, First())
            try:
                # The time is only there so that a failure ends.
                assert begun.wait(60)
                with pytest.raises(KeyboardInterrupt):
                    connection.cluster(Ending())
            finally:
                ending.set()
            with pytest.raises(KeyboardInterrupt):
                first.result(60)


def context(kind: type[Context], folder: Path, **own: Any) -> Any:  # noqa: ANN401 - of the kind
    return kind("many", form=FORM, published=folder / "none.toml", **own)


def test_cells_answer_on_a_cluster_as_they_do_here_and_what_they_refuse_is_told(
    nodes: TestCluster, tmp_path: Path
) -> None:
    same = {"word_lines": 1, "cells": 512, "age_hours": 0, "hours": 1, "celsius": 30}
    jobs = [tester.Job("part", {}), tester.Job("suspend-untouched", same)]
    here, far = (context(tester.Tester, tmp_path, preset="a4-tlc") for _ in range(2))
    with Connection(nodes.address) as connection, RemoteRunner(connection, tmp_path / "store") as far.workers:
        assert far.ask(jobs) == here.ask(jobs)
        for each in (here, far):
            with pytest.raises(ConfigError, match="no-such-kind"):
                each.ask([tester.Job("no-such-kind", {})])


TRACED = """
[[flow]]
trace = "rows.csv"
format = "spc"
"""


def test_a_failure_on_a_cluster_names_its_case_and_the_others_are_kept(nodes: TestCluster, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("0,8,4096,r,0.1\n0,9,4096,r,0.2\n0,10,4096,neither,0.3\n")
    drive = Config(experiment_sample.DRIVE, path=str(tmp_path / "drive.toml"))
    traced = Config(experiment_sample.DRIVE.partition("[[flow]]")[0] + TRACED, path=str(tmp_path / "traced.toml"))
    cases = [Case("good", drive), Case("torn", traced)]
    study = context(Context, tmp_path)
    with Connection(nodes.address) as connection, RemoteRunner(connection, tmp_path / "store") as study.workers:
        for _ in range(2):
            with pytest.raises(RunError, match=r"torn: .*rows\.csv.*line 3"):
                study.run(cases)
        assert lines(tmp_path, "store/index/*") == 3, "the failure was tried again, the other case was not"
        assert study.run(cases[:1])["good"][0].iops > 0


def many() -> list[Case]:
    """Twenty simulations of a tenth of a second."""
    drive = Config(experiment_sample.DRIVE.replace("4000", "40000"), path="<many>")
    return [Case(f"depth {depth}", drive, {"flow.0.depth": depth}, repeats=2) for depth in range(1, 11)]


class Kill(Reporter):
    """Kills a process once some jobs have ended."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def study(self, done: int, total: int, running: Sequence[object]) -> None:  # noqa: ARG002 - as a study calls it
        if done >= 3:
            self.process.kill()


@pytest.mark.verify
def test_a_worker_that_dies_costs_a_study_nothing(tmp_path: Path) -> None:
    here, far = context(Context, tmp_path), context(Context, tmp_path)
    with (
        started(tmp_path / "dask", tls=True, cache=tmp_path / "cache") as nodes,
        pytest.MonkeyPatch.context() as patched,
    ):
        for name, value in nodes.settings.items():
            patched.setenv(name, value)
        dask.config.refresh()
        far.reporter = Kill(nodes.workers[NODES[1]])
        with Connection(nodes.address) as connection, RemoteRunner(connection, tmp_path / "store") as far.workers:
            found = far.run(many())
        assert nodes.workers[NODES[1]].poll() == -signal.SIGKILL
    dask.config.refresh()
    assert lines(tmp_path, "store/index/*") == 20, "each was done once"
    expected = here.run(many())
    assert [[result.latency_us for result in each] for each in found.values()] == [
        [result.latency_us for result in each] for each in expected.values()
    ]
    assert far.config_hash() == here.config_hash()


@pytest.mark.verify
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_study_whose_driver_is_stopped_goes_on_and_nothing_runs_twice(
    how: signal.Signals, nodes: TestCluster, tmp_path: Path
) -> None:
    setups = experiment_sample.prepare(tmp_path / "setups")
    study = ("-c", SCRIPT, str(setups), "--quick", "--repeat", "12", "--json", "--cache-dir")
    far = (*study, str(tmp_path / "far"), "--on", nodes.address)
    with process(*far) as running:
        end = time.monotonic() + 60
        while lines(tmp_path / "far") < 5 and time.monotonic() < end and running.poll() is None:
            time.sleep(0.02)
        assert running.poll() is None
        running.send_signal(how)
        _, err = running.communicate(timeout=60)
    assert running.returncode == (130 if how == signal.SIGINT else -how), err
    assert "Traceback" not in err
    out, _ = ended(far)
    assert lines(tmp_path / "far") == 24, "each was done once"
    near, _ = ended((*study, str(tmp_path / "near")))
    assert out == near


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--on", "nowhere"), "expected tcp://HOST:PORT"),
        (("--on", "tcp://127.0.0.1:1"), "no scheduler answers there"),
        (("--on", "tcp://127.0.0.1:1", "--jobs", "2"), "--jobs is for this machine"),
        (("--on", "tcp://127.0.0.1:1", "--no-cache"), "--no-cache is for this machine"),
    ],
)
def test_a_cluster_that_cannot_be_is_one_line(
    arguments: tuple[str, ...],
    said: str,
    interpulse: Callable[..., Ended],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    experiment_sample.install(monkeypatch, tmp_path)
    refused = interpulse("experiment", "mini", "--quick", *arguments)
    assert refused.code == 2
    assert said in refused.error()

"""Local workers: reports and errors, replacement of dead processes, end with their driver, and few file descriptors."""

from __future__ import annotations

import os
import resource
import time
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from interpulse._core import RunError
from interpulse.sweeps import local
from interpulse.sweeps.batch import Batch, Piece, Report
from interpulse.sweeps.local import Local, WorkerDiedError
from tests.conftest import process

if TYPE_CHECKING:
    from pathlib import Path

    from interpulse.sweeps.cluster import Task


def batch(*names: str) -> Batch:
    return Batch("", tuple(Piece(name, name, (), (), 0, "", None) for name in names), "", "", False)


def answers(of: Batch) -> Report:
    """What each kind of batch does to its worker."""
    name = of.pieces[0].name
    if name == "dies":
        os._exit(7)
    if name == "fails":
        raise ValueError("no such thing")
    if name == "waits":
        time.sleep(600)
    return Report(notes=(f"{name} by {os.getpid()}",))


def outcome(workers: Local, *names: str) -> Any:  # noqa: ANN401 - a report or an error
    task: Task = workers.submit(answers, batch(*names), 0, None)
    try:
        return task.result(60)
    except (RuntimeError, WorkerDiedError) as error:
        return error


def test_a_worker_answers_fails_dies_and_is_replaced() -> None:
    workers = Local(1)
    try:
        first = workers.processes[0].pid
        assert outcome(workers, "one").notes == (f"one by {first}",)
        assert str(outcome(workers, "fails")) == "ValueError: no such thing"
        assert outcome(workers, "two").notes == (f"two by {first}",), "an error is no death"
        assert isinstance(outcome(workers, "dies", "other"), WorkerDiedError)
        second = workers.processes[0].pid
        assert outcome(workers, "three").notes == (f"three by {second}",)
        assert second != first
        waiting = workers.submit(answers, batch("never"), 0, None)
        busy = workers.submit(answers, batch("waits"), 0, None)
        waiting.release()
        assert (waiting.status in ("cancelled", "finished"), busy.status) == (True, "pending")
    finally:
        workers.end()
    assert all(not psutil.pid_exists(each) for each in (first, second))


def test_too_many_deaths_end_a_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "RESTARTS", 1)
    workers = Local(1)
    try:
        workers.keep_up()
        assert isinstance(outcome(workers, "dies"), RunError)
        with pytest.raises(RunError, match="2 workers have died, the last with exit code 7"):
            workers.keep_up()
    finally:
        workers.end()


def test_workers_end_with_a_driver_that_is_killed() -> None:
    code = (
        "from tests.test_local_workers import *\nw = Local(2)\n"
        "t = [w.submit(answers, batch('waits'), 0, None) for _ in range(2)]\n"
        "print(*(p.pid for p in w.processes), flush=True)\ntime.sleep(600)"
    )
    with process("-c", code) as driver:
        assert driver.stdout is not None
        pids = [int(each) for each in driver.stdout.readline().split()]
        assert len(pids) == 2
        driver.kill()
    end = time.monotonic() + 60
    while any(psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE for pid in pids):
        assert time.monotonic() < end, "workers outlive their driver"
        time.sleep(0.05)


SWEEP = """[config]
config_version = 1
drive = "a4-mini"
run.requests = 100
run.warmup = "0s"
precondition.fill = "10%"
flow = [{ depth = 2, read = 0.5 }]
[[axis]]
key = "flow.0.depth"
values = [1, 2]
"""


@pytest.mark.parametrize(("files", "code"), [(20, 0), (7, 2)])
def test_a_machine_with_few_file_descriptors_is_no_reason_to_wait(files: int, code: int, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SWEEP)

    def starve() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    line = ("-m", "interpulse", "sweep", "s.toml", "--jobs", "1")
    with process(*line, cwd=tmp_path, preexec_fn=starve) as starved:
        _, err = starved.communicate(timeout=240)
    assert (starved.returncode, "Traceback" in err) == (code, False), err
    assert code == 0 or "Too many open files" in err

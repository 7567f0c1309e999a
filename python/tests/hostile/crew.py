"""Workers that answer wrong inputs side by side, each with so much time for one."""

from __future__ import annotations

import os
import queue
import select
import threading
from typing import TYPE_CHECKING

from tests.conftest import process
from tests.hostile.records import Answer, Report, answer_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

    from tests.hostile.records import Wrong

PATIENCE_S = 60.0
"""A refusal takes milliseconds; on a busy machine, seconds. What takes longer hangs."""


def judged(inputs: Sequence[Wrong]) -> Report:
    """All inputs, answered and judged; the report is in their order."""
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index in range(len(inputs)):
        waiting.put(index)
    answers: list[Answer] = [Answer("crashed", "nobody answered")] * len(inputs)
    crew = [threading.Thread(target=_work, args=(inputs, waiting, answers)) for _ in range(os.cpu_count() or 1)]
    for one in crew:
        one.start()
    for one in crew:
        one.join()
    report = Report()
    for wrong, answer in zip(inputs, answers, strict=True):
        report.add(wrong.shown(), wrong.verdict(answer))
    return report


def _work(inputs: Sequence[Wrong], waiting: queue.SimpleQueue[int], answers: list[Answer]) -> None:
    worker = None
    try:
        while True:
            index = waiting.get_nowait()
            worker = worker or _worker()
            answers[index] = _ask(worker, inputs[index])
            if worker.poll() is not None or answers[index].outcome == "hung":
                _end(worker)
                worker = None
    except queue.Empty:
        pass
    finally:
        if worker is not None:
            _end(worker)


def _worker() -> subprocess.Popen[str]:
    return process("-m", "tests.hostile.worker", stdin=-1, stderr=-3, cwd=os.environ.get("TMPDIR", "/tmp"))


def _ask(worker: subprocess.Popen[str], wrong: Wrong) -> Answer:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(wrong.task() + "\n")
    worker.stdin.flush()
    if not select.select([worker.stdout], [], [], PATIENCE_S)[0]:
        return Answer("hung", f"no answer within {PATIENCE_S:.0f} s")
    line = worker.stdout.readline()
    return answer_of(line) if line else Answer("crashed", f"the process ended with {worker.wait()}")


def _end(worker: subprocess.Popen[str]) -> None:
    worker.kill()
    worker.communicate()

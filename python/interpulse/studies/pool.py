"""Jobs done in parallel. Every one that ends is kept, however the others end: a mistake, a bug or Ctrl-C."""

from __future__ import annotations

import json
import os
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any, TypeAlias

from interpulse._core import RunError
from interpulse.config import Config
from interpulse.runner import POLL_S, execute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from interpulse.runner import Options, Watcher
    from interpulse.studies.case import Job

    Keep: TypeAlias = Callable[[Mapping[str, dict[str, Any]]], None]
    """Takes in answers by the identity of their jobs."""

BATCH = 16
"""Cases handed to the simulator at a time. Each is kept as soon as it ends: a killed process loses what runs."""


def simulate(jobs: list[Job], options: Options, watcher: Watcher, keep: Keep) -> None:
    """Simulates cases, those that share a configuration file together. Raises as `interpulse.run`."""
    groups: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        groups.setdefault((job.case.config.path, job.case.config.text), []).append(job)
    for group in groups.values():
        for start in range(0, len(group), BATCH):
            _batch(group[start : start + BATCH], options, watcher, keep)


def _batch(jobs: list[Job], options: Options, watcher: Watcher, keep: Keep) -> None:
    base = jobs[0].case.config
    text = base.text + "".join(
        f"\n[[case]]\nname = {json.dumps(job.name)}\nset = {json.dumps(job.overrides(), ensure_ascii=False)}\n"
        for job in jobs
    )

    def ended(index: int, raw: dict[str, Any]) -> None:
        job = jobs[index]
        if "iops" in raw and not raw.get("interrupted"):
            assert raw["config_hash"] == job.config_hash, f"{job.name}: resolved alone, the case is another one"
            keep({job.identity: raw})

    execute(Config(text, path=base.path).resolve(), options, watcher, ended)


def compute(
    work: Mapping[str, Callable[[], dict[str, Any]]], threads: int, tell: Callable[[], None], keep: Keep
) -> None:
    """Does short pieces of work, by the identity of their answers; `tell` is called about ten times a second.

    More threads than twice the cores would only make the ones that run last longer, and Ctrl-C with them.

    Raises whatever a piece of work raises, KeyboardInterrupt, and RunError where the system gives too few threads.
    """
    with ThreadPoolExecutor(min(threads, 2 * (os.cpu_count() or 1)), thread_name_prefix="interpulse-cells") as pool:
        running: dict[Future[dict[str, Any]], str] = {}
        try:
            for identity, piece in work.items():
                running[_begun(pool, piece)] = identity
            left = set(running)
            while left:
                ended, left = wait(left, POLL_S, FIRST_COMPLETED)
                keep({running[future]: future.result() for future in ended})
                tell()
        except BaseException:
            # A job cannot be cut short, but it lasts a second: the ones that run are waited for and kept.
            pool.shutdown(wait=True, cancel_futures=True)
            ended = {future for future in running if not future.cancelled() and not future.exception()}
            keep({running[future]: future.result() for future in ended})
            raise


def _begun(pool: ThreadPoolExecutor, piece: Callable[[], dict[str, Any]]) -> Future[dict[str, Any]]:
    try:
        return pool.submit(piece)
    except RuntimeError as error:
        raise RunError(f"the system gives no more threads or memory for them ({error}): use fewer --jobs") from None

"""Workers of a sweep: child processes of this process (`local.py`), or those of a running Dask scheduler."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from interpulse._core import ConfigError, version
from interpulse.configuration.installation import command
from interpulse.files.cache import Cache
from interpulse.files.cache_contents import SPOOL, delete_store
from interpulse.files.paths import read_text
from interpulse.files.structured_text import read_json
from interpulse.studies.store import build_id

if TYPE_CHECKING:
    from distributed import Client

    from interpulse.sweeps.batch import Batch, Report

CONNECT_S = 10.0
"""Timeout of a connection to a scheduler."""

WORKERS_EVERY_S = 1.0
"""Interval of polling the scheduler's workers; longer for more than a hundred workers."""


def need_packages(on: object = None) -> None:
    """Raises ConfigError if a package that sweeps need is not installed; only a scheduler, `on`, needs Dask."""
    for name in ("psutil", "pyarrow", *(["distributed"] if on is not None else [])):
        # Not imported yet: a sweep without missing simulations does not need it.
        if find_spec(name) is None:
            raise ConfigError(f"a sweep needs {name}: {command('sweep')}")


class Task(Protocol):
    """A submitted batch; Dask's futures have these members."""

    @property
    def status(self) -> str:
        """`pending`, `finished`, `error`, `cancelled` or `lost`."""

    def result(self, timeout: float | None = None) -> Report:
        """The report; raises the error of the task."""

    def exception(self) -> BaseException | None:
        """The error of an ended task, or None."""

    def release(self) -> None:
        """Drops the task; one that waits does not run."""

    def add_done_callback(self, function: Callable[[Any], object]) -> None:
        """Calls a function with the task when it has ended."""


class Cluster(ABC):
    """Workers that run batches.

    Attributes:
        where: name of the place in messages.
    """

    where: str

    @abstractmethod
    def slots(self) -> int:
        """Number of simulations that can run now."""

    @abstractmethod
    def names(self) -> list[str]:
        """Names of the present workers."""

    @abstractmethod
    def submit(
        self, function: Callable[[Batch], Report], batch: Batch, rank: int, workers: Collection[str] | None
    ) -> Task:
        """Submits a batch for one of these workers, or any; tasks of lower rank run first."""

    @abstractmethod
    def workers_of(self, task: Task) -> list[str]:
        """The workers that ran an ended task."""

    def largest(self) -> int:
        """Memory of the largest worker in bytes; 0 if a worker has no limit, or there is no worker."""
        return 0

    def with_room(self, memory: int) -> list[str] | None:  # noqa: ARG002 - the default has no limit
        """The workers on which a simulation of this size fits; None for all."""
        return None

    def lost(self) -> bool:
        """Whether the workers are out of reach."""
        return False

    @abstractmethod
    def keep_up(self) -> None:
        """Raises RunError if dead workers cannot be replaced."""

    @abstractmethod
    def sweep_up(self, identity: str) -> None:
        """Makes workers delete their copies of answers, which the driver's store holds."""


class DaskCluster(Cluster):
    """Workers of a Dask scheduler and a client for them."""

    def __init__(self, client: Client, where: str) -> None:
        self.client = client
        self.where = where
        self._known: Mapping[str, Any] = {}
        self._asked: float | None = None

    def slots(self) -> int:
        """Number of simulations that can run now."""
        return sum(int(worker["nthreads"]) for worker in self._workers().values())

    def names(self) -> list[str]:
        """Addresses of the present workers."""
        return list(self._workers())

    def largest(self) -> int:
        """Memory of the largest worker in bytes; 0 if a worker has no limit, or there is no worker."""
        limits = [int(worker.get("memory_limit") or 0) for worker in self._workers().values()]
        return max(limits) if limits and all(limits) else 0

    def with_room(self, memory: int) -> list[str] | None:
        """The workers on which a simulation of this size fits; None for all."""
        workers = self._workers()
        fit = [each for each, w in workers.items() if not w.get("memory_limit") or int(w["memory_limit"]) >= memory]
        return None if len(fit) == len(workers) else fit

    def lost(self) -> bool:
        """Whether the connection to the scheduler is lost."""
        return self.client.status != "running" or not getattr(self.client.scheduler_comm, "comm", True)

    def submit(
        self, function: Callable[[Batch], Report], batch: Batch, rank: int, workers: Collection[str] | None
    ) -> Task:
        """Submits a batch; Dask's larger priorities run first."""
        where = {} if workers is None else {"workers": list(workers)}
        task: Task = self.client.submit(function, batch, pure=False, priority=-rank, **where)
        return task

    def workers_of(self, task: Task) -> list[str]:
        """The workers that hold the report of a task."""
        return list(self.client.who_has([task]).get(getattr(task, "key", ""), ()))

    def keep_up(self) -> None:
        """Does nothing: the scheduler replaces its workers."""

    def sweep_up(self, identity: str) -> None:
        """Makes workers delete their copies of answers, which the driver's store holds."""
        with suppress(Exception):  # A lost cluster keeps its folders until the next sweep.
            self.client.run(clear_spool, identity)

    def _workers(self) -> Mapping[str, Any]:
        now = time.monotonic()
        if (
            self._asked is None
            or not self._known
            or now - self._asked > WORKERS_EVERY_S * max(1, len(self._known) / 100)
        ):
            self._known, self._asked = self.client.scheduler_info(n_workers=-1)["workers"], now
        return self._known


def clear_spool(identity: str) -> None:
    """Deletes this machine's copies of answers for an inaccessible store."""
    with suppress(OSError):
        delete_store(Cache.default().folder / SPOOL / identity)


@contextmanager
def remote(on: object, note: Callable[[str], None], waiting: Callable[[], None] = lambda: None) -> Iterator[Cluster]:
    """The workers of a scheduler: its address, its file (`--scheduler-file`), or a Dask client or cluster.

    `waiting` is called repeatedly until a worker is present; an exception ends the wait.

    Raises:
        ConfigError: no scheduler, or workers with another build of interpulse.
    """
    from distributed import Client

    if not isinstance(on, Client):
        _quiet()
    with ExitStack() as ends:
        client = on if isinstance(on, Client) else ends.enter_context(_connected(on))
        where = str(getattr(client.scheduler, "address", on))
        cluster = DaskCluster(client, where)
        waited = time.monotonic()
        noted = False
        while not cluster.slots():
            if not noted and time.monotonic() - waited > 1:
                note(f"{where}: no worker yet; waiting for one (dask worker {where})")
                noted = True
            time.sleep(0.1)
            waiting()
            if cluster.lost():
                raise ConfigError(f"{where}: the scheduler is gone")
        _same_version(client, where)
        yield cluster


def check_place(on: object) -> None:
    """Raises ConfigError if `on` does not name a scheduler, before any output or wait."""
    text = _text(on)
    if text is None:
        return
    if text.endswith(".json"):
        if not Path(text).is_file():
            raise ConfigError(f"--on {text}: there is no such file; expected that of dask scheduler --scheduler-file")
    elif not text.startswith(("tcp://", "tls://", "ws://", "wss://", "ucx://", "inproc://")):
        raise ConfigError(
            f"--on: seen {text!r}; expected tcp://HOST:PORT, tls://HOST:PORT, or a scheduler file (.json)"
        )


def _text(on: object) -> str | None:
    return str(on) if isinstance(on, str | os.PathLike) else None


def _connected(on: object) -> Client:
    from distributed import Client

    text = _text(on)
    try:
        if text is not None:
            _probe(str(read_json(read_text(text, "--on"), text)["address"]) if text.endswith(".json") else text)
        if text is not None and text.endswith(".json"):
            return Client(scheduler_file=text, timeout=CONNECT_S, set_as_default=False)
        return Client(on if text is None else text, timeout=CONNECT_S, set_as_default=False)
    # Dask takes the answer of another protocol for the size of a message and raises MemoryError.
    except (OSError, ValueError, TypeError, LookupError, OverflowError, RuntimeError, MemoryError) as error:
        why = "it does not speak Dask's protocol" if isinstance(error, MemoryError) else _why(error)
        hint = "; TLS takes Dask's own settings (docs/SWEEP.md)" if text and text.startswith("tls") else ""
        raise ConfigError(f"--on {on}: no scheduler answers there ({why}){hint}") from None


def _why(error: BaseException) -> str:
    return " ".join(str(error.__cause__ or error).split()) or type(error).__name__


def _probe(address: str) -> None:
    """Performs one handshake, as a client retries forever if no scheduler answers.

    Raises:
        OSError, MemoryError: not a scheduler.
    """
    from distributed import Security
    from distributed.comm import connect

    if place := re.fullmatch(r"(?:tcp|tls)://\[?([^/]*?)\]?:(\d+)/?", address):
        socket.create_connection((place[1], int(place[2])), CONNECT_S).close()

    async def shake() -> None:
        secured = Security().get_connection_args("client")
        comm = await asyncio.wait_for(connect(address, timeout=CONNECT_S, **secured), CONNECT_S)
        comm.abort()

    try:
        asyncio.run(shake())
    except TimeoutError:
        raise OSError(f"no answer within {CONNECT_S:.0f} s") from None


def _same_version(client: Client, where: str) -> None:
    """Raises ConfigError if a worker has no interpulse, or another build."""

    def found() -> tuple[str, str]:
        # Sent by value, so that it can report a missing interpulse.
        try:
            import interpulse._core as _core
            from interpulse.studies import store
        except ImportError as missing:
            return f"no interpulse ({missing})", ""
        return f"interpulse {_core.version}", store.build_id()

    try:
        answers = client.run(found)
    except Exception as error:  # noqa: BLE001 - whatever a worker of another Python makes of it
        raise ConfigError(f"{where}: its workers cannot be asked for their version ({error})") from None
    own = f"interpulse {version}", build_id()
    others = {worker: answer for worker, answer in answers.items() if tuple(answer) != own}
    if others:
        worker, (what, build) = next(iter(others.items()))
        raise ConfigError(
            f"{where}: worker {worker} has {what}{f' of build {build}' if build else ''}, this is {own[0]} of build "
            f"{own[1]}; expected the same everywhere ({len(others)} of {len(answers)} workers differ)"
        )


def _quiet() -> None:
    """Silences Dask's messages on workers; the engine reports them."""
    for name in ("distributed", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

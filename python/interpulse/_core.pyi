"""The compiled core, as type checkers see it. A test holds it against the module itself."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Final, Self, final

__all__ = [
    "ConfigError",
    "Device",
    "Entry",
    "Handle",
    "InternalError",
    "Machine",
    "Plan",
    "Progress",
    "RequestError",
    "RunError",
    "Server",
    "bench_step",
    "cell_job",
    "device_names",
    "die_timeline",
    "lists",
    "resolve",
    "start",
    "state_age",
    "state_clone",
    "state_show",
    "together",
    "trace_rewrite",
    "trace_statistics",
    "twin_row",
    "version",
    "write_twin",
]

version: Final[str]

class ConfigError(ValueError): ...

class RunError(RuntimeError):
    partial: str | None

class InternalError(RunError): ...
class RequestError(ValueError): ...

@final
class Server:
    def __new__(
        cls,
        config: str,
        path: str,
        sets: Sequence[tuple[str, str]],
        case: str | None,
        cache: str | PathLike[str] | None,
        pace: str,
        listen: Sequence[str],
        name: str,
        backing: str | PathLike[str] | None,
        state: str | PathLike[str] | None,
        save_every: int | None,
        record: str | PathLike[str] | None,
        read_only: bool,
        certificates: str | PathLike[str] | None,
        remote_writes: bool,
        connections: int,
        web: str | None,
        token: str | None,
    ) -> Self: ...
    @property
    def capacity(self) -> int: ...
    @property
    def uris(self) -> list[str]: ...
    @property
    def web(self) -> str | None: ...
    @property
    def has_failed(self) -> bool: ...
    def cut_power(self) -> bool: ...
    def lines(self) -> tuple[list[str], int]: ...
    def metrics(self) -> str | None: ...
    def stop(self) -> tuple[str, str]: ...

@final
class Device:
    def __new__(
        cls,
        config: str,
        path: str,
        sets: Sequence[tuple[str, str]],
        case: str | None,
        cache: str | PathLike[str] | None,
        journal: bool,
        causes: bool,
        saved: bytes | None,
    ) -> Self: ...
    def submit(
        self,
        at_ns: int,
        op: int,
        offset: int,
        bytes: int,  # noqa: A002 - the unit is the name
        cookie: int,
        namespace: int,
        queue: int,
        handle: int,
    ) -> int: ...
    def submit_batch(
        self,
        at_ns: memoryview,
        op: memoryview | int,
        offset: memoryview | int,
        bytes: memoryview | int,  # noqa: A002 - the unit is the name
        cookie: memoryview | int,
        namespace: memoryview | int,
        queue: memoryview | int,
        handle: memoryview | int,
    ) -> int: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def next_event_ns(self) -> int | None: ...
    @property
    def pending(self) -> int: ...
    @property
    def completions(self) -> int: ...
    def advance_to(self, to_ns: int) -> None: ...
    def advance_to_completion(self, limit_ns: int | None) -> bool: ...
    def pop(self) -> tuple[int, int, int, int, int, int, int, int | None, list[int]] | None: ...
    def poll_batch(self, most: int) -> tuple[int, list[tuple[str, str, bytes]]]: ...
    def counters(self) -> str: ...
    def describe(self) -> str: ...
    def save(self) -> bytes: ...
    def finish(self) -> tuple[int, int, int]: ...

def device_names() -> tuple[list[str], list[str], list[tuple[int, str]]]: ...

@final
class Entry:
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str: ...
    @property
    def origin(self) -> str: ...
    @property
    def doc(self) -> str: ...

@final
class Progress:
    @property
    def case(self) -> str: ...
    @property
    def phase(self) -> str: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...
    @property
    def unit(self) -> str: ...

@final
class Plan:
    @property
    def config_hash(self) -> str: ...
    @property
    def case_names(self) -> list[str]: ...
    @property
    def capacity_bytes(self) -> list[int]: ...
    def only(self, cases: Sequence[int]) -> Plan: ...
    def with_state_files(self, start: str | PathLike[str] | None, save: str | PathLike[str] | None) -> Plan: ...
    def entries(self) -> list[Entry]: ...

@final
class Handle:
    def wait(self, timeout_s: float) -> bool: ...
    def progress(self) -> list[Progress]: ...
    def notes(self) -> list[str]: ...
    def ended(self) -> list[tuple[int, str]]: ...
    def take_rows(self, timeout_s: float) -> tuple[int, str, int, list[tuple[str, str, bytes, list[str]]]] | None: ...
    def stop(self) -> None: ...
    def result(self) -> str: ...

@final
class Machine:
    def __new__(cls, cores: int) -> Self: ...
    def take(self, rank: int, timeout_s: float) -> bool: ...
    def give(self) -> None: ...

def resolve(
    text: str,
    path: str,
    sets: Sequence[tuple[str, str]],
    trace: str | None,
    seed: int | None,
    skip_bad_rows: bool,
    trace_keys: Sequence[tuple[str, str]] = ...,
) -> Plan: ...
def together(plans: Sequence[Plan]) -> Plan: ...
def start(
    plan: Plan,
    jobs: int,
    cache_dir: str | PathLike[str] | None,
    cache_limit: int,
    no_cache: bool,
    records: Sequence[str] = ...,
    machine: Machine | None = ...,
    rank: int = ...,
) -> Handle: ...
def state_show(path: str | PathLike[str]) -> str: ...
def state_age(path: str | PathLike[str], out: str | PathLike[str], cycles: int, retention: str, reads: int) -> None: ...
def state_clone(
    path: str | PathLike[str],
    out: str | PathLike[str],
    config: str | None,
    name: str,
    sets: Sequence[tuple[str, str]],
    case: str | None,
) -> None: ...
def bench_step(words: Sequence[str]) -> str: ...
def cell_job(kind: str, request: str) -> str: ...
def die_timeline(
    plan: Plan,
    arrivals: Sequence[tuple[str, int]],
    probe_first_ns: int | None,
    probe_then_ns: int | None,
    seed: int,
    horizon_ns: int,
) -> str: ...
def lists() -> str: ...
def trace_statistics(
    path: str | PathLike[str],
    format: str,  # noqa: A002 - the name of the option
    time_unit: str | None,
    writes_are: int | None,
    reorder: str,
    skip_bad_rows: bool,
    device: str | None = ...,
    layout: Sequence[tuple[str, str]] = ...,
) -> str: ...
def twin_row(row: str, requests: int | None) -> str: ...
def trace_rewrite(
    paths: Sequence[str | PathLike[str]],
    out: str | PathLike[str],
    settings: Sequence[tuple[str, str]],
    format: str,  # noqa: A002 - the name of the option
    time_unit: str | None,
    writes_are: int | None,
    reorder: str,
    skip_bad_rows: bool,
    layout: Sequence[tuple[str, str]] = ...,
    progress: Callable[[int, int | None], None] | None = ...,
) -> str: ...
def write_twin(row: str, requests: int | None, seed: int, out: str | PathLike[str]) -> str: ...

"""The compiled core, as type checkers see it. A test holds it against the module itself."""

from collections.abc import Sequence
from os import PathLike
from typing import Final, Self, final

__all__ = [
    "ConfigError",
    "Entry",
    "Handle",
    "InternalError",
    "Machine",
    "Plan",
    "Progress",
    "RunError",
    "bench_step",
    "cell_job",
    "die_timeline",
    "lists",
    "resolve",
    "start",
    "together",
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
def write_twin(row: str, requests: int | None, seed: int, out: str | PathLike[str]) -> str: ...

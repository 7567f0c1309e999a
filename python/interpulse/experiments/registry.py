"""The experiments: what `interpulse experiment` knows, one entry each."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from interpulse._core import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from interpulse.experiments.context import Context
    from interpulse.experiments.outcome import Outcome


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One experiment; its code is loaded when it runs."""

    name: str
    summary: str
    source: str
    quick: str
    """How long `--quick` takes on two cores, as measured."""
    full: str
    """How long all of it takes on two cores, as measured."""
    traces: str
    """Which traces it needs, `none` where it makes its own requests."""
    module: str
    """The module whose function `run` takes a `Context` and returns an `Outcome`."""

    def run(self, context: Context) -> Outcome:
        """Runs it. Raises as `Context.run` does."""
        function = cast("Callable[[Context], Outcome]", import_module(self.module).run)
        return function(context)


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        name="suspend-tlc",
        summary="program suspension in a TLC drive: throughput, latency and tails over queue depth, mix and cache",
        source="Zambelli et al., Electronics 2021",
        quick="15 s",
        full="3 min",
        traces="none",
        module="interpulse.experiments.suspend_tlc",
    ),
    Experiment(
        name="suspend-tlc-power",
        summary="power of program suspension in a TLC drive: memory and bus, mean, peak and energy per request",
        source="Zambelli et al., Electronics 2021",
        quick="10 s",
        full="2 min",
        traces="none",
        module="interpulse.experiments.suspend_tlc_power",
    ),
    Experiment(
        name="fast12",
        summary="program and erase suspension for reads: six workloads on SLC and MLC, seven policies",
        source="Wu & He, FAST'12; JSA'14",
        quick="10 s",
        full="70 s",
        traces="Financial1 and MSN where INTERPULSE_TRACES has them, statistical twins otherwise",
        module="interpulse.experiments.fast12",
    ),
    Experiment(
        name="atc19-fio",
        summary="erase suspension under fio: read and write tails of six designs at queue depth 16",
        source="Kim et al., ATC'19",
        quick="8 s",
        full="25 s",
        traces="none",
        module="interpulse.experiments.atc19_fio",
    ),
    Experiment(
        name="atc19-starvation",
        summary="erase suspension and starvation: 128 KiB reads beside 128 KiB writes",
        source="Kim et al., ATC'19",
        quick="8 s",
        full="30 s",
        traces="none",
        module="interpulse.experiments.atc19_starvation",
    ),
    Experiment(
        name="atc19-act",
        summary="erase suspension under Aerospike's certification tool: the largest load that each design passes",
        source="Kim et al., ATC'19",
        quick="30 s",
        full="5 min",
        traces="none",
        module="interpulse.experiments.atc19_act",
    ),
    Experiment(
        name="atc19-tpcc",
        summary="erase suspension under a TPC-C twin: tails and write command timeouts",
        source="Kim et al., ATC'19",
        quick="5 s",
        full="25 s",
        traces="none",
        module="interpulse.experiments.atc19_tpcc",
    ),
    Experiment(
        name="starblaze",
        summary="mean and maximum read latency of a database test before and after suspension, and the drive's figures",
        source="D. Wu, Starblaze, Flash Memory Summit",
        quick="20 s",
        full="4 min",
        traces="none",
        module="interpulse.experiments.starblaze",
    ),
    Experiment(
        name="ressd",
        summary="reprogrammable TLC in a RAID-5: consumption, collection, endurance, latency and capacity, 15 volumes",
        source="Gao et al., MICRO'19",
        quick="4 min",
        full="1 h",
        traces="statistical twins of 15 MSR Cambridge volumes",
        module="interpulse.experiments.ressd",
    ),
    Experiment(
        name="reprogram-suspend",
        summary="reprogramming with each way to suspend programs and erases, beside conventional TLC",
        source="none: no paper combines them",
        quick="10 s",
        full="3 min",
        traces="none",
        module="interpulse.experiments.reprogram_suspend",
    ),
)


def find(name: str) -> Experiment:
    """The experiment of this name.

    Raises:
        ConfigError: there is none; the message has the names that there are, a near one first.
    """
    return named(name, EXPERIMENTS, "experiment")


class Named(Protocol):
    """What has a name."""

    @property
    def name(self) -> str:
        """The name."""
        ...


N = TypeVar("N", bound=Named)


def named(name: str, entries: Sequence[N], what: str) -> N:
    """The entry of this name.

    Raises:
        ConfigError: there is none; the message has the names that there are, a near one first.
    """
    for entry in entries:
        if entry.name == name:
            return entry
    names = [entry.name for entry in entries]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]}? There are" if near else "there are"
    raise ConfigError(f"no {what} '{name}': {hint} {', '.join(names)}")

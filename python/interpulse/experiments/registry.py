"""Registry of experiments, one entry each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from interpulse.blockdevice.requirements import FILE_SYSTEM, POSTGRESQL, missing
from interpulse.configuration.lists import named
from interpulse.studies.context import Context, Form
from interpulse.studies.registry import Entry

SETUPS = Path(__file__).parent / "setups"
"""Folder `experiments` of the repository: a link in the package, a copy in a wheel."""


@dataclass(frozen=True, kw_only=True)
class Experiment(Entry):
    """An experiment, which prints a paper's figures beside ours."""

    traces: str = "none"
    """Required traces; `none` for generated requests."""
    programs: tuple[str, ...] = ()
    """Programs that run on a served drive; none for a simulation."""

    def missing(self) -> list[str]:
        """What this machine lacks of programs, devices and rights, each as a phrase that says what to do."""
        return missing(self.programs) if self.programs else []

    PACKAGE: ClassVar = __package__
    FORM: ClassVar = Form("experiment", rows="rows", jobs="simulations")

    def context(self, **how: Any) -> Context:  # noqa: ANN401 - as `Context` takes them
        """The context of a run."""
        return Context(self.name, form=self.FORM, published=SETUPS / self.name / "expected.toml", **how)


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        name="suspend-tlc",
        summary="program suspension in a TLC drive: throughput, latency and tails over queue depth, mix and cache",
        source="Zambelli et al., Electronics 2021",
        quick="15 s",
        full="3 min",
    ),
    Experiment(
        name="suspend-tlc-power",
        summary="power of program suspension in a TLC drive: memory and bus, mean, peak and energy per request",
        source="Zambelli et al., Electronics 2021",
        quick="10 s",
        full="2 min",
    ),
    Experiment(
        name="fast12",
        summary="program and erase suspension for reads: six workloads on SLC and MLC, seven policies",
        source="Wu & He, FAST'12; JSA'14",
        quick="40 s",
        full="70 s",
        traces="Financial1 and MSN where INTERPULSE_TRACES has them, statistical twins otherwise",
    ),
    Experiment(
        name="atc19-fio",
        summary="erase suspension under fio: read and write tails of six designs at queue depth 16",
        source="Kim et al., ATC'19",
        quick="3 min",
        full="25 s",
    ),
    Experiment(
        name="atc19-starvation",
        summary="erase suspension and starvation: 128 KiB reads beside 128 KiB writes",
        source="Kim et al., ATC'19",
        quick="2 min",
        full="30 s",
    ),
    Experiment(
        name="atc19-act",
        summary="erase suspension under Aerospike's certification tool: the largest load that each design passes",
        source="Kim et al., ATC'19",
        quick="90 s",
        full="5 min",
    ),
    Experiment(
        name="atc19-tpcc",
        summary="erase suspension under a TPC-C twin: tails and write command timeouts",
        source="Kim et al., ATC'19",
        quick="25 s",
        full="25 s",
    ),
    Experiment(
        name="starblaze",
        summary="mean and maximum read latency of a database test before and after suspension, and the drive's figures",
        source="D. Wu, Starblaze, Flash Memory Summit",
        quick="20 s",
        full="4 min",
    ),
    Experiment(
        name="ressd",
        summary="reprogrammable TLC in a RAID-5: consumption, collection, endurance, latency and capacity, 15 volumes",
        source="Gao et al., MICRO'19",
        quick="4 min",
        full="1 h",
        traces="statistical twins of 15 MSR Cambridge volumes",
    ),
    Experiment(
        name="ioda",
        summary="windows for garbage collection and reads that fail fast in a RAID-5 of emulated drives; blind",
        source="H. Li et al., SOSP'21",
        quick="1 min",
        full="1 min",
        traces="a statistical twin of MSNFS",
    ),
    Experiment(
        name="aero",
        summary="erase times that follow the block, with and without suspension, at three wears; blind",
        source="S. Cho et al., ASPLOS'24",
        quick="2 min",
        full="2 min",
        traces="statistical twins of four MSR Cambridge volumes",
    ),
    Experiment(
        name="ssr",
        summary="several safe points in an erase loop: read tail against erases that are not suspended; blind",
        source="B. Kim et al., Journal of KICS 2025",
        quick="20 s",
        full="20 s",
        traces="statistical twins of two MSR Cambridge volumes",
    ),
    Experiment(
        name="rif",
        summary="read bandwidth with retries in the die, against those after a failed decode, at three wears; blind",
        source="M. Chun et al., HPCA'24",
        quick="2 min",
        full="2 min",
    ),
    Experiment(
        name="booster",
        summary="several blocks in one erase, and suspend points apart from its loops, in a low-latency drive; blind",
        source="Fujimori and Nomura, SYSTOR'23",
        quick="2 min",
        full="2 min",
    ),
    Experiment(
        name="zn540",
        summary="random reads beside appends on a measured drive, without and with suspension; blind",
        source="K. Doekemeijer et al., CLUSTER'23",
        quick="1 min",
        full="1 min",
    ),
    Experiment(
        name="confzns",
        summary="the same drive in another measurement, with the limit of suspensions that the first suggests; blind",
        source="K. Doekemeijer et al., SYSTOR'24",
        quick="3 min",
        full="3 min",
    ),
    Experiment(
        name="reprogram-suspend",
        summary="reprogramming with each way to suspend programs and erases, beside conventional TLC",
        source="none: no paper combines them",
        quick="15 s",
        full="3 min",
    ),
    Experiment(
        name="decade",
        summary="all suspension schemes of 2012 to 2025 on one drive: tails, throughput, time under voltage, energy",
        source="none: no publication compares them",
        quick="90 s",
        full="6 min",
    ),
    Experiment(
        name="database",
        summary="PostgreSQL under pgbench on a served drive: transaction latency without suspension and with schemes",
        source="none: real programs on a simulated drive",
        quick="6 min",
        full="12 min",
        programs=(*FILE_SYSTEM, *POSTGRESQL),
    ),
    Experiment(
        name="database-sqlite",
        summary="SQLite on a served drive: transaction latency without suspension and with schemes",
        source="none: real programs on a simulated drive",
        quick="6 min",
        full="12 min",
        programs=FILE_SYSTEM,
    ),
)


def find(name: str) -> Experiment:
    """Finds an experiment by name.

    Raises:
        ConfigError: unknown; the message lists the names, a similar one first.
    """
    return named(name, EXPERIMENTS, "experiment")

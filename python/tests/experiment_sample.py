"""A miniature experiment: the drive `a4-mini` for a few thousand requests, or whatever the stand-in core answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interpulse import Config
from interpulse.experiments import registry
from interpulse.experiments.registry import Experiment
from interpulse.plotting.plots import Plot, panels
from interpulse.runs.runner import execute
from interpulse.studies.case import Case
from interpulse.studies.outcome import Curve, Outcome

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from matplotlib.figure import Figure

    from interpulse.studies.context import Context

EXPECTED = """\
source = "nobody"

[[row]]
name = "read_mean"
value = 100
unit = "us"
figure = "Figure 1"
status = "calibrated"
why = "host.firmware was chosen on it"

[[row]]
name = "iops"
unit = "kIOPS"
figure = "Figure 2"
status = "ours"

[[row]]
name = "suspended_gain"
value = -2.5
unit = "us"
figure = "Figure 3"
axis-read = true
status = "untuned"
"""

DRIVE = """\
drive = "a4-mini"
[ftl]
gc = "imposed"
imposed-waf = 2.0
[run]
requests = 4000
[[flow]]
depth = 8
read = "75%"
"""


@dataclass(frozen=True, kw_only=True)
class Sample(Experiment):
    """An experiment whose code is this file."""

    @property
    def module(self) -> str:
        """This module."""
        return __name__


MINI = Sample(
    name="mini",
    summary="a test",
    source="nobody",
    quick="1 s",
    full="1 s",
    traces="none",
)


def prepare(folder: Path) -> Path:
    """A folder of setups with this experiment in it."""
    own = folder / "mini"
    own.mkdir(parents=True)
    (own / "expected.toml").write_text(EXPECTED)
    (own / "drive.toml").write_text(DRIVE)
    return folder


def install(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """Makes the miniature the only experiment and `folder` the current one; returns the folder of its files."""
    setups = prepare(folder / "setups")
    monkeypatch.setattr(registry, "EXPERIMENTS", (MINI,))
    monkeypatch.setattr(registry, "SETUPS", setups)
    monkeypatch.chdir(folder)
    return setups / "mini"


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that will say how many cases each call of the simulator was given."""
    seen: list[int] = []

    def call(plan: Any, *rest: Any) -> Any:  # noqa: ANN401 - passed on
        seen.append(len(plan.case_names))
        return execute(plan, *rest)

    monkeypatch.setattr("interpulse.studies.pool.execute", call)
    return seen


STOPPED = """\
import itertools, sys, time
from interpulse.files.cache import Cache
from pathlib import Path
from interpulse.cli import main
from interpulse.experiments import registry
from interpulse.studies import pool
from tests import experiment_sample
stop, setups, batch, *arguments = sys.argv[1:]
registry.EXPERIMENTS = (experiment_sample.MINI,)
registry.SETUPS = Path(setups)
pool.BATCH = int(batch)
execute, calls = pool.execute, itertools.count(1)
def slow(plan, *rest):
    call = next(calls)
    print("batch", len(plan.case_names), file=sys.stderr, flush=True)
    if call == 2 and stop != "go":
        context = rest[1]
        kept = lambda: sum(path.read_bytes().count(b"\\n") for path in Cache.default().folder.glob("*.results"))
        while kept() < int(stop):
            time.sleep(0.01)
        print("waiting", file=sys.stderr, flush=True)
        while True:
            time.sleep(0.01)
            context.progress([])
    return execute(plan, *rest)
pool.execute = slow
main(["experiment", "mini", "--json", *arguments])
"""
"""A process that runs the miniature: its arguments are after how many kept answers the second batch says that it will
never end, or `go`; the folder of setups; the size of a batch; and those of the command."""


def cases(context: Context) -> list[Case]:
    config: Config = context.config("drive.toml")
    repeats = context.repeats
    scheme = {"suspend.program.scheme": "loop-boundary"}
    return [Case("none", config, repeats=repeats), Case("suspended", config, scheme, repeats=repeats)]


def run(context: Context) -> Outcome:
    """As every experiment's `run`."""
    rows = context.rows()
    results = context.run(cases(context))
    before, after = ([result.latency_us["read"]["mean"] for result in results[name]] for name in ("none", "suspended"))
    rows.add("own", 1.5, unit="us", figure="a sensitivity")
    rows.add("suspended_gain", [a - b for a, b in zip(after, before, strict=True)])
    rows.add("read_mean", before)
    rows.add("iops", [result.iops / 1e3 for result in results["none"]])

    def draw() -> Figure:
        figure, (axis,) = panels(1, 1)
        axis.bar(["before", "after"], [before[0], after[0]])
        return figure

    return Outcome(
        rows,
        calibrated={"host.firmware": "32us"},
        notes=["a note"],
        plots=[Plot("means", draw)],
        curves=[Curve("means", ("case", "mean_us"), [("before", before[0]), ("after", after[0])])],
    )

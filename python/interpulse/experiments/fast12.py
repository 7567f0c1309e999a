"""Program and erase suspension for reads: Wu & He, FAST'12, and the write-suspend-erase of their JSA'14 article.

Six workloads on an SLC and on an MLC drive under seven policies, everything normalised to first-in first-out. The
traces are replaced by statistical twins, but for the two that `INTERPULSE_TRACES` may have. How fast the traces were
replayed is not printed: the speed is swept, and one speed is calibrated, on the policies without suspension alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interpulse.experiments.case import Case
from interpulse.experiments.outcome import Curve, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from interpulse.config import Config
    from interpulse.experiments.case import Sets
    from interpulse.experiments.context import Context
    from interpulse.experiments.outcome import Rows
    from interpulse.result import Kind, Result

CELLS = ("slc", "mlc")

_READS_FIRST: Sets = {"schedule.policy": "read-priority"}
_ERASE: Sets = {"suspend.erase.scheme": "pulse-remainder"}

POLICIES: Mapping[str, Sets] = {
    "fifo": {},
    "rps": _READS_FIRST,
    "per": {**_READS_FIRST, "schedule.long-operations": "as-read"},
    "pe0": {**_READS_FIRST, "schedule.long-operations": "zero"},
    "ips": {**_READS_FIRST, **_ERASE, "suspend.program.scheme": "inter-phase"},
    "ipc": {**_READS_FIRST, **_ERASE, "suspend.program.scheme": "intra-phase-cancel"},
    "wser": {
        **_READS_FIRST,
        **_ERASE,
        "suspend.program.scheme": "intra-phase-cancel",
        "suspend.erase.for-host-writes": True,
        "suspend.nesting": True,
    },
}
"""First-in first-out; read priority; programs and erases as long as a read, or of no length; the paper's two ways to
suspend a program, with its erase suspension; the same with erases that give way to writes."""

SPEEDS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)
SPEED = 2.0
"""The calibrated speed of the traces: see `docs/EXPERIMENTS.md`."""

TOLERANCE = 5.0
"""How many percentage points from the printed figure are near enough for a speed to count."""


@dataclass(frozen=True)
class Workload:
    """One of the paper's traces.

    Attributes:
        name: the paper's name, in small letters.
        twin: the row of its statistical twin, or the file with one.
        trace: its file in `INTERPULSE_TRACES`, where there is one.
    """

    name: str
    twin: str
    trace: str | None = None


WORKLOADS = (
    Workload("f1", "financial-1", "financial1_first10k.disksim.zst"),
    Workload("f2", "financial-2"),
    Workload("dap", "dap.toml"),
    Workload("msn", "msn", "msn_fileserver_disk5.ssdsim-ms.zst"),
    Workload("c3", "cello-3"),
    Workload("c8", "cello-8"),
)


@dataclass(frozen=True)
class Point:
    """One bar group of the paper's figures: a workload on a drive, at a speed."""

    cell: str
    workload: str
    speed: float = SPEED

    def name(self, policy: str) -> str:
        """The name of its case under a policy."""
        return f"{self.cell}_{self.workload}_x{self.speed:g}_{policy}"


def points(speed: float = SPEED) -> Iterator[Point]:
    """The twelve bar groups at one speed, in the order of the slides."""
    for cell in CELLS:
        for workload in WORKLOADS:
            yield Point(cell, workload.name, speed)


class Measured:
    """The results, read by point and policy."""

    def __init__(self, results: Mapping[str, list[Result]]) -> None:
        self._results = results

    def latency(self, point: Point, policy: str, kind: Kind) -> list[float]:
        """Mean latency in microseconds, one value for each repetition."""
        return [result.latency_us[kind]["mean"] for result in self._results[point.name(policy)]]

    def ratio(self, point: Point, policy: str, base: str, kind: Kind = "read") -> list[float]:
        """Mean latency under a policy over that under another, for each repetition."""
        pairs = zip(self.latency(point, policy, kind), self.latency(point, base, kind), strict=True)
        return [ours / theirs for ours, theirs in pairs]

    def mean_ratio(self, speed: float, policy: str, base: str, kind: Kind = "read", cell: str = "") -> list[float]:
        """The mean of the ratios over the workloads, of one kind of cell or of both."""
        ratios = [self.ratio(point, policy, base, kind) for point in points(speed) if cell in ("", point.cell)]
        return [sum(each) / len(each) for each in zip(*ratios, strict=True)]


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    from interpulse.experiments import fast12_plots as plots

    cases = [_case(context, point, policy) for point in points() for policy in POLICIES]
    for speed in SPEEDS:
        if speed != SPEED:
            cases += [_case(context, point, policy) for point in points(speed) for policy in ("fifo", "rps", "ipc")]
    context.announce(sum(case.repeats for case in cases))
    measured = Measured(context.run(cases))
    rows = context.rows()
    _headlines(rows, measured)
    _bars(rows, measured)
    together = _sweep(rows, measured, context)
    return Outcome(
        rows,
        calibrated={
            "flow.speed": SPEED,
            "on": "read latency of read priority over first-in first-out, 0.497 on average, which follows from the two "
            "printed reductions; everything with suspension is predicted",
        },
        notes=[_traces_note(context), f"both headlines hold within {TOLERANCE:g} points at {together}"],
        plots=plots.all_plots(context, measured),
        curves=[_table(measured)],
    )


def _case(context: Context, point: Point, policy: str) -> Case:
    workload = next(each for each in WORKLOADS if each.name == point.workload)
    config, sets = _flow(context, workload)
    drive: Sets = {"drive": f"fast12-{point.cell}", "flow.0.speed": point.speed}
    return Case(point.name(policy), config, {**drive, **sets, **POLICIES[policy]}, 1 if context.quick else 3)


def _flow(context: Context, workload: Workload) -> tuple[Config, Sets]:
    """The configuration of a workload and its overrides."""
    requests = 10_000 if context.quick else 60_000
    trace = _real(context, workload)
    if trace is not None:
        return context.config("trace.toml"), {"flow.0.trace": str(trace), "flow.0.requests": requests}
    twin = str((context.folder / workload.twin).resolve()) if workload.twin.endswith(".toml") else workload.twin
    return context.config("twin.toml"), {"flow.0.twin": twin, "flow.0.requests": requests}


def _real(context: Context, workload: Workload) -> Path | None:
    folder = context.traces()
    if folder is None or workload.trace is None:
        return None
    path = (folder / workload.trace).resolve()
    return path if path.is_file() else None


def _traces_note(context: Context) -> str:
    real = [workload.name for workload in WORKLOADS if _real(context, workload) is not None]
    return f"real traces: {', '.join(real)}; statistical twins otherwise" if real else "all six are statistical twins"


def _headlines(rows: Rows, measured: Measured) -> None:
    rows.add("read_vs_rps_ipc_mean", _percent(measured.mean_ratio(SPEED, "ipc", "rps")))
    rows.add("read_vs_fifo_ipc_mean", _percent(measured.mean_ratio(SPEED, "ipc", "fifo")))
    rows.add("read_rps_over_fifo_mean", measured.mean_ratio(SPEED, "rps", "fifo"))
    rows.add("write_overhead_ipc_mean", _percent(measured.mean_ratio(SPEED, "ipc", "fifo", "write")))
    rows.add("ips_over_ipc_mean", measured.mean_ratio(SPEED, "ips", "ipc"))
    rows.add("ips_over_ipc_max", max(sum(r) / len(r) for r in (measured.ratio(p, "ips", "ipc") for p in points())))
    rows.add("jsa14_read_vs_rps_mean", _percent(measured.mean_ratio(SPEED, "wser", "rps")))
    rows.add("jsa14_write_vs_fifo_mean", _percent(measured.mean_ratio(SPEED, "wser", "fifo", "write")))


def _bars(rows: Rows, measured: Measured) -> None:
    """The bars of slides 5, 16 and 17."""
    for point in points():
        where = f"{point.cell}_{point.workload}"
        for policy in POLICIES:
            if policy != "fifo":
                rows.add(f"read_norm_{policy}_{where}", measured.ratio(point, policy, "fifo"), unit="x", figure=_SLIDES)
        rows.add(f"ips_over_ipc_{where}", measured.ratio(point, "ips", "ipc"), unit="x", figure="slide 16")
        for policy in ("rps", "ips", "ipc", "wser"):
            ratio = measured.ratio(point, policy, "fifo", "write")
            rows.add(f"write_norm_{policy}_{where}", ratio, unit="x", figure="slide 17: over FIFO")


_SLIDES = "slides 5 and 16: over FIFO"


def _sweep(rows: Rows, measured: Measured, context: Context) -> str:
    """Adds the headlines at every speed, of both kinds of cell and of each; says at which speeds both hold."""
    found = []
    for cell in ("", *CELLS):
        holds = []
        for speed in SPEEDS:
            near = True
            for base in ("rps", "fifo"):
                row = f"read_vs_{base}_ipc_mean"
                change = _percent(measured.mean_ratio(speed, "ipc", base, cell=cell))
                which = f"{cell.upper()} alone, " if cell else ""
                if cell or speed != SPEED:
                    name = f"{row}{f'_{cell}' if cell else ''}_x{speed:g}"
                    rows.add(name, change, beside=row, figure=f"{which}{speed:g} times the speed")
                published = context.expected().rows[row].value
                assert published is not None
                near = near and abs(sum(change) / len(change) - published) <= TOLERANCE
            if near:
                holds.append(f"{speed:g}")
        found.append(f"speed {', '.join(holds) or 'none'} ({cell.upper() or 'both cells'})")
    return "; ".join(found)


def _percent(ratios: list[float]) -> list[float]:
    return [100.0 * (ratio - 1.0) for ratio in ratios]


def _table(measured: Measured) -> Curve:
    """Mean latencies of every point and policy."""
    lines = []
    for speed in SPEEDS:
        for point in points(speed):
            for policy in POLICIES if speed == SPEED else ("fifo", "rps", "ipc"):
                means = [measured.latency(point, policy, kind) for kind in ("read", "write")]
                lines.append(
                    (point.cell, point.workload, speed, policy, *(sum(values) / len(values) for values in means))
                )
    return Curve("latencies", ("cell", "workload", "speed", "policy", "read_us", "write_us"), lines)

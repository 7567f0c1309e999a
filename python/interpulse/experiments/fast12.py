"""Program and erase suspension for reads: Wu & He, FAST'12, and the write-suspend-erase of their JSA'14 article.

Six workloads on an SLC and on an MLC drive under seven policies, everything normalised to first-in first-out. The
traces are replaced by statistical twins, but for the two that `INTERPULSE_TRACES` may have. How fast the traces were
replayed is not printed, nor how garbage collection queues. The speed is calibrated on the printed 2x that programs and
erases add to reads. `ftl.gc-depth` = 3 is fitted to the printed pair of reductions, by which first-in first-out is 4.1
times as slow as programs and erases of no length (PE0): the reduction against FIFO is calibrated, not predicted. That
against read priority is predicted and hardly depends on the depth: see the rows `_sens_depth2` and `_sens_depth4`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interpulse.studies.case import Case
from interpulse.studies.outcome import Curve, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from interpulse.config import Config
    from interpulse.result import Kind, Result
    from interpulse.studies.case import Sets
    from interpulse.studies.context import Context
    from interpulse.studies.outcome import Rows

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
        # Reads keep the highest priority, also over a write inside an erase.
        "part.suspend-support": "nested",
        "suspend.nesting": True,
    },
}
"""First-in first-out; read priority; programs and erases as long as a read, or of no length; the paper's two ways to
suspend a program, with its erase suspension; the same with erases that give way to writes."""

SPEEDS = (0.5, 1.0, 2.0, 3.0, 4.0)
"""Of the traces. The calibrated one is that at which programs and erases double the read latency."""

CONTENTION = 2.0
"""How many times longer reads take for programs and erases, as printed."""

SWEPT = ("fifo", "rps", "pe0", "ipc")
"""The policies at every speed."""

DEPTH = 3
"""The calibrated `ftl.gc-depth`, that of the configuration files."""
DEPTHS = (2, 4)
"""Others, as sensitivities."""

ROWS = 60_000
"""Rows replayed of a real trace: the file server writes little before its 30,000th."""

SUSPENSION = ("fifo", "rps", "ipc")
"""What the headlines compare."""

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
    speed: float
    depth: int = DEPTH

    def name(self, policy: str) -> str:
        """The name of its case under a policy."""
        depth = "" if self.depth == DEPTH else f"_depth{self.depth}"
        return f"{self.cell}_{self.workload}_x{self.speed:g}{depth}_{policy}"


def points(speed: float, depth: int = DEPTH) -> Iterator[Point]:
    """The twelve bar groups at one speed, in the order of the slides."""
    for cell in CELLS:
        for workload in WORKLOADS:
            yield Point(cell, workload.name, speed, depth)


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

    def mean_ratio(self, at: Iterable[Point], policy: str, base: str, kind: Kind = "read") -> list[float]:
        """The mean of the ratios over points."""
        ratios = [self.ratio(point, policy, base, kind) for point in at]
        return [sum(each) / len(each) for each in zip(*ratios, strict=True)]


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    from interpulse.experiments import fast12_plots as plots

    sweep = [_case(context, point, policy) for speed in SPEEDS for point in points(speed) for policy in SWEPT]
    others = len(POLICIES) - len(SWEPT) + len(DEPTHS) * len(SUSPENSION)
    context.announce(sum(case.repeats for case in sweep) + others * len(CELLS) * len(WORKLOADS) * sweep[0].repeats)
    results = context.run(sweep)
    speed = _calibrated(Measured(results))
    cases = [_case(context, point, policy) for point in points(speed) for policy in POLICIES if policy not in SWEPT]
    for depth in DEPTHS:
        cases += [_case(context, point, policy) for point in points(speed, depth) for policy in SUSPENSION]
    measured = Measured(results | context.run(cases))
    rows = context.rows()
    _headlines(rows, measured, speed)
    _bars(rows, measured, speed)
    together = _sweep(rows, measured, context)
    _depths(rows, measured, speed)
    return Outcome(
        rows,
        calibrated={
            "flow.speed": speed,
            "ftl.gc-depth": DEPTH,
            "on": "the speed: read priority over programs and erases of no length, printed as 2 on average; the depth: "
            "first-in first-out over these, 4.1 by the printed pair of reductions, so that read_vs_fifo_ipc_mean is "
            "calibrated, not predicted",
        },
        notes=[_traces_note(context), f"both headlines hold within {TOLERANCE:g} points at {together}"],
        plots=plots.all_plots(context, measured, speed),
        curves=[_table(measured, speed)],
    )


def _calibrated(measured: Measured) -> float:
    """The speed of the sweep at which programs and erases lengthen reads as much as printed."""

    def off(speed: float) -> float:
        ratios = measured.mean_ratio(points(speed), "pe0", "rps")
        return abs(sum(ratios) / len(ratios) - 1.0 / CONTENTION)

    return min(SPEEDS, key=off)


def _case(context: Context, point: Point, policy: str) -> Case:
    workload = next(each for each in WORKLOADS if each.name == point.workload)
    config, sets = _flow(context, workload)
    drive: Sets = {"drive": f"fast12-{point.cell}", "flow.0.speed": point.speed, "ftl.gc-depth": point.depth}
    return Case(point.name(policy), config, {**drive, **sets, **POLICIES[policy]}, 1 if context.quick else 3)


def _flow(context: Context, workload: Workload) -> tuple[Config, Sets]:
    """The configuration of a workload and its overrides."""
    requests = 10_000 if context.quick else 30_000
    trace = _real(context, workload)
    if trace is not None:
        return context.config("trace.toml"), {"flow.0.trace": str(trace), "flow.0.requests": ROWS}
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


def _headlines(rows: Rows, measured: Measured, speed: float) -> None:
    at = list(points(speed))
    rows.add("read_vs_rps_ipc_mean", _percent(measured.mean_ratio(at, "ipc", "rps")))
    rows.add("read_vs_fifo_ipc_mean", _percent(measured.mean_ratio(at, "ipc", "fifo")))
    rows.add("read_rps_over_pe0", [1.0 / ratio for ratio in measured.mean_ratio(at, "pe0", "rps")])
    rows.add("write_overhead_ipc_mean", _percent(measured.mean_ratio(at, "ipc", "fifo", "write")))
    rows.add("ips_over_ipc_mean", measured.mean_ratio(at, "ips", "ipc"))
    rows.add("ips_over_ipc_max", max(sum(r) / len(r) for r in (measured.ratio(point, "ips", "ipc") for point in at)))
    rows.add("jsa14_read_vs_rps_mean", _percent(measured.mean_ratio(at, "wser", "rps")))
    rows.add("jsa14_write_vs_fifo_mean", _percent(measured.mean_ratio(at, "wser", "fifo", "write")))


def _bars(rows: Rows, measured: Measured, speed: float) -> None:
    """The bars of slides 5, 16 and 17."""
    for point in points(speed):
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
            at = [point for point in points(speed) if cell in ("", point.cell)]
            near = True
            for base in ("rps", "fifo"):
                row = f"read_vs_{base}_ipc_mean"
                change = _percent(measured.mean_ratio(at, "ipc", base))
                which = f"{cell.upper()} alone, " if cell else ""
                name = f"{row}{f'_{cell}' if cell else ''}_x{speed:g}"
                rows.add(name, change, beside=row, figure=f"{which}{speed:g} times the speed")
                published = context.expected().rows[row].value
                assert published is not None
                near = near and abs(sum(change) / len(change) - published) <= TOLERANCE
            if near:
                holds.append(f"{speed:g}")
        found.append(f"speed {', '.join(holds) or 'none'} ({cell.upper() or 'both cells'})")
    return "; ".join(found)


def _depths(rows: Rows, measured: Measured, speed: float) -> None:
    """Adds the headlines with less and with more of a victim in the queues."""
    for depth in DEPTHS:
        for base in ("rps", "fifo"):
            row = f"read_vs_{base}_ipc_mean"
            change = _percent(measured.mean_ratio(points(speed, depth), "ipc", base))
            rows.add(f"{row}_sens_depth{depth}", change, beside=row, figure=f"ftl.gc-depth of {depth}")


def _percent(ratios: list[float]) -> list[float]:
    return [100.0 * (ratio - 1.0) for ratio in ratios]


def _table(measured: Measured, calibrated: float) -> Curve:
    """Mean latencies of every point and policy."""
    lines: list[tuple[str | float, ...]] = []
    for speed in SPEEDS:
        for point in points(speed):
            for policy in POLICIES if speed == calibrated else SWEPT:
                read, write = (measured.latency(point, policy, kind) for kind in _KINDS)
                means = (sum(read) / len(read), sum(write) / len(write))
                lines.append((point.cell, point.workload, speed, policy, *means))
    return Curve("latencies", ("cell", "workload", "speed", "policy", "read_us", "write_us"), lines)


_KINDS: tuple[Kind, ...] = ("read", "write")

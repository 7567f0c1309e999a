"""Program and erase suspension for reads: Wu & He, FAST'12, and the write-suspend-erase of their JSA'14 article.

Six workloads on an SLC and an MLC drive under seven policies, normalised to first-in first-out. Statistical twins
replace the traces, except two that `INTERPULSE_TRACES` may hold. The paper prints neither the replay speed nor the
queue depth of collection. The speed is calibrated on the printed factor of 2 that programs and erases add to reads.
`ftl.gc-depth` = 3 is fitted to the printed pair of reductions, by which first-in first-out is 4.1 times as slow as
programs and erases of no length (PE0): the reduction against FIFO is calibrated, not predicted. The reduction against
read priority hardly depends on the depth (rows `_sens_depth2` and `_sens_depth4`) but follows from the speed: a
suspended read takes nearly the time of PE0, so that the reduction is 50 % if read priority takes twice as long. Rows
`read_vs_rps_of_pe0` show this circularity: the same reduction of PE0, without suspension, at all speeds. Predicted are
the ratios of IPS to IPC by workload, and the cost for writes. The pair of JSA'14 needs another speed and depth.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from interpulse.configuration.config import Config
from interpulse.experiments import fast12_plots as plots
from interpulse.experiments.fast12_points import (
    CELLS,
    CONTENTION,
    DEPTH,
    DEPTHS,
    JSA14,
    JSA14_POLICIES,
    POLICIES,
    ROWS,
    SPEEDS,
    SUSPENSION,
    SWEPT,
    TOLERANCE,
    WORKLOADS,
    Measured,
    Point,
    Workload,
    points,
)
from interpulse.studies.case import Case, Sets
from interpulse.studies.context import Context
from interpulse.studies.outcome import Curve, Outcome, Rows

if TYPE_CHECKING:
    from interpulse.runs.latency import Kind


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    sweep = [_case(context, point, policy) for speed in SPEEDS for point in points(speed) for policy in SWEPT]
    others = len(POLICIES) - len(SWEPT) + len(DEPTHS) * len(SUSPENSION) + len(JSA14_POLICIES)
    context.announce(sum(case.repeats for case in sweep) + others * len(CELLS) * len(WORKLOADS) * sweep[0].repeats)
    results = context.run(sweep)
    speed = _calibrated(Measured(results))
    cases = [_case(context, point, policy) for point in points(speed) for policy in POLICIES if policy not in SWEPT]
    for depth in DEPTHS:
        cases += [_case(context, point, policy) for point in points(speed, depth) for policy in SUSPENSION]
    cases += [_case(context, point, policy) for point in points(*JSA14) for policy in JSA14_POLICIES]
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
    """Speed at which programs and erases lengthen reads as much as printed."""

    def off(speed: float) -> float:
        ratios = measured.mean_ratio(points(speed), "pe0", "rps")
        return abs(sum(ratios) / len(ratios) - 1.0 / CONTENTION)

    return min(SPEEDS, key=off)


def _case(context: Context, point: Point, policy: str) -> Case:
    workload = next(each for each in WORKLOADS if each.name == point.workload)
    config, sets = _flow(context, workload)
    drive: Sets = {"drive": f"fast12-{point.cell}", "flow.0.speed": point.speed, "ftl.gc-depth": point.depth}
    return Case(point.name(policy), config, {**drive, **sets, **POLICIES[policy]}, context.repeats)


def _flow(context: Context, workload: Workload) -> tuple[Config, Sets]:
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
    bars = [sum(r) / len(r) for r in (measured.ratio(point, "ips", "ipc") for point in at)]
    rows.add("ips_over_ipc_max", max(bars))
    rows.add("ips_over_ipc_min", min(bars))
    own, figure = list(points(*JSA14)), "at the speed and depth of FAST'12"
    for row, base, kind in _JSA14:
        rows.add(row, _percent(measured.mean_ratio(own, "wser", base, kind)))
        rows.add(f"{row}_at_fast12", _percent(measured.mean_ratio(at, "wser", base, kind)), beside=row, figure=figure)


def _bars(rows: Rows, measured: Measured, speed: float) -> None:
    """Bars of slides 5, 16 and 17."""
    for point in points(speed):
        where = f"{point.cell}_{point.workload}"
        for policy in POLICIES:
            if policy != "fifo":
                rows.add(f"read_norm_{policy}_{where}", measured.ratio(point, policy, "fifo"), unit="x", figure=_SLIDES)
        rows.add(f"ips_over_ipc_{where}", measured.ratio(point, "ips", "ipc"), unit="x", figure="slide 16")
        for policy in ("rps", "ips", "ipc", "wser"):
            ratio = measured.ratio(point, policy, "fifo", "write")
            rows.add(f"write_norm_{policy}_{where}", ratio, unit="x", figure="slide 17: over FIFO")


_JSA14: tuple[tuple[str, str, Kind], ...] = (
    ("jsa14_read_vs_rps_mean", "rps", "read"),
    ("jsa14_write_vs_fifo_mean", "fifo", "write"),
)

_SLIDES = "slides 5 and 16: over FIFO"


def _sweep(rows: Rows, measured: Measured, context: Context) -> str:
    """Adds the headlines at all speeds, for both kinds of cell and each; returns the speeds at which both hold."""
    found = []
    for cell in ("", *CELLS):
        holds = []
        for speed in SPEEDS:
            at = [point for point in points(speed) if cell in ("", point.cell)]
            near = True
            if not cell:
                rows.add(
                    f"read_vs_rps_of_pe0_x{speed:g}",
                    _percent(measured.mean_ratio(at, "pe0", "rps")),
                    beside="read_vs_rps_ipc_mean",
                    figure=f"what programs and erases of no length give at {speed:g} times the speed: no suspension",
                )
            for base in ("rps", "fifo"):
                row = f"read_vs_{base}_ipc_mean"
                change = _percent(measured.mean_ratio(at, "ipc", base))
                which = f"{cell.upper()} alone, " if cell else ""
                name = f"{row}{f'_{cell}' if cell else ''}_x{speed:g}"
                rows.add(name, change, beside=row, figure=f"{which}{speed:g} times the speed")
                published = context.expected().rows[row].number
                near = near and abs(sum(change) / len(change) - published) <= TOLERANCE
            if near:
                holds.append(f"{speed:g}")
        found.append(f"speed {', '.join(holds) or 'none'} ({cell.upper() or 'both cells'})")
    return "; ".join(found)


def _depths(rows: Rows, measured: Measured, speed: float) -> None:
    """Adds the headlines with smaller and larger `ftl.gc-depth`."""
    for depth in DEPTHS:
        for base in ("rps", "fifo"):
            row = f"read_vs_{base}_ipc_mean"
            change = _percent(measured.mean_ratio(points(speed, depth), "ipc", base))
            rows.add(f"{row}_sens_depth{depth}", change, beside=row, figure=f"ftl.gc-depth of {depth}")


def _percent(ratios: list[float]) -> list[float]:
    return [100.0 * (ratio - 1.0) for ratio in ratios]


def _table(measured: Measured, calibrated: float) -> Curve:
    lines: list[tuple[str | float, ...]] = []
    for speed in SPEEDS:
        for point in points(speed):
            for policy in POLICIES if speed == calibrated else SWEPT:
                read, write = (measured.latency(point, policy, kind) for kind in _KINDS)
                means = (sum(read) / len(read), sum(write) / len(write))
                lines.append((point.cell, point.workload, speed, policy, *means))
    return Curve("latencies", ("cell", "workload", "speed", "policy", "read_us", "write_us"), lines)


_KINDS: tuple[Kind, ...] = ("read", "write")

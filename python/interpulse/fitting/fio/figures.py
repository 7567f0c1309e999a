"""Figures of a fio job: which become targets, which were there and are not used, and why."""

from __future__ import annotations

from collections.abc import Mapping

from interpulse.fitting.fio.measured import Direction, Latency
from interpulse.fitting.fio.shape import Shape
from interpulse.fitting.targets import BEYOND, Target, Unused

PERCENTILES = {
    "50.000000": "p50",
    "99.000000": "p99",
    "99.900000": "p99.9",
    "99.990000": "p99.99",
    "99.999000": "p99.999",
}
"""Percentiles that become targets."""

LEAST_TOLERANCE = 0.05
"""Least tolerance of a percentile: fio's buckets are up to 3 % wide, and tails vary from run to run."""


def figures_of(
    parts: Mapping[str, Direction], shape: Shape, jobs: int, tolerance: float, source: str, out: bool
) -> tuple[tuple[Target, ...], list[Unused]]:
    """The targets of a load, and the figures that are not used.

    With one direction the mean adds no information: it is the depth over the rate (Little's law). With two, the mean
    of reads does, and with flushes that of writes.

    Args:
        parts: measurements by direction.
        shape: the load.
        jobs: reported jobs that ran at the same time.
        tolerance: of each figure, as a share; of percentiles, it is at least `LEAST_TOLERANCE`.
        source: the source of the figures.
        out: whether they are held out.
    """
    used = {name: part for name, part in parts.items() if (name == "mixed") == shape.together}
    targets = [Target("iops", sum(part.iops for part in used.values()), tolerance, out, source)]
    unused: list[Unused] = []
    meant = "write" if shape.flush_every else "read" if len(used) > 1 else ""
    for name, part in used.items():
        kind = "all" if name == "mixed" else name
        latency = part.completion if part.completion.mean or part.completion.percentiles else part.total
        if name == meant and latency.mean:
            targets.append(Target(f"{kind}-mean", latency.mean, tolerance, out, source))
        elif latency.mean:
            unused.append(Unused(f"{kind}-mean", "it follows from the other figures and the depth (Little's law)"))
        found, left = _percentiles(kind, part, jobs, max(tolerance, LEAST_TOLERANCE), source, out)
        targets += found
        unused += left
    unused.append(Unused("bandwidth", "it is the rate times the size"))
    if "mixed" in parts and not shape.together:
        unused.append(Unused("mixed", "the same requests are under read and write"))
    if shape.flush_every:
        unused.append(Unused("sync", "the latency of flushes follows from the rate and the other latencies"))
    return tuple(targets), unused


def _percentiles(
    kind: str, part: Direction, jobs: int, tolerance: float, source: str, out: bool
) -> tuple[list[Target], list[Unused]]:
    chosen, other = part.completion, part.total
    if not chosen.percentiles:
        chosen, other = other, chosen
    targets: list[Target] = []
    unused: list[Unused] = []
    if jobs > 1:
        why = "percentiles of several jobs cannot be merged; group_reporting has those of all"
        return [], [Unused(f"{kind}-percentiles", why)]
    if not chosen.percentiles:
        return [], [Unused(f"{kind}-percentiles", "there are none: neither clat_percentiles nor lat_percentiles")]
    if other.percentiles:
        unused.append(Unused(f"{kind} {other.name} percentiles", f"{chosen.name} has them too, without the submission"))
    from_total = f" ({chosen.name}: with the submission)" if chosen.name == "lat_ns" else ""
    passed = []
    for key, value in chosen.percentiles.items():
        beyond = part.count * (1 - float(key) / 100)
        if key not in PERCENTILES:
            passed.append(f"p{float(key):g}")
        elif not value:
            unused.append(Unused(f"{kind}-{PERCENTILES[key]}", "it is 0 ns"))
        elif beyond < BEYOND:
            few = f"{beyond:.1f} of {part.count} requests are beyond it; it takes {BEYOND}"
            unused.append(Unused(f"{kind}-{PERCENTILES[key]}", few))
        else:
            targets.append(Target(f"{kind}-{PERCENTILES[key]}", value, tolerance, out, source + from_total))
    if passed:
        unused.append(Unused(f"{kind} {_listed(chosen, passed)}", "the percentiles used lie beside them"))
    return targets, unused


def _listed(latency: Latency, passed: list[str]) -> str:
    return f"{latency.name} {', '.join(passed)}"

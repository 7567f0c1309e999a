"""Screen of a served drive in text: rates, latencies, dies at work and the slowest commands in 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Figures = Mapping[str, Any]

NOTHING = "-"
"""Shown for what has no value."""

SUFFIXES = ("", "k", "M", "G", "T", "P")


def screen(view: Figures) -> list[str]:
    """Lines of a view, as the JSON of the live view has it.

    Raises:
        KeyError, TypeError, ValueError: the JSON is no view.
    """
    return [*_session(view), "", *_operations(view), "", *_drive(view), "", *_slowest(view)]


def _session(view: Figures) -> list[str]:
    times = f"{view['drive_s']:.1f} s of drive time in {view['wall_s']:.1f} s"
    return [f"Served drive {view['config_hash']}", f"pace {view['pace']}, {times}"]


def _operations(view: Figures) -> list[str]:
    rows = []
    for of in view["operations"]:
        if not of["commands"] + of["errors"]:
            continue
        latency = of["latency_us"] or {}
        shares = [_time(latency.get(name)) for name in ("p50", "p90", "p99", "p99.9")]
        rows.append([of["operation"], _short(of["rate"]), *shares, _short(of["commands"]), _short(of["errors"])])
    head = [
        "operation",
        "per s",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "total",
        "errors",
    ]
    title = f"Latency in drive time, last {view['window_s']:.0f} s"
    return [title, *_table(head, rows)]


def _drive(view: Figures) -> list[str]:
    slip = view["slip_us"]
    parts = "max pace" if slip is None else ", ".join(_time(slip.get(name)) for name in ("p50", "p99", "p99.9"))
    factor = view["write_amplification"]
    rows = [
        ("Outstanding", str(view["outstanding"])),
        ("Dies busy", f"{view['busy_dies']} of {view['dies']}, {view['suspended_dies']} with a suspended operation"),
        ("Collection", f"{view['collecting_lanes']} of {view['lanes']} lanes below its threshold"),
        ("Write cache", f"{view['cached_units']} units"),
        ("Write amp.", NOTHING if factor is None else f"{factor:.3f}"),
        ("Slip", f"{parts} (p50, p99, p99.9 in wall time)" if slip else parts if slip is None else NOTHING),
    ]
    suspension = view["suspension"]
    schemes = f"program {suspension['program']}, erase {suspension['erase']}, {len(suspension['changes'])} changes"
    return [f"{name:<12} {text}" for name, text in [*rows, ("Suspension", schemes)]]


def _slowest(view: Figures) -> list[str]:
    rows = [
        [
            of["operation"],
            f"{of['at_s']:.6f}",
            str(of["offset"]),
            _short(of["length"]),
            _time(of["latency_us"]),
            of["cause"] or NOTHING,
        ]
        for of in view["slowest"]
    ]
    return ["Slowest commands", *_table(["operation", "at (s)", "offset", "bytes", "latency", "largest cause"], rows)]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned columns: names and causes to the left, figures to the right."""
    whole = [head, *rows]
    widths = [max(len(row[column]) for row in whole) for column in range(len(head))]
    lines = []
    for row in whole:
        cells = [
            text.ljust(width) if column in (0, len(head) - 1) and head[column] != "errors" else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _time(us: float | None) -> str:
    """A time in us with four digits."""
    if us is None:
        return NOTHING
    if us < 1e3:
        return f"{us:.1f}us"
    return f"{us / 1e3:.2f}ms" if us < 1e6 else f"{us / 1e6:.2f}s"


def _short(number: float) -> str:
    """A number of at most six characters."""
    power = 0
    while number >= 100_000 and power < len(SUFFIXES) - 1:
        number, power = number / 1000, power + 1
    return f"{number:.0f}{SUFFIXES[power]}"

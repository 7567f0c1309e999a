"""Power output of `interpulse run`: table rows, and power over time as a file and a plot."""

from __future__ import annotations

from interpulse._core import ConfigError
from interpulse.cli.output_streams import say
from interpulse.tables.format import csv_bytes, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from matplotlib.figure import Figure

    from interpulse.runs.result import Result
    from interpulse.tables.layout import Sheet

_MEANS = {
    "nand_core": "mean power of the arrays (VDDcore), mW",
    "io_bus": "mean power of the buses (VDDQ), mW",
    "controller": "power of the controller, mW",
    "dram": "power of the DRAM, mW",
    "total": "mean power in all, mW",
}
_OPERATIONS = {
    "read": "reads",
    "gc_read": "reads of garbage collection",
    "program": "programs",
    "gc_program": "programs of garbage collection",
    "erase": "erases",
    "suspension": "suspensions",
    "idle": "idle dies",
}
_SHOWN_UJ = 0.0005
"""Least energy per request of an operation in some case for a row."""


def power_table(table: Sheet, cases: Sequence[dict[str, Any]]) -> Sheet | None:
    """Fills a table with a column per case; None if no case has power figures."""
    powers = [case.get("power", {}) for case in cases]
    if not any(powers):
        return None
    for name, label in _MEANS.items():
        _row(table, label, [power.get("mean_mw", {}).get(name) for power in powers], 1)
    windows = {power["peak"]["window_us"] for power in powers if "peak" in power}
    label = f"peak: the largest {windows.pop() / 1e3:g} ms, mW" if len(windows) == 1 else "peak window, mW"
    _row(table, label, [power.get("peak", {}).get("window_mw") for power in powers], 1)
    _row(table, "largest current of the arrays, mA", [power.get("peak", {}).get("instant_ma") for power in powers], 1)
    _row(table, "energy per request, uJ", [power.get("per_request_uj", {}).get("total") for power in powers], 3)
    requests = [case.get("host_requests", 0) for case in cases]
    for name, label in _OPERATIONS.items():
        energies = [power.get("by_operation", {}).get(name, {}).get("total_uj") for power in powers]
        each = [e / n if e is not None and n else None for e, n in zip(energies, requests, strict=True)]
        if any(value is not None and value >= _SHOWN_UJ for value in each):
            _row(table, f"  of it {label}", each, 3)
    budgets = [power.get("budget", {}) for power in powers]
    _row(table, "power budget, mW", [budget.get("limit_mw") for budget in budgets], 1)
    _row(table, "waits for the budget", [budget.get("waits") for budget in budgets], 0)
    _row(table, "mean wait for the budget, us", [budget.get("mean_us") for budget in budgets], 1)
    return table


def _row(table: Sheet, label: str, values: Sequence[float | None], digits: int) -> None:
    """Adds a row if any case has a value."""
    if any(value is not None for value in values):
        table.add_row(label, *(number(value, digits) for value in values))


def files(result: Result) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files of power over time; empty if no case recorded it."""
    cases = [case.raw for case in result.cases if "over_time" in case.raw.get("power", {})]
    if not cases:
        return
    yield "power.csv", csv_bytes(("case", "from_us", "to_us", "nand_core_mw", "io_bus_mw"), _over_time(cases))
    from interpulse.plotting.plots import Plot, need_matplotlib, to_bytes

    try:
        need_matplotlib()
    except ConfigError as error:
        say(f"no power.png and power.svg: {error}")
        return
    for form, content in to_bytes(Plot("power", lambda: _draw(cases))):
        yield f"power.{form}", content


def _over_time(cases: Sequence[dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for case in cases:
        over_time = case["power"]["over_time"]
        interval = over_time["interval_us"]
        pairs = zip(over_time["nand_core_mw"], over_time["io_bus_mw"], strict=True)
        yield from ((case["case"], k * interval, (k + 1) * interval, *pair) for k, pair in enumerate(pairs))


def _draw(cases: Sequence[dict[str, Any]]) -> Figure:
    from interpulse.plotting.plots import COLOURS, legend, panels

    figure, (axis,) = panels(1, 1, width=8.0)
    for index, case in enumerate(cases):
        over_time = case["power"]["over_time"]
        pairs = zip(over_time["nand_core_mw"], over_time["io_bus_mw"], strict=True)
        total = [(core + bus) / 1e3 for core, bus in pairs]
        edges = [k * over_time["interval_us"] / 1e3 for k in range(len(total) + 1)]
        # A baseline would draw a drop to zero at both ends.
        axis.stairs(total, edges, baseline=None, color=COLOURS[index % len(COLOURS)], label=case["case"])
    axis.set(xlabel="time, ms", ylabel="power of the flash, W", ylim=(0, None))
    legend(axis)
    return figure

"""Printed result of `interpulse run`: summary, latency table of all cases, explaining tables, notes."""

from __future__ import annotations

from interpulse.cli.power import power_table
from interpulse.runs import summary
from interpulse.runs.latency import KINDS, UNSURE, latency
from interpulse.runs.result import Result
from interpulse.tables.format import number
from interpulse.tables.layout import ELSEWHERE, Column, Sheet, fill

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

SHOWN_US = 0.005
"""Least time of a cause in some case for a row; smaller values would print as 0.00."""

SHOWN_SHARE = 0.005
"""Least share of a cause in some tail for a row."""

SUSPENSION_COSTS = {
    "running on to the stop": ("stop_time",),
    "entering": ("entry_time",),
    "suspended, entering and leaving included": ("program_suspended_time", "erase_suspended_time"),
    "leaving": ("resume_time",),
    "loading the page buffer again": ("reload_time",),
    "  of it on the bus": ("reload_bus_time",),
    "done again": ("program_redone_time", "erase_redone_time"),
    "resumed pulses without progress": ("ramp_time",),
}
"""Rows of the suspension table, each the sum of these flash counters in ns."""

ARRAY_COUNTS = {
    "rows written whole": "full_stripe_writes",
    "rows written by read-modify-write": "read_modify_writes",
    "rows written by reconstruct-write": "reconstruct_writes",
    "pages read for parity": "preread_pages",
    "pages read from a lost drive": "degraded_reads",
    "rows written with a drive missing": "degraded_writes",
    "waits for the stripe cache": "cache_waits",
    "pages uncorrectable on a drive": "media_error_pages",
    "  of them reconstructed and written back": "repaired_pages",
    "  of them lost": "unrecovered_pages",
    "writes held during mirror resync": "held_writes",
    "scrub mismatches": "scrub_mismatches",
    "reads that failed fast": "fast_failed_reads",
    "reads issued twice": "hedged_reads",
    "  of them answered by the second read": "hedges_won",
    "forced collections outside GC windows": "gc_forced",
}
"""Rows of the array table and their counters; rows that are zero in all cases are omitted."""


def render(result: Result, width: int = ELSEWHERE, *, counters: bool = False) -> str:
    """Text of a result in lines of at most `width` columns, without cutting figures.

    `counters` adds a table of all counters that are not zero in all cases.
    """
    cases = [case.raw for case in result.cases]
    head = f"interpulse {result.raw['version']}, seed {result.seed}, {summary.config_label(cases)}"
    shown = [
        f"{fill(title, width)}\n{sheet.text(width)}"
        for title, build in (SECTIONS | ({"Counters": _counters} if counters else {})).items()
        if (sheet := build(cases)) is not None
    ]
    brief = "\n".join(fill(line, width) for line in summary.lines(cases))
    foot = [fill(line, width) for case in cases for line in _foot(case)]
    if any(case.get("latency_us", {}).get(kind, {}).get("few") for case in cases for kind in KINDS):
        foot.append(fill(f"{UNSURE} fewer than ten requests lie beyond that percentile", width))
    return "\n\n".join([fill(head, width), *[brief] * bool(brief), *shown, "\n".join(foot)])


def by_case(cases: list[dict[str, Any]]) -> Sheet:
    """Empty sheet with a column per case."""
    return Sheet([Column("", "label"), *(Column(str(case.get("case", "?"))) for case in cases)], turns=True)


def _drive(cases: list[dict[str, Any]]) -> Sheet:
    """FTL and die activity, a column per case."""
    table = by_case(cases)
    _capacity_rows(table, [case.get("capacity", {}) for case in cases])
    ftl = [case.get("ftl", {}) for case in cases]
    table.add_row("write amplification", *(number(each.get("waf"), 3) for each in ftl))
    table.add_row("effective spare factor", *(number(each.get("effective_spare_factor"), 4) for each in ftl))
    if any("mapping" in each for each in ftl):
        maps = [each.get("mapping", {}) for each in ftl]
        rates = [each.get("hit_rate") for each in maps]
        table.add_row("map look-ups that hit, %", *(number(None if rate is None else 100 * rate) for rate in rates))
        table.add_row(
            "controller memory for the map, bytes per 4 KiB",
            *(number(each.get("controller_bytes_per_4kib"), 3) for each in maps),
        )
    if any("reprogram_metadata" in each for each in ftl):
        consumed = [each.get("page_consumption", {}).get("total") for each in ftl]
        table.add_row("flash pages consumed", *(number(each, 0) for each in consumed))
        table.add_row(
            "host page writes per erase", *(number(each.get("host_page_writes_per_erase"), 2) for each in ftl)
        )
        reprograms = [case.get("counters", {}).get("nand", {}).get("reprograms") for case in cases]
        table.add_row("reprograms", *(number(each, 0) for each in reprograms))
    if any("slc_cache" in each for each in ftl):
        slc = [each.get("slc_cache", {}) for each in ftl]
        table.add_row("SLC cache, GB", *(number(each["capacity_bytes"] / 1e9 if each else None, 3) for each in slc))
        for label, name in (("host data in SLC mode, %", "slc_share"), ("folded per host data, %", "folded_share")):
            shares = [each.get(name) for each in slc]
            table.add_row(label, *(number(None if share is None else 100 * share, 1) for share in shares))
    for operation, count in (("program", "programs"), ("erase", "erases")):
        table.add_row(f"suspends per {operation}", *(_suspends(case, operation, count) for case in cases))
    shares = [case.get("time_share", {}) for case in cases]
    for name in _union(shares):
        label = f"die time {name.replace('_', ' ')}, %"
        table.add_row(label, *(number(100 * share[name] if name in share else None) for share in shares))
    return table


def _capacity_rows(table: Sheet, of: list[dict[str, Any]]) -> None:
    """Capacity rows of each drive."""
    for label, name in (
        ("usable capacity of a drive, GB", "usable_bytes"),
        ("raw capacity of a drive, GB", "raw_bytes"),
    ):
        table.add_row(label, *(number(each[name] / 1e9 if each else None, 2) for each in of))
    over = (100 * each["over_provisioning"] if each else None for each in of)
    table.add_row("over-provisioning, %", *(number(share, 2) for share in over))


def _array(cases: list[dict[str, Any]]) -> Sheet | None:
    """Array activity, a column per case; None without arrays."""
    arrays: list[dict[str, Any]] = [case.get("array", {}) for case in cases]
    if not any(arrays):
        return None
    table = by_case(cases)
    table.add_row("level", *(array.get("level", "-") for array in arrays))
    table.add_row("drives", *(number(array.get("drives"), 0) for array in arrays))
    parity = [array.get("parity_per_data_page") for array in arrays]
    table.add_row("parity pages per data page", *(number(each, 3) for each in parity))
    counters = [array.get("counters", {}) for array in arrays]
    for label, name in ARRAY_COUNTS.items():
        if any(each.get(name) for each in counters):
            table.add_row(label, *(number(each.get(name), 0) for each in counters))
    lost = [array.get("failures", []) for array in arrays]
    if any(lost):
        table.add_row("drives lost", *(number(len(each), 0) for each in lost))
    for name in ("rebuild", "scrub"):
        of = [array.get(name, {}) for array in arrays]
        if any(of):
            table.add_row(f"{name} done, %", *(number(100 * each["progress"] if each else None) for each in of))
            spans = (each["finished_s"] - each["started_s"] if "finished_s" in each else None for each in of)
            table.add_row(f"{name} took, s simulated", *(number(span, 3) for span in spans))
    return table


def _suspensions(cases: list[dict[str, Any]]) -> Sheet | None:
    """Costs of program and erase suspensions together; None without suspensions."""
    counters = [case.get("counters", {}).get("nand", {}) for case in cases]
    suspends = [each.get("program_suspends", 0) + each.get("erase_suspends", 0) for each in counters]
    if not any(suspends):
        return None
    table = by_case(cases)
    for label, names in SUSPENSION_COSTS.items():
        sums = [sum(each.get(name, 0) for name in names) for each in counters]
        if any(sums):
            means = (total / n / 1e3 if n else None for total, n in zip(sums, suspends, strict=True))
            table.add_row(label, *(number(mean, 2) for mean in means))
    stress = [case.get("counters", {}).get("wear", {}).get("suspend_cycles", 0) for case in cases]
    if any(stress):
        table.add_row("wear by suspensions, P/E cycles in all", *(number(cycles, 3) for cycles in stress))
    return table


def _bit_errors(cases: list[dict[str, Any]]) -> Sheet | None:
    """Effects of bit errors; None without an error table."""
    found = [case.get("reliability", {}) for case in cases]
    if not any(found):
        return None
    table = by_case(cases)

    def rate(value: float | None) -> str:
        return "-" if value is None else f"{value:.2e}"

    table.add_row("raw bit error rate of first sensings", *(rate(each.get("raw_bit_error_rate")) for each in found))
    shares = (100 * each["retried_share"] if "retried_share" in each else None for each in found)
    table.add_row("page reads repeated, %", *(number(share) for share in shares))
    table.add_row("retry steps per page read", *(number(each.get("retry_steps_mean"), 3) for each in found))
    if any("on_die_sensings_mean" in each for each in found):
        means = (number(each.get("on_die_sensings_mean"), 3) for each in found)
        table.add_row("sensings repeated by dies per page read", *means)
    table.add_row("repeating a host's page read, us", *(number(each.get("retry_mean_us")) for each in found))
    lost = [each.get("uncorrectable", {}) for each in found]
    for name, label in (("reads", "reads"), ("writes", "writes"), ("gc_pages", "pages moved")):
        if name == "reads" or any(each.get(name, 0) for each in lost):
            table.add_row(f"uncorrectable {label}", *(f"{each[name]:,}" if each else "-" for each in lost))
    table.add_row("uncorrectable bit error rate", *(rate(each.get("uber")) for each in found))
    for name in ("refreshed_blocks", "reclaimed_blocks"):
        if any(each.get(name, 0) for each in found):
            table.add_row(name.replace("_", " "), *(f"{each[name]:,}" if each else "-" for each in found))
    return table


def _suspends(case: Mapping[str, Any], operation: str, count: str) -> str:
    nand = case.get("nand", {})
    operations = nand.get(count, 0)
    return number(nand["suspends"][operation] / operations, 3) if operations else "-"


def _read_wait(cases: list[dict[str, Any]]) -> Sheet | None:
    """Mean read latency by cause; None without reads."""
    waits = [case.get("read_wait_us", {}) for case in cases]
    causes = [cause for cause in _union(waits) if any(wait.get(cause, 0) >= SHOWN_US for wait in waits)]
    if not causes:
        return None
    table = by_case(cases)
    for cause in causes:
        table.add_row(cause.replace("_", " "), *(number(wait.get(cause), 2) for wait in waits))
    table.add_section()
    table.add_row("sum", *(number(sum(wait.values()) if wait else None, 2) for wait in waits))
    return table


def _tail_blame(cases: list[dict[str, Any]]) -> Sheet | None:
    """Latency of the slowest reads by cause, a column per case and tail; None without tails."""
    columns = [
        (str(case.get("case", "?")), name, tail) for case in cases for name, tail in case.get("tail_blame", {}).items()
    ]
    if not columns:
        return None
    table = Sheet([Column("", "label"), *(Column(name, group=case) for case, name, _ in columns)], turns=True)
    tails = [tail for _, _, tail in columns]
    shares = [tail["shares"] for tail in tails]
    for cause in _union(shares):
        if any(share.get(cause, 0) >= SHOWN_SHARE for share in shares):
            row = (number(100 * share[cause] if cause in share else None) for share in shares)
            table.add_row(cause.replace("_", " "), *row)
    table.add_section()
    table.add_row("reads", *(f"{tail['reads']:,}" for tail in tails))
    table.add_row("slower than, us", *(number(tail["above_us"]) for tail in tails))
    table.add_row("mean, us", *(number(tail["mean_us"]) for tail in tails))
    return table


def _union(maps: list[dict[str, float]]) -> list[str]:
    """Keys of all maps, ordered by first appearance."""
    return list(dict.fromkeys(key for each in maps for key in each))


def _counters(cases: list[dict[str, Any]]) -> Sheet | None:
    """All declared counters that are not zero in all cases; None without any."""
    from interpulse.configuration.lists import listed

    table = by_case(cases)
    for row in listed()["counters"]:
        found = [_at(case, f"{row['kind']}.{row['name']}") for case in cases]
        if any(found):
            group = row["kind"].replace("counters", "").strip(".")
            digits = 0 if all(isinstance(each, int) for each in found if each is not None) else 3
            table.add_row(f"{group} {row['name']}, {row['unit']}", *(number(each, digits) for each in found))
    return table if table.rows else None


def _at(case: Mapping[str, Any], path: str) -> float | None:
    """Value at a path of names; None if a name is absent."""
    of: Any = case
    for name in path.split("."):
        of = of.get(name, {})
    return None if of == {} else of


SECTIONS: dict[str, Callable[[list[dict[str, Any]]], Sheet | None]] = {
    "Requests per second, and latency in microseconds": latency,
    "Drive": _drive,
    "Array": _array,
    "What suspensions took, in microseconds of the mean of each": _suspensions,
    "Bit errors": _bit_errors,
    "Power and energy of the flash": lambda cases: power_table(by_case(cases), cases),
    "Where read time went, in microseconds of the mean": _read_wait,
    "Where the time of the slowest reads went, in % of their latency": _tail_blame,
}
"""Tables in order: title and builder; the builder returns None for an empty table."""


def _foot(case: Mapping[str, Any]) -> Iterator[str]:
    """Simulation cost and notes of a case."""
    name = case.get("case", "?")
    if "error" in case:
        yield f"{name}: failed: {case['error']}"
        return
    if "host_requests" not in case:
        yield f"{name}: stopped before anything was measured"
        return
    speed = case.get("requests_per_cpu_s")
    rate = f", {number(speed, 0)} requests per CPU second" if speed is not None else ""
    partial = " (interrupted)" if case.get("interrupted") else ""
    yield (
        f"{name}{partial}: {case['host_requests']:,} requests in {case['simulated_s']:.3f} s simulated,"
        f" {case['wall_s']:.2f} s here{rate}"
    )
    yield from summary.warmup_lines(name, case)
    yield from notes(case)


def notes(case: Mapping[str, Any]) -> Iterator[str]:
    """What happened in a case beside its figures: timeouts, uncorrectable data, rows of a trace that were changed."""
    name = case.get("case", "?")
    yield from _timeouts(name, case)
    lost = case.get("reliability", {}).get("uncorrectable", {})
    if lost.get("reads") or lost.get("writes"):
        counts = f"{lost['reads']:,} reads and {lost['writes']:,} writes"
        yield f"{name}: {counts} completed with an error: data could not be corrected"
    trace = case.get("counters", {}).get("trace", {})
    if trace.get("bad_rows"):
        yield f"{name}: {trace['bad_rows']:,} bad rows of the trace were skipped"
    if trace.get("beyond"):
        share = 100 * trace["beyond"] / trace["replayed"]
        yield (
            f"{name}: {trace['beyond']:,} of {trace['replayed']:,} requests of the trace ({share:.3g} %) lay beyond the"
            f" capacity, up to {trace['end_bytes'] / 1e9:,.2f} GB, and were mapped into it by `fit`"
        )


def _timeouts(name: str, case: Mapping[str, Any]) -> Iterator[str]:
    """Command timeouts, and the ages of the oldest outstanding requests."""
    counters = case.get("counters", {}).get("host", {})
    kinds = {"read": "reads", "write": "writes", "other": "trims and flushes"}
    late = {kind: counters.get(f"command_timeouts_{kind}", 0) for kind in kinds}
    if not any(late.values()):
        return
    counts = ", ".join(f"{late[kind]:,} {plural}" for kind, plural in kinds.items() if late[kind])
    limit = case.get("config", {}).get("host.command-timeout", "the host waits")
    oldest = case.get("oldest_outstanding_us", {})
    ages = ", ".join(f"{kind} {number(age)} us" for kind, age in oldest.items())
    yield f"{name}: took longer than {limit}: {counts}" + (f"; oldest outstanding at the end: {ages}" if ages else "")

"""Reprogrammable TLC in a RAID-5 of SSDs: Gao et al., MICRO'19, Sections 5 and 6.

Statistical twins of the paper's 15 volumes on an array of four drives, three times: conventional TLC that separates
writes by hotness (the baseline), the reprogrammable SSD (RSS-RAID), and TLC used in MLC mode. All published figures are
means over the volumes of ratios to the baseline. Readings vary the unprinted assumptions that decide the figures: the
fill of word lines and the completion of writes, the meaning of "initial data 92 %", the granularity of time stamps, the
count that the collection threshold uses, the interruption of collection, and open points of Section 4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from interpulse.experiments.ressd_plots import draw_ranks, draw_volumes
from interpulse.plotting.plots import Plot
from interpulse.studies.case import Case
from interpulse.studies.outcome import Curve, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from interpulse.configuration.config import Config
    from interpulse.runs.result import Result
    from interpulse.studies.case import Sets
    from interpulse.studies.context import Context
    from interpulse.studies.outcome import Rows
    from interpulse.studies.published import Expected, Published

VOLUMES: dict[str, str] = {
    name: f"msr-{name.lower().replace('_', '-')}"
    for name in (
        "HM_0", "HM_1", "PRN_0", "PRN_1", "PROJ_1", "PROJ_3", "PROJ_4", "RSRCH_0", "SRC1_2", "SRC2_0", "SRC2_2",
        "STG_0", "WDEV_0", "PRXY_0", "USR_0",
    )
}  # fmt: skip
"""Volumes of Table 5 in order, with their twins."""

DRIVES: dict[str, tuple[str, Sets]] = {
    "baseline": ("conventional TLC", {"ftl.reprogram": False}),
    "ressd": ("RSS-RAID", {"ftl.reprogram": True, "ftl.when-valid": "next-super-layer"}),
    "mlc": ("MLC mode", {"ftl.reprogram": False, "part.preset": "ressd-mlc"}),
}
"""The three arrays of Figure 16: description and overrides."""

AGED: Sets = {
    "precondition.overwrite": "uniform",
    "precondition.until": "drive-writes",
    "precondition.drive-writes": 2,
}
"""Initial data, overwritten at random until blocks have all shares of invalid pages."""

BY_PAGE: Sets = {"part.program-mode": "page"}
"""Table 4 has times "in Page": one program per page of a word line, without omitted pages."""

STAMPS: Sets = {"ftl.time-stamps": "unit"}
"""Time stamps per page: an update interval is the time between two writes of the same data."""

RUNNING: Sets = {"ftl.gc-counts": "running-pages"}
"""The collection threshold is compared with SSDSim's count of free pages."""

CHOSEN: Sets = {**AGED, **BY_PAGE, **STAMPS, **RUNNING}
"""Main reading."""

IN_TURN: Sets = {**CHOSEN, "schedule.policy": "fifo", "ftl.gc-depth": 64}
"""Dies work in the order of arrival, with 64 pages of a victim at a time: SSDSim does not interrupt collection.
The number of pages ahead of a request is not printed."""

BOTH = ("baseline", "ressd")
"""Basis of the readings."""

READINGS: dict[str, tuple[str, Sets]] = {
    "as_writes_come": (
        "a word line takes the pages that are there, in one program",
        {**AGED, **STAMPS, **RUNNING},
    ),
    "stamp_of_blocks": ("every block has a time stamp", {**AGED, **BY_PAGE, **RUNNING}),
    "valid_70": (
        "initial data: 92 % of the pages programmed, each valid with probability 0.7 (nothing calibrated)",
        {**BY_PAGE, **STAMPS, **RUNNING, "precondition.out-of-date": "30%", "ftl.over-provisioning": "55.3%"},
    ),
    "all_valid": (
        "initial data all valid: 92 % of the pages, none overwritten; collection below 3 % free, at 8 % it never ends",
        {**BY_PAGE, **STAMPS, **RUNNING, "ftl.over-provisioning": "8.7%", "ftl.gc-soft": "3%"},
    ),
    "in_turn": ("dies work first in, first out, and 64 pages of a victim at a time", IN_TURN),
}
"""Other unprinted or ambiguous assumptions: description and overrides."""

POLICIES: dict[str, tuple[str, Sets]] = {
    "pages_counted": (
        "the threshold counts the pages that can be programmed: opening a reprogrammable block takes a third of it",
        {"ftl.gc-counts": "pages"},
    ),
    "super_layer_drained": (
        "fully invalidated writes empty a super layer; used-up blocks stay as they are",
        {"ftl.fully-invalidates": "super-layer"},
    ),
    "candidate": ("a block with a stuck super layer waits (Section 4.2)", {"ftl.when-valid": "candidate"}),
}
"""Assumptions on RSS-RAID alone, compared with the main baseline."""

SENSITIVE = ("HM_0",)
"""Volume of the readings and sensitivities: mostly writes, nearly all of them updates."""

QUICK_BLOCKS = 192
"""Blocks per plane in a quick run, an eighth of the drive."""

QUICK_REQUESTS = 250_000
"""Requests per volume in a quick run, of 0.5 to 1 million; the address span shrinks in proportion, gaps do not."""

SPARE = "18.5%"
"""Over-provisioning of `array.toml`, calibrated on quick runs."""

WARMUP_REQUESTS, QUICK_WARMUP = 250_000, 125_000
"""Unmeasured first requests of each volume, in which each level of hotness opens its first blocks."""


@dataclass(frozen=True)
class Group:
    """Volumes under one setting, on some of the drives."""

    name: str
    words: str
    sets: Sets = field(default_factory=dict)
    volumes: tuple[str, ...] = tuple(VOLUMES)
    drives: tuple[str, ...] = tuple(DRIVES)

    def case(self, volume: str, drive: str) -> str:
        """Name of a case."""
        return f"{self.name} {volume} {drive}"

    def cases(self, config: Config) -> Iterator[Case]:
        """All simulations."""
        for volume in self.volumes:
            for drive in self.drives:
                sets: Sets = {"flow.0.twin": VOLUMES[volume], **DRIVES[drive][1], **self.sets}
                yield Case(self.case(volume, drive), config, sets)


MAIN = Group("main", "as configured", CHOSEN)
PROJ_1 = (
    Group("in_turn", READINGS["in_turn"][0], IN_TURN, ("PROJ_1",), ("ressd", "mlc")),
    Group(
        "little_room",
        "the same, and the MLC drive has 11 % of over-provisioning, hardly more than collection keeps free",
        {**IN_TURN, "ftl.over-provisioning": "11%"},
        ("PROJ_1",),
        ("mlc",),
    ),
)
"""Settings that make MLC mode slower on PROJ_1, as in Figure 16."""


def groups() -> list[Group]:
    """All groups that are simulated and reported by the same rows."""
    read = [Group(name, words, sets, SENSITIVE, BOTH) for name, (words, sets) in READINGS.items()]
    policies = [
        Group(name, words, {**CHOSEN, **sets}, SENSITIVE, ("ressd",)) for name, (words, sets) in POLICIES.items()
    ]
    return [MAIN, *read, *policies]


class Measured:
    """Results of a group."""

    def __init__(self, group: Group, results: dict[str, list[Result]]) -> None:
        self.group = group
        self._results = results

    def of(self, volume: str, drive: str) -> dict[str, Any]:
        """A result; of the main group if this group does not vary the drive."""
        group = self.group if drive in self.group.drives else MAIN
        return self._results[group.case(volume, drive)][0].raw

    def ratio(
        self, volume: str, drive: str, figure: Callable[[dict[str, Any]], float], base: str = "baseline"
    ) -> float:
        """Ratio of a figure of two drives; 1 if both are zero."""
        ours, theirs = figure(self.of(volume, drive)), figure(self.of(volume, base))
        return ours / theirs if theirs else (1.0 if not ours else float("inf"))

    def mean_ratio(self, drive: str, figure: Callable[[dict[str, Any]], float], base: str = "baseline") -> float:
        """Mean over the volumes with a nonzero figure on the other drive."""
        usable = [v for v in self.group.volumes if figure(self.of(v, base))]
        return fmean(self.ratio(v, drive, figure, base) for v in usable) if usable else 1.0

    def change(self, drive: str, figure: Callable[[dict[str, Any]], float], base: str = "baseline") -> float:
        """Mean change in percent."""
        return 100.0 * (self.mean_ratio(drive, figure, base) - 1.0)

    def total(self, drive: str, figure: Callable[[dict[str, Any]], float]) -> float:
        """Sum over the volumes."""
        return sum(figure(self.of(volume, drive)) for volume in self.group.volumes)


def consumed(*parts: str) -> Callable[[dict[str, Any]], float]:
    """Consumed pages of erased word lines, by cause."""
    return lambda raw: float(sum(raw["ftl"]["page_consumption"][part] for part in parts))


def of_ftl(key: str) -> Callable[[dict[str, Any]], float]:
    """A figure of the section `ftl`; zero if absent."""
    return lambda raw: float(raw["ftl"].get(key, 0.0))


def latency(kind: str) -> Callable[[dict[str, Any]], float]:
    """Mean latency in us."""
    return lambda raw: float(raw["latency_us"][kind]["mean"])


def migrating(raw: dict[str, Any]) -> float:
    """Garbage collections with migrations."""
    return float(raw["ftl"]["gc_runs"] - raw["ftl"]["direct_gc_runs"])


TOTAL = consumed("total")
WRITE = consumed("host")
GC = consumed("gc")
EARLY = consumed("fully_invalidated")
GC_AND_EARLY = consumed("gc", "fully_invalidated")
RUNS = of_ftl("gc_runs")
DIRECT = of_ftl("direct_gc_runs")
GC_TIME = of_ftl("gc_time_s")
PWE = of_ftl("page_writes_per_erase")
PWE_HOST = of_ftl("host_page_writes_per_erase")
FREE = of_ftl("free_pages")

FIGURES: dict[str, tuple[str, dict[str, Callable[[dict[str, Any]], float]]]] = {
    "fig11": (
        "page consumption",
        {"total": TOTAL, "write requests": WRITE, "garbage collection": GC, "fully invalidated": EARLY},
    ),
    "fig12": ("garbage collection", {"time": GC_TIME, "runs": RUNS, "with migration": migrating, "direct": DIRECT}),
    "fig13": ("page writes per erase", {"all": PWE, "of the host": PWE_HOST}),
    "fig14": ("mean latency", {"write": latency("write"), "read": latency("read")}),
    "fig15": ("free pages", {"free pages": FREE}),
}
"""Tables: title and columns."""

PRINTED = {
    "fig11": {"total": "ppc", "write requests": "ppc_write"},
    "fig12": {"time": "gc_time", "runs": "gc_runs", "with migration": "gc_runs_with_migration"},
    "fig13": {"all": "pwe"},
    "fig14": {"write": "write_latency", "read": "read_latency"},
    "fig15": {"free pages": "free_pages"},
    "fig16": {
        f"{DRIVES[drive][0]}, {words}": f"{row}{name}"
        for drive, row in (("mlc", "mlc_"), ("ressd", ""))
        for words, name in (("write", "write_latency"), ("read", "read_latency"), ("PWE", "pwe"))
    },
}
"""Rows of the published means, by figure and column."""


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    config = context.config("array.toml")
    # The initial data also depends on the seed and determines how much RSS-RAID collects.
    config.set("precondition.seed", context.seed)
    if context.quick:
        config.set("part.blocks-per-plane", QUICK_BLOCKS)
        config.set("flow.0.requests", QUICK_REQUESTS)
    config.set("run.warmup-requests", QUICK_WARMUP if context.quick else WARMUP_REQUESTS)
    all_groups = groups()
    cases = [case for group in (*all_groups, *PROJ_1) for case in group.cases(config)]
    context.announce(len(cases))
    # All groups at once, so that no core waits for the last case of a group.
    results = context.run(cases)
    measured = {group.name: Measured(group, results) for group in all_groups}
    main = measured["main"]
    rows = context.rows()
    _motivation(rows, main)
    _drives(rows, main)
    alone = Measured(Group("main", MAIN.words, {}, SENSITIVE, BOTH), results)
    _varied(rows, alone, "alone")
    for group in all_groups[1:]:
        _varied(rows, measured[group.name], group.name)
    slow = latency("write")(results[PROJ_1[0].case("PROJ_1", "ressd")][0].raw)
    for group in PROJ_1:
        ours = latency("write")(results[group.case("PROJ_1", "mlc")][0].raw) / slow
        rows.add(f"{_PROJ_1_ROW}_{group.name}", ours, beside=_PROJ_1_ROW, figure=group.words)
    expected = context.expected()
    return Outcome(
        rows,
        calibrated={
            "ftl.over-provisioning": SPARE,
            "on": "the share of garbage collection in the baseline's page consumption, 63.7 %",
        },
        notes=list(_notes(main, measured)),
        plots=[
            Plot(
                "fig10",
                lambda: draw_ranks({v: main.of(v, "baseline")["array"]["updates"] for v in VOLUMES}),
                "Updates of each volume, ranked",
            ),
            *(Plot(name, _plot(main, name, expected)) for name in FIGURES),
            Plot(
                "fig16",
                lambda: draw_volumes(
                    "MLC mode and RSS-RAID against the baseline",
                    tuple(VOLUMES),
                    _fig16(main),
                    _means("fig16", expected),
                ),
                "MLC mode and RSS-RAID against the baseline",
            ),
        ],
        curves=[*_tables(main)],
    )


def _motivation(rows: Rows, of: Measured) -> None:
    """Section 5."""
    updates = [of.of(volume, "baseline")["array"]["updates"] for volume in of.group.volumes]
    writes = [100.0 * u["parity"]["writes"] / u["data"]["writes"] for u in updates]
    both = [u for u in updates if "mean_interval_s" in u["parity"] and "mean_interval_s" in u["data"]]
    intervals = [100.0 * (u["parity"]["mean_interval_s"] / u["data"]["mean_interval_s"] - 1.0) for u in both]
    fifths = [100.0 * u["share_of_busiest_fifth"] for u in updates if "share_of_busiest_fifth" in u]
    deferred = [100.0 * u["parity_per_data_page_if_deferred"] for u in updates]
    words = "if parity were kept back until its stripe leaves the cache"
    rows.add("parity_writes_deferred", fmean(deferred), beside="parity_writes", figure=words)
    found = {"parity_writes": writes, "parity_interval": intervals, "updates_in_busiest_fifth": fifths}
    for name, values in found.items():
        rows.add(name, fmean(values))


def _drives(rows: Rows, of: Measured) -> None:
    """Figures 11 to 16."""
    free = {volume: 100.0 * (of.ratio(volume, "ressd", FREE) - 1.0) for volume in of.group.volumes}
    shares = {
        f"ppc_share_{name}": fmean(100.0 * part(of.of(v, "ressd")) / TOTAL(of.of(v, "ressd")) for v in of.group.volumes)
        for name, part in (("write", WRITE), ("gc", GC), ("fully_invalidated", EARLY))
    }
    found = {
        **{name: figure(of) for name, figure in _VARIED_ROWS.items()},
        **shares,
        "ppc_gc_and_fully_invalidated": 100.0 * of.mean_ratio("ressd", GC_AND_EARLY),
        "pwe_journal": of.change("ressd", PWE),
        # Over all volumes, including those without free pages on the baseline.
        "free_pages": fmean(free.values()),
        "free_pages_at_least_8": float(sum(change >= 8.0 for change in free.values())),
        "free_pages_proj_4": free["PROJ_4"],
        "mlc_read_latency": of.change("mlc", latency("read")),
        "mlc_pwe_against_ressd": of.change("mlc", PWE, "ressd"),
        _PROJ_1_ROW: of.ratio("PROJ_1", "mlc", latency("write"), "ressd"),
    }
    for name, value in found.items():
        rows.add(name, value)


_VARIED_ROWS: dict[str, Callable[[Measured], float]] = {
    "baseline_gc_share": lambda of: fmean(
        100.0 * GC(of.of(v, "baseline")) / TOTAL(of.of(v, "baseline")) for v in of.group.volumes
    ),
    "ppc": lambda of: 100.0 * of.mean_ratio("ressd", TOTAL),
    "ppc_write": lambda of: 100.0 * of.mean_ratio("ressd", WRITE),
    "gc_time": lambda of: of.change("ressd", GC_TIME),
    "gc_runs": lambda of: of.change("ressd", RUNS),
    "gc_runs_with_migration": lambda of: of.change("ressd", migrating),
    # Means over the volumes with a nonzero baseline, and ratios of sums over all volumes.
    "gc_runs_direct": lambda of: of.mean_ratio("ressd", DIRECT) - 1.0,
    "gc_runs_direct_sum": lambda of: of.total("ressd", DIRECT) / max(of.total("baseline", DIRECT), 1.0) - 1.0,
    "pwe": lambda of: of.change("ressd", PWE),
    "pwe_host": lambda of: of.change("ressd", PWE_HOST),
    "write_latency": lambda of: of.change("ressd", latency("write")),
    "read_latency": lambda of: of.change("ressd", latency("read")),
    "free_pages": lambda of: of.change("ressd", FREE),
    "mlc_write_latency": lambda of: of.change("mlc", latency("write")),
    "mlc_pwe": lambda of: of.change("mlc", PWE),
}
"""Rows of the readings and sensitivities."""

_PROJ_1_ROW = "proj_1_write_mlc_over_ressd"


def _varied(rows: Rows, of: Measured, suffix: str) -> None:
    volumes = of.group.volumes
    where = " and ".join(volumes)
    for name, figure in _VARIED_ROWS.items():
        if name.startswith("mlc") and "mlc" not in of.group.drives:
            continue
        rows.add(f"{name}_{suffix}", figure(of), beside=name, figure=f"{of.group.words}, {where}")


def _notes(main: Measured, measured: dict[str, Measured]) -> Iterator[str]:
    metadata = main.of("HM_0", "ressd")["ftl"]["reprogram_metadata"]
    yield (
        f"metadata of a drive in bytes: time stamps {metadata['time_stamps_bytes']:,}, tags "
        f"{metadata['hotness_tags_bytes']:,}, pointers {metadata['active_pointers_bytes']:,}, word line status "
        f"{metadata['word_line_status_bytes']:,}; made up for by {metadata['break_even_blocks']:,} reprogrammed blocks "
        "(Section 4.3, of the full geometry: 384 KB, 36 KB, 432 B, 9 MB; its twelve blocks are twelve thousand)"
    )
    gc = {name: _VARIED_ROWS["baseline_gc_share"](measured[name]) for name in READINGS}
    shares = ", ".join(f"{name} {share:.1f} %" for name, share in gc.items())
    yield (
        f"collection's share of the baseline's page consumption, 63.7 % in the paper, is {shares}. The MLC drive's "
        "92 % is of its own capacity: that of the TLC drive does not fit into it"
    )


def _fig16(of: Measured) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for drive in ("mlc", "ressd"):
        for words, figure in (("write", latency("write")), ("read", latency("read")), ("PWE", PWE)):
            found[f"{DRIVES[drive][0]}, {words}"] = [of.ratio(v, drive, figure) for v in VOLUMES]
    return found


def _means(figure: str, expected: Expected) -> dict[str, Published]:
    return {series: expected.rows[row] for series, row in PRINTED[figure].items()}


def _plot(of: Measured, name: str, expected: Expected) -> Callable[[], Any]:
    words, columns = FIGURES[name]
    series = {
        column: [of.ratio(v, "ressd", figure) for v in VOLUMES]
        for column, figure in columns.items()
        if column not in ("fully invalidated", "direct")
    }
    title = f"RSS-RAID against the baseline: {words}"
    return lambda: draw_volumes(title, tuple(VOLUMES), series, _means(name, expected))


def _tables(main: Measured) -> Iterator[Curve]:
    ranks = [
        (volume, float(rank), float(updates))
        for volume in VOLUMES
        for rank, updates in main.of(volume, "baseline")["array"]["updates"]["updates_by_rank"]
    ]
    yield Curve("fig10", ("volume", "rank", "updates"), ranks)
    yield Curve("motivation", _MOTIVATION, list(_motivation_table(main)))
    for name, (_, columns) in FIGURES.items():
        both = [(column, drive) for column in columns for drive in ("baseline", "ressd")]
        header = ("volume", *(f"{column} ({drive})" for column, drive in both))
        lines: list[list[str | float | None]] = [
            [volume, *(columns[column](main.of(volume, drive)) for column, drive in both)] for volume in VOLUMES
        ]
        yield Curve(name, header, lines)
    found = _fig16(main)
    ratios: list[list[str | float | None]] = [[v, *(of[k] for of in found.values())] for k, v in enumerate(VOLUMES)]
    yield Curve("fig16", ("volume", *found), ratios)


_MOTIVATION = (
    "volume",
    "data writes",
    "parity writes",
    "parity page writes per data page write (4 KiB)",
    "data interval, s",
    "parity interval, s",
    "updates in the busiest fifth",
)


def _motivation_table(of: Measured) -> Iterator[tuple[str | float | None, ...]]:
    for volume in of.group.volumes:
        array = of.of(volume, "baseline")["array"]
        updates = array["updates"]
        yield (
            volume,
            updates["data"]["writes"],
            updates["parity"]["writes"],
            array.get("parity_per_data_page"),
            updates["data"].get("mean_interval_s"),
            updates["parity"].get("mean_interval_s"),
            updates.get("share_of_busiest_fifth"),
        )

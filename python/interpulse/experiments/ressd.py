"""Reprogrammable TLC in a RAID-5 of SSDs: Gao et al., MICRO'19, Sections 5 and 6.

Statistical twins of the paper's 15 volumes on an array of four drives, three times: conventional TLC that separates
writes by hotness (the baseline), the reprogrammable SSD (RSS-RAID), and TLC used in MLC mode. Every published figure is
an average over the volumes of a ratio to the baseline. What the paper does not print and what decides the figures is
varied: the unit of the stripe cache, what "initial data 92 %" means, when a write is complete, how a volume's updates
are spread over addresses and time, and the policies of Section 4 that can be read in two ways.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from interpulse.experiments.ressd_plots import draw_ranks, draw_volumes
from interpulse.plots import Plot
from interpulse.studies.case import Case
from interpulse.studies.outcome import Curve, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from interpulse.config import Config
    from interpulse.result import Result
    from interpulse.studies.case import Sets
    from interpulse.studies.context import Context
    from interpulse.studies.outcome import Rows
    from interpulse.values import Value

VOLUMES: dict[str, str] = {
    name: f"msr-{name.lower().replace('_', '-')}"
    for name in (
        "HM_0", "HM_1", "PRN_0", "PRN_1", "PROJ_1", "PROJ_3", "PROJ_4", "RSRCH_0", "SRC1_2", "SRC2_0", "SRC2_2",
        "STG_0", "WDEV_0", "PRXY_0", "USR_0",
    )
}  # fmt: skip
"""The volumes of Table 5 in its order, and their twins."""

DRIVES: dict[str, tuple[str, Sets]] = {
    "baseline": ("conventional TLC", {"ftl.reprogram": False}),
    "ressd": ("RSS-RAID", {"ftl.reprogram": True}),
    "mlc": ("MLC mode", {"ftl.reprogram": False, "part.preset": "ressd-mlc"}),
}
"""The three arrays of Figure 16: in words, and as overrides."""

AGED: Sets = {
    "precondition.overwrite": "uniform",
    "precondition.until": "drive-writes",
    "precondition.drive-writes": 2,
}
"""Initial data that has been overwritten at random until blocks hold all shares of invalid pages."""

READINGS: dict[str, tuple[str, Sets]] = {
    "all_valid": (
        "initial data all valid: 92 % of the pages, none overwritten; collection below 3 % free, at 8 % it never ends",
        {"ftl.over-provisioning": "8.7%", "ftl.gc-soft": "3%"},
    ),
    "mixed": (
        "initial data mixed: 92 % of the pages programmed, a fifth of the capacity overwritten once",
        {**AGED, "precondition.drive-writes": 0.2},
    ),
}
"""What "initial data 92 %" may mean beside aged: in words, and as overrides."""


FAST, FASTER = 256, 384
"""How much faster arrivals are where load is varied; FASTER, near what the drives can take, on HM_0 alone."""


def _paced(times: int) -> Sets:
    """A heavier load that leaves each page as hot as it is: arrivals and thresholds of hotness in a shorter time."""
    within: list[Value] = [f"{minutes * 60_000_000 // times}us" for minutes in (30, 60, 120)]
    return {"flow.0.speed": times, "ftl.hot-within": within}


def _paced_words(times: int) -> str:
    return f"arrivals {times} times as fast, the thresholds of hotness as much shorter"


VARIED: dict[str, tuple[str, Sets]] = {
    "cached": ("writes complete in a protected cache, word lines always full", {"cache.acknowledge": "when-cached"}),
    "even_fifth": ("updates spread evenly over a hot fifth", {"flow.0.update-shape": "fifth"}),
    "bursts": (
        "eight updates at a time within half an hour",
        {"flow.0.update-burst": 8, "flow.0.update-window": "30min"},
    ),
    "stamp_of_pages": ("every page has a time stamp", {"ftl.time-stamps": "unit"}),
    "next_super_layer": ("a stuck super layer is left at once (Section 4.1)", {"ftl.when-valid": "next-super-layer"}),
    "candidates_4": ("four candidates a level and plane before one is reclaimed", {"ftl.candidates": 4}),
    "pages_counted": (
        "the threshold of collection counts free pages, those of open blocks included",
        {"ftl.gc-counts": "pages"},
    ),
    "one_layer": ("super layers of one layer", {"ftl.super-layer": 1}),
    f"pace_{FAST}": (_paced_words(FAST), _paced(FAST)),
    f"pace_{FAST}_stamp_of_pages": (
        f"{_paced_words(FAST)}; every page has a time stamp",
        {**_paced(FAST), "ftl.time-stamps": "unit"},
    ),
}
"""What else the paper does not print, or prints in two ways."""

SENSITIVE = ("HM_0", "PRN_0", "PROJ_4", "SRC2_0")
"""The volumes of the readings and sensitivities: writes of three kinds, and one with few."""

QUICK_BLOCKS = 192
"""Blocks of a plane in a quick run, an eighth of the drive."""

QUICK_SPARE = "24%"
"""Over-provisioning of a quick run, calibrated as that of `array.toml` is: less has been written when it ends."""

QUICK_REQUESTS = 250_000
"""Requests of each volume in a quick run, of 0.5 to 1 million; their span shrinks in proportion, never the gaps."""


@dataclass(frozen=True)
class Group:
    """The volumes under one setting, on some of the drives."""

    name: str
    words: str
    sets: Sets = field(default_factory=dict)
    volumes: tuple[str, ...] = tuple(VOLUMES)
    drives: tuple[str, ...] = tuple(DRIVES)

    def case(self, volume: str, drive: str) -> str:
        """The name of one of its cases."""
        return f"{self.name} {volume} {drive}"

    def cases(self, config: Config) -> Iterator[Case]:
        """Its simulations."""
        for volume in self.volumes:
            for drive in self.drives:
                # Keys of reprogramming belong to the drive that does it.
                own = {k: v for k, v in self.sets.items() if drive == "ressd" or k not in _RESSD_ONLY}
                sets: Sets = {"flow.0.twin": VOLUMES[volume], **DRIVES[drive][1], **own}
                yield Case(self.case(volume, drive), config, sets)


_RESSD_ONLY = ("ftl.when-valid", "ftl.candidates", "ftl.super-layer")

MAIN = Group("main", "as configured", AGED)
CHUNKS = Group(
    "chunk",
    "the stripe cache counts stripes of chunks",
    {**AGED, "array.stripe-cache-unit": "chunk"},
    drives=("baseline",),
)


PROJ_1 = Group(
    f"pace_{FAST}",
    _paced_words(FAST),
    {**AGED, **_paced(FAST)},
    ("PROJ_1",),
    ("ressd", "mlc"),
)
"""Whether load makes MLC mode the slower one on PROJ_1, as it is in Figure 16."""


def groups() -> list[Group]:
    """Everything that is simulated and told by the same rows."""
    read = [Group(name, words, sets, SENSITIVE) for name, (words, sets) in READINGS.items()]
    varied = [Group(name, words, {**AGED, **sets}, SENSITIVE) for name, (words, sets) in VARIED.items()]
    faster = Group(f"pace_{FASTER}", _paced_words(FASTER), {**AGED, **_paced(FASTER)}, ("HM_0",))
    return [MAIN, CHUNKS, *read, *varied, faster]


class Measured:
    """The results of a group."""

    def __init__(self, group: Group, results: dict[str, list[Result]]) -> None:
        self.group = group
        self._results = results

    def of(self, volume: str, drive: str) -> dict[str, Any]:
        """One result."""
        return self._results[self.group.case(volume, drive)][0].raw

    def ratio(
        self, volume: str, drive: str, figure: Callable[[dict[str, Any]], float], base: str = "baseline"
    ) -> float:
        """A figure of a drive over that of another one; 1 where both are zero."""
        ours, theirs = figure(self.of(volume, drive)), figure(self.of(volume, base))
        return ours / theirs if theirs else (1.0 if not ours else float("inf"))

    def mean_ratio(self, drive: str, figure: Callable[[dict[str, Any]], float], base: str = "baseline") -> float:
        """The mean over the volumes on which the other drive has any of it."""
        usable = [v for v in self.group.volumes if figure(self.of(v, base))]
        return fmean(self.ratio(v, drive, figure, base) for v in usable) if usable else 1.0

    def change(self, drive: str, figure: Callable[[dict[str, Any]], float], base: str = "baseline") -> float:
        """The mean change in percent."""
        return 100.0 * (self.mean_ratio(drive, figure, base) - 1.0)

    def total(self, drive: str, figure: Callable[[dict[str, Any]], float]) -> float:
        """The sum over the volumes."""
        return sum(figure(self.of(volume, drive)) for volume in self.group.volumes)


def consumed(*parts: str) -> Callable[[dict[str, Any]], float]:
    """Pages of erased word lines taken, by these causes."""
    return lambda raw: float(sum(raw["ftl"]["page_consumption"][part] for part in parts))


def of_ftl(key: str) -> Callable[[dict[str, Any]], float]:
    """A figure of the section `ftl`, zero where there is none."""
    return lambda raw: float(raw["ftl"].get(key, 0.0))


def latency(kind: str) -> Callable[[dict[str, Any]], float]:
    """A mean latency in us."""
    return lambda raw: float(raw["latency_us"][kind]["mean"])


def migrating(raw: dict[str, Any]) -> float:
    """Garbage collections that moved something."""
    return float(raw["ftl"]["gc_runs"] - raw["ftl"]["direct_gc_runs"])


TOTAL = consumed("total")
WRITE = consumed("host")
GC = consumed("gc")
EARLY = consumed("fully_invalidated")
GC_AND_EARLY = consumed("gc", "fully_invalidated")
RUNS = of_ftl("gc_runs")
DIRECT = of_ftl("direct_gc_runs")
GC_TIME = of_ftl("gc_time_s")
PWE = of_ftl("host_page_writes_per_erase")
PWE_ALL = of_ftl("page_writes_per_erase")
FREE = of_ftl("free_pages")

FIGURES: dict[str, tuple[str, dict[str, Callable[[dict[str, Any]], float]]]] = {
    "fig11": (
        "page consumption",
        {"total": TOTAL, "write requests": WRITE, "garbage collection": GC, "fully invalidated": EARLY},
    ),
    "fig12": ("garbage collection", {"time": GC_TIME, "runs": RUNS, "with migration": migrating, "direct": DIRECT}),
    "fig13": ("page writes per erase", {"of the host": PWE, "all": PWE_ALL}),
    "fig14": ("mean latency", {"write": latency("write"), "read": latency("read")}),
    "fig15": ("free pages", {"free pages": FREE}),
}
"""One table each: what it is about, and its columns."""


def run(context: Context) -> Outcome:
    """Runs the experiment."""
    config = context.config("array.toml")
    if context.quick:
        config.set("part.blocks-per-plane", QUICK_BLOCKS)
        config.set("flow.0.requests", QUICK_REQUESTS)
        config.set("ftl.over-provisioning", QUICK_SPARE)
    all_groups = groups()
    cases = [case for group in (*all_groups, PROJ_1) for case in group.cases(config)]
    context.announce(len(cases))
    # All at once: no core waits for the last case of a group.
    results = context.run(cases)
    measured = {group.name: Measured(group, results) for group in all_groups}
    main, chunks = measured["main"], measured["chunk"]
    rows = context.rows()
    _motivation(rows, main, "")
    _motivation(rows, chunks, "_chunk")
    _drives(rows, main)
    for group in all_groups[2:]:
        _varied(rows, measured[group.name])
    rows.add(
        f"{_PROJ_1_ROW}_{PROJ_1.name}",
        Measured(PROJ_1, results).ratio("PROJ_1", "mlc", latency("write"), "ressd"),
        beside=_PROJ_1_ROW,
        figure=PROJ_1.words,
    )
    return Outcome(
        rows,
        calibrated={
            "ftl.over-provisioning": QUICK_SPARE if context.quick else "15%",
            "on": "the share of garbage collection in the baseline's page consumption, 63.7 %",
        },
        notes=list(_notes(main, measured)),
        plots=[
            Plot("fig10", lambda: draw_ranks({v: main.of(v, "baseline")["array"]["updates"] for v in VOLUMES})),
            *(Plot(name, _plot(main, name)) for name in FIGURES),
            Plot(
                "fig16",
                lambda: draw_volumes("MLC mode and RSS-RAID against the baseline", tuple(VOLUMES), _fig16(main)),
            ),
        ],
        curves=[*_tables(main, chunks)],
    )


def _motivation(rows: Rows, of: Measured, suffix: str) -> None:
    """Section 5, with the stripe cache counted in one way."""
    updates = [of.of(volume, "baseline")["array"]["updates"] for volume in of.group.volumes]
    writes = [100.0 * u["parity"]["writes"] / u["data"]["writes"] for u in updates]
    both = [u for u in updates if "mean_interval_s" in u["parity"] and "mean_interval_s" in u["data"]]
    intervals = [100.0 * (u["parity"]["mean_interval_s"] / u["data"]["mean_interval_s"] - 1.0) for u in both]
    fifths = [100.0 * u["share_of_busiest_fifth"] for u in updates if "share_of_busiest_fifth" in u]
    deferred = [100.0 * u["parity_per_data_page_if_deferred"] for u in updates]
    words = f"if parity were kept back until its stripe leaves the cache; {of.group.words}"
    rows.add(f"parity_writes_deferred{suffix}", fmean(deferred), beside="parity_writes", figure=words)
    found = {"parity_writes": writes, "parity_interval": intervals, "updates_in_busiest_fifth": fifths}
    for name, values in found.items():
        if suffix:
            rows.add(f"{name}{suffix}", fmean(values), beside=name, figure=of.group.words)
        else:
            rows.add(name, fmean(values))


def _drives(rows: Rows, of: Measured) -> None:
    """Figures 11 to 16."""
    for name, figure in _VARIED_ROWS.items():
        # Of all volumes, those without free pages on the baseline too.
        if name != "free_pages":
            rows.add(name, figure(of))
    for name, part in (("write", WRITE), ("gc", GC), ("fully_invalidated", EARLY)):
        shares = [100.0 * part(of.of(v, "ressd")) / TOTAL(of.of(v, "ressd")) for v in of.group.volumes]
        rows.add(f"ppc_share_{name}", fmean(shares))
    rows.add("ppc_gc_and_fully_invalidated", 100.0 * of.mean_ratio("ressd", GC_AND_EARLY))
    rows.add("gc_time", of.change("ressd", GC_TIME))
    rows.add("gc_runs_with_migration", of.change("ressd", migrating))
    # Some volumes have no direct collection on the baseline: of sums.
    rows.add("gc_runs_direct", of.total("ressd", DIRECT) / max(of.total("baseline", DIRECT), 1.0) - 1.0)
    rows.add("pwe_journal", of.change("ressd", PWE))
    rows.add("pwe_all", of.change("ressd", PWE_ALL))
    free = {volume: 100.0 * (of.ratio(volume, "ressd", FREE) - 1.0) for volume in of.group.volumes}
    rows.add("free_pages", fmean(free.values()))
    rows.add("free_pages_at_least_8", sum(change >= 8.0 for change in free.values()))
    rows.add("free_pages_proj_4", free["PROJ_4"])
    rows.add("mlc_read_latency", of.change("mlc", latency("read")))
    rows.add("mlc_pwe_against_ressd", of.change("mlc", PWE, "ressd"))
    rows.add(_PROJ_1_ROW, of.ratio("PROJ_1", "mlc", latency("write"), "ressd"))


_VARIED_ROWS: dict[str, Callable[[Measured], float]] = {
    "baseline_gc_share": lambda of: fmean(
        100.0 * GC(of.of(v, "baseline")) / TOTAL(of.of(v, "baseline")) for v in of.group.volumes
    ),
    "ppc": lambda of: 100.0 * of.mean_ratio("ressd", TOTAL),
    "ppc_write": lambda of: 100.0 * of.mean_ratio("ressd", WRITE),
    "gc_runs": lambda of: of.change("ressd", RUNS),
    "pwe": lambda of: of.change("ressd", PWE),
    "write_latency": lambda of: of.change("ressd", latency("write")),
    "read_latency": lambda of: of.change("ressd", latency("read")),
    "free_pages": lambda of: of.change("ressd", FREE),
    "mlc_write_latency": lambda of: of.change("mlc", latency("write")),
    "mlc_pwe": lambda of: of.change("mlc", PWE),
}
"""What the readings and sensitivities are told by."""

_PROJ_1_ROW = "proj_1_write_mlc_over_ressd"


def _varied(rows: Rows, of: Measured) -> None:
    volumes = of.group.volumes
    where = volumes[0] if len(volumes) == 1 else f"{len(volumes)} volumes"
    for name, figure in _VARIED_ROWS.items():
        rows.add(f"{name}_{of.group.name}", figure(of), beside=name, figure=f"{of.group.words}, {where}")


def _notes(main: Measured, measured: dict[str, Measured]) -> Iterator[str]:
    reference = Measured(Group("main", "", {}, SENSITIVE), main._results)  # noqa: SLF001
    figures = ", ".join(f"{name} {figure(reference):.1f}" for name, figure in _VARIED_ROWS.items())
    yield f"the {len(SENSITIVE)} volumes of the readings and sensitivities alone, as configured: {figures}"
    metadata = main.of("HM_0", "ressd")["ftl"]["reprogram_metadata"]
    yield (
        f"metadata of a drive in bytes: time stamps {metadata['time_stamps_bytes']:,}, tags "
        f"{metadata['hotness_tags_bytes']:,}, pointers {metadata['active_pointers_bytes']:,}, word line status "
        f"{metadata['word_line_status_bytes']:,}; made up for by {metadata['break_even_blocks']:,} reprogrammed blocks "
        "(Section 4.3, of the full geometry: 384 KB, 36 KB, 432 B, 9 MB; its twelve blocks are twelve thousand)"
    )
    gc = {name: _VARIED_ROWS["baseline_gc_share"](measured[name]) for name in READINGS}
    gc["aged"] = _VARIED_ROWS["baseline_gc_share"](reference)
    nearest = min(gc, key=lambda name: abs(gc[name] - 63.7))
    shares = ", ".join(f"{name} {share:.1f} %" for name, share in gc.items())
    yield (
        f"initial data 92 %: collection's share of the baseline's page consumption, 63.7 % in the paper, is {shares}; "
        f"{nearest} fits. The MLC-mode drive's 92 % is of its own capacity: that of the TLC drive does not fit into it"
    )


def _fig16(of: Measured) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for drive in ("mlc", "ressd"):
        for words, figure in (("write", latency("write")), ("read", latency("read")), ("PWE", PWE)):
            found[f"{DRIVES[drive][0]}, {words}"] = [of.ratio(v, drive, figure) for v in VOLUMES]
    return found


def _plot(of: Measured, name: str) -> Callable[[], Any]:
    words, columns = FIGURES[name]
    series = {
        column: [of.ratio(v, "ressd", figure) for v in VOLUMES]
        for column, figure in columns.items()
        if column not in ("fully invalidated", "direct")
    }
    return lambda: draw_volumes(f"RSS-RAID against the baseline: {words}", tuple(VOLUMES), series)


def _tables(main: Measured, chunks: Measured) -> Iterator[Curve]:
    """One table per figure, volume by volume."""
    ranks = [
        (volume, float(rank), float(updates))
        for volume in VOLUMES
        for rank, updates in main.of(volume, "baseline")["array"]["updates"]["updates_by_rank"]
    ]
    yield Curve("fig10", ("volume", "rank", "updates"), ranks)
    yield Curve("motivation", _MOTIVATION, list(_motivation_table((main, chunks))))
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
    "stripe cache",
    "data writes",
    "parity writes",
    "parity page writes per data page write (4 KiB)",
    "data interval, s",
    "parity interval, s",
    "updates in the busiest fifth",
)


def _motivation_table(of: Iterable[Measured]) -> Iterator[tuple[str | float | None, ...]]:
    for group in of:
        for volume in group.group.volumes:
            array = group.of(volume, "baseline")["array"]
            updates = array["updates"]
            yield (
                volume,
                "chunk" if group.group.name == "chunk" else "page",
                updates["data"]["writes"],
                updates["parity"]["writes"],
                array.get("parity_per_data_page"),
                updates["data"].get("mean_interval_s"),
                updates["parity"].get("mean_interval_s"),
                updates.get("share_of_busiest_fifth"),
            )

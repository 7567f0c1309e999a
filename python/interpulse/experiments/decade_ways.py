"""What publications of 2012 to 2025 set on a drive, and the drives of the experiment `decade`."""

from __future__ import annotations

from dataclasses import dataclass

from interpulse.configuration.values import Value
from interpulse.studies.case import Sets


@dataclass(frozen=True)
class Way:
    """What one publication brings, as settings of a drive."""

    name: str
    year: int
    """Of the publication; 0 where there is none."""
    source: str
    sets: Sets


def both(scheme: str, **more: Value) -> Sets:
    """A scheme for programs and erases, with further settings of both, as in `both("exact", max_suspends=2)`."""
    settings = {"scheme": scheme, **{key.replace("_", "-"): value for key, value in more.items()}}
    return {f"suspend.{kind}.{key}": value for kind in ("program", "erase") for key, value in settings.items()}


TIERS: Sets = both("loop-boundary", tier_suspends=[4, 2, 1], tier_intervals=["0us", "100us", "300us"])
"""Budgets that become smaller, with growing intervals; the patent prints no numbers."""

MULTI_BLOCK: Sets = {"erase.blocks-per-operation": 4}
"""Four blocks in one operation; the sources print no number."""

WAYS: tuple[Way, ...] = (
    Way("none", 0, "no suspension", {}),
    Way("ideal", 0, "a bound, not a part", both("ideal")),
    Way("inter-phase", 2012, "Wu and He, FAST'12: IPS", both("inter-phase")),
    Way("intra-phase-cancel", 2012, "Wu and He, FAST'12: IPC", both("intra-phase-cancel")),
    Way("pulse-remainder", 2012, "Wu and He, FAST'12: erase suspension", both("pulse-remainder")),
    Way("sliced", 2018, "US 9,892,794: slices of the controller", both("sliced", slice_time="500us")),
    Way("exact", 2019, "Kim et al., ATC'19: ES", both("exact")),
    Way("immediate", 2019, "Kim et al., ATC'19: I-ES", both("immediate")),
    Way("deferred", 2019, "Kim et al., ATC'19: D-ES", both("deferred")),
    Way("timeout", 2019, "Kim et al., ATC'19: T-ES", both("timeout")),
    Way("loop-boundary", 2021, "Zambelli et al., Electronics 2021", both("loop-boundary")),
    Way("tiers", 2021, "US 10,956,081", TIERS),
    Way("adaptive", 2023, "Fujimori and Nomura, SYSTOR'23: A-ES", both("adaptive")),
    Way("multi-block", 2023, "Fujimori and Nomura, SYSTOR'23: multi-block erase, no suspension", MULTI_BLOCK),
    Way("booster", 2023, "Fujimori and Nomura, SYSTOR'23: BOOSTER", {**MULTI_BLOCK, **both("adaptive")}),
    Way("aero", 2024, "Cho et al., ASPLOS'24: AERO, no suspension", {"erase.method": "aero"}),
    Way("aero-deferred", 2024, "Cho et al., ASPLOS'24: AERO, suspended", {"erase.method": "aero", **both("deferred")}),
    Way("safe-points", 2025, "Kim et al., KICS 2025: SSR", both("safe-points")),
    Way("aero-safe-points", 2025, "AERO and SSR together", {"erase.method": "aero", **both("safe-points")}),
)
"""In the order of publication. Reprogramming (MICRO'19) has a drive of its own in `reprogram-suspend`."""

PARTS: dict[str, tuple[str, Sets]] = {
    "tlc": ("TLC of 300 layers", {}),
    "qlc": (
        "QLC of 144 layers",
        {"part.preset": "intel-144l-qlc", "part.pages-per-block": 576, "flow.0.rate": "15k/s"},
    ),
}
"""Dies, with blocks of one word line a layer; reads are a third of what the drive serves without writes."""

CACHES: dict[str, tuple[str, Sets]] = {
    "": ("", {}),
    "-slc": ("SLC cache", {"ftl.slc-cache.kind": "static", "ftl.slc-cache.size": "512MiB"}),
}
"""Without and with an SLC cache, which the load fills within a second."""

READS: dict[str, tuple[str, Sets]] = {
    "": ("", {}),
    "-iwl": ("independent reads", {"part.independent-plane-reads": True}),
}
"""Reads of planes together and on their own."""


@dataclass(frozen=True)
class DriveKind:
    """A drive of the experiment."""

    name: str
    title: str
    sets: Sets


def drives() -> list[DriveKind]:
    """All drives: part, SLC cache, independent reads."""
    return [
        DriveKind(part + cache + reads, ", ".join(filter(None, words)), {**of_part, **of_cache, **of_reads})
        for part, (part_title, of_part) in PARTS.items()
        for cache, (cache_title, of_cache) in CACHES.items()
        for reads, (reads_title, of_reads) in READS.items()
        for words in [(part_title, cache_title, reads_title)]
    ]

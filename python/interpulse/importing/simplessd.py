"""SimpleSSD 2: the drive of a configuration file such as `sample.cfg`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from interpulse.files.paths import shown
from interpulse.importing.draft import Draft
from interpulse.importing.flash import mapping_unit, size_text
from interpulse.importing.lines_reader import assignments
from interpulse.importing.parameters import Values, nearest, raise_problems, read_values
from interpulse.importing.report import Imported
from interpulse.importing.simplessd_parameters import SECTIONS
from interpulse.importing.single_pulses import add_default_flow, add_single_pulses

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "SimpleSSD"
_READ_CYCLES = 7
_SCALE = 1.048576
"""SimpleSSD counts 1,048,576 transfers in a MT."""
PAGE = tuple((f"[{name}]", parameters) for name, parameters in SECTIONS.items())


def read(paths: Sequence[Path]) -> Imported:
    """Configuration of a SimpleSSD file.

    Raises:
        ConfigError: the file cannot be read, or a value has no counterpart.
    """
    file, problems = shown(paths[0]), []  # type: str, list[str]
    found = assignments(str(paths[0]), "the configuration of SimpleSSD", problems, sections=True)
    for name in found:
        if name not in SECTIONS:
            like = nearest(name, SECTIONS)
            hint = f"; did you mean [{like}]?" if like else ""
            problems.append(f"{file}: seen the section [{name[:80]}]; expected {', '.join(SECTIONS)}{hint}")
    if "pal" not in found:
        problems.append(f"{file}: no section [pal]; expected one, with the flash")
    values = {n: read_values(f"[{n}]", each, found.get(n, []), file, problems) for n, each in SECTIONS.items()}
    raise_problems(problems)
    draft = Draft("drive.toml", f"{paths[0].name} of SimpleSSD")
    for name in ("pal", "ftl"):
        draft.apply(values[name])
    _flash(draft, values["pal"])
    _ftl(draft, values["ftl"])
    _caches(draft, values["icl"])
    used = next((name for name in ("nvme", "sata", "ufs") if name in found), "nvme")
    _host(draft, values[used], used)
    for name in ("nvme", "sata", "ufs"):
        if name != used:
            names = [each.name for each in SECTIONS[name] if each.keys]
            draft.unused(values[name], f"the interface of the drive is [{used}]", *names)
    if (values["nvme"]["DefaultNamespace"] or 0) > 1:
        draft.note("The drive is one namespace; SimpleSSD divides it into DefaultNamespace of them.")
    add_single_pulses(draft, PROGRAM)
    add_default_flow(draft)
    listed = tuple(values[name] for name in SECTIONS if name in found or name in ("pal", "ftl", "icl", "nvme"))
    return Imported(PROGRAM, (draft,), listed)


def _flash(draft: Draft, pal: Values) -> None:
    bits = pal["NANDType"] + 1
    used = {1: ("LSB",), 2: ("LSB", "MSB"), 3: ("LSB", "CSB", "MSB")}[bits]
    for page in ("LSB", "CSB", "MSB"):
        if page not in used:
            draft.unused(pal, f"{('SLC', 'MLC', 'TLC')[bits - 1]} has no such page", f"{page}Read", f"{page}Write")
            continue
        for name in (f"{page}Read", f"{page}Write"):
            if not pal[name]:
                raise pal.refuse(name, "a time above 0 ps for this NANDType")
        draft.set(f"part.read-{page.lower()}", f"{round(pal[f'{page}Read'] / 1000)}ns", pal, f"{page}Read")
    writes = [f"{page}Write" for page in used]
    mean = round(sum(pal[name] for name in writes) / len(writes) / 1000)
    draft.set("part.program-pulse", f"{mean}ns", pal, *writes)
    draft.link("part.program-pulse", pal, *writes)
    if len({pal[name] for name in writes}) > 1:
        draft.note(f"Program latencies of the page types differ: every program takes their mean, {mean} ns.")
    draft.assume("part.program-mode", "page", "SimpleSSD programs page by page")
    rate = pal["DMASpeed"] * _SCALE * pal["DMAWidth"] / 8
    names = ("DMASpeed", "DMAWidth")
    draft.set("part.bus-rate", f"{rate:.6f}MT/s", pal, *names)
    draft.set("part.command-cycles", f"{round(_READ_CYCLES * 1000 / rate)}ns", pal, *names)
    for key in ("part.bus-rate", "part.command-cycles"):
        draft.link(key, pal, *names)
    draft.assume("part.read-transfer", "page", "SimpleSSD transfers whole pages")
    together = pal["EnableMultiPlaneOperation"]
    draft.set("ftl.multi-plane", pal["Plane"] if together else 1, pal, "EnableMultiPlaneOperation", "Plane")
    draft.link("ftl.multi-plane", pal, "EnableMultiPlaneOperation", "Plane")
    draft.set("ftl.mapping-unit", size_text(mapping_unit(pal["PageSize"], [])), pal, "PageSize")


def _ftl(draft: Draft, ftl: Values) -> None:
    draft.set("ftl.gc-soft", ftl["GCThreshold"], ftl, "GCThreshold")
    draft.assume("ftl.gc-threshold-base", "blocks", "GCThreshold is a share of all blocks")
    draft.link("ftl.gc-threshold-base", ftl, "GCThreshold")
    draft.assume("ftl.gc-hard", min(0.005, ftl["GCThreshold"]), "SimpleSSD has no second threshold")
    if ftl["EvictPolicy"] == 3:
        draft.set("ftl.gc-choices", ftl["DChoiceParam"], ftl, "DChoiceParam")
    else:
        draft.unused(ftl, "EvictPolicy is not d-choices", "DChoiceParam")
    share = ftl["InvalidPageRatio"]
    if share and ftl["FillRatio"]:
        pattern = "sequential" if ftl["FillingMode"] == 0 else "uniform"
        draft.set("precondition.overwrite", pattern, ftl, "FillingMode", "InvalidPageRatio")
        draft.set("precondition.until", "drive-writes", ftl, "InvalidPageRatio")
        draft.set("precondition.drive-writes", share, ftl, "InvalidPageRatio")
        draft.link("precondition.overwrite", ftl, "FillingMode", "InvalidPageRatio")
    else:
        draft.unused(ftl, "nothing is filled, or nothing of it invalidated", "FillingMode", "InvalidPageRatio")


def _caches(draft: Draft, icl: Values) -> None:
    size, reads, writes = icl["CacheSize"], icl["EnableReadCache"], icl["EnableWriteCache"]
    draft.set("cache.size", size_text(size if writes else 0), icl, "CacheSize", "EnableWriteCache")
    draft.link("cache.size", icl, "CacheSize", "EnableWriteCache")
    draft.set("cache.latency", f"{min(icl['CacheLatency'], 10**6)}ns", icl, "CacheLatency")
    if not reads:
        draft.unused(
            icl, "there is no read cache", "EnableReadCache", "EnableReadPrefetch", "ReadPrefetchCount", "EvictPolicy"
        )
        return
    if writes:
        draft.note("Read cache and write cache of SimpleSSD are one; here each has CacheSize.")
    draft.set("read-cache.size", size_text(size), icl, "CacheSize", "EnableReadCache")
    draft.link("read-cache.size", icl, "CacheSize", "EnableReadCache")
    replacement = ("clock", "fifo", "lru")[icl["EvictPolicy"]]
    draft.set("read-cache.replacement", replacement, icl, "EvictPolicy")
    if icl["EnableReadPrefetch"]:
        draft.set("read-cache.read-ahead", "sequential", icl, "EnableReadPrefetch")
        draft.set("read-cache.read-ahead-after", icl["ReadPrefetchCount"], icl, "ReadPrefetchCount")
    else:
        draft.unused(icl, "EnableReadPrefetch is 0", "EnableReadPrefetch", "ReadPrefetchCount")


def _host(draft: Draft, host: Values, interface: str) -> None:
    if interface == "sata":
        draft.set("link.kind", "sata", host, "SATAMode")
        draft.set("link.generation", host["SATAMode"] + 1, host, "SATAMode")
    elif interface == "ufs":
        draft.set("link.kind", "ufs", host, "MPHYMode")
        draft.set("link.gear", host["MPHYMode"] + 1, host, "MPHYMode")
        draft.set("link.lanes", host["MPHYLane"], host, "MPHYLane")
    else:
        draft.set("link.generation", host["PCIEGeneration"] + 1, host, "PCIEGeneration")
        draft.set("link.lanes", host["PCIELane"], host, "PCIELane")
    interval = host["WorkInterval"]
    half = round(interval / 2000)
    if half > 10**7:
        raise host.refuse("WorkInterval", "at most 20,000,000,000 ps (host.firmware is at most 10ms)")
    draft.set("host.firmware", f"{half}ns", host, "WorkInterval")

"""SimpleSSD 2: the drive of a configuration file such as `sample.cfg`.

Source: the `config.cc` of each layer in SimpleSSD/SimpleSSD at 2be3716.
"""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING

from interpulse.files.paths import shown
from interpulse.importing.draft import Draft
from interpulse.importing.flash import mapping_unit, size_text
from interpulse.importing.kinds import Choice, Coded, Flag, Number, Size, Text, Whole
from interpulse.importing.lines_reader import assignments
from interpulse.importing.parameters import Parameter, Values, declare, nearest, raise_problems, read_values
from interpulse.importing.report import Imported
from interpulse.importing.single_pulses import add_default_flow, add_single_pulses

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "SimpleSSD"
_COUNT = Whole(1, 2**31 - 1)
_PS = Whole(0, 10**15)
_BOOL = Flag(("1", "true"), ("0", "false"))
_READ_CYCLES = 7
_SCALE = 1.048576
"""SimpleSSD counts 1,048,576 transfers in a MT."""
_IMAGE = "the host's data is not kept"
_DRAM = "the DRAM has one latency and no bandwidth"
_CPU = "SimpleSSD counts instructions of its firmware; firmware time here is host.firmware"

CPU = tuple(
    declare(name, _COUNT, default, "", _CPU)
    for name, default in (("ClockSpeed", 400_000_000), ("HILCoreCount", 1), ("ICLCoreCount", 1), ("FTLCoreCount", 1))
)

_BUS = (
    declare("AXIBusWidth", Whole(0, 5), 2, "", "the bus inside the controller is no bottleneck here"),
    declare("AXIClock", _COUNT, 250_000_000, "", "the bus inside the controller is no bottleneck here"),
    declare("MaxRequestCount", _COUNT, 4, "", "the controller fetches a command as soon as it can"),
    declare("LBASize", Whole(512, 65536), 512, "", "sectors have 512 B"),
    declare("EnableDiskImage", _BOOL, False, "", _IMAGE),
    declare("StrictSizeCheck", _BOOL, False, "", _IMAGE),
    declare("DiskImageFile", Text(), None, "", _IMAGE, also="DiskImageFile1 DiskImageFile2 DiskImageFile3"),
    declare("UseCopyOnWriteDisk", _BOOL, False, "", _IMAGE),
)
_WORK = declare(
    "WorkInterval", _PS, 50_000, "host.firmware", "ps of a controller loop: a command waits for half of one in the mean"
)
_PCIE = (
    declare("PCIEGeneration", Coded({0: "PCIe 1", 1: "PCIe 2", 2: "PCIe 3"}), 2, "link.generation"),
    declare("PCIELane", Whole(1, 64), 4, "link.lanes"),
)
NVME = (
    *_PCIE,
    _WORK,
    *_BUS,
    declare("FIFOTransferUnit", _COUNT, 4096, "", "packets of the link have link.max-payload"),
    declare("MaxIOCQueue", _COUNT, 16, "", "there are as many queue pairs as host.queue-weights has"),
    declare("MaxIOSQueue", _COUNT, 16, "", "there are as many queue pairs as host.queue-weights has"),
    declare("WRRHigh", _COUNT, 2, "", "all flows have one queue: arbitration has no effect"),
    declare("WRRMedium", _COUNT, 2, "", "all flows have one queue: arbitration has no effect"),
    declare("DefaultNamespace", Whole(0, 1024), 1, "", "the drive is one namespace"),
)
SATA = (
    declare(
        "SATAMode",
        Coded({0: "1.5 Gbit/s", 1: "3 Gbit/s", 2: "6 Gbit/s"}),
        2,
        "link.kind link.generation",
        "in a file without [nvme]",
    ),
    *(
        declare(each.name, each.kind, each.default, "", "the adapter of the host is no bottleneck here")
        for each in _PCIE
    ),
    _WORK,
    *_BUS,
)
_UFS = "the section is read by a simulation of UFS; this drive is NVMe or SATA"
UFS = (
    declare("MPHYMode", Coded({0: "HS-G1", 1: "HS-G2", 2: "HS-G3", 3: "HS-G4"}), 2, "", _UFS),
    declare("MPHYLane", Whole(1, 4), 2, "", _UFS),
    *(declare(each.name, each.kind, each.default, "", _UFS) for each in (_WORK, *_BUS)),
)

PAL = (
    declare("Channel", _COUNT, 8, "geometry.channels", write=int),
    declare("Package", _COUNT, 4, "geometry.chips-per-channel", write=int),
    declare("Die", _COUNT, 2, "geometry.dies-per-chip", "of a package", write=int),
    declare("Plane", _COUNT, 1, "part.planes ftl.multi-plane", write=int),
    declare("Block", _COUNT, 512, "part.blocks-per-plane", write=int),
    declare("Page", _COUNT, 512, "part.pages-per-block", write=int),
    declare("PageSize", Whole(512, 1 << 20), 16384, "part.page-size ftl.mapping-unit", "bytes", write=size_text),
    declare("EnableMultiPlaneOperation", _BOOL, True, "ftl.multi-plane", "1: all planes of a die program together"),
    declare("NANDType", Coded({0: "SLC", 1: "MLC", 2: "TLC"}), 1, "part.bits-per-cell", write=lambda code: code + 1),
    declare("LSBRead", _PS, 40_000_000, "part.read-lsb", "ps"),
    declare("LSBWrite", _PS, 500_000_000, "part.program-pulse", "ps; one pulse of the mean of the page types"),
    declare("CSBRead", _PS, 0, "part.read-csb", "ps; of TLC"),
    declare("CSBWrite", _PS, 0, "part.program-pulse", "ps; of TLC"),
    declare("MSBRead", _PS, 65_000_000, "part.read-msb", "ps; of MLC and TLC"),
    declare("MSBWrite", _PS, 1_300_000_000, "part.program-pulse", "ps; of MLC and TLC"),
    declare(
        "Erase",
        Whole(1000, 10**15),
        3_500_000_000,
        "part.erase-pulse",
        "ps; one pulse",
        write=lambda ps: f"{round(ps / 1000)}ns",
    ),
    declare(
        "DMASpeed",
        Whole(1, 10**6),
        400,
        "part.bus-rate part.command-cycles",
        "MT/s, of 1,048,576 transfers; seven cycles of a command and its address",
    ),
    declare(
        "DMAWidth",
        Coded({8: "bits", 16: "bits", 32: "bits", 64: "bits"}),
        8,
        "part.bus-rate part.command-cycles",
        "bits of a transfer",
    ),
    declare("SuperblockSize", Text(), None, "", "blocks of a super block are those of a die's planes"),
    declare(
        "PageAllocation",
        Choice(tuple("".join(p) for p in permutations("CWDP"))),
        "CWDP",
        "ftl.allocation",
        write=str.lower,
    ),
    declare("Voltage", Whole(100, 20_000), 3300, "part.power.vcc", "mV", write=lambda mv: f"{mv}mV"),
    declare("ReadCurrent", Whole(0, 10**7), 25_000, "part.power.sense-lsb", "uA", write=lambda ua: f"{ua}uA"),
    declare("ProgramCurrent", Whole(0, 10**7), 25_000, "part.power.program-pulse", "uA", write=lambda ua: f"{ua}uA"),
    declare("EraseCurrent", Whole(0, 10**7), 25_000, "part.power.erase-pulse", "uA", write=lambda ua: f"{ua}uA"),
    declare("IdleCurrent", Whole(0, 10**7), 5000, "part.power.idle", "uA", write=lambda ua: f"{ua}uA"),
    declare("StandbyCurrent", Whole(0, 10**7), 10, "part.power.standby", "uA", write=lambda ua: f"{ua}uA"),
)

FTL = (
    declare("MappingMode", Coded({0: "page mapping"}), 0, "ftl.mapping", write=lambda _: "full"),
    declare(
        "OverProvisioningRatio",
        Number(0, 0.95, above=True),
        0.25,
        "ftl.over-provisioning",
        "a share s of the raw capacity: s / (1 - s) of the logical one",
        write=lambda s: s / (1 - s),
    ),
    declare("EraseThreshold", _COUNT, 100_000, "part.endurance", write=int),
    declare(
        "FillingMode",
        Coded({0: "sequential", 1: "sequential, random invalidation", 2: "random"}),
        0,
        "precondition.overwrite",
        "with InvalidPageRatio; the fill is always in order",
    ),
    declare("FillRatio", Number(0, 1), 0.0, "precondition.fill", write=float),
    declare(
        "InvalidPageRatio",
        Number(0, 1),
        0.0,
        "precondition.overwrite precondition.until precondition.drive-writes",
        "that share of the capacity is overwritten",
    ),
    declare(
        "EvictPolicy",
        Coded({0: "greedy", 1: "cost-benefit", 2: "random", 3: "d-choices"}),
        0,
        "ftl.gc",
        write=lambda code: ("greedy", "cost-benefit", "random", "d-choices")[code],
    ),
    declare("DChoiceParam", Whole(1, 1024), 3, "ftl.gc-choices", "with EvictPolicy 3"),
    declare(
        "GCThreshold",
        Number(0, 0.9, above=True),
        0.05,
        "ftl.gc-soft ftl.gc-threshold-base",
        "share of all blocks that is free",
    ),
    declare(
        "GCMode",
        Coded({0: "reclaim blocks", 1: "reclaim until threshold"}),
        0,
        "",
        "a lane collects until it has ftl.gc-soft free",
    ),
    declare("GCReclaimBlocks", Whole(0, 2**31 - 1), 1, "", "a lane collects until it has ftl.gc-soft free"),
    declare("GCReclaimThreshold", Number(0, 1), 0.1, "", "a lane collects until it has ftl.gc-soft free"),
    declare("EnableRandomIOTweak", _BOOL, True, "", "pages of a super page are mapped one by one"),
)

ICL = (
    declare("CacheSize", Size(), 33_554_432, "cache.size read-cache.size", "bytes"),
    declare("CacheWaySize", Whole(0, 2**31 - 1), 1, "", "the caches are fully associative"),
    declare("EnableReadCache", _BOOL, False, "read-cache.size"),
    declare("EnableReadPrefetch", _BOOL, False, "read-cache.read-ahead", "with EnableReadCache"),
    declare(
        "ReadPrefetchMode",
        Coded({0: "a super page", 1: "a page of every die"}),
        1,
        "",
        "read-ahead reads as far as its window",
    ),
    declare("ReadPrefetchCount", Whole(1, 1024), 1, "read-cache.read-ahead-after", "with EnableReadPrefetch"),
    declare("ReadPrefetchRatio", Number(0, above=True), 0.5, "", "a stream is recognised by its requests"),
    declare("EnableWriteCache", _BOOL, True, "cache.size"),
    declare(
        "EvictPolicy",
        Coded({0: "random", 1: "FIFO", 2: "LRU"}),
        2,
        "read-cache.replacement",
        "with EnableReadCache; random is clock",
    ),
    declare(
        "EvictMode",
        Coded({0: "a super page", 1: "a page of every die"}),
        1,
        "",
        "dirty data is written in the order of the write-back queue",
    ),
    declare("CacheLatency", Whole(0, 10**9), 10, "cache.latency", "ns of a look-up; the time of the DRAM is not in it"),
)

_DRAM_TIMES = (
    *("tCK", "tRCD", "tCL", "tRP", "tRAS", "tWR", "tRTP", "tBURST", "tCCD_L", "tRFC", "tREFI", "tWTR", "tRTW"),
    *("tCS", "tRRD", "tRRD_L", "tXAW", "tXP", "tXPDLL", "tXS", "tXSDLL"),
)
_DRAM_POWER = tuple(
    f"{name}_{rail}"
    for name in (
        "IDD0",
        "IDD2P0",
        "IDD2P1",
        "IDD2N",
        "IDD3P0",
        "IDD3P1",
        "IDD3N",
        "IDD4R",
        "IDD4W",
        "IDD5",
        "IDD6",
        "VDD",
    )
    for rail in (0, 1)
)
DRAM = (
    declare("Model", Whole(0, 9), None, "", _DRAM),
    *(
        declare(name, Size(), None, "", _DRAM)
        for name in (
            "Channel",
            "Rank",
            "Bank",
            "Chip",
            "BusWidth",
            "BurstLength",
            "ChipSize",
            "PageSize",
        )
    ),
    *(declare(name, Number(), None, "", _DRAM) for name in _DRAM_TIMES),
    *(declare(name, Number(), None, "", "the DRAM draws power.dram always") for name in _DRAM_POWER),
)

SECTIONS: dict[str, tuple[Parameter, ...]] = {
    "cpu": CPU,
    "nvme": NVME,
    "sata": SATA,
    "ufs": UFS,
    "pal": PAL,
    "ftl": FTL,
    "icl": ICL,
    "dram": DRAM,
}
PAGE = tuple((f"[{name}]", parameters) for name, parameters in SECTIONS.items())
_SATA_ONLY, _NVME_ONLY = "the drive is NVMe", "the drive is SATA"


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
    sata = "sata" in found and "nvme" not in found
    _host(draft, values["sata"] if sata else values["nvme"], sata)
    if sata:
        draft.unused(values["nvme"], _NVME_ONLY, *(each.name for each in NVME if each.keys))
    else:
        draft.unused(values["sata"], _SATA_ONLY, *(each.name for each in SATA if each.keys))
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


def _host(draft: Draft, host: Values, sata: bool) -> None:
    if sata:
        draft.set("link.kind", "sata", host, "SATAMode")
        draft.set("link.generation", host["SATAMode"] + 1, host, "SATAMode")
    else:
        draft.set("link.generation", host["PCIEGeneration"] + 1, host, "PCIEGeneration")
        draft.set("link.lanes", host["PCIELane"], host, "PCIELane")
    interval = host["WorkInterval"]
    half = round(interval / 2000)
    if half > 10**7:
        raise host.refuse("WorkInterval", "at most 20,000,000,000 ps (host.firmware is at most 10ms)")
    draft.set("host.firmware", f"{half}ns", host, "WorkInterval")

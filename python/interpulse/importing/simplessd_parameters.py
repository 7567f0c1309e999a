"""Parameters of SimpleSSD's configuration files, by section.

Source: the `config.cc` of each layer in SimpleSSD/SimpleSSD at 2be3716.
"""

from __future__ import annotations

from itertools import permutations

from interpulse.importing.flash import size_text
from interpulse.importing.kinds import Choice, Coded, Flag, Number, Size, Text, Whole
from interpulse.importing.parameters import Parameter, declare

_COUNT = Whole(1, 2**31 - 1)
_PS = Whole(0, 10**15)
_BOOL = Flag(("1", "true"), ("0", "false"))
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
        "in a file with [sata] and without [nvme]",
    ),
    *(
        declare(each.name, each.kind, each.default, "", "the adapter of the host is no bottleneck here")
        for each in _PCIE
    ),
    _WORK,
    *_BUS,
)
UFS = (
    declare(
        "MPHYMode",
        Coded({0: "HS-G1", 1: "HS-G2", 2: "HS-G3", 3: "HS-G4"}),
        2,
        "link.kind link.gear",
        "in a file with [ufs] alone of the interfaces",
    ),
    declare("MPHYLane", Whole(1, 4), 2, "link.lanes"),
    _WORK,
    *_BUS,
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

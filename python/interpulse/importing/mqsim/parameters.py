"""Parameters of MQSim's two files, in the spelling of its parsers.

Source: `src/exec/*_Parameter_Set.cpp` of CMU-SAFARI/MQSim at 7ec40e3. Its forks MQSim-E and MQSim_CXL read the same
names and the ones marked with their name.
"""

from __future__ import annotations

from itertools import permutations
from typing import Any

from interpulse.importing.kinds import Choice, Flag, Ids, Number, Text, Whole
from interpulse.importing.parameters import declare

_NS = Whole(0, 10**13)
_COUNT = Whole(1, 2**31 - 1)
_PERCENT = Whole(0, 100)


def _ns(value: int) -> str:
    return f"{value}ns"


HOST = (
    declare(
        "PCIe_Lane_Bandwidth",
        Number(0, 1000, above=True),
        0.4,
        "link.generation link.lanes host.firmware",
        "GB/s of a lane: the generation whose rate is nearest; the rest of the time of MQSim's messages is "
        "firmware time",
    ),
    declare(
        "PCIe_Lane_Count",
        Whole(1, 1024),
        4,
        "link.lanes link.generation host.firmware",
        "1, 2, 4, 8 or 16; another number takes the nearest total rate",
    ),
    declare(
        "SATA_Processing_Delay", Whole(0, 10_000_000), 400_000, "host.firmware", "with HostInterface_Type SATA only"
    ),
    declare("Enable_ResponseTime_Logging", Flag(), False, "report.batches", "figures over time are in the result"),
    declare(
        "ResponseTime_Logging_Period_Length", _COUNT, 400_000, "", "batches of the window have no length of their own"
    ),
)

_SCHEMES = tuple("".join(each) for each in permutations("CWDP"))

DEVICE = (
    declare("Seed", Whole(0, 2**31 - 1), 123, "seed", "seed of every random stream", write=int),
    declare(
        "Enabled_Preconditioning",
        Flag(),
        True,
        "precondition.fill precondition.overwrite ftl.unmapped-reads",
        "true: the drive is filled to the occupancy of the flows, and overwritten until steady if they write; "
        "false: it is empty, and reads go to flash all the same; with a mapping cache and reads alone it is "
        "full, because MQSim's translation pages always exist",
    ),
    declare("Memory_Type", Choice(("FLASH",)), "FLASH", "", "FLASH is the only type"),
    declare("HostInterface_Type", Choice(("NVME", "SATA")), "NVME", "link.kind"),
    declare(
        "IO_Queue_Depth",
        Whole(1, 65535),
        1024,
        "host.queue-depth",
        "depth of each queue pair; of SATA, commands in the drive",
        write=int,
    ),
    declare(
        "Queue_Fetch_Size",
        Whole(1, 65535),
        512,
        "host.frame-buffer",
        "commands of each flow inside the drive; the sum is that of the drive",
    ),
    declare(
        "Caching_Mechanism",
        Choice(("SIMPLE", "ADVANCED")),
        "ADVANCED",
        "cache.size",
        "SIMPLE has no read cache; ADVANCED writes most data back at once",
    ),
    declare(
        "Data_Cache_Sharing_Mode",
        Choice(("SHARED", "EQUAL_PARTITIONING")),
        "SHARED",
        "cache.partition read-cache.partition",
        "EQUAL_PARTITIONING: an equal part for the queue of each flow",
    ),
    declare(
        "Data_Cache_Capacity",
        Whole(0, 2**32 - 1),
        1 << 29,
        "cache.size read-cache.size",
        "bytes; of the write cache with --as-written and SIMPLE: else MQSim buffers a page of each plane",
    ),
    declare("Data_Cache_DRAM_Row_Size", _COUNT, 8192, "cache.latency", "time of one access of a request's size"),
    declare("Data_Cache_DRAM_Data_Rate", _COUNT, 800, "cache.latency", "MT/s"),
    declare(
        "Data_Cache_DRAM_Data_Busrt_Size",
        _COUNT,
        4,
        "cache.latency",
        "bytes of a transfer",
        also="Data_Cache_DRAM_Data_Burst_Size",
    ),
    declare("Data_Cache_DRAM_tRCD", _NS, 13, "cache.latency", "ns"),
    declare("Data_Cache_DRAM_tCL", _NS, 13, "cache.latency", "ns"),
    declare("Data_Cache_DRAM_tRP", _NS, 13, "cache.latency", "ns; of requests beyond a row"),
    declare(
        "Address_Mapping",
        Choice(("PAGE_LEVEL", "HYBRID")),
        "PAGE_LEVEL",
        "ftl.mapping-unit",
        "a page, or a part that reads of a scenario without writes need; HYBRID is refused: MQSim has no code for it",
    ),
    declare("Ideal_Mapping_Table", Flag(), False, "ftl.mapping"),
    declare(
        "CMT_Capacity",
        Whole(1, 2**32 - 1),
        2 << 20,
        "ftl.map-cache-size ftl.map-cache-format ftl.map-read-transfer",
        "as many entries as MQSim's cache has, of 8 bytes; a miss moves 512 B",
    ),
    declare(
        "CMT_Sharing_Mode",
        Choice(("SHARED", "EQUAL_PARTITIONING")),
        "SHARED",
        "ftl.map-cache-partition",
        "EQUAL_PARTITIONING: an equal part for the queue of each flow",
    ),
    declare("Plane_Allocation_Scheme", Choice(_SCHEMES), "CWDP", "ftl.allocation", write=str.lower),
    declare(
        "Transaction_Scheduling_Policy",
        Choice(("OUT_OF_ORDER", "PRIORITY_OUT_OF_ORDER", "FLIN")),
        "OUT_OF_ORDER",
        "schedule.policy schedule.channel-order host.arbitration schedule.host-order",
        "reads first, data before commands on a channel; classes of flows act at the queues and the dies; "
        "FLIN is refused: MQSim stops on it",
    ),
    declare(
        "Overprovisioning_Ratio",
        Number(0, 0.95, above=True),
        0.07,
        "ftl.over-provisioning",
        "a share s of the raw capacity: s / (1 - s) of the logical one",
    ),
    declare(
        "GC_Exec_Threshold",
        Number(0, 0.9, above=True),
        0.05,
        "ftl.gc-soft ftl.gc-threshold-base",
        "share of the blocks of a plane; MQSim takes whole blocks, at least 10",
        also="GC_Exect_Threshold",
    ),
    declare(
        "GC_Block_Selection_Policy",
        Choice(("GREEDY", "RGA", "RANDOM", "RANDOM_P", "RANDOM_PP", "FIFO")),
        "RGA",
        "ftl.gc ftl.gc-choices",
        "RGA: d-choices of log2(blocks of a plane); RANDOM_P and RANDOM_PP: random",
    ),
    declare(
        "Use_Copyback_for_GC",
        Flag(),
        False,
        "",
        "moved data crosses the channel; ftl.copyback does not go together with the mapping cache",
    ),
    declare(
        "Preemptible_GC_Enabled",
        Flag(),
        True,
        "schedule.policy schedule.gc-reads",
        "true: host-first, collection waits for the host while blocks are free; false: reads of both rank alike",
    ),
    declare(
        "GC_Hard_Threshold",
        Number(0, 0.5),
        0.005,
        "ftl.gc-hard",
        "with --as-written; MQSim uses it only to end preemption, and stops host writes at 10 free blocks of a plane",
    ),
    declare("Dynamic_Wearleveling_Enabled", Flag(), True, "ftl.free-block", "MQSim ignores the value: always on"),
    declare("Static_Wearleveling_Enabled", Flag(), True, "ftl.wear-gap", "MQSim ignores the value: always on"),
    declare("Static_Wearleveling_Threshold", _COUNT, 100, "ftl.wear-gap", "MQSim ignores the value: always 100"),
    declare(
        "Prefered_suspend_erase_time_for_read",
        _NS,
        700_000,
        "suspend.erase.min-remaining",
        "with --as-written; MQSim reads the misspelt name only and never suspends",
        also="Preferred_suspend_erase_time_for_read",
    ),
    declare(
        "Preferred_suspend_erase_time_for_write",
        _NS,
        700_000,
        "",
        "one threshold holds for reads and writes, that for reads",
    ),
    declare(
        "Preferred_suspend_write_time_for_read",
        _NS,
        100_000,
        "suspend.program.min-remaining",
        "with --as-written; MQSim never suspends",
    ),
    declare("Flash_Channel_Count", Whole(1, 65535), 8, "geometry.channels", write=int),
    declare("Flash_Channel_Width", Whole(1, 64), 1, "part.bus-rate", "bytes of a transfer"),
    declare(
        "Channel_Transfer_Rate",
        Whole(1, 1_000_000),
        300,
        "part.bus-rate",
        "MT/s; MQSim takes a whole number of ns for each transfer: 333 MT/s are 333.33, 800 are 1,000; above "
        "1,000 its transfers take no time, and the written rate is used",
    ),
    declare("Chip_No_Per_Channel", Whole(1, 65535), 4, "geometry.chips-per-channel", write=int),
    declare(
        "Flash_Comm_Protocol",
        Choice(("NVDDR2",)),
        "NVDDR2",
        "part.command-cycles",
        "its fixed ONFI times: 290 ns of command and address cycles, 20 ns of ready/busy after each read",
    ),
)

FLASH = (
    declare(
        "Flash_Technology",
        Choice(("SLC", "MLC", "TLC")),
        "MLC",
        "part.bits-per-cell part.program-mode",
        "1, 2 or 3 bits, programmed page by page",
    ),
    declare(
        "CMD_Suspension_Support",
        Choice(("NONE", "PROGRAM", "PROGRAM_ERASE", "ERASE")),
        "ERASE",
        "part.suspend-support suspend.erase.scheme suspend.erase.for-host-writes suspend.program.scheme",
        "schemes with --as-written only: no operation is ever suspended in MQSim",
    ),
    declare("Page_Read_Latency_LSB", Whole(1, 10**10), 75_000, "part.read-lsb", "ns, and 20 ns of ready/busy"),
    declare("Page_Read_Latency_CSB", Whole(1, 10**10), 75_000, "part.read-csb", "of TLC"),
    declare("Page_Read_Latency_MSB", Whole(1, 10**10), 75_000, "part.read-msb", "of MLC and TLC"),
    declare("Page_Program_Latency_LSB", Whole(1, 10**10), 750_000, "part.program-pulse", "one pulse of their mean"),
    declare("Page_Program_Latency_CSB", Whole(1, 10**10), 750_000, "part.program-pulse", "of TLC"),
    declare("Page_Program_Latency_MSB", Whole(1, 10**10), 750_000, "part.program-pulse", "of MLC and TLC"),
    declare("Block_Erase_Latency", Whole(1, 10**10), 3_800_000, "part.erase-pulse", "one pulse", write=_ns),
    declare("Block_PE_Cycles_Limit", _COUNT, 10_000, "part.endurance", write=int),
    declare("Suspend_Erase_Time", _NS, 700_000, "part.erase-suspend-entry", "resuming takes no time", write=_ns),
    declare("Suspend_Program_Time", _NS, 100_000, "part.program-suspend-entry", "resuming takes no time", write=_ns),
    declare(
        "Die_No_Per_Chip",
        Whole(1, 65535),
        2,
        "geometry.dies-per-chip part.planes",
        "dies of a chip never work at the same time in MQSim: they are planes of one die; with --as-written, dies",
    ),
    declare(
        "Plane_No_Per_Die",
        Whole(1, 65535),
        2,
        "part.planes schedule.multi-plane-programs schedule.multi-plane-reads part.plane-address",
        "operations that wait for planes of a die join at one page number, if a chip has one die",
    ),
    declare("Block_No_Per_Plane", _COUNT, 2048, "part.blocks-per-plane", write=int),
    declare("Page_No_Per_Block", _COUNT, 256, "part.pages-per-block"),
    declare(
        "Page_Capacity",
        Whole(512, 1 << 24),
        8192,
        "part.page-size ftl.mapping-unit",
        "bytes; pages below 4 KiB are joined to 4 KiB",
    ),
    declare(
        "Page_Metadat_Capacity",
        Whole(0, 1 << 24),
        1872,
        "",
        "MQSim moves no metadata on the channel",
        also="Page_Metadata_Capacity",
    ),
)

_PLACES = "a flow addresses its share of the drive; it cannot be bound to some of the dies"

FLOW = (
    declare(
        "Priority_Class",
        Choice(("URGENT", "HIGH", "MEDIUM", "LOW")),
        "HIGH",
        "host.queue-classes host.arbitration schedule.host-order",
        "with PRIORITY_OUT_OF_ORDER and flows of several classes: class of the flow's queue pair",
    ),
    declare(
        "Device_Level_Data_Caching_Mode",
        Choice(("WRITE_CACHE", "READ_CACHE", "WRITE_READ_CACHE", "TURNED_OFF")),
        None,
        "cache.size read-cache.size read-cache.fill-on-write",
        "of the whole drive: caches that any flow has",
    ),
    declare("Channel_IDs", Ids(), None, "flow.N.from flow.N.to", _PLACES),
    declare("Chip_IDs", Ids(), None, "flow.N.from flow.N.to", _PLACES),
    declare("Die_IDs", Ids(), None, "flow.N.from flow.N.to", _PLACES),
    declare("Plane_IDs", Ids(), None, "flow.N.from flow.N.to", _PLACES),
    declare("Initial_Occupancy_Percentage", _PERCENT, 0, "precondition.fill", "with Enabled_Preconditioning"),
    declare(
        "IOCap_Tracker_Index",
        Whole(0, 2**31 - 1),
        None,
        "",
        "a parameter of a fork of MQSim-E: leases of I/O capabilities have no counterpart",
    ),
)

SYNTHETIC = (
    *FLOW,
    declare(
        "Working_Set_Percentage",
        Whole(-(2**31), 2**31 - 1),
        None,
        "flow.N.to",
        "share of the flow's range; outside of 1 to 100 MQSim takes 100",
    ),
    declare("Synthetic_Generator_Type", Choice(("BANDWIDTH", "QUEUE_DEPTH")), None, "flow.N.pacing"),
    declare("Read_Percentage", _PERCENT, None, "flow.N.read"),
    declare(
        "Address_Distribution",
        Choice(("STREAMING", "RANDOM_UNIFORM", "RANDOM_HOTCOLD", "MIXED_STREAMING_RANDOM")),
        None,
        "flow.N.address",
        "STREAMING: sequential from the start of the range; MIXED_STREAMING_RANDOM is refused: documented only, "
        "MQSim stops on it",
    ),
    declare(
        "Percentage_of_Hot_Region",
        _PERCENT,
        0,
        "flow.N.hot-share flow.N.hot-traffic",
        "h: that share of the addresses, which gets 1 - h of the requests; of RANDOM_HOTCOLD only",
    ),
    declare("Generated_Aligned_Addresses", Flag(), False, "flow.N.alignment"),
    declare("Address_Alignment_Unit", Whole(0, 2**31 - 1), 1, "flow.N.alignment", "sectors of 512 B"),
    declare(
        "Request_Size_Distribution",
        Choice(("FIXED", "NORMAL")),
        "FIXED",
        "flow.N.block-size flow.N.sizes flow.N.size-weights",
        "NORMAL: sizes with weights",
    ),
    declare(
        "Average_Request_Size",
        Whole(1, 32768),
        None,
        "flow.N.block-size flow.N.sizes flow.N.size-weights",
        "sectors of 512 B",
    ),
    declare(
        "Variance_Request_Size",
        Whole(0, 2**31 - 1),
        0,
        "flow.N.sizes flow.N.size-weights",
        "MQSim uses it as the standard deviation; of NORMAL only",
    ),
    declare("Seed", Whole(0, 2**31 - 1), None, "", "the seed of the drive is that of every random stream"),
    declare("Average_No_of_Reqs_in_Queue", Whole(0, 65535), None, "flow.N.depth", "of QUEUE_DEPTH only"),
    declare(
        "Bandwidth",
        Whole(0, 2**31 - 1),
        None,
        "flow.N.rate flow.N.arrivals",
        "bytes per second, Poisson; of BANDWIDTH only",
    ),
    declare("Intensity", Whole(0, 2**63 - 1), None, "", "MQSim does not read it; its name is Bandwidth now"),
    declare("Stop_Time", Whole(0, 10**18), 0, "flow.N.stop run.time", "ns"),
    declare("Total_Requests_To_Generate", Whole(0, 2**31 - 1), 0, "flow.N.requests", "if Stop_Time is 0"),
    declare("Relief_Type", Whole(0, 2**31 - 1), None, "", "of MQSim_CXL; it has no effect on a drive alone"),
)

TRACE = (
    *FLOW,
    declare("File_Path", Text(), None, "flow.N.trace flow.N.format", "looked for beside the workload file"),
    declare(
        "Percentage_To_Be_Executed", _PERCENT, 100, "flow.N.requests", "of the rows of the trace; with Relay_Count 1"
    ),
    declare("Relay_Count", Whole(1, 1_000_000), 1, "flow.N.repeat"),
    declare(
        "Time_Unit",
        Choice(("PICOSECOND", "NANOSECOND", "MICROSECOND")),
        "NANOSECOND",
        "flow.N.time-unit",
        "MQSim ignores it: times are ns; with --as-written MICROSECOND is us",
    ),
    declare("Relief_Type", Whole(0, 2**31 - 1), None, "", "of MQSim_CXL; it has no effect on a drive alone"),
)

SECTIONS: dict[str, tuple[Any, ...]] = {
    "Host_Parameter_Set": HOST,
    "Device_Parameter_Set": DEVICE,
    "Flash_Parameter_Set": FLASH,
    "IO_Flow_Parameter_Set_Synthetic": SYNTHETIC,
    "IO_Flow_Parameter_Set_Trace_Based": TRACE,
}
"""Declarations by the element that holds them."""

"""One small drive and its loads, in the words of MQSim and in ours."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

CHANNELS, CHIPS, PLANES, BLOCKS, PAGES, PAGE = 8, 4, 2, 256, 256, 4096
READ_NS, PROGRAM_NS, ERASE_NS, ENDURANCE = 75_000, 750_000, 3_800_000, 10_000
RATE_MT = 333
CACHE = 64 << 20
SPARE = 0.127
"""Over-provisioning as MQSim counts it: a share of the raw capacity."""
GC_SOFT, GC_HARD = 0.05, 0.005
SECTOR = 512
OCCUPIED = 90
"""Per cent of the working set that holds data when MQSim starts."""


@dataclass(frozen=True)
class Load:
    """What is asked for; of a trace, its file."""

    name: str
    depth: int = 16
    read: int = 100
    block: int = 4096
    sequential: bool = False
    requests: int = 1_000_000
    trace: str = ""
    occupied: int = 0
    """Per cent of the working set that hold data at the start; 0 without preconditioning."""


def write_xml(path: Path, root: ElementTree.Element) -> None:
    """MQSim reads ASCII alone."""
    ElementTree.ElementTree(root).write(path, encoding="us-ascii", xml_declaration=True)


def element(name: str, values: dict[str, object]) -> ElementTree.Element:
    """An element with one child for each value."""
    made = ElementTree.Element(name)
    for key, value in values.items():
        ElementTree.SubElement(made, key).text = str(value).lower() if isinstance(value, bool) else str(value)
    return made


def mqsim_drive(*, precondition: bool = False) -> ElementTree.Element:
    """The drive in MQSim's words; names are those of its parameters."""
    root = ElementTree.Element("Execution_Parameter_Set")
    root.append(
        element(
            "Host_Parameter_Set",
            {
                "PCIe_Lane_Bandwidth": 1.0,
                "PCIe_Lane_Count": 4,
                "SATA_Processing_Delay": 400_000,
                "Enable_ResponseTime_Logging": False,
                "ResponseTime_Logging_Period_Length": 1_000_000,
            },
        )
    )
    device = element(
        "Device_Parameter_Set",
        {
            "Seed": 321,
            "Enabled_Preconditioning": precondition,
            "Memory_Type": "FLASH",
            "HostInterface_Type": "NVME",
            "IO_Queue_Depth": 65_535,
            "Queue_Fetch_Size": 512,
            "Caching_Mechanism": "ADVANCED",
            "Data_Cache_Sharing_Mode": "SHARED",
            "Data_Cache_Capacity": CACHE,
            "Data_Cache_DRAM_Row_Size": 8192,
            "Data_Cache_DRAM_Data_Rate": 100,
            "Data_Cache_DRAM_Data_Busrt_Size": 1,
            "Data_Cache_DRAM_tRCD": 13,
            "Data_Cache_DRAM_tCL": 13,
            "Data_Cache_DRAM_tRP": 13,
            "Address_Mapping": "PAGE_LEVEL",
            "Ideal_Mapping_Table": True,
            "CMT_Capacity": 2 << 20,
            "CMT_Sharing_Mode": "SHARED",
            "Plane_Allocation_Scheme": "CWDP",
            "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
            "Overprovisioning_Ratio": SPARE,
            "GC_Exec_Threshold": GC_SOFT,
            "GC_Block_Selection_Policy": "GREEDY",
            "Use_Copyback_for_GC": False,
            "Preemptible_GC_Enabled": False,
            "GC_Hard_Threshold": GC_HARD,
            "Dynamic_Wearleveling_Enabled": True,
            "Static_Wearleveling_Enabled": True,
            "Static_Wearleveling_Threshold": 100,
            "Preferred_suspend_erase_time_for_read": 700_000,
            "Preferred_suspend_erase_time_for_write": 700_000,
            "Preferred_suspend_write_time_for_read": 100_000,
            "Flash_Channel_Count": CHANNELS,
            "Flash_Channel_Width": 1,
            "Channel_Transfer_Rate": RATE_MT,
            "Chip_No_Per_Channel": CHIPS,
            "Flash_Comm_Protocol": "NVDDR2",
        },
    )
    times = {
        f"Page_{op}_Latency_{page}": ns
        for op, ns in (("Read", READ_NS), ("Program", PROGRAM_NS))
        for page in ("LSB", "CSB", "MSB")
    }
    device.append(
        element(
            "Flash_Parameter_Set",
            {
                "Flash_Technology": "MLC",
                "CMD_Suspension_Support": "ERASE",
                **times,
                "Block_Erase_Latency": ERASE_NS,
                "Block_PE_Cycles_Limit": ENDURANCE,
                "Suspend_Erase_Time": 700_000,
                "Suspend_Program_Time": 100_000,
                "Die_No_Per_Chip": 1,
                "Plane_No_Per_Die": PLANES,
                "Block_No_Per_Plane": BLOCKS,
                "Page_No_Per_Block": PAGES,
                "Page_Capacity": PAGE,
                "Page_Metadat_Capacity": 448,
            },
        )
    )
    root.append(device)
    return root


def mqsim_workload(load: Load) -> ElementTree.Element:
    """The load in MQSim's words."""

    def numbers(count: int) -> str:
        return ",".join(map(str, range(count)))

    places: dict[str, object] = {
        "Priority_Class": "HIGH",
        "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
        "Channel_IDs": numbers(CHANNELS),
        "Chip_IDs": numbers(CHIPS),
        "Die_IDs": 0,
        "Plane_IDs": numbers(PLANES),
        "Initial_Occupancy_Percentage": load.occupied or OCCUPIED,
    }
    if load.trace:
        kind, words = (
            "IO_Flow_Parameter_Set_Trace_Based",
            {
                "File_Path": load.trace,
                "Percentage_To_Be_Executed": 100,
                "Relay_Count": 1,
                "Time_Unit": "NANOSECOND",
            },
        )
    else:
        kind, words = (
            "IO_Flow_Parameter_Set_Synthetic",
            {
                "Working_Set_Percentage": 100,
                "Synthetic_Generator_Type": "QUEUE_DEPTH",
                "Read_Percentage": load.read,
                "Address_Distribution": "STREAMING" if load.sequential else "RANDOM_UNIFORM",
                "Percentage_of_Hot_Region": 0,
                "Generated_Aligned_Addresses": True,
                "Address_Alignment_Unit": PAGE // SECTOR,
                "Request_Size_Distribution": "FIXED",
                "Average_Request_Size": load.block // SECTOR,
                "Variance_Request_Size": 0,
                "Seed": 798,
                "Average_No_of_Reqs_in_Queue": load.depth,
                "Intensity": 32_768,
                "Stop_Time": 0,
                "Total_Requests_To_Generate": load.requests,
            },
        )
    root = ElementTree.Element("MQSim_IO_Scenarios")
    ElementTree.SubElement(root, "IO_Scenario").append(element(kind, {**places, **words}))
    return root


def interpulse_part() -> str:
    """The die in our words: as in MQSim, trains of one pulse, no parity on the bus, nothing that a suspension costs."""
    values = {
        "planes": PLANES,
        "blocks-per-plane": BLOCKS,
        "pages-per-block": PAGES,
        "page-size": f'"{PAGE}B"',
        "page-parity": '"0B"',
        "bits-per-cell": 2,
        "layers": 1,
        "program-mode": '"page"',
        "read-lsb": f'"{READ_NS}ns"',
        "read-msb": f'"{READ_NS}ns"',
        "program-loops": 1,
        "program-pulse": f'"{PROGRAM_NS}ns"',
        "program-verify": '"0ns"',
        "program-suspend-entry": '"0ns"',
        "program-resume": '"0ns"',
        "erase-loops": 1,
        "erase-pulse": f'"{ERASE_NS}ns"',
        "erase-verify": '"0ns"',
        "erase-suspend-entry": '"0ns"',
        "erase-resume": '"0ns"',
        # MQSim takes a whole number of ns a byte, 3.
        "bus-rate": '"333.333333MT/s"',
        # Chip select, cycles and waits of its read command.
        "command-cycles": '"290ns"',
        "endurance": ENDURANCE,
    }
    return "[part]\n" + "".join(
        f'{key} = {{ value = {value}, source = "the drive of bench/compare.py" }}\n' for key, value in values.items()
    )


def interpulse_case(load: Load) -> str:
    """Drive and load in our words."""
    writes = not load.trace and load.read == 0
    flow = [f'trace = "{load.trace}"', 'format = "mqsim"', 'pacing = "recorded"', 'fit = "fold"']
    if not load.trace:
        where = "sequential" if load.sequential else "uniform"
        flow = [
            f"depth = {load.depth}",
            f'read = "{load.read}%"',
            f'block-size = "{load.block}B"',
            f'address = "{where}"',
        ]
    lines = [
        "config_version = 1",
        "[part]",
        'file = "part.toml"',
        "[geometry]",
        f"channels = {CHANNELS}",
        f"chips-per-channel = {CHIPS}",
        "dies-per-chip = 1",
        "[ecc]",
        'latency = "0ns"',
        "[ftl]",
        'allocation = "cwdp"',
        f"over-provisioning = {SPARE / (1 - SPARE)}",
        "multi-plane = 1",
        'gc = "greedy"',
        'gc-threshold-base = "blocks"',
        f"gc-soft = {GC_SOFT}",
        f"gc-hard = {GC_HARD}",
        "[cache]",
        f'size = "{CACHE}B"',
        'latency = "500ns"',
        "[host]",
        # What the messages of its NVMe model take, by the mean latency of its reads at depth 1.
        'firmware = "130ns"',
        "frame-buffer = 65536",
        "[link]",
        "generation = 3",
        "lanes = 4",
        "max-payload = 256",
        "[precondition]",
        f'fill = "{0 if writes else 100}%"',
        *([] if load.trace else ["[run]", f"requests = {load.requests}"]),
        "[[flow]]",
        'name = "load"',
        *flow,
    ]
    return "\n".join(lines) + "\n"

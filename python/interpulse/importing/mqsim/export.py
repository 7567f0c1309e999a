"""Export to MQSim: its drive file and its workload file from a configuration."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.importing.mqsim import times
from interpulse.importing.mqsim.export_flows import scenario
from interpulse.importing.mqsim.export_geometry import dies_and_planes
from interpulse.importing.report import cell
from interpulse.importing.resolved import Resolved

if TYPE_CHECKING:
    from interpulse.configuration.config import Config

DRIVE, WORKLOAD, REPORT = "ssdconfig.xml", "workload.xml", "export-report.md"
_FREE_NS_BURST = 1 << 24
"""Bytes of a burst and of a row of the DRAM: every access takes the row's time and no more."""
_POLICIES = {"greedy": "GREEDY", "d-choices": "RGA", "random": "RANDOM_P", "fifo": "FIFO"}


@dataclass
class Export:
    """Texts of the files, and what had no counterpart."""

    host: dict[str, Any] = field(default_factory=dict)
    device: dict[str, Any] = field(default_factory=dict)
    flash: dict[str, Any] = field(default_factory=dict)
    flows: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)

    def files(self) -> list[tuple[str, str]]:
        """Names and texts of the files."""
        inner = [
            *_lines(self.device, 2),
            "\t\t<Flash_Parameter_Set>",
            *_lines(self.flash, 3),
            "\t\t</Flash_Parameter_Set>",
        ]
        drive = [
            "<Execution_Parameter_Set>",
            "\t<Host_Parameter_Set>",
            *_lines(self.host, 2),
            "\t</Host_Parameter_Set>",
        ]
        drive += ["\t<Device_Parameter_Set>", *inner, "\t</Device_Parameter_Set>", "</Execution_Parameter_Set>"]
        load = ["<MQSim_IO_Scenarios>", "\t<IO_Scenario>"]
        for kind, values in self.flows:
            load += [f"\t\t<{kind}>", *_lines(values, 3), f"\t\t</{kind}>"]
        load += ["\t</IO_Scenario>", "</MQSim_IO_Scenarios>"]
        return [(DRIVE, _xml(drive)), (WORKLOAD, _xml(load)), (REPORT, self.markdown())]

    def markdown(self) -> str:
        """Report: notes, and keys without counterpart."""
        lines = ["# Export to MQSim", "", "## Notes", "", *(f"- {note}" for note in self.notes), ""]
        lines += ["## Keys without counterpart in MQSim", "", "| key | value |", "|---|---|"]
        lines += [f"| `{key}` | {cell(value)} |" for key, value in self.left]
        return "\n".join(lines) + "\n"


def export(config: Config) -> Export:
    """Files of MQSim with the drive and the flows of a configuration.

    Raises:
        ConfigError: the configuration is wrong, or has a drive or a load that MQSim does not have at all.
    """
    plan = config.resolve()
    found, out = Resolved(plan.entries()), Export()
    _refuse(found)
    for key in ("config_version", "title", "drive.preset", "part.preset", "part.name", "part.file", "part.layers"):
        found.text(key)
    if len(plan.case_names) > 1 or found.has("case.0.name"):
        out.notes.append("The settings without those of the cases are exported; --set adds those of a case.")
    _host(found, out)
    _device(found, out)
    _flash(found, out)
    flows = scenario(found, out.notes)
    out.flows = flows
    _queues(found, out, len(flows))
    out.left = found.left()
    return out


def _refuse(found: Resolved) -> None:
    for key, why in (("array.level", "an array of drives"), ("namespace.0.share", "namespaces")):
        if found.has(key):
            raise ConfigError(f"{key}: MQSim has no counterpart of {why}; expected one drive without them")
    if found.count("namespace"):
        raise ConfigError("namespace: MQSim has no counterpart of namespaces; expected one drive without them")
    family, bits = found.text("ftl.family", "page"), found.whole("part.bits-per-cell")
    if family != "page":
        raise ConfigError(f"ftl.family: seen {family}; MQSim has drives of the family page only")
    if bits > 3:
        raise ConfigError(f"part.bits-per-cell: seen {bits}; MQSim has flash of 1 to 3 bits")


def _host(found: Resolved, out: Export) -> None:
    host = out.host
    if found.text("link.kind", "pcie") == "sata":
        found.text("link.generation")
        host |= {"PCIe_Lane_Bandwidth": 0.55, "PCIe_Lane_Count": 1}
        host["SATA_Processing_Delay"] = max(found.ns("host.firmware"), 1)
    else:
        link = times.Link(
            found.whole("link.generation", 3), found.whole("link.lanes", 4), found.whole("link.max-payload", 256)
        )
        rate = times.link_rate(link) / times.message_rate(1.0, link.lanes)
        host |= {"PCIe_Lane_Bandwidth": f"{rate:.6f}", "PCIe_Lane_Count": link.lanes, "SATA_Processing_Delay": 400_000}
        firmware = found.ns("host.firmware")
        theirs = times.messages_ns(4096, rate, link.lanes) - times.link_ns(4096, link)
        if firmware - theirs > 100:
            out.notes.append(
                f"host.firmware is {firmware} ns; MQSim has no firmware time: commands take {firmware - theirs} "
                f"ns less."
            )
    batches = found.text("report.batches", "false")
    host |= {"Enable_ResponseTime_Logging": batches, "ResponseTime_Logging_Period_Length": 1_000_000}


def _device(found: Resolved, out: Export) -> None:
    device, spare = out.device, found.number("ftl.over-provisioning")
    share = spare / (1 + spare)
    fill = found.number("precondition.fill", 1.0)
    read_cache, cache = found.size("read-cache.size"), found.size("cache.size")
    if found.text("cache.acknowledge", "when-cached") != "when-cached":
        cache = 0
    capacity = min(max(cache, read_cache), 2**32 - 1)
    device |= {"Seed": min(found.whole("seed", 1), 2**31 - 1), "Enabled_Preconditioning": _flag(fill > 0)}
    found.text("precondition.overwrite")
    if not fill:
        found.text("ftl.unmapped-reads")
    device |= {"Memory_Type": "FLASH", "HostInterface_Type": "SATA" if found.text("link.kind") == "sata" else "NVME"}
    device |= {"IO_Queue_Depth": found.whole("host.queue-depth", 1024), "Queue_Fetch_Size": 0}
    partitions = {found.text(f"{cache}.partition", "shared") for cache in ("cache", "read-cache")}
    shared = "SHARED" if partitions == {"shared"} else "EQUAL_PARTITIONING"
    if len(partitions) > 1 and read_cache:
        out.notes.append("MQSim divides write cache and read cache alike: both have parts.")
    device |= {"Caching_Mechanism": "ADVANCED", "Data_Cache_Sharing_Mode": shared, "Data_Cache_Capacity": capacity}
    device |= {"Data_Cache_DRAM_Row_Size": _FREE_NS_BURST, "Data_Cache_DRAM_Data_Rate": 1000}
    device |= {"Data_Cache_DRAM_Data_Busrt_Size": _FREE_NS_BURST, "Data_Cache_DRAM_tRCD": found.ns("cache.latency")}
    device |= {"Data_Cache_DRAM_tCL": 0, "Data_Cache_DRAM_tRP": 0, "Address_Mapping": "PAGE_LEVEL"}
    _mapping(found, out)
    allocation = found.text("ftl.allocation", "dynamic")
    if allocation.upper() not in ("DYNAMIC", "SUPER-WORD-LINE"):
        device["Plane_Allocation_Scheme"] = allocation.upper()
    else:
        device["Plane_Allocation_Scheme"] = "CWDP"
        out.notes.append(f"ftl.allocation is {allocation}; MQSim has static orders only, and gets CWDP.")
    classes = found.text("host.arbitration", "round-robin") == "classes"
    device["Transaction_Scheduling_Policy"] = "PRIORITY_OUT_OF_ORDER" if classes else "OUT_OF_ORDER"
    found.text("schedule.policy")
    if found.text("schedule.host-order", "arrival") == "arrival" and classes:
        out.notes.append(
            "Priority classes act in the queues of the chips in MQSim, and where commands are fetched here."
        )
    if found.text("schedule.channel-order", "commands-first") != "data-first":
        out.notes.append("MQSim moves data before it issues commands to a channel: schedule.channel-order data-first.")
    device["Overprovisioning_Ratio"] = f"{share:.9f}"
    _collection(found, out, share)
    device |= {"Flash_Channel_Count": found.whole("geometry.channels"), "Flash_Channel_Width": 1}
    rate = found.mega_transfers("part.bus-rate")
    device |= {"Channel_Transfer_Rate": max(math.floor(rate + 1e-5), 1), "Flash_Comm_Protocol": "NVDDR2"}
    device["Chip_No_Per_Channel"] = found.whole("geometry.chips-per-channel")
    cycle = int(1000 / device["Channel_Transfer_Rate"])
    if not cycle or abs(1000 / cycle - rate) > rate / 1000:
        used = f"{1000 / cycle:.2f} MT/s" if cycle else "no time"
        out.notes.append(f"The bus has {rate:g} MT/s; MQSim rounds a transfer to whole ns: {used}.")
    cycles = found.ns("part.command-cycles")
    if cycles != times.COMMAND_NS:
        out.notes.append(f"part.command-cycles is {cycles} ns; those of MQSim are {times.COMMAND_NS} ns.")


def _mapping(found: Resolved, out: Export) -> None:
    unit, page = found.size("ftl.mapping-unit", 4096), found.size("part.page-size")
    if unit != page:
        out.notes.append(f"ftl.mapping-unit is {unit} B; MQSim maps pages of {page} B.")
    full = found.text("ftl.mapping", "full") == "full"
    size = found.size("ftl.map-cache-size", 2 << 20)
    raw = math.prod(found.whole(key) for key in ("geometry.channels", "geometry.chips-per-channel", "part.planes"))
    raw *= math.prod(
        found.whole(key) for key in ("geometry.dies-per-chip", "part.blocks-per-plane", "part.pages-per-block")
    )
    entry = math.ceil((2 * math.log2(raw) + page // 512) / 8)
    capacity = math.ceil(size / 8 / max(page // unit, 1)) * entry
    out.device |= {"Ideal_Mapping_Table": _flag(full), "CMT_Capacity": min(capacity, 2**32 - 1)}
    shared = found.text("ftl.map-cache-partition", "shared") == "shared"
    out.device["CMT_Sharing_Mode"] = "SHARED" if shared else "EQUAL_PARTITIONING"
    if not full and found.text("ftl.map-cache-format", "pages") != "entries":
        out.notes.append("The mapping cache of MQSim holds single entries, of 8 bytes here.")


def _collection(found: Resolved, out: Export, share: float) -> None:
    base = share if found.text("ftl.gc-threshold-base", "spare") == "spare" else 1.0
    soft, hard = found.number("ftl.gc-soft", 0.1) * base, found.number("ftl.gc-hard", 0.005) * base
    policy = found.text("ftl.gc", "greedy")
    if policy not in _POLICIES:
        out.notes.append(f"ftl.gc is {policy}, which MQSim does not have; it gets GREEDY.")
    choices, blocks = found.whole("ftl.gc-choices", 10), found.whole("part.blocks-per-plane")
    if policy == "d-choices" and choices != int(math.log2(blocks)):
        out.notes.append(f"ftl.gc-choices is {choices}; RGA of MQSim draws {int(math.log2(blocks))} blocks.")
    in_order = found.text("schedule.gc-reads", "in-order") == "in-order"
    worn = found.text("ftl.free-block", "erased-first") == "least-worn"
    gap = found.whole("ftl.wear-gap") if found.has("ftl.wear-gap") else 0
    out.device |= {
        "GC_Exec_Threshold": f"{soft:.9f}",
        "GC_Block_Selection_Policy": _POLICIES.get(policy, "GREEDY"),
        "Use_Copyback_for_GC": "false",
        "Preemptible_GC_Enabled": _flag(in_order),
        "GC_Hard_Threshold": f"{hard:.9f}",
        "Dynamic_Wearleveling_Enabled": _flag(worn),
        "Static_Wearleveling_Enabled": _flag(bool(gap)),
        "Static_Wearleveling_Threshold": gap or 100,
    }
    if soft * blocks < 10:
        out.notes.append("MQSim starts collection at 10 free blocks of a plane, which is more than ftl.gc-soft.")
    if not (worn and gap == 100):
        out.notes.append("MQSim levels wear always, with a threshold of 100, whatever its file says.")
    for operation, names in {
        "erase": ("Preferred_suspend_erase_time_for_read", "Preferred_suspend_erase_time_for_write"),
        "program": ("Preferred_suspend_write_time_for_read",),
    }.items():
        for name in names:
            out.device[name] = found.ns(f"suspend.{operation}.min-remaining")


def _flash(found: Resolved, out: Export) -> None:
    bits = found.whole("part.bits-per-cell")
    schemes = [found.text(f"suspend.{operation}.scheme", "none") != "none" for operation in ("program", "erase")]
    support = {"erase": "ERASE", "program": "PROGRAM", "both": "PROGRAM_ERASE", "nested": "PROGRAM_ERASE"}
    supported = support.get(found.text("part.suspend-support", "both"), "NONE")
    if any(schemes):
        out.notes.append("MQSim never suspends an operation, whatever its file says.")
    lsb = found.ns("part.read-lsb")
    msb = found.ns("part.read-msb", lsb)
    reads = {"LSB": lsb, "CSB": found.ns("part.read-csb", msb), "MSB": msb}
    program = _train(found, "program")
    if found.text("part.program-mode") == "one-shot" and bits > 1:
        out.notes.append(f"A program writes {bits} pages in {program} ns; MQSim programs each in a part of it.")
        program = round(program / bits)
    elif bits > 1:
        found.text("part.program-mode")
    out.flash |= {
        "Flash_Technology": ("SLC", "MLC", "TLC")[bits - 1],
        "CMD_Suspension_Support": supported,
        **{f"Page_Read_Latency_{page}": max(ns - times.READY_NS, 1) for page, ns in reads.items()},
        **{f"Page_Program_Latency_{page}": program for page in reads},
        "Block_Erase_Latency": _train(found, "erase"),
        "Block_PE_Cycles_Limit": found.whole("part.endurance"),
        "Suspend_Erase_Time": found.ns("part.erase-suspend-entry"),
        "Suspend_Program_Time": found.ns("part.program-suspend-entry"),
        "Die_No_Per_Chip": dies_and_planes(found)[0],
        "Plane_No_Per_Die": dies_and_planes(found)[1],
        "Block_No_Per_Plane": found.whole("part.blocks-per-plane"),
        "Page_No_Per_Block": found.whole("part.pages-per-block"),
        "Page_Capacity": found.size("part.page-size"),
        "Page_Metadat_Capacity": found.size("part.page-parity"),
    }
    if found.whole("geometry.dies-per-chip", 1) > 1:
        out.notes.append("Dies of a chip never work at the same time in MQSim.")


def _train(found: Resolved, operation: str) -> int:
    """Duration of a program or an erase that nothing stops."""
    loop = sum(found.ns(f"part.{operation}-{phase}") for phase in ("pulse", "reset", "verify"))
    return found.whole(f"part.{operation}-loops") * loop


def _queues(found: Resolved, out: Export, flows: int) -> None:
    found.text("host.queue-weights")
    out.device["Queue_Fetch_Size"] = max(min(found.whole("host.frame-buffer", 1024) // max(flows, 1), 65535), 1)


def _flag(value: bool) -> str:
    return "true" if value else "false"


def _lines(values: dict[str, Any], depth: int) -> list[str]:
    return ["\t" * depth + f"<{name}>{_escaped(str(value))}</{name}>" for name, value in values.items()]


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _xml(lines: list[str]) -> str:
    return "\n".join(['<?xml version="1.0" encoding="us-ascii"?>', *lines]) + "\n"

"""Host interface, caches and initial state of an MQSim drive."""

from __future__ import annotations

from interpulse.importing.draft import Draft
from interpulse.importing.flash import size_text
from interpulse.importing.mqsim import times
from interpulse.importing.mqsim.device import Device
from interpulse.importing.mqsim.flows import Flow

_LONGEST_NS = 1_000_000
"""Longest `cache.latency`."""
_FREE_RATE = 200_000
"""Accesses a second from which on MQSim's DRAM seldom limits anything."""


def add_host(draft: Draft, device: Device, flows: list[Flow]) -> None:
    """Adds queues, link and firmware time."""
    host, drive = device.host, device.drive
    count = max(len(flows), 1)
    draft.set("host.frame-buffer", drive["Queue_Fetch_Size"] * count, drive, "Queue_Fetch_Size")
    draft.assume("host.queue-weights", [1] * count, "each flow has a queue pair")
    if host["Enable_ResponseTime_Logging"]:
        draft.set("report.batches", True, host, "Enable_ResponseTime_Logging")
    else:
        draft.unused(host, "off", "Enable_ResponseTime_Logging")
    _classes(draft, device, flows)
    if drive["HostInterface_Type"] == "SATA":
        draft.set("link.kind", "sata", drive, "HostInterface_Type")
        draft.set("host.firmware", f"{host['SATA_Processing_Delay']}ns", host, "SATA_Processing_Delay")
        draft.unused(host, "the link is SATA", "PCIe_Lane_Bandwidth", "PCIe_Lane_Count")
        draft.note("MQSim moves SATA frames over its PCIe link; here the link is SATA of 6 Gbit/s.")
        return
    draft.set("link.kind", "pcie", drive, "HostInterface_Type")
    draft.unused(host, "HostInterface_Type is NVME", "SATA_Processing_Delay")
    bandwidth, lanes = host["PCIe_Lane_Bandwidth"], host["PCIe_Lane_Count"]
    sizes = [flow.size for flow in flows if flow.size]
    size = sizes[0] if sizes else 4096
    theirs = times.messages_ns(size, bandwidth, lanes)
    link = times.nearest_link(bandwidth, lanes, size, theirs)
    names = ("PCIe_Lane_Bandwidth", "PCIe_Lane_Count")
    for key, value in (("generation", link.generation), ("lanes", link.lanes)):
        draft.set(f"link.{key}", value, host, *names)
    draft.assume("link.max-payload", link.payload, "with it, the link has about the rate of MQSim's with its packets")
    left = theirs - times.link_ns(size, link)
    draft.set("host.firmware", f"{max(left, 0)}ns", host, *names)
    ratio = times.link_rate(link) / times.message_rate(bandwidth, lanes)
    if left < 0 or not 0.9 <= ratio <= 1.1:
        draft.note(
            f"The link here has {ratio:.2f} times the rate of MQSim's; a read of {size} B takes "
            f"{'the same time' if left >= 0 else f'{-left} ns longer'}."
        )


def _classes(draft: Draft, device: Device, flows: list[Flow]) -> None:
    classes = [flow.values["Priority_Class"] for flow in flows]
    priority = device.drive["Transaction_Scheduling_Policy"] == "PRIORITY_OUT_OF_ORDER"
    if priority and len(set(classes)) > 1:
        draft.set("host.arbitration", "classes", device.drive, "Transaction_Scheduling_Policy")
        draft.assume("host.queue-classes", [each.lower() for each in classes], "Priority_Class of each flow")
        for flow in flows:
            draft.link("host.queue-classes", flow.values, "Priority_Class")
            draft.link("host.arbitration", flow.values, "Priority_Class")
        draft.set("schedule.host-order", "queue-classes", device.drive, "Transaction_Scheduling_Policy")
        for flow in flows:
            draft.link("schedule.host-order", flow.values, "Priority_Class")
        draft.note("Priority classes act in the queues of the dies as in MQSim, and also where commands are fetched.")
        return
    reason = "all flows have one class" if priority else "OUT_OF_ORDER ignores it"
    for flow in flows:
        draft.unused(flow.values, reason, "Priority_Class")


def add_caches(draft: Draft, device: Device, flows: list[Flow]) -> None:
    """Adds write cache, read cache and the time of the DRAM."""
    drive = device.drive
    modes = [flow.values.need("Device_Level_Data_Caching_Mode") for flow in flows] or ["WRITE_CACHE"]
    if len(set(modes)) > 1:
        draft.note(f"Caching modes of the flows differ ({', '.join(modes)}): the drive has every cache that one has.")
    writes = any(mode in ("WRITE_CACHE", "WRITE_READ_CACHE") for mode in modes)
    reads = any(mode in ("READ_CACHE", "WRITE_READ_CACHE") for mode in modes)
    if reads and drive["Caching_Mechanism"] == "SIMPLE":
        draft.note("MQSim's SIMPLE cache has no read cache; the mode of the flows asks for one.")
    capacity = drive["Data_Cache_Capacity"]
    buffer = _write_buffer(device, flows)
    if writes and buffer < capacity:
        draft.note(
            f"MQSim writes data back at once unless it was written shortly before: its write buffer is a page of "
            f"each "
            f"plane, {size_text(buffer)}, not Data_Cache_Capacity. --as-written takes that."
        )
    _add_write_cache(draft, device, flows, writes=writes, reads=reads)
    if reads:
        draft.set("read-cache.size", size_text(capacity), drive, "Data_Cache_Capacity")
        draft.assume("read-cache.replacement", "lru", "MQSim's cache evicts the entry that was used longest ago")
        partition = "shared" if drive["Data_Cache_Sharing_Mode"] == "SHARED" else "by-queue"
        draft.set("read-cache.partition", partition, drive, "Data_Cache_Sharing_Mode")
        if "WRITE_READ_CACHE" in modes:
            draft.assume("read-cache.fill-on-write", True, "caching mode of the flows")
    for flow in flows:
        keys = [
            "cache.size",
            *(key for key in ("read-cache.size", "read-cache.fill-on-write") if key in draft.settings),
        ]
        for key in keys:
            draft.link(key, flow.values, "Device_Level_Data_Caching_Mode")
    sizes = [flow.size for flow in flows if flow.size]
    names = ["Row_Size", "Data_Busrt_Size", "Data_Rate", "tRCD", "tCL", "tRP"]
    dram = [f"Data_Cache_DRAM_{name}" for name in names]
    row, burst, rate, trcd, tcl, trp = (drive[name] for name in dram)
    size = sizes[0] if sizes else min(device.flash["Page_Capacity"], row)
    latency = times.dram_ns(size, row, burst, rate, trcd, tcl, trp)
    if latency > _LONGEST_NS:
        draft.note(f"MQSim's DRAM takes {latency} ns for {size} B; an access here takes at most {_LONGEST_NS} ns.")
    if writes and latency and 10**9 // latency < _FREE_RATE and not _reads_only(flows):
        draft.note(
            f"MQSim's DRAM serves one access at a time: at most {10**9 // latency} of {size} B a second. The DRAM "
            f"here "
            "has a latency and no bandwidth."
        )
    draft.set("cache.latency", f"{min(latency, _LONGEST_NS)}ns", drive, *dram)
    draft.link("cache.latency", drive, *dram)


def _reads_only(flows: list[Flow]) -> bool:
    return bool(flows) and all(flow.reads_only for flow in flows)


def _add_write_cache(draft: Draft, device: Device, flows: list[Flow], *, writes: bool, reads: bool) -> None:
    """Adds size and parts of the write cache."""
    drive, buffer = device.drive, _write_buffer(device, flows)
    shared = drive["Data_Cache_Sharing_Mode"] == "SHARED"
    parts = 1 if shared or not writes else max(len(flows), 1)
    # With parts, the write buffer is that of each flow.
    size = min(buffer * parts, drive["Data_Cache_Capacity"])
    draft.set("cache.size", size_text(size if writes else 0), drive, "Data_Cache_Capacity")
    draft.link("cache.size", drive, "Caching_Mechanism")
    if parts > 1 and size // parts >= _write_buffer(device, flows, least=True):
        draft.set("cache.partition", "by-queue", drive, "Data_Cache_Sharing_Mode")
    elif not reads:
        reason = "the write cache is shared, or its parts would be smaller than a page of each plane"
        draft.unused(drive, reason, "Data_Cache_Sharing_Mode")


def _write_buffer(device: Device, flows: list[Flow], *, least: bool = False) -> int:
    """Bytes that may wait for their programs: of ADVANCED or as the `least`, a page of each plane or a request."""
    drive, flash = device.drive, device.flash
    if not least and (device.as_written or drive["Caching_Mechanism"] == "SIMPLE"):
        return int(drive["Data_Cache_Capacity"])
    channels, chips = (int(drive[name]) for name in ("Flash_Channel_Count", "Chip_No_Per_Channel"))
    dies, planes, page = (int(flash[name]) for name in ("Die_No_Per_Chip", "Plane_No_Per_Die", "Page_Capacity"))
    return max(channels * chips * dies * planes * page, 1 << 15, *(flow.size for flow in flows))


def add_precondition(draft: Draft, device: Device, flows: list[Flow]) -> None:
    """Adds what is on the flash when the run begins."""
    drive = device.drive
    draft.assume("ftl.unmapped-reads", "flash", "a read of an address without data goes to flash in MQSim")
    draft.link("ftl.unmapped-reads", drive, "Enabled_Preconditioning")
    if not drive["Enabled_Preconditioning"]:
        cached = not drive["Ideal_Mapping_Table"] and _reads_only(flows)
        draft.set("precondition.fill", 1 if cached else 0, drive, "Enabled_Preconditioning")
        for flow in flows:
            draft.unused(flow.values, "Enabled_Preconditioning is false", "Initial_Occupancy_Percentage")
        if cached:
            draft.note(
                "The drive is full, so that its translation pages are on flash, where MQSim has them from the start."
            )
        return
    if not flows:
        draft.set("precondition.fill", 1, drive, "Enabled_Preconditioning")
        return
    fill = sum(flow.values["Initial_Occupancy_Percentage"] / 100 * flow.share for flow in flows)
    draft.set("precondition.fill", round(min(fill, 1), 9), drive, "Enabled_Preconditioning")
    for flow in flows:
        draft.link("precondition.fill", flow.values, "Initial_Occupancy_Percentage")
    if len(flows) > 1:
        draft.note("The occupied part of the drive is filled from its start, not flow by flow.")
    if any(not flow.reads_only for flow in flows) and fill > 0:
        draft.set("precondition.overwrite", "uniform", drive, "Enabled_Preconditioning")

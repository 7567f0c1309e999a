"""Flash, mapping, garbage collection and suspension of an MQSim drive."""

from __future__ import annotations

import math

from interpulse.importing.draft import Draft
from interpulse.importing.flash import free_share, mapping_unit, pages, size_text
from interpulse.importing.mqsim import times
from interpulse.importing.mqsim.device import Device
from interpulse.importing.mqsim.flows import SECTOR, Flow

_STOP_BLOCKS = 10
"""Free blocks of a plane below which MQSim stops host writes and starts collection, whatever the file says."""


def add_flash(draft: Draft, device: Device) -> None:
    """Adds the times and the geometry of the dies."""
    flash, drive = device.flash, device.drive
    bits = {"SLC": 1, "MLC": 2, "TLC": 3}[flash["Flash_Technology"]]
    draft.set("part.bits-per-cell", bits, flash, "Flash_Technology")
    draft.assume("part.program-mode", "page", "MQSim programs page by page")
    draft.link("part.program-mode", flash, "Flash_Technology")
    used = {1: ("LSB",), 2: ("LSB", "MSB"), 3: ("LSB", "CSB", "MSB")}[bits]
    for page in ("LSB", "CSB", "MSB"):
        names = (f"Page_Read_Latency_{page}", f"Page_Program_Latency_{page}")
        if page in used:
            draft.set(f"part.read-{page.lower()}", f"{flash[names[0]] + times.READY_NS}ns", flash, names[0])
        else:
            draft.unused(flash, f"{flash['Flash_Technology']} has no such page", *names)
    programs = [f"Page_Program_Latency_{page}" for page in used]
    mean = round(sum(flash[name] for name in programs) / len(programs))
    draft.set("part.program-pulse", f"{mean}ns", flash, *programs)
    draft.link("part.program-pulse", flash, *programs)
    if len({flash[name] for name in programs}) > 1:
        draft.note(f"Program latencies of the page types differ: every program takes their mean, {mean} ns.")
    size, count, note = pages(flash["Page_Capacity"], flash["Page_No_Per_Block"])
    draft.set("part.page-size", size_text(size), flash, "Page_Capacity")
    draft.set("part.pages-per-block", count, flash, "Page_No_Per_Block")
    if note:
        draft.note(note)
    for key, value in (("program-loops", 1), ("program-verify", "0ns"), ("erase-loops", 1), ("erase-verify", "0ns")):
        draft.assume(f"part.{key}", value, "MQSim has no loops: an operation is one pulse")
    for key in ("program-resume", "erase-resume"):
        draft.assume(f"part.{key}", "0ns", "a suspended operation of MQSim resumes at once")
    draft.assume("part.page-parity", "0B", "MQSim moves no metadata")
    draft.assume("part.read-transfer", "data", "MQSim transfers the sectors that are read")
    draft.assume("part.layers", 1, "MQSim has no layers")
    draft.assume("part.command-cycles", f"{times.COMMAND_NS}ns", "fixed ONFI times of MQSim's read command")
    draft.link("part.command-cycles", drive, "Flash_Comm_Protocol")
    rate, width = drive["Channel_Transfer_Rate"], drive["Flash_Channel_Width"]
    cycle = 1000 // rate
    if not device.as_written and cycle:
        used_rate = 1000 / cycle
    else:
        used_rate = float(rate)
        if not cycle:
            draft.note(f"MQSim transfers data in no time above 1,000 MT/s; the channel here has {rate} MT/s.")
    # Rounded up, so that a transfer of whole cycles takes no nanosecond more.
    exact = math.ceil(used_rate * width * 1e6) / 1e6
    draft.set("part.bus-rate", f"{exact:.6f}MT/s", drive, "Channel_Transfer_Rate", "Flash_Channel_Width")


def add_dies(draft: Draft, device: Device) -> None:
    """Dies of a chip: MQSim never lets two of them work at a time."""
    drive, flash = device.drive, device.flash
    dies, planes, scheme = flash["Die_No_Per_Chip"], flash["Plane_No_Per_Die"], drive["Plane_Allocation_Scheme"]
    if planes > 1:
        _add_joined_operations(draft, device, dies)
    if dies == 1 or device.as_written:
        draft.set("geometry.dies-per-chip", dies, flash, "Die_No_Per_Chip")
        draft.set("part.planes", planes, flash, "Plane_No_Per_Die")
        return
    draft.assume("geometry.dies-per-chip", 1, "a chip of MQSim does one operation at a time, whatever its dies")
    draft.link("geometry.dies-per-chip", flash, "Die_No_Per_Chip")
    draft.set("part.planes", dies * planes, flash, "Plane_No_Per_Die", "Die_No_Per_Chip")
    draft.note(
        f"The {dies} dies of a chip never work at the same time in MQSim: a chip here is one die of {dies * planes} "
        "planes. --as-written keeps the dies."
    )
    if "DP" not in scheme and "PD" not in scheme:
        draft.note(
            f"{scheme} places dies apart from planes; the planes of all dies of a chip have the place of P here."
        )


def _add_joined_operations(draft: Draft, device: Device, dies: int) -> None:
    """Operations on several planes: MQSim joins those that wait for one die and have the same page number."""
    if dies > 1 and not device.as_written:
        draft.note(
            "MQSim joins operations that wait for planes of one die; a chip here is one die, whose planes would all "
            "join: they do not."
        )
        return
    why = "MQSim joins operations that wait for planes of a die and have the same page number"
    # Pages of an empty drive that were never written have one page number here, and would all join.
    reads = ["schedule.multi-plane-reads"] if device.drive["Enabled_Preconditioning"] else []
    for key in ("schedule.multi-plane-programs", *reads):
        draft.assume(key, True, why)
        draft.link(key, device.flash, "Plane_No_Per_Die")
    draft.assume("part.plane-address", "page", why)
    draft.link("part.plane-address", device.flash, "Plane_No_Per_Die")


def add_mapping(draft: Draft, device: Device, flows: list[Flow]) -> None:
    """Adds the map and its cache."""
    drive, flash = device.drive, device.flash
    if drive["Address_Mapping"] == "HYBRID":
        raise drive.refuse("Address_Mapping", "PAGE_LEVEL (HYBRID has no code in MQSim)")
    if drive["Transaction_Scheduling_Policy"] == "FLIN":
        raise drive.refuse(
            "Transaction_Scheduling_Policy", "OUT_OF_ORDER or PRIORITY_OUT_OF_ORDER (MQSim stops on FLIN)"
        )
    page, _, _ = pages(flash["Page_Capacity"], 4096)
    read_only = bool(flows) and all(flow.reads_only for flow in flows)
    unit = mapping_unit(page, [flow.granularity for flow in flows] if read_only else [])
    draft.set("ftl.mapping-unit", size_text(unit), flash, "Page_Capacity")
    draft.link("ftl.mapping-unit", drive, "Address_Mapping")
    if unit < page and read_only:
        draft.note(f"No flow writes: units of {unit} B, so that a read transfers what it asks for, as in MQSim.")
    if any(flow.granularity % unit for flow in flows):
        draft.note(
            f"The map has units of {unit} B. A write of a part of a unit that has data reads it first; MQSim "
            f"reads only "
            "the sectors that it lacks. A read of a part transfers the unit."
        )
    share = drive["Overprovisioning_Ratio"]
    draft.set("ftl.over-provisioning", share / (1 - share), drive, "Overprovisioning_Ratio")
    if drive["Ideal_Mapping_Table"]:
        draft.set("ftl.mapping", "full", drive, "Ideal_Mapping_Table")
        draft.unused(drive, "Ideal_Mapping_Table is true", "CMT_Capacity", "CMT_Sharing_Mode")
        return
    raw = math.prod(drive[n] for n in ("Flash_Channel_Count", "Chip_No_Per_Channel"))
    raw *= math.prod(
        flash[n] for n in ("Die_No_Per_Chip", "Plane_No_Per_Die", "Block_No_Per_Plane", "Page_No_Per_Block")
    )
    entry = math.ceil((2 * math.log2(raw) + flash["Page_Capacity"] // 512) / 8)
    entries = drive["CMT_Capacity"] // max(entry, 1) * max(page // unit, 1)
    draft.set("ftl.mapping", "cached", drive, "Ideal_Mapping_Table")
    draft.set("ftl.map-cache-size", f"{max(entries * 8, 512)}B", drive, "CMT_Capacity")
    draft.assume("ftl.map-cache-format", "entries", "MQSim caches single entries")
    draft.link("ftl.map-cache-format", drive, "CMT_Capacity")
    partition = "shared" if drive["CMT_Sharing_Mode"] == "SHARED" else "by-queue"
    draft.set("ftl.map-cache-partition", partition, drive, "CMT_Sharing_Mode")
    moved = min(unit, SECTOR)
    draft.assume(
        "ftl.map-read-transfer", f"{moved}B", "a miss of MQSim's mapping cache moves one sector over the channel"
    )
    draft.link("ftl.map-read-transfer", drive, "CMT_Capacity")


def add_collection(draft: Draft, device: Device) -> None:
    """Adds garbage collection and wear levelling."""
    drive, blocks = device.drive, device.flash["Block_No_Per_Plane"]
    policy = drive["GC_Block_Selection_Policy"]
    ours = {"GREEDY": "greedy", "RGA": "d-choices", "FIFO": "fifo"}.get(policy, "random")
    draft.set("ftl.gc", ours, drive, "GC_Block_Selection_Policy")
    if policy == "RGA":
        draft.assume("ftl.gc-choices", max(int(math.log2(blocks)), 1), "RGA draws log2(blocks of a plane) blocks")
        draft.link("ftl.gc-choices", drive, "GC_Block_Selection_Policy")
    if policy == "RANDOM_PP":
        draft.note("RANDOM_PP skips blocks with few invalid pages; `random` here draws any closed block.")
    draft.assume("ftl.gc-threshold-base", "blocks", "thresholds of MQSim are shares of the blocks of a plane")
    draft.link("ftl.gc-threshold-base", drive, "GC_Exec_Threshold")
    soft = drive["GC_Exec_Threshold"]
    if device.as_written:
        draft.set("ftl.gc-soft", soft, drive, "GC_Exec_Threshold")
        draft.set("ftl.gc-hard", min(drive["GC_Hard_Threshold"], soft), drive, "GC_Hard_Threshold")
    else:
        share = drive["Overprovisioning_Ratio"]
        start, note = free_share(max(int(soft * blocks), _STOP_BLOCKS) / blocks, share / (1 - share), blocks)
        if note:
            draft.note(f"MQSim collects below {max(int(soft * blocks), _STOP_BLOCKS)} free blocks of a plane. {note}")
        draft.set("ftl.gc-soft", start, drive, "GC_Exec_Threshold")
        stop = min(_STOP_BLOCKS / blocks, start)
        draft.assume("ftl.gc-hard", stop, f"MQSim stops host writes below {_STOP_BLOCKS} free blocks of a plane")
        draft.unused(drive, "MQSim uses it only to end preemption (--as-written: ftl.gc-hard)", "GC_Hard_Threshold")
    if drive["Preemptible_GC_Enabled"]:
        draft.set("schedule.policy", "host-first", drive, "Preemptible_GC_Enabled")
        _note_preemption(draft, device)
    else:
        draft.set("schedule.gc-reads", "with-host-reads", drive, "Preemptible_GC_Enabled")
        draft.note("MQSim serves collection before the host; here their reads rank alike, and programs go in order.")
    always = not device.as_written
    draft.set(
        "ftl.free-block",
        "least-worn" if always or drive["Dynamic_Wearleveling_Enabled"] else "erased-first",
        drive,
        "Dynamic_Wearleveling_Enabled",
    )
    names = ("Static_Wearleveling_Enabled", "Static_Wearleveling_Threshold")
    if always:
        draft.set("ftl.wear-gap", 100, drive, *names)
        draft.link("ftl.wear-gap", drive, *names)
        if not (drive[names[0]] and drive["Dynamic_Wearleveling_Enabled"] and drive[names[1]] == 100):
            draft.note("MQSim ignores the three wear-levelling values: both kinds are on, with a threshold of 100.")
    elif drive[names[0]]:
        draft.set("ftl.wear-gap", drive[names[1]], drive, *names)
        draft.link("ftl.wear-gap", drive, *names)
    else:
        draft.unused(drive, "static wear levelling is off", *names)


def _note_preemption(draft: Draft, device: Device) -> None:
    """Where collection stops to wait for the host."""
    drive, blocks = device.drive, device.flash["Block_No_Per_Plane"]
    ends = drive["GC_Hard_Threshold"] * blocks
    soft, hard = (draft.settings[key].value * blocks for key in ("ftl.gc-soft", "ftl.gc-hard"))
    draft.note(
        f"Collection waits for the host until {(soft + hard) / 2:.1f} blocks of a plane are free, half way between "
        f"ftl.gc-soft and ftl.gc-hard; in MQSim until {ends:.1f} (GC_Hard_Threshold)."
    )


def add_suspension(draft: Draft, device: Device) -> None:
    """Adds what can be suspended, and with `as_written` how."""
    drive, support = device.drive, device.flash["CMD_Suspension_Support"]
    names = {"NONE": "none", "ERASE": "erase", "PROGRAM": "program", "PROGRAM_ERASE": "both"}
    draft.set("part.suspend-support", names[support], device.flash, "CMD_Suspension_Support")
    limits = {"erase": "Prefered_suspend_erase_time_for_read", "program": "Preferred_suspend_write_time_for_read"}
    for operation, limit in limits.items():
        supported = names[support] in (operation, "both")
        if not device.as_written:
            draft.unused(drive, "MQSim never suspends an operation (--as-written: min-remaining)", limit)
        elif not supported:
            draft.unused(drive, f"CMD_Suspension_Support is {support}", limit)
        else:
            draft.set(f"suspend.{operation}.scheme", "exact", device.flash, "CMD_Suspension_Support")
            draft.set(f"suspend.{operation}.min-remaining", f"{drive[limit]}ns", drive, limit)
            if operation == "erase":
                draft.set("suspend.erase.for-host-writes", True, device.flash, "CMD_Suspension_Support")
    if support != "NONE" and not device.as_written:
        draft.note("MQSim has suspension in its code but never suspends; --as-written suspends as the file says.")

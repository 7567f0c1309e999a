"""MQSim: rows on a small drive and on its shipped one, and its result file."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import partial
from pathlib import Path

from peers.figures import Figures
from peers.process import Command
from peers.rows import Ready, Row
from small_drive import OCCUPIED, PAGE, Load, mqsim_drive, mqsim_workload, write_xml

_MILLION = 1_000_000


def result(load: Load, path: Path) -> Figures:
    """Figures of a result file.

    Its response times are whole microseconds, rounded down. Its IOPS divide by whole seconds: those of a closed loop
    come from depth and response time instead.
    """
    root = ElementTree.fromstring(path.read_text())
    mean = int(root.findtext(".//Device_Response_Time") or 0) + 0.5
    (ftl,) = (each for each in root.iter() if each.tag.endswith(".FTL"))
    collections = int(ftl.attrib["Total_GC_Executions"])
    moved = ftl.attrib["Average_Page_Movement_For_GC"]
    pages = int(root.findtext(".//Write_Request_Count") or 0) * max(load.block // PAGE, 1)
    waf = None
    if pages and not load.trace:
        waf = 1 + (collections * float(moved) / pages if collections else 0)
    return Figures(mean, None if load.trace else load.depth * 1e6 / mean, waf=waf, collections=collections)


def _prepare(load: Load, work: Path, program: Path, requests: int, *, shipped: bool = False) -> Ready:
    load = replace(load, requests=requests)
    if load.trace:
        load = replace(load, trace=str(program.parent / "traces" / load.trace))
    drive, workload = work / "drive.xml", work / "workload.xml"
    if shipped:
        drive.write_text((program.parent / "ssdconfig.xml").read_text())
    else:
        write_xml(drive, mqsim_drive(precondition=load.occupied > 0))
    write_xml(workload, mqsim_workload(load))
    if shipped:
        # The shipped drive has two dies of a chip.
        workload.write_text(re.sub(r"(<Die_IDs>)0", r"\g<1>0,1", workload.read_text()))
    command = Command([str(program), "-i", str(drive), "-w", str(workload)], work)
    imported = ["mqsim", str(drive), str(workload)]
    return Ready(command, lambda _: result(load, work / "workload_scenario_1.xml"), imported)


def _row(load: Load, *, shipped: bool = False) -> Row:
    name = f"MQSim: {load.name}"
    return Row(name, "mqsim", load.requests, partial(_prepare, load, shipped=shipped))


ROWS = [
    _row(Load("4 KiB reads, depth 1", depth=1, requests=_MILLION)),
    _row(Load("4 KiB reads, depth 16", requests=_MILLION)),
    _row(Load("4 KiB reads, depth 64", depth=64, requests=_MILLION)),
    _row(Load("shipped drive, 4 KiB reads, depth 1", depth=1, requests=20_000), shipped=True),
    _row(Load("4 KiB writes, empty drive", read=0, requests=_MILLION)),
    _row(Load("4 KiB writes with collection", read=0, requests=_MILLION, occupied=OCCUPIED)),
    _row(Load("128 KiB writes", read=0, block=128 << 10, sequential=True, requests=30_000)),
    _row(Load("tpcc-small", trace="tpcc-small.trace", requests=7000)),
    _row(Load("wsrch-small", trace="wsrch-small.trace", requests=25_000)),
]

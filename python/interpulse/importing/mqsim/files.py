"""MQSim's files: the drive of `ssdconfig.xml` and the scenarios of `workload.xml`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from interpulse._core import ConfigError
from interpulse.files.paths import shown
from interpulse.importing.draft import Draft
from interpulse.importing.mqsim.device import Device
from interpulse.importing.mqsim.drive import add_collection, add_dies, add_flash, add_mapping, add_suspension
from interpulse.importing.mqsim.flows import Flow, add_flows
from interpulse.importing.mqsim.host import add_caches, add_host, add_precondition
from interpulse.importing.mqsim.parameters import DEVICE, FLASH, HOST, SYNTHETIC, TRACE
from interpulse.importing.parameters import Seen, nearest, raise_problems, read_values
from interpulse.importing.report import Imported
from interpulse.importing.xml_reader import Element, read_xml

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "MQSim"
PAGE = (
    ("Host_Parameter_Set", HOST),
    ("Device_Parameter_Set", DEVICE),
    ("Flash_Parameter_Set", FLASH),
    ("IO_Flow_Parameter_Set_Synthetic", SYNTHETIC),
    ("IO_Flow_Parameter_Set_Trace_Based", TRACE),
)
"""Sections of the files, for the page of all parameters."""
_ROOT, _SCENARIOS = "Execution_Parameter_Set", "MQSim_IO_Scenarios"
_TRACKER = "IOCap_Tracker"
"""An element beside the flows, of a fork of MQSim-E."""
_FLOWS = {"IO_Flow_Parameter_Set_Synthetic": SYNTHETIC, "IO_Flow_Parameter_Set_Trace_Based": TRACE}


def read(paths: Sequence[Path], *, as_written: bool = False) -> Imported:
    """Configurations of a drive file and, if given, of the scenarios of a workload file.

    Args:
        paths: `ssdconfig.xml` and at most one `workload.xml`.
        as_written: follow the file where MQSim's code does something else with a value.

    Raises:
        ConfigError: a file cannot be read, or a value has no counterpart.
    """
    device = _device(paths[0], as_written)
    sections = [device.host, device.drive, device.flash]
    if len(paths) == 1:
        draft = Draft("drive.toml", f"{paths[0].name} of MQSim")
        _drive(draft, device, [])
        draft.assume("run.requests", 100_000, "no workload file was given")
        draft.assume("flow.0.depth", 1, "no workload file was given")
        draft.assume("flow.0.read", 1, "no workload file was given")
        return Imported(PROGRAM, (draft,), tuple(sections))
    scenarios = _scenarios(paths[1])
    drafts = []
    for number, flows in enumerate(scenarios, 1):
        name = "run.toml" if len(scenarios) == 1 else f"scenario-{number}.toml"
        draft = Draft(name, f"{paths[1].name} of MQSim, scenario {number}")
        _drive(draft, device, flows)
        drafts.append(draft)
        sections += [flow.values for flow in flows]
    return Imported(PROGRAM, tuple(drafts), tuple(sections))


def _device(path: Path, as_written: bool) -> Device:
    root = _root(path, _ROOT, _SCENARIOS, "the MQSim drive")
    file, problems = shown(path), []  # type: str, list[str]
    parts = _only(root, {"Host_Parameter_Set", "Device_Parameter_Set"}, file, problems)
    if "Device_Parameter_Set" not in parts:
        problems.append(f"{file}:{root.line}: {_ROOT}: no Device_Parameter_Set; expected one")
        raise_problems(problems)
    device = parts["Device_Parameter_Set"]
    inner = [each for each in device.children if each.name == "Flash_Parameter_Set"]
    if len(inner) != 1:
        problems.append(
            f"{file}:{device.line}: Device_Parameter_Set: seen {len(inner)} Flash_Parameter_Set; expected one"
        )
        raise_problems(problems)
    empty = Element("Host_Parameter_Set", root.line)
    host_element = parts.get("Host_Parameter_Set", empty)
    host = read_values("Host_Parameter_Set", HOST, _pairs(host_element, file, problems), file, problems)
    pairs = [pair for pair in _pairs(device, file, problems) if pair.name != "Flash_Parameter_Set"]
    drive = read_values("Device_Parameter_Set", DEVICE, pairs, file, problems, device.line)
    flash = read_values("Flash_Parameter_Set", FLASH, _pairs(inner[0], file, problems), file, problems, inner[0].line)
    raise_problems(problems)
    return Device(host, drive, flash, as_written)


def _scenarios(path: Path) -> list[list[Flow]]:
    root = _root(path, _SCENARIOS, _ROOT, "the MQSim workload")
    file, problems, scenarios = shown(path), [], []  # type: str, list[str], list[list[Flow]]
    _no_text(root, file, problems)
    for element in root.children:
        _no_text(element, file, problems)
        if element.name != "IO_Scenario":
            problems.append(f"{file}:{element.line}: seen {element.name[:80]}; expected IO_Scenario")
            continue
        flows: list[Flow] = []
        trackers: list[Seen] = []
        for each in element.children:
            if each.name == _TRACKER:
                trackers.append(Seen(each.name, each.text, each.line))
                continue
            if each.name not in _FLOWS:
                like = nearest(each.name, _FLOWS)
                hint = f"; did you mean {like}?" if like else ""
                problems.append(f"{file}:{each.line}: seen {each.name[:80]}; expected {' or '.join(_FLOWS)}{hint}")
                continue
            section = f"scenario {len(scenarios) + 1}, flow {len(flows) + 1}"
            pairs = _pairs(each, file, problems)
            values = read_values(section, _FLOWS[each.name], pairs, file, problems, each.line)
            flows.append(Flow(values, len(flows), path.parent, each.name.endswith("Trace_Based")))
        if not flows:
            problems.append(f"{file}:{element.line}: IO_Scenario: seen no flow; expected {' or '.join(_FLOWS)}")
        elif trackers:
            flows[0].values.ignored += [
                (tracker, "leases of I/O capabilities have no counterpart") for tracker in trackers
            ]
        scenarios.append(flows)
    if not scenarios:
        problems.append(f"{file}:{root.line}: {_SCENARIOS}: seen no IO_Scenario; expected at least one")
    raise_problems(problems)
    return scenarios


def _root(path: Path, expected: str, other: str, what: str) -> Element:
    root = read_xml(str(path), what)
    if root.name != expected:
        swapped = "; the drive file comes first, the workload file second" if root.name == other else ""
        raise ConfigError(f"{shown(path)}:{root.line}: seen the root {root.name[:80]}; expected {expected}{swapped}")
    return root


def _only(root: Element, names: set[str], file: str, problems: list[str]) -> dict[str, Element]:
    found: dict[str, Element] = {}
    _no_text(root, file, problems)
    for each in root.children:
        if each.name not in names:
            problems.append(f"{file}:{each.line}: seen {each.name[:80]}; expected {' or '.join(sorted(names))}")
        elif each.name in found:
            problems.append(f"{file}:{each.line}: {each.name}: seen twice; expected it once")
        else:
            found[each.name] = each
    return found


def _no_text(element: Element, file: str, problems: list[str]) -> None:
    if element.text.strip():
        problems.append(f"{file}:{element.line}: {element.name}: seen text between the elements; expected elements")


def _pairs(element: Element, file: str, problems: list[str]) -> list[Seen]:
    for each in element.children:
        if each.children and each.name != "Flash_Parameter_Set":
            problems.append(f"{file}:{each.line}: {each.name[:80]}: seen elements inside; expected a value")
    _no_text(element, file, problems)
    return [Seen(each.name, each.text, each.line) for each in element.children]


def _drive(draft: Draft, device: Device, flows: list[Flow]) -> None:
    for values in (device.host, device.drive, device.flash):
        draft.apply(values)
    add_flash(draft, device)
    add_dies(draft, device)
    add_mapping(draft, device, flows)
    add_collection(draft, device)
    add_suspension(draft, device)
    add_host(draft, device, flows)
    add_caches(draft, device, flows)
    add_flows(draft, device, flows)
    add_precondition(draft, device, flows)
    if not device.drive["Preemptible_GC_Enabled"]:
        draft.assume("schedule.policy", "read-priority", "MQSim's schedulers serve reads first")
    draft.link("schedule.policy", device.drive, "Transaction_Scheduling_Policy")
    draft.assume("schedule.channel-order", "data-first", "MQSim moves data out before it issues a command to a channel")
    draft.link("schedule.channel-order", device.drive, "Transaction_Scheduling_Policy")
    draft.assume("ecc.latency", "0ns", "MQSim has no ECC")
    draft.assume("run.warmup", "0ns", "MQSim measures from the first request")

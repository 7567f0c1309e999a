"""DiskSim with the SSD extension of Microsoft Research: the block `ssdmodel_ssd` of a parv file, and a trace.

Source: `ssdmodel/modules/ssdmodel_ssd_param.h` of the extension, and the refresh parameters of a fork
(IMCG/Disksim-ssd at a849c52).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from interpulse._core import ConfigError
from interpulse.files.paths import shown
from interpulse.importing.draft import Draft
from interpulse.importing.femu import nearest_link
from interpulse.importing.flash import free_share, mapping_unit, pages, size_text
from interpulse.importing.kinds import Coded, Number, Text, Whole
from interpulse.importing.parameters import Parameter, Seen, Values, declare, raise_problems, read_values
from interpulse.importing.parv_reader import Block, read_parv
from interpulse.importing.report import Imported
from interpulse.importing.single_pulses import add_default_flow, add_single_pulses

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "DiskSim"
_COUNT = Whole(1, 2**31 - 1)
_MS = Number(0, 10_000)
_TIME = Number(0, 10_000, above=True)
_REFRESH = "of a fork; errors.refresh-after rewrites old data"
_HOST = "DiskSim's host, its buses and statistics: a flow submits to the drive directly"
_NEEDED = (
    *("Flash chip elements", "Page size", "Pages per block", "Planes per package", "Blocks per plane"),
    *(
        "Page read latency",
        "Page write latency",
        "Block erase latency",
        "Chip xfer latency",
        "Reserve pages percentage",
    ),
    *("Minimum free blocks percentage", "Elements per gang"),
)

PARAMETERS = (
    declare("Scheduler", Text(), None, "", "the drive has its own queues: schedule.policy"),
    declare("Max queue length", Whole(0, 1 << 20), None, "host.frame-buffer", "commands inside the drive"),
    declare("Block count", Whole(0, 2**31 - 1), None, "", "the flash decides the capacity"),
    declare("Bus transaction latency", _MS, 0.0, "host.firmware", "ms, with Command overhead"),
    declare("Bulk sector transfer time", _MS, 0.0, "link.generation link.lanes", "ms of 512 B; 0: the fastest link"),
    declare("Never disconnect", Whole(0, 1), None, "", "the link has no arbitration"),
    declare("Print stats", Whole(0, 1), None, "", "results are always written"),
    declare("Command overhead", _MS, 0.0, "host.firmware", "ms, with Bus transaction latency"),
    declare("Timing model", Coded({1: "simple", 2: "log disk"}), 1, "", "the drive maps pages in both"),
    declare("Flash chip elements", _COUNT, None, "geometry.channels", "each gang of them has a channel"),
    declare(
        "Page size",
        Whole(1, 2048),
        None,
        "part.page-size ftl.mapping-unit",
        "sectors of 512 B; pages below 4 KiB are joined to 4 KiB",
    ),
    declare("Pages per block", _COUNT, None, "part.pages-per-block"),
    declare("Blocks per element", _COUNT, None, "part.blocks-per-plane", "planes times Blocks per plane"),
    declare("Element stride pages", _COUNT, None, "", "data goes to the lane that takes it: ftl.allocation dynamic"),
    declare("Chip xfer latency", _MS, None, "part.bus-rate", "ms of a byte; 0: no time, the fastest bus"),
    declare("Page read latency", _TIME, None, "part.read-lsb", "ms"),
    declare("Page write latency", _TIME, None, "part.program-pulse", "ms; one pulse"),
    declare("Block erase latency", _TIME, None, "part.erase-pulse", "ms; one pulse"),
    declare(
        "Write policy",
        Coded({1: "simple", 2: "OSR"}),
        None,
        "",
        "pages are never written in place; DiskSim has left policy 1 out",
    ),
    declare(
        "Reserve pages percentage", Whole(1, 90), None, "ftl.over-provisioning", "a share r of all pages: r / (1 - r)"
    ),
    declare(
        "Minimum free blocks percentage",
        Whole(1, 90),
        None,
        "ftl.gc-soft ftl.gc-threshold-base",
        "at least half of the spare blocks are left to collection",
    ),
    declare("Cleaning policy", Coded({1: "random", 2: "greedy", 3: "greedy, wear-aware"}), 2, "ftl.gc ftl.free-block"),
    declare("Planes per package", Whole(1, 64), None, "part.planes", "shared by the parallel units"),
    declare("Blocks per plane", _COUNT, None, "part.blocks-per-plane", write=int),
    declare(
        "Plane block mapping", Coded({1: "in order", 2: "pairs", 3: "striped"}), None, "", "blocks belong to planes"
    ),
    declare(
        "Copy back", Whole(0, 1), None, "", "moved data crosses the channel; ftl.copyback is off unless set by hand"
    ),
    declare("Number of parallel units", Whole(1, 64), 1, "geometry.dies-per-chip part.planes", "dies of an element"),
    declare("Elements per gang", _COUNT, None, "geometry.chips-per-channel geometry.channels", "elements on one bus"),
    declare("Cleaning in background", Whole(0, 1), None, "", "collection runs at its threshold, beside the host"),
    declare(
        "Gang share",
        Coded({1: "bus", 2: "control"}),
        None,
        "",
        "elements of a gang share a bus; those that share control work one by one in DiskSim",
    ),
    declare(
        "Allocation pool logic", Coded({0: "gang", 1: "element", 2: "plane"}), None, "", "each lane has its own blocks"
    ),
    *(
        Parameter(name, Number(), None, (), _REFRESH, (name.title(),))
        for name in (
            "Checkpoint time",
            "Refresh interval",
            "Refresh rate",
            "Refresh policy",
            "Virtual retention period",
            "Minimum retention period",
        )
    ),
)
PAGE = (("ssdmodel_ssd", PARAMETERS),)


def read(paths: Sequence[Path]) -> Imported:
    """Configuration of the only `ssdmodel_ssd` block, and of a trace in DiskSim's ASCII format if one is given.

    Raises:
        ConfigError: a file cannot be read, or a value has no counterpart.
    """
    file, problems = shown(paths[0]), []  # type: str, list[str]
    blocks = read_parv(str(paths[0]), "the parameters of DiskSim")
    drives = [each for each in blocks if each.kind == "ssdmodel_ssd"]
    if len(drives) != 1:
        raise ConfigError(f"{file}: seen {len(drives)} blocks ssdmodel_ssd; expected one, with an SSD")
    values = read_values("ssdmodel_ssd", PARAMETERS, drives[0].pairs, file, problems, drives[0].line)
    _others(values, blocks, drives[0])
    raise_problems(problems)
    for name in _NEEDED:
        values.need(name)
    draft = Draft("drive.toml", f"{paths[0].name} of DiskSim")
    draft.apply(values)
    _geometry(draft, values)
    _times(draft, values)
    _ftl(draft, values)
    add_single_pulses(draft, PROGRAM)
    if len(paths) > 1:
        _trace(draft, paths[1])
    else:
        add_default_flow(draft)
    return Imported(PROGRAM, (draft,), (values,))


def _others(values: Values, blocks: list[Block], drive: Block) -> None:
    """Lists the blocks that are not the SSD, and those inside it."""
    for each in blocks:
        if each is not drive:
            values.ignored.append((Seen(f"{each.kind} {each.name}".strip()[:200], "", each.line), _HOST))
    for each in drive.inner:
        reason = "the drive has its own queues: schedule.policy"
        values.ignored += [
            (Seen(f"{each.name}: {pair.name}"[:200], pair.text, pair.line), reason) for pair in each.pairs
        ]


def _geometry(draft: Draft, values: Values) -> None:
    elements, gang = values["Flash chip elements"], values["Elements per gang"]
    if elements % gang:
        raise values.refuse("Elements per gang", f"a divisor of the {elements} elements")
    draft.set("geometry.channels", elements // gang, values, "Flash chip elements", "Elements per gang")
    draft.set("geometry.chips-per-channel", gang, values, "Elements per gang")
    planes, units = values["Planes per package"], values["Number of parallel units"]
    if planes % units:
        raise values.refuse("Number of parallel units", f"a divisor of the {planes} planes")
    names = ("Planes per package", "Number of parallel units")
    draft.set("geometry.dies-per-chip", units, values, "Number of parallel units")
    draft.set("part.planes", planes // units, values, *names)
    draft.link("part.planes", values, *names)
    blocks = values["Blocks per element"]
    if blocks is not None:
        if blocks != planes * values["Blocks per plane"]:
            raise values.refuse(
                "Blocks per element", f"{planes * values['Blocks per plane']}, planes times Blocks per plane"
            )
        draft.link("part.blocks-per-plane", values, "Blocks per element")
    size, count, note = pages(values["Page size"] * 512, values["Pages per block"])
    draft.set("part.page-size", size_text(size), values, "Page size")
    draft.set("ftl.mapping-unit", size_text(mapping_unit(size, [])), values, "Page size")
    draft.set("part.pages-per-block", count, values, "Pages per block")
    if note:
        draft.note(note)


def _times(draft: Draft, values: Values) -> None:
    for key, name in (
        ("read-lsb", "Page read latency"),
        ("program-pulse", "Page write latency"),
        ("erase-pulse", "Block erase latency"),
    ):
        draft.set(f"part.{key}", f"{max(round(values[name] * 1e6), 1)}ns", values, name)
    byte = values["Chip xfer latency"] * 1e6
    rate = min(max(1000 / byte, 1), 10**6) if byte else 10**6
    draft.set("part.bus-rate", f"{rate:.6f}MT/s", values, "Chip xfer latency")
    draft.assume("part.read-transfer", "page", "DiskSim transfers whole pages")
    draft.assume("part.bits-per-cell", 1, "all pages of DiskSim take the same time")
    draft.assume("part.program-mode", "page", "DiskSim programs page by page")
    draft.assume("part.endurance", 100_000, "DiskSim's blocks do not wear out")
    names = ("Command overhead", "Bus transaction latency")
    firmware = round(sum(values[name] for name in names) * 1e6)
    if firmware > 10**7:
        raise values.refuse("Command overhead", "at most 10 ms together with Bus transaction latency")
    draft.set("host.firmware", f"{firmware}ns", values, *names)
    draft.link("host.firmware", values, *names)
    sector = values["Bulk sector transfer time"]
    link = nearest_link(max(512 / (sector * 1000), 1)) if sector else (6, 16)
    for key, value in zip(("generation", "lanes"), link, strict=True):
        draft.set(f"link.{key}", value, values, "Bulk sector transfer time")
    draft.assume("link.max-payload", 4096, "DiskSim has no packets")
    if values["Max queue length"]:
        draft.set("host.frame-buffer", values["Max queue length"], values, "Max queue length")
    else:
        draft.unused(values, "0 or not given: no limit", "Max queue length")


def _ftl(draft: Draft, values: Values) -> None:
    reserve = values["Reserve pages percentage"] / 100
    draft.set("ftl.over-provisioning", reserve / (1 - reserve), values, "Reserve pages percentage")
    wanted = values["Minimum free blocks percentage"] / 100
    soft, note = free_share(wanted, reserve / (1 - reserve), values["Blocks per plane"])
    draft.set("ftl.gc-soft", soft, values, "Minimum free blocks percentage")
    draft.assume("ftl.gc-threshold-base", "blocks", "DiskSim counts blocks")
    draft.link("ftl.gc-threshold-base", values, "Minimum free blocks percentage")
    draft.assume("ftl.gc-hard", min(0.005, soft), "DiskSim has no second threshold")
    if note:
        draft.note(note)
    policy = values["Cleaning policy"]
    draft.set("ftl.gc", "random" if policy == 1 else "greedy", values, "Cleaning policy")
    draft.set("ftl.free-block", "least-worn" if policy == 3 else "erased-first", values, "Cleaning policy")
    draft.assume("cache.size", "0B", "a write of DiskSim ends with its program")
    draft.assume("precondition.fill", 1, "DiskSim's pages all hold data at the start")


def _trace(draft: Draft, path: Path) -> None:
    if not path.is_file():
        raise ConfigError(f"the trace {shown(path)} does not exist; expected a trace in DiskSim's ASCII format")
    why = "second file of the import"
    draft.assume("flow.0.name", "trace", why)
    draft.assume("flow.0.trace", str(path.absolute()), why)
    draft.assume("flow.0.format", "disksim-ascii", "DiskSim's ASCII format")
    draft.assume("flow.0.pacing", "recorded", "DiskSim submits each request at its time")
    draft.assume("flow.0.fit", "fold", "addresses beyond the drive are taken modulo its size")

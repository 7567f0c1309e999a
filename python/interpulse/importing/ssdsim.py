"""SSDSim: the drive of `page.parameters`, and a trace.

Source: `initialize.c`, `flash.c` and `pagemap.c` of huaicheng/ssdsim at f411289.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from interpulse._core import ConfigError
from interpulse.files.paths import shown
from interpulse.importing.draft import Draft
from interpulse.importing.flash import free_share, mapping_unit, pages, size_text
from interpulse.importing.kinds import Coded, Number, Whole
from interpulse.importing.lines_reader import assignments
from interpulse.importing.parameters import Parameter, Seen, Values, declare, raise_problems, read_values
from interpulse.importing.report import Imported
from interpulse.importing.single_pulses import add_default_flow, add_free_link, add_single_pulses

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "SSDSim"
_NS = Whole(0, 10**10)
_COUNT = Whole(1, 2**31 - 1)
_UNUSED = "SSDSim reads the value and does not use it"
_MAPPINGS = {1: "page", 2: "block", 3: "FAST"}
_RANDOM, _COPYBACK, _TWO_PLANE, _INTERLEAVE, _TWO_PLANE_READ = 1, 2, 4, 8, 16
_ORDERS = ("wdpc", "cwdp", "cpwd", "cdwp", "cpdw", "cdpw")
"""Order of channel, way, die and plane of each static allocation, fastest first (`allocate_location`)."""
_USED_TIMES = {
    "t_PROG": ("part.program-pulse", "ns; one pulse"),
    "t_BERS": ("part.erase-pulse", "ns; one pulse"),
    "t_R": ("part.read-lsb", "ns"),
    "t_WC": ("part.command-cycles", "ns; seven cycles of a command and its address"),
    "t_RC": ("part.bus-rate", "ns of a byte; data that is written takes t_WC, which is usually the same"),
}
_OTHER_TIMES = [
    "CLS",
    "CLH",
    "CS",
    "CH",
    "WP",
    "ALS",
    "ALH",
    "DS",
    "DH",
    "WH",
    "ADL",
    "AR",
    "CLR",
    "RR",
    "RP",
    "REA",
    "CEA",
    "RHZ",
    "CHZ",
    "RHOH",
    "RLOH",
    "COH",
    "REH",
    "IR",
    "RHW",
    "WHR",
    "RST",
]
_IGNORED = (
    *("wear leveling", "gc", "clean in background", "buffer management", "scheduling algorithm", "quick table radio"),
    *("related mapping", "striping", "interleaving", "pipelining", "time_step", "small large write"),
    *("active write threshold", "threshold value", "cpu sdram", "gc threshold"),
)


def _parameters() -> tuple[Parameter, ...]:
    times = [declare(name, Whole(1, 10**10), None, key, text) for name, (key, text) in _USED_TIMES.items()]
    times += [declare(f"t_{name}", _NS, None, "", _UNUSED) for name in _OTHER_TIMES]
    times.append(declare("t_DBSY", _NS, None, "", "schedule.multi-plane-programs merges programs without such a time"))
    times.append(declare("t_WB", _NS, None, "", "of copyback and erase; commands have one overhead here"))
    times.append(declare("active write", Number(), None, "", "with a value other than 0 SSDSim collects nothing"))
    ignored = [declare(name, Number(), None, "", _UNUSED) for name in _IGNORED]
    return (
        declare("channel number", Whole(1, 65535), None, "geometry.channels", write=int),
        declare("chip number", _COUNT, None, "geometry.chips-per-channel", "chips of all channels together"),
        declare("chip number[N]", Whole(0, 65535), None, "geometry.chips-per-channel", "equal on all channels"),
        declare(
            "die number",
            Whole(1, 64),
            None,
            "geometry.dies-per-chip part.planes",
            "of a chip; without interleaved "
            "commands a chip does one operation at a time: its dies are planes of one die",
        ),
        declare("plane number", Whole(1, 64), None, "part.planes", "of a die"),
        declare("block number", _COUNT, None, "part.blocks-per-plane", "of a plane", write=int),
        declare("page number", _COUNT, None, "part.pages-per-block", "of a block"),
        declare(
            "page capacity",
            Whole(512, 1 << 20),
            None,
            "part.page-size ftl.mapping-unit",
            "bytes; pages below 4 KiB are joined to 4 KiB",
        ),
        declare("subpage page", _COUNT, None, "", "sectors of a page: a transfer moves units of the map"),
        declare("subpage capacity", _COUNT, None, "", "sectors have 512 B"),
        declare(
            "dram capacity",
            Whole(0, 2**31 - 1),
            None,
            "cache.size cache.latency",
            "bytes of the write buffer, 1 us for an access; 0: none",
        ),
        *times,
        declare("erase limit", _COUNT, None, "part.endurance", write=int),
        declare(
            "flash operating current",
            Number(0, 10**7),
            None,
            "part.power.sense-lsb part.power.program-pulse part.power.erase-pulse",
            "uA",
        ),
        declare("flash supply voltage", Number(0.1, 20), None, "part.power.vcc", "V", write=lambda v: f"{v:g}V"),
        declare("dram active current", Number(), None, "", "the DRAM draws its standby and refresh current always"),
        declare("dram standby current", Number(0, 10**9), None, "power.dram", "uA"),
        declare("dram refresh current", Number(0, 10**9), None, "power.dram", "uA"),
        declare("dram voltage", Number(0, 100), None, "power.dram", "V"),
        declare("address mapping", Coded(_MAPPINGS), None, "", "SSDSim maps pages whatever it says"),
        declare(
            "overprovide",
            Number(0, 0.95, above=True),
            None,
            "ftl.over-provisioning",
            "a share s of the raw capacity: s / (1 - s) of the logical one",
            write=lambda s: s / (1 - s),
        ),
        declare(
            "gc hard threshold",
            Number(0, 0.9, above=True),
            None,
            "ftl.gc-soft ftl.gc-threshold-base ftl.gc-counts",
            "share of free pages of a plane below which it is collected; at most half of `overprovide` here",
        ),
        declare("allocation", Coded({0: "dynamic", 1: "static"}), None, "ftl.allocation"),
        declare(
            "static_allocation",
            Coded({n: o.upper() for n, o in enumerate(_ORDERS)}),
            None,
            "ftl.allocation",
            "with `allocation` 1",
        ),
        declare(
            "dynamic_allocation",
            Coded({0: "all dynamic", 1: "fixed channel", 2: "fixed", 3: "fixed"}),
            None,
            "ftl.allocation",
            "with `allocation` 0; channels are dynamic too",
        ),
        declare(
            "advanced command",
            Whole(0, 31),
            None,
            "schedule.multi-plane-reads geometry.dies-per-chip",
            "bit 16: multi-plane reads; bit 8: dies of a chip work at the same time; copyback, random order and "
            "merged programs have no counterpart",
        ),
        *[
            declare(f"advanced command priority{n}", Whole(0, 1), None, "", "commands are not merged by choice")
            for n in ("", "2")
        ],
        declare("greed CB command", Whole(0, 1), None, "", "ftl.copyback is off unless set by hand"),
        declare("greed MPW command", Whole(0, 1), None, "", "not set here: schedule.multi-plane-programs is the key"),
        declare(
            "aged",
            Whole(0, 1),
            None,
            "precondition.fill precondition.out-of-date",
            "1: that share of the pages is written, a tenth of it valid",
        ),
        declare("aged ratio", Number(0, 1), None, "precondition.fill precondition.out-of-date", "with `aged` 1"),
        declare("queue_length", Whole(1, 1 << 20), 5, "host.frame-buffer", "requests inside the drive", write=int),
        *ignored,
    )


PARAMETERS = _parameters()
PAGE = (("page.parameters", PARAMETERS),)
_REQUIRED = (
    *("channel number", "chip number", "die number", "plane number", "block number", "page number"),
    *("page capacity", "t_PROG", "t_BERS", "t_R", "t_WC", "t_RC", "overprovide", "gc hard threshold"),
)


def read(paths: Sequence[Path]) -> Imported:
    """Configuration of a parameter file and, if given, of a trace in SSDSim's format.

    Raises:
        ConfigError: a file cannot be read, or a value has no counterpart.
    """
    file, problems = shown(paths[0]), []  # type: str, list[str]
    pairs = assignments(str(paths[0]), "the parameters of SSDSim", problems, end=";")[""]
    chips = [pair for pair in pairs if re.fullmatch(r"chip number\s*\[\d+\]", pair.name)]
    others = [pair for pair in pairs if pair not in chips]
    values = read_values("page.parameters", PARAMETERS, others, file, problems)
    each = _chips(chips, values, problems)
    raise_problems(problems)
    for name in _REQUIRED:
        values.need(name)
    draft = Draft("drive.toml", f"{paths[0].name} of SSDSim")
    draft.apply(values)
    _geometry(draft, values, each)
    _times(draft, values)
    _ftl(draft, values)
    add_single_pulses(draft, PROGRAM)
    add_free_link(draft, PROGRAM)
    if len(paths) > 1:
        _trace(draft, paths[1])
    else:
        add_default_flow(draft)
    return Imported(PROGRAM, (draft,), (values,))


def _chips(pairs: list[Seen], values: Values, problems: list[str]) -> dict[int, int]:
    """Chips of each channel; the report lists all of them as the first line."""
    found: dict[int, int] = {}
    for pair in pairs:
        number = int(re.findall(r"\d+", pair.name)[0])
        if number in found:
            problems.append(f"{values.file}:{pair.line}: {pair.name}: seen twice; expected it once")
        elif not re.fullmatch(r"\d{1,5}", pair.text):
            problems.append(f"{values.file}:{pair.line}: {pair.name}: seen {pair.text[:40]!a}; expected a number")
        else:
            found[number] = int(pair.text)
            values.found.setdefault("chip number[N]", (int(pair.text), pair))
    return found


def _geometry(draft: Draft, values: Values, each: dict[int, int]) -> None:
    channels, chips = values["channel number"], values["chip number"]
    counts = [each.get(number, 0) for number in range(channels)] if each else [chips // channels] * channels
    if len(set(counts)) > 1 or sum(counts) != chips:
        raise ConfigError(
            f"{values.place('chip number')}: seen {chips} chips, {counts[:20]} on the channels; "
            "expected the same number on each channel, and their sum"
        )
    names = ["chip number", *(["chip number[N]"] if each else [])]
    draft.set("geometry.chips-per-channel", counts[0], values, *names)
    draft.link("geometry.chips-per-channel", values, *names)
    dies, planes = values["die number"], values["plane number"]
    interleaved = bool((values["advanced command"] or 0) & _INTERLEAVE)
    if dies > 1 and not interleaved:
        draft.assume("geometry.dies-per-chip", 1, "without interleaved commands a chip does one operation at a time")
        draft.set("part.planes", dies * planes, values, "plane number", "die number")
        draft.note(f"Without interleaved commands the {dies} dies of a chip are planes of one die.")
        draft.link("geometry.dies-per-chip", values, "die number", "advanced command")
    else:
        draft.set("geometry.dies-per-chip", dies, values, "die number")
        draft.set("part.planes", planes, values, "plane number")
        draft.link("geometry.dies-per-chip", values, "die number", "advanced command")
    draft.link("part.planes", values, "plane number", "die number")
    size, count, note = pages(values["page capacity"], values["page number"])
    draft.set("part.page-size", size_text(size), values, "page capacity")
    draft.set("part.pages-per-block", count, values, "page number")
    draft.set("ftl.mapping-unit", size_text(mapping_unit(size, [])), values, "page capacity")
    if note:
        draft.note(note)
    draft.assume("part.bits-per-cell", 1, "SSDSim has one kind of page")
    draft.assume("part.program-mode", "page", "SSDSim programs page by page")


def _times(draft: Draft, values: Values) -> None:
    cycle, byte = values["t_WC"], values["t_RC"]
    draft.set("part.program-pulse", f"{values['t_PROG']}ns", values, "t_PROG")
    draft.set("part.erase-pulse", f"{values['t_BERS']}ns", values, "t_BERS")
    draft.set("part.read-lsb", f"{values['t_R']}ns", values, "t_R")
    draft.set("part.command-cycles", f"{7 * cycle}ns", values, "t_WC")
    draft.set("part.bus-rate", f"{1000 / byte:.6f}MT/s", values, "t_RC")
    draft.assume("part.read-transfer", "data", "SSDSim transfers the sectors that are read")
    if cycle != byte:
        draft.note(
            f"SSDSim moves written data at {cycle} ns a byte, and read data at {byte} ns; here both take {byte} ns."
        )
    current = values["flash operating current"]
    if current is not None:
        for key in ("sense-lsb", "program-pulse", "erase-pulse"):
            draft.set(f"part.power.{key}", f"{current:g}uA", values, "flash operating current")
    names = ("dram standby current", "dram refresh current", "dram voltage")
    standby, refresh, volts = (values[name] for name in names)
    if None not in (standby, refresh, volts):
        draft.set("power.dram", f"{(standby + refresh) * volts / 1e6:.6f}W", values, *names)
        draft.link("power.dram", values, *names)


def _ftl(draft: Draft, values: Values) -> None:
    spare, threshold = values["overprovide"], values["gc hard threshold"]
    soft, note = free_share(threshold, spare / (1 - spare), values["block number"])
    draft.set("ftl.gc-soft", soft, values, "gc hard threshold")
    draft.assume("ftl.gc-threshold-base", "blocks", "the threshold of SSDSim is a share of a plane")
    draft.assume("ftl.gc-counts", "pages", "SSDSim counts free pages")
    draft.assume("ftl.gc-hard", min(0.005, soft), "SSDSim has no second threshold")
    draft.assume("ftl.gc", "greedy", "SSDSim collects the block with most invalid pages")
    for key in ("ftl.gc-threshold-base", "ftl.gc-counts"):
        draft.link(key, values, "gc hard threshold")
    if note:
        draft.note(note)
    if values["allocation"] == 1:
        order = _ORDERS[values["static_allocation"] or 0]
        draft.set("ftl.allocation", order, values, "allocation", "static_allocation")
        draft.link("ftl.allocation", values, "allocation", "static_allocation")
        draft.unused(values, "allocation is static", "dynamic_allocation")
    else:
        draft.set("ftl.allocation", "dynamic", values, "allocation", "dynamic_allocation")
        draft.link("ftl.allocation", values, "allocation", "dynamic_allocation")
        draft.unused(values, "allocation is dynamic", "static_allocation")
    together = bool((values["advanced command"] or 0) & _TWO_PLANE_READ)
    draft.set("schedule.multi-plane-reads", together, values, "advanced command")
    draft.assume("schedule.policy", "read-priority", "SSDSim serves reads of a channel first")
    draft.assume("ftl.unmapped-reads", "flash", "SSDSim reads pages that were never written from flash")
    buffer = values["dram capacity"] or 0
    draft.set("cache.size", size_text(buffer // 512 * 512), values, "dram capacity")
    if buffer:
        draft.assume("cache.latency", "1us", "fixed time of SSDSim's buffer")
        draft.link("cache.latency", values, "dram capacity")
    if values["aged"]:
        ratio, names = values["aged ratio"] or 0.0, ("aged", "aged ratio")
        draft.set("precondition.fill", round(min(0.1 * ratio / (1 - spare), 1), 9), values, *names)
        draft.set("precondition.out-of-date", 0.9, values, *names)
        draft.link("precondition.fill", values, *names)
        draft.link("precondition.out-of-date", values, *names)
        draft.note(f"An aged drive of SSDSim has {ratio:g} of its pages invalid; here a tenth of them is valid.")
    else:
        draft.assume("precondition.fill", 0, "a drive of SSDSim is empty unless it is aged")
        draft.unused(values, "aged is 0", "aged", "aged ratio")


def _trace(draft: Draft, path: Path) -> None:
    if not path.is_file():
        raise ConfigError(f"the trace {shown(path)} does not exist; expected a trace of SSDSim")
    why = "second file of the import"
    draft.assume("flow.0.name", "trace", why)
    draft.assume("flow.0.trace", str(path.absolute()), why)
    draft.assume("flow.0.format", "ssdsim", "SSDSim reads one format")
    draft.assume("flow.0.pacing", "recorded", "SSDSim submits each request at its time")
    draft.assume("flow.0.fit", "fold", "SSDSim takes addresses beyond the drive modulo its size")

"""FEMU: the black-box drive of `-device femu,...`, in a launch script or as a list of properties.

Source: `hw/femu/femu.c` and `hw/femu/bbssd` of MoatLab/FEMU at 99ce4fb.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from interpulse.files.paths import shown
from interpulse.importing.draft import Draft
from interpulse.importing.flash import free_share, mapping_unit, pages, size_text
from interpulse.importing.kinds import Choice, Coded, Flag, Size, Text, Whole
from interpulse.importing.parameters import Parameter, Values, declare, raise_problems, read_values
from interpulse.importing.report import Imported
from interpulse.importing.shell_reader import device_properties
from interpulse.importing.single_pulses import add_default_flow, add_single_pulses

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "FEMU"
_LEAST_SPARE = 0.07
"""Over-provisioning of a drive whose properties leave none."""
_COUNT = Whole(1, 2**31 - 1)
_NS = Whole(0, 10**10)
_BOOL = Flag(("on", "true", "yes", "1"), ("off", "false", "no", "0"))
_MODES = {0: "ocssd", 1: "bbssd", 2: "nossd", 3: "znssd", 4: "csd", 5: "kvssd"}

DRIVE = (
    declare("femu_mode", Coded(_MODES), 2, "", "1 (bbssd) only: the other modes have no counterpart"),
    declare("devsz_mb", _COUNT, 1024, "ftl.over-provisioning", "MiB that the host sees; without op_pcent"),
    declare("secsz", Whole(512, 65536), 512, "part.page-size", "bytes of a sector"),
    declare("secs_per_pg", _COUNT, 8, "part.page-size ftl.mapping-unit", "pages below 4 KiB are joined to 4 KiB"),
    declare("pgs_per_blk", _COUNT, 256, "part.pages-per-block"),
    declare("blks_per_pl", _COUNT, 256, "part.blocks-per-plane", write=int),
    declare("pls_per_lun", Whole(1, 64), 1, "part.planes", write=int),
    declare("luns_per_ch", _COUNT, 8, "geometry.chips-per-channel", "a LUN is a die of its own", write=int),
    declare("nchs", _COUNT, 8, "geometry.channels", write=int),
    declare("pg_rd_lat", Whole(1, 10**10), 40_000, "part.read-lsb", "ns, of all page types"),
    declare("pg_wr_lat", Whole(1, 10**10), 200_000, "part.program-pulse", "ns; one pulse"),
    declare("blk_er_lat", Whole(1, 10**10), 2_000_000, "part.erase-pulse", "ns; one pulse"),
    declare("ch_xfer_lat", _NS, 0, "part.bus-rate", "ns of a page; 0: no time, the fastest bus"),
    declare("pg_xfer_lat", _NS, 0, "part.bus-rate", "ns of a page; beside ch_xfer_lat the larger one"),
    declare("cmd_addr_lat", _NS, 0, "part.command-cycles", "ns", write=lambda ns: f"{ns}ns"),
    declare("status_lat", _NS, 0, "", "a die reports its end at once"),
    declare(
        "gc_thres_pcent",
        Whole(1, 99),
        75,
        "ftl.gc-soft ftl.gc-threshold-base",
        "collection starts when that share of the blocks is used; at least half of the spare blocks are left to it",
    ),
    declare("gc_thres_pcent_high", Whole(1, 100), 95, "ftl.gc-hard", "share in use beyond which the host waits"),
    declare(
        "gc_policy",
        Choice(("greedy", "random", "cost-benefit", "fifo", "d-choice"), any_case=False),
        "greedy",
        "ftl.gc",
        write=lambda name: "d-choices" if name == "d-choice" else name,
    ),
    declare("gc_strategy", Whole(0, 9), 0, "", "of placement handles"),
    declare("op_pcent", Whole(0, 2000), 0, "ftl.over-provisioning", "per cent of the capacity"),
    declare("read_cache_mb", Whole(0, 65536), 0, "read-cache.size", "MiB"),
    declare(
        "cache_evict",
        Choice(("clock", "random", "lru", "arc"), any_case=False),
        "clock",
        "read-cache.replacement",
        "random is clock, arc is lru",
    ),
    declare(
        "mapping",
        Choice(("page", "dftl", "bast", "fast"), any_case=False),
        "page",
        "ftl.mapping",
        "bast and fast are refused: blocks are not mapped as a whole here",
    ),
    declare("mapping_cache_mb", Whole(0, 65536), 0, "ftl.mapping ftl.map-cache-size", "MiB; 4 with dftl alone"),
    declare("nand_cell_type", Whole(0, 4), 0, "", "its times come from tables in FEMU's code: refused unless 0"),
    declare("cell_pages", Whole(0, 5), 0, "", "of pgtype_lat"),
    declare("pgtype_lat", Whole(0, 1), 0, "", "every program takes the time of pg_wr_lat"),
    declare("ecc_step_ns", _NS, 0, "", "read times that grow with wear come from errors.table"),
    declare("tplpbsy", _NS, 0, "", "planes have no times between their commands"),
    declare("tplrbsy", _NS, 0, "", "planes have no times between their commands"),
    declare("tplebsy", _NS, 0, "", "planes have no times between their commands"),
    declare("trcbsy", _NS, 0, "", "the cache register is that of part.cache"),
    declare("trim_lat_ns", _NS, 0, "", "a trim takes the time of the firmware"),
    declare("nand_bad_blocks", Whole(0, 2**31 - 1), 0, "", "factory-bad blocks are a probability here"),
    declare("err_read_unc_ppm", Whole(0, 100_000), 0, "faults.uncorrectable-read", "of reads, in a million"),
    declare("err_write_fail_ppm", Whole(0, 10_000), 0, "faults.program-failure", "of writes, in a million"),
    declare("pcie_bandwidth_mbps", Whole(0, 10**6), 0, "link.generation link.lanes", "MB/s; 0: the fastest link"),
    declare("pcie_prop_delay_ns", _NS, 0, "host.firmware", "ns, with fw_cpu_ns"),
    declare("fw_cpu_ns", Whole(0, 10**7), 0, "host.firmware host.firmware-cores", "ns of a command on one core"),
    declare("queues", Whole(1, 65535), 8, "", "there are as many queue pairs as host.queue-weights has"),
    declare("entries", Whole(1, 65535), 0x7FF, "host.queue-depth", write=int),
    declare("namespaces", Whole(1, 1024), 1, "", "the drive is one namespace"),
    declare("namespace_sizes", Text(), None, "", "the drive is one namespace"),
    declare("namespace_modes", Text(), None, "", "the drive is one namespace"),
)

_EMULATOR = "a property of the emulated controller or of its threads: no time depends on it"
_NAMES = (
    "serial nqn subsys bus addr id multipoller_enabled poller_ratio hiops_inline max_cqes max_sqes stride aerl "
    "acl elpe "
    "mdts cqr vwc intc intc_thresh intc_time ms ms_max dlfeat mpsmin mpsmax nlbaf lba_index extended dpc dps mc meta "
    "cmbsz cmbloc oacs oncs sgl vid did flash_type debug_ftl fdp_trim_erase_all"
)
CONTROLLER = tuple(declare(name, Text(), None, "", _EMULATOR) for name in _NAMES.split())
_FDP = "placement handles of FEMU's subsystem: ftl.placement has its own keys"
SUBSYSTEM = (
    declare("fdp", _BOOL, None, "", _FDP),
    *(declare(name, Size(), None, "", _FDP) for name in ("fdp.runs", "fdp.nrg", "fdp.nruh", "fdp.nru")),
    declare("fdp.isolation_mode", Whole(0, 9), None, "", _FDP),
)
_OTHER = "of a mode that is not imported (see femu_mode); zoned drives have keys of their own (docs/ZNS.md)"
_MODE_NAMES = (
    "lver lsec_size lsecs_per_pg lpgs_per_blk lmax_sec_per_rq lnum_ch lnum_lun lnum_pln lmetasize fdm_size nr_cu "
    "nr_thread time_slice context_switch_time csf_runtime_scale zns_num_ch zns_num_lun zns_num_plane zns_num_blk "
    "zns_flash_type zns_max_active zns_max_open zns_zd_ext_size zns_num_conv_zones zns_zone_cap "
    "zns_chnls_per_zone zns_zrwa_size zns_zrwafg_size zns_zrwa_num zns_cross_zone_read zns_zasl_bs"
)
MODES = tuple(declare(name, Text(), None, "", _OTHER) for name in _MODE_NAMES.split())
PARAMETERS: tuple[Parameter, ...] = (*DRIVE, *CONTROLLER, *SUBSYSTEM, *MODES)
PAGE = (("drive", DRIVE), ("controller", CONTROLLER), ("subsystem", SUBSYSTEM), ("other modes", MODES))


def read(paths: Sequence[Path]) -> Imported:
    """Configuration of a script or property list.

    Raises:
        ConfigError: the file cannot be read, or a value has no counterpart.
    """
    file, problems = shown(paths[0]), []  # type: str, list[str]
    pairs = device_properties(str(paths[0]), "femu", "the script of FEMU")
    values = read_values("-device femu", PARAMETERS, pairs, file, problems)
    raise_problems(problems)
    if values["femu_mode"] != 1:
        raise values.refuse("femu_mode", "1 (bbssd), the only mode with a flash drive of pages")
    if values["nand_cell_type"]:
        raise values.refuse("nand_cell_type", "0: times of cell types come from tables in FEMU's code")
    if values["mapping"] not in ("page", "dftl"):
        raise values.refuse("mapping", "page or dftl")
    draft = Draft("drive.toml", f"{paths[0].name} of FEMU")
    draft.apply(values)
    _flash(draft, values)
    _ftl(draft, values)
    _host(draft, values)
    add_single_pulses(draft, PROGRAM)
    add_default_flow(draft)
    return Imported(PROGRAM, (draft,), (values,))


def _flash(draft: Draft, values: Values) -> None:
    bytes_of_page = values["secsz"] * values["secs_per_pg"]
    size, count, note = pages(bytes_of_page, values["pgs_per_blk"])
    if note:
        draft.note(note)
    draft.set("part.page-size", size_text(size), values, "secs_per_pg", "secsz")
    draft.link("part.page-size", values, "secs_per_pg", "secsz")
    draft.set("part.pages-per-block", count, values, "pgs_per_blk")
    draft.set("ftl.mapping-unit", size_text(mapping_unit(size, [])), values, "secs_per_pg")
    for key, name in (("read-lsb", "pg_rd_lat"), ("program-pulse", "pg_wr_lat"), ("erase-pulse", "blk_er_lat")):
        draft.set(f"part.{key}", f"{values[name]}ns", values, name)
    transfer = max(values["ch_xfer_lat"], values["pg_xfer_lat"])
    rate = min(size * 1000 / transfer, 10**6) if transfer else 10**6
    names = ("ch_xfer_lat", "pg_xfer_lat")
    draft.set("part.bus-rate", f"{max(rate, 1):.6f}MT/s", values, *names)
    draft.link("part.bus-rate", values, *names)
    draft.assume("part.read-transfer", "page", "FEMU transfers whole pages")
    draft.assume("part.bits-per-cell", 1, "flat times: all pages are alike")
    draft.assume("part.program-mode", "page", "FEMU programs page by page")
    draft.assume("part.endurance", 100_000, "FEMU's blocks do not wear out")


def _ftl(draft: Draft, values: Values) -> None:
    names = ("nchs", "luns_per_ch", "pls_per_lun", "blks_per_pl", "pgs_per_blk", "secs_per_pg", "secsz")
    raw = math.prod(values[name] for name in names)
    if values["op_pcent"]:
        spare = values["op_pcent"] / 100
        draft.set("ftl.over-provisioning", spare, values, "op_pcent")
        draft.unused(values, "op_pcent decides the capacity", "devsz_mb")
    else:
        logical = values["devsz_mb"] << 20
        if logical > raw:
            raise values.refuse("devsz_mb", f"at most the {raw >> 20} MiB of the flash")
        spare = max(raw / logical - 1, _LEAST_SPARE)
        if raw / logical - 1 < _LEAST_SPARE:
            draft.note(f"devsz_mb leaves nothing to collection; here {_LEAST_SPARE:.0%} of the capacity are spare.")
        draft.set("ftl.over-provisioning", spare, values, "devsz_mb")
        draft.unused(values, "0: devsz_mb decides the capacity", "op_pcent")
    wanted = 1 - values["gc_thres_pcent"] / 100
    soft, note = free_share(wanted, spare, values["blks_per_pl"])
    draft.set("ftl.gc-soft", soft, values, "gc_thres_pcent")
    draft.assume("ftl.gc-threshold-base", "blocks", "thresholds of FEMU are shares of all blocks")
    draft.link("ftl.gc-threshold-base", values, "gc_thres_pcent")
    draft.set("ftl.gc-hard", min(1 - values["gc_thres_pcent_high"] / 100, soft), values, "gc_thres_pcent_high")
    if note:
        draft.note(note)
    cached = values["mapping"] == "dftl" or values["mapping_cache_mb"]
    draft.set("ftl.mapping", "cached" if cached else "full", values, "mapping", "mapping_cache_mb")
    draft.link("ftl.mapping", values, "mapping", "mapping_cache_mb")
    if cached:
        draft.set("ftl.map-cache-size", f"{values['mapping_cache_mb'] or 4}MiB", values, "mapping_cache_mb")
    if values["read_cache_mb"]:
        draft.set("read-cache.size", f"{values['read_cache_mb']}MiB", values, "read_cache_mb")
        replacement = {"random": "clock", "arc": "lru"}.get(values["cache_evict"], values["cache_evict"])
        draft.set("read-cache.replacement", replacement, values, "cache_evict")
    else:
        draft.unused(values, "there is no read cache", "read_cache_mb", "cache_evict")
    draft.assume("cache.size", "0B", "a write of FEMU ends with its program")
    draft.assume(
        "precondition.fill", 1, "a full drive: one of FEMU starts empty, and reads of empty pages take no time"
    )


def _host(draft: Draft, values: Values) -> None:
    for key, name in (("uncorrectable-read", "err_read_unc_ppm"), ("program-failure", "err_write_fail_ppm")):
        if values[name]:
            draft.set(f"faults.{key}", values[name] / 1e6, values, name)
        else:
            draft.unused(values, "0", name)
    wanted = values["pcie_bandwidth_mbps"]
    generation, lanes = nearest_link(wanted) if wanted else (6, 16)
    for key, value in (("generation", generation), ("lanes", lanes)):
        draft.set(f"link.{key}", value, values, "pcie_bandwidth_mbps")
    draft.assume("link.max-payload", 4096, "FEMU has no packets")
    names = ("fw_cpu_ns", "pcie_prop_delay_ns")
    draft.set("host.firmware", f"{sum(values[name] for name in names)}ns", values, *names)
    draft.link("host.firmware", values, *names)
    if values["fw_cpu_ns"]:
        draft.set("host.firmware-cores", 1, values, "fw_cpu_ns")
    if values["namespaces"] > 1:
        draft.note("The drive is one namespace; FEMU divides it into several.")


def nearest_link(megabytes: float) -> tuple[int, int]:
    """Generation and lanes of the PCIe link whose rate is nearest."""
    rates = {(g, n): per * n for g, per in enumerate((242, 485, 955, 1910, 3820, 7336), 1) for n in (1, 2, 4, 8, 16)}
    return min(rates, key=lambda each: abs(math.log(rates[each] / megabytes)))

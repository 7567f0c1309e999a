"""NVMeVirt: a model of `ssd_config.h`, the chosen model of `Kbuild`, and the parameters of its module.

Source: `ssd_config.h`, `ssd.c`, `conv_ftl.c` and `main.c` of snu-csl/nvmevirt at 61c90f7.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

from interpulse._core import ConfigError
from interpulse.files.paths import shown
from interpulse.importing.draft import Draft
from interpulse.importing.femu import nearest_link
from interpulse.importing.flash import free_share, size_text
from interpulse.importing.header_reader import Header
from interpulse.importing.kinds import Choice, Number, Size, Text, Whole
from interpulse.importing.lines_reader import read_lines
from interpulse.importing.parameters import Seen, Values, declare, raise_problems, read_values
from interpulse.importing.report import Imported
from interpulse.importing.single_pulses import add_default_flow, add_single_pulses

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAM = "NVMeVirt"
_COUNT = Whole(1, 2**31 - 1)
_NS = Whole(0, 10**10)
_TYPES = Choice(("SSD_TYPE_NVM", "SSD_TYPE_CONV", "SSD_TYPE_ZNS", "SSD_TYPE_KV", "NS_SSD_TYPE_0", "0", "1", "2", "3"))
_ONE = "namespaces are not imported; [[namespace]] has keys of its own (docs/NAMESPACES.md)"
_ZONES = "of zoned models, which are refused"
_CELLS = {"1": 1, "2": 2, "3": 3, "4": 4}
_DEFAULT_CAPACITY = 64 << 30

HEADER = (
    declare(
        "NS_SSD_TYPE_0",
        _TYPES,
        None,
        "ftl.family",
        "SSD_TYPE_CONV only: the other models have no flash of pages or times of zones of their own",
    ),
    declare("NR_NAMESPACES", Whole(1, 2), 1, "", _ONE),
    declare("NS_CAPACITY_0", Whole(), None, "", _ONE),
    declare("NS_SSD_TYPE_1", _TYPES, None, "", _ONE),
    declare("NS_CAPACITY_1", Whole(), None, "", _ONE),
    declare("MDTS", Whole(0, 255), None, "", "requests have no largest size"),
    declare(
        "CELL_MODE",
        Choice(("0", "1", "2", "3", "4")),
        None,
        "part.bits-per-cell part.program-mode",
        "pages of a one-shot program that are as many as the bits of a cell are programmed together",
    ),
    declare("SSD_PARTITIONS", _COUNT, 1, "", "the partitions share the drive evenly: one FTL has all channels"),
    declare("NAND_CHANNELS", _COUNT, None, "geometry.channels", write=int),
    declare("LUNS_PER_NAND_CH", _COUNT, None, "geometry.chips-per-channel", "a LUN is a die of its own", write=int),
    declare("PLNS_PER_LUN", Whole(1, 64), 1, "part.planes", write=int),
    declare(
        "FLASH_PAGE_SIZE",
        Whole(4096, 1 << 20),
        None,
        "part.page-size ftl.mapping-unit",
        "bytes; units of 4 KiB are mapped",
        write=size_text,
    ),
    declare("ONESHOT_PAGE_SIZE", _COUNT, None, "part.program-mode part.pages-per-block", "bytes of a program"),
    declare(
        "BLKS_PER_PLN",
        Whole(0, 2**31 - 1),
        None,
        "part.blocks-per-plane part.pages-per-block",
        "the capacity decides the pages of a block",
    ),
    declare("BLK_SIZE", Whole(0), None, "part.blocks-per-plane part.pages-per-block", "bytes, if BLKS_PER_PLN is 0"),
    declare("MAX_CH_XFER_SIZE", _COUNT, None, "", "a transfer is not divided"),
    declare("WRITE_UNIT_SIZE", _COUNT, None, "", "units of the map are written"),
    declare("NAND_CHANNEL_BANDWIDTH", Whole(1, 10**6), None, "part.bus-rate", "MB/s", write=lambda mb: f"{mb}MT/s"),
    declare("PCIE_BANDWIDTH", Whole(1, 10**6), None, "link.generation link.lanes", "MB/s: the nearest link"),
    *(
        declare(f"NAND_4KB_READ_LATENCY_{page}", _NS, None, f"part.read-{page.lower()}", "ns")
        for page in ("LSB", "CSB", "MSB")
    ),
    *(
        declare(
            f"NAND_READ_LATENCY_{page}", _NS, None, "", "a part of a page takes as long as all of it: that of 4 KiB"
        )
        for page in ("LSB", "CSB", "MSB")
    ),
    declare("NAND_PROG_LATENCY", Whole(1, 10**10), None, "part.program-pulse", "ns; one pulse"),
    declare("NAND_ERASE_LATENCY", _NS, None, "part.erase-pulse", "ns; one pulse, of 1 ns if it is 0"),
    declare(
        "FW_4KB_READ_LATENCY",
        Whole(0, 10**7),
        None,
        "host.firmware",
        "ns, of every command",
        write=lambda ns: f"{ns}ns",
    ),
    declare("FW_READ_LATENCY", _NS, None, "", "every command takes that of a read of 4 KiB"),
    declare("FW_WBUF_LATENCY0", _NS, None, "cache.latency", "ns, less the firmware time of the command"),
    declare("FW_WBUF_LATENCY1", _NS, None, "cache.latency", "ns of 4 KiB"),
    declare("FW_CH_XFER_LATENCY", _NS, None, "part.command-cycles", "ns", write=lambda ns: f"{ns}ns"),
    declare("OP_AREA_PERCENT", Number(0, 20), None, "ftl.over-provisioning", "a share of the logical capacity"),
    declare("GLOBAL_WB_SIZE", Whole(), None, "cache.size", "bytes"),
    declare("WRITE_EARLY_COMPLETION", Whole(0, 1), None, "cache.acknowledge"),
    declare("LBA_BITS", Whole(9, 16), None, "", "sectors have 512 B"),
    declare("LBA_SIZE", _COUNT, None, "", "sectors have 512 B"),
    *(
        declare(name, Whole(), None, "", _ZONES)
        for name in (
            "DIES_PER_ZONE",
            "ZONE_SIZE",
            "ZONE_WB_SIZE",
            "MAX_ZRWA_ZONES",
            "ZRWAFG_SIZE",
            "ZRWA_SIZE",
            "ZRWA_BUFFER_SIZE",
        )
    ),
    *(
        declare(name, Text(), None, "", "of the key-value model, which is refused")
        for name in ("KV_MAPPING_TABLE_SIZE", "ALLOCATOR_TYPE")
    ),
)
_CONSTANTS = {"INTEL_OPTANE", "SAMSUNG_970PRO", "ZNS_PROTOTYPE", "KV_PROTOTYPE", "WD_ZN540"}
_SIMPLE = "of the model without flash (SSD_TYPE_NVM), which is refused"
MODULE = (
    declare("memmap_start", Size(), None, "", "the host's memory is not used"),
    declare(
        "memmap_size",
        Size(1 << 20),
        _DEFAULT_CAPACITY,
        "part.pages-per-block part.blocks-per-plane",
        "all of the flash",
    ),
    *(
        declare(name, Whole(0), None, "", _SIMPLE)
        for name in (
            "read_time",
            "read_delay",
            "read_trailing",
            "write_time",
            "write_delay",
            "write_trailing",
            "nr_io_units",
            "io_unit_shift",
        )
    ),
    declare("cpus", Text(), None, "", "a simulation has no threads of the host"),
    declare("debug", Whole(0), None, "", "messages of the module"),
)
PAGE = (("ssd_config.h", HEADER), ("module", MODULE))
_NEEDED = ("CELL_MODE", "NAND_CHANNELS", "LUNS_PER_NAND_CH", "FLASH_PAGE_SIZE", "ONESHOT_PAGE_SIZE", "BLKS_PER_PLN")
_READS = {1: ("LSB",), 2: ("LSB", "MSB"), 3: ("LSB", "CSB", "MSB"), 4: ("LSB", "CSB", "MSB")}


def read(paths: Sequence[Path]) -> Imported:
    """Configuration of the chosen model.

    Args:
        paths: `ssd_config.h`; then `Kbuild`, which chooses the model; then the line that loads the module.

    Raises:
        ConfigError: a file cannot be read, or a value has no counterpart.
    """
    model = _model(paths[1]) if len(paths) > 1 else None
    header = Header(str(paths[0]), "the header of NVMeVirt", "BASE_SSD", model)
    if header.models and (model is None or model not in header.models):
        seen = (
            f"{shown(paths[1])}: seen BASE_SSD={model}" if model else f"{header.name}: seen {len(header.models)} models"
        )
        raise ConfigError(f"{seen}; expected Kbuild as the second file with BASE_SSD one of {', '.join(header.models)}")
    problems: list[str] = []
    pairs = [each for each in header.seen() if not _is_code(each.name)]
    values = read_values("ssd_config.h", HEADER, pairs, header.name, problems)
    module_pairs = _module(paths[2], problems) if len(paths) > 2 else []
    module = read_values("module", MODULE, module_pairs, shown(paths[-1]), problems)
    raise_problems(problems)
    if values.need("NS_SSD_TYPE_0") not in ("SSD_TYPE_CONV", "1"):
        raise values.refuse("NS_SSD_TYPE_0", "SSD_TYPE_CONV, a model with flash of pages")
    for name in (*_NEEDED, "NAND_PROG_LATENCY", "NAND_ERASE_LATENCY", "OP_AREA_PERCENT", "PCIE_BANDWIDTH"):
        values.need(name)
    draft = Draft("drive.toml", f"{paths[0].name} of NVMeVirt{f', {model}' if model else ''}")
    draft.apply(values)
    draft.assume("ftl.family", "page", "model SSD_TYPE_CONV")
    draft.link("ftl.family", values, "NS_SSD_TYPE_0")
    _flash(draft, values)
    _blocks(draft, values, module)
    _controller(draft, values)
    add_single_pulses(draft, PROGRAM)
    add_default_flow(draft)
    return Imported(PROGRAM, (draft,), (values, module))


def _is_code(name: str) -> bool:
    """Whether a constant only numbers choices."""
    return name in _CONSTANTS or name.startswith(("SSD_TYPE_", "CELL_MODE_", "_"))


def _model(path: Path) -> str:
    """The model that Kbuild chooses: the one of the option that is set, or the only one."""
    lines = [line.partition("#")[0] for line in read_lines(str(path), "Kbuild")]
    bases = [found[1] for line in lines if (found := re.search(r"BASE_SSD=(\w+)", line))]
    if not bases:
        raise ConfigError(f"{shown(path)}: seen no BASE_SSD=; expected Kbuild of NVMeVirt")
    if len(bases) == 1:
        return bases[0]
    chosen = {found[1] for line in lines if (found := re.match(r"\s*CONFIG_NVMEVIRT_(\w+)\s*:=\s*y\s*$", line))}
    for line in lines:
        option = re.search(r"\$\(CONFIG_NVMEVIRT_(\w+)\).*BASE_SSD=(\w+)", line)
        if option and option[1] in chosen:
            return option[2]
    raise ConfigError(f"{shown(path)}: seen no model of an option CONFIG_NVMEVIRT_... := y; expected one model")


def _module(path: Path, problems: list[str]) -> list[Seen]:
    seen = []
    for number, line in enumerate(read_lines(str(path), "the line that loads NVMeVirt"), 1):
        for word in re.sub(r"(^|\s)#.*$|\\$", "", line).split():
            name, equal, value = word.partition("=")
            if equal:
                seen.append(Seen(name[:200], value.strip("\"'"), number))
    if not seen:
        problems.append(f"{shown(path)}: seen no name=value; expected a line such as insmod nvmev.ko memmap_size=64G")
    return seen


def _flash(draft: Draft, values: Values) -> None:
    if values["CELL_MODE"] not in _CELLS:
        raise values.refuse("CELL_MODE", "1 (SLC) to 4 (QLC)")
    bits = _CELLS[values["CELL_MODE"]]
    draft.set("part.bits-per-cell", bits, values, "CELL_MODE")
    for page in ("LSB", "CSB", "MSB"):
        name = f"NAND_4KB_READ_LATENCY_{page}"
        if page not in _READS[bits]:
            draft.unused(values, f"cells of {bits} bits have no such page", name)
            continue
        if not values.need(name):
            raise values.refuse(name, "a time above 0 for this CELL_MODE")
        draft.set(f"part.read-{page.lower()}", f"{values[name]}ns", values, name)
    if bits == 4:
        draft.assume("part.read-top", f"{values['NAND_4KB_READ_LATENCY_MSB']}ns", "NVMeVirt has no fourth page")
    together = values["ONESHOT_PAGE_SIZE"] // values["FLASH_PAGE_SIZE"]
    mode = "one-shot" if together == bits and bits > 1 else "page"
    draft.set("part.program-mode", mode, values, "ONESHOT_PAGE_SIZE", "CELL_MODE")
    draft.link("part.program-mode", values, "ONESHOT_PAGE_SIZE", "CELL_MODE")
    if mode == "page" and together != 1:
        draft.note(f"A program of NVMeVirt writes {together} pages; here it writes one.")
    draft.set("part.program-pulse", f"{values['NAND_PROG_LATENCY']}ns", values, "NAND_PROG_LATENCY")
    erase = values["NAND_ERASE_LATENCY"]
    draft.set("part.erase-pulse", f"{max(erase, 1)}ns", values, "NAND_ERASE_LATENCY")
    if not erase:
        draft.note("An erase of this model takes no time; here it takes 1 ns.")
    draft.assume("part.read-transfer", "data", "NVMeVirt transfers what is read")
    draft.assume("part.endurance", 100_000, "NVMeVirt's blocks do not wear out")
    draft.assume("ftl.mapping-unit", "4KiB", "NVMeVirt maps 4 KiB")
    draft.link("ftl.mapping-unit", values, "FLASH_PAGE_SIZE")


def _blocks(draft: Draft, values: Values, module: Values) -> None:
    size, program, capacity = values["FLASH_PAGE_SIZE"], values["ONESHOT_PAGE_SIZE"], module["memmap_size"]
    if program % size:
        raise values.refuse("ONESHOT_PAGE_SIZE", f"a multiple of FLASH_PAGE_SIZE, {size}")
    planes = values["NAND_CHANNELS"] * values["LUNS_PER_NAND_CH"] * values["PLNS_PER_LUN"]
    blocks, block = values["BLKS_PER_PLN"], values["BLK_SIZE"] or 0
    if blocks:
        block = math.ceil(capacity / (blocks * planes))
        draft.unused(values, "BLKS_PER_PLN decides the size of a block", "BLK_SIZE")
    elif block:
        blocks = math.ceil(capacity / (block * planes))
    else:
        raise values.refuse("BLKS_PER_PLN", "more than 0, or BLK_SIZE of more than 0")
    count = math.ceil(block / program) * (program // size)
    names = ("BLKS_PER_PLN", *(("BLK_SIZE",) if values["BLK_SIZE"] and not values["BLKS_PER_PLN"] else ()))
    draft.set("part.blocks-per-plane", blocks, values, *names)
    draft.set("part.pages-per-block", count, values, *names)
    for key in ("part.blocks-per-plane", "part.pages-per-block"):
        draft.link(key, values, *names)
        draft.link(key, module, "memmap_size")
    draft.link("part.pages-per-block", values, "ONESHOT_PAGE_SIZE")
    if not module.given("memmap_size"):
        draft.note(f"No memmap_size is given: the flash has {_DEFAULT_CAPACITY >> 30} GiB.")
    spare = values["OP_AREA_PERCENT"]
    if not spare:
        raise values.refuse("OP_AREA_PERCENT", "a number above 0 (some of the flash must be spare)")
    draft.set("ftl.over-provisioning", spare, values, "OP_AREA_PERCENT")
    draft.assume("ftl.gc-threshold-base", "blocks", "NVMeVirt counts blocks")
    draft.assume("ftl.gc-soft", free_share(2 / blocks, spare, blocks)[0], "NVMeVirt collects below two free lines")
    draft.assume("ftl.gc-hard", 0, "NVMeVirt has one threshold")
    draft.assume("precondition.fill", 1, "a full drive: one of NVMeVirt starts empty")


def _controller(draft: Draft, values: Values) -> None:
    link = nearest_link(values["PCIE_BANDWIDTH"])
    for key, value in zip(("generation", "lanes"), link, strict=True):
        draft.set(f"link.{key}", value, values, "PCIE_BANDWIDTH")
    draft.link("link.lanes", values, "PCIE_BANDWIDTH")
    buffer = (values["FW_WBUF_LATENCY0"] or 0) + (values["FW_WBUF_LATENCY1"] or 0)
    rest = min(max(buffer - (values["FW_4KB_READ_LATENCY"] or 0), 0), 10**6)
    names = ("FW_WBUF_LATENCY0", "FW_WBUF_LATENCY1")
    draft.set("cache.latency", f"{rest}ns", values, *names)
    draft.link("cache.latency", values, *names)
    draft.set("cache.size", size_text(values["GLOBAL_WB_SIZE"] or 0), values, "GLOBAL_WB_SIZE")
    early = bool(values["WRITE_EARLY_COMPLETION"])
    draft.set("cache.acknowledge", "when-cached" if early else "when-programmed", values, "WRITE_EARLY_COMPLETION")

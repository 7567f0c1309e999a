"""Is every wrong file of another simulator refused, with the place, the value and what is legal?"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from interpulse._core import ConfigError
from interpulse.importing.registry import IMPORTERS, read
from tests import import_files as made
from tests.import_files_others import FILES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

DRIVE = made.mqsim_drive()
LOAD = made.mqsim_workload([{}])
BOMB = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))


@dataclass(frozen=True)
class Case:
    """Files that are wrong, and what the message has to say."""

    about: str
    program: str
    files: tuple[tuple[str, bytes], ...]
    says: tuple[str, ...]


def device(about: str, name: str, value: object, *says: str) -> Case:
    """An MQSim drive with a wrong value."""
    text = made.mqsim_drive(device={name: value})
    return Case(f"mqsim {about}", "mqsim", (("d.xml", text.encode()),), ("d.xml:", name, *says))


def flash(about: str, name: str, value: object, *says: str) -> Case:
    """An MQSim drive with a wrong value of the flash."""
    text = made.mqsim_drive(flash={name: value})
    return Case(f"mqsim {about}", "mqsim", (("d.xml", text.encode()),), ("d.xml:", name, *says))


def flow(about: str, values: dict[str, Any], *says: str) -> Case:
    """An MQSim workload with a wrong flow."""
    text = made.mqsim_workload([values])
    return Case(f"mqsim {about}", "mqsim", (("d.xml", DRIVE.encode()), ("w.xml", text.encode())), ("w.xml:", *says))


def drive(about: str, text: str | bytes, *says: str) -> Case:
    """An MQSim drive that is this text."""
    content = text if isinstance(text, bytes) else text.encode()
    return Case(f"mqsim {about}", "mqsim", (("d.xml", content),), ("d.xml", *says))


def load(about: str, text: str, *says: str) -> Case:
    """An MQSim workload that is this text."""
    return Case(f"mqsim {about}", "mqsim", (("d.xml", DRIVE.encode()), ("w.xml", text.encode())), ("w.xml", *says))


def without(text: str, start: str, end: str) -> str:
    """A text without what lies between two marks, both included."""
    head, _, rest = text.partition(start)
    return head + rest.partition(end)[2]


MQSIM = [
    drive("nothing", "", "empty"),
    drive("blanks", " \n\t\n", "empty"),
    drive("no XML", "drive = 1\n", "d.xml:1"),
    drive("the word for internal parameters", "USE_INTERNAL_PARAMS", "d.xml:1"),
    drive("JSON", '{"a": 1}', "d.xml:1"),
    drive("cut in a tag", DRIVE[: len(DRIVE) // 2], "d.xml:", "unclosed token"),
    drive("cut after a tag", DRIVE[: DRIVE.index("<Page_Capacity>")], "no element found"),
    drive("binary", bytes(range(256)) * 40, "UTF-8"),
    drive("UTF-16", DRIVE.encode("utf-16"), "UTF-8"),
    drive("Latin-1", DRIVE.replace("FLASH", "FL\xc4SH").encode("latin-1"), "UTF-8"),
    drive("a null", DRIVE.replace("CWDP", "CW\0P"), "d.xml:"),
    drive("8 MiB", "<a>" + " " * (8 << 20) + "</a>", "larger than 4 MiB"),
    drive("depth", "<a>" * 5000 + "</a>" * 5000, "16 levels"),
    drive("too many elements", "<a>" + "<b/>" * 200_000 + "</a>", "100000 elements"),
    drive("a document type", DRIVE.replace("<Exec", "<!DOCTYPE x><Exec", 1), "document type"),
    drive("nested entities", f'<!DOCTYPE x [<!ENTITY a0 "x">{BOMB}]><x>&a8;</x>', "document type"),
    drive("an external entity", '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>', "document type"),
    drive("an unknown entity", DRIVE.replace("CWDP", "&cwdp;"), "d.xml:", "undefined entity"),
    drive("an attribute", DRIVE.replace("<Seed>", '<Seed unit="1">'), "Seed", "attribute"),
    drive("another root", "<Drive></Drive>", "seen the root Drive", "Execution_Parameter_Set"),
    drive("a workload", LOAD, "MQSim_IO_Scenarios", "the drive file comes first"),
    drive("two roots", DRIVE + "<a/>", "junk after document element"),
    drive("no device", without(DRIVE, "<Device_Parameter_Set>", "</Device_Parameter_Set>"), "no Device_Parameter_Set"),
    drive("no flash", without(DRIVE, "<Flash_Parameter_Set>", "</Flash_Parameter_Set>"), "0 Flash_Parameter_Set"),
    drive("flash twice", DRIVE.replace("</Device_P", "<Flash_Parameter_Set></Flash_Parameter_Set></Device_P"),
          "2 Flash_Parameter_Set"),
    drive("a section twice", DRIVE.replace("</Exec", "<Host_Parameter_Set/></Exec"), "Host_Parameter_Set", "twice"),
    drive("an unknown section", DRIVE.replace("</Exec", "<Hosts/></Exec"), "Hosts", "Host_Parameter_Set"),
    drive("text between elements", DRIVE.replace("<Device_", "80us<Device_"), "text between"),
    drive("elements in a value", DRIVE.replace("<Seed>7", "<Seed><a>7</a>"), "Seed", "elements inside"),
    drive("a parameter twice", DRIVE.replace("</Seed>", "</Seed><Seed>8</Seed>"), "Seed", "twice"),
    drive("two spellings", DRIVE.replace("<Seed>", "<Prefered_suspend_erase_time_for_read>1"
          "</Prefered_suspend_erase_time_for_read><Seed>"), "suspend_erase_time_for_read", "twice"),
    device("an empty value", "Seed", "", 'seen ""', "whole number"),
    device("a word", "Seed", "many", 'seen "many"'),
    device("a fraction", "Flash_Channel_Count", "8.5", "whole number from 1"),
    device("a unit", "Data_Cache_Capacity", "256MB", 'seen "256MB"'),
    device("zero channels", "Flash_Channel_Count", 0, "from 1"),
    device("negative channels", "Flash_Channel_Count", -8, 'seen "-8"'),
    device("a huge number", "Flash_Channel_Count", "9" * 500, "(500 characters)"),
    device("hexadecimal", "Flash_Channel_Count", "0x8", 'seen "0x8"'),
    device("NaN", "Overprovisioning_Ratio", "nan", 'seen "nan"'),
    device("infinity", "Overprovisioning_Ratio", "inf", 'seen "inf"'),
    device("an overflow", "Overprovisioning_Ratio", "1e999", "above 0"),
    device("a comma", "Overprovisioning_Ratio", "0,07", 'seen "0,07"'),
    device("no spare", "Overprovisioning_Ratio", 0, "above 0"),
    device("nearly all spare", "Overprovisioning_Ratio", 1, "at most 0.95"),
    device("per cent", "Overprovisioning_Ratio", "7%", 'seen "7%"'),
    device("a number for a flag", "Ideal_Mapping_Table", 1, "true or false"),
    device("an unknown policy", "GC_Block_Selection_Policy", "BEST", "GREEDY, RGA"),
    device("an unknown order", "Plane_Allocation_Scheme", "CWDD", "CWDP"),
    device("hybrid mapping", "Address_Mapping", "HYBRID", "PAGE_LEVEL"),
    device("FLIN", "Transaction_Scheduling_Policy", "FLIN", "OUT_OF_ORDER"),
    device("another memory", "Memory_Type", "PCM", "FLASH"),
    device("another interface", "HostInterface_Type", "NVMEOF", "NVME, SATA"),
    device("a depth beyond 16 bits", "IO_Queue_Depth", 65536, "65535"),
    device("a cache beyond 32 bits", "Data_Cache_Capacity", 1 << 32, "4294967295"),
    device("more channels than there can be", "Flash_Channel_Count", 300, "geometry.channels"),
    device("too little spare", "Overprovisioning_Ratio", 0.001, "over-provisioning"),
    flash("quad-level cells", "Flash_Technology", "QLC", "SLC, MLC, TLC"),
    flash("a negative time", "Page_Read_Latency_LSB", -1, 'seen "-1"'),
    flash("no time", "Block_Erase_Latency", 0, "from 1"),
    flash("a time of years", "Block_Erase_Latency", 10**12, "10000000000"),
    flash("a page of no unit", "Page_Capacity", 6000, "page-size"),
    flash("65 planes", "Plane_No_Per_Die", 65, "part.planes"),
    flash("suspension of reads", "CMD_Suspension_Support", "READ", "PROGRAM_ERASE"),
    Case("mqsim no bandwidth", "mqsim", (("d.xml", made.mqsim_drive(host={"PCIe_Lane_Bandwidth": 0}).encode()),),
         ("PCIe_Lane_Bandwidth", "above 0")),
    load("no scenario", "<MQSim_IO_Scenarios></MQSim_IO_Scenarios>", "no IO_Scenario"),
    load("no flow", "<MQSim_IO_Scenarios><IO_Scenario/></MQSim_IO_Scenarios>", "no flow"),
    load("a drive", DRIVE, "Execution_Parameter_Set", "the workload file second"),
    load("an unknown flow", LOAD.replace("Set_Synthetic", "Set_Syntetic"), "did you mean IO_Flow_Parameter_Set_S"),
    load("an unknown scenario", LOAD.replace("IO_Scenario>", "Scenario>"), "expected IO_Scenario"),
    flow("no read share", {"Read_Percentage": None}, "Read_Percentage", "not given"),
    flow("no caching mode", {"Device_Level_Data_Caching_Mode": None}, "not given"),
    flow("no depth", {"Average_No_of_Reqs_in_Queue": None}, "not given"),
    flow("more than all reads", {"Read_Percentage": 101}, "from 0 to 100"),
    flow("no requests", {"Total_Requests_To_Generate": 0}, "Stop_Time"),
    flow("depth 0", {"Average_No_of_Reqs_in_Queue": 0}, "at least 1"),
    flow("no rate", {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": 0}, "Bandwidth"),
    flow("size 0", {"Average_Request_Size": 0}, "from 1"),
    flow("alignment 0", {"Address_Alignment_Unit": 0}, "at least 1"),
    flow("no hot region", {"Address_Distribution": "RANDOM_HOTCOLD"}, "1 to 99"),
    flow("mixed", {"Address_Distribution": "MIXED_STREAMING_RANDOM"}, "MQSim stops"),
    flow("a channel that is not there", {"Channel_IDs": "0,2"}, "Channel_IDs", "0 to 1"),
    flow("a negative channel", {"Channel_IDs": "-1"}, "Channel_IDs", "numbers from 0"),
    flow("channels as words", {"Channel_IDs": "all"}, "Channel_IDs", "numbers from 0"),
    flow("an unknown class", {"Priority_Class": "LOWEST"}, "URGENT"),
    flow("a size of 1 GiB", {"Average_Request_Size": 2 << 20}, "from 1 to 32768"),
    flow("a trace without a name", {"File_Path": ""}, "File_Path"),
    flow("a share of no trace", {"File_Path": "none.trace", "Percentage_To_Be_Executed": 50}, "none.trace"),
    flow("no passes", {"File_Path": "none.trace", "Relay_Count": 0}, "Relay_Count"),
    flow("an unknown unit of time", {"File_Path": "none.trace", "Time_Unit": "SECOND"}, "MICROSECOND"),
]  # fmt: skip


def other(program: str, about: str, before: str, after: str, *says: str, file: int = 0) -> Case:
    """The files of another program with a text replaced in one of them."""
    texts = list(FILES[program])
    assert before in texts[file], before
    texts[file] = texts[file].replace(before, after, 1)
    return Case(f"{program} {about}", program, tuple((f"f{n}", text.encode()) for n, text in enumerate(texts)), says)


def whole(program: str, about: str, content: bytes, *says: str) -> Case:
    """A first file that is something else."""
    rest = [(f"f{n}", text.encode()) for n, text in enumerate(FILES[program]) if n]
    return Case(f"{program} {about}", program, (("f0", content), *rest), ("f0", *says))


OTHERS = [
    *(whole(program, about, content, *says) for program in FILES for about, content, *says in (
        ("nothing", b"", "empty"),
        ("blanks", b"\n \n", "empty"),
        ("binary", bytes(range(256)), "binary"),
        ("2 MiB", b"a = 1\n" * (1 << 19), "larger than 1 MiB"),
        ("a long line", b"a = " + b"9" * 5000, "4096 characters"),
    )),
    other("ssdsim", "no flash", "block number = 256;", "", "block number", "not given"),
    other("ssdsim", "a word", "t_PROG = 300000", "t_PROG = fast", "f0:14", "t_PROG", 'seen "fast"'),
    other("ssdsim", "zero", "page number = 64", "page number = 0", "f0:10", "page number", "from 1"),
    other("ssdsim", "a negative number", "plane number = 2", "plane number = -2", 'seen "-2"'),
    other("ssdsim", "NaN", "overprovide=0.20", "overprovide=nan", 'seen "nan"'),
    other("ssdsim", "no spare", "overprovide=0.20", "overprovide=0", "overprovide", "above 0"),
    other("ssdsim", "a parameter twice", "t_R = 30000;", "t_R = 30000;\nt_R = 3;", "t_R", "twice"),
    other("ssdsim", "a channel twice", "chip number[1]", "chip number[0]", "chip number[0]", "twice"),
    other("ssdsim", "uneven channels", "chip number[1] = 2", "chip number[1] = 1", "the same number on each channel"),
    other("ssdsim", "another sum", "chip number = 4", "chip number = 6", "their sum"),
    other("ssdsim", "chips as a word", "chip number[1] = 2", "chip number[1] = two", "expected a number"),
    other("ssdsim", "no assignment", "t_RC = 20;", "t_RC 20;", "name = value"),
    whole("ssdsim", "a foreign encoding in a value",
          FILES["ssdsim"][0].encode().replace(b"t_RC = 20", b"t_RC = \xb2\xb0"),
          "f0:18", "UTF-8"),
    other("ssdsim", "an unknown allocation", "static_allocation=1", "static_allocation=9", "0 (WDPC)"),
    other("ssdsim", "an unknown mapping", "address mapping=1", "address mapping=7", "1 (page)"),
    other("ssdsim", "too many channels", "channel number = 2; # buses\nchip number = 4", "channel number = 300;\n"
          "chip number = 600", "the same number on each channel"),
    other("simplessd", "no flash", "[pal]", "[pla]", "[pla]", "no section [pal]"),
    other("simplessd", "a section twice", "[icl]", "[ftl]", "[ftl]", "twice"),
    other("simplessd", "a value before a section", "[cpu]\n", "", "before the first section"),
    other("simplessd", "a unit", "LSBRead = 40000000", "LSBRead = 40us", 'seen "40us"'),
    other("simplessd", "no time of its page type", "MSBRead = 60000000", "MSBRead = 0", "MSBRead", "above 0 ps"),
    other("simplessd", "quad-level cells", "NANDType = 1", "NANDType = 3", "0 (SLC)"),
    other("simplessd", "an odd bus", "DMAWidth = 8", "DMAWidth = 9", "DMAWidth"),
    other("simplessd", "an order with a letter twice", "= CWDP", "= CWDD", "CWDP"),
    other("simplessd", "more than all", "FillRatio = 1.0", "FillRatio = 1.5", "at most 1"),
    other("simplessd", "no collection", "GCThreshold = 0.05", "GCThreshold = 0", "above 0"),
    other("simplessd", "too much kept free", "GCThreshold = 0.05", "GCThreshold = 0.5", "GCThreshold"),
    other("simplessd", "an endless loop", "WorkInterval = 2000000", "WorkInterval = 900000000000", "WorkInterval"),
    other("simplessd", "six lanes", "PCIELane = 4", "PCIELane = 6", "PCIELane", "1, 2, 4, 8 or 16"),
    other("simplessd", "PCIe 7", "PCIEGeneration = 2", "PCIEGeneration = 6", "PCIe 3"),
    other("simplessd", "a flag as a word", "ReadCache = 1", "ReadCache = maybe", "1 or true or 0 or false"),
    other("simplessd", "a parameter twice", "Plane = 2", "Plane = 2\nPlane = 2", "Plane", "twice"),
    whole("femu", "no device", b"qemu-system-x86_64 -m 4G\n", "-device femu"),
    whole("femu", "two devices", b"qemu -device femu,nchs=8\nqemu -device femu,nchs=4\n", "2 different devices"),
    whole("femu", "a bare word", b"qemu -device femu,nchs\n", "name=value"),
    whole("femu", "variables without end", b"a=x$b$b\nb=$a$a$a$a\n" * 40 + b"qemu -device femu,nchs=$a\n", "f0"),
    other("femu", "an unknown variable", "${pg_rd_lat}", "${read}", "pg_rd_lat", "${read}"),
    other("femu", "an open-channel drive", "femu_mode=1", "femu_mode=0", "femu_mode", "bbssd"),
    other("femu", "no mode", ",femu_mode=1", "", "femu_mode"),
    other("femu", "cell types", ",nchs=8", ",nchs=8,nand_cell_type=3", "nand_cell_type"),
    other("femu", "a block map", "mapping=dftl", "mapping=fast", "page or dftl"),
    other("femu", "no spare", "size=1536", "size=4096", "devsz_mb", "2048 MiB"),
    other("femu", "a property twice", ",nchs=8", ",nchs=8,nchs=8", "nchs", "twice"),
    other("femu", "a share of 100", "gc_thres_pcent=90", "gc_thres_pcent=100", "from 1 to 99"),
    other("femu", "an unknown policy", "gc_policy=d-choice", "gc_policy=best", "greedy, random"),
    other("nvmevirt", "no model", "SAMSUNG_970PRO", "OTHER", "f1", "OTHER, WD_ZN540"),
    other("nvmevirt", "an unknown model", "=SAMSUNG_970PRO", "=SAMSUNG", "seen BASE_SSD=SAMSUNG", file=1),
    other("nvmevirt", "no choice", "CONFIG_NVMEVIRT_SSD := y", "CONFIG_NVMEVIRT_SSD := n", "one model", file=1),
    other("nvmevirt", "a choice without a model", "SSD) += -DBASE_SSD=SAMSUNG_970PRO", "SSD) +=", "one model", file=1),
    other("nvmevirt", "zones", "BASE_SSD=SAMSUNG_970PRO", "BASE_SSD=WD_ZN540", "SSD_TYPE_CONV", file=1),
    other("nvmevirt", "an open condition", "#define NS_SSD_TYPE(ns) (types[ns])\n#endif\n", "", "#endif"),
    other("nvmevirt", "a condition that is not open", "#ifndef _CONFIG_H", "", "without #if"),
    other("nvmevirt", "a constant twice", "#define MDTS (6)", "#define MDTS (6)\n#define MDTS (7)", "MDTS", "twice"),
    other("nvmevirt", "an expression", "KB(16)", "__import__('os').getpid()", "f0:18", "expression"),
    other("nvmevirt", "a huge shift", "(1 << LBA_BITS)", "(1 << 4000000000)", "expression"),
    other("nvmevirt", "a division by zero", "(FLASH_PAGE_SIZE * 3)", "(FLASH_PAGE_SIZE / 0)", "expression"),
    other("nvmevirt", "names in a circle", "KB(16)", "ONESHOT_PAGE_SIZE", "f0"),
    other("nvmevirt", "no channels", "#define NAND_CHANNELS (4)", "", "NAND_CHANNELS"),
    other("nvmevirt", "no spare", "(0.07)", "(0)", "OP_AREA_PERCENT"),
    other("nvmevirt", "no time", "(185000)", "(0)", "NAND_PROG_LATENCY"),
    other("nvmevirt", "no blocks", "BLKS_PER_PLN (256)", "BLKS_PER_PLN (0)", "BLK_SIZE"),
    other("nvmevirt", "part of a page", "FLASH_PAGE_SIZE * 3", "FLASH_PAGE_SIZE + 1", "a multiple of FLASH_PAGE_SIZE"),
    other("nvmevirt", "no module", "memmap_start=4G memmap_size=1536M cpus=7,8", "", "memmap_size=64G", file=2),
    other("nvmevirt", "a capacity as a word", "1536M", "all", "memmap_size", 'seen "all"', file=2),
    other("disksim", "no drive", "ssdmodel_ssd SSD", "ssdmodel SSD", "0 blocks ssdmodel_ssd"),
    other("disksim", "an open block", "   Block erase latency = 1.5\n}", "   Block erase latency = 1.5\n", "f0"),
    other("disksim", "a bracket too many", "ssdmodel_ssd SSD {", "}\nssdmodel_ssd SSD {", "opening bracket"),
    other("disksim", "no comma", "Page size = 8,", "Page size = 8", "Page size", "comma"),
    other("disksim", "no value", "Page size = 8,", "Page size,", "name = value"),
    other("disksim", "an open list", "ssd0x0 [] ] ]", "ssd0x0 [] ]", "closing bracket"),
    whole("disksim", "blocks in depth", b"ssdmodel_ssd SSD { " + b"a = b { " * 400 + b"} " * 401, "levels"),
    other("disksim", "a word", "Page read latency = 0.025", "Page read latency = quick", "f0:37", 'seen "quick"'),
    other("disksim", "no time", "Page write latency = 0.2", "Page write latency = 0", "above 0"),
    other("disksim", "no spare", "percentage = 15", "percentage = 0", "Reserve pages percentage", "from 1"),
    other("disksim", "other blocks", "Blocks per element = 1024", "Blocks per element = 1000", "1024"),
    other("disksim", "elements that are left over", "Elements per gang = 2", "Elements per gang = 3", "divisor"),
    other("disksim", "planes that are left over", "parallel units = 2", "parallel units = 3", "divisor"),
    other("disksim", "a parameter twice", "Page size = 8,", "Page size = 8,\nPage size = 8,", "twice"),
    other("disksim", "an overhead of a second", "overhead = 0.002", "overhead = 1000", "10 ms"),
]  # fmt: skip

CASES = [*MQSIM, *OTHERS]


def tried(program: str, paths: list[Path]) -> None:
    """Reads files and checks every configuration, as the command does."""
    for draft in read(program, paths, as_written=False).drafts:
        draft.check(str(paths[0].parent / draft.name))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.about)
def test_a_wrong_file_is_refused_by_name(case: Case, tmp_path: Path) -> None:
    paths = []
    for name, content in case.files:
        paths.append(tmp_path / name)
        paths[-1].write_bytes(content)
    with pytest.raises(ConfigError) as refused:
        tried(case.program, paths)
    message = str(refused.value)
    assert [word for word in case.says if word not in message] == [], message
    assert len(message) < 4000
    assert all(each.isprintable() or each == "\n" for each in message)


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 60
    assert len({case.about for case in CASES}) == len(CASES)


def test_several_problems_are_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "d.xml"
    path.write_text(made.mqsim_drive(device={"Seed": "a", "IO_Queue_Depth": "b"}, flash={"Page_Capacity": "c"}))
    with pytest.raises(ConfigError) as refused:
        read("mqsim", [path], as_written=False)
    assert str(refused.value).count("d.xml:") == 3


def test_damaged_files_end_in_an_error_or_an_import(tmp_path: Path) -> None:
    """Damage of one to four places, 150 times a program: never another exception."""
    stream = random.Random(5)
    texts = {"mqsim": (DRIVE,)} | FILES
    refused = 0
    for program, (text, *rest) in texts.items():
        paths = [tmp_path / f"{program}{number}" for number in range(len(rest) + 1)]
        for path, content in zip(paths[1:], rest, strict=True):
            path.write_text(content)
        for _ in range(150):
            damaged = bytearray(text.encode())
            for _ in range(stream.randint(1, 4)):
                place = stream.randrange(len(damaged))
                damaged[place : place + stream.randint(0, 3)] = bytes(stream.choices(b"<>/&;\0 9-.Ax\xff", k=2))
            paths[0].write_bytes(damaged)
            try:
                tried(program, paths)
            except ConfigError:
                refused += 1
    assert refused > 300


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("import", "Usage"),
        ("import bogus d.xml --out o", "mqsim"),
        ("import mqsim --out o", "FILE"),
        ("import mqsim d.xml", "--out"),
        ("import mqsim d.xml --out ''", "--out"),
        ("import mqsim '' --out o", "FILE"),
        ("import mqsim none.xml --out o", "none.xml"),
        ("import mqsim /dev/zero --out o", "/dev/zero"),
        ("import mqsim / --out o", "a folder"),
        ("import mqsim d.xml d.xml d.xml --out o", "3 files"),
        ("import mqsim d.xml --out d.xml", "d.xml"),
    ],
)
def test_a_wrong_command_line_is_refused(
    interpulse: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, says: str
) -> None:
    import shlex

    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.xml").write_text(DRIVE)
    ended = interpulse(*shlex.split(line))
    assert ended.code == 2
    assert says in ended.err + ended.out
    assert not (tmp_path / "o").exists()


def test_every_importer_has_wrong_files() -> None:
    assert {case.program for case in CASES} == set(IMPORTERS)

"""Does an import of the drives of other simulators keep every parameter, and their times?"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from interpulse import Config, run
from interpulse._core import ConfigError
from interpulse.importing.registry import IMPORTERS, read
from tests.import_files_others import DISKSIM, FEMU, FILES, NVMEVIRT, SIMPLESSD, SSDSIM

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from interpulse.importing.report import Imported
    from tests.conftest import Ended


def imported(folder: Path, program: str, *texts: str) -> Imported:
    """An import whose configuration is written to the folder and accepted."""
    paths = []
    for number, text in enumerate(texts or FILES[program]):
        paths.append(folder / f"file{number}")
        paths[-1].write_text(text)
    found = read(program, paths, as_written=False)
    for draft in found.drafts:
        draft.check(str(folder / draft.name))
        (folder / draft.name).write_text(draft.toml())
    return found


def values(found: Imported) -> dict[str, Any]:
    """Keys and values of the only configuration."""
    (draft,) = found.drafts
    return {key: setting.value for key, setting in draft.settings.items()}


@pytest.mark.parametrize(
    ("program", "microseconds"),
    [
        # A command of 7 cycles of 20 ns, 30 us, 4,096 bytes of 20 ns; the fastest link takes 48 ns.
        ("ssdsim", 0.14 + 30 + 81.92),
        # Firmware of 3 us, 25 us, 4,096 bytes of 25 ns.
        ("disksim", 3 + 25 + 102.4),
        # Firmware of 3 us, 45 us, 8,192 ns of a page.
        ("femu", 3 + 45 + 8.192),
    ],
)
def test_a_read_takes_the_time_of_the_file(tmp_path: Path, program: str, microseconds: float) -> None:
    text = FILES[program][0].replace(",read_cache_mb=4,cache_evict=lru,mapping=dftl", "")
    imported(tmp_path, program, text)
    config = Config.load(tmp_path / "drive.toml").set("run.requests", 500)
    latency = run(config, no_cache=True).raw["latency_us"]["read"]
    assert 0 <= latency["p50"] - microseconds < 2.5


@pytest.mark.parametrize("program", FILES)
def test_every_parameter_has_a_key_or_a_reason(tmp_path: Path, program: str) -> None:
    found = imported(tmp_path, program)
    rows = found.rows()
    assert [row for row in rows if not row["becomes"] and not row["reason"]] == []
    assert found.unknown() == []
    page = import_module(f"interpulse.importing.{IMPORTERS[program].module}").PAGE
    declared = {each.name for _, section in page for each in section}
    listed = {each.name for section in found.sections for each in section}
    assert listed <= declared
    given = {name for section in found.sections for name in section.found}
    assert len(given) > 15


@pytest.mark.parametrize("program", FILES)
def test_keys_are_those_that_are_declared(tmp_path: Path, program: str) -> None:
    found = imported(tmp_path, program)
    (draft,) = found.drafts
    declared = {(s.section, each.name): set(each.keys) for s in found.sections for each in s}
    beyond = {place: set(keys) - declared[place] for place, keys in draft.used.items() if set(keys) - declared[place]}
    assert beyond == {}


@pytest.mark.parametrize("program", FILES)
def test_unknown_names_are_listed_with_the_nearest(tmp_path: Path, program: str) -> None:
    wrong = {
        "ssdsim": (SSDSIM + "channel numbr = 3;\n", "channel number"),
        "simplessd": (SIMPLESSD.replace("[pal]\n", "[pal]\nChanel = 3\n"), "Channel"),
        "femu": (FEMU.replace(",nchs=8", ",nchs=8,nchss=3"), "nchs"),
        "nvmevirt": (NVMEVIRT.replace("#define MDTS", "#define NAND_CHANELS 3\n#define MDTS"), "NAND_CHANNELS"),
        "disksim": (DISKSIM.replace("Print stats", "Page sizes = 3,\nPrint stats"), "Page size"),
    }
    text, like = wrong[program]
    (row,) = imported(tmp_path, program, text, *FILES[program][1:]).unknown()
    assert row["reason"].endswith(f"did you mean {like}?")
    assert row["line"] > 1


def test_ssdsim_takes_its_geometry_and_its_threshold(tmp_path: Path) -> None:
    found = values(imported(tmp_path, "ssdsim"))
    assert (found["geometry.channels"], found["geometry.chips-per-channel"]) == (2, 2)
    assert found["ftl.over-provisioning"] == 0.25
    assert (found["ftl.gc-soft"], found["ftl.gc-counts"]) == (0.08, "pages")
    assert found["ftl.allocation"] == "cwdp"
    assert found["schedule.multi-plane-reads"] is True
    assert found["precondition.out-of-date"] == 0.9
    small = SSDSIM.replace("page capacity = 4096", "page capacity = 2048")
    joined = values(imported(tmp_path, "ssdsim", small))
    assert (joined["part.page-size"], joined["part.pages-per-block"]) == ("4KiB", 32)
    alone = SSDSIM.replace("die number = 1", "die number = 2").replace("advanced command=24", "advanced command=16")
    one = values(imported(tmp_path, "ssdsim", alone))
    assert (one["geometry.dies-per-chip"], one["part.planes"]) == (1, 4)


def test_ssdsim_reads_comments_in_any_encoding(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_bytes(SSDSIM.encode().replace(b"# buses", b"# \xcd\xa8\xb5\xc0"))
    assert not read("ssdsim", [path], as_written=False).unknown()


def test_simplessd_takes_picoseconds_and_its_caches(tmp_path: Path) -> None:
    found = values(imported(tmp_path, "simplessd"))
    assert (found["part.read-lsb"], found["part.program-pulse"]) == ("40000ns", "700000ns")
    assert found["host.firmware"] == "1000ns"
    assert found["ftl.multi-plane"] == 2
    assert (found["ftl.gc"], found["ftl.gc-choices"]) == ("d-choices", 5)
    assert (found["read-cache.replacement"], found["read-cache.read-ahead"]) == ("fifo", "sequential")
    assert (found["precondition.overwrite"], found["precondition.drive-writes"]) == ("uniform", 0.5)
    sata = SIMPLESSD.replace("[nvme]", "[sata]").replace("PCIELane = 4", "SATAMode = 1")
    found = values(imported(tmp_path, "simplessd", sata))
    assert (found["link.kind"], found["link.generation"]) == ("sata", 2)
    ufs = re.sub(r"\[nvme\].*?\[pal\]", "[ufs]\nMPHYMode = 3\nMPHYLane = 1\n[pal]", SIMPLESSD, flags=re.DOTALL)
    found = values(imported(tmp_path, "simplessd", ufs))
    assert (found["link.kind"], found["link.gear"], found["link.lanes"]) == ("ufs", 4, 1)


def test_femu_scripts_and_lists_are_the_same(tmp_path: Path) -> None:
    found = imported(tmp_path, "femu")
    rows = {row["name"]: row for row in found.rows()}
    assert rows["pg_rd_lat"]["line"] == 3
    assert rows["nchs"]["line"] == 8
    assert values(found)["ftl.over-provisioning"] == pytest.approx(1 / 3)
    given = {name: source.text for name, (_, source) in found.sections[0].found.items()}
    listed = imported(tmp_path, "femu", "\n".join(f"{name}={text}" for name, text in given.items()))
    assert values(listed).keys() == values(found).keys()
    differs = {key for key, value in values(listed).items() if value != values(found)[key]}
    assert differs == set()
    spare = FEMU.replace("size=1536", "size=${FEMU_SIZE:-2048}").replace("-nographic", "-device femu-subsys,fdp=on")
    assert values(imported(tmp_path, "femu", spare))["ftl.over-provisioning"] == 0.07
    direct = "qemu -device femu," + ",".join(f"{name}={text}" for name, text in given.items()) + " -nographic"
    assert values(imported(tmp_path, "femu", direct)) == values(found)


def test_nvmevirt_evaluates_its_header(tmp_path: Path) -> None:
    found = values(imported(tmp_path, "nvmevirt"))
    assert found["part.program-mode"] == "one-shot"
    assert (found["part.read-lsb"], found["part.read-msb"]) == ("30000ns", "42000ns")
    assert found["cache.size"] == "768KiB"
    assert found["cache.latency"] == "4460ns"
    # 1,536 MiB on 8 LUNs of 256 blocks: 768 KiB of a block, 48 pages.
    assert (found["part.blocks-per-plane"], found["part.pages-per-block"]) == (256, 48)
    alone = NVMEVIRT.replace("#if (BASE_SSD == SAMSUNG_970PRO)", "#if 1").replace(
        "#elif (BASE_SSD == WD_ZN540)", "#elif 1"
    )
    assert values(imported(tmp_path, "nvmevirt", alone))["geometry.channels"] == 4


def test_disksim_lists_the_blocks_of_the_host(tmp_path: Path) -> None:
    found = imported(tmp_path, "disksim")
    ignored = {row["name"] for row in found.rows() if row["outcome"] == "ignored"}
    assert {"disksim_global Global", "instantiate", "topology", "Scheduler: Scheduling policy"} <= ignored
    drive = values(found)
    assert (drive["geometry.channels"], drive["geometry.chips-per-channel"]) == (4, 2)
    assert (drive["geometry.dies-per-chip"], drive["part.planes"]) == (2, 2)
    assert drive["ftl.free-block"] == "least-worn"


@pytest.mark.parametrize(("program", "line"), [("ssdsim", "{} 0 {} 16 {}"), ("disksim", "{} 0 {} 16 {}")])
def test_a_trace_is_replayed(tmp_path: Path, program: str, line: str) -> None:
    trace = tmp_path / "trace.txt"
    step = 1_000_000 if program == "ssdsim" else 1
    trace.write_text("".join(line.format(n * step, n * 64, n % 2) + "\n" for n in range(50)))
    path = tmp_path / "drive"
    path.write_text(FILES[program][0])
    draft = read(program, [path, trace], as_written=False).drafts[0]
    draft.check(str(tmp_path / "drive.toml"))
    assert run(Config.from_toml(draft.toml()), no_cache=True).raw["host_requests"] == 50
    with pytest.raises(ConfigError, match=r"none\.txt does not exist"):
        read(program, [path, tmp_path / "none.txt"], as_written=False)


@pytest.mark.parametrize("program", FILES)
def test_the_command_imports_every_program(interpulse: Callable[..., Ended], tmp_path: Path, program: str) -> None:
    paths = []
    for number, text in enumerate(FILES[program]):
        paths.append(tmp_path / f"file{number}")
        paths[-1].write_text(text)
    ended = interpulse("import", program, *map(str, paths), "--out", str(tmp_path / "out"))
    assert ended.code == 0, ended.err
    assert interpulse("show", str(tmp_path / "out" / "drive.toml")).code == 0
    wrong = interpulse("import", program, *map(str, paths), "--out", str(tmp_path / "o"), "--as-written")
    assert (wrong.code, "--as-written" in wrong.err) == (2, True)

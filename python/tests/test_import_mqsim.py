"""Does an import of MQSim's files keep every parameter, and run as MQSim does?"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from interpulse import Config, run
from interpulse._core import ConfigError
from interpulse.importing.mqsim import files, flows, times
from interpulse.importing.mqsim.parameters import DEVICE, FLASH, HOST, SYNTHETIC, TRACE
from tests import import_files as made

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from interpulse.importing.draft import Draft
    from interpulse.importing.report import Imported
    from tests.conftest import Ended


def imported(
    folder: Path, *scenarios: list[dict[str, Any]], as_written: bool = False, **sections: dict[str, Any]
) -> Imported:
    """An import whose configurations are written to the folder and accepted."""
    drive = folder / "drive.xml"
    drive.write_text(made.mqsim_drive(**sections))
    paths = [drive]
    if scenarios:
        paths.append(folder / "load.xml")
        paths[1].write_text(made.mqsim_workload(*scenarios))
    found = files.read(paths, as_written=as_written)
    for draft in found.drafts:
        draft.check(str(folder / draft.name))
        (folder / draft.name).write_text(draft.toml())
    return found


def values(draft: Draft) -> dict[str, Any]:
    """Keys and values of a configuration."""
    return {key: setting.value for key, setting in draft.settings.items()}


def the(found: Imported) -> dict[str, Any]:
    """Keys and values of the only configuration."""
    (draft,) = found.drafts
    return values(draft)


@pytest.mark.parametrize(
    ("sectors", "bandwidth", "lanes", "rate", "microseconds"),
    [
        # Measured with MQSim at 7ec40e3, mean device response of reads at depth 1 on its shipped drive.
        (8, 1.0, 4, 333, 88.906),
        (32, 1.0, 4, 333, 104.938),
        (64, 1.0, 4, 333, 109.930),
        (8, 0.3, 3, 800, 85.217),
    ],
)
def test_a_read_at_depth_1_takes_exactly_the_time_of_mqsim(
    tmp_path: Path, sectors: int, bandwidth: float, lanes: int, rate: int, microseconds: float
) -> None:
    flow = {"Average_Request_Size": sectors, "Address_Alignment_Unit": max(16, sectors)}
    host = {"PCIe_Lane_Bandwidth": bandwidth, "PCIe_Lane_Count": lanes}
    shape = {"Flash_Channel_Count": 8, "Chip_No_Per_Channel": 4, "Channel_Transfer_Rate": rate}
    imported(tmp_path, [flow | {"Channel_IDs": None, "Chip_IDs": None}], host=host, device=shape)
    latency = run(Config.load(tmp_path / "run.toml"), no_cache=True).raw["latency_us"]["read"]
    assert latency["mean"] == latency["max"] == microseconds


@pytest.mark.parametrize("as_written", [False, True])
def test_every_parameter_has_a_key_or_a_reason(tmp_path: Path, as_written: bool) -> None:
    (tmp_path / "mine.trace").write_text("0 0 0 8 1\n1000000 0 16 8 0\n")
    found = imported(tmp_path, [{}, {"Read_Percentage": 0}], [{"File_Path": "mine.trace"}], as_written=as_written)
    rows = found.rows()
    names = {(row["section"], row["name"]) for row in rows}
    flow_names = {each.name for each in (*SYNTHETIC, *TRACE)}
    assert {name for section, name in names if section.startswith("scenario")} == flow_names
    for section, parameters in (
        ("Host_Parameter_Set", HOST),
        ("Device_Parameter_Set", DEVICE),
        ("Flash_Parameter_Set", FLASH),
    ):
        for parameter in parameters:
            assert {(section, name) for name in (parameter.name, *parameter.also)} & names
    assert [row for row in rows if not row["becomes"] and not row["reason"]] == []
    assert not found.unknown()


def test_declared_keys_are_those_that_an_import_sets(tmp_path: Path) -> None:
    (tmp_path / "mine.trace").write_text("0 0 0 8 1\n" * 10)
    some = [{"Read_Percentage": 50, "Device_Level_Data_Caching_Mode": "WRITE_READ_CACHE", "Priority_Class": "LOW"}, {}]
    some.append({"Address_Distribution": "RANDOM_HOTCOLD", "Percentage_of_Hot_Region": 20, "Stop_Time": 10**9})
    some.append({"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": 1 << 20, "Stop_Time": 10**9})
    some.append({"Request_Size_Distribution": "NORMAL", "Variance_Request_Size": 3})
    traces = [{"File_Path": "mine.trace", "Percentage_To_Be_Executed": 50}]
    device = {"GC_Block_Selection_Policy": "RGA", "Ideal_Mapping_Table": "false", "Enabled_Preconditioning": "true"}
    device |= {
        "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
        "Data_Cache_Sharing_Mode": "EQUAL_PARTITIONING",
    }
    sata_device = device | {"HostInterface_Type": "SATA", "Preemptible_GC_Enabled": "false"}
    host = {"Enable_ResponseTime_Logging": "true"}
    used: dict[str, set[str]] = {}
    for as_written in (False, True):
        found = imported(
            tmp_path,
            some,
            traces,
            [{"Stop_Time": 10**9}],
            as_written=as_written,
            device=device,
            host=host,
            flash={"Flash_Technology": "TLC", "CMD_Suspension_Support": "PROGRAM_ERASE"},
        )
        sata = imported(tmp_path, as_written=as_written, device=sata_device)
        for draft in (*found.drafts, *sata.drafts):
            for (section, name), each in draft.used.items():
                keys_of = {re.sub(r"flow\.\d+", "flow.N", key) for key in each}
                used.setdefault(f"{_kind(section)} {name}", set()).update(keys_of)
    declared: dict[str, set[str]] = {}
    for parameters, section in (
        (HOST, "Host"),
        (DEVICE, "Device"),
        (FLASH, "Flash"),
        (SYNTHETIC, "flow"),
        (TRACE, "flow"),
    ):
        for parameter in parameters:
            declared.setdefault(f"{section} {parameter.name}", set()).update(parameter.keys)
    beyond = {name: used[name] - keys for name, keys in declared.items() if used.get(name, set()) - keys}
    assert beyond == {}
    unset = {name: keys - used.get(name, set()) for name, keys in declared.items() if keys - used.get(name, set())}
    assert unset == {}


def _kind(section: str) -> str:
    return "flow" if section.startswith("scenario") else section.removesuffix("_Parameter_Set")


def test_defaults_are_those_of_mqsim(tmp_path: Path) -> None:
    drive = tmp_path / "drive.xml"
    drive.write_text(
        "<Execution_Parameter_Set><Device_Parameter_Set><Flash_Parameter_Set></Flash_Parameter_Set>"
        "</Device_Parameter_Set></Execution_Parameter_Set>"
    )
    draft = files.read([drive]).drafts[0]
    draft.check(str(tmp_path / "drive.toml"))
    found = values(draft)
    assert found["geometry.channels"] == 8
    assert found["part.planes"] == 4
    assert found["part.blocks-per-plane"] == 2048
    assert found["part.read-lsb"] == "75020ns"
    # 128 planes of 8 KiB pages.
    assert found["cache.size"] == "1MiB"
    assert found["ftl.mapping"] == "cached"
    assert found["precondition.fill"] == 1


def test_the_code_of_mqsim_counts_unless_the_file_is_followed(tmp_path: Path) -> None:
    device = {
        "Static_Wearleveling_Enabled": "false",
        "Dynamic_Wearleveling_Enabled": "false",
        "Channel_Transfer_Rate": 800,
    }
    ran, written = (the(imported(tmp_path, as_written=each, device=device)) for each in (False, True))
    assert (ran["geometry.dies-per-chip"], ran["part.planes"]) == (1, 4)
    assert (written["geometry.dies-per-chip"], written["part.planes"]) == (2, 2)
    assert (ran["part.bus-rate"], written["part.bus-rate"]) == ("1000.000000MT/s", "800.000000MT/s")
    assert (ran["ftl.wear-gap"], "ftl.wear-gap" in written) == (100, False)
    assert (ran["ftl.free-block"], written["ftl.free-block"]) == ("least-worn", "erased-first")
    assert (ran["cache.size"], written["cache.size"]) == ("128KiB", "16MiB")
    assert "suspend.erase.scheme" not in ran
    assert written["suspend.erase.min-remaining"] == "700000ns"
    assert (ran["ftl.gc-soft"], written["ftl.gc-soft"]) == (12 / 256, 0.05)
    assert (ran["ftl.gc-hard"], written["ftl.gc-hard"]) == (10 / 256, 0.005)


def test_flows_get_their_parts_of_the_drive(tmp_path: Path) -> None:
    found = the(imported(tmp_path, [{"Working_Set_Percentage": 50}, {"Working_Set_Percentage": 0}]))
    assert [found[f"flow.{n}.{key}"] for n in (0, 1) for key in ("from", "to")] == [0, 0.25, 0.5, 1]
    # The first has channel 0 for itself, channel 1 is shared.
    halves = the(imported(tmp_path, [{}, {"Channel_IDs": "1"}]))
    assert halves["flow.1.from"] == 0.75
    alone = the(imported(tmp_path, [{"Channel_IDs": "0", "Working_Set_Percentage": 100}]))
    assert alone["flow.0.to"] == 0.5


def test_open_flows_arrive_at_the_rate_of_their_bandwidth(tmp_path: Path) -> None:
    flow = {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": 40_960_000, "Read_Percentage": 30}
    found = the(imported(tmp_path, [flow]))
    assert found["flow.0.rate"] == "10000.000000/s"
    assert found["flow.0.arrivals"] == "poisson"
    assert "flow.0.depth" not in found


def test_normal_sizes_keep_mean_and_deviation() -> None:
    for mean, deviation in ((8, 1), (64, 9), (2000, 300)):
        sizes, weights = flows.normal_sizes(mean, deviation)
        total = sum(weights)
        first = sum(size * weight for size, weight in zip(sizes, weights, strict=True)) / total
        second = sum((size - first) ** 2 * weight for size, weight in zip(sizes, weights, strict=True)) / total
        assert abs(first - mean) <= 0.6 + mean / 200  # Sizes are rounded up.
        assert abs(second**0.5 / deviation - 1) < 0.08
        assert len(sizes) <= 48
    assert flows.normal_sizes(1, 10)[0][0] >= 1


def test_a_trace_is_found_beside_the_workload_and_cut_to_its_share(tmp_path: Path) -> None:
    trace = tmp_path / "mine.trace"
    trace.write_text("".join(f"{n * 100_000} 0 {n * 16} 16 {n % 2}\n" for n in range(40)))
    found = the(imported(tmp_path, [{"File_Path": "mine.trace", "Percentage_To_Be_Executed": 50}]))
    assert found["flow.0.trace"] == str(trace)
    result = run(Config.load(tmp_path / "run.toml"), no_cache=True).raw
    assert result["host_requests"] == 20
    late = imported(tmp_path, [{"File_Path": "mine.trace", "Time_Unit": "MICROSECOND"}])
    assert the(late)["flow.0.time-unit"] == "ns"
    assert any("Time_Unit" in note for note in late.drafts[0].notes)
    us = imported(tmp_path, [{"File_Path": "mine.trace", "Time_Unit": "MICROSECOND"}], as_written=True)
    assert the(us)["flow.0.time-unit"] == "us"


def test_names_that_nobody_has_are_listed_with_the_nearest(tmp_path: Path) -> None:
    found = imported(tmp_path, device={"Overprovisionning_Ratio": 0.3, "Zzz": 1, "GC_Exec_Threshold": None})
    rows = {row["name"]: row["reason"] for row in found.unknown()}
    assert "did you mean Overprovisioning_Ratio?" in rows["Overprovisionning_Ratio"]
    assert rows["Zzz"] == "MQSim has no such parameter"


def test_documented_misspellings_mean_the_parameter(tmp_path: Path) -> None:
    other = {"GC_Exec_Threshold": None, "GC_Exect_Threshold": 0.1, "Data_Cache_DRAM_Data_Busrt_Size": None}
    other |= {"Data_Cache_DRAM_Data_Burst_Size": 8}
    found = imported(tmp_path, device=other)
    assert not found.unknown()
    assert the(found)["ftl.gc-soft"] == 25 / 256


def test_parameters_of_the_forks_are_known(tmp_path: Path) -> None:
    found = imported(tmp_path, [{"IOCap_Tracker_Index": 0, "Relief_Type": 1}])
    load = made.mqsim_workload([{}]).replace("<IO_Scenario>", "<IO_Scenario><IOCap_Tracker/>")
    (tmp_path / "load.xml").write_text(load)
    tracked = files.read([tmp_path / "drive.xml", tmp_path / "load.xml"])
    assert [row["name"] for row in tracked.rows() if row["outcome"] == "ignored"] == ["IOCap_Tracker"]
    assert not found.unknown()
    reasons = {row["name"]: row["reason"] for row in found.rows() if row["section"].startswith("scenario")}
    assert "MQSim-E" in reasons["IOCap_Tracker_Index"]
    assert "MQSim_CXL" in reasons["Relief_Type"]


def test_slow_dram_is_said(tmp_path: Path) -> None:
    slow = {"Data_Cache_DRAM_Data_Rate": 100, "Data_Cache_DRAM_Data_Busrt_Size": 1}
    found = imported(tmp_path, [{"Read_Percentage": 0}], device=slow)
    assert any("at most 48766 of 4096 B a second" in note for note in found.drafts[0].notes)
    assert not any("DRAM" in note for note in imported(tmp_path, [{}], device=slow).drafts[0].notes)


def test_a_stray_bracket_in_a_closing_tag_is_read_as_mqsim_reads_it(tmp_path: Path) -> None:
    drive = tmp_path / "d.xml"
    drive.write_text(made.mqsim_drive().replace("</Seed>", "</<Seed>"))
    assert the(files.read([drive]))["seed"] == 7


def test_few_blocks_leave_collection_half_of_the_spare_ones(tmp_path: Path) -> None:
    found = imported(tmp_path, flash={"Block_No_Per_Plane": 64})
    assert the(found)["ftl.gc-soft"] == pytest.approx(0.075)
    assert any("collection starts at" in note for note in found.drafts[0].notes)


def test_times_are_those_of_the_messages() -> None:
    assert times.messages_ns(4096, 1.0, 4) == 1308
    assert times.messages_ns(4096, 1.0, 1) == 5228
    assert times.dram_ns(4096, 8192, 1, 100, 13, 13, 13) == 20_506


def test_the_command_writes_configurations_and_a_report(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    drive, load, out = tmp_path / "d.xml", tmp_path / "w.xml", tmp_path / "out"
    drive.write_text(made.mqsim_drive())
    load.write_text(made.mqsim_workload([{}], [{"Read_Percentage": 0}]))
    ended = interpulse("import", "mqsim", str(drive), str(load), "--out", str(out))
    assert ended.code == 0, ended.err
    assert ended.out.splitlines() == [f"interpulse run {out}/scenario-{n}.toml" for n in (1, 2)]
    written = {path.name for path in out.iterdir()}
    assert written == {"scenario-1.toml", "scenario-2.toml", "import-report.md", "import-report.json"}
    report = json.loads((out / "import-report.json").read_text())
    assert report["program"] == "MQSim"
    assert "| `Flash_Channel_Count` |" in (out / "import-report.md").read_text()
    again = interpulse("import", "mqsim", str(drive), str(load), "--out", str(out))
    assert again.code == 2
    assert "exists already; --force replaces it" in again.err
    forced = interpulse("import", "mqsim", str(drive), str(load), "--out", str(out), "--force", "--json")
    assert forced.json() == report
    shown = interpulse("show", str(out / "scenario-1.toml"), "--json").json()
    origins = {entry["key"]: entry["origin"] for entry in shown["entries"]}
    assert "Flash_Channel_Count" in origins["geometry.channels"]


def test_what_no_configuration_has_names_the_parameter(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"drive\.xml:\d+, Overprovisioning_Ratio"):
        imported(tmp_path, device={"Overprovisioning_Ratio": 0.001})
    with pytest.raises(ConfigError, match=r"drive\.xml:\d+, Flash_Channel_Count"):
        imported(tmp_path, device={"Flash_Channel_Count": 300})


def test_a_miss_of_the_mapping_cache_moves_one_sector(tmp_path: Path) -> None:
    assert the(imported(tmp_path, device={"Ideal_Mapping_Table": "false"}))["ftl.map-read-transfer"] == "512B"
    assert "ftl.map-read-transfer" not in the(imported(tmp_path, device={"Ideal_Mapping_Table": "true"}))


def test_collection_that_can_be_preempted_waits_for_the_host(tmp_path: Path) -> None:
    found = the(imported(tmp_path, device={"Preemptible_GC_Enabled": "true"}))
    assert found["schedule.policy"] == "host-first"
    found = the(imported(tmp_path, device={"Preemptible_GC_Enabled": "false"}))
    assert found["schedule.policy"] == "read-priority"
    assert found["schedule.gc-reads"] == "with-host-reads"


@pytest.mark.parametrize(
    ("dies", "planes", "as_written", "filled", "joined"),
    [
        (1, 2, False, "true", {"programs", "reads"}),
        (1, 2, False, "false", {"programs"}),
        (2, 2, False, "true", set()),
        (2, 2, True, "true", {"programs", "reads"}),
        (1, 1, False, "true", set()),
    ],
)
def test_operations_on_planes_join_where_a_chip_has_one_die(
    tmp_path: Path, dies: int, planes: int, as_written: bool, filled: str, joined: set[str]
) -> None:
    flash = {"Die_No_Per_Chip": dies, "Plane_No_Per_Die": planes, "Page_Capacity": 65536}
    found = the(imported(tmp_path, as_written=as_written, device={"Enabled_Preconditioning": filled}, flash=flash))
    assert {key for key in ("programs", "reads") if found.get(f"schedule.multi-plane-{key}")} == joined
    assert found.get("part.plane-address") == ("page" if joined else None)

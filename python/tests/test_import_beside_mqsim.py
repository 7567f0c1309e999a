"""Do MQSim's shipped files, imported, run here as MQSim runs them? With a built MQSim named by `INTERPULSE_MQSIM`."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from interpulse import Config, run
from interpulse.importing.mqsim import files
from tests import import_files as made

PROGRAM = Path(os.environ.get("INTERPULSE_MQSIM", ""))

pytestmark = [
    pytest.mark.verify,
    pytest.mark.skipif(
        not PROGRAM.is_file(), reason="set INTERPULSE_MQSIM to a built MQSim, its shipped files beside it"
    ),
]
SHIPPED = PROGRAM.parent
PLACES = {"Channel_IDs": "0,1,2,3,4,5,6,7", "Chip_IDs": "0,1,2,3", "Die_IDs": "0,1", "Plane_IDs": "0,1"}


def theirs(drive: Path, load: Path) -> dict[str, int]:
    """Mean, shortest and longest device response time in MQSim, in whole us."""
    subprocess.run([PROGRAM, "-i", drive, "-w", load], input="\n", text=True, capture_output=True, check=True)
    text = load.with_name(f"{load.stem}_scenario_1.xml").read_text()
    names = ("Device_Response_Time", "Min_Device_Response_Time", "Max_Device_Response_Time")
    return {name: int(re.search(rf"<{name}>(\d+)", text)[1]) for name in names}  # type: ignore[index]


def ours(drive: Path, load: Path) -> float:
    """Mean latency of the reads of the import, in us."""
    draft = files.read([drive, load]).drafts[0]
    draft.check(str(load.with_name(draft.name)))
    mean = run(Config.from_toml(draft.toml()), no_cache=True).raw["latency_us"]["read"]["mean"]
    return float(mean)


@pytest.mark.parametrize(("sectors", "depth"), [(8, 1), (16, 1), (64, 1), (8, 16), (8, 64)])
def test_reads_of_the_shipped_drive_take_the_same_time(tmp_path: Path, sectors: int, depth: int) -> None:
    drive, load = tmp_path / "d.xml", tmp_path / "w.xml"
    text = (SHIPPED / "ssdconfig.xml").read_text()
    drive.write_text(re.sub(r"(<Ideal_Mapping_Table>)\w+", r"\1true", text))
    flow = PLACES | {"Average_Request_Size": sectors, "Address_Alignment_Unit": max(16, sectors)}
    flow |= {"Average_No_of_Reqs_in_Queue": depth, "Total_Requests_To_Generate": 20_000 if depth > 1 else 1000}
    load.write_text(made.mqsim_workload([flow]))
    mean = ours(drive, load)
    if depth == 1:
        found = theirs(drive, load)
        assert found["Min_Device_Response_Time"] == found["Device_Response_Time"] == int(mean)
    else:
        # MQSim prints whole us.
        assert abs(mean / (theirs(drive, load)["Device_Response_Time"] + 0.5) - 1) < 0.03


def test_a_miss_of_the_shipped_mapping_cache_takes_the_same_time(tmp_path: Path) -> None:
    load = tmp_path / "w.xml"
    load.write_text(made.mqsim_workload([PLACES | {"Total_Requests_To_Generate": 5000}]))
    drive = SHIPPED / "ssdconfig.xml"
    # MQSim prints whole us, and a few of these reads hit.
    assert abs(ours(drive, load) - theirs(drive, load)["Max_Device_Response_Time"]) < 1


def test_the_shipped_scenarios_run(tmp_path: Path) -> None:
    found = files.read([SHIPPED / "ssdconfig.xml", SHIPPED / "workload.xml"])
    assert len(found.drafts) == 3
    for draft in found.drafts:
        draft.check(str(tmp_path / draft.name))
        config = Config.from_toml(draft.toml())
        if "run.time" in draft.settings:
            config.set("run.time", "20ms")
        assert run(config, no_cache=True).raw["host_requests"] > 500
    assert not found.unknown()

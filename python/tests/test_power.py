"""Does a whole drive's power add up, is the budget kept, and is a bad setting refused?"""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

import interpulse as package
from tests import sample
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

DRIVE = """
drive = "a4-mini"
seed = 3

[part]
blocks-per-plane = 32

[precondition]
fill = "100%"
overwrite = "uniform"

[suspend.program]
scheme = "loop-boundary"

[run]
requests = 8000

[[flow]]
name = "mixed"
depth = 16
read = "60%"
"""

OPERATIONS = ("read", "gc_read", "program", "gc_program", "erase", "suspension", "idle")


def run(**sets: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever --set takes
    """The raw result; `power__trace` stands for `power.trace`."""
    config = package.Config.from_toml(DRIVE)
    for key, value in sets.items():
        config.set(key.replace("__", ".").replace("_", "-"), value)
    return package.run(config).raw


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A run with nothing of power set."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTERPULSE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        return run()


def test_operations_add_up_to_the_total(plain: dict[str, Any]) -> None:
    power = plain["power"]
    assert set(power["by_operation"]) == set(OPERATIONS)
    for part, total in (("nand_core_uj", "nand_core"), ("io_bus_uj", "io_bus"), ("total_uj", "total")):
        summed = sum(row[part] for row in power["by_operation"].values())
        assert summed == pytest.approx(power["energy_uj"][total], rel=1e-12)
    assert power["energy_uj"]["total"] * 1e3 == pytest.approx(plain["audits"]["energy_nj"], abs=1.0)
    mean = power["energy_uj"]["total"] / plain["simulated_s"] / 1e3
    assert power["mean_mw"]["total"] == pytest.approx(mean, rel=1e-9)
    each = power["energy_uj"]["total"] / plain["host_requests"]
    assert power["per_request_uj"]["total"] == pytest.approx(each, rel=1e-12)
    assert power["by_operation"]["read"]["count"] == plain["counters"]["nand"]["host_reads"]
    assert "peak" not in power
    assert "budget" not in power


def test_a_program_costs_what_its_phases_draw() -> None:
    """16 loops of 35 us and 90 us, three page loads of 18 KiB at 533 MT/s behind 200 ns of command, nothing else."""
    sets = {"program-pulse": ("11mA", 16 * 35_000), "program-verify": ("7mA", 16 * 90_000)}
    sets |= {"page-load": ("3mA", 200 + 3 * 34_582), "idle": ("0mA", 0)}
    config = package.Config.from_toml(DRIVE.replace('scheme = "loop-boundary"', 'scheme = "none"'))
    for key, (current, _) in sets.items():
        config.set(f"part.power.{key}", current)
    config.set("part.power.bus-in", "2pJ/bit")
    # Only programs that begin and end in the window: writes come slowly, in groups of one program.
    config.set("flow.0.read", 0)
    result = package.run(config).raw["power"]["by_operation"]
    core_nj = sum(3.3 * float(current.removesuffix("mA")) * ns / 1e6 for current, ns in sets.values()) * 1e3
    core_uj = core_nj / 1e3
    bus_uj = 3 * 18 * 1024 * 8 * 2e-6
    programs = [result[name] for name in ("program", "gc_program")]
    count = sum(row["count"] for row in programs)
    # Programs under way at either end of the window: at most one on each of the 8 dies.
    assert count > 400
    energy = sum(row["total_uj"] for row in programs)
    assert abs(energy - count * (core_uj + bus_uj)) <= 8 * (core_uj + bus_uj)


def test_the_trace_changes_nothing_else_and_agrees(plain: dict[str, Any]) -> None:
    traced = run(power__trace=True, power__window="200us")
    power, before = traced["power"], plain["power"]
    for key in ("mean_mw", "energy_uj", "by_operation", "per_request_uj"):
        assert power[key] == before[key], key
    for key in ("iops", "latency_us", "counters", "tail_blame"):
        assert traced[key] == plain[key], key
    peak = power["peak"]
    assert peak["window_us"] == 200
    assert power["mean_mw"]["total"] < peak["window_mw"]
    assert power["mean_mw"]["nand_core"] < peak["instant_mw"]
    assert peak["instant_mw"] == pytest.approx(3.3 * peak["instant_ma"], rel=1e-12)
    assert peak["windows"] == int(traced["simulated_s"] * 1e6 / 200 + 1e-6)
    over_time = power["over_time"]
    assert len(over_time["nand_core_mw"]) == len(over_time["io_bus_mw"]) < 1024
    covered_us = over_time["interval_us"] * len(over_time["nand_core_mw"])
    assert covered_us / 1e6 <= traced["simulated_s"]
    mean = sum(over_time["nand_core_mw"]) / len(over_time["nand_core_mw"])
    assert mean == pytest.approx(power["mean_mw"]["nand_core"], rel=0.02)
    schema = json.loads((ROOT / "docs" / "result.schema.json").read_text())
    jsonschema.validate(package.Result(traced).document, schema)


def test_constants_are_added_only_where_they_are_given(plain: dict[str, Any]) -> None:
    with_both = run(power__controller="1.5W", power__dram="400mW")["power"]["mean_mw"]
    assert (with_both["controller"], with_both["dram"]) == (1500, 400)
    assert with_both["total"] == pytest.approx(plain["power"]["mean_mw"]["total"] + 1900, rel=1e-12)
    assert "controller" not in plain["power"]["mean_mw"]


def test_dies_that_stay_selected_draw_more() -> None:
    quiet = {"flow.0.depth": 1, "run.warmup": "0s"}
    selected, plain = run(power__standby_after="1s", **quiet), run(**quiet)
    idle = [result["power"]["by_operation"]["idle"]["total_uj"] for result in (selected, plain)]
    assert idle[0] > idle[1] > 0


def test_a_budget_is_never_exceeded_and_its_waits_are_accounted_for(plain: dict[str, Any]) -> None:
    free = run(power__trace=True)["power"]["peak"]["instant_ma"]
    limit = 17
    assert limit < free
    tight = run(power__trace=True, power__budget=f"{limit}mA")
    power = tight["power"]
    assert power["peak"]["instant_ma"] <= limit == power["budget"]["limit_ma"]
    assert power["budget"]["waits"] > 100
    nand = tight["counters"]["nand"]
    assert nand["power_waits"] >= power["budget"]["waits"]
    assert power["budget"]["mean_us"] <= power["budget"]["longest_us"]
    assert tight["read_wait_us"]["power"] > 0
    assert sum(tight["read_wait_us"].values()) == pytest.approx(tight["latency_us"]["read"]["mean"], rel=1e-9)
    assert tight["iops"] < plain["iops"]
    watts = run(power__budget="56.1mW")
    assert watts["power"]["budget"]["limit_ma"] == limit
    assert watts["iops"] == tight["iops"]


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("power.budget=1mW", "power.budget: seen"),
        ("power.budget=10", 'a power or a current (give a unit, such as "10W" or "3A")'),
        ("power.window=1ms", "power.window: does not apply; it belongs to trace = true"),
        ("part.power.program-pulse=25", 'a current (give a unit, such as "25mA")'),
        ("part.power.sense-top=1mA", "it belongs to bits-per-cell = 4 or 5"),
        ("part.power.vcc=0V", "part.power.vcc: seen"),
        ("part.power.puls=1mA", "part.power.puls: unknown key"),
    ],
)
def test_bad_settings_are_refused_in_one_line(
    interpulse: Callable[..., Ended], tmp_path: Path, setting: str, told: str
) -> None:
    file = tmp_path / "drive.toml"
    file.write_text(DRIVE)
    key, value = setting.split("=")
    written = value if value.isdigit() else f'"{value}"'
    ended = interpulse("run", str(file), "--set", f"{key}={written}")
    assert ended.code == 2
    assert told in ended.error()


def test_a_budget_that_is_too_small_names_the_least_that_is_legal(
    interpulse: Callable[..., Ended], tmp_path: Path
) -> None:
    file = tmp_path / "drive.toml"
    file.write_text(DRIVE)
    error = interpulse("run", str(file), "--set", 'power.budget="1mW"').error()
    # Eight dies at rest, 942 uA each, and what one pulse draws beyond that: 7.358 mA in place of 942 uA.
    assert "at least 46.042mW or 13.952mA" in error
    assert interpulse("run", str(file), "--set", 'power.budget="13.952mA"', "--json").code == 0
    assert interpulse("run", str(file), "--set", 'power.budget="13.951mA"').code == 2


def test_power_over_time_is_written(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    file = tmp_path / "drive.toml"
    file.write_text(DRIVE)
    out = tmp_path / "out"
    ended = interpulse("run", str(file), "--set", "power.trace=true", "--full", "--out", str(out))
    assert ended.code == 0
    assert "peak: the largest 1 ms, mW" in ended.out
    assert "energy per request, uJ" in ended.out
    assert {"power.csv", "power.png", "power.svg"} <= {path.name for path in out.iterdir()}
    over_time = sample.seed(json.loads((out / "result.json").read_text()))["power"]["over_time"]
    with (out / "power.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert [float(row["nand_core_mw"]) for row in rows] == over_time["nand_core_mw"]
    assert [float(row["from_us"]) for row in rows[:2]] == [0, over_time["interval_us"]]
    without = interpulse("run", str(file), "--out", str(tmp_path / "plain"))
    assert without.code == 0
    assert not (tmp_path / "plain" / "power.csv").exists()

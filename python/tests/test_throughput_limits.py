"""What bounds the throughput of a run: drives made to be bound by one resource each."""

from __future__ import annotations

import json
from typing import Any

import pytest

import interpulse
from interpulse.runs.limits import limited_by
from interpulse.runs.summary import limits

DRIVE = """config_version = 1
drive = "a4-mini"
[precondition]
fill = "100%"
[run]
requests = 4000
[[flow]]
"""
READS: dict[str, Any] = {"name": "r", "read": "100%", "depth": 64}
LARGE: dict[str, Any] = {**READS, "address": "sequential", "block-size": "128KiB", "depth": 32}
WRITES: dict[str, Any] = {"name": "w", "read": "0%", "depth": 256}
ZONES: dict[str, Any] = {"name": "z", "zones": "write", "read": "0%", "depth": 8, "block-size": "64KiB"}
ARRIVALS: dict[str, Any] = {"name": "r", "read": "100%", "pacing": "open", "rate": "2000/s"}

CASES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("dies", READS | {"depth": 512}, {"link.lanes": 16}),
    ("channels", LARGE, {"part.bus-rate": "50MT/s", "ftl.allocation": "cwdp"}),
    ("command_buses", READS | {"depth": 512}, {"part.command-bus": "separate", "part.command-cycles": "400us"}),
    ("link_to_host", LARGE, {"link.generation": 1, "link.lanes": 1, "ftl.allocation": "cwdp"}),
    ("firmware", READS, {"host.firmware": "40us", "host.firmware-cores": 1}),
    ("one_die", READS | {"to": 1e-5, "depth": 16}, {}),
    ("queue_depth", READS | {"depth": 1}, {}),
    ("offered_load", ARRIVALS, {}),
    ("write_back", WRITES, {"cache.size": "400KiB", "ftl.allocation": "cwdp"}),
    ("command_slots", READS, {"host.frame-buffer": 4}),
    ("decoders", READS | {"depth": 512}, {"ecc.interval": "120us", "link.lanes": 16}),
    ("power_budget", READS | {"depth": 256}, {"power.budget": "22mA"}),
    (
        "zone_dies",
        ZONES,
        {"ftl.family": "zoned", "ftl.zone-width": 1, "ftl.zone-rows": 8, "ftl.over-provisioning": "7%"},
    ),
]


@pytest.mark.parametrize(("bound", "flow", "settings"), CASES, ids=[bound for bound, *_ in CASES])
def test_a_drive_is_bound_by_what_it_was_given_too_little_of(
    bound: str, flow: dict[str, Any], settings: dict[str, Any]
) -> None:
    lines = (f"{key} = {json.dumps(value)}" for key, value in flow.items())
    config = interpulse.Config.from_toml(DRIVE + "\n".join(lines))
    for key, value in settings.items():
        config.set(key, value)
    raw = interpulse.run(config).raw
    limits = raw["limits"]
    assert limits["bound"] == bound, limits
    assert all(0 <= of["mean"] <= of["busiest"] <= 1.02 for of in limits["utilization"].values()), limits
    # Little's law: all causes together are the depth of a closed loop.
    if "depth" in flow:
        assert sum(limits["outstanding"].values()) == pytest.approx(flow["depth"], rel=0.05)
    else:
        assert sum(limits["outstanding"].values()) == pytest.approx(
            raw["iops"] * raw["latency_us"]["all"]["mean"] / 1e6, rel=1e-6
        )
    assert limited_by(raw)


ARRAY = """config_version = 1
drive = "a4-mini"
[array]
level = "raid5"
drives = 4
[precondition]
fill = "100%"
[run]
requests = 4000
[[flow]]
name = "r"
read = "100%"
"""


def test_an_array_is_bound_by_its_drives_or_by_its_depth() -> None:
    deep = interpulse.run(interpulse.Config.from_toml(ARRAY).set("flow.0.depth", 2048)).raw
    assert deep["limits"]["bound"] == "dies"
    assert "drive" not in deep["limits"], "all drives are as busy"
    shallow = interpulse.run(interpulse.Config.from_toml(ARRAY).set("flow.0.depth", 8)).raw
    limits = shallow["limits"]
    assert limits["bound"] == "queue_depth"
    assert set(limits["utilization"]) >= {"dies", "channels", "link_to_drive", "link_to_host"}
    # Every read is one command of one drive: their commands are the depth, but for the time in the array.
    assert sorted(limits["outstanding"]) == [f"drive_{k}" for k in range(4)]
    assert sum(limits["outstanding"].values()) == pytest.approx(8, rel=0.05)
    assert ": 8 outstanding requests, " in limited_by(shallow)


def test_the_drive_of_an_array_that_alone_is_busy_is_named() -> None:
    """One request reads one chunk again and again, which lies on one drive."""
    config = interpulse.Config.from_toml(ARRAY).set(**{"flow.0.depth": 64, "flow.0.to": 1e-6})
    raw = interpulse.run(config).raw
    assert raw["limits"]["bound"] in ("one_die", "one_channel", "link_to_host"), raw["limits"]
    drive = raw["limits"]["drive"]
    assert f" of drive {drive}, " in limited_by(raw)


def test_the_words_name_the_bound_its_utilization_and_what_requests_wait_for() -> None:
    raw: dict[str, Any] = {
        "limits": {
            "bound": "queue_depth",
            "utilization": {"dies": {"mean": 0.59, "busiest": 0.7}, "channels": {"mean": 0.05, "busiest": 0.06}},
            "outstanding": {"gc": 2.66, "programs": 1.84, "host_reads": 1.35, "link": 0.01},
        }
    }
    assert limited_by(raw) == (
        "the queue depth: of 5.86 outstanding requests 2.66 for garbage collection, 1.84 for programs, "
        "1.35 for other host reads; dies 59 % busy"
    )
    raw["limits"]["bound"] = "dies"
    raw["time_share"] = {"idle": 0.41, "programming": 0.45, "waiting_for_bus": 0.1, "erasing": 0.04}
    assert limited_by(raw) == "the dies, 59 % busy (programming 45 %, waiting for bus 10 %)"
    raw["limits"]["bound"] = "one_channel"
    assert limited_by(raw) == "one channel, 6 % busy; all channels 5 %"
    assert limited_by({}) == ""


def test_many_cases_share_a_line() -> None:
    bounds = ["dies", "one_channel", "dies", "queue_depth", "", "dies"]
    cases = [{"case": f"c{k}", "limits": {"bound": bound}} for k, bound in enumerate(bounds)]
    cases[4] = {"case": "c4"}
    assert list(limits(cases)) == ["limited by the dies: c0, c2, c5; by one channel: c1; by the queue depth: c3"]
    assert list(limits([{"case": f"c{k}"} for k in range(9)])) == []
    same = [{"case": f"c{k}", "limits": {"bound": "dies"}} for k in range(3)]
    assert list(limits(same)) == ["all cases limited by the dies"]
    assert list(limits([*same, {"case": "c3"}])) == ["limited by the dies: c0, c1, c2"]

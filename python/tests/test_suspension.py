"""Do the settings of suspension do, in a whole drive, what their documentation says?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import interpulse as package
from tests.sample import ROOT, check, without_timing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended

DRIVE = """
drive = "a4-mini"
seed = 3

[part]
blocks-per-plane = 32
program-suspend-entry = "20us"
erase-suspend-entry = "60us"
page-buffer-reload = "3us"

[precondition]
fill = "100%"
overwrite = "uniform"

[run]
requests = 20000

[[flow]]
name = "reads"
depth = 8
read = "100%"

[[flow]]
name = "writes"
depth = 4
read = "0%"
"""


RELAXED = (
    DRIVE.replace("depth = 4", 'pacing = "open"\nrate = "5kIOPS"')
    .replace("blocks-per-plane = 32", "blocks-per-plane = 96\nerase-loops = 40")
    .replace("[run]", '[ftl]\ngc-soft = "40%"\n[run]')
    .replace("requests = 20000", "requests = 60000")
)
"""Writes that leave garbage collection the time to stay ahead, so that no erase is urgent; and long erases."""


def run(text: str = DRIVE, **sets: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever --set takes
    """The raw result of a small drive; `program__scheme` stands for `suspend.program.scheme`."""
    config = package.Config.from_toml(text)
    for key, value in sets.items():
        section, _, name = key.partition("__")
        path = section.replace("_", "-") if not name else f"{section}.{name.replace('_', '-')}"
        config.set(path if section in {"part", "schedule", "cache", "host"} else f"suspend.{path}", value)
    result = package.run(config, no_cache=True)
    check(result.document)
    return result.raw


def nand(raw: dict[str, Any]) -> dict[str, int]:
    counters: dict[str, int] = raw["counters"]["nand"]
    return counters


def test_none_is_a_part_that_cannot_suspend() -> None:
    """Configuration and its hash aside, to the last figure."""
    can, cannot = run(program__scheme="none", erase__scheme="none"), run(part__suspend_support="none")
    for raw in (can, cannot):
        del raw["config"], raw["config_hash"]
    assert without_timing(can) == without_timing(cannot)
    assert can["nand"]["suspends"] == {"program": 0, "erase": 0}


@pytest.mark.parametrize("operation", ["program", "erase"])
@pytest.mark.parametrize(
    "scheme",
    [
        "ideal",
        "inter-phase",
        "intra-phase-cancel",
        "pulse-remainder",
        "exact",
        "immediate",
        "deferred",
        "timeout",
        "loop-boundary",
        "adaptive",
        "safe-points",
        "sliced",
    ],
)
def test_every_scheme_suspends_what_it_is_set_for_and_nothing_else(scheme: str, operation: str) -> None:
    raw = run(**{f"{operation}__scheme": scheme})
    suspends = raw["nand"]["suspends"]
    other = "erase" if operation == "program" else "program"
    assert suspends[operation] > 0
    assert suspends[other] == 0
    assert sum(k * n for k, n in enumerate(raw["nand"][f"{operation}_us"]["by_suspends"])) > 0


def test_the_test_above_knows_every_scheme(interpulse: Callable[..., Ended]) -> None:
    marks = test_every_scheme_suspends_what_it_is_set_for_and_nothing_else.pytestmark  # type: ignore[attr-defined]
    tested = next(mark.args[1] for mark in marks if mark.args[0] == "scheme")
    listed = [row["name"] for row in interpulse("list", "schemes", "--json").json()["schemes"]]
    assert ["none", *sorted(tested)] == ["none", *sorted(set(listed) - {"none"})]


@pytest.mark.parametrize("length", [{"slice_loops": 2}, {"slice_time": "5us"}])
def test_slices_need_no_support_of_the_part(length: dict[str, Any]) -> None:
    support = {"part__suspend_support": "none"}
    sliced = {f"{operation}__{key}": value for operation in ("program", "erase") for key, value in length.items()}
    raw = run(program__scheme="sliced", erase__scheme="sliced", **support, **sliced)
    none = run(**support)
    assert all(raw["nand"]["suspends"].values())
    # Each slice but the first is commanded behind reads or alone, 10 us each time.
    assert nand(raw)["slice_time"] == 10_000 * nand(raw)["slices"] > 0
    assert nand(none)["slices"] == 0
    assert raw["latency_us"]["read"]["mean"] < none["latency_us"]["read"]["mean"]


def test_no_operation_is_suspended_more_often_than_the_limit() -> None:
    free = run(program__scheme="ideal")
    capped = run(program__scheme="ideal", program__max_suspends=2)
    assert free["nand"]["program_us"]["most_suspends"] > 2
    assert capped["nand"]["program_us"]["most_suspends"] == 2
    assert nand(capped)["stops_refused_by_limit"] > 0


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("min_interval", "500us"),
        ("min_remaining", "1ms"),
        ("min_loops_left", 12),
        ("max_suspended_time", "100us"),
        ("timeout", "200us"),
        ("dies", [0, 3]),
        ("pages", ["lsb"]),
    ],
)
def test_every_limit_limits(limit: str, value: Any) -> None:  # noqa: ANN401
    free, limited = run(program__scheme="ideal"), run(program__scheme="ideal", **{f"program__{limit}": value})
    assert limited["nand"]["suspends"]["program"] < 0.9 * free["nand"]["suspends"]["program"]


def test_data_comes_from_the_shadow_buffer_or_over_the_bus() -> None:
    shadow = nand(run(program__scheme="inter-phase"))
    assert shadow["reload_time"] == shadow["reloads"] * 3_000 > 0
    assert shadow["reload_bus_time"] == 0
    bus = nand(run(program__scheme="inter-phase", program__reload="bus"))
    # Three pages of a word line each time; a reload that spans the end of the window is counted in part.
    page = 18 * 1024 / 533e6 * 1e9
    assert bus["reload_bus_time"] == pytest.approx(3 * page * bus["reloads"], rel=0.02)
    assert bus["reload_time"] >= bus["reload_bus_time"] * 0.98


def test_a_host_write_may_suspend_an_erase() -> None:
    without = run(RELAXED, erase__scheme="exact")
    with_ = run(RELAXED, erase__scheme="exact", erase__for_host_writes=True)
    assert nand(without)["programs_in_suspension"] == 0
    assert nand(with_)["programs_in_suspension"] > 0


def test_a_program_inside_a_suspended_erase_is_suspended_where_the_part_can() -> None:
    both = {"program__scheme": "ideal", "erase__scheme": "ideal", "erase__for_host_writes": True}
    assert nand(run(RELAXED, **both))["nested_suspends"] == 0
    assert nand(run(RELAXED, **both, nesting=True, part__suspend_support="nested"))["nested_suspends"] > 0


def test_a_suspension_counts_as_a_share_of_a_cycle() -> None:
    raw = run(erase__scheme="immediate", erase__stress="2%")
    erases = raw["nand"]["suspends"]["erase"]
    assert raw["counters"]["wear"]["suspend_cycles"] == pytest.approx(0.02 * erases)


@pytest.mark.parametrize("length", ["as-read", "zero"])
def test_the_bounds_of_the_comparison_shorten_programs_and_erases(length: str) -> None:
    real, bound = run(), run(schedule__long_operations=length)
    owed = 80_000 if length == "as-read" else 0
    counters = nand(bound)
    assert counters["program_owed_time"] == owed * (counters["host_programs"] + counters["gc_programs"])
    assert counters["erase_owed_time"] == owed * counters["erases"]
    assert bound["latency_us"]["read"]["mean"] < real["latency_us"]["read"]["mean"]


@pytest.mark.parametrize(
    ("sets", "says"),
    [
        ({"suspend.program.scheme": "loopboundary"}, "did you mean"),
        ({"suspend.program.defer-after": "1ms"}, 'it belongs to scheme = "timeout"'),
        ({"suspend.erase.resume-after": "1ms"}, 'it belongs to resume = "timer"'),
        ({"suspend.erase.resume": "timer"}, "suspend.erase.resume-after: missing key"),
        ({"suspend.erase.pages": '["lsb"]'}, "an erase has no pages"),
        ({"suspend.erase.reload": "bus"}, "an erase has no data"),
        ({"suspend.program.for-host-writes": "true"}, "may suspend erases only"),
        ({"suspend.program.pages": '["top"]'}, "lsb"),
        ({"suspend.program.dies": "[8]"}, "7"),
        ({"suspend.nesting": "true"}, 'part.suspend-support = "nested"'),
        ({"part.suspend-support": "erase", "suspend.program.scheme": "ideal"}, "cannot suspend this operation"),
        ({"suspend.program.stress": "120%"}, "suspend.program.stress"),
        ({"schedule.policy": "fifo", "schedule.gc-reads": "before-programs"}, "read-priority"),
        ({"suspend.program.max-suspends": "0"}, "suspend.program.max-suspends"),
    ],
)
def test_what_cannot_be_is_refused(interpulse: Callable[..., Ended], sets: dict[str, str], says: str) -> None:
    options = [part for key, value in sets.items() for part in ("--set", f"{key}={value}")]
    ended = interpulse("show", str(ROOT / "examples" / "small.toml"), *options)
    assert ended.code == 2
    assert says in ended.error()

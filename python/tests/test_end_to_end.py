"""Does a whole run, on the real core, give a valid result, the same every time, and clear errors?"""

from __future__ import annotations

import math
import threading
import time
from typing import TYPE_CHECKING

import pytest

import interpulse as package
from tests import sample
from tests.sample import ROOT, check, without_timing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended

SMALL = str(ROOT / "examples" / "small.toml")


@pytest.fixture(scope="module")
def result() -> package.Result:
    """One run of the small example, shared by the tests that only read it."""
    return package.run(package.Config.load(SMALL), no_cache=True)


def test_the_result_keeps_the_schema_and_its_sums(result: package.Result) -> None:
    check(result.document)


def test_another_run_gives_the_same_result(result: package.Result) -> None:
    again = package.run(package.Config.load(SMALL), no_cache=True)
    assert without_timing(again.document) == without_timing(result.document)


def test_another_seed_gives_another_result_and_the_same_configuration(result: package.Result) -> None:
    other = package.run(package.Config.load(SMALL), seed=result.seed + 1, no_cache=True)
    assert other.raw["latency_us"] != result.raw["latency_us"]
    assert other.seed == result.seed + 1


def test_the_command_line_prints_what_the_api_gives(interpulse: Callable[..., Ended], result: package.Result) -> None:
    ended = interpulse("run", SMALL, "--json", "--no-cache")
    assert ended.code == 0
    assert without_timing(ended.json()) == without_timing(result.document)


def test_show_lists_every_setting_with_an_origin(interpulse: Callable[..., Ended], result: package.Result) -> None:
    shown = interpulse("show", SMALL, "--json").json()
    assert shown["config_hash"] == result.config_hash
    assert len(shown["entries"]) > 20
    for entry in shown["entries"]:
        assert all(entry.values()), entry


def test_show_has_the_settings_of_the_case_that_is_named(
    interpulse: Callable[..., Ended], result: package.Result
) -> None:
    names = [case.case for case in result.cases]
    assert len(names) > 1
    entries = []
    for case in result.cases:
        shown = interpulse("show", SMALL, "--case", case.case, "--json").json()
        assert (shown["cases"], shown["config_hash"]) == ([case.case], case.config_hash)
        entries.append(shown["entries"])
        table = interpulse("show", SMALL, "--case", case.case).out
        assert table.splitlines()[0] == f"config {case.config_hash} of case {case.case}"
    assert entries[0] != entries[1]
    assert entries[0] == interpulse("show", SMALL, "--json").json()["entries"]
    assert f"--case NAME shows another: {names[1]}" in interpulse("show", SMALL).out
    ended = interpulse("show", SMALL, "--case", "another")
    assert ended.code == 2
    assert f"there is no such case; expected one of {', '.join(names)}" in ended.err


def test_every_list_has_names_with_a_line_of_explanation(interpulse: Callable[..., Ended]) -> None:
    for name, rows in interpulse("list", "--json").json().items():
        assert rows, f"no {name}"
        for row in rows:
            assert row["name"], row
            assert row["doc"], row


def test_the_interpreter_is_free_while_a_run_goes_on() -> None:
    ticks = 0
    ended = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not ended.is_set():
            ticks += 1
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        start = time.monotonic()
        package.run(package.Config.load(SMALL), no_cache=True)
        took_s = time.monotonic() - start
    finally:
        ended.set()
        ticker.join()
    assert ticks > 20 * took_s, f"{ticks} ticks in {took_s:.2f} s: the lock was held"


def test_waiting_takes_only_times() -> None:
    from interpulse import _core

    handle = _core.start(package.Config.load(SMALL).resolve(), 1, None, 0, True)
    for bad in (-1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="timeout_s"):
            handle.wait(bad)
    handle.stop()
    assert handle.wait(30)


@pytest.fixture(scope="module")
def with_histograms() -> package.Result:
    """The small example with everything that a result can hold, and a host that gives up early."""
    config = package.Config.load(SMALL).set("report.histograms", True).set("host.command-timeout", "1ms")
    return package.run(config, no_cache=True)


def test_histograms_give_the_percentiles(with_histograms: package.Result) -> None:
    check(with_histograms.document)
    for case in with_histograms.cases:
        for group in (case.raw, *case.flows):
            for kind in ("read", "write"):
                summary, buckets = group["latency_us"][kind], group["histogram_us"][kind]
                for name, share in (("p50", 0.5), ("p99", 0.99), ("p99.99", 0.9999)):
                    seen, rank = 0, math.ceil(share * summary["count"])
                    bound = next(bound for bound, count in buckets if (seen := seen + count) >= rank)
                    assert summary[name] <= bound <= 1.002 * summary[name] + 1e-3, (kind, name)
                assert buckets[-1][0] >= summary["max"]


def test_a_tail_is_what_the_histogram_says(with_histograms: package.Result) -> None:
    for case in with_histograms.cases:
        assert case.tail_blame, "the example has enough reads"
        buckets = case.raw["histogram_us"]["read"]
        for tail in case.tail_blame.values():
            assert tail["reads"] == sum(count for bound, count in buckets if bound > tail["above_us"])


def test_timeouts_are_those_of_the_histogram(with_histograms: package.Result) -> None:
    depth = 8
    late = 0
    for case in with_histograms.cases:
        counted = case.counters["host"]["command_timeouts_read"]
        # A bucket is at most 0.2 % wide, and up to `depth` requests are outstanding at the end.
        buckets = case.raw["histogram_us"]["read"]
        certain, possible = (sum(n for bound, n in buckets if bound > limit) for limit in (1002, 1000))
        assert certain <= counted <= possible + depth
        late += counted
    assert late


def test_what_is_reported_is_not_part_of_the_hash(result: package.Result) -> None:
    config = package.Config.load(SMALL).set("report.histograms", True)
    reported = package.run(config, no_cache=True)
    assert reported.config_hash == result.config_hash
    plain = without_timing(reported.document)
    for case in sample.seeds(plain):
        assert case.pop("histogram_us")
        for flow in case["flows"]:
            assert flow.pop("histogram_us")
    assert plain == without_timing(result.document)

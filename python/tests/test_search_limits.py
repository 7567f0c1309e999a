"""Are limits read strictly, and is a case judged by what its results can show and nothing else?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import interpulse
from interpulse import ConfigError
from interpulse.search.judge import Offered, State, judge, longer, offered
from interpulse.search.limits import Limit, Wear, read_limits, read_share
from interpulse.search.load import Load
from interpulse.search.window import Window
from interpulse.sweeps.simulations import Simulations

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

P999 = Limit("read", "p99.9", 1000.0)


def result(
    value: float,
    *,
    few: Sequence[str] = (),
    verdict: str = "yes",
    halves: tuple[float, float] = (1.0, 1.0),
    wide: float = 0.01,
    **more: object,
) -> dict[str, Any]:
    """A result whose read latencies are known; one window knows them to within `wide`."""
    measures = dict.fromkeys(("mean", "p50", "p90", "p99", "p99.9", "p99.99", "p99.999"), value)
    intervals = {m: [value * (1 - wide), value * (1 + wide)] for m in measures if m not in (*few, "mean")}
    read = {"count": 100_000, **measures, "interval": intervals, "few": list(few)}
    steady = {"verdict": verdict, "halves": {"read_p99_us": list(halves)}}
    return {"latency_us": {"read": read}, "steady": steady, "iops": 100.0, "host_requests": 100_000, **more}


def pretended(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[Mapping[str, str]], dict[str, Any]]
) -> list[dict[str, str]]:
    """Replaces the simulations of searches by `answer`; the overrides that were asked for, as they come."""
    seen: list[dict[str, str]] = []

    def run(_: Simulations, wanted: Sequence[Any]) -> list[dict[str, Any]]:
        seen.extend(dict(sets) for sets in wanted)
        return [{"raw": answer(dict(sets))} for sets in wanted]

    monkeypatch.setattr(Simulations, "run", run)
    return seen


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("read-p99.9", "1ms", Limit("read", "p99.9", 1000.0)),
        ("read_p99_9", "0.5 ms", Limit("read", "p99.9", 500.0)),
        ("write p99.999", "2s", Limit("write", "p99.999", 2e6)),
        ("--all-mean", "80us", Limit("all", "mean", 80.0)),
        ("READ-P50", "1500ns", Limit("read", "p50", 1.5)),
    ],
)
def test_a_limit_is_read_as_it_is_written(name: str, value: str, expected: Limit) -> None:
    assert read_limits({name: value}) == [expected]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "expected at least one latency limit"),
        ([], "expected at least one latency limit"),
        ({"read-p95": "1ms"}, "seen 'read-p95'; expected KIND-MEASURE"),
        ({"read-max": "1ms"}, "expected KIND-MEASURE"),
        ({"trim-p99": "1ms"}, "seen 'trim-p99'"),
        ({"read-p99": 1000}, "expected a time above 0 with its unit"),
        ({"read-p99": "0us"}, "seen '0us'"),
        ({"read-p99": "-1ms"}, "seen '-1ms'"),
        ({"read-p99": "1 m"}, "seen '1 m'"),
        ({"read-p99": "2000000s"}, "seen '2000000s'"),
        ({"read-p99": "1ms", "read_p99": "2ms"}, "seen read p99 twice"),
    ],
)
def test_what_is_no_limit_is_refused(given: object, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_limits(given)
    assert said in str(caught.value)


def test_a_share_is_read_with_and_without_percent() -> None:
    assert [read_share(each, "x") for each in ("2%", "0.02", 0.02, "2 %")] == [0.02] * 4
    for wrong in ("0", "-1%", "2 percent", True):
        with pytest.raises(ConfigError, match="expected a share above 0"):
            read_share(wrong, "--wear")


@pytest.mark.parametrize(
    ("results", "state", "why"),
    [
        ([result(900), result(910), result(905)], State.HOLDS, ""),
        ([result(1100), result(1110), result(1105)], State.MISSES, ""),
        # Student's t of three seeds that differ by more than they stay below the bound.
        ([result(700), result(990), result(850)], State.OPEN, ""),
        # One seed is judged by its own window.
        ([result(900)], State.HOLDS, ""),
        ([result(995)], State.OPEN, ""),
        ([result(900, verdict="unknown")], State.OPEN, "too short to decide"),
        # What the result marks is no fact, however good it looks.
        ([result(10, few=["p99.9"]), result(10), result(10)], State.OPEN, "too few requests"),
        ([result(10), result(10, verdict="no"), result(10)], State.OPEN, "1 of 3 windows were not steady"),
        # Too few requests beyond p99.9, but half of all reads are beyond the bound already.
        ([result(2000, few=["p99.9"])], State.MISSES, "p99 misses it already"),
        # Not steady and getting worse: whatever it settles at, the bound is broken.
        ([result(2000, verdict="no", halves=(1000.0, 3000.0))], State.MISSES, ""),
        ([result(2000, verdict="no", halves=(3000.0, 1000.0))], State.OPEN, "not steady"),
    ],
)
def test_three_answers(results: list[dict[str, Any]], state: State, why: str) -> None:
    judgement = judge(results, [P999])
    assert judgement.state is state
    assert why in judgement.readings[0].why
    assert bool(judgement.readings[0].why) == bool(why)


def test_a_margin_drops_only_what_clearly_misses() -> None:
    assert judge([result(1100)], [P999]).state is State.MISSES
    assert judge([result(1100)], [P999], margin=1.2).state is State.OPEN
    assert judge([result(1300)], [P999], margin=1.2).state is State.MISSES


def test_requests_that_starve_miss_and_none_at_all_hold() -> None:
    starved = {"latency_us": {"write": {"count": 0}}, "oldest_outstanding_us": {"write": 9e6}, "host_requests": 5}
    limit = Limit("write", "p99", 5000.0)
    judged = judge([starved], [limit])
    assert judged.state is State.MISSES
    assert "9 s" in judged.readings[0].why
    assert judge([{"latency_us": {"write": {"count": 0}}}], [limit]).state is State.HOLDS


def flow(iops: float, name: str = "mixed") -> dict[str, object]:
    return {"name": name, "iops": iops, "host_requests": 100_000}


def test_open_arrivals_that_are_not_kept_up_with_miss() -> None:
    config = {"flow.0.pacing": "open", "flow.0.rate": "1.3e2/s"}
    slow = result(10, config=config, flows=[flow(100)])
    assert offered(slow, 0) == Offered(130, 1)
    judged = judge([slow], [P999])
    assert judged.state is State.MISSES
    assert judged.behind == "it completes 100 of 130 requests a second"
    for other in ({"flow.0.pacing": "closed"}, {"flow.0.stop": "1s"}, {"flow.0.rate": "101/s"}):
        assert judge([result(10, config=config | other, flows=[flow(100)])], [P999]).state is State.HOLDS

    # What another flow makes of the drive does not hide it.
    beside = config | {"flow.1.pacing": "closed"}
    judged = judge([result(10, config=beside, flows=[flow(100), flow(500, "rest")])], [P999])
    assert (judged.state, judged.behind) == (State.MISSES, "flow mixed completes 100 of 130 requests a second")


OVERLOADED = """\
config_version = 1
drive = "a4-mini"
precondition.fill = "100%"
run = { requests = 20000, warmup = "0s" }
flow = [
    { name = "reads", pacing = "open", rate = "200kIOPS" },
    { name = "writes", depth = 1, read = 0, from = 0, to = 0.01 },
]
"""


def test_a_load_of_three_times_what_the_drive_can_never_holds_however_generous_the_limit() -> None:
    """The drive does some 65,000 to 90,000 of these 200,000 reads a second; the other flow waits for it."""
    raw = interpulse.run(interpulse.Config(OVERLOADED, path="overloaded.toml")).cases[0].raw
    assert raw["iops"] < 120_000
    judged = judge([raw], [Limit("read", "p99", 1e9)])
    assert judged.state is State.MISSES
    assert judged.behind.startswith("overloaded: ")
    del raw["steady"]
    assert judge([raw], [Limit("read", "p99", 1e9)]).behind.startswith("flow reads completes ")


def test_wear_is_judged_by_seeds_alone() -> None:
    def worn(stress: float, erases: int = 50) -> dict[str, Any]:
        return {"nand": {"erases": erases}, "counters": {"nand": {"suspend_stress": stress * 1e6}}}

    limit = Wear(0.02)
    assert judge([worn(0.5), worn(0.51), worn(0.49)], [limit]).state is State.HOLDS
    assert judge([worn(1.5), worn(1.51), worn(1.49)], [limit]).state is State.MISSES
    assert judge([worn(0.0), worn(0.0)], [limit]).state is State.HOLDS
    assert judge([worn(0.0, erases=9), worn(0.0)], [limit]).state is State.OPEN
    assert judge([worn(0.0, erases=0)], [limit]).state is State.HOLDS


def test_a_window_is_as_long_as_the_limits_need() -> None:
    raw = result(1)
    assert longer(raw, [Limit("read", "p99.9", 1)]) == 1
    assert longer(raw, [Limit("read", "p99.99", 1)]) == 2
    assert longer(raw, [Limit("read", "p99.999", 1), Limit("read", "mean", 1)]) == 12
    by_requests, by_time = Window.of({"run.requests": "1000"}), Window.of({"run.time": "1.5s"})
    assert by_requests.sets(4) == (("run.requests", "4000"),)
    assert by_time.sets(2) == (("run.time", "3s"),)
    assert by_time.sets(1) == ()
    assert not Window.of({"run.requests": "not set", "run.time": "not set"}).scales


def test_the_load_is_that_of_all_flows() -> None:
    open_ = {"flow.0.pacing": "open", "flow.0.rate": "3000/s", "flow.1.pacing": "open", "flow.1.rate": "1000/s"}
    load = Load.of(open_, "run")
    assert (load.kind, load.at) == ("rate", 4000)
    assert load.sets(8000) == (("flow.0.rate", "6000/s"), ("flow.1.rate", "2000/s"))
    closed = Load.of({"flow.0.pacing": "closed", "flow.0.depth": "8"}, "run")
    assert closed.sets(11) == (("flow.0.depth", "11"),)
    assert closed.between(8, 9) == 8
    recorded = Load.of({"flow.0.pacing": "recorded", "flow.0.speed": "2"}, "run")
    assert recorded.sets(3) == (("flow.0.speed", "3"),)
    with pytest.raises(ConfigError, match=r"case run: seen .*expected flows that are all open"):
        Load.of(open_ | {"flow.1.pacing": "closed", "flow.1.depth": "1"}, "run")

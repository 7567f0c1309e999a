"""Do the erase suspension schemes order themselves as Kim et al., ATC'19, say? On drives of one or two dies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from interpulse import Config, Result, run
from interpulse.experiments.act import BEHIND_S, Bisection, Limit, Verdict, load, search
from interpulse.experiments.atc19 import (
    BASELINE,
    DES,
    ES,
    ES_NO_RAMP,
    IDEAL,
    IES,
    SCHEMES,
    TES,
    Scheme,
    buckets,
    longest_wait_ms,
    share_above,
    survival,
)
from interpulse.experiments.atc19_act import check_caps
from interpulse.experiments.registry import SETUPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interpulse.experiments.act import Key
    from interpulse.studies.case import Sets

MINIATURE: Sets = {
    "geometry.channels": 1,
    "geometry.chips-per-channel": 1,
    "part.blocks-per-plane": 64,
    "part.pages-per-block": 24,
    "part.layers": 24,
    "ftl.gc-soft": "5%",
    "ftl.gc-hard": "3%",
    "cache.size": "256KiB",
    "run.warmup": "100ms",
}


def simulate(file: str, scheme: Scheme, sets: Sets) -> Result:
    """The result of a scheme on a miniature of an experiment's drive."""
    config = Config.load(SETUPS / file)
    for key, value in {**MINIATURE, **scheme.sets, **sets}.items():
        config.set(key, value)
    return run(config)


def all_of(file: str, schemes: Sequence[Scheme], sets: Sets) -> dict[Scheme, Result]:
    return {scheme: simulate(file, scheme, sets) for scheme in schemes}


def test_read_tails_are_an_erase_a_step_and_a_suspension() -> None:
    # With a single die, or more writes, every request in flight would be a write that waits for the erase.
    sets: Sets = {"geometry.chips-per-channel": 2, "run.time": "1s", "flow.0.depth": 8, "flow.0.read": 0.9}
    results = all_of("atc19-fio/fio.toml", SCHEMES, sets)
    tail = {scheme: result.percentile("read", 99.9) for scheme, result in results.items()}
    assert 4800 < tail[BASELINE] < 5300
    assert 1000 < tail[DES] < 1200
    for scheme in (IDEAL, ES, IES, TES):
        assert tail[scheme] < 250, scheme.label


def test_suspension_without_a_guarantee_starves_the_writer() -> None:
    results = all_of("atc19-starvation/starvation.toml", (*SCHEMES, ES_NO_RAMP), {"run.time": "2s"})
    writes = {scheme: result.latency_us["write"]["count"] for scheme, result in results.items()}
    for scheme in (ES, IES):
        assert writes[scheme] == 0, scheme.label
        assert longest_wait_ms(results[scheme]) > 2000
    for scheme in (BASELINE, IDEAL, DES, TES, ES_NO_RAMP):
        assert writes[scheme] > 20, scheme.label


def test_command_timeouts_hit_immediate_suspension_and_not_the_timeout_scheme() -> None:
    sets: Sets = {"run.time": "1s", "flow.0.rate": "2500/s", "flow.1.rate": "1500/s", "host.command-timeout": "400ms"}
    results = all_of("atc19-tpcc/tpcc.toml", (BASELINE, IES, DES, TES), sets)
    late = {scheme: result.counters["host"]["command_timeouts_write"] for scheme, result in results.items()}
    assert late[IES] > 0
    assert (late[BASELINE], late[DES], late[TES]) == (0, 0, 0)


def test_the_tool_fails_the_baseline_by_latency_and_immediate_suspension_by_lag() -> None:
    sets: Sets = {"geometry.chips-per-channel": 2, "run.time": "3s", **load(4)}
    verdicts = {s: Verdict.of(result) for s, result in all_of("atc19-act/act.toml", (BASELINE, IES, DES), sets).items()}
    assert verdicts[BASELINE].failed == ["i"]
    assert verdicts[IES].failed == ["iv"]
    assert verdicts[DES].failed == []


@pytest.mark.parametrize("limit", [0, 1, 2, 7, 14, 31, 47, 48])
def test_a_search_ends_at_the_last_number_that_passes(limit: int) -> None:
    tried: dict[Key, Verdict] = {}

    def judge(keys: set[Key]) -> dict[Key, Verdict]:
        assert not keys & tried.keys(), "nothing is run twice"
        new = {key: Verdict({"i": 0.0, "ii": 0.0, "iii": 0.0}, 0.0 if key[1] <= limit else 99.0, 0.0) for key in keys}
        tried.update(new)
        return new

    found = Bisection(48)
    search([Limit("a", lambda verdict: verdict.keeps_up, found), Limit("a", lambda _: True, Bisection(48))], judge)
    assert found.passes == limit
    assert limit == 48 or ("a", limit + 1) in tried
    assert limit == 0 or ("a", limit) in tried


def test_a_design_that_keeps_up_with_nothing_is_tried_at_no_load() -> None:
    asked: set[Key] = set()

    def judge(keys: set[Key]) -> dict[Key, Verdict]:
        asked.update(keys)
        return {key: Verdict({"i": 0.0, "ii": 0.0, "iii": 0.0}, 0.0, 0.0) for key in keys if load(key[1])}

    performance = {"starved": Bisection(0), "sound": Bisection(7)}
    check_caps(performance, judge)
    assert asked == {("sound", 7)}
    assert (performance["starved"].passes, performance["sound"].passes) == (0, 7)
    assert performance["starved"].next is performance["sound"].next is None


def test_rules_hold_up_to_their_limits() -> None:
    at = Verdict({"i": 5.0, "ii": 1.0, "iii": 0.1}, 10.0, BEHIND_S)
    assert at.failed == []
    above = Verdict({"i": 5.01, "ii": 1.01, "iii": 0.11}, 10.1, 0.0)
    assert above.failed == ["i", "ii", "iii", "iv"]
    assert "rule ii: 1.01 % of small reads above 8 ms" in above.why()
    behind = Verdict({"i": 0.0, "ii": 0.0, "iii": 0.0}, 1.0, 2 * BEHIND_S)
    assert behind.failed == ["iv"]
    assert behind.within(2 * BEHIND_S)
    assert not Verdict({"i": 0.0, "ii": 0.0, "iii": 0.0}, 10.1, 0.0).within(2 * BEHIND_S)


def test_shares_come_from_whole_buckets() -> None:
    histogram = [[10.0, 6], [1000.0, 3], [1004.0, 1]]
    assert share_above(histogram, 1000.0) == 10.0
    assert survival(histogram) == ([10.0, 1000.0, 1004.0], [1.0, 0.4, 0.1])
    assert share_above([], 1.0) == 0.0
    assert buckets({"histogram_us": {"read": histogram}}, "write") == []

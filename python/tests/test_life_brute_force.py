"""Is a drive that a life has aged, within chance, as one that was simulated request by request until that age?"""

import os
import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, TypeAlias

import pytest

import interpulse

pytestmark = [pytest.mark.verify, pytest.mark.timeout(3000)]

Raw: TypeAlias = Mapping[str, Any]

SEEDS = range(11, 17)
ENDURANCE = 60
AGES = (0.45, 0.75)
"""Mean cycles of the compared windows, as shares of the endurance; blocks fail before the second, and no drive."""

SPREAD = 2
"""Cycles below which whole numbers make the distribution."""

P = 1e-4
"""A difference beyond chance: with about twenty comparisons the test fails in one of five hundred changes of a seed."""

TABLE = """\
[error-table]
title = "ages within seconds"
source = "a test"
temperature-c = 40
cycles = [0, 60]
retention-h = [0.0001, 0.003, 0.02]
page-types = ["lsb", "csb", "msb"]
attempts = ["default", "calibrated"]
rber = [{rber}]
"""
RATES = ((0.001, 0.002, 0.004), (0.004, 0.008, 0.012))

CONFIG = """\
config_version = 1
drive = "a4-mini"
[part]
blocks-per-plane = {{ value = 34, source = "a miniature" }}
endurance = {{ value = {endurance}, source = "a short life" }}
[ftl]
bad-block-reserve = "8%"
[faults]
wear-out = "lognormal"
endurance-spread = 0.1
[errors]
table = "{table}"
[ecc]
codeword = "1KiB"
capability = 80
[precondition]
overwrite = "{pattern}"
{keys}
[report]
dies = true
[run]
warmup = "2s"
requests = 40000
[[flow]]
pacing = "open"
rate = "14kIOPS"
read = "50%"
address = "{pattern}"
{keys}
"""
WRITES_PER_S = 7000 * 4096
LOADS = {"uniform": "", "hot-cold": 'hot-share = "20%"\nhot-traffic = "80%"'}


@pytest.fixture(params=LOADS)
def text(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The configuration of a load, with its error table."""
    table = tmp_path / "table.toml"
    rber = [str(rate) for row in RATES for each in row for _ in range(3) for rate in (each, 0.3 * each)]
    table.write_text(TABLE.format(rber=", ".join(rber)))
    return CONFIG.format(endurance=ENDURANCE, table=table, pattern=request.param, keys=LOADS[request.param])


def run(text: str, seed: int, *sets: tuple[str, Any]) -> Raw:
    config = interpulse.Config(text)
    for key, value in (*sets, ("seed", seed)):
        config.set(key, value)
    return interpulse.run(config).cases[0].raw


def each_seed(text: str, *sets: tuple[str, Any]) -> list[Raw]:
    """Results of all seeds."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(lambda seed: run(text, seed, *sets), SEEDS))


def erases(raw: Raw) -> float:
    """Mean erases of a place, those of replaced blocks included."""
    return float(raw["smart"]["percentage_used"]) / 100 * ENDURANCE


def spread(raws: list[Raw]) -> list[float]:
    """Distances from their mean of the cycles of all super blocks of all drives, without the steps of whole numbers."""
    rng = random.Random(1)
    found = [each + rng.random() for raw in raws for die in raw["dies"] for each in die["cycles"]["mean"]]
    mean = fmean(found)
    return [each - mean for each in found]


FIGURES: dict[str, Callable[[Raw], float]] = {
    "write amplification": lambda raw: raw["ftl"]["waf"],
    "read mean": lambda raw: raw["latency_us"]["read"]["mean"],
    "read p99": lambda raw: raw["latency_us"]["read"]["p99"],
    "read p99.9": lambda raw: raw["latency_us"]["read"]["p99.9"],
    "raw bit error rate": lambda raw: raw["reliability"]["raw_bit_error_rate"],
    "retried share": lambda raw: raw["reliability"]["retried_share"],
    "deviation of cycles": lambda raw: pstdev(each for die in raw["dies"] for each in die["cycles"]["mean"]),
    "bad blocks": lambda raw: raw["smart"]["grown_bad_blocks"],
}


def test_a_sampled_age_is_that_of_every_request(text: str, tmp_path: Path) -> None:
    from scipy.stats import ks_2samp, ttest_ind

    new = run(text, SEEDS[0], ("run.requests", 1000))
    capacity, begun = new["capacity"]["usable_bytes"], erases(new)
    dwpd = WRITES_PER_S * 86400 / capacity
    life = interpulse.life(
        interpulse.Config(text), years=300 / 86400 / 365, dwpd=dwpd, windows=5, seeds=2, out=tmp_path / "life"
    )
    (case,) = life.cases
    first, second = case.ages[:2]
    per_day = (second.cycles - first.cycles) / (second.day - first.day)
    turn = 1 / (dwpd * fmean(first.values["waf"]) / (1 + new["capacity"]["over_provisioning"]))
    for share in AGES:
        target = share * ENDURANCE
        seconds = (target - begun) / per_day * 86400
        brute = each_seed(text, ("run.warmup", f"{seconds + 2:.3f}s"))
        mean = fmean(map(erases, brute))
        # What the window itself adds, and the write amplification of the life's first window.
        assert mean == pytest.approx(target, rel=0.03), "the mean follows from drive writes and write amplification"
        sampled = each_seed(
            text,
            ("precondition.wear", "drawn"),
            ("precondition.cycles", round(mean)),
            ("precondition.cycles-dispersion", case.dispersion + case.offset / mean),
            ("errors.initial-ages", "closed"),
            ("errors.initial-age", f"{turn * 86400e9:.0f}ns"),
        )
        for name, read in FIGURES.items():
            ours, theirs = [read(raw) for raw in sampled], [read(raw) for raw in brute]
            equal = ours == theirs or len({*ours, *theirs}) == 1
            p = 1.0 if equal else ttest_ind(ours, theirs, equal_var=False).pvalue
            assert p > P, f"{share} {name}: life {ours}, brute force {theirs}"
        if pstdev(spread(brute)) < SPREAD:
            continue
        p = ks_2samp(spread(sampled), spread(brute)).pvalue
        assert p > P, f"{share} cycles of blocks"
    dead = each_seed(text, ("run.time", "2000s"), ("run.requests", 10**9))
    theirs = [erases(raw) for raw in dead]
    ours = [raw["smart"]["reserve_ends_at_cycles"] for raw in sampled]
    assert all(raw["smart"]["read_only"] for raw in dead)
    p = ttest_ind(ours, theirs, equal_var=False).pvalue
    assert p > P, f"the reserve ends at {ours} cycles, by brute force at {theirs}"

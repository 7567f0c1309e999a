"""Does the summary of a run agree with the figures of the result?"""

from __future__ import annotations

from typing import Any

from interpulse.cli.repeat import summary
from interpulse.cli.table import render
from interpulse.runs.result import Result
from interpulse.runs.summary import lines
from tests import sample


def steady(case: dict[str, Any], verdict: str) -> dict[str, Any]:
    return {**case, "steady": {"verdict": verdict}}


def test_two_cases_are_compared() -> None:
    result = sample.two_cases()
    first, causes = lines([case.raw for case in Result(result).cases])
    assert first == (
        "suspend against none: read p99.9 1,500 -> 900.0 us (-40.0 %), read p99 1,000 -> 600.0 us (-40.0 %),"
        " read mean 250.0 -> 150.0 us (-40.0 %), 222,000 -> 335,000 IOPS (+50.9 %)"
    )
    assert causes == "the slowest 0.1 % of reads: 100 % of their time is programs and erases"
    text = " ".join(render(Result(result), 80).split())
    assert text.index(first) < text.index(causes) < text.index("Requests per second, and latency")


def test_each_of_a_few_and_the_ends_of_many() -> None:
    cases = [sample.case(f"c{number}", read_mean=100.0 + number) for number in range(12)]
    assert next(lines(cases[:1])) == "c0: read p99.9 600.0 us, read p99 400.0 us, read mean 100.0 us, 222,000 IOPS"
    assert [line.split(":")[0] for line in lines(cases[:3])][:3] == ["c0", "c1", "c2"]
    assert next(lines(cases)) == "read p99.9 of 12 cases: least c0 600.0 us, most c11 666.0 us"


def test_several_seeds_give_the_change_seed_by_seed_with_its_interval() -> None:
    def of(seed: int, *means: float) -> Result:
        cases = [sample.case(name, read_mean=mean) for name, mean in zip(("none", "suspend"), means, strict=False)]
        return Result(sample.result(*({**case, "seed": seed} for case in cases)))

    told = summary([of(1, 100.0, 50.0), of(2, 200.0, 100.0), of(3, 300.0, 150.0)], 300).splitlines()[0]
    assert told == (
        "suspend against none, 3 seeds, ratios with 95 % intervals: read p99.9 1,200 -> 600 (x0.5, 0.5 .. 0.5),"
        " read p99 800 -> 400 (x0.5, 0.5 .. 0.5), read mean 200 -> 100 (x0.5, 0.5 .. 0.5),"
        " all IOPS 222,000 -> 222,000 (x1, 1 .. 1)"
    )
    varied = summary([of(1, 100.0, 50.0), of(2, 100.0, 60.0)], 300).splitlines()[0]
    assert "read mean 100 -> 55 (x0.5477, 0.172 .. 1.744)" in varied, "t(0.975; 1) = 12.706 of the logarithms"
    assert summary([of(1, 100.0)], 300).startswith("none, seed 1\n")


def test_how_sure_it_is_is_told_of_each_case() -> None:
    one, two = (case.raw for case in Result(sample.two_cases()).cases)
    assert [*lines([steady(one, "yes"), steady(two, "yes")])][-1] == "window steady: yes"
    told = [*lines([steady(one, "no"), steady(two, "unknown")])][-1]
    assert told == "window steady: no, see the warning below (none); too short to decide (suspend)"
    one["latency_us"]["read"]["few"] = ["p99.9"]
    assert "read p99.9 ~1,500 -> 900.0 us" in next(lines([one, two]))


def test_cases_with_other_causes_are_told_apart() -> None:
    one, two = (case.raw for case in Result(sample.two_cases()).cases)
    two["tail_blame"]["p99.9"]["shares"] = {"garbage_collection": 0.9, "erases": 0.1}
    assert [*lines([one, two])][1:] == [
        "none: the slowest 0.1 % of reads: 100 % of their time is programs and erases",
        "suspend: the slowest 0.1 % of reads: 90 % of their time is garbage collection",
    ]


def test_without_reads_writes_are_told_of_and_without_anything_nothing() -> None:
    case = sample.case("writes")
    case["latency_us"]["read"] = {"count": 0}
    case["tail_blame"] = {}
    assert [*lines([case])] == ["writes: write p99.9 3,000 us, write p99 2,000 us, write mean 500.0 us, 222,000 IOPS"]
    assert [*lines([{"case": "failed", "error": "no"}])] == []
    # Nothing is compared with a case that has no figures.
    assert next(lines([{"case": "failed", "error": "no"}, case])).startswith("writes: ")

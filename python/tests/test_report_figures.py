"""Do the four figures of a page show what changed, and nothing that chance explains as a change?"""

from __future__ import annotations

import re
from typing import Any

import pytest

from interpulse.report import four_figures, runs
from interpulse.report.runs import Report
from interpulse.report.sections import answer
from interpulse.runs.result import Result
from tests import sample


def report(*seeds: dict[str, dict[str, float]], intervals: float = 0.0) -> Report:
    """A page of two cases: the second has the percentiles of each seed, the first has 100 times their number.

    `intervals`: half the interval of each percentile within its run, as a share of the percentile.
    """
    found = []
    for number, factors in enumerate(seeds, 1):
        cases = [sample.case(name) for name in ("none", "a case with a long name, in full")]
        for case, of in zip(cases, ({}, factors), strict=True):
            case["seed"] = number
            for kind in ("read", "write"):
                known = {"p99": 990.0 + number, "p99.9": 2000.0 + number, "p99.99": 3000.0 + number}
                values = {name: value * of.get(kind, {}).get(name, 1.0) for name, value in known.items()}
                within = {name: [v * (1 - intervals), v * (1 + intervals)] for name, v in values.items()}
                case["latency_us"][kind] |= values | {"max": 5000.0, "p99.999": 4000.0}
                case["latency_us"][kind] |= {"interval": within} if intervals else {}
        found += cases
    every = Result(sample.result(*found))
    return runs.of([runs.Run(f"seed-{each.seed}", each) for each in every.seeds])


def shown(of: Report) -> list[str]:
    return [figure.name for figure in four_figures.chosen(of)]


FAR = ["read p99.9", "read p99.99", "write p99.9", "all IOPS"]
NEAR = ["read p99", "read p99.9", "write p99.9", "all IOPS"]


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ({"p99": 0.5}, NEAR),
        ({"p99": 0.5, "p99.9": 1.01}, NEAR),
        ({"p99": 0.5, "p99.9": 0.5}, NEAR),
        ({"p99": 0.5, "p99.9": 0.5, "p99.99": 0.5}, FAR),
        ({"p99": 0.5, "p99.99": 0.5}, NEAR),
        ({"p99.9": 0.5}, FAR),
        ({"p99": 0.98}, FAR),
        ({}, FAR),
    ],
)
def test_the_tail_that_changed_is_among_them(factors: dict[str, float], expected: list[str]) -> None:
    of = {"read": factors}
    assert shown(report(of)) == expected
    assert shown(report(of, of, of)) == expected
    assert shown(report(of, intervals=0.005)) == expected


def test_a_change_within_chance_is_none() -> None:
    wild = [{"read": {"p99": 0.5, "p99.9": factor}} for factor in (0.6, 1.0, 1.4)]
    assert shown(report(*wild)) == NEAR, "seeds disagree about p99.9"
    assert shown(report({"read": {"p99": 0.5, "p99.9": 0.9}}, intervals=0.2)) == NEAR
    assert shown(report({"read": {"p99": 0.9, "p99.9": 0.9}}, intervals=0.2)) == FAR


def looks(of: Report) -> dict[str, tuple[str, str]]:
    """Classes and text of the change on each card, by the card's title."""
    found = re.findall(
        r'<caption>(.*?)</caption>.*?<td class="(change[^"]*)">(.*?)</td></tr></tbody>', four_figures.cards(of).text
    )
    return {re.sub(r"<.*", "", title).strip(): (kind, re.sub(r"<.*?>|\u00a0", "", text)) for title, kind, text in found}


def test_only_what_chance_does_not_explain_has_the_accent() -> None:
    steady = {"write": {"p99.9": 0.5}}
    of = report(*({"read": {"p99.9": factor}} | steady for factor in (0.985, 0.99, 1.0)))
    found = looks(of)
    assert found["Reads: slowest 0.1 %"] == ("change same", "\u22121% ±2")
    assert found["Writes: slowest 0.1 %"] == ("change sure", "\u221250%")
    assert found["Throughput"] == ("change same", "0%")
    # The interval leaves out none, and what is printed does not.
    of = report(*({"read": {"p99.9": factor}} for factor in (0.986, 0.99, 0.993)))
    assert looks(of)["Reads: slowest 0.1 %"] == ("change same", "\u22121% ±1")


@pytest.mark.parametrize(("intervals", "kind"), [(0.2, "change same"), (0.01, "change"), (0.0, "change")])
def test_of_one_seed_the_intervals_within_the_runs_decide(intervals: float, kind: str) -> None:
    of = report({"read": {"p99.9": 0.9}}, intervals=intervals)
    assert looks(of)["Reads: slowest 0.1 %"] == (kind, "\u221210%")
    bold = "<b>" in re.sub(r".*slowest 0.1\u00a0% of reads", "", _first(of))
    assert bold is (kind == "change")


def test_of_one_seed_a_change_that_the_sentence_calls_none_is_none() -> None:
    of = report({"read": {"p99.9": 0.96, "p99": 0.5}}, intervals=0.001)
    assert looks(of)["Reads: slowest 0.1 %"] == ("change same", "\u22124%")
    assert "reads unchanged" in _first(of)


def _first(of: Report) -> str:
    """The sentence that compares, without what follows its first figure."""
    text: Any = answer.section(of).parts[0]
    return re.sub(r";.*", "", next(each for each in text.text.split("<li>") if "against" in each))


def test_cards_without_intervals_have_no_column_for_them() -> None:
    with_none = four_figures.cards(report({})).text
    assert "95" not in with_none
    assert four_figures.cards(report({}, intervals=0.1)).text.count("95\u202f%") == 3, "throughput has none"
    assert "a case with a long name, in full</span>" in with_none

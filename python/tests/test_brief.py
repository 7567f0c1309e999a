"""The short result of a run: sentences, table, plot, and the demo that README shows."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest

from interpulse.cli import brief, table
from interpulse.runs import summary
from interpulse.runs.answer import answer, time
from interpulse.runs.result import Result
from interpulse.tables.tail_plot import tail_plot
from tests import sample
from tests.sample import ROOT


def case(read: dict[str, Any], write: dict[str, Any] | None = None, **others: Any) -> dict[str, Any]:  # noqa: ANN401 - any figure
    return {"latency_us": {"read": read, "write": write or {"count": 0}}, **others}


def tail(mean: float, p99: float, p999: float, *few: str) -> dict[str, Any]:
    return {"count": 1000, "mean": mean, "p50": mean, "p99": p99, "p99.9": p999, "few": list(few)}


BASE = case(tail(100, 400, 2000), tail(2, 3, 4), iops=1000.0, power={"mean_mw": {"total": 100.0}})


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (BASE, "reads unchanged; writes unchanged"),
        (
            case(tail(50, 300, 1000), tail(2, 3, 4.1), iops=1000.0, power={"mean_mw": {"total": 106.0}}),
            (
                "slowest 0.1 % of reads: 2.00 ms -> 1.00 ms (-50 %); read mean 100 us -> 50.0 us (-50 %);"
                " writes unchanged; power +6 %"
            ),
        ),
        (
            case(tail(70, 300, 2090), tail(40, 90, 4000), iops=1480.0),
            (
                "slowest 0.1 % of reads unchanged; read mean 100 us -> 70.0 us (-30 %);"
                " slowest 0.1 % of writes: 4.00 us -> 4.00 ms (x1,000); write mean 2.00 us -> 40.0 us (x20); IOPS +48 %"
            ),
        ),
        (
            case(tail(100, 400, 2400), tail(2, 3, 4), iops=985.0),
            "slowest 0.1 % of reads: 2.00 ms -> 2.40 ms (+20 %); read mean unchanged; writes unchanged",
        ),
        # Too few reads beyond p99.9 of one case.
        (
            case(tail(100, 200, 500, "p99.9"), iops=1000.0),
            "slowest 1 % of reads: 400 us -> 200 us (-50 %); read mean unchanged",
        ),
        # A thousandth is no -100 %.
        (
            case(tail(100, 200, 2), iops=1000.0),
            "slowest 0.1 % of reads: 2.00 ms -> 2.00 us (1/1,000 of it); read mean unchanged",
        ),
        (case({"count": 0}), ""),
    ],
)
def test_a_sentence_says_what_changed(after: dict[str, Any], expected: str) -> None:
    assert answer(BASE, after) == expected


@pytest.mark.parametrize(("interval", "text"), [((1800, 2600), "+10 %, within chance"), ((2150, 2250), "+10 %")])
def test_a_change_that_the_intervals_allow_by_chance_is_called_so(interval: tuple[int, int], text: str) -> None:
    before, after = ({**tail(100, 400, us), "interval": {"p99.9": interval}} for us in (2000, 2200))
    before["interval"] = {"p99.9": (1950, 2050)}
    sentence = f"slowest 0.1 % of reads: 2.00 ms -> 2.20 ms ({text}); read mean unchanged"
    assert answer(case(before), case(after)) == sentence


@pytest.mark.parametrize(("us", "text"), [(1.734, "1.73 us"), (459.4, "459 us"), (4682, "4.68 ms"), (2.5e6, "2.50 s")])
def test_times_have_three_digits(us: float, text: str) -> None:
    assert time(us) == text


def test_letters_lie_where_the_latencies_do() -> None:
    lines = tail_plot([{"p50": 10, "p99": 1000}, {"p50": 10, "p99": 100}], ("p50", "p99", "p99.9"), 70)
    assert [line[:3] for line in lines] == ["p50", "p99", "   "], "no row without a figure"
    first, last, axis = lines
    assert first[5:7] == "AB", "the same place: side by side"
    assert axis.index("10 us") == first.index("A") == 5
    assert axis.index("1 ms") == last.index("A")
    assert axis.index("100 us") == last.index("B")
    assert all(len(line) <= 70 for line in lines)


def test_a_plot_needs_room_and_figures() -> None:
    assert tail_plot([{"p50": 10.0}], ("p50",), 59) == []
    assert tail_plot([{"count": 0}], ("p50",), 80) == []
    narrow = tail_plot([{"p50": 100.0}, {"p50": 101.0}], ("p50",), 60)
    assert len(narrow) == 2
    assert "100 us" in narrow[1], "a decade at least"


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_one_screen_holds_it(width: int) -> None:
    result = Result(sample.two_cases())
    lines = brief.render(result, width).splitlines()
    assert all(len(line) <= width for line in lines)
    if width >= 80:
        assert len(lines) <= 24
    text = " ".join(" ".join(lines).split())
    assert "suspend, against none: slowest 0.1 % of reads: 1.50 ms -> 900 us (-40 %)" in text
    assert text.index("suspend, against none") < text.index("read latency, us" if width >= 80 else "--full")


def test_the_hash_of_the_heading_covers_every_case() -> None:
    def label(*hashes: str) -> str:
        return summary.config_label([{"config_hash": each} for each in hashes])

    one, two, three = ("78a2919555a1c610149e926ac3b6db05", "f" * 32, "0" * 32)
    assert label(one) == f"config {one}"
    labels = {label(*each) for each in ((one, two), (two, one), (one, one), (one, three), (one, two, three))}
    assert len(labels) == 5
    assert all(re.fullmatch("config [0-9a-f]{32} of [23] cases", each) for each in labels)
    with pytest.raises(ValueError, match="config_hash 'x'"):
        label(one, "x")
    result = Result(sample.two_cases())
    heads = {render(result).splitlines()[0] for render in (brief.render, table.render)}
    cases = [case.raw for case in result.cases]
    assert heads == {f"interpulse 0.1.0, seed 1, {summary.config_label(cases)}"}
    assert result.config_hash == "0123456789abcdef", "that of the first case"


def test_what_is_not_to_be_trusted_comes_first() -> None:
    result = sample.two_cases()
    for each in result["cases"]:
        each["seeds"][0]["steady"] = {"verdict": "unknown"}
    lines = brief.render(Result(result), 100).splitlines()
    assert lines[2] == "window steady: too short to decide"
    assert lines[3].startswith("suspend, against none: ")
    of = result["cases"][1]["seeds"][0]
    of["latency_us"]["read"]["few"] = ["p99.9"]
    assert "~" in brief.render(Result(result), 100)
    assert "slowest 1 % of reads" in brief.render(Result(result), 100)


def test_failures_and_many_cases() -> None:
    result = sample.result(*(sample.case(f"c{number}", read_mean=100.0 + number) for number in range(12)))
    text = brief.render(Result(result), 100)
    assert "read p99.9 of 12 cases: least c0 600.0 us, most c11 666.0 us" in text
    assert re.search(r"^c11 ", text, re.MULTILINE), "each case has its row, without a letter"
    result["cases"][3]["seeds"][0] = {"seed": 1, "config_hash": "0" * 32, "error": "no room"}
    assert "c3: failed: no room" in brief.render(Result(result), 100)
    assert "c3: failed: no room" in table.render(Result(result), 100)


def test_readme_shows_what_the_demo_prints() -> None:
    command = [sys.executable, "-m", "interpulse", "run", "examples/demo.toml", "--no-cache"]
    ended = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True, env={**_plain(), "COLUMNS": "100"}
    )
    readme = (ROOT / "README.md").read_text()
    shown = readme.partition("<!-- demo:begin -->\n```text\n")[2].partition("```")[0]
    # The first line has a hash of all keys.
    assert shown == ended.stdout.partition("\n\n")[2], (
        "put the output of `interpulse run examples/demo.toml` into README"
    )
    assert len(shown.splitlines()) < 24


def _plain() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if name != "COLUMNS"}

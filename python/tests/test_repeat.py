"""Is a study that is run with several seeds the mean of as many studies, with Student's interval, however it is run?"""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any, cast

import pytest

from interpulse.plotting.plots import Plot, panels
from interpulse.studies.case import derived_seed
from interpulse.studies.outcome import Outcome, Row
from interpulse.studies.repeat import joined
from interpulse.studies.seed_overlay import overlay_seeds
from tests import experiment_sample
from tests.conftest import interrupted, process

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from interpulse.studies.outcome import Rows
    from tests.conftest import Ended

    Command = Callable[..., Ended]

T_2 = 4.302652729911275
"""t(0.975) of two degrees of freedom."""


@pytest.fixture
def mini(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """The miniature as the only experiment; how many cases each call of the simulator was given."""
    experiment_sample.install(monkeypatch, tmp_path)
    return experiment_sample.counted(monkeypatch)


def ours(result: dict[str, Any]) -> dict[str, float]:
    return {row["name"]: row["ours"] for row in result["rows"]}


def test_a_quick_run_is_of_three_seeds_and_each_is_a_run_of_its_own(interpulse: Command, mini: list[int]) -> None:
    result = interpulse("experiment", "mini", "--quick", "--json", "--seed", "4").json()
    assert (result["seed"], result["seeds"], mini) == (4, 3, [2, 2, 2])
    seeds = [derived_seed(4, repeat) for repeat in range(3)]
    assert [each["seed"] for each in result["each"]] == seeds
    alone = [
        ours(interpulse("experiment", "mini", "--quick", "--repeat", "1", "--json", "--seed", str(seed)).json())
        for seed in seeds
    ]
    assert [each["ours"] for each in result["each"]] == alone
    assert mini == [2, 2, 2], "what one seed left is not run again, whoever asks"
    for row in result["rows"]:
        values = [each[row["name"]] for each in alone]
        mean = sum(values) / 3
        half = T_2 * (sum((value - mean) ** 2 for value in values) / 2 / 3) ** 0.5
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((mean - half, mean + half))
        assert row["ours"] == pytest.approx(mean)
    assert len(set(alone[0].items()) & set(alone[1].items())) == 1, "chance moves all but the constant row"
    assert {row["name"]: row for row in result["rows"]}["own"]["ci_low"] == 1.5


def test_the_same_whatever_the_jobs_and_the_store(interpulse: Command, mini: list[int]) -> None:
    command = ("experiment", "mini", "--quick", "--json", "--repeat", "2")
    first = interpulse(*command).out
    assert interpulse(*command, "--no-cache", "--jobs", "1").out == first
    assert interpulse(*command).out == first
    assert mini == [2, 2, 2, 2]
    assert interpulse(*command, "--seed", "2").json()["config_hash"] != json.loads(first)["config_hash"]


def test_a_full_run_repeats_by_itself_and_never_twice(interpulse: Command, mini: list[int]) -> None:
    by_itself = interpulse("experiment", "mini", "--json").json()
    assert (by_itself["seeds"], mini) == (None, [6])
    assert "each" not in by_itself
    whole = interpulse("experiment", "mini", "--json", "--repeat", "3").json()
    assert mini == [6], "the same six cases: no case has three seeds for each of three"
    assert ours(whole) == pytest.approx(ours(by_itself))
    read = {row["name"]: (row["ci_low"], row["ci_high"]) for row in (*by_itself["rows"], *whole["rows"])}["read_mean"]
    assert read == pytest.approx((by_itself["rows"][0]["ci_low"], by_itself["rows"][0]["ci_high"]))
    alone = interpulse("experiment", "mini", "--json", "--repeat", "1").json()
    assert alone["rows"][0]["ci_low"] is None


def test_the_folder_says_what_each_seed_gave(interpulse: Command, mini: list[int], tmp_path: Path) -> None:
    ended = interpulse("experiment", "mini", "--quick", "--out", str(tmp_path / "out"))
    assert (ended.code, len(mini)) == (0, 3)
    assert "mini (quick, 3 seeds), interpulse" in ended.out
    assert " ± " in ended.out
    assert "95 % interval" in (tmp_path / "out" / "table.txt").read_text()
    with (tmp_path / "out" / "seeds.csv").open() as file:
        values = list(csv.DictReader(file))
    each = json.loads((tmp_path / "out" / "result.json").read_text())["each"]
    assert [(row["name"], int(row["seed"]), float(row["ours"])) for row in values] == [
        (name, one["seed"], value) for one in each for name, value in one["ours"].items()
    ]
    lines = (tmp_path / "out" / "means.csv").read_text().splitlines()
    assert lines[0] == "seed,case,mean_us"
    assert [line.split(",")[:2] for line in lines[1:]] == [
        [str(one["seed"]), case] for one in each for case in ("before", "after")
    ]


def test_progress_counts_all_seeds(interpulse: Command, mini: list[int]) -> None:
    lines = [line for line in interpulse("experiment", "mini", "--quick", "--json").err.splitlines() if "of" in line]
    assert lines[0] == "mini: 0 of 6 simulations"
    assert len(mini) == 3


@pytest.mark.usefixtures("mini")
@pytest.mark.parametrize("command", [("experiment", "mini"), ("characterize", "suspend"), ("papers",)])
@pytest.mark.parametrize(
    ("number", "what"),
    [("0", "0 is not in the range 1<=x<=1000"), ("1001", "1001 is not in the range"), ("x", "'x' is not a valid int")],
)
def test_a_number_that_cannot_be_is_refused(
    interpulse: Command, command: Sequence[str], number: str, what: str
) -> None:
    ended = interpulse(*command, "--quick", "--repeat", number)
    assert ended.code == 2
    assert "'--repeat'" in ended.error()
    assert what in ended.error()


def test_ctrl_c_keeps_the_seeds_that_did_not_wait_for_the_slowest(tmp_path: Path) -> None:
    """One of three seeds never ends; the others have, beside it, when Ctrl-C comes."""
    script = tmp_path / "script.py"
    script.write_text(experiment_sample.STOPPED)
    setups = str(experiment_sample.prepare(tmp_path / "setups"))
    running = process(str(script), "4", setups, "16", "--quick")
    code, out, err = interrupted(running, "waiting")
    assert (code, out) == (130, "")
    assert "interrupted after 4 of 6 simulations" in err
    assert "Traceback" not in err
    again = process(str(script), "go", setups, "16", "--quick")
    out, err = again.communicate(timeout=60)
    assert again.returncode == 0, err
    assert err.count("batch 2") == 1, "one seed was left"
    assert json.loads(out)["seeds"] == 3


class Found:
    """Rows as a study hands them back."""

    def __init__(self, *rows: Row) -> None:
        self._rows = list(rows)

    def ordered(self) -> list[Row]:
        return self._rows

    def put(self, row: Row) -> None:
        self._rows.append(row)


def outcome(*rows: Row, **more: Any) -> Outcome:  # noqa: ANN401 - as `Outcome`
    return Outcome(cast("Rows", Found(*rows)), **more)


def row(name: str, value: float | None, **more: Any) -> Row:  # noqa: ANN401 - as `Row`
    return Row(name, "Figure 1", "us", None, value, **more)


def together(*outcomes: Outcome) -> Outcome:
    return joined(cast("Rows", Found()), list(range(len(outcomes))), outcomes)


def test_a_bound_holds_where_it_holds_for_every_seed() -> None:
    failed = together(*(outcome(row("failures", value, high=0.0)) for value in (0.0, 0.0, 9.0)))
    (found,) = failed.rows.ordered()
    assert found.ci_low is not None
    assert found.ci_low < 0 < (found.ours or 0), "the interval alone would let it pass"
    assert found.holds is False
    (found,) = together(*(outcome(row("failures", 0.0, high=0.0)) for _ in range(3))).rows.ordered()
    assert (found.ours, found.ci_low, found.ci_high, found.holds) == (0.0, 0.0, 0.0, True)
    (found,) = together(*(outcome(row("mean", value)) for value in (1.0, 2.0))).rows.ordered()
    assert found.holds is None
    assert not failed.rows.ordered()[0].undecided


def test_seeds_on_both_sides_of_a_bound_leave_it_undecided() -> None:
    for values in ((-1.0, 2.0, 1.0), (0.1, 3.0, 1.0)):
        (found,) = together(*(outcome(row("change", value, low=0.0)) for value in values)).rows.ordered()
        assert found.undecided, values
    (found,) = together(*(outcome(row("change", value, low=0.0)) for value in (1.0, 1.1, 1.2))).rows.ordered()
    assert (found.holds, found.undecided) == (True, False)


def test_a_row_that_some_seeds_lack_says_so() -> None:
    found = together(
        outcome(row("a", 1.0), row("b", None), row("c", None)),
        outcome(row("a", 2.0), row("b", None), row("c", 5.0), row("d", 7.0)),
    )
    rows = {each.name: each for each in found.rows.ordered()}
    assert list(rows) == ["a", "b", "c", "d"]
    assert (rows["a"].ours, rows["b"].ours, rows["c"].ours, rows["d"].ours) == (1.5, None, 5.0, 7.0)
    assert rows["c"].ci_low is None
    assert {note for note in found.notes if "seeds have" in note} == {
        "c: 1 of 2 seeds have a figure",
        "d: 1 of 2 seeds have a figure",
    }


def test_what_differs_says_of_which_seed_it_is() -> None:
    found = together(
        outcome(row("a", 1.0), calibrated={"speed": 3, "on": "x"}, notes=["both", "one"], figures={"g": 1, "h": 2}),
        outcome(row("a", 1.0), calibrated={"speed": 4, "on": "x"}, notes=["both", "two"], figures={"g": 1, "h": 3}),
    )
    assert found.calibrated == {"speed": [3, 4], "on": "x"}
    assert found.notes[1:] == ["both", "seed 1 of 2: one", "seed 2 of 2: two"]
    assert found.figures == {"g": 1, "h": 2}
    assert [each["figures"] for each in found.each] == [{}, {"h": 3}]


def drawn(value: float, shift: float, *, across: bool) -> Plot:
    def draw() -> Figure:
        figure, (axis,) = panels(1, 1)
        if across:
            axis.barh([0, 1], [value, 5.0])
        else:
            axis.bar([0, 1], [value, 5.0])
        axis.plot([0, 1], [value, 2.0], color="#ff0000")
        axis.plot([shift, 1.0], [1.0, 1.0], color="#00ff00")
        axis.axhline(3.0)
        return figure

    return Plot("p", draw)


@pytest.mark.parametrize("across", [False, True])
def test_plots_show_means_with_intervals_and_curves_of_every_seed(*, across: bool) -> None:
    from matplotlib.container import BarContainer, ErrorbarContainer

    seeds = [drawn(value, shift, across=across) for value, shift in ((1.0, 0.0), (2.0, 0.1), (3.0, 0.2))]
    (plot,) = overlay_seeds([[each] for each in seeds])
    (axis,) = plot.draw().axes
    (bars,) = (each for each in axis.containers if isinstance(each, BarContainer))
    assert [bar.get_width() if across else bar.get_height() for bar in bars.patches] == [2.0, 5.0]
    intervals = [each for each in axis.containers if isinstance(each, ErrorbarContainer)]
    assert len(intervals) == 2, "of the bars and of the curve; what no seed moves has none"
    ((low, high),) = intervals[0].lines[2][0].get_segments()
    axis_of = 0 if across else 1
    assert (low[axis_of], high[axis_of]) == pytest.approx((2 - T_2 / 3**0.5, 2 + T_2 / 3**0.5))
    curves: dict[Any, list[Any]] = {}
    for line in axis.lines:
        curves.setdefault(line.get_color(), []).append(line)
    assert list(curves["#ff0000"][0].get_ydata()) == [2.0, 2.0]
    assert [line.get_xdata()[0] for line in curves["#00ff00"]] == [0.0, 0.1, 0.2]
    assert overlay_seeds([[replace(seeds[0], name="q")], []])[0].draw().axes, "a plot that one seed alone has stays"


@pytest.mark.parametrize("log", [False, True])
def test_a_curve_with_gaps_has_a_mean(log: bool) -> None:
    """On a logarithmic axis a gap is a value of 0, which counts; elsewhere there is no value."""

    def plot(value: float) -> Plot:
        def draw() -> Figure:
            figure, (axis,) = panels(1, 1)
            axis.plot([1, 2, 3], [3.0, value, nan])
            axis.set_yscale("log" if log else "linear")
            return figure

        return Plot("p", draw)

    (laid,) = overlay_seeds([[plot(nan)], [plot(2.0)], [plot(4.0)]])
    heights: Any = laid.draw().axes[0].lines[0].get_ydata()
    assert [str(float(y)) for y in heights] == ["3.0", "2.0" if log else "nan", "nan"]

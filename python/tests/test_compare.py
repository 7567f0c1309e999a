"""Does `interpulse compare` pair what belongs together, and say how far chance may have moved a ratio?"""

from __future__ import annotations

import csv
import io
import json
import math
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scipy import stats

import interpulse as package
from interpulse import Comparison, ConfigError, Result
from interpulse.runs.estimate import Estimate
from tests import sample
from tests.sample import ROOT
from tests.test_layout import WIDTHS, fits

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended

    Cli = Callable[..., Ended]


def run(
    seed: int = 1, *, factor: float = 1.0, name: str = "none", changed: dict[str, str] | None = None
) -> dict[str, Any]:
    """A result of one case; the mean read latency is 250 us times the factor."""
    case = sample.case(name, read_mean=250.0 * factor)
    settings = {"seed": str(seed), "part.preset": "a4-tlc", "flow.0.depth": "8", "precondition.seed": str(seed)}
    return {**case, "seed": seed, "config": settings | (changed or {})}


NO_RESULT = "{path} is not a result of `interpulse run`:"


def stored(path: Path, case: dict[str, Any]) -> str:
    path.write_text(json.dumps(sample.result(case)))
    return str(path)


def row(found: Comparison, figure: str) -> Any:  # noqa: ANN401 - a row
    (one,) = [row for row in found.rows if row.figure == figure]
    return one


def test_one_seed_gives_ratios_and_says_how_to_get_intervals() -> None:
    found = package.compare(Result(run()), Result(run(factor=1.25)))
    mean = row(found, "read mean")
    assert (mean.a, mean.b, mean.pairs) == (250.0, 312.5, 1)
    assert mean.ratio == pytest.approx(1.25)
    assert (mean.low, mean.high, mean.differs) == (None, None, None)
    assert any("no interval can be given from one seed" in note and "--seed 1" in note for note in found.notes)
    assert row(found, "all IOPS").ratio == pytest.approx(1.0)
    assert row(found, "erase suspensions").ratio is None, "nothing divided by nothing is no ratio"


def test_intervals_are_those_of_the_paired_logarithms() -> None:
    """Against SciPy's own paired test, on pairs whose ratios are known."""
    ratios = [1.10, 1.16, 1.12, 1.15]
    offsets = [1.0, 1.5, 0.7, 2.0]
    a = [Result(run(seed, factor=offset)) for seed, offset in enumerate(offsets, 1)]
    b = [Result(run(s, factor=o * r)) for s, (o, r) in enumerate(zip(offsets, ratios, strict=True), 1)]
    mean = row(package.compare(a, list(reversed(b))), "read mean")
    assert mean.pairs == 4
    logs = [math.log(ratio) for ratio in ratios]
    expected = stats.ttest_1samp(logs, 0.0).confidence_interval(0.95)
    assert mean.ratio == pytest.approx(math.exp(sum(logs) / 4))
    assert (mean.low, mean.high) == pytest.approx((math.exp(expected.low), math.exp(expected.high)))
    assert mean.differs is True
    noise = [
        Result(run(s, factor=o * r)) for s, (o, r) in enumerate(zip(offsets, [0.9, 1.1, 1.0, 1.02], strict=True), 1)
    ]
    assert row(package.compare(a, noise), "read mean").differs is False


def test_the_interval_has_the_coverage_that_it_claims() -> None:
    """2,000 comparisons of sides that differ by chance alone: 5 % are marked, within four standard errors."""
    chance = random.Random(1)
    marked = 0
    for _ in range(2000):
        logs = [chance.gauss(0.0, 0.1) for _ in range(5)]
        estimate = Estimate.of(logs)
        assert estimate.low is not None
        assert estimate.high is not None
        marked += not estimate.low <= 0 <= estimate.high
    assert abs(marked / 2000 - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 2000)


def test_equal_runs_differ_in_nothing() -> None:
    found = package.compare([Result(run(1)), Result(run(2))], [Result(run(1)), Result(run(2))])
    assert found.differences == []
    assert "The configurations are the same." in repr(found)
    assert {row.differs for row in found.rows} <= {False, None}
    assert all(row.ratio in (1.0, None) for row in found.rows)


def test_a_result_beside_itself_is_called_the_same_result() -> None:
    same = "A and B are the same result: every figure equals itself"
    one = Result(run(1))
    assert package.compare(one, one).notes == [same]
    assert same not in package.compare(one, Result(run(2))).notes
    two = Result(sample.two_cases())
    assert same in package.compare(two, two).notes
    assert same not in package.compare(two, two, cases="none=suspend").notes, "two cases are not the same"


def test_windows_that_may_be_of_another_phase_are_noted() -> None:
    unsure = run(1) | {"steady": {"verdict": "unknown"}}
    notes = package.compare(Result(unsure), Result(run(2))).notes
    assert any(note.startswith("1 of 2 windows were not steady or too short to decide: longer runs") for note in notes)


def test_what_differs_in_the_configuration_comes_first() -> None:
    b = run(changed={"flow.0.depth": "16", "new.key": "on"})
    found = package.compare(Result(run()), Result(b))
    assert [(each.key, each.a, each.b) for each in found.differences] == [
        ("flow.0.depth", "8", "16"),
        ("new.key", None, "on"),
    ]
    lines = found.text(100).splitlines()
    assert ["flow.0.depth", "8", "16", "all"] in [line.split() for line in lines]
    assert lines.index("What differs in the configuration") < next(k for k, x in enumerate(lines) if "read mean" in x)


def test_cases_are_paired_by_name_and_the_others_told() -> None:
    a = sample.result(run(name="x"), run(name="only-a"))
    b = sample.result(run(name="only-b"), run(name="x", factor=2.0))
    found = package.compare(Result(a), Result(b))
    assert {row.case for row in found.rows} == {"x"}
    assert row(found, "read mean").ratio == pytest.approx(2.0)
    assert "only A has only-a: left out" in found.notes
    assert "only B has only-b: left out" in found.notes


def test_cases_of_other_names_can_be_paired() -> None:
    both = Result(sample.two_cases())
    found = package.compare(both, both, cases="none=suspend")
    assert {row.case for row in found.rows} == {"none -> suspend"}
    assert row(found, "read mean").ratio == pytest.approx(0.6)
    single = package.compare(Result(run(name="p")), Result(run(name="q")))
    assert {row.case for row in single.rows} == {"p -> q"}, "the only case of each"
    for wrong in ("nonsense", "none=nonsense", "="):
        with pytest.raises(ConfigError, match="A has none, suspend; B has none, suspend"):
            package.compare(both, both, cases=wrong)
    with pytest.raises(ConfigError, match="pair them with --case one=other"):
        package.compare(both, Result(run(name="q")))


def test_seeds_that_cannot_be_paired() -> None:
    one, two, three = (Result(run(seed)) for seed in (1, 2, 3))
    assert any("the seeds differ" in note for note in package.compare(one, two).notes)
    found = package.compare([one, two], [two, three])
    assert row(found, "read mean").pairs == 1
    assert any("seeds that only one side has are left out (A has 1, 2; B has 2, 3)" in note for note in found.notes)
    with pytest.raises(ConfigError, match="no seed in common"):
        package.compare([one, two], [three])
    with pytest.raises(ConfigError, match="side A has case 'none' with seed 1 twice: result 1 and result 2"):
        package.compare([one, one], [two])
    other = Result(run(2, changed={"flow.0.depth": "9"}))
    with pytest.raises(ConfigError, match=r"not repetitions: flow\.0\.depth = 8 in result 1 and 9 in result 2"):
        package.compare([one, other], [one, two])


def test_repeated_cases_in_one_result() -> None:
    for whole in (sample.result, sample.version_1):
        a = whole(run(1), run(2, factor=1.1))
        b = whole(run(1, factor=1.3), run(2, factor=1.4))
        assert row(package.compare(Result(a), Result(b)), "read mean").pairs == 2


def test_doubtful_results_are_told() -> None:
    stopped = {key: run(name="y")[key] for key in ("schema_version", "version", "seed", "config_hash", "case")}
    a = sample.result(run(name="x"), {**stopped, "interrupted": True}, {**stopped, "case": "z", "error": "no room"})
    b = {**run(name="x"), "interrupted": True, "version": "0.9.9"}
    notes = "\n".join(package.compare(Result(a), Result(b)).notes)
    assert "case y of result 1 has no figures and is left out: it was interrupted" in notes
    assert "case z of result 1 has no figures and is left out: no room" in notes
    assert "B: case x of result 1 was interrupted: its figures are those of a shorter run" in notes
    assert "results of different versions (0.1.0 and 0.9.9)" in notes
    bare = {key: value for key, value in run().items() if key != "config"}
    assert any("does not hold its configuration" in n for n in package.compare(Result(bare), Result(run())).notes)
    with pytest.raises(ConfigError, match="side A has no case with figures"):
        package.compare(Result({**stopped, "interrupted": True}), Result(run()))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot read the result {path}: No such file or directory"),
        (b"", "{path} is empty: a result is what `interpulse run --out` writes"),
        (b"{", "{path} is not JSON: Expecting property name"),
        (b"\xff\xfe", "the result {path} is not UTF-8 text (byte 0)"),
        (b"[1, 2]", f"{NO_RESULT} a result is a JSON object, not list"),
        (b'{"cases": 3}', f"{NO_RESULT} seen schema_version = none; expected int"),
        (b'{"schema_version": 3}', f"{NO_RESULT} seen schema_version = 3; expected 1 or 2"),
        (b'{"schema_version": true}', f"{NO_RESULT} seen schema_version = True; expected int"),
        (b'{"schema_version": 2}', f"{NO_RESULT} seen cases = none; expected a list of at least one case"),
        (b'{"schema_version": 2, "cases": 3}', f"{NO_RESULT} seen cases = 3; expected a list of at least one case"),
        (b'{"schema_version": 2, "cases": []}', f"{NO_RESULT} seen cases = []; expected a list of at least one case"),
        (b'{"schema_version": 2, "cases": [3]}', f"{NO_RESULT} seen 3 among its cases; expected an object"),
        (b'{"schema_version": 2, "cases": [{"seeds": []}]}', f"{NO_RESULT} seen case = none; expected str"),
        (b'{"schema_version": 2, "cases": [{"case": "a"}]}', f"{NO_RESULT} seen seeds = none of case 'a'; expected"),
        (
            b'{"schema_version": 2, "cases": [{"case": "a", "seeds": {}}]}',
            f"{NO_RESULT} seen seeds = {{{{}}}} of case 'a'",
        ),
        (b'{"schema_version": 2, "cases": [{"case": "a", "seeds": [1]}]}', f"{NO_RESULT} seen 1 among its cases"),
        (b'{"schema_version": 1, "cases": 3}', f"{NO_RESULT} seen cases = 3; expected a list of cases"),
        (b'{"schema_version": 1, "cases": [3]}', f"{NO_RESULT} seen case = none; expected str"),
        (b'{"repeats": 3}', f"{NO_RESULT} seen repeats = 3; expected a list of results"),
        (b'{"repeats": [{}]}', f"{NO_RESULT} seen schema_version = none; expected int"),
        (b"{}", f"{NO_RESULT} seen schema_version = none; expected int"),
        (b'{"experiment": "fast12", "version": "1"}', "{path} is the result of the experiment 'fast12'"),
        (
            b'{"schema_version": 1, "version": "1", "seed": "x", "case": "a"}',
            f"{NO_RESULT} seen seed = 'x'; expected int",
        ),
    ],
)
def test_what_is_no_result_is_one_line_and_code_2(
    interpulse: Cli, tmp_path: Path, content: bytes | None, message: str
) -> None:
    good, bad = stored(tmp_path / "good.json", run()), tmp_path / "bad.json"
    if content is not None:
        bad.write_bytes(content)
    for sides in ([good, str(bad)], [str(bad), good]):
        ended = interpulse("compare", *sides)
        assert (ended.code, ended.out) == (2, "")
        assert ended.error().startswith(message.format(path=bad))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one"], "1 result: compare takes two, or all of A, then --, then all of B"),
        (["one", "two", "three"], "3 results: compare takes two"),
        (["one", "two", "--json", "--csv"], "--json or --csv, not both"),
        (["missing", "folder"], "cannot read the result missing: No such file"),
    ],
)
def test_arguments_that_say_nothing(interpulse: Cli, arguments: list[str], message: str) -> None:
    ended = interpulse("compare", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert ended.error().startswith(message)


def sides(tmp_path: Path) -> list[str]:
    """Three runs of each side as the command line takes them, files and folders."""
    names = []
    for side, factor in (("a", 1.0), ("b", 1.25)):
        for seed in (1, 2, 3):
            folder = tmp_path / f"{side}{seed}"
            folder.mkdir()
            stored(folder / "result.json", run(seed, factor=factor * (1 + seed / 50)))
            names.append(str(folder if seed == 1 else folder / "result.json"))
    return [*names[:3], "--", *names[3:]]


def test_the_command_line(interpulse: Cli, tmp_path: Path) -> None:
    arguments = sides(tmp_path)
    ended = interpulse("compare", *arguments)
    assert ended.code == 0
    rows = [line.split() for line in ended.out.splitlines()]
    assert ["read", "mean,", "us", "260", "325", "1.25", "1.25", "..", "1.25", "*"] in rows
    assert "none, 3 seeds" in ended.out
    assert "chance alone marks about" in ended.out
    against = [*arguments[:3], *(part for path in arguments[4:] for part in ("--against", path))]
    assert interpulse("compare", *against).out == ended.out


def test_folders_of_repeated_runs_are_all_their_seeds(interpulse: Cli, tmp_path: Path) -> None:
    for name, factor in (("a", 1.0), ("b", 1.25)):
        for seed in (1, 2, 10):
            (tmp_path / name / f"seed-{seed}").mkdir(parents=True)
            stored(tmp_path / name / f"seed-{seed}" / "result.json", run(seed, factor=factor))
    ended = interpulse("compare", str(tmp_path / "a"), str(tmp_path / "b"))
    assert "none, 3 seeds" in ended.out
    assert re.findall(r"seed-(\d+)", ended.out.split("against")[0])[:3] == ["1", "2", "10"], ended.out[:500]


def test_json_and_csv(interpulse: Cli, tmp_path: Path) -> None:
    arguments = sides(tmp_path)
    found = interpulse("compare", "--json", *arguments).json()
    assert (len(found["a"]), len(found["b"]), found["confidence"]) == (3, 3, 0.95)
    (mean,) = [each for each in found["rows"] if each["figure"] == "read mean"]
    assert mean["ratio"] == pytest.approx(1.25)
    assert mean["differs"] is True
    rows = list(csv.DictReader(io.StringIO(interpulse("compare", "--csv", *arguments).out)))
    assert [each["figure"] for each in rows] == [each["figure"] for each in found["rows"]]
    assert float(next(each for each in rows if each["figure"] == "read mean")["ratio"]) == mean["ratio"]
    assert next(each for each in rows if each["figure"] == "erase suspensions")["ratio"] == ""


def test_a_comparison_is_readable_and_fits() -> None:
    name = "<a case> " + "of a long name, " * 4
    several = [[Result(run(seed, factor=f * seed, name=name)) for seed in (1, 2)] for f in (1.0, 1.2)]
    found = package.compare(*several)
    for width in WIDTHS:
        fits(found.text(width), width)
        for figure in ("read mean", "amplification"):
            assert figure in " ".join(found.text(width).split())
    html = found._repr_html_()
    assert "&lt;a case&gt;" in html
    assert "<a case>" not in html
    assert json.loads(found.to_json())["rows"]


def test_real_results(tmp_path: Path) -> None:
    """Two depths of a real drive: what was changed is found, and throughput rises with the depth."""
    config = package.Config.load(ROOT / "examples" / "small.toml").set("run.requests", 3000).set("flow.0.depth", 1)
    deeper = config.copy().set("flow.0.depth", 8)
    a, b = ([package.run(each, seed=seed, no_cache=True) for seed in (1, 2)] for each in (config, deeper))
    (tmp_path / "result.json").write_text(b[0].to_json())
    found = package.compare(a, [tmp_path, b[1]])
    assert {(each.key, each.a, each.b) for each in found.differences} == {("flow.0.depth", "1", "8")}
    for case in config.case_names:
        (iops,) = [row for row in found.rows if (row.case, row.figure) == (case, "all IOPS")]
        assert iops.ratio is not None
        assert iops.ratio > 1.1
        assert iops.pairs == 2
    names = {row.figure for row in found.rows}
    assert {"bandwidth", "mean power", "energy per request", "program suspensions", "read p99.99"} <= names

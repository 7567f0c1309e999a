"""Does the schema accept what a result may be, refuse what it may not, and is there only one of it?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

import interpulse as package
from interpulse import Result
from tests import sample

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended


def test_the_documented_schema_is_the_installed_one() -> None:
    documented = sample.ROOT / "docs" / "result.schema.json"
    assert documented.read_bytes() == (sample.PACKAGE / "result.schema.json").read_bytes()
    jsonschema.Draft202012Validator.check_schema(sample.SCHEMA)


@pytest.mark.parametrize(
    "result", [sample.result(sample.case("only")), sample.two_cases()], ids=["one case", "two cases"]
)
def test_a_result_is_accepted(result: dict[str, Any]) -> None:
    sample.check(result)
    sample.check(result | {"new_key": 1}, closed=False)


def test_every_command_that_prints_a_result_prints_this_shape(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    """With one case and several, one seed and several; printed, stored and read again."""
    one = 'drive = "a4-mini"\n[run]\nrequests = 2000\n[[flow]]\nname = "a"\n'
    two = f'{one}[[case]]\nname = "x"\n[[case]]\nname = "y"\nset = ["flow.0.depth=4"]\n'
    for name, text, cases in (("one", one, ["run"]), ("two", two, ["x", "y"])):
        config = tmp_path / f"{name}.toml"
        config.write_text(text)
        for options, seeds in (((), [1]), (("--seed", "7"), [7]), (("--repeat", "2"), [1, 2])):
            out = tmp_path / f"{name}-{len(seeds)}-{seeds[0]}"
            ended = interpulse("run", str(config), *options, "--no-cache", "--json", "--out", str(out))
            assert ended.code == 0, ended.err
            printed = ended.json()
            sample.check(printed)
            assert list(printed) == ["schema_version", "version", "config_file", "config_hash", "cases"]
            assert printed["config_file"] == f"{name}.toml"
            assert [case["case"] for case in printed["cases"]] == cases
            assert [[seed["seed"] for seed in case["seeds"]] for case in printed["cases"]] == [seeds] * len(cases)
            assert printed["config_hash"] == sample.seed(printed)["config_hash"]
            result = Result.from_json(ended.out)
            assert result.to_json() == ended.out.strip()
            for at, each in enumerate(result.seeds):
                stored = out / f"seed-{seeds[at]}" / "result.json" if len(seeds) > 1 else out / "result.json"
                found = json.loads(stored.read_text())
                sample.check(found)
                assert found == each.document
    assert Result(package.run(package.Config.load(tmp_path / "one.toml")).raw).document.keys() == {
        *("schema_version", "version", "config_hash", "cases")
    }


def test_the_example_of_the_page_has_this_shape() -> None:
    page = (sample.ROOT / "docs" / "RESULTS.md").read_text()
    text = page.partition("```json\n")[2].partition("```")[0]
    shape = json.loads(json.dumps(sample.SCHEMA))
    # The example leaves figures out, which `required` demands.
    del shape["$defs"]["seed"]["else"], shape["$defs"]["latency"]["else"]
    shape["$defs"]["latency"]["required"] = shape["$defs"]["latency_by_kind"]["required"] = []
    del shape["$defs"]["latency"]["then"]
    jsonschema.validate(json.loads(text), sample.close(shape))
    assert [case.case for case in Result.from_json(text).cases] == ["no-suspend", "suspend-10"]


@pytest.mark.parametrize("cases", [1, 2])
@pytest.mark.parametrize("seeds", [1, 3])
def test_version_1_is_read_as_version_2_is(cases: int, seeds: int) -> None:
    by_seed = [
        [sample.case(name, read_mean=100.0 + seed) | {"seed": seed} for name in ("none", "suspend")[:cases]]
        for seed in range(1, seeds + 1)
    ]
    old: dict[str, Any] = {"repeats": [sample.version_1(*each) for each in by_seed]}
    if seeds == 1:
        old = old["repeats"][0]
    new = sample.result(*(case for each in by_seed for case in each))
    sample.check(new)
    one, other = Result.from_json(json.dumps(old)), Result.from_json(json.dumps(new))
    assert one.document == other.document == new
    assert one.raw == other.raw == by_seed[0][0]
    assert [case.case for case in one.cases] == ["none", "suspend"][:cases]
    assert [seed.seed for seed in one.seeds] == [*range(1, seeds + 1)]
    assert [[case.raw for case in seed.cases] for seed in one.seeds] == by_seed
    assert one.to_arrow().num_rows == 3 * cases * seeds
    assert repr(one) == repr(other)


@pytest.mark.parametrize("command", ["compare", "report"])
def test_results_of_both_versions_are_compared_and_reported(
    command: str, interpulse: Callable[..., Ended], tmp_path: Path
) -> None:
    """Several seeds in one document count as folders of single seeds do."""
    seeds = [sample.case("none", read_mean=100.0 + seed) | {"seed": seed} for seed in (1, 2, 3)]
    texts = {
        "new.json": sample.result(*seeds),
        "repeats.json": {"repeats": [sample.version_1(each) for each in seeds]},
        **{f"old-{each['seed']}.json": sample.version_1(each) for each in seeds},
    }
    for name, raw in texts.items():
        (tmp_path / name).write_text(json.dumps(raw))
    sides = [["new.json"], ["repeats.json"], ["old-1.json", "old-2.json", "old-3.json"]]
    for at, side in enumerate(sides):
        names = [str(tmp_path / name) for name in side]
        if command == "compare":
            ended = interpulse("compare", "--json", str(tmp_path / "new.json"), "--", *names)
            assert ended.code == 0, ended.err
            rows = ended.json()["rows"]
            assert rows
            assert {(row["pairs"], row.get("ratio", 1)) for row in rows} == {(3, 1)}, rows
        else:
            ended = interpulse("report", *names, "--out", str(tmp_path / f"{at}.html"))
            assert ended.code == 0, ended.err
            assert "seeds 1, 2, 3" in (tmp_path / f"{at}.html").read_text()


def broken(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    result = sample.two_cases()
    for seed in sample.seeds(result):
        change(seed)
    return result


@pytest.mark.parametrize(
    "change",
    [
        lambda case: case.pop("iops"),
        lambda case: case.pop("latency_us"),
        lambda case: case.update(iops=None),
        lambda case: case.update(cases=[]),
        lambda case: case.update(not_documented=1),
        lambda case: case["latency_us"]["read"].pop("p99.99"),
        lambda case: case["latency_us"]["read"].update(count=0),
        lambda case: case["latency_us"]["read"].update(p95=1.0),
        lambda case: case["ftl"].update(erases=1.5),
        lambda case: case["nand"]["suspends"].pop("erase"),
        lambda case: case["time_share"].update(idle=1.01),
        lambda case: case["read_wait_us"].update(bus=-1.0),
        lambda case: case["tail_blame"].update({"p99.999": case["tail_blame"]["p99"]}),
        lambda case: case["tail_blame"]["p99"].pop("above_us"),
        lambda case: case["tail_blame"]["p99"]["shares"].update(bus=1.5),
        lambda case: case["oldest_outstanding_us"].update(all=1.0),
        lambda case: case.update(histogram_us={"read": []}),
        lambda case: case.update(histogram_us={"read": [[1.0, 0]], "write": []}),
        lambda case: case.update(histogram_us={"read": [[1.0]], "write": []}),
    ],
)
def test_a_broken_result_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(jsonschema.ValidationError):
        sample.check(broken(change))


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw.update(schema_version=1),
        lambda raw: raw.update(cases=[]),
        lambda raw: raw.pop("cases"),
        lambda raw: raw.pop("config_hash"),
        lambda raw: raw.update(config_file=None),
        lambda raw: raw.update(interrupted=False),
        lambda raw: raw.update(iops=1.0),
        lambda raw: raw["cases"][0].pop("case"),
        lambda raw: raw["cases"][0].update(seeds=[]),
        lambda raw: raw["cases"][0].update(iops=1.0),
        lambda raw: sample.seed(raw).update(case="none"),
    ],
)
def test_a_broken_document_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    result = sample.two_cases()
    change(result)
    with pytest.raises(jsonschema.ValidationError):
        sample.check(result)


@pytest.mark.parametrize(
    "change",
    [
        lambda case: case["time_share"].update(idle=0.26),
        lambda case: case["read_wait_us"].update(bus=11.0),
        lambda case: case["flows"][0].update(host_requests=1),
        lambda case: case["tail_blame"]["p99"]["shares"].update(bus=0.01),
        lambda case: case["tail_blame"].pop("p99.9"),
        lambda case: case["tail_blame"]["p99"].update(reads=2),
        lambda case: case.update(histogram_us={"read": [[1.0, 75_000]], "write": [[1.0, 24_999]]}),
    ],
)
def test_sums_that_do_not_hold_are_noticed(change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(AssertionError):
        sample.check(broken(change))


def test_the_page_of_results_names_every_key() -> None:
    page = (sample.ROOT / "docs" / "RESULT-KEYS.md").read_text()
    described = sample.SCHEMA["$defs"]["seed"]["properties"]
    nested = [key for name in ("ftl", "nand") for key in described[name]["properties"]]
    nested += [key for name in ("tail", "time_share", "die") for key in sample.SCHEMA["$defs"][name]["properties"]]
    for key in [*described, *nested, *sample.SCHEMA["properties"], *sample.SCHEMA["$defs"]["case"]["properties"]]:
        assert key in page, f"docs/RESULT-KEYS.md says nothing about {key}"

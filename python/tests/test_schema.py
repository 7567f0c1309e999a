"""Does the schema accept what a result may be, refuse what it may not, and is there only one of it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from tests import sample

if TYPE_CHECKING:
    from collections.abc import Callable


def test_the_documented_schema_is_the_installed_one() -> None:
    documented = sample.ROOT / "docs" / "result.schema.json"
    assert documented.read_bytes() == (sample.PACKAGE / "result.schema.json").read_bytes()
    jsonschema.Draft202012Validator.check_schema(sample.SCHEMA)


@pytest.mark.parametrize("result", [sample.case("only"), sample.two_cases()], ids=["one case", "two cases"])
def test_a_result_is_accepted(result: dict[str, Any]) -> None:
    sample.check(result)
    sample.check(result | {"new_key": 1}, closed=False)


def broken(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    result = sample.two_cases()
    for case in result["cases"]:
        change(case)
    return result


@pytest.mark.parametrize(
    "change",
    [
        lambda case: case.pop("iops"),
        lambda case: case.pop("latency_us"),
        lambda case: case.update(iops=None),
        lambda case: case.update(schema_version=2),
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
    page = (sample.ROOT / "docs" / "RESULTS.md").read_text()
    described = sample.SCHEMA["$defs"]["case"]["properties"]
    nested = [key for name in ("ftl", "nand") for key in described[name]["properties"]]
    nested += [key for name in ("tail", "time_share", "die") for key in sample.SCHEMA["$defs"][name]["properties"]]
    for key in [*described, *nested, "cases"]:
        assert key in page, f"docs/RESULTS.md says nothing about {key}"

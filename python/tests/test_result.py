"""Do `Result` and its frames give the figures of the JSON, and say so when there is none?"""

from __future__ import annotations

import json

import pytest

from interpulse import Result
from tests import sample


@pytest.fixture
def result() -> Result:
    return Result(sample.two_cases(), notes=["a note"])


def test_figures(result: Result) -> None:
    assert result.case == "none"
    assert result.iops == 222_000
    assert result.latency_us["read"]["p99"] == 1000
    assert result.percentile("read", 99.9) == 1500
    assert result.percentile("write", 100) == 7500
    assert result.flows[0]["name"] == "host"
    assert result.tail_blame["p99.9"]["reads"] == 75
    assert result.tail_blame["p99"]["shares"]["programs"] == 0.75
    assert result.counters == {"ftl": {"gc_runs": 40}}
    assert result.notes == ["a note"]
    assert [case.case for case in result.cases] == ["none", "suspend"]
    assert not result.interrupted
    assert repr(result) == (
        "Result of 2 cases, seed 1\n  none: 222,000 IOPS, read p99 1,000 us, write p99 2,000 us\n"
        "  suspend: 335,000 IOPS, read p99 600.0 us, write p99 1,200 us"
    )


def test_one_case_is_a_list_of_itself() -> None:
    result = Result(sample.case("only"))
    assert result.cases == [result]


def test_json_round_trip(result: Result) -> None:
    assert Result.from_json(result.to_json()).document == result.document == json.loads(result.to_json(indent=2))
    with pytest.raises(ValueError, match="a result is a JSON object"):
        Result.from_json("[1]")


def test_a_percentile_that_is_not_there(result: Result) -> None:
    with pytest.raises(ValueError, match=r"no percentile 95: a result holds 50, 90, 99, 99.9, 99.99, 99.999, 100"):
        result.percentile("read", 95)
    with pytest.raises(ValueError, match="no kind of requests 'reads'; expected one of read, write, all"):
        result.percentile("reads", 99.9)  # type: ignore[arg-type]
    result.latency_us["write"].clear()
    with pytest.raises(ValueError, match="no write request completed in case 'none'"):
        result.percentile("write", 99)


def test_arrow(result: Result) -> None:
    table = result.to_arrow()
    assert table.num_rows == 6
    assert table.column_names[:7] == ["case", "seed", "flow", "kind", "count", "iops", "mean_us"]
    assert table.column_names[-2:] == ["p99.999_us", "max_us"]
    first = table.to_pylist()[0]
    assert (first["case"], first["flow"], first["kind"], first["iops"]) == ("none", None, "read", 166_500)
    assert table.schema.metadata[b"config_hash"] == b"0123456789abcdef"


def test_arrow_by_flow_and_without_requests() -> None:
    case = sample.case("only")
    case["flows"][0]["latency_us"] = {"read": {"count": 0}, "write": {"count": 0}, "all": {"count": 0}}
    rows = Result(case).to_arrow(flows=True).to_pylist()
    assert [(row["flow"], row["kind"], row["count"], row["iops"], row["mean_us"]) for row in rows] == [
        ("host", kind, 0, None, None) for kind in ("read", "write", "all")
    ]


def test_polars(result: Result) -> None:
    frame = result.to_polars()
    assert frame.shape == (6, 14)
    assert frame.filter(kind="all")["iops"].to_list() == [222_000, 335_000]

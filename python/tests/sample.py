"""A result as the core writes it, with sums that hold, and the checks that every result has to pass."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema

from interpulse.runs.latency import KINDS

PACKAGE = Path(__file__).parent.parent / "interpulse"
ROOT = PACKAGE.parent.parent
SCHEMA: dict[str, Any] = json.loads((PACKAGE / "result.schema.json").read_text())

TIMING = ("wall_s", "cpu_s", "requests_per_cpu_s")
"""The fields that may differ between two equal runs."""


def summary(count: int, mean: float) -> dict[str, float]:
    """A latency summary with a long tail."""
    if not count:
        return {"count": 0}
    factors = {"p50": 0.8, "p90": 2, "p99": 4, "p99.9": 6, "p99.99": 9, "p99.999": 12, "max": 15}
    return {"count": count, "mean": mean, **{name: mean * factor for name, factor in factors.items()}}


def tail(name: str, reads: int, mean: float) -> dict[str, Any]:
    """A tail of reads that waited for programs and a little for erases."""
    share = {"p99": 0.01, "p99.9": 0.001, "p99.99": 0.0001}[name]
    above = summary(reads, mean)[name]
    return {
        "above_us": above,
        "reads": math.ceil(reads * share),
        "mean_us": 1.25 * above,
        "shares": {"programs": 0.75, "erases": 0.246, "sensing": 0.004, "retry": 0.0},
    }


def case(name: str, *, iops: float = 222_000.0, read_mean: float = 250.0, suspends: int = 0) -> dict[str, Any]:
    """The flat result of one case and seed, the `raw` of a `Result`."""
    latency = {
        "read": summary(75_000, read_mean),
        "write": summary(25_000, 2 * read_mean),
        "all": summary(100_000, 1.25 * read_mean),
    }
    return {
        "schema_version": 2,
        "version": "0.1.0",
        "seed": 1,
        "config_hash": "0123456789abcdef",
        "case": name,
        "simulated_s": 100_000 / iops,
        "wall_s": 0.05,
        "cpu_s": 0.04,
        "host_requests": 100_000,
        "requests_per_cpu_s": 2_500_000.0,
        "iops": iops,
        "latency_us": latency,
        "ftl": {
            "waf": 2.4,
            "host_pages": 25_000,
            "programmed_pages": 60_000,
            "gc_runs": 40,
            "gc_pages_moved": 35_000,
            "erases": 40,
            "effective_spare_factor": 0.2222,
        },
        "nand": {
            "reads": 110_000,
            "programs": 5_000,
            "erases": 40,
            "suspends": {"program": suspends, "erase": 0},
            "program_us": {**summary(5_000, 2_100.0), "by_suspends": [5_000], "most_suspends": 0},
            "erase_us": {**summary(40, 5_000.0), "by_suspends": [40], "most_suspends": 0},
        },
        "time_share": {
            "idle": 0.25,
            "reading": 0.25,
            "programming": 0.375,
            "erasing": 0.0625,
            "suspended": 0.03125,
            "waiting_for_bus": 0.03125,
        },
        "read_wait_us": {"queued_behind_program": read_mean - 90.0, "sensing": 80.0, "bus": 10.0, "retry": 0.0},
        "write_wait_us": {"cache": 2 * read_mean - 30.0, "firmware": 30.0},
        "tail_blame": {name: tail(name, 75_000, read_mean) for name in ("p99", "p99.9", "p99.99")},
        "oldest_outstanding_us": {"read": 90.0, "write": 400.0},
        "flows": [{"name": "host", "host_requests": 100_000, "iops": iops, "latency_us": latency}],
        "counters": {"ftl": {"gc_runs": 40}},
        "audits": {"requests_issued_and_completed": 100_000},
        "config": {"part.preset": "a4-tlc", "ftl.over-provisioning": "0.3"},
    }


def result(*cases: dict[str, Any]) -> dict[str, Any]:
    """The document of flat results; those with the same name are seeds of one case."""
    shared = ("schema_version", "version", "case")
    root = {key: cases[0][key] for key in (*shared[:2], "config_hash")}
    if any("interrupted" in case for case in cases):
        root["interrupted"] = True
    by_name: dict[str, list[dict[str, Any]]] = {}
    for each in cases:
        by_name.setdefault(each["case"], []).append({k: v for k, v in each.items() if k not in shared})
    return root | {"cases": [{"case": name, "seeds": seeds} for name, seeds in by_name.items()]}


def version_1(*cases: dict[str, Any]) -> dict[str, Any]:
    """The same in version 1: the first case at the root, and `cases` only when there are several."""
    old = [{**case, "schema_version": 1} for case in cases]
    return {**old[0], "cases": old} if len(old) > 1 else old[0]


def seed(result: dict[str, Any], case: int = 0, number: int = 0) -> dict[str, Any]:
    """A seed of a case in a document, to be read or changed in place."""
    found: dict[str, Any] = result["cases"][case]["seeds"][number]
    return found


def seeds(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Every seed of every case of a document."""
    return [each for case in result["cases"] for each in case["seeds"]]


def two_cases() -> dict[str, Any]:
    """What comparing no suspension with suspension looks like."""
    return result(case("none"), case("suspend", iops=335_000.0, read_mean=150.0, suspends=16_000))


def check(result: dict[str, Any], *, closed: bool = True) -> None:
    """Holds a result against the schema and against the sums that it promises.

    `closed`: a key that the schema does not describe is an error too, so that documentation cannot fall behind.
    """
    schema = close(SCHEMA) if closed else SCHEMA
    jsonschema.Draft202012Validator(schema).validate(result)
    for each in seeds(result):
        if "error" not in each and not each.get("interrupted"):
            _check_sums(each)


def _check_sums(case: dict[str, Any]) -> None:
    latency = case["latency_us"]
    assert latency["read"]["count"] + latency["write"]["count"] <= latency["all"]["count"]
    assert latency["all"]["count"] == case["host_requests"]
    assert math.isclose(sum(case["time_share"].values()), 1.0, abs_tol=1e-6)
    for kind in KINDS:
        values = [latency[kind][name] for name in latency[kind] if name not in ("count", "mean", "interval", "few")]
        assert values == sorted(values), f"{kind} percentiles do not rise: {latency[kind]}"
    for kind in ("read", "write"):
        if "array" in case:
            assert case[f"{kind}_wait_us"] == {}, "a request is several commands at several drives"
            continue
        parts = sum(case[f"{kind}_wait_us"].values())
        assert math.isclose(parts, latency[kind].get("mean", 0.0), rel_tol=1e-6)
    assert sum(flow["host_requests"] for flow in case["flows"]) == case["host_requests"]
    if "array" in case:
        assert case["tail_blame"] == {}
    else:
        _check_tails(case["tail_blame"], latency["read"])
    for group in (case, *case["flows"]):
        for kind, buckets in group.get("histogram_us", {}).items():
            assert sum(count for _, count in buckets) == group["latency_us"][kind]["count"]
            assert [bound for bound, _ in buckets] == sorted({bound for bound, _ in buckets})


def _check_tails(tails: dict[str, Any], read: dict[str, float]) -> None:
    for name, one_in in (("p99", 100), ("p99.9", 1000), ("p99.99", 10_000)):
        assert (name in tails) == (read["count"] >= one_in)
        if name in tails:
            tail = tails[name]
            assert tail["reads"] * one_in >= read["count"] >= tail["reads"]
            assert math.isclose(sum(tail["shares"].values()), 1.0, abs_tol=1e-9)
            assert tail["above_us"] < tail["mean_us"] <= read["max"] * (1 + 1e-12)
            # The percentile is the middle of a bucket, of which the threshold is the lower end, or that of the request
            # before the tail, where the tail is exactly that share.
            assert tail["above_us"] <= read[name] or tail["reads"] * one_in == read["count"]


def close(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with unknown keys refused wherever it describes an object's keys."""

    def walk(node: Any) -> Any:  # noqa: ANN401 - a schema is any JSON
        if isinstance(node, list):
            return [walk(each) for each in node]
        if not isinstance(node, dict):
            return node
        new = {key: walk(each) for key, each in node.items()}
        described = "properties" in node and node.get("type") == "object"
        if described and "additionalProperties" not in node:
            # Unlike `additionalProperties`, this one sees the keys that a `$ref` beside it describes.
            new["unevaluatedProperties"] = False
        return new

    closed: dict[str, Any] = walk(schema)
    return closed


def without_timing(result: dict[str, Any]) -> dict[str, Any]:
    """The result without the fields that may differ between two equal runs."""
    kept = {key: value for key, value in result.items() if key not in TIMING}
    for key in ("cases", "seeds"):
        if key in kept:
            kept[key] = [without_timing(each) for each in kept[key]]
    return kept

"""Does a configuration with an array run from the command line, keep the schema, and tell mistakes?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import interpulse as package
from interpulse.cli.table import render
from interpulse.configuration.config import load_with_sets
from tests.sample import ROOT, check, without_timing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended

    Cli = Callable[..., Ended]

RAID5 = str(ROOT / "examples" / "raid5.toml")
SHORT = ["run.requests=4000", "part.blocks-per-plane=24"]


def options(*settings: str) -> list[str]:
    return [option for each in (*SHORT, *settings) for option in ("--set", each)]


@pytest.fixture(scope="module")
def result() -> package.Result:
    """One short run of the example, shared by the tests that only read it."""
    return package.run(load_with_sets(Path(RAID5), SHORT), no_cache=True)


def test_the_result_keeps_the_schema_and_its_sums(result: package.Result) -> None:
    healthy, degraded, rebuilding = (case.raw["array"] for case in result.cases)
    for case in result.cases:
        check(case.document)
        array = case.raw["array"]
        assert array["level"] == "raid5"
        counters = array["counters"]
        rows = sum(counters[name] for name in ("full_stripe_writes", "read_modify_writes", "reconstruct_writes"))
        assert counters["parity_pages"] <= rows
        assert array["parity_per_data_page"] == counters["parity_pages"] / counters["data_pages"]
        assert sum(flow["host_requests"] for flow in case.raw["flows"]) == case.raw["host_requests"] == 4000
    assert "failed_drive" not in healthy
    assert len(healthy["per_drive"]) == 4
    assert healthy["counters"]["degraded_reads"] == 0
    assert degraded["failed_drive"] == 1
    failure = {"drive": 1, "at_s": 0.0, "cause": "chosen", "media_error_pages": 0, "replaced": False}
    assert degraded["failures"] == [failure]
    assert rebuilding["failures"] == [failure | {"replaced": True}]
    assert degraded["per_drive"][1]["latency_us"]["all"] == {"count": 0}
    assert "rebuild" not in degraded
    assert len(rebuilding["per_drive"]) == 5
    assert 0 < rebuilding["rebuild"]["progress"] <= 1


def test_the_same_seed_gives_the_same_result(interpulse: Cli, result: package.Result) -> None:
    ended = interpulse("run", RAID5, "--json", "--no-cache", "--jobs", "1", *options())
    assert ended.code == 0
    assert without_timing(ended.json()) == without_timing(result.document)


def test_the_drives_of_the_example_collect_garbage() -> None:
    cases = package.run(load_with_sets(Path(RAID5), [*SHORT, "run.requests=8000"]), no_cache=True).cases
    assert all(case.raw["ftl"]["gc_pages_moved"] > 0 for case in cases)
    assert cases[0].raw["ftl"]["waf"] > 1.1


def test_the_table_shows_what_the_array_did(result: package.Result) -> None:
    text = render(result)
    for row in ("parity pages per data page", "rows written with a drive missing", "rebuild done, %"):
        assert row in text


@pytest.mark.parametrize("level", ["raid0", "raid1", "raid6", "raid10"])
def test_the_other_levels_keep_the_schema(level: str) -> None:
    settings = [*SHORT, f"array.level={level}", "run.requests=500"]
    text = Path(RAID5).read_text(encoding="utf-8").split("[[case]]")[0]
    if level != "raid6":
        text = text.replace("stripe-cache = 256", "")
    if level == "raid1":
        text = text.replace('chunk = "64KiB"', "")
    lossy = [] if level == "raid0" else ["array.fail-drive=1", "array.rebuild-rate=200MiB"]
    config = package.Config.from_toml(text)
    for setting in (*settings, *lossy):
        config.set(*setting.split("=", 1))
    result = package.run(config, no_cache=True)
    check(result.document)
    array = result.cases[0].raw["array"]
    assert array["level"] == level
    assert [failure["drive"] for failure in array.get("failures", [])] == ([1] if lossy else [])


def test_a_single_drive_has_no_array() -> None:
    single = package.run(load_with_sets(ROOT / "examples" / "small.toml", ["run.requests=500"]), no_cache=True)
    assert "array" not in single.raw
    assert "parity pages" not in render(single)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("array.level=raid3", 'array.level: seen "raid3"; expected one of raid0, raid1, raid5, raid6, raid10'),
        ("array.fail-drive=[0,1]", "array.fail-drive: seen [0, 1]; expected drives whose failure the level tolerates"),
        ("array.fail-after-errors=0", "array.fail-after-errors: seen 0; expected a whole number"),
        ("array.level=raid5x", '(did you mean "raid5"?)'),
        ("array.drives=1", "array.drives: seen 1; expected a whole number from 3 to 32"),
        ("array.drives=many", 'array.drives: seen "many"; expected a whole number'),
        ("array.chunk=48KiB", 'array.chunk: seen "48KiB"; expected a power of two'),
        ("array.chunk=0KiB", "array.chunk: seen"),
        ("array.stripe-cache=0", "array.stripe-cache: seen 0; expected a whole number from 17 to 32768"),
        ("array.stripe-cache-unit=rows", 'array.stripe-cache-unit: seen "rows"; expected one of page, chunk'),
        (
            "array.rebuild-rate=1MiB",
            "array.rebuild-rate: does not apply; it belongs to fail-drive or fail-after-errors",
        ),
        ("array.scrub-rate=fast", 'array.scrub-rate: seen "fast"; expected'),
        ("array.spares=1", "array.spares: unknown key; expected one of"),
        ("array=5", "array: seen 5; expected a table"),
        ("errors.table=a4-tlc", "errors.table"),
        ("flow.0.trim=10%", "trims, and an array does not support trims"),
    ],
)
def test_an_array_that_cannot_be(interpulse: Cli, setting: str, message: str) -> None:
    for command in (["run", "--json", "--no-cache"], ["show"]):
        ended = interpulse(*command, RAID5, *options(setting))
        assert (ended.code, ended.out) == (2, "")
        assert message in ended.error()

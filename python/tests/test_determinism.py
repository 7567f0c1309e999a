"""Is `--json` one object, the same byte for byte, for any number of jobs, with and without snapshots, and over time?

Over time: `data/golden.json` holds the exact result of a small generated trace. Where a change of behaviour is meant,
`make golden` writes it anew; a Rust test holds the build with all assertions on against
the same file.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tests.sample import ROOT, check, without_timing

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended

SMALL = str(ROOT / "examples" / "small.toml")
DATA = Path(__file__).parent / "data"


def text_without_timing(out: str) -> str:
    """What was printed, timing fields removed; the order of the keys counts."""
    assert out.endswith("}\n")
    assert out.count("\n") == 1, "one line"
    return json.dumps(without_timing(json.loads(out)))


def test_two_runs_are_equal_whatever_the_jobs_and_the_cache(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    variants = {
        "one job": ["--no-cache", "--jobs", "1"],
        "two jobs": ["--no-cache", "--jobs", "2"],
        "snapshot written": ["--cache-dir", str(tmp_path), "--jobs", "1"],
        "snapshot restored": ["--cache-dir", str(tmp_path), "--jobs", "2"],
    }
    printed = {}
    for name, options in variants.items():
        ended = interpulse("run", SMALL, "--json", *options)
        assert ended.code == 0
        check(ended.json())
        printed[name] = text_without_timing(ended.out)
        assert ("kept in" in ended.err) == (name == "snapshot written")
    first = printed["one job"]
    assert [name for name, text in printed.items() if text != first] == []


def test_both_cases_share_one_snapshot_and_one_preconditioning(
    interpulse: Callable[..., Ended], tmp_path: Path
) -> None:
    ended = interpulse("run", SMALL, "--json", "--cache-dir", str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 1
    assert ended.err.count("preconditioned state kept in ") == 1
    other = ["--seed", "7", "--set", "flow.0.depth=3", "--set", "run.requests=1000", "--set", "host.firmware=5us"]
    again = interpulse("run", SMALL, "--json", "--cache-dir", str(tmp_path), *other)
    assert "kept in" not in again.err, "none of these changes the preconditioned state"
    assert len(list(tmp_path.iterdir())) == 1
    interpulse("run", SMALL, "--json", "--cache-dir", str(tmp_path), "--set", "precondition.seed=2")
    assert len(list(tmp_path.iterdir())) == 2


def test_the_golden_trace_gives_the_golden_result(interpulse: Callable[..., Ended]) -> None:
    ended = interpulse("run", str(DATA / "golden.toml"), "--json", "--no-cache")
    assert ended.code == 0
    result = without_timing(ended.json())
    golden = json.loads((DATA / "golden.json").read_text())
    assert result == golden, "if this is meant: make golden, and a line in the changelog"


def test_the_golden_run_exercises_what_it_should() -> None:
    for case in json.loads((DATA / "golden.json").read_text())["cases"]:
        (seed,) = case["seeds"]
        assert seed["host_requests"] == 1500
        assert seed["ftl"]["gc_runs"] > 0
        assert seed["nand"]["erases"] > 0
        assert (seed["nand"]["suspends"]["program"] > 0) == (case["case"] == "suspend-10")
    assert (DATA / "golden.mqsim").stat().st_size < 50_000

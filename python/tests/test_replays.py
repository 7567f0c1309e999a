"""Requests beside those of a real drive: pairing, shares, refusals, and the order of set-up and outcome."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.sample import ROOT

sys.path.insert(0, str(ROOT / "python" / "tools"))
import replays

ROWS = "0.000,120,1,4096,8192,0.002,4096\n0.000,80,0,4096,4096,0.001,4096\n0.000,90,1,8192,0,0.002,8192\n"
NAMES = sorted(path.stem for path in replays.REPLAYED.glob("*.json"))


def outcome(name: str) -> dict[str, object]:
    """The written outcome of a name."""
    found: dict[str, object] = json.loads((replays.REPLAYED / f"{name}.json").read_text())
    return found


def test_requests_are_read_in_order_of_submission_with_times_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "t.trace").write_text(ROWS)
    requests = replays.Requests.load(tmp_path / "t.trace")
    assert requests.time_ns.tolist() == [1000, 2000, 2001]
    assert requests.latency_us.tolist() == [80.0, 120.0, 90.0]
    requests.write(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "1000,W,4096,4096\n2000,R,8192,4096\n2001,R,0,8192\n"


@pytest.mark.parametrize(
    ("text", "said"), [("1,2,3\n", "3 columns instead of 7"), ("a,b,c,d,e,f,g\n", "could not convert")]
)
def test_other_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "t.trace").write_text(text)
    with pytest.raises(ValueError, match=said):
        replays.Requests.load(tmp_path / "t.trace")


def test_shares_by_hand() -> None:
    measured = np.array([100.0, 200.0, 300.0, 400.0])
    found = replays.compared(measured, np.array([109.0, 240.0, 300.0, 100.0]))
    assert (found["within-10%"], found["within-25%"], found["requests"]) == (0.5, 0.75, 4)
    assert found["median-alone-within-10%"] == 0.0
    assert found["measured-us"][0] == 250.0


def test_each_request_is_compared_with_itself(tmp_path: Path) -> None:
    # What the drive itself takes is written as the measurement: the outcome is a share of one, in every file.
    config = replays.REPLAYED / "flashnet.toml"
    times = np.sort(np.random.default_rng(1).integers(1, 4000, 300))
    plain = [(each, index % 3 != 0, 4096 * (index * 37 % 500)) for index, each in enumerate(times)]
    trace = tmp_path / "own.trace"

    def write(latencies: np.ndarray) -> None:
        rows = zip(plain, latencies, strict=True)
        trace.write_text("".join(f"0.0,{late},{int(read)},4096,{offset},{time / 1000:.3f},4096\n"
                                 for (time, read, offset), late in rows))  # fmt: skip

    write(np.ones(len(plain)))
    requests = replays.Requests.load(trace)
    write(replays.simulated(config, requests))
    found = replays.compared(replays.Requests.load(trace).latency_us, replays.simulated(config, requests))
    assert found["within-10%"] == 1.0
    assert found["rank-correlation"] == pytest.approx(1.0, abs=0.01)
    assert found["measured-us"] == pytest.approx(found["simulated-us"])


@pytest.mark.parametrize("name", NAMES)
def test_the_outcome_is_that_of_the_configuration(name: str) -> None:
    sha256 = hashlib.sha256((replays.REPLAYED / f"{name}.toml").read_bytes()).hexdigest()
    assert outcome(name)["config-sha256"] == sha256


@pytest.mark.parametrize("name", NAMES)
def test_the_history_has_the_configuration_before_the_outcome(name: str) -> None:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a repository")

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, check=True, timeout=60, text=True
        ).stdout

    if git("rev-parse", "--is-shallow-repository").strip() == "true":
        pytest.skip("a shallow clone has no history")
    folder = replays.REPLAYED.relative_to(ROOT).as_posix()
    last = git("log", "-1", "--format=%H", "--", f"{folder}/{name}.toml").strip()
    first = git("log", "--diff-filter=A", "--reverse", "--format=%H", "--", f"{folder}/{name}.json").split()[0]
    assert last != first
    assert (
        subprocess.run(
            ["git", "merge-base", "--is-ancestor", last, first], cwd=ROOT, check=False, timeout=60
        ).returncode
        == 0
    )


def test_the_page_has_the_outcome() -> None:
    page = (ROOT / "docs" / "PREDICTIONS.md").read_text()
    assert NAMES
    assert all(row in page for row in replays.table())

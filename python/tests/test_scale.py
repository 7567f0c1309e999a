"""`bench/scale.py` measures its points, draws them and refuses what it does not know."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "scale.py"


def scale(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)


def test_a_series_is_measured_and_drawn(tmp_path: Path) -> None:
    told, drawn = tmp_path / "told.json", tmp_path / "drawn.svg"
    done = scale("length", "--rounds", "2", "--most", "100000", "--json", told, "--plot", drawn)
    assert not done.returncode, done.stderr
    found = json.loads(told.read_text())
    assert [(point["series"], point["value"]) for point in found["points"]] == [("length", 100_000)]
    assert found["rounds"] == 2
    assert found["points"][0]["cpu_ns"] > 0
    # The map alone of 64 GiB takes that much.
    assert found["points"][0]["peak_mb"] > 9 * (64 << 30) / 4096 / 2**20
    assert len(done.stdout.splitlines()) == 2
    assert "<svg" in drawn.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("breadth",), "no series 'breadth'; series are capacity, depth, dies, length"),
        (("--rounds", "0"), "--rounds 0: at least 1"),
        (("--most", "5"), "--most 5: at least 100000"),
    ],
)
def test_what_it_does_not_know_is_refused(arguments: tuple[str, ...], said: str) -> None:
    done = scale(*arguments)
    assert done.returncode == 2
    assert said in done.stderr

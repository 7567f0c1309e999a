"""`bench/misses.py` takes the difference of two runs, says where the misses are, draws a line, and refuses the rest."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "misses.py"

# A start costs the same each time, and an audit finds more in the cache after more requests. Each request misses 2 MiB
# three times where the map is looked up, and 32 MiB a quarter as often.
VALGRIND = f"""#!{sys.executable}
import sys
[out] = [word.partition("=")[2] for word in sys.argv if word.startswith("--cachegrind-out-file=")]
[last] = [word.partition("=")[2] for word in sys.argv if word.startswith("--LL=")]
requests = int(sys.argv[-1].removeprefix("run.requests="))
misses = requests if last == "2097152,16,64" else requests // 4
open(out, "w").write(f'''desc: LL cache: {{last}}
cmd: one
events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
fl=/home/somebody/start.c
fn=start
3 70000 0 0 500 400 300 0 0 0
4 70000 0 0 0 0 {{10**7 - requests}} 0 0 0
fl=/home/somebody/crates/drive/src/ftl/map.rs
fn=submit
187 {{2000 * requests}} 0 0 {{900 * requests}} {{20 * requests}} {{misses}} 0 0 0
fn=land
187 {{600 * requests}} 0 0 0 0 0 {{300 * requests}} {{10 * requests}} {{2 * misses}}
summary: 0 0 0 0 0 0 0 0 0
''')
"""


def misses(*arguments: str | Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    if path:
        environment["PATH"] = str(path)
    command = [sys.executable, SCRIPT, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.fixture
def counting(tmp_path: Path) -> Path:
    """A folder with what stands in for valgrind."""
    program = tmp_path / "bin" / "valgrind"
    program.parent.mkdir()
    program.write_text(VALGRIND)
    program.chmod(0o755)
    return program.parent


def test_what_further_requests_miss_is_told_by_cache_and_place(counting: Path, tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    done = misses("16", "--rounds", "1", "--json", told, path=counting)
    assert not done.returncode, done.stderr
    found = json.loads(told.read_text())
    [row] = found["rows"]
    assert (row["gib"], row["instructions"], row["accesses"], row["first_misses"]) == (16, 2600, 1200, 30)
    place = "drive/ftl/map.rs:187"
    assert [(last["mib"], last["misses"], last["places"][place]) for last in row["last"]] == [
        (2, 3, 3),
        (32, 0.75, 0.75),
    ]
    assert row["cpu_ns"] > 0
    # One capacity makes no line.
    assert not found["fits"]
    assert "of 32 MiB: drive/ftl/map.rs:187 0.75" in done.stdout


def test_a_line_through_costs_tells_what_it_explains() -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(SCRIPT.parent)!r})\n"
        "import json, misses\n"
        "print(json.dumps([misses.fitted([(0, 100), (1, 210), (2, 290)]), misses.fitted([(0, 1), (0, 2), (1, 3)])]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    fit, none = json.loads(done.stdout)
    assert (fit["ns"], fit["ns_a_miss"], fit["most_off_ns"]) == pytest.approx((105, 95, 10))
    # Of 18200 squared nanoseconds round the mean, 150 are left.
    assert fit["explained"] == pytest.approx(1 - 150 / 18200)
    assert none is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("17",), "no capacity 17; capacities are 16, 64, 256, 1024, 16384 GiB"),
        (("--short", "100000"), "--short 100000: more than 100000"),
        (("--short", "200000", "--long", "200000"), "--long 200000: more than --short 200000"),
        (("--last", "3"), "--last 3: a power of two, at most 1024"),
        (("--last", "2048"), "--last 2048: a power of two, at most 1024"),
        (("--rounds", "0"), "--rounds 0: at least 1"),
    ],
)
def test_what_it_does_not_know_is_refused(counting: Path, arguments: tuple[str, ...], said: str) -> None:
    done = misses(*arguments, path=counting)
    assert done.returncode == 2
    assert said in done.stderr


def test_without_valgrind_and_with_one_that_fails(counting: Path, tmp_path: Path) -> None:
    none = misses("16", path=tmp_path)
    assert none.returncode == 2
    assert "there is no valgrind on this machine; install it to count misses" in none.stderr
    (counting / "valgrind").write_text("#!/bin/sh\necho out of memory >&2\nexit 3\n")
    failed = misses("16", path=counting)
    assert failed.returncode == 1
    assert "16 GiB under valgrind ended with 3:\nout of memory" in failed.stderr

"""Are discards, flushes and pauses of traces replayed, stacked devices counted once, and traces repeated?"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.conftest import Ended

    Cli = Callable[..., Ended]

DRIVE = """\
drive = "a4-mini"
[part]
blocks-per-plane = 24
[cache]
size = "1MiB"
[[flow]]
trace = "t.blkparse"
"""
"""A drive of 617 MB."""

FILE_SECTORS = 512


def files(rewrites: int, operation: str = "W") -> Iterator[str]:
    """Rows of files in half of 2,300 places; a rewritten file moves, and its old copy is discarded."""
    rng = random.Random(4)
    live, free = list(range(1150)), list(range(1150, 2300))

    def row(number: int, what: str, place: int) -> str:
        return f"8,0 1 {number} {number / 1000:.9f} 9 Q {what} {place * FILE_SECTORS} + {FILE_SECTORS} [x]\n"

    number = 0
    for number, place in enumerate(live):
        yield row(number, operation, place)
    for _ in range(rewrites):
        i, j = rng.randrange(len(live)), rng.randrange(len(free))
        yield row(number := number + 1, "D", live[i])
        yield row(number := number + 1, operation, free[j])
        live[i], free[j] = free[j], live[i]


@pytest.fixture
def drive(tmp_path: Path) -> Path:
    path = tmp_path / "drive.toml"
    path.write_text(DRIVE)
    return path


def run(interpulse: Cli, drive: Path, *sets: str) -> tuple[dict[str, Any], str]:
    """The figures of the only case, and the notes."""
    ended = interpulse("run", str(drive), "--json", *(word for each in sets for word in ("--set", each)))
    assert ended.code == 0, ended.err
    return ended.json()["cases"][0]["seeds"][0], ended.err


CLOSED = ("flow.0.pacing=closed", "flow.0.depth=8")


def test_replayed_discards_lower_write_amplification(interpulse: Cli, drive: Path) -> None:
    (drive.parent / "t.blkparse").write_text("".join(files(2500)))
    replayed, notes = run(interpulse, drive, *CLOSED)
    skipped, left_out = run(interpulse, drive, *CLOSED, "flow.0.discards=skip")
    assert "2500 discard(s) of 655.36 MB replayed" in notes
    assert '2500 discard(s) left out (discards = "skip")' in left_out
    assert replayed["counters"]["host"]["trimmed_units"] > 100_000
    assert skipped["counters"]["host"]["trimmed_units"] == 0
    # 2.17 and 3.33.
    assert replayed["ftl"]["waf"] < 0.75 * skipped["ftl"]["waf"]


def test_replayed_flushes_change_the_recovery(interpulse: Cli, drive: Path) -> None:
    (drive.parent / "t.blkparse").write_text("".join(files(100, "FWFS")))
    sets = ("power-loss.at=1100ms", "cache.size=64MiB")
    replayed, notes = run(interpulse, drive, *sets)
    skipped, _ = run(interpulse, drive, *sets, "flow.0.flushes=skip")
    assert "1250 flush(es) replayed, 1250 of them with a write" in notes
    assert replayed["host_requests"] > skipped["host_requests"] + 800
    recoveries = [found["power_loss"]["recovery"]["time_us"] for found in (replayed, skipped)]
    assert recoveries[0] != recoveries[1]


def test_an_array_refuses_discards_by_name(interpulse: Cli, drive: Path) -> None:
    (drive.parent / "t.blkparse").write_text("".join(files(3)))
    array = ("--set", "array.level=raid5", "--set", "array.drives=4")
    refused = interpulse("run", str(drive), *array)
    assert refused.code == 2
    assert "holds 3 discards, which an array does not support; legal: --set flow.0.discards=skip" in refused.err
    assert interpulse("run", str(drive), *array, "--set", "flow.0.discards=skip").code == 0


V2 = """\
fio version 2 iolog
/dev/a add
/dev/a open
/dev/a read 1048576 2048
/dev/a write 2097152 3072
/dev/a wait 5000
/dev/a trim 4194304 8192
/dev/a sync 0 0
/dev/a close
"""


def test_a_log_without_times_runs_closed_loop_at_the_depth_asked_for(interpulse: Cli, drive: Path) -> None:
    (drive.parent / "t.blkparse").write_text(V2)
    refused = interpulse("run", str(drive))
    assert refused.code == 2
    assert "has no times, so there is no recorded pacing; legal: closed loop, --set flow.0.pacing=closed" in refused.err
    found, notes = run(interpulse, drive, "flow.0.pacing=closed", "flow.0.depth=4", "run.warmup=0s")
    assert found["host_requests"] == 4
    # The pause is longer than all requests.
    assert 0.005 < found["simulated_s"] < 0.01
    assert "1 pause(s) between requests" in notes
    measured = interpulse("trace", str(drive.parent / "t.blkparse"), "--json").json()
    assert (measured["format"], measured["waits"], measured["flushes"], measured["discarded_bytes"]) == (
        "fio-v2",
        1,
        1,
        8192,
    )
    assert {"span_s", "mean_gap_ms", "burst_share", "time_unit"}.isdisjoint(measured)


def test_a_trace_is_repeated_and_its_times_continue(interpulse: Cli, drive: Path) -> None:
    rows = (f"8,0 1 {k} {k / 1000:.9f} 9 Q R {8 * k} + 8 [x]\n" for k in range(100))
    (drive.parent / "t.blkparse").write_text("".join(rows))
    found, notes = run(interpulse, drive, "flow.0.repeat=5", "run.warmup=0s")
    assert found["host_requests"] == 500
    assert 0.499 < found["simulated_s"] < 0.501
    assert "replayed 5 times (repeat)" in notes
    shifted, _ = run(interpulse, drive, "flow.0.repeat=5", "flow.0.repeat-addresses=shifted", "run.warmup=0s")
    assert shifted["host_requests"] == 500
    few = interpulse("run", str(drive), "--set", "flow.0.repeat-addresses=shifted")
    assert few.code == 2
    assert "flow.0.repeat-addresses" in few.err


def test_stats_show_discards_flushes_and_the_device_that_is_measured(interpulse: Cli, tmp_path: Path) -> None:
    trace = tmp_path / "stack.txt"
    trace.write_text(
        "253,0 1 1 0.1 7 Q FWFS 8 + 8 [x]\n8,16 1 1 0.1 7 A FWFS 24 + 8 <- (253,0) 8\n"
        "8,16 1 1 0.1 7 Q FWFS 24 + 8 [x]\n8,16 1 1 0.2 7 Q D 2048 + 2048 [x]\n8,16 1 1 0.3 7 Q FN [x]\n"
    )
    shown = " ".join(interpulse("trace", str(trace)).out.split())
    for each in (
        "1 request(s) of stacked devices omitted",
        "override: --device 253,0",
        "discards 1",
        "discarded 1.0 MiB",
        "flushes 2",
        "flushes of writes 1",
    ):
        assert each in shown
    upper = interpulse("trace", str(trace), "--device", "253,0", "--json").json()
    assert (upper["writes"], upper["discards"], upper["unselected_rows"]) == (1, 0, 3)
    missing = interpulse("trace", str(trace), "--device", "9,0")
    assert missing.code == 2
    assert "has no request of the device that --device selects; legal: 253,0; 8,16" in missing.err


def test_a_log_of_fio_in_ns_is_refused_with_what_to_do(interpulse: Cli, tmp_path: Path) -> None:
    trace = tmp_path / "ns.fio"
    trace.write_text("".join(f"{9000321 + 40123 * k} /dev/a read {4096 * k} 4096\n" for k in range(50)))
    refused = interpulse("trace", str(trace))
    assert refused.code == 2
    assert "times are implausible in us: 24.923 requests per second" in refused.err
    assert "legal: --time-unit ns if they are in ns, or us if they are not" in refused.err
    found = interpulse("trace", str(trace), "--time-unit", "ns", "--json").json()
    assert found["mean_gap_ms"] == pytest.approx(0.040123)

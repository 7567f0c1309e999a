"""Do `interpulse trace convert`, `cut`, `scale`, `merge` and `anonymise` write whole files, or none?"""

from __future__ import annotations

import gzip
import json
import signal
import time
from typing import TYPE_CHECKING

import pytest

from interpulse.cli import trace_progress
from tests.conftest import process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

    Cli = Callable[..., Ended]

MSR = """\
0,web,0,Write,0,8192,0
20000,web,0,Write,4096,4096,0
30000,web,0,Read,0,512,0
70000,web,1,Write,0,4096,0
"""
"""Three writes and a read in 7 ms (times in 100 ns), on two devices."""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "t.msr"
    path.write_text(MSR)
    return path


def done(interpulse: Cli, *argv: object) -> dict[str, object]:
    ended = interpulse("trace", *map(str, argv), "--json")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert isinstance(found, dict)
    return found


def test_the_suffix_or_to_names_the_format_and_the_compression(interpulse: Cli, trace: Path, tmp_path: Path) -> None:
    packed = tmp_path / "t.mqsim.gz"
    assert done(interpulse, "convert", trace, "--out", packed)["format"] == "mqsim"
    assert gzip.decompress(packed.read_bytes()) == b"0 0 0 16 0\n2000000 0 8 8 0\n3000000 0 0 1 1\n7000000 1 0 8 0\n"
    plain = tmp_path / "t.csv"
    assert done(interpulse, "convert", trace, "--out", plain)["format"] == "msr"
    assert done(interpulse, "convert", trace, "--out", plain, "--to", "spc")["format"] == "spc"
    assert plain.read_text().splitlines()[1] == "0,8,4096,w,0.002000000"


def test_a_person_reads_what_was_kept_and_what_was_lost(interpulse: Cli, trace: Path, tmp_path: Path) -> None:
    ended = interpulse("trace", "convert", str(trace), "--out", str(tmp_path / "t.mqsim"))
    assert ended.code == 0, ended.err
    text = " ".join(ended.out.split())
    assert "4 rows as mqsim, 2 device(s); 4 requests read as msr" in text
    assert "the format mqsim holds no names of devices: web is 0, web_1 is 1" in text


def test_ranges_rates_and_footprints(interpulse: Cli, trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.mqsim"
    assert done(interpulse, "cut", trace, "--out", out, "--start", "2ms", "--end", "7ms")["rows_written"] == 2
    assert done(interpulse, "cut", trace, "--out", out, "--device", "web_1", "--first-row", "2")["rows_written"] == 1
    done(interpulse, "scale", trace, "--out", out, "--iops", "1000")
    assert [row.split()[0] for row in out.read_text().splitlines()] == ["0", "857142", "1285714", "3000000"]
    assert done(interpulse, "scale", trace, "--out", out, "--capacity", "16KiB", "--fit", "fold")["devices"] == 1


def test_merged_files_are_in_order(interpulse: Cli, trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.mqsim"
    found = done(interpulse, "merge", trace, trace, "--devices", "separate", "--out", out)
    assert (found["rows_written"], found["devices"]) == (8, 4)
    assert [row.split()[1] for row in out.read_text().splitlines()] == ["0", "2", "0", "2", "0", "2", "1", "3"]


def test_the_same_key_gives_the_same_file_and_none_a_random_one(interpulse: Cli, trace: Path, tmp_path: Path) -> None:
    big = tmp_path / "big.mqsim"
    big.write_text("".join(f"{k} 0 {k * 2048} 8 1\n" for k in range(200)))

    def made(*options: str) -> str:
        out = tmp_path / "o.mqsim"
        done(interpulse, "anonymise", big, "--out", out, *options)
        return out.read_text()

    assert made("--key", "a") == made("--key", "a")
    assert made("--key", "a") != made("--key", "b")
    assert made() != made()
    addresses = sorted(int(row.split()[2]) for row in made().splitlines())
    assert addresses == [k * 2048 for k in range(200)]
    done(interpulse, "anonymise", trace, "--out", trace.with_name("o.msr"))
    assert "web" not in trace.with_name("o.msr").read_text()


def test_a_secret_from_a_file_is_the_same_secret(interpulse: Cli, trace: Path, tmp_path: Path) -> None:
    secret, out = tmp_path / "secret", tmp_path / "o.mqsim"
    secret.write_text("a secret\r\n")

    def made(*options: object) -> str:
        done(interpulse, "anonymise", trace, "--out", out, "--extent", "512B", "--device-capacity", "1GiB", *options)
        return out.read_text()

    assert made("--key-file", secret) == made("--key", "a secret")
    for options, said in (
        (("--key", "a", "--key-file", secret), "either --key or --key-file"),
        (("--key-file", tmp_path / "none"), "cannot read the key"),
        (("--key-file", tmp_path), "it is a folder"),
        (("--key", "a", "--device-capacity", "4KiB"), "--device-capacity: seen 4KiB; expected at least"),
        (("--key", "a", "--device-capacity", "5000B"), "a multiple of 512 B"),
    ):
        ended = interpulse("trace", "anonymise", str(trace), "--out", str(out), *map(str, options))
        assert ended.code == 2
        assert said in " ".join(ended.err.split())
    secret.write_text("\n")
    ended = interpulse("trace", "anonymise", str(trace), "--out", str(out), "--key-file", str(secret))
    assert (ended.code, "holds no secret" in " ".join(ended.err.split())) == (2, True)


def test_long_work_says_how_far_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(trace_progress, "UPDATE_S", 0.0)
    with trace_progress.TraceProgress("o.csv") as quick:
        quick.report(5, None)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(trace_progress, "QUIET_S", 0.0)
    with trace_progress.TraceProgress("o.csv") as shown:
        shown.report(1000, None)
        shown.report(16_384, 1_000_000)
    assert capsys.readouterr().err.splitlines() == ["o.csv: check 1.0k rows", "o.csv: write 1 % of 1.0M rows"]


def test_the_input_is_never_the_output(interpulse: Cli, trace: Path) -> None:
    other = trace.with_name("link.msr")
    other.symlink_to(trace)
    for out in (trace, other):
        ended = interpulse("trace", "convert", str(trace), "--out", str(out))
        assert ended.code == 2
        assert "which is the input" in " ".join(ended.err.split())
    assert trace.read_text() == MSR


def test_a_fault_leaves_what_was_there(interpulse: Cli, trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.vscsi"
    out.write_text("before")
    ended = interpulse("trace", "convert", str(trace), "--out", str(out))
    assert ended.code == 2
    assert "line 4: the format vscsi cannot hold devices, of which the trace has 2" in " ".join(ended.err.split())
    trace.write_text(MSR + "90000,web,0,Reed,0,512,0\n")
    ended = interpulse("trace", "convert", str(trace), "--out", str(out))
    assert ended.code == 2
    assert "line 5: `Type` is `Reed`" in " ".join(ended.err.split())
    assert out.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.vscsi", "t.msr"]


def test_ctrl_c_leaves_no_half_file(tmp_path: Path) -> None:
    big = tmp_path / "big.mqsim"
    big.write_text("".join(f"{k} 0 {k % 4096 * 8} 8 1\n" for k in range(2_000_000)))
    out = str(tmp_path / "o.zst")
    with process("-m", "interpulse", "trace", "convert", str(big), "--out", out, "--to", "msr") as child:
        while child.poll() is None and len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.001)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=60)
    assert child.returncode == 130
    assert [path.name for path in tmp_path.iterdir()] == ["big.mqsim"]

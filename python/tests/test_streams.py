"""Does a standard stream that is full, closed or not UTF-8 cost a run its result, or anybody a traceback?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import cycle
from typing import TYPE_CHECKING

import pytest

from tests import sample
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

RUN = ("run", str(ROOT / "examples" / "small.toml"), "--set", "run.requests=2000", "--no-cache")
COMMANDS = {
    "run": RUN,
    "run-json": (*RUN, "--json"),
    "show": ("show", RUN[1]),
    "list": ("list",),
    "cache": ("cache",),
    "trace": ("trace", "row", "msr-hm-0"),
    "scheme": ("scheme", "immediate"),
    "experiment": ("experiment", "--list"),
    "characterize": ("characterize", "--list"),
    "bench": ("bench", "cell-pulses", "--quick"),
    "help": ("--help",),
}


def shell(arguments: tuple[str, ...], streams: str, **environment: str) -> tuple[int, str, str]:
    """Code, output and errors of a command under the shell's redirections `streams`."""
    command = ["bash", "-c", f'set -o pipefail; "$@" {streams}', "bash", sys.executable, "-m", "interpulse", *arguments]
    own = os.environ | {"PYTHONPATH": str(ROOT / "python")} | environment
    ended = subprocess.run(command, capture_output=True, env=own, check=False, timeout=60)
    return ended.returncode, ended.stdout.decode(), ended.stderr.decode()


@pytest.mark.parametrize("streams", ["2>/dev/full", "<&- 2>&-"])
@pytest.mark.parametrize("name", ["run", "run-json", "bench"])
def test_standard_error_that_fails_costs_nothing(name: str, streams: str) -> None:
    code, out, err = shell(COMMANDS[name], streams)
    assert (code, err) == (0, "")
    if name == "run":
        assert "read latency, us" in out
    elif name == "run-json":
        assert [seed["host_requests"] for seed in sample.seeds(json.loads(out))] == [2000, 2000]
    else:
        assert "million cell pulses" in out


FULL, CLOSED = (">/dev/full", "No space left on device"), (">&-", "it is closed")


@pytest.mark.parametrize(
    ("name", "streams", "why"),
    [(name, *kind) for name, kind in zip(COMMANDS, cycle((FULL, CLOSED)), strict=False)] + [("run", *CLOSED)],
)
def test_standard_output_that_fails_is_one_line_and_a_code(name: str, streams: str, why: str) -> None:
    code, out, err = shell(COMMANDS[name], streams)
    assert (code, out) == (2, "")
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    lines = [line for line in err.splitlines() if "error" in line]
    assert lines == [f"error: cannot write to standard output: {why}"]


@pytest.mark.parametrize("streams", [">/dev/full 2>/dev/full", "<&- >&- 2>&-"])
def test_no_stream_costs_the_files(streams: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, _, _ = shell((*RUN, "--out", str(out)), streams)
    assert code == 2
    assert [seed["host_requests"] for seed in sample.seeds(json.loads((out / "result.json").read_text()))] == [
        2000,
        2000,
    ]
    assert "Where read time went" in (out / "table.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1:strict"},
    ],
    ids=str,
)
def test_a_stream_that_is_not_utf_8_gets_ascii_and_files_get_everything(
    environment: dict[str, str], tmp_path: Path
) -> None:
    code, out, err = shell((*RUN, "--full", "--out", str(tmp_path)), "", **environment)
    assert (code, "Traceback" in err) == (0, False)
    assert out.isascii()
    assert "-----" in out
    stored = (tmp_path / "table.txt").read_text(encoding="utf-8")
    assert stored.replace("─", "-") == out


def test_json_in_ascii_is_the_same_json(tmp_path: Path) -> None:
    config = tmp_path / "é𝄞.toml"
    config.write_text('drive = "a4-mini"\n[run]\nrequests = 10\n[[flow]]\nname = "é─𝄞"\n', encoding="utf-8")
    shown = [shell(("show", str(config), "--json"), "", PYTHONIOENCODING=name) for name in ("utf-8", "latin-1")]
    (whole, text), (ascii_code, escaped) = [(code, out) for code, out, _ in shown]
    assert (whole, ascii_code) == (0, 0)
    assert escaped.isascii()
    assert not text.isascii()
    assert json.loads(escaped.replace("-", "─")) == json.loads(text.replace("-", "─"))


def test_a_name_that_is_not_utf_8_is_a_mistake_and_no_bug() -> None:
    code, _, err = shell(("show", RUN[1], "--set", os.fsdecode(b"seed=\xff")), "")
    assert code == 2
    assert "expected UTF-8" in err
    assert "Traceback" not in err


@pytest.mark.parametrize("name", ["run", "help"])
def test_a_reader_that_has_seen_enough_is_silent(name: str) -> None:
    code, out, err = shell(COMMANDS[name], "| head -c 1")
    assert (code, len(out)) == (0, 1)
    assert not any(word in err for word in ("error", "Traceback", "Exception"))

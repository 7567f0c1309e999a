"""Is a load above what the drive serves called overloaded, and one below never?"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interpulse as package
from interpulse import Result
from interpulse.runs.steadiness import overload
from interpulse.runs.summary import lines
from tests import sample

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from tests.conftest import Ended

DRIVE = 'drive = "a4-mini"\n[precondition]\nfill = "100%"\noverwrite = "uniform"\n'
SERVED = 24_000
"""Requests per second of half reads, half writes of 4 KiB that this drive serves, and a little less than that."""


def flow(name: str, rate: float, more: str = "") -> str:
    return f'[[flow]]\nname = "{name}"\npacing = "open"\nrate = "{rate}IOPS"\nread = "50%"\n{more}'


def run(text: str, *, requests: int = 60_000, head: str = DRIVE) -> dict[str, Any]:
    window = f"[run]\nwarmup-requests = 10000\nrequests = {requests}\n"
    found = package.run(package.Config.from_toml(f"{head}{window}{text}"))
    sample.check(found.document)
    return found.raw


def test_an_overload_is_told_first_and_in_json(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    config = tmp_path / "overload.toml"
    config.write_text(f"{DRIVE}[run]\nwarmup-requests = 10000\nrequests = 20000\n{flow('o', 60_000)}")
    ended = interpulse("run", str(config), "--out", str(tmp_path / "out"))
    first = " ".join(ended.out.split("\n\n")[1].split())
    assert first.startswith("overloaded: "), ended.out[:500]
    raw = Result.from_json((tmp_path / "out" / "result.json").read_text()).raw
    steady = raw["steady"]
    assert steady["verdict"] == steady["load"]["verdict"] == "overloaded"
    assert steady["load"]["offered_per_s"] == pytest.approx(60_000, rel=0.03)
    assert steady["load"]["served_per_s"] == pytest.approx(SERVED, rel=0.25)
    assert steady["load"]["growth_per_s"] == pytest.approx(60_000 - SERVED, rel=0.25)
    low, high = steady["load"]["growth_interval_per_s"]
    assert 0 < low < high
    text = overload(raw)
    assert text.endswith("latency grows for as long as the run lasts")
    assert first.startswith(text)
    proposed = re.search(r"reduce the rate: --set flow\.0\.rate=(\d+)/s", first)
    assert proposed is not None
    served = interpulse("run", str(config), "--set", f"flow.0.rate={proposed[1]}/s")
    assert "overloaded" not in served.out
    assert "note: overloaded: " in ended.err
    assert "window steady: no, overloaded" in ended.out
    interpulse("report", str(tmp_path / "out"))
    assert text in (tmp_path / "out" / "report.html").read_text()
    compared = interpulse("compare", str(tmp_path / "out"), str(tmp_path / "out"))
    assert "was overloaded: " in " ".join(compared.out.split()) + " ".join(compared.err.split())


@pytest.mark.parametrize(
    ("name", "text", "who"),
    [
        ("hidden by a closed flow", flow("o", 60_000) + '[[flow]]\nname = "c"\ndepth = 8\n', None),
        ("two flows", flow("a", 20_000) + flow("b", 20_000), None),
        ("fixed gaps", flow("o", 30_000, 'arrivals = "fixed"\n'), None),
        ("bursts", flow("o", 60_000, 'arrivals = "hyper-exponential"\nsquared-variation = 16\n'), None),
    ],
)
def test_an_overload_is_found_however_it_arrives(name: str, text: str, who: str | None) -> None:
    raw = run(text)
    assert raw["steady"]["verdict"] == "overloaded", (name, raw["steady"])
    assert who is None or f"flow {who}: " in overload(raw)


def test_an_overload_of_an_array_is_found() -> None:
    raw = run(flow("o", 120_000), head=f'{DRIVE}[array]\nlevel = "raid0"\ndrives = 2\n')
    assert raw["steady"]["verdict"] == "overloaded", raw["steady"]


def test_an_overload_that_begins_within_the_window_is_found_with_its_begin() -> None:
    text = f'warmup = "1s"\ntime = "4s"\n{flow("a", 12_000)}{flow("b", 30_000, chr(10).join(["start = ", ""]))}'
    text = text.replace("start = \n", 'start = "3s"\n')
    raw = package.run(package.Config.from_toml(f"{DRIVE}[run]\n{text}")).raw
    steady = raw["steady"]
    assert steady["verdict"] == "overloaded", steady
    # The drive has erased blocks for a while after the second flow begins, 2 s after the start of the window.
    assert 2 < steady["load"]["since_s"] < 3.2, steady
    assert steady["load"]["offered_per_s"] == pytest.approx(42_000, rel=0.05)


@pytest.mark.parametrize("speed", [1, 300])
def test_a_replay_that_is_too_fast_is_overloaded(tmp_path: Path, speed: int) -> None:
    """The trace ends long before the drive has worked it off."""
    rows = "".join(f"{at * 1_000_000} 0 {(at * 7919) % 100_000 * 8} 8 {at % 2}\n" for at in range(12_000))
    (tmp_path / "t.mqsim").write_text(rows)
    config = tmp_path / "t.toml"
    config.write_text(f'{DRIVE}[[flow]]\nname = "t"\ntrace = "t.mqsim"\nspeed = {speed}\n')
    steady = package.run(package.Config.load(config)).raw["steady"]
    assert steady["load"]["verdict"] == ("overloaded" if speed > 1 else "served"), steady


def _replay_of_one_instant(folder: Path, rows: int) -> list[str]:
    """The command that replays a trace of so many rows at time zero."""
    text = (f"0,{at * 7919 % 200_000 * 8},4096,{'RW'[at % 2]},0.0\n" for at in range(rows))
    (folder / "t.spc").write_text("".join(text))
    (folder / "t.toml").write_text('drive = "a4-mini"\n[run]\nwarmup = "0s"\n[[flow]]\nname = "t"\ntrace = "t.spc"\n')
    return [sys.executable, "-m", "interpulse", "run", str(folder / "t.toml")]


def test_requests_of_one_instant_have_no_rate(tmp_path: Path) -> None:
    done = subprocess.run(_replay_of_one_instant(tmp_path, 40_000), capture_output=True, text=True, check=True)
    assert "note: overloaded: more requests offered than served" in done.stderr
    assert "requests/s offered" not in done.stderr + done.stdout


def _memory_of_rows_at_one_instant(folder: Path, rows: int) -> int:
    """Greatest memory in bytes of a process that replays a trace of so many rows."""
    command = _replay_of_one_instant(folder, rows)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_maxrss * 1024


def test_a_request_of_a_backlog_takes_a_few_bytes(tmp_path: Path) -> None:
    """A slot of a request alone has more than 200."""
    few, many = 4_000, 404_000
    growth = _memory_of_rows_at_one_instant(tmp_path, many) - _memory_of_rows_at_one_instant(tmp_path, few)
    assert growth < 32 * (many - few), growth


@pytest.mark.parametrize("variation", [1, 16])
def test_a_load_that_is_served_is_no_overload(variation: int) -> None:
    more = f'arrivals = "hyper-exponential"\nsquared-variation = {variation}\n'
    raw = run(flow("o", 0.5 * SERVED, more))
    assert raw["steady"]["load"]["verdict"] == "served", raw["steady"]
    assert raw["steady"]["load"]["offered_per_s"] == pytest.approx(0.5 * SERVED, rel=0.1)


def test_a_window_that_is_too_short_is_no_proof() -> None:
    more = 'arrivals = "hyper-exponential"\nsquared-variation = 16\n'
    steady = run(flow("o", 1.05 * SERVED, more), requests=6_000)["steady"]
    assert steady["verdict"] == "unknown", steady
    assert "backlog" in steady["unsure"]


def test_the_slope_of_write_amplification_is_printed() -> None:
    case = sample.case("only")
    case["steady"] = {"verdict": "yes", "waf_slope": {"change": -0.012, "interval": [-0.02, -0.004]}}
    assert [*lines([case])][-1] == ("window steady: yes; write amplification -1.2 % over the window (-2.0 to -0.4 %)")
    case["steady"]["waf_slope"] = {"change": 0.2, "interval": [-0.6, 0.99]}
    assert [*lines([case])][-1] == (
        "window steady: yes, but too short for write amplification;"
        " write amplification +20.0 % over the window (-60.0 to +99.0 %)"
    )


def _tool() -> ModuleType:
    path = Path(__file__).parent.parent / "tools" / "overload.py"
    spec = importlib.util.spec_from_file_location("overload_tool", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["overload_tool"] = module
    spec.loader.exec_module(module)
    return module


def test_a_few_random_worlds_are_judged_rightly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A miniature of the check of `make verify`: the first worlds of each series."""
    tool = _tool()
    assert tool.check(5, 0, tmp_path, excess=0.6) == 0, capsys.readouterr().out


BUSY = """
drive = "a4-mini"
[ftl]
over-provisioning = 0.1
gc = "fifo"
mapping = "cached"
map-cache-size = "8KiB"
map-write-batch = 1
[precondition]
overwrite = "uniform"
[run]
requests = 100_000
[[flow]]
name = "writes"
depth = 16
read = "0%"
"""


def test_a_drive_that_collects_without_end_is_an_error() -> None:
    """Programs of one map page each, the rest of them empty, take as many blocks as collection by age frees."""
    with pytest.raises(
        package.RunError, match=r"busy without end: 16 outstanding.*map-write-batch of at least one program"
    ):
        package.run(package.Config.from_toml(BUSY))


FRESH = """
drive = "a4-mini"
ftl.over-provisioning = 0.28
[run]
requests = 300_000
[[flow]]
name = "writes"
depth = 16
read = "0%"
address = "zipf"
exponent = 1.2
"""


def test_a_window_that_uses_up_free_blocks_is_not_steady() -> None:
    """Both halves have a write amplification of exactly 1, as no block was erased yet: it is 2.1 after 3 M requests."""
    found = package.run(package.Config.from_toml(FRESH))
    sample.check(found.document)
    raw = found.raw
    steady = raw["steady"]
    assert steady["verdict"] == "unknown"
    assert steady["unsure"] == ["erases"]
    assert steady["lane_blocks"] > 2
    assert "waf_slope" not in steady
    assert raw["ftl"]["waf"] == 1.0
    first = next(line for line in lines([{"case": "run", **raw}]) if line.startswith("window steady"))
    assert "no block was erased yet" in first
    overwritten = FRESH.replace("[run]", '[precondition]\noverwrite = "zipf"\nexponent = 1.2\n[run]')
    assert "erases" not in package.run(package.Config.from_toml(overwritten)).raw["steady"]["unsure"]

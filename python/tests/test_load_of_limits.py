"""Is a limit refused that the load cannot miss, and does a sweep without a result end with an error?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import interpulse
from interpulse import ConfigError
from interpulse.cli import run_app
from interpulse.search.limits import read_limits
from interpulse.search.traffic import check_traffic

if TYPE_CHECKING:
    from pathlib import Path

DRIVE = """config_version = 1
drive = "a4-mini"
run.requests = 300
run.warmup = "0s"
precondition.fill = "50%"
"""
FLOW = '[[flow]]\nname = "{}"\npacing = "open"\nrate = "5000/s"\nread = {}\n'

MIXES: dict[str, tuple[list[dict[str, str]], str]] = {
    "reads": ([{"flow.0.read": "1", "flow.0.trim": "0"}], "read"),
    "writes": ([{"flow.0.read": "0", "flow.0.trim": "0"}], "write"),
    "both": ([{"flow.0.read": "0.5", "flow.0.trim": "0"}], "read write"),
    "reads and trims": ([{"flow.0.read": "0.7", "flow.0.trim": "0.3"}], "read"),
    "writes and trims": ([{"flow.0.read": "0", "flow.0.trim": "0.3"}], "write"),
    "trims": ([{"flow.0.read": "0", "flow.0.trim": "1"}], ""),
    "almost all reads": ([{"flow.0.read": "0.999999", "flow.0.trim": "0"}], "read write"),
    "two flows": ([{"flow.0.read": "1", "flow.0.trim": "0", "flow.1.read": "0", "flow.1.trim": "0"}], "read write"),
    "two readers": ([{"flow.0.read": "1", "flow.0.trim": "0", "flow.1.read": "1", "flow.1.trim": "0"}], "read"),
    "a trace": ([{"flow.0.trace": "x.csv"}], "read write"),
    "a trace and a reader": ([{"flow.0.trace": "x.csv", "flow.1.read": "1"}], "read write"),
    "no trace": ([{"flow.0.trace": "not set", "flow.0.read": "1"}], "read"),
    "two cases": ([{"flow.0.read": "1"}, {"flow.0.read": "0.5"}], "read write"),
    "nothing known": ([{}], "read write"),
}


@pytest.mark.parametrize("name", MIXES)
def test_a_limit_is_legal_if_a_flow_issues_such_requests(name: str) -> None:
    cases, issued = MIXES[name]
    for kind in ("read", "write", "all"):
        limits = read_limits({f"{kind}-p99": "1ms"})
        if kind == "all" or kind in issued.split():
            check_traffic(limits, cases, "x.toml")
        else:
            with pytest.raises(ConfigError, match=f"x.toml: limit {kind} p99: seen a load of "):
                check_traffic(limits, cases, "x.toml")


@pytest.mark.parametrize("search", ["slo", "advise"])
@pytest.mark.parametrize(("read", "limit"), [(1, "write-p99"), (0, "read-p99")])
def test_a_search_refuses_it_before_a_simulation(search: str, read: int, limit: str, tmp_path: Path) -> None:
    file = tmp_path / "drive.toml"
    file.write_text(DRIVE + FLOW.format("only", read))
    with pytest.raises(ConfigError, match=r"seen a load of (reads|writes) only; expected a limit for these"):
        getattr(interpulse, search)(file, {limit: "5ms", "all-p99": "5ms"}, out=tmp_path / "o")


SWEEP = f"""[config]
{DRIVE}flow = [{{ depth = 2, read = 0.5 }}]
[[axis]]
key = "flow.0.block-size"
values = ["4KiB", "8KiB"]
"""


@pytest.mark.parametrize(
    ("further", "code", "said"),
    [
        ("", 0, ""),
        ('[columns]\nmoved = "counters.ftl.gc_units"', 0, ""),
        ('[columns]\nmoved = "counters.ftl.gc_unit"', 2, "columns.moved = 'counters.ftl.gc_unit': no result has"),
        ('[set]\nrun.warmup = "1s"\nflow.0.requests = 5', 2, "all 2 rows failed, the first with: "),
    ],
)
def test_a_sweep_without_what_it_is_for_has_an_exit_code(
    further: str, code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.toml"
    file.write_text(SWEEP + further)
    assert run_app(["sweep", str(file), "--out", str(tmp_path / "o"), "--jobs", "1"]) == code
    assert said in capsys.readouterr().err
    assert (tmp_path / "o" / "results.parquet").is_file()


def test_a_study_whose_trials_all_fail_has_an_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from interpulse.sweeps import simulations

    def run(_: Any, asked: Any) -> list[dict[str, Any]]:  # noqa: ANN401
        return [{"error": {"kind": "run", "message": "no such luck"}} for _ in asked]

    monkeypatch.setattr(simulations.Simulations, "run", run)
    file = tmp_path / "s.toml"
    head = 'trials = 2\nbatch = 2\nsampler = "random"\n[config]\n'
    space = '[[parameter]]\nkey = "flow.0.depth"\nvalues = [1, 2]\n[[objective]]\nname = "a"\nminimise = "waf"\n'
    file.write_text(head + DRIVE + "flow = [{ depth = 2, read = 0.5 }]\n" + space)
    assert run_app(["optimize", str(file), "--out", str(tmp_path / "o")]) == 2
    assert "error: all 2 trials failed, the first with: no such luck" in capsys.readouterr().err

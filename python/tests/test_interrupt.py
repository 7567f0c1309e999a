"""Does Ctrl-C stop a run within a second and still print what is done?"""

from __future__ import annotations

import json
import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests import sample
from tests.conftest import process
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import Popen

    from tests.fake_core import FakeCore

LONG = '{"duration_s": 60}'


def stop_after_first_line(running: Popen[str]) -> tuple[int, str, str, float]:
    """Waits until the run shows progress, sends Ctrl-C, and returns code, output, errors and the seconds it took."""
    assert running.stderr is not None
    first = running.stderr.readline()
    start = time.monotonic()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=30)
    return running.returncode, out, first + err, time.monotonic() - start


def test_ctrl_c_prints_what_is_done(config_file: str) -> None:
    with process("-m", "tests.fake_core", LONG, "run", config_file) as running:
        code, out, err, took_s = stop_after_first_line(running)
    assert code == 130
    assert "interrupted: the result is partial" in err
    assert "none: interrupted" not in out, "the first case had ended before"
    assert "read latency, us" in out
    assert "Traceback" not in err
    assert took_s < 10, "a loose bound: that the 60 s were cut short, not how slow this machine is"


def test_ctrl_c_with_json_prints_one_object(config_file: str) -> None:
    with process("-m", "tests.fake_core", LONG, "run", config_file, "--json") as running:
        code, out, _, _ = stop_after_first_line(running)
    assert code == 130
    assert json.loads(out)["interrupted"] is True


def test_ctrl_c_before_any_result_says_so(config_file: str) -> None:
    settings = json.dumps({"duration_s": 60, "run_error": ["RunError", "stopped before anything was measured"]})
    with process("-m", "tests.fake_core", settings, "run", config_file) as running:
        code, out, err, _ = stop_after_first_line(running)
    assert (code, out) == (130, "")
    assert "interrupted before any case had a result" in err


def test_a_run_that_measured_nothing_still_has_a_table() -> None:
    from interpulse import Result
    from interpulse.cli.table import render

    known = {"schema_version": 2, "version": "0.1.0", "seed": 1, "config_hash": "ab", "case": "none"}
    result = sample.result(known | {"interrupted": True})
    sample.check(result)
    assert "none: stopped before anything was measured" in render(Result(result))


def test_the_api_raises_interrupted_with_the_partial_result(core: FakeCore) -> None:
    import interpulse

    core.duration_s = 60

    def ctrl_c(_: object) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(interpulse.Interrupted) as stop:
        interpulse.run(interpulse.Config.from_toml("x = 1"), progress=ctrl_c)
    assert isinstance(stop.value, KeyboardInterrupt)
    assert stop.value.result is not None
    assert stop.value.result.interrupted


def test_an_error_in_the_progress_function_stops_the_run(core: FakeCore) -> None:
    import interpulse

    core.duration_s = 60

    def fail(_: object) -> None:
        raise LookupError("from the caller")

    with pytest.raises(LookupError, match="from the caller"):
        interpulse.run(interpulse.Config.from_toml("x = 1"), progress=fail)


def interrupt_in(phase: str, *arguments: str, cases: int = 1) -> tuple[int, str, str, float]:
    """Starts a run on the real core, sends Ctrl-C once so many cases are in `phase`, and tells how it ended."""
    with process("-m", "interpulse", "run", *arguments) as running:
        assert running.stderr is not None
        seen, there = "", set[str]()
        while len(there) < cases:
            line = running.stderr.readline()
            assert line, f"the run ended before the phase {phase}: {seen}"
            seen += line
            if f": {phase} " in line:
                # Those that are there together share a line.
                there.update(line.partition(":")[0].split(", "))
        time.sleep(0.2)
        start = time.monotonic()
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
        return running.returncode, out, seen + err, time.monotonic() - start


SOON_S = 20
"""A guard against a run that goes on: the promise is one second on a free machine, but speed fails no test."""


def test_ctrl_c_in_the_preconditioning_of_the_real_core(tmp_path: Path) -> None:
    quickstart = str(ROOT / "examples" / "quickstart.toml")
    code, out, err, took_s = interrupt_in("precondition", quickstart, "--cache-dir", str(tmp_path))
    assert (code, out) == (130, "")
    assert err.endswith("interrupted before any case had a result\n")
    assert took_s < SOON_S
    assert list(tmp_path.iterdir()) == [], "no half a snapshot stays behind"


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_ctrl_c_in_a_run_of_the_real_core_gives_partial_results(options: list[str], tmp_path: Path) -> None:
    small, out_folder = str(ROOT / "examples" / "small.toml"), tmp_path / "out"
    endless = ["--set", "run.requests=1000000000000", "--out", str(out_folder), *options]
    code, out, err, took_s = interrupt_in("run", small, *endless, cases=2)
    assert code == 130
    assert "interrupted: the result is partial" in err
    assert took_s < SOON_S
    stored = json.loads((out_folder / "result.json").read_text())
    sample.check(stored)
    assert stored["interrupted"] is True
    assert all(seed["host_requests"] > 0 for seed in sample.seeds(stored))
    if options:
        assert json.loads(out) == stored
    else:
        assert "no-suspend: interrupted: " in out


def test_ctrl_c_keeps_the_case_that_had_ended() -> None:
    small = str(ROOT / "examples" / "small.toml")
    with process("-m", "interpulse", "run", small, "--json", "--jobs", "1", "--set", "run.requests=3000000") as running:
        assert running.stderr is not None
        while not running.stderr.readline().startswith("no-suspend: done"):
            pass
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=30)
    first, second = sample.seeds(json.loads(out))
    assert first["host_requests"] == 3_000_000
    assert "interrupted" not in first
    assert second["interrupted"] is True


LATE = """\
from interpulse import cli

def stopped(arguments):
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        return 130

cli.run_app = stopped
cli.main()
"""


def test_an_interrupt_while_a_class_is_made_does_not_change_the_exit_code(tmp_path: Path) -> None:
    """The interpreter under `-m` would end by the signal, long after it was taken care of."""
    (tmp_path / "late.py").write_text(LATE)
    with process("-m", "late", cwd=tmp_path) as running:
        running.communicate(timeout=60)
    assert running.returncode == 130

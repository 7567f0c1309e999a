"""Does a drive keep its state between sessions and runs, and is every other file refused by name?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING

import pytest

from tests.nbd_server import DRIVE, PATIENCE, Client, client, cut_power, serving, started
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from tests.nbd_server import Served

LOAD = '[run]\nrequests = 3000\n[[flow]]\nname = "mixed"\nread = 0.5\ndepth = 4\n'
MIB = 1 << 20


def interpulse(folder: Path, *arguments: str, code: int = 0) -> str:
    """Runs the command line; its standard output, or standard error if it is to fail."""
    settings = {"PYTHONPATH": str(ROOT / "python"), "INTERPULSE_CACHE_DIR": str(folder / "cache")}
    line = [sys.executable, "-m", "interpulse", *arguments]
    done = subprocess.run(
        line, cwd=folder, env=os.environ | settings, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr if code else done.stdout


def shown(folder: Path, name: str) -> dict[str, object]:
    """What `state show` says."""
    state: dict[str, object] = json.loads(interpulse(folder, "state", "show", name, "--json"))
    return state


def fill(folder: Path, uri: str, mib: int) -> None:
    (folder / "image").write_bytes(os.urandom(mib * MIB))
    client("nbdcopy", "image", uri, folder=folder)


def test_a_served_drive_is_the_start_of_a_run_and_the_other_way_round(tmp_path: Path) -> None:
    with serving(tmp_path, "--backing", "data") as server:
        fill(tmp_path, server.uri, 24)
        assert "a server uses the drive" in interpulse(tmp_path, "state", "age", "data.state", code=2)
        server.end()
    state = shown(tmp_path, "data.state")
    assert state["mapped_bytes"] == 24 * MIB
    assert state["done"]["sessions"] == 1  # type: ignore[index]
    (tmp_path / "run.toml").write_text(DRIVE.replace("0.0", "0.9") + LOAD)
    line = ("run", "run.toml", "--start-state", "data.state", "--save-state", "after.state", "--json")
    results = [json.loads(interpulse(tmp_path, *line)) for _ in range(2)]
    iops = [result["cases"][0]["seeds"][0]["iops"] for result in results]
    assert iops[0] == iops[1] > 0
    # The run reads what the session wrote: with [precondition] it would read another drive.
    without = json.loads(interpulse(tmp_path, "run", "run.toml", "--json"))
    assert without["cases"][0]["seeds"][0]["iops"] != iops[0]
    after = shown(tmp_path, "after.state")
    assert after["done"]["sessions"] == 2  # type: ignore[index]
    assert after["mapped_bytes"] >= state["mapped_bytes"]  # type: ignore[operator]
    assert "2 in " in interpulse(tmp_path, "state", "show", "after.state")
    (tmp_path / "after.state").rename(tmp_path / "data.state")
    with serving(tmp_path, "--backing", "data") as server:
        client("nbdcopy", server.uri, "copy", folder=tmp_path)
        assert (tmp_path / "copy").read_bytes()[: 24 * MIB] == (tmp_path / "image").read_bytes()
        server.end()
    assert shown(tmp_path, "data.state")["done"]["sessions"] == 3  # type: ignore[index]


def test_a_state_is_copied_with_its_data_and_aged(tmp_path: Path) -> None:
    with serving(tmp_path, "--backing", "data") as server:
        fill(tmp_path, server.uri, 8)
        server.end()
    other = DRIVE + '[suspend]\nprogram.scheme = "loop-boundary"\n[errors]\ntable = "tlc-3d"\n'
    (tmp_path / "other.toml").write_text(other)
    interpulse(tmp_path, "state", "clone", "data.state", "new.state", "--config", "other.toml", "--data")
    assert (tmp_path / "new").read_bytes() == (tmp_path / "data").read_bytes()
    assert (tmp_path / "new").stat().st_blocks * 512 < 20 * MIB, "the copy is sparse"
    interpulse(tmp_path, "state", "age", "new.state", "--cycles", "1000", "--retention", "90d", "--reads", "7")
    before, after = shown(tmp_path, "data.state"), shown(tmp_path, "new.state")
    assert after["pe_cycles"]["min"] == before["pe_cycles"]["min"] + 1000  # type: ignore[index]
    assert after["age_ns"]["max"] == 90 * 86400 * 10**9  # type: ignore[index]
    table = interpulse(tmp_path, "state", "show", "new.state")
    assert "1,000 cycles, 90.000 days, 7 reads of every block" in table
    with serving(tmp_path, "--backing", "new", "--json", config=other) as server:
        client("nbdcopy", server.uri, "copy", folder=tmp_path)
        report = json.loads(server.end())
    # Old data need retries.
    assert report["counters"]["errors"]["host_reads_retried"] > 0


MODE = '[part.slc-mode]\nloops = 5\npulse = "20us"\nverify = "20us"\nread = "35us"\nendurance = 30000\n'
SLC = MODE + '[ftl.slc-cache]\nkind = "static-and-dynamic"\nsize = "4MiB"\ndynamic-size = "4MiB"\nidle-delay = "1ms"\n'


@pytest.mark.parametrize(
    "kind",
    [
        SLC,
        '[ftl]\nmapping = "cached"\nmap-cache-size = "32KiB"\n',
        '[ftl]\nfamily = "log-block"\n',
        '[power-loss]\nat = "100d"\n[cache]\nprotected = false\n',
        "[[namespace]]\n[[namespace]]\n",
    ],
    ids=["slc", "mapping-cache", "log-blocks", "power-loss", "namespaces"],
)
def test_runs_of_every_kind_of_drive_continue(tmp_path: Path, kind: str) -> None:
    """Two runs from the same state are equal, and differ from one that begins anew."""
    config = DRIVE.replace("0.0", "0.5").replace("= 24", "= 48")
    (tmp_path / "run.toml").write_text(LOAD.replace("[run]", config + "[run]") + kind)
    interpulse(tmp_path, "run", "run.toml", "--save-state", "first.state")
    line = ("run", "run.toml", "--start-state", "first.state", "--save-state", "second.state", "--json")
    results = [json.loads(interpulse(tmp_path, *line))["cases"][0]["seeds"][0] for _ in range(2)]
    assert results[0]["latency_us"] == results[1]["latency_us"]
    anew = json.loads(interpulse(tmp_path, "run", "run.toml", "--json"))["cases"][0]["seeds"][0]
    assert anew["latency_us"] != results[0]["latency_us"]
    first, second = shown(tmp_path, "first.state"), shown(tmp_path, "second.state")
    assert (first["done"]["sessions"], second["done"]["sessions"]) == (1, 2)  # type: ignore[index]
    assert second["mapped_bytes"] >= first["mapped_bytes"] > 0  # type: ignore[operator]


def test_a_served_drive_with_an_slc_cache_continues_after_a_kill(tmp_path: Path) -> None:
    """The saved state has blocks in SLC mode, and the next server reads and writes on."""
    options = ("--backing", "data", "--save-every", "1", "--json")
    with serving(tmp_path, *options, config=DRIVE.replace("= 24", "= 48") + SLC) as server:
        fill(tmp_path, server.uri, 24)
        began = time.monotonic()
        while not (tmp_path / "data.state").exists():
            assert time.monotonic() - began < PATIENCE, server.log
            time.sleep(0.1)
        server.process.kill()
    state = shown(tmp_path, "data.state")
    assert state["mapped_bytes"] == 24 * MIB
    with serving(tmp_path, *options, config=DRIVE.replace("= 24", "= 48") + SLC) as server:
        client("nbdcopy", server.uri, "copy", folder=tmp_path)
        assert (tmp_path / "copy").read_bytes()[: 24 * MIB] == (tmp_path / "image").read_bytes()
        fill(tmp_path, server.uri, 24)
        report = json.loads(server.end())
    assert report["counters"]["slc"]["slc_units"] > 0
    assert shown(tmp_path, "data.state")["done"]["sessions"] == 2  # type: ignore[index]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("state", "show", "nothing.state"), "No such file"),
        (("state", "show", "run.toml"), "not a state of interpulse; legal: a file that"),
        (("state", "show", "."), "it is a folder"),
        (("state", "show", "short.state"), "its end is missing"),
        (("state", "age", "drive.state", "--retention", "30 years"), "retention"),
        (("state", "age", "drive.state", "--retention", "21y"), "retention"),
        (("state", "age", "drive.state", "--cycles", "-1"), "cycles"),
        (("state", "age", "drive.state", "--cycles", "2000000"), "legal: at most 1000000"),
        (("state", "clone", "drive.state", "drive.state"), "another file"),
        (("state", "clone", "drive.state", "x.state", "--data"), "drive"),
        (("state", "clone", "drive.state", "x.state", "--case", "a"), "--config"),
        (("state", "clone", "drive.state", "x.state", "--config", "large.toml"), "part.blocks-per-plane is 24 in"),
        (("run", "run.toml", "--start-state", "large.toml"), "not a state of interpulse"),
        (("run", "run.toml", "--save-state", "y.state", "--repeat", "2"), "--repeat"),
        (("run", "cases.toml", "--save-state", "y.state"), "2 cases have one state file"),
        (("run", "array.toml", "--start-state", "drive.state"), "array: the state of several drives"),
        (("run", "large.toml", "--start-state", "drive.state"), "part.blocks-per-plane is 24 in the state and 48"),
        (("serve", "array.toml", "--backing", "z"), "--no-state"),
    ],
)
def test_what_does_not_go_together_is_named(tmp_path: Path, arguments: tuple[str, ...], expected: str) -> None:
    run = DRIVE + LOAD
    (tmp_path / "run.toml").write_text(run)
    (tmp_path / "large.toml").write_text(run.replace("= 24", "= 48"))
    (tmp_path / "array.toml").write_text(run + '[array]\nlevel = "raid5"\ndrives = 4\n')
    (tmp_path / "cases.toml").write_text(run + '[[case]]\nname = "a"\n[[case]]\nname = "b"\n')
    interpulse(tmp_path, "run", "run.toml", "--save-state", "drive.state")
    whole = (tmp_path / "drive.state").read_bytes()
    (tmp_path / "short.state").write_bytes(whole[:5000])
    assert expected in interpulse(tmp_path, *arguments, code=2)
    assert (tmp_path / "drive.state").read_bytes() == whole
    assert not [name for name in ("x.state", "y.state", "x") if (tmp_path / name).exists()]


def test_a_power_cut_reaches_the_client_as_errors_and_the_drive_comes_back(tmp_path: Path) -> None:
    config = DRIVE + '[power-loss]\nat = "100d"\noff-for = "300ms"\n'
    options = ("--backing", "data", "--no-state", "--json", "--pace", "real")
    with serving(tmp_path, *options, config=config) as server:
        fill(tmp_path, server.uri, 4)
        more = ("--time_based", "--runtime=4", "--continue_on_error=all", "--output-format=json")
        line = ["fio", "--name=cut", "--ioengine=nbd", f"--uri={server.uri}", "--rw=randrw", "--size=4M", "--bs=4k"]
        with subprocess.Popen(
            [*line, "--iodepth=8", *more], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as fio:
            # As often as it takes: a busy machine may start fio late.
            while fio.poll() is None:
                time.sleep(0.8)
                server.process.send_signal(signal.SIGUSR1)
            out, _ = fio.communicate(timeout=PATIENCE)
        job = json.loads(out[out.index("{") :])["jobs"][0]
        assert job["total_err"] > 0
        assert max(job[kind]["lat_ns"]["max"] for kind in ("read", "write")) > 250_000_000
        with Client(tmp_path) as after:
            assert len(after.request(0, 0, 4096)) == 4096
        report = json.loads(server.end())
    cuts = report["power_cuts"]
    assert len(cuts) >= 2
    assert all(cut["acknowledged_units_lost"] == 0 and cut["served_ns"] > cut["at_ns"] for cut in cuts)
    assert "SIGUSR1: the power of the drive is cut" in server.log


def test_a_drive_without_power_loss_ignores_the_signal(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.process.send_signal(signal.SIGUSR1)
        began = time.monotonic()
        while "SIGUSR1: ignored" not in server.log:
            assert time.monotonic() - began < PATIENCE, server.log
            time.sleep(0.05)
        server.end()


def test_faults_reach_fio(tmp_path: Path) -> None:
    """A die fails: reads of its data end with EIO, what is written again is read."""
    fault = '[[fault]]\nkind = "die-failure"\ndie = 3\nafter = 1000\n'
    config = DRIVE.replace("0.0", "1.0") + "ftl.over-provisioning = 0.6\n" + fault
    with serving(tmp_path, "--json", config=config) as server:
        line = ("--ioengine=nbd", f"--uri={server.uri}", "--size=16M", "--bs=4k", "--output-format=json")
        read = ("fio", "--name=read", *line, "--rw=read", "--continue_on_error=all", "--ignore_error=EIO:EIO")
        job = json.loads(client(*read, folder=tmp_path).partition("\n{")[2].join(("{", "")))["jobs"][0]
        assert job["total_err"] > 100
        client("fio", "--name=write", *line, "--rw=write", "--verify=crc32c", "--verify_fatal=1", folder=tmp_path)
        report = json.loads(server.end())
    assert report["smart"]["failed_dies"] == 1
    assert report["smart"]["reads_of_lost_data"] > 100


def wait_for_cuts(server: Served, count: int) -> None:
    """Waits until the drive has lost power so often."""
    began = time.monotonic()
    while True:
        with urllib.request.urlopen(f"http://{server.web}/live.json", timeout=PATIENCE) as answer:
            if json.load(answer)["power_cuts"]["count"] == count:
                return
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.05)


def test_a_power_cut_takes_back_what_an_unprotected_cache_held(tmp_path: Path) -> None:
    """An acknowledged write is lost, a flushed one stays, also for the next server."""
    config = DRIVE + '[power-loss]\nat = "100d"\noff-for = "1ms"\n[cache]\nprotected = false\n'
    options = ("--backing", "data", "--no-state", "--json", "--web", "127.0.0.1:0")
    new, old = b"n" * 4096, b"o" * 4096
    with serving(tmp_path, *options, config=config) as server, Client(tmp_path) as writer:
        writer.request(1, 0, 4096, old)
        writer.request(1, 8192, 4096, old)
        writer.request(3, 0, 0)
        writer.request(1, 0, 4096, new)
        writer.request(1, 8192, 4096, new, flags=1)
        writer.request(1, 4096, 4096, new)
        cuts = cut_power(server)
        assert cuts["count"] == 1
        # The flush of the FUA write covers the write before it.
        assert cuts["last"]["acknowledged_units_lost"] == 1
        assert writer.request(0, 0, 12288) == new + bytes(4096) + new
        writer.request(1, 0, 4096, old)
        server.process.send_signal(signal.SIGUSR1)
        wait_for_cuts(server, 2)
        assert writer.request(0, 0, 4096) == new
        writer.request(1, 4096, 4096, old)
        server.process.kill()
    with serving(tmp_path, *options, config=config) as server:
        with Client(tmp_path) as reader:
            assert reader.request(0, 0, 12288) == new + old + new
        assert json.loads(server.end())["power_cuts"] == []
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("data")) == ["data"]


def test_an_array_loses_power_and_keeps_its_data(tmp_path: Path) -> None:
    """A cut by POST, and one by the signal during the resync after it."""
    array = '[array]\nlevel = "raid5"\ndrives = 4\n'
    config = DRIVE + array + '[power-loss]\nat = "100d"\noff-for = "1ms"\n'
    options = ("--backing", "data", "--no-state", "--json", "--web", "127.0.0.1:0")
    with serving(tmp_path, *options, config=config) as server, Client(tmp_path) as client_:
        client_.request(1, 0, MIB, b"a" * MIB)
        assert cut_power(server)["count"] == 1
        client_.request(1, 4096, 4096, b"b" * 4096)
        server.process.send_signal(signal.SIGUSR1)
        wait_for_cuts(server, 2)
        assert client_.request(0, 0, MIB) == b"a" * 4096 + b"b" * 4096 + b"a" * (MIB - 8192)
        cuts = json.loads(server.end())["power_cuts"]
    assert len(cuts) == 2
    assert all(cut["acknowledged_units_lost"] == 0 and cut["mounting_ns"] > 0 for cut in cuts)


def test_an_array_with_an_unprotected_cache_is_refused_with_power_cuts(tmp_path: Path) -> None:
    array = '[array]\nlevel = "raid5"\ndrives = 4\n'
    config = DRIVE + array + '[power-loss]\nat = "1s"\n[cache]\nprotected = false\n'
    with started(tmp_path, "--listen", "unix:socket", "--no-state", config=config) as server:
        code, _, err = server.wait()
    assert code == 2
    assert "cache.protected = false" in err

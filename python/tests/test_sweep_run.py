"""Does a sweep run the same everywhere, keep what has ended, and say what is wrong with where it is to run?"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import psutil
import pytest

import interpulse
from interpulse import ConfigError
from interpulse.sweeps import cluster as clusters
from interpulse.sweeps import engine
from tests import deadly, measured
from tests.dask_cluster import NODES, started
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.dask_cluster import TestCluster

FILE = """repetitions = 2
[config]
config_version = 1
drive = "a4-mini"
run.requests = 300
run.warmup = "0s"
precondition.fill = "50%"
flow = [{ name = "mixed", depth = 2, read = 0.5 }]
[[axis]]
key = "flow.0.from"
name = "begin"
values = [0, 0.5]
[[axis]]
key = "flow.0.to"
name = "end"
values = [0.4, 1]
[columns]
moved = "counters.ftl.gc_units"
[derived]
spread = "read_max_us / read_p50_us"
[constraints]
tail = "read_max_us < 5000"
"""


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestCluster]:
    """Two nodes over TLS."""
    folder = tmp_path_factory.mktemp("cluster")
    with started(folder, tls=True, cache=folder / "cache") as cluster:
        yield cluster


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(FILE)
    return path


def command(*arguments: str, settings: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")} | (settings or {})
    line = [sys.executable, "-m", "interpulse", "sweep", *arguments]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_a_cluster_over_tls_gives_the_bytes_of_this_machine(tls: TestCluster, file: Path, tmp_path: Path) -> None:
    file.write_text(FILE.replace("[derived]", 'nothing = "no.such.figure"\n[derived]'))
    far = command(str(file), "--on", tls.address, "--out", str(tmp_path / "far"), "--json", settings=tls.settings)
    assert far.returncode == 2, far.stderr
    assert "error: columns.nothing = 'no.such.figure': no result has this figure" in far.stderr
    assert '"simulated": 8' in far.stdout
    near = interpulse.sweep(file, out=tmp_path / "near", jobs=1)
    assert (near.simulated, near.kept, len(near), near.missing) == (8, 0, 8, 0)
    assert (tmp_path / "far" / "results.parquet").read_bytes() == near.path.read_bytes()

    # What cannot be used is a row with its error, and the rest went on.
    assert list(near.failed) == [4, 5]
    assert "flow.0.to" in near.failed[4]
    frame = near.to_polars()
    assert frame["status"].to_list() == ["done"] * 4 + ["failed"] * 2 + ["done"] * 2
    assert frame["begin"].to_list() == [0.0] * 4 + [0.5] * 4
    assert frame["iops"].null_count() == frame["feasible"].null_count() == 2
    assert near.columns_without_figures == ["nothing"]
    alone = interpulse.run(near_config(file), seed=frame["seed"][7])
    assert near.result(7).counters == alone.counters
    assert frame["iops"][7] == alone.iops
    assert frame["moved"][7] == alone.counters["ftl"]["gc_units"]
    with pytest.raises(ValueError, match=r"flow\.0\.to"):
        near.result(4)

    # Nothing runs twice, and what was added to the sweep runs alone.
    file.write_text(file.read_text().replace("[0.4, 1]", "[0.4, 1, 0.8]").replace("# ", ""))
    told: list[tuple[int, int]] = []
    more = interpulse.sweep(
        file, out=tmp_path / "near", jobs=1, progress=lambda done, total, _: told.append((done, total))
    )
    assert (more.simulated, more.kept, len(more)) == (4, 8, 12)
    assert (told[0], told[-1], told) == ((8, 12), (12, 12), sorted(told)), "it counts from where it was"
    again = interpulse.sweep(file, out=tmp_path / "near", on="tcp://127.0.0.1:1")
    assert (again.simulated, again.kept) == (0, 12), "where nothing is missing, no cluster is asked"


def near_config(file: Path) -> interpulse.Config:
    """The last point of the sweep, written by hand."""
    text = FILE[FILE.index("config_version") : FILE.index("[[axis]]")]
    return interpulse.Config(text, path=str(file)).set(**{"flow.0.from": 0.5, "flow.0.to": 1})


def test_the_dataset_is_read_by_duckdb_and_pandas_as_it_is(tls: TestCluster, file: Path, tmp_path: Path) -> None:
    duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    ended = command(str(file), "--on", tls.address, "--out", str(tmp_path / "o"), settings=tls.settings)
    assert ended.returncode == 0, ended.stderr
    path = tmp_path / "o" / "results.parquet"
    query = f"select begin, count(*) from '{path}' where status = 'done' group by begin order by begin"
    assert duckdb.sql(query).fetchall() == [(0.0, 4), (0.5, 2)]
    assert pandas.read_parquet(path)["spread"].notna().sum() == 6
    assert "8 rows in" in ended.stdout


def test_where_there_is_no_cluster_it_is_said(file: Path, tmp_path: Path) -> None:
    for on, said in {
        "tcp://127.0.0.1:1": "no scheduler answers there",
        "127.0.0.1:8786": "expected tcp://HOST:PORT",
        "none.json": "there is no such file",
    }.items():
        with pytest.raises(ConfigError, match=said) as caught:
            interpulse.sweep(file, out=tmp_path / "o", on=on)
        assert on in str(caught.value)


def test_what_is_no_scheduler_is_said_whatever_it_answers(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "CONNECT_S", 1.0)

    def listen(answer: bytes) -> str:
        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    connection.sendall(answer)
                    held.append(connection)

        server = ends.enter_context(socket.create_server(("127.0.0.1", 0)))
        # Closed only, an accept that waits would go on.
        ends.callback(server.shutdown, socket.SHUT_RDWR)
        threading.Thread(target=serve, daemon=True).start()
        return f"tcp://127.0.0.1:{server.getsockname()[1]}"

    held: list[socket.socket] = []
    with ExitStack() as ends:
        for answer, said in {b"": "no answer within 1 s", b"HTTP/1.1 400 Bad Request\r\n" * 4: "protocol"}.items():
            with pytest.raises(ConfigError, match=f"no scheduler answers there .*{said}"):
                interpulse.sweep(file, out=tmp_path / "o", on=listen(answer))
        for connection in held:
            connection.close()


def test_workers_of_another_version_are_refused(
    tls: TestCluster, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "build_id", lambda: "0123456789abcdef")
    import dask

    with monkeypatch.context() as surroundings:
        for name, value in tls.settings.items():
            surroundings.setenv(name, value)
        dask.config.refresh()
        with pytest.raises(
            ConfigError, match=r"has interpulse .* this is .* of build 0123456789abcdef; expected the same"
        ):
            interpulse.sweep(file, out=tmp_path / "o", on=tls.address)
    # Without them again: other tests of this process ask for clusters without TLS.
    dask.config.refresh()


def test_a_store_that_cannot_be_is_said(file: Path, tmp_path: Path) -> None:
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "store").write_text("in the way")
    with pytest.raises(interpulse.RunError, match="the sweep needs a place for its results"):
        interpulse.sweep(file, out=tmp_path / "o")


@pytest.mark.verify
def test_what_no_worker_survives_is_given_up_and_the_rest_goes_on(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(engine, "run_batch", deadly.run)
        most = interpulse.sweep(file, out=tmp_path / "o", jobs=2)
    assert (most.simulated, len(most), most.missing) == (7, 8, 0)
    assert "its worker died" in most.failed[2]
    assert most.to_polars()["key"].null_count() == 1
    rest = interpulse.sweep(file, out=tmp_path / "o", jobs=2)
    assert (rest.simulated, rest.kept, list(rest.failed)) == (1, 7, [4, 5]), "it is not on record as a failure"


@pytest.mark.verify
def test_what_no_worker_has_the_memory_for_is_said_and_not_tried(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cluster"
    with started(folder, tls=False, cache=folder / "cache", options=("--memory-limit", "150MB")) as cluster:
        none = interpulse.sweep(file, out=tmp_path / "o", on=cluster.address)
    assert (none.simulated, len(none.failed)) == (0, 8)
    assert none.failed[0].startswith("it takes 1")
    assert none.failed[0].endswith("MiB of memory; the largest worker has 143.1 MiB")
    assert interpulse.sweep(file, out=tmp_path / "o", jobs=1).simulated == 8, "it is not on record as a failure"


@pytest.mark.verify
def test_a_full_disk_is_said_and_what_had_ended_is_kept(file: Path, tmp_path: Path) -> None:
    file.write_text(FILE.replace("repetitions = 2", "repetitions = 200"))
    line = [sys.executable, "-m", "interpulse", "sweep", str(file), "--out", str(tmp_path / "o"), "--jobs", "1"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    # The index of the worker grows to its limit: 66 bytes a line.
    limited = ["prlimit", "--fsize=9000", *line]
    full = subprocess.run(limited, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert full.returncode == 2, full.stderr
    assert "File too large" in full.stderr
    assert "the same command resumes from there" in full.stderr
    assert "Traceback" not in full.stderr
    before = kept(tmp_path / "o")
    assert before > 100
    ended = subprocess.run([*line, "--json"], env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["rows"] == 800
    assert told["kept"] >= before - 1


@pytest.mark.verify
def test_a_script_needs_no_guard(file: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import interpulse\nprint(interpulse.sweep({str(file)!r}, out={str(tmp_path / 'o')!r}, jobs=2))\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    ran = [sys.executable, str(script)]
    ended = subprocess.run(ran, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("8 simulated") == 1


LONG = """repetitions = 40
[config]
config_version = 1
drive = "a4-mini"
precondition.fill = "100%"
flow = [{ name = "mixed", depth = 8, read = 0.75 }]
[set]
run.requests = 40000
run.warmup = "0s"
[[axis]]
key = "flow.0.depth"
values = [1, 8, 32]
"""


def kept(folder: Path) -> int:
    """Lines in the index of a store: one for each simulation that was done."""
    return sum(path.read_bytes().count(b"\n") for path in folder.glob("store/index/*"))


def begun(arguments: list[str], folder: Path, least: int) -> subprocess.Popen[str]:
    """A sweep that has done some of its simulations, and has not ended."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    line = [sys.executable, "-m", "interpulse", "sweep", *arguments, "--out", str(folder), "--json"]
    running = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 120
    while kept(folder) < least and time.monotonic() < end and running.poll() is None:
        time.sleep(0.02)
    assert kept(folder) >= least
    assert running.poll() is None
    return running


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What the long sweep comes to on one worker of this machine."""
    folder = tmp_path_factory.mktemp("expected")
    (folder / "long.toml").write_text(LONG)
    ended = command(str(folder / "long.toml"), "--jobs", "1", "--out", str(folder / "o"))
    assert ended.returncode == 0, ended.stderr
    return (folder / "o" / "results.parquet").read_bytes()


@pytest.mark.verify
@pytest.mark.parametrize("what", ["worker", "driver", "interrupt"])
@pytest.mark.parametrize("where", ["here", "cluster"])
def test_what_is_killed_in_the_middle_costs_nothing_that_had_ended(
    what: str, where: str, expected: bytes, tmp_path: Path
) -> None:
    path, out = tmp_path / "long.toml", tmp_path / "o"
    path.write_text(LONG)
    with ExitStack() as ends:
        arguments = [str(path), "--jobs", "2"]
        if where == "cluster":
            nodes = ends.enter_context(started(tmp_path / "dask", tls=False, cache=tmp_path / "cache"))
            arguments = [str(path), "--on", nodes.address]
        running = begun(arguments, out, 20)
        if what == "worker" and where == "cluster":
            nodes.workers[NODES[1]].kill()
        elif what == "worker":
            found = psutil.Process(running.pid).children(recursive=True)
            next(each for each in found if "interpulse.sweeps.worker_process" in each.cmdline()).kill()
        elif what == "driver":
            running.kill()
        else:
            running.send_signal(signal.SIGINT)
        out_text, err = running.communicate(timeout=120)
        if what == "worker":
            assert running.returncode == 0, err
            told = json.loads(out_text)
        else:
            assert running.returncode == (-signal.SIGKILL if what == "driver" else 130), err
            assert "Traceback" not in err
            before = kept(out)
            ended = command(*arguments, "--out", str(out), "--json")
            assert ended.returncode == 0, ended.stderr
            told = json.loads(ended.stdout)
            assert told["kept"] >= before >= 20
        assert (told["rows"], told["failed"], told["missing"]) == (120, 0, 0)
    assert kept(out) == 120, "each was done once"
    assert (out / "results.parquet").read_bytes() == expected


@pytest.mark.verify
def test_nodes_that_do_not_see_the_store_send_what_they_did(expected: bytes, tmp_path: Path) -> None:
    """A store that a worker does not see is made by a folder that is another one for it: its identity differs."""
    path, out = tmp_path / "long.toml", tmp_path / "o"
    path.write_text(LONG)
    script = (
        "import sys\nfrom interpulse.sweeps import engine, sweep\n"
        "from dataclasses import replace\nown = engine.Batch\n"
        "engine.Batch = lambda *of: replace(own(*of), store='/nonexistent/store')\n"
        "from interpulse.cli import main\nmain(['sweep', *sys.argv[1:]])\n"
    )
    with started(tmp_path / "dask", tls=False, cache=tmp_path / "cache") as nodes:
        line = [sys.executable, "-c", script, str(path), "--on", nodes.address, "--out", str(out), "--json"]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
        ended = subprocess.run(line, env=environment, capture_output=True, text=True, check=False, timeout=300)
        assert ended.returncode == 0, ended.stderr
        assert json.loads(ended.stdout)["simulated"] == 120
    assert (out / "results.parquet").read_bytes() == expected
    assert not list((tmp_path / "cache" / "sweeps").glob("*")), "what nodes kept meanwhile is gone"


MEASURED = """
import sys
from interpulse.cli import main
from interpulse.sweeps import engine
from tests import measured
engine.run_batch = measured.run
main(["sweep", *sys.argv[1:]])
"""


@pytest.mark.verify
def test_two_thousand_small_runs_cost_at_most_a_tenth_more_than_their_simulation(tmp_path: Path) -> None:
    """All CPU time of driver and workers against that of the simulator's own threads in the same workers.

    Not against a run without a sweep: on a machine that does other things, twice the same takes a fifth more or less.
    Small is some 80 ms, as in docs/SWEEP.md: what a simulation costs beside itself, 3 to 4 ms and its share of the
    start, is the same for any.
    """
    path, spent = tmp_path / "cost.toml", tmp_path / "spent"
    spent.mkdir()
    path.write_text(LONG.replace("repetitions = 40", "repetitions = 667").replace("40000", "400000"))
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), measured.SPENT: str(spent)}
    begin = time.monotonic()
    line = [sys.executable, "-c", MEASURED, str(path), "--jobs", "2", "--out", str(tmp_path / "o"), "--json"]
    with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True) as swept:
        assert swept.stdout is not None
        told = json.loads(swept.stdout.read())
        # It has the workers in it, for whom the driver has waited.
        _, status, used = os.wait4(swept.pid, 0)
        swept.returncode = os.waitstatus_to_exitcode(status)
    assert swept.returncode == 0
    assert told["simulated"] == 2001
    whole = used.ru_utime + used.ru_stime
    pure = sum(float(each) for file in spent.iterdir() for each in file.read_text().split())
    print(  # noqa: T201 - the figure of docs/SWEEP.md
        f"2,001 runs: {whole:.1f} s of CPU in {time.monotonic() - begin:.1f} s, {pure:.1f} s of them the simulator's"
    )
    assert whole <= 1.1 * pure, (pure, whole)

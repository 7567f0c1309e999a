"""Do limits of memory, disk and numbers lead to fewer cases, a note or an error, and never to a hang or a bug?"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from interpulse import ConfigError
from interpulse.files.cache import parse_size
from tests import sample
from tests.conftest import process
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

SMALL = str(ROOT / "examples" / "small.toml")
QUICK = ("--set", "run.requests=2000")

LARGE = """\
drive = "a4"
[part]
blocks-per-plane = 200
[precondition]
fill = "1%"
[run]
requests = 1000
[[flow]]
depth = 8
read = "50%"
[[case]]
name = "one"
[[case]]
name = "two"
"""
"""Two cases whose maps take 189 MB of address space each, though little of it is touched."""


def run(*arguments: str, limit: int | None = None, **options: str) -> tuple[int, str, str]:
    """Code, output and errors of `interpulse run` with so many bytes of address space."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    with process("-m", "interpulse", "run", *arguments, preexec_fn=limited, **options) as running:
        out, err = running.communicate(timeout=60)
    assert "Traceback" not in err
    assert "panicked" not in err
    return running.returncode, out, err


def figures(text: str) -> list[float]:
    return [seed["iops"] for seed in sample.seeds(json.loads(text))]


def test_an_address_space_for_one_case_runs_one_at_a_time_and_gives_the_same(tmp_path: Path) -> None:
    config = tmp_path / "large.toml"
    config.write_text(LARGE)
    at_once = run(str(config), "--no-cache", "--json", "--jobs", "2")
    code, out, err = run(str(config), "--no-cache", "--json", "--jobs", "2", limit=450 * 10**6)
    assert code == 0, err
    assert figures(out) == figures(at_once[1])
    (note,) = [line for line in err.splitlines() if line.startswith("note: ")]
    assert "take 189 MB of memory" in note
    assert note.endswith("free within the limit of this process's address space (ulimit -v): 1 at a time")
    code, out, err = run(str(config), "--no-cache", "--json", limit=250 * 10**6)
    assert (code, out) == (2, "")
    assert 'error: the maps of case "two" take 189 MB of memory' in err
    assert "(ulimit -v)" in err


@pytest.mark.parametrize("kind", ["fifo", "folder", "device"])
def test_what_is_no_snapshot_is_said_and_the_drive_preconditioned_anew(tmp_path: Path, kind: str) -> None:
    arguments = (SMALL, *QUICK, "--json", "--cache-dir", str(tmp_path))
    _, first, _ = run(*arguments)
    (snapshot,) = tmp_path.iterdir()
    snapshot.unlink()
    if kind == "fifo":
        os.mkfifo(snapshot)
    elif kind == "folder":
        snapshot.mkdir()
    else:
        snapshot.symlink_to("/dev/zero")
    code, out, err = run(*arguments)
    assert code == 0, err
    assert figures(out) == figures(first)
    named = {"fifo": "a pipe"}.get(kind, f"a {kind}")
    assert f"note: snapshot not used: {snapshot} does not fit: it is {named}; preconditioning anew" in err
    if kind == "folder":
        assert f"note: the preconditioned state could not be kept: {snapshot}: Is a directory" in err
    else:
        assert snapshot.is_file()


def test_what_a_killed_save_left_is_counted_and_goes_with_the_next(
    tmp_path: Path, interpulse: Callable[..., Ended]
) -> None:
    _, out, _ = run(SMALL, *QUICK, "--json", "--cache-dir", str(tmp_path))
    (snapshot,) = tmp_path.iterdir()
    name = snapshot.name.partition("-")[0]
    with subprocess.Popen(["true"]) as dead:
        dead.wait()
    left = tmp_path / f"{name}.{dead.pid}-0.tmp"
    living = tmp_path / f"{name}.{os.getpid()}-0.tmp"
    # A process elsewhere whose number says nothing here.
    elsewhere = tmp_path / f"{name}.0123456789abcdef-{dead.pid}-0.tmp"
    for path in (left, living, elsewhere):
        path.write_bytes(b"INTERPLS".ljust(2**20))
    shown = interpulse("cache", "--cache-dir", str(tmp_path), "--json").json()
    assert shown["used_bytes"] == snapshot.stat().st_size + 3 * 2**20
    shown = " ".join(interpulse("cache", "--cache-dir", str(tmp_path)).out.split())
    assert "partial after a killed run" in shown
    snapshot.unlink()
    run(SMALL, *QUICK, "--json", "--cache-dir", str(tmp_path))
    assert sorted(tmp_path.iterdir()) == sorted([snapshot, living, elsewhere])
    os.utime(living, (time.time() - 3700,) * 2)
    os.utime(elsewhere, (time.time() - 3700,) * 2)
    snapshot.unlink()
    run(SMALL, *QUICK, "--json", "--cache-dir", str(tmp_path))
    assert list(tmp_path.iterdir()) == [snapshot]
    left.write_bytes(b"INTERPLS")
    assert interpulse("cache", "--cache-dir", str(tmp_path), "--clear").code == 0
    assert list(tmp_path.iterdir()) == []
    assert figures(out)


def test_a_save_that_was_really_killed_leaves_nothing_to_the_next(tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10**6, 10**6))

    cache = tmp_path / "cache"
    script = (
        "import signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_DFL); from interpulse.cli import main; main()"
    )
    with process("-c", script, "run", SMALL, *QUICK, "--cache-dir", str(cache), preexec_fn=small_files) as killed:
        killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGXFSZ, "in the middle of its file"
    (left,) = cache.iterdir()
    assert (left.suffix, left.stat().st_size) == (".tmp", 10**6)
    assert run(SMALL, *QUICK, "--cache-dir", str(cache))[0] == 0
    assert [path.suffix for path in cache.iterdir()] == [".snapshot"]


@pytest.mark.parametrize("jobs", ["1000000000", str(2**64)])
def test_more_jobs_than_there_are_cases_are_as_many_as_there_are(jobs: str) -> None:
    code, out, err = run(SMALL, *QUICK, "--no-cache", "--json", "--jobs", jobs)
    assert code == 0, err
    assert len(figures(out)) == 2


@pytest.mark.parametrize("text", ["16777216TiB", "9" * 400, "99999999999999999999"])
def test_a_limit_beyond_every_disk_is_refused(
    text: str, interpulse: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERPULSE_CACHE_LIMIT", text)
    ended = interpulse("run", SMALL)
    assert (ended.code, ended.out) == (2, "")
    assert ended.error() == f"INTERPULSE_CACHE_LIMIT = '{text}' is too much: at most 16777215TiB"


def test_sizes_are_exact() -> None:
    assert parse_size("16777215TiB", "x") == 2**64 - 2**40
    assert parse_size(str(2**64 - 1), "x") == 2**64 - 1
    assert parse_size("1.5 KiB", "x") == 1536
    with pytest.raises(ConfigError, match="is not a size"):
        parse_size("1e9", "x")

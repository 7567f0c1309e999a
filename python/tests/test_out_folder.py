"""Is `--out` checked before the run, written whole, and is a result never lost to a full disk?"""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from interpulse import _core
from interpulse.cli import stale_files
from interpulse.cli.out_folder import OutFolder
from tests import sample
from tests.conftest import process
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended
    from tests.fake_core import FakeCore


def full_disk(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_folder_has_the_result_the_table_and_the_configuration(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str, tmp_path: Path
) -> None:
    out = tmp_path / "new" / "out"
    ended = interpulse("run", config_file, "--full", "--out", str(out))
    assert ended.code == 0
    assert sorted(path.name for path in out.iterdir()) == ["config.resolved.json", "result.json", "table.txt"]
    assert json.loads((out / "result.json").read_text()) == core.result
    assert (out / "table.txt").read_text() == ended.out
    assert json.loads((out / "config.resolved.json").read_text())["entries"][0]["value"] == "a4-tlc"
    assert (out / "result.json").stat().st_mode & 0o077 == 0o066 & ~_umask()


def test_a_second_run_replaces_the_first(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str, tmp_path: Path
) -> None:
    interpulse("run", config_file, "--out", str(tmp_path))
    sample.seed(core.result)["seed"] = 2
    assert interpulse("run", config_file, "--out", str(tmp_path)).code == 0
    assert sample.seed(json.loads((tmp_path / "result.json").read_text()))["seed"] == 2


def test_a_file_in_its_place_is_refused_before_the_run(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str
) -> None:
    ended = interpulse("run", config_file, "--out", config_file)
    assert (ended.code, ended.error()) == (2, f"--out {config_file}: this is a file, not a folder")
    assert core.starts == []


def test_a_place_that_cannot_be_written_is_refused_before_the_run(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str
) -> None:
    ended = interpulse("run", config_file, "--out", "/proc/nowhere")
    assert (ended.code, ended.out) == (2, "")
    assert ended.error().startswith("--out /proc/nowhere: ")
    assert core.starts == []


def test_a_full_disk_is_noticed_before_the_run(
    core: FakeCore,
    interpulse: Callable[..., Ended],
    config_file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "fsync", full_disk)
    out = tmp_path / "out"
    ended = interpulse("run", config_file, "--out", str(out))
    assert (ended.code, ended.error()) == (2, f"--out {out}: no space left on device")
    assert core.starts == []
    assert list(out.iterdir()) == [], "the probe is gone"


@pytest.mark.parametrize("json_option", [[], ["--json"]])
def test_a_disk_that_fills_during_the_run_costs_no_result(
    core: FakeCore,
    interpulse: Callable[..., Ended],
    config_file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    json_option: list[str],
) -> None:
    started = core.start

    def start_and_fill(*arguments: object) -> object:
        monkeypatch.setattr(os, "fsync", full_disk)
        return started(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(_core, "start", start_and_fill)
    ended = interpulse("run", config_file, "--out", str(tmp_path / "out"), *json_option)
    assert ended.code == 2
    assert ended.error() == (
        f"cannot write to {tmp_path / 'out'}: No space left on device; the full result is on standard output instead"
    )
    assert json.loads(ended.out.splitlines()[-1]) == core.result
    assert len(ended.out.splitlines()) == 1 or "read latency, us" in ended.out
    assert list((tmp_path / "out").iterdir()) == []


def test_the_kernel_refusing_a_write_is_handled_like_a_full_disk(config_file: str, tmp_path: Path) -> None:
    def few_bytes() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (16 * 1024, 16 * 1024))

    arguments = ["run", config_file, "--out", str(tmp_path / "out")]
    with process("-m", "tests.fake_core", "{}", *arguments, preexec_fn=few_bytes) as running:
        out, err = running.communicate(timeout=20)
    assert (running.returncode, out) == (2, "")
    assert err == f"error: --out {tmp_path / 'out'}: file too large\n"


ON_A_SMALL_DISK = """
mount -t tmpfs -o size=$1 interpulse-test "$2" || exit 77
"$3" -m interpulse run "$4" --jobs 2 --no-cache --json --set run.requests=$5 --out "$2" > "$6/out" 2> "$6/err" &
run=$!
if [ "$7" = fill ]; then
    until grep -q ": run " "$6/err"; do sleep 0.02; done
    head -c 1000000 /dev/zero > "$2/filler" 2> /dev/null
fi
wait $run
"""
"""Runs in a mount namespace of its own: size, mount point, Python, configuration, requests, place for output, fill."""


def on_a_small_disk(tmp_path: Path, *, size: str, requests: int, fill: bool) -> tuple[int, str, str]:
    """The code, the output and the errors of a run whose `--out` is a file system of this size, on the real core."""
    disk = tmp_path / "disk"
    disk.mkdir()
    small = str(ROOT / "examples" / "small.toml")
    arguments = (size, disk, sys.executable, small, requests, tmp_path, "fill" if fill else "")
    ended = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", ON_A_SMALL_DISK, "sh", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        check=False,
        timeout=60,
    )
    if not (tmp_path / "err").exists():
        pytest.skip(f"this machine does not allow a mount: {ended.stderr.decode().strip()}")
    return ended.returncode, (tmp_path / "out").read_text(), (tmp_path / "err").read_text()


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare on this machine")
def test_a_disk_that_is_really_full_is_refused_before_the_run(tmp_path: Path) -> None:
    code, out, err = on_a_small_disk(tmp_path, size="40k", requests=1000, fill=False)
    assert (code, out, err) == (2, "", f"error: --out {tmp_path / 'disk'}: no space left on device\n")


@pytest.mark.skipif(shutil.which("unshare") is None, reason="there is no unshare on this machine")
def test_a_disk_that_really_fills_during_the_run_costs_no_result(tmp_path: Path) -> None:
    code, out, err = on_a_small_disk(tmp_path, size="200k", requests=4_000_000, fill=True)
    assert code == 2
    assert "No space left on device; the full result is on standard output instead" in err
    assert [seed["host_requests"] for seed in sample.seeds(json.loads(out))] == [4_000_000] * 2


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_what_a_killed_process_was_writing_is_removed_by_the_next_run(tmp_path: Path) -> None:
    with process("-c", "from interpulse.cli.stale_files import affixes; print(*affixes())") as ended:
        out, _ = ended.communicate(timeout=60)
    dead, own = "x".join(out.split()), "x".join(stale_files.affixes())
    elsewhere = dead.replace(dead.split("-")[1], "0123456789abcdef")
    now, hour_ago = time.time(), time.time() - stale_files.OLD_S - 1
    ages = {dead: now, own: now, elsewhere: now, elsewhere.replace("x.", "y."): hour_ago, "mine.tmp": hour_ago}
    for name, written in ages.items():
        (tmp_path / name).write_text("half a resu")
        os.utime(tmp_path / name, (written, written))
    OutFolder.open(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {own, elsewhere, "mine.tmp"}

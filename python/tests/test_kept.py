"""Is what a study has computed kept, one answer at a time, whatever becomes of the disk, the process or the file?"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from interpulse.cli.out_folder import OutFolder
from interpulse.studies.store import Store
from tests import experiment_sample
from tests.conftest import process
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

SCRIPT = """\
import sys
from pathlib import Path
from interpulse.cli import main
from interpulse.experiments import registry
from tests import experiment_sample
registry.EXPERIMENTS = (experiment_sample.MINI,)
registry.SETUPS = Path(sys.argv[1])
main(["experiment", "mini", *sys.argv[2:]])
"""

ANSWERS: dict[str, dict[str, Any]] = {"one": {"iops": 12345.5}, "two": {"iops": 2}}


@pytest.fixture
def mini(tmp_path: Path) -> tuple[str, ...]:
    """The command line of a miniature experiment with a cache of its own."""
    setups = experiment_sample.prepare(tmp_path / "setups")
    return (
        "-c",
        SCRIPT,
        str(setups),
        "--quick",
        "--repeat",
        "1",
        "--json",
        "--jobs",
        "1",
        "--cache-dir",
        str(tmp_path / "cache"),
    )


def ended(command: tuple[str, ...], code: int = 0) -> tuple[str, str]:
    """Output and errors of a command that ends with this code."""
    with process(*command) as running:
        out, err = running.communicate(timeout=60)
    assert running.returncode == code, err
    assert "Traceback" not in err
    return out, err


def notes(err: str) -> list[str]:
    return [line.removeprefix("note: ") for line in err.splitlines() if line.startswith("note: ")]


def results(folder: Path) -> Path:
    (path,) = folder.glob("*.results")
    return path


def in_the_second_of_two_cases(mini: tuple[str, ...], tmp_path: Path) -> subprocess.Popen[str]:
    """Starts the experiment, with cases of half a second, and returns when the first has been kept."""
    drive = tmp_path / "setups" / "mini" / "drive.toml"
    drive.write_text(drive.read_text().replace("4000", "1000000"))
    running = process(*mini)
    while not any(path.stat().st_size for path in (tmp_path / "cache").glob("*.results")):
        time.sleep(0.02)
        assert running.poll() is None, "it ended before a case was kept"
    return running


def test_a_killed_experiment_has_kept_every_case_that_had_ended(mini: tuple[str, ...], tmp_path: Path) -> None:
    with in_the_second_of_two_cases(mini, tmp_path) as running:
        running.send_signal(signal.SIGKILL)
    kept = results(tmp_path / "cache").read_text().splitlines()
    assert len(kept) == 1
    with process(*mini, stderr=subprocess.DEVNULL) as again:
        again.communicate(timeout=60)
    assert results(tmp_path / "cache").read_text().splitlines()[0] == kept[0]
    assert len(results(tmp_path / "cache").read_text().splitlines()) == 2, "the one that was kept was not run again"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_polite_request_keeps_what_had_ended_and_says_so(
    mini: tuple[str, ...], tmp_path: Path, number: signal.Signals
) -> None:
    with in_the_second_of_two_cases(mini, tmp_path) as running:
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (128 + number, "")
    assert "interrupted after 1 of 2 simulations; completed ones are stored in" in err


def test_a_cache_that_cannot_be_made_or_written_is_a_note(mini: tuple[str, ...], tmp_path: Path) -> None:
    whole, err = ended(mini)
    assert notes(err)[-1].startswith("preconditioned state kept in")
    (tmp_path / "file").write_text("")
    for folder, why in [
        (
            tmp_path / "file" / "cache",
            f"{tmp_path}/file/cache: Not a directory; what has ended is kept in memory alone",
        ),
        (tmp_path / "file", f"{tmp_path}/file: File exists; what has ended is kept in memory alone"),
    ]:
        out, err = ended((*mini[:-1], str(folder)))
        assert out == whole
        assert notes(err)[0] == why


def test_a_disk_that_fills_is_a_note(mini: tuple[str, ...], tmp_path: Path) -> None:
    def few_bytes() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

    with process(*mini, preexec_fn=few_bytes) as running:
        out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    told = notes(err)
    path = results(tmp_path / "cache")
    assert f"{path}: File too large; simulations that have ended are kept in memory alone" in told
    assert sum("kept in memory" in line for line in told) == 1, "it is said once"
    # What the full disk has torn is noticed, and costs nothing but time.
    again, err = ended(mini)
    assert again == out
    assert f"{path}: 1 of the answers kept here are damaged and computed again" in notes(err)
    assert "damaged" not in ended(mini)[1]


def test_a_changed_digit_is_noticed_and_the_case_run_again(mini: tuple[str, ...], tmp_path: Path) -> None:
    first, _ = ended(mini)
    path = results(tmp_path / "cache")
    content = path.read_text()
    at = content.index('"mean": ') + len('"mean": ')
    path.write_text(content[:at] + ("2" if content[at] == "1" else "1") + content[at + 1 :])
    again, err = ended(mini)
    assert again == first
    assert f"{path}: 1 of the answers kept here are damaged and computed again" in notes(err)
    assert "damaged" not in ended(mini)[1]


def test_every_changed_byte_of_a_kept_answer_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.results"
    Store(path).put(ANSWERS)
    whole = path.read_bytes()
    assert Store(path).get("one") == ANSWERS["one"]
    first = whole.index(b"\n")
    for at in range(first):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        store = Store(path)
        assert (store.get("one"), store.get("two")) == (None, ANSWERS["two"]), f"byte {at}"
        assert len(store.notes) == 1
        store.put(ANSWERS)
        assert (Store(path).get("one"), Store(path).notes) == (ANSWERS["one"], [])


def test_what_could_not_be_written_is_written_with_the_next(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.results"
    store = Store(path)
    with pytest.raises(FileNotFoundError):
        store.put({"one": ANSWERS["one"]})
    assert (store.get("one"), store.whole) == (ANSWERS["one"], False)
    path.parent.mkdir()
    store.put({"two": ANSWERS["two"]})
    assert store.whole
    assert [Store(path).get(name) for name in ANSWERS] == list(ANSWERS.values())


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr("interpulse.studies.store.build_id", lambda: "build")
    path = tmp_path / "mini-build.results"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    store = Store.open(tmp_path, "mini")
    assert store.notes == [f"{path}: it is a {kind}; expected a regular file; what has ended is kept in memory alone"]
    store.put(ANSWERS)
    assert store.get("two") == ANSWERS["two"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_polite_request_to_a_run_prints_what_is_done(tmp_path: Path, number: signal.Signals) -> None:
    small, out_folder = str(ROOT / "examples" / "small.toml"), tmp_path / "out"
    endless = ["--set", "run.requests=1000000000000", "--out", str(out_folder), "--json"]
    with process("-m", "interpulse", "run", small, *endless) as running:
        assert running.stderr is not None
        while ": run " not in running.stderr.readline():
            assert running.poll() is None
        time.sleep(0.1)
        # Terminals and shells send several.
        running.send_signal(number)
        running.send_signal(number)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 128 + number
    assert "interrupted: the result is partial" in err
    assert json.loads(out) == json.loads((out_folder / "result.json").read_text())
    assert json.loads(out)["interrupted"] is True


def test_a_request_in_the_middle_of_storing_waits_for_the_files(
    interpulse: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = OutFolder.store

    def disturbed(folder: OutFolder, name: str, content: bytes) -> str:
        signal.raise_signal(signal.SIGTERM)
        return store(folder, name, content)

    monkeypatch.setattr(OutFolder, "store", disturbed)
    small = str(ROOT / "examples" / "small.toml")
    ended = interpulse("run", small, "--set", "run.requests=2000", "--no-cache", "--json", "--out", str(tmp_path))
    assert ended.code == 128 + signal.SIGTERM
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.resolved.json", "result.json", "table.txt"]
    assert json.loads(ended.out) == json.loads((tmp_path / "result.json").read_text())


def test_a_run_under_nohup_goes_on(tmp_path: Path) -> None:
    small = str(ROOT / "examples" / "small.toml")
    arguments = ["nohup", sys.executable, "-m", "interpulse", "run", small, "--json", "--set", "run.requests=1000000"]
    own = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=own, cwd=tmp_path) as running:
        assert running.stderr is not None
        while b": run " not in running.stderr.readline():
            assert running.poll() is None
        running.send_signal(signal.SIGHUP)
        out, _ = running.communicate(timeout=60)
    assert running.returncode == 0
    assert "interrupted" not in json.loads(out)

"""Fixtures and markers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from interpulse.cli import run_app
from tests import fake_core
from tests.sample import ROOT, two_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    not_asked = pytest.mark.skip(reason="long: set INTERPULSE_VERIFY=1 or run `make verify`")
    for item in items:
        if item.get_closest_marker("verify") and os.environ.get("INTERPULSE_VERIFY") != "1":
            item.add_marker(not_asked)


@pytest.fixture(autouse=True)
def _private_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps every test away from the user's snapshots."""
    monkeypatch.setenv("INTERPULSE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("INTERPULSE_CACHE_LIMIT", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> fake_core.FakeCore:
    """A stand-in for the core that answers with a result of two cases; change its fields to change its answers."""
    from interpulse import _core

    fake = fake_core.FakeCore(result=two_cases())
    for name in ("resolve", "start", "lists"):
        monkeypatch.setattr(_core, name, getattr(fake, name))
    return fake


@pytest.fixture
def config_file(tmp_path: Path) -> str:
    """The name of a file that the stand-in takes for a configuration."""
    path = tmp_path / "config.toml"
    path.write_text('part = "a4-tlc"\n')
    return str(path)


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:  # noqa: ANN401 - JSON is anything
        """Standard output, which has to be JSON and nothing else."""
        return json.loads(self.out)

    def error(self) -> str:
        """The one line of standard error that says what is wrong."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0].removeprefix("error: ")


@pytest.fixture
def interpulse(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Runs the command line in this process, on whatever core the test has set up."""

    def call(*arguments: str) -> Ended:
        capfd.readouterr()
        code = run_app(list(arguments))
        sys.stdout.flush()
        return Ended(code, *capfd.readouterr())

    return call


def process(*command: str, **options: Any) -> subprocess.Popen[str]:  # noqa: ANN401 - passed on to Popen
    """Starts a Python process that sees the package and the tests."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    # A suite started in the background of a script ignores Ctrl-C and would pass that on.
    settings: dict[str, Any] = {"preexec_fn": _heed_ctrl_c}
    settings |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen([sys.executable, *command], env=environment, text=True, **settings)


def interrupted(running: subprocess.Popen[str], after: str) -> tuple[int, str, str]:
    """Sends Ctrl-C to a process that has said this on standard error; returns its exit code and what else it said."""
    assert running.stderr is not None
    while after not in (line := running.stderr.readline()):
        assert line, f"it ended before it said '{after}'"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    return running.returncode, out, err


def _heed_ctrl_c() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _ctrl_c_heeded() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt in the tests, however the suite was started."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

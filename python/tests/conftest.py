"""Fixtures, markers and child processes of the Python tests."""

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
    from types import FrameType


LONG_S = 3600
"""Time limit of a test marked `verify`; `timeout` in pyproject.toml is that of all others."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    skipped = pytest.mark.skip(reason="long: set INTERPULSE_VERIFY=1 or run `make verify`")
    for item in items:
        if not item.get_closest_marker("verify"):
            continue
        if os.environ.get("INTERPULSE_VERIFY") != "1":
            item.add_marker(skipped)
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LONG_S))


@pytest.fixture(autouse=True)
def _private_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps every test away from the user's snapshots."""
    monkeypatch.setenv("INTERPULSE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("INTERPULSE_CACHE_LIMIT", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> fake_core.FakeCore:
    """Stand-in for the core with a result of two cases; its fields set the results."""
    from interpulse import _core

    fake = fake_core.FakeCore(result=two_cases())
    for name in ("resolve", "start", "lists"):
        monkeypatch.setattr(_core, name, getattr(fake, name))
    return fake


@pytest.fixture
def config_file(tmp_path: Path) -> str:
    """Name of a file that the stand-in accepts as a configuration."""
    path = tmp_path / "config.toml"
    path.write_text('part = "a4-tlc"\n')
    return str(path)


@dataclass(frozen=True)
class Ended:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    def json(self) -> Any:  # noqa: ANN401 - JSON is anything
        """Standard output, which must be JSON only."""
        return json.loads(self.out)

    def seed(self, case: int = 0) -> dict[str, Any]:
        """The only seed of a case of the result that `--json` printed."""
        (only,) = self.json()["cases"][case]["seeds"]
        found: dict[str, Any] = only
        return found

    def error(self) -> str:
        """The single error message on standard error."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0].removeprefix("error: ")


@pytest.fixture
def interpulse(capfd: pytest.CaptureFixture[str]) -> Callable[..., Ended]:
    """Runs the command line in this process, with the core that the test has set up."""

    def call(*arguments: str) -> Ended:
        capfd.readouterr()
        code = run_app(list(arguments))
        sys.stdout.flush()
        return Ended(code, *capfd.readouterr())

    return call


class Child(subprocess.Popen[str]):
    """Child process that does not outlive a test that fails."""

    def __exit__(self, kind: type[BaseException] | None, *rest: Any) -> None:  # noqa: ANN401, PYI036 - as Popen has it
        if kind is not None:
            self.kill()
        super().__exit__(kind, *rest)


def process(*command: str, **options: Any) -> Child:  # noqa: ANN401 - passed on to Popen
    """Starts a Python process that imports the package and the tests."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    settings: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return Child([sys.executable, *command], env=environment, text=True, **settings)


def interrupted(running: Child, after: str) -> tuple[int, str, str]:
    """Sends Ctrl-C when a process has printed `after` on standard error; returns exit code, output and errors."""
    with running:
        assert running.stderr is not None
        while after not in (line := running.stderr.readline()):
            assert line, f"the process ended before it printed '{after}'"
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
    return running.returncode, out, err


HANDLERS: dict[signal.Signals, Callable[[int, FrameType | None], object] | signal.Handlers] = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: lambda *_: None,
}
"""Handlers in tests. A child inherits an ignored signal, as `nohup` and background jobs have it, but not a handler."""


@pytest.fixture(autouse=True)
def _signals_of_a_terminal() -> Iterator[None]:
    """Gives tests and their children the signal handling of a terminal, however the suite was started."""
    before = {number: signal.getsignal(number) for number in HANDLERS}
    for number, handler in HANDLERS.items():
        if number == signal.SIGINT or before[number] == signal.SIG_IGN:
            signal.signal(number, handler)
    yield
    for number, former in before.items():
        signal.signal(number, former)

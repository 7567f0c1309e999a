"""Optional packages: what works without them, and the messages when one is missing."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from scipy.special import stdtrit

from interpulse import ConfigError
from interpulse.configuration.extras import require
from interpulse.configuration.installation import command
from interpulse.runs.estimate import _QUANTILES, CONFIDENCE
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BARE = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in ("bokeh", "matplotlib", "numpy", "scipy"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""

COMMAND_LINE = f"""{BARE}
from interpulse.cli import run_app
sys.exit(run_app(sys.argv[1:]))
"""

HELP = f"""{BARE}
import pydoc
import interpulse
print(pydoc.plain(pydoc.render_doc(interpulse)))
"""

SMALL = "examples/small.toml"
SHORT = ("--set", "run.requests=2000", "--no-cache")


def bare(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command line where the packages of plots and statistics are not installed."""
    command = [sys.executable, "-c", COMMAND_LINE, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_help_on_the_package_needs_no_extra() -> None:
    ended = subprocess.run([sys.executable, "-c", HELP], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "\n    fit(given" in ended.stdout


def test_a_run_a_repetition_and_a_comparison_need_no_extra(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    assert bare("run", SMALL, *SHORT, "--set", "power.trace=true", "--out", tmp_path / "one").returncode == 0
    assert (tmp_path / "one" / "power.csv").is_file()
    for out, depth in ((a, 4), (b, 8)):
        ended = bare("run", SMALL, *SHORT, "--set", f"flow.0.depth={depth}", "--repeat", "3", "--out", out)
        assert ended.returncode == 0, ended.stderr
    ended = bare("compare", *sorted(a.glob("seed-*")), "--", *sorted(b.glob("seed-*")))
    assert ended.returncode == 0, ended.stderr
    assert "95 % interval" in ended.stdout
    ended = bare("report", a)
    assert ended.returncode == 2
    assert f"a report needs bokeh, which is not installed: {command('plot')}" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", SMALL, *SHORT, "--report", "--out", "{}/out"), "a report needs bokeh"),
        (("scheme", "exact", "--out", "{}/exact.svg"), "a plot needs matplotlib"),
        (("experiment", "fast12", "--quick", "--out", "{}/out"), "a report needs bokeh"),
        (("explore", "--no-browser"), "the page needs bokeh"),
        (("fit", "examples/fit.toml", "--out", "{}/out"), "a fit needs scipy"),
    ],
)
def test_a_missing_package_is_reported_before_the_work(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    ended = bare(*(each.format(tmp_path) for each in arguments))
    assert ended.returncode == 2
    assert message in ended.stderr
    assert f": make -C {ROOT} dev" in ended.stderr


def test_the_command_that_installs_an_extra_is_named() -> None:
    require("rich", "plot", "this")
    with pytest.raises(ConfigError) as caught:
        require("no_such_package", "plot", "this")
    assert str(caught.value) == f"this needs no_such_package, which is not installed: {command('plot')}"


def test_the_quantiles_are_those_of_scipy() -> None:
    assert list(_QUANTILES) == [float(stdtrit(k, (1 + CONFIDENCE) / 2)) for k in range(1, len(_QUANTILES) + 1)]

"""Does the Python API take what a program has: numbers of NumPy, paths, dictionaries?"""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import interpulse as package
from interpulse import Config, ConfigError, Result
from interpulse.configuration.config import toml_value
from interpulse.configuration.values import toml
from tests import sample
from tests.sample import ROOT

if TYPE_CHECKING:
    from tests.fake_core import FakeCore

SMALL = ROOT / "examples" / "small.toml"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.int64(3), "3"),
        (np.uint8(255), "255"),
        (np.uint64(2**64 - 1), "18446744073709551615"),
        (np.float32(0.5), "0.5"),
        (np.float64(1e-7), "1e-07"),
        (np.bool_(True), "true"),
        (np.bool_(False), "false"),
        (np.str_("80us"), "80us"),
        (np.array(7), "7"),
        (np.array([1, 2, 3]), "[1, 2, 3]"),
        (np.array([[0.5, 1.5]]), "[[0.5, 1.5]]"),
        (np.array(["a", "b"]), '["a", "b"]'),
        ([np.int32(1), np.float64(2.5), np.bool_(True)], "[1, 2.5, true]"),
        ((1, 2), "[1, 2]"),
        (range(3), "[0, 1, 2]"),
        (np.timedelta64(80, "us"), "80000ns"),
        (np.timedelta64(2, "s"), "2000000000ns"),
        (np.array([1, 2], dtype="timedelta64[us]"), '["1000ns", "2000ns"]'),
        (timedelta(milliseconds=1.5), "1500us"),
        (Decimal("0.25"), "0.25"),
        (Fraction(1, 4), "0.25"),
    ],
)
def test_numbers_of_other_libraries_are_numbers(value: Any, text: str) -> None:  # noqa: ANN401 - anything a user has
    assert toml_value(value) == text


@pytest.mark.parametrize("value", [None, {"a": 1}, {1, 2}, object(), b"bytes", 1j, np.complex128(1), [None]])
def test_what_is_no_setting_is_refused_with_its_key(value: Any) -> None:  # noqa: ANN401 - anything a user has
    with pytest.raises(ConfigError, match=r"^a\.b = .*: a setting is text with its unit"):
        Config.from_toml("").set("a.b", value)


def test_several_settings_at_once() -> None:
    config = Config.from_toml("").set("a", 1).set(**{"b.c": np.int64(2), "d": [np.float32(0.5)]})
    assert config.sets == [("a", "1"), ("b.c", "2"), ("d", "[0.5]")]
    with pytest.raises(ConfigError, match="x = None"):
        config.set(y=1, x=None)
    assert len(config.sets) == 3, "all or none"


def test_numpy_numbers_reach_a_run(core: FakeCore, config_file: str) -> None:
    package.run(config_file, seed=np.int64(7), jobs=np.uint8(2))  # type: ignore[arg-type]
    assert core.requests[-1]["seed"] == 7
    assert core.starts[-1]["jobs"] == 2


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("seed", [1.5, "x", -1, np.float64(0.5), np.array([1, 2]), float("nan"), 2**64])
def test_a_seed_that_is_no_whole_number_is_refused(config_file: str, seed: Any) -> None:  # noqa: ANN401
    with pytest.raises(ConfigError, match=r"a seed is a whole number from 0 to 2\*\*64 - 1"):
        package.run(config_file, seed=seed)
    with pytest.raises(ConfigError, match="the number of jobs is a whole number at least 1"):
        package.run(config_file, jobs=0)


def test_a_path_a_name_and_a_dictionary_can_be_run() -> None:
    requests = {"run.requests": np.int64(500)}
    by_config = package.run(Config.load(SMALL).set(**requests), no_cache=True)
    read = {
        "config_version": 1,
        "drive": "a4-mini",
        "seed": np.int64(1),
        "precondition": {"fill": "100%", "overwrite": "uniform"},
        "run": {"requests": 500},
        "flow": [{"name": "mixed", "depth": np.int32(8), "read": "75%"}],
        "case": [
            {"name": "no-suspend"},
            {"name": "suspend-10", "set": ["suspend.program.scheme=loop-boundary", "suspend.program.max-suspends=10"]},
        ],
    }
    by_dict = package.run(read, no_cache=True)
    assert by_dict.config_hash == by_config.config_hash
    assert [case.iops for case in by_dict.cases] == [case.iops for case in by_config.cases]
    dotted = {key: value for key, value in read.items() if key not in ("run", "case")} | requests
    assert package.run(dotted, no_cache=True).iops == by_config.iops


def test_paths_are_loaded(core: FakeCore, config_file: str) -> None:
    for given in (config_file, Path(config_file), Config.load(config_file)):
        assert package.run(given).cases
        assert core.requests[-1]["path"] == config_file


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("missing.toml", "cannot read the configuration missing.toml"),
        ('drive = "a4"\n', r"not the path of a configuration; Config.from_toml\(text\)"),
        (5, "the path of a TOML file, or a dictionary; seen int: 5"),
        ({1: 2}, "key 1 is not text"),
        ({"flow": [{"depth": None}]}, r"flow.0.depth = None \(NoneType\)"),
        ({"drive": "a4-mini", "flow": [{"depth": 8}], "nonsense": 1}, "<dict>:3.*nonsense"),
    ],
)
def test_what_cannot_be_run_says_what_to_do(given: Any, message: str) -> None:  # noqa: ANN401 - anything a user has
    with pytest.raises(ConfigError, match=message):
        package.run(given, no_cache=True)


def test_a_dictionary_as_toml() -> None:
    assert toml({"a b": {"c": [1, "x"]}, "d.e": True, "f": [{"g": np.float32(0.5)}]}) == (
        '"a b" = {c = [1, "x"]}\nd.e = true\nf = [{g = 0.5}]\n'
    )


def test_percentiles_take_numpy() -> None:
    result = Result(sample.two_cases())
    for percent in (np.float32(99.9), np.float64(99.9), np.float32(99.999), np.int64(50)):
        assert result.percentile("read", percent) == result.percentile("read", round(float(percent), 3))  # type: ignore[arg-type]
    for wrong in (99.8, float("nan"), 99.99001):
        with pytest.raises(ValueError, match="no percentile"):
            result.percentile("read", wrong)


def test_results_are_readable() -> None:
    cases = sample.two_cases()
    cases["cases"][0]["case"] = "<b>none</b>"
    result = Result(cases)
    assert "suspend: 335,000 IOPS, read p99 600.0 us" in repr(result)
    assert repr(result.cases[1]) == "Result(suspend: 335,000 IOPS, read p99 600.0 us, write p99 1,200 us, seed 1)"
    html = result._repr_html_()
    assert "&lt;b&gt;none&lt;/b&gt;" in html
    assert "<b>" not in html
    assert html.count("<tr>") == 1 + 3 * 3
    assert "335,000" in html or "251,250" in html
    stopped = Result({"version": "1", "seed": 1, "case": "x", "interrupted": True})
    assert repr(stopped) == "Result(x: stopped before anything was measured, seed 1)"
    assert "stopped before" in stopped._repr_html_()
    failed = Result({"version": "1", "seed": 1, "case": "x", "error": "a <tag>"})
    assert "failed: a &lt;tag&gt;" in failed._repr_html_()


def test_numpy_is_not_needed() -> None:
    """The core paths work where there is no NumPy to import."""
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "import interpulse\n"
        f"config = interpulse.Config.load({str(SMALL)!r}).set(**{{'run.requests': 100}})\n"
        "result = interpulse.run(config, no_cache=True)\n"
        "print(result, len(result._repr_html_()) > 100)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT / "python"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Result of 2 cases, seed 1")

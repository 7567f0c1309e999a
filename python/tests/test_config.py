"""Do `Config` and the cache's settings take what they should and refuse the rest?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from interpulse import Config, ConfigError
from interpulse.configuration.config import toml_value
from interpulse.configuration.values import Value
from interpulse.files.cache import Cache, parse_size
from interpulse.runs.runner import Options

if TYPE_CHECKING:
    from tests.fake_core import FakeCore


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("80us", "80us"),
        (16, "16"),
        (0.25, "0.25"),
        (1e-7, "1e-07"),
        (True, "true"),
        (False, "false"),
        (["a", 'b"c'], '["a", "b\\"c"]'),
        ([1, [True, 2.5]], "[1, [true, 2.5]]"),
    ],
)
def test_values_become_toml(value: Value, text: str) -> None:
    assert toml_value(value) == text


def test_set_chains_and_a_copy_is_independent(core: FakeCore) -> None:
    config = Config.from_toml("part = 1", path="mine.toml")
    twin = config.set("a.b", 1).copy().set("c", "2us")
    assert (config.hash, config.case_names) == ("0123456789abcdef", ["none", "suspend"])
    assert [entry.key for entry in twin.entries()] == ["part", "a.b", "c"]
    assert [request["sets"] for request in core.requests] == [[("a.b", "1")]] * 2 + [[("a.b", "1"), ("c", "2us")]]
    assert repr(twin) == "Config('mine.toml', a.b=1, c=2us)"


@pytest.mark.usefixtures("core")
@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(ConfigError, match="a seed is a whole number from 0 to"):
        Config.from_toml("").resolve(seed=seed)


def test_jobs_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="jobs = 0"):
        Options(jobs=0)


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("512", 512), ("2GiB", 2 * 2**30), ("1.5 MiB", 1536 * 1024), ("10 GB", 10**10)]
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text, "x") == size


@pytest.mark.parametrize("text", ["", "big", "-1GiB", "1 GIB", "1e9"])
def test_what_is_no_size_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERPULSE_CACHE_LIMIT", text)
    with pytest.raises(
        ConfigError, match=r"INTERPULSE_CACHE_LIMIT = '.*' is not a size: write a number and one of B, "
    ):
        Cache.default()


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERPULSE_CACHE_DIR", "/named")
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    monkeypatch.setenv("HOME", "/home/me")
    assert Cache.default(Path("/option")).folder == Path("/option")
    assert Cache.default().folder == Path("/named")
    monkeypatch.delenv("INTERPULSE_CACHE_DIR")
    assert Cache.default().folder == Path("/xdg/interpulse")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert Cache.default().folder == Path("/home/me/.cache/interpulse")

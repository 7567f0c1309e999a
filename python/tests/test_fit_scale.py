"""Does a fit make scale models of large drives that keep rates, and leave other drives alone?"""

from __future__ import annotations

from typing import Any

import pytest

import interpulse
from interpulse import Config, ConfigError
from interpulse.fitting.drivefile import written
from interpulse.fitting.model import window
from interpulse.fitting.scale import raw_bytes, scale_model
from interpulse.fitting.spec import Spec
from tests.test_fit import LITTLE

PART = {"preset": "a4-tlc", "layers": 176, "pages-per-block": 2112, "planes": 2}

LARGE: dict[str, Any] = {
    "drive": {"capacity": "3.84TB"},
    "part": PART,
    "geometry": {"channels": 8, "chips-per-channel": 4, "dies-per-chip": 2},
    "ftl": {"over-provisioning": "7%", "multi-plane": 2, "gc": "greedy"},
    "cache": {"size": "256MiB"},
}
WRITES = {"name": "w", "pattern": "random", "read": 0, "depth": 64, "iops": "80k"}
FREE = {"key": "host.firmware", "from": "1us", "to": "60us"}


def spec(config: dict[str, Any], **more: object) -> Spec:
    return Spec.of({"config": config, "load": [WRITES], "free": [FREE], **more})


def values(fit: Spec) -> dict[str, str]:
    return {entry.key: entry.value for entry in fit.config.entries()}


def test_a_large_drive_becomes_a_scale_model_with_all_dies() -> None:
    whole = spec(LARGE)
    small, notes = scale_model(whole, None)
    before, after = values(whole), values(small)
    changed = {key for key in before if before[key] != after.get(key)}
    assert changed == {"drive.capacity", "part.blocks-per-plane", "part.pages-per-block", "part.layers", "cache.size",
                       "part.erase-pulse", "part.erase-verify"}  # fmt: skip
    assert raw_bytes(before) > 3.5 * 2**40
    assert raw_bytes(after) == 36 * 2**30
    assert (after["part.blocks-per-plane"], after["part.pages-per-block"]) == ("768", "24")
    # 992 us by 24 pages of 2112.
    assert after["part.erase-pulse"] == "11.273us"
    assert len(notes) == 1
    assert "36.0 GiB of 3.7 TiB raw, all dies; part.pages-per-block 24" in notes[0]
    # Its file is a configuration with a source for each of these values.
    text = written(small, [], [], 1)
    assert {entry.key: entry.value for entry in Config.from_toml(text).entries()}["part.pages-per-block"] == "24"
    assert text.count("interpulse fit: scale model") == 6


def test_small_drives_are_left_alone_unless_asked() -> None:
    little = spec(LITTLE)
    assert scale_model(little, None) == (little, [])
    assert scale_model(little, wanted=False) == (little, [])
    large = spec(LARGE)
    assert scale_model(large, wanted=False) == (large, [])
    small, notes = scale_model(little, wanted=True)
    assert values(small)["part.pages-per-block"] == "24"
    assert notes


@pytest.mark.parametrize(
    "more",
    [
        {
            "free": [FREE, {"key": "part.pages-per-block", "values": [1056, 2112]}],
            "load": [WRITES, WRITES | {"name": "more writes"}],
        },
        {"load": [WRITES | {"set": {"drive.capacity": "1.92TB"}}]},
    ],
)
def test_where_the_fit_chooses_the_size_the_drive_is_not_scaled(more: dict[str, Any]) -> None:
    large = spec(LARGE, **more)
    same, (note,) = scale_model(large, None)
    assert same is large
    assert "is simulated at full size: " in note
    assert "is chosen by the fit itself" in note
    with pytest.raises(ConfigError, match=r"--scale: .* is chosen by the fit itself .*; expected a drive of one size"):
        scale_model(large, wanted=True)


def test_what_the_fit_chooses_keeps_its_value() -> None:
    free = [{"time": "tBERS"}, {"key": "cache.size", "from": "8MiB", "to": "1GiB"}]
    load = WRITES | {"bandwidth": "300MB/s"}
    small, (note,) = scale_model(spec(LARGE, free=free, load=[load]), None)
    assert values(small)["part.erase-pulse"] == values(spec(LARGE))["part.erase-pulse"]
    assert values(small)["cache.size"] == values(spec(LARGE))["cache.size"]
    assert "erases take a larger share of the time" in note


def test_a_scale_model_keeps_rates_and_write_amplification() -> None:
    """One die of blocks of 528 pages; at full size its window is 12 blocks long."""
    config = LARGE | {
        "drive": {},
        "geometry": {"channels": 1, "chips-per-channel": 1},
        "part": PART | {"pages-per-block": 528, "layers": 44, "blocks-per-plane": 900},
        "cache": {"size": "1MiB"},
    }
    whole = spec(config)
    small, _ = scale_model(whole, wanted=True)
    found = []
    for each in (whole, small):
        (load,) = each.loads
        run = Config(each.config.text, path=each.config.path)
        for key, value in load.sets(20_000, window(values(each), each.blocks)):
            run.set(key, value)
        found.append(interpulse.run(run).cases[0].raw)
    full, model = found
    assert model["ftl"]["waf"] == pytest.approx(full["ftl"]["waf"], rel=0.1)
    assert model["iops"] == pytest.approx(full["iops"], rel=0.1)

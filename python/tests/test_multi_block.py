"""Multi-block erases: refused combinations, groups on a drive, one operation on a die."""

from __future__ import annotations

from typing import Any

import pytest

import interpulse
from interpulse import ConfigError
from interpulse.flash.die import Die
from tests.test_suspension import nand

DRIVE: dict[str, Any] = {
    "config_version": 1,
    "drive": "atc19-mini",
    "geometry": {"channels": 1, "chips-per-channel": 2},
    "precondition": {"fill": "99%", "overwrite": "uniform"},
    "run": {"requests": 60_000},
    "flow": [{"name": "writes", "depth": 16, "read": "0%"}],
}


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ({"erase.method": "aero"}, r"erase\.method.*: \"aero\" predicts the time of one block"),
        ({"part.sub-blocks": "5"}, r"part\.sub-blocks.*: no source says"),
        ({"ftl.gc": "imposed", "ftl.imposed-waf": "2.0"}, "imposed write amplification erases no blocks"),
        ({"erase.blocks-per-operation": "33"}, "expected a whole number from 1 to 32"),
    ],
)
def test_what_is_not_modelled_is_refused(sets: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refused:
        Die("a4-tlc", "erase", "none", [("erase.blocks-per-operation", "4"), *sets.items()])
    assert "erase.blocks-per-operation" in str(refused.value)


def test_the_kind_of_verify_belongs_to_several_blocks() -> None:
    with pytest.raises(ConfigError, match="it belongs to blocks-per-operation above 1"):
        Die("a4-tlc", "erase", "none", [("erase.multi-block-verify", "together")])


def test_a_drive_erases_groups_and_wears_each_block() -> None:
    def run(blocks: int) -> dict[str, Any]:
        config = {**DRIVE, "erase": {"blocks-per-operation": blocks}}
        return interpulse.run(config, no_cache=True).raw

    one, four = run(1), run(4)
    assert nand(one)["multi_block_erases"] == 0
    assert nand(one)["multi_block_pulse_time"] == 0
    share = nand(four)["multi_block_erases"] / nand(four)["erases"]
    assert 0.5 < share <= 0.75
    # Dies spend less time on erases.
    assert nand(four)["erase_pulse_time"] < 0.7 * nand(one)["erase_pulse_time"]
    assert four["ftl"]["erases"] == nand(four)["erases"]


def test_verifies_of_a_die_are_one_after_another_or_together() -> None:
    def takes(*sets: tuple[str, str]) -> int:
        return Die("atc19-ll", "erase", "none", sets).alone_ns

    several = ("erase.blocks-per-operation", "4")
    # Three further commands of 100 ns; five loops with three further verifies of 8 us.
    assert takes(several) - takes() == 3 * 100 + 5 * 3 * 8_000
    assert takes(several, ("erase.multi-block-verify", "together")) - takes() == 3 * 100

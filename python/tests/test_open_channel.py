"""Open-Channel drives: are wrong settings refused, and do flows on other parallel units not wait for each other?"""

from __future__ import annotations

import pytest

import interpulse
from interpulse import Config, ConfigError
from tests.sample import ROOT

DRIVE = """config_version = 1
drive = "a4-mini"
[ftl]
family = "open-channel"
over-provisioning = "7%"
[precondition]
fill = "100%"
[run]
requests = 3000
[[flow]]
zones = "vector"
"""


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("flow.0.zones", "append", r'flow\.0\.zones.*"append".*expected "vector": the chunks of an Open-Channel'),
        ("ftl.family", "zoned", r'flow\.0\.zones.*"vector".*expected "write", "append" or "zrwa"'),
        ("flow.0.vector-width", 6, r"flow\.0\.vector-width.*6.*at most 5: a program has 12 of the 64 addresses"),
        ("flow.0.vector-width", 3, r"open-zones.*vector-width.*give a multiple of it"),
        ("flow.0.vector-places", 65, r"flow\.0\.vector-places.*65"),
        ("flow.0.first-unit", 8, r"flow\.0\.first-unit.*8.*below the 8 parallel units"),
        ("flow.0.parallel-units", 9, r"flow\.0\.parallel-units.*9.*at most 8"),
        ("power-loss.at", "1s", r"host of an Open-Channel drive recovers its data"),
        ("ftl.zone-width", 1, r"ftl\.zone-width"),
        ("ftl.chunk-blocks", 1000, r"a chunk of 1000 super blocks"),
        ("ftl.mapping-unit", "512B", r"mapping-unit"),
        ("cache.size", "0B", r"cache\.size"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(key: str, value: str | int, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        interpulse.run(Config.from_toml(DRIVE).set(key, value))


def test_the_result_has_the_geometry_and_writes_are_not_amplified() -> None:
    raw = interpulse.run(Config.from_toml(DRIVE).set(**{"flow.0.open-zones": 4, "flow.0.vector-width": 4})).raw
    # 8 dies of 96 blocks, of which 7 % are spare, with 85 programs of three pages of 16 KiB.
    assert raw["zones"]["open_channel"] == {
        "groups": 4,
        "parallel_units": 8,
        "chunks_of_parallel_unit": 89,
        "logical_blocks_of_chunk": 85 * 12,
        "write_unit": 12,
    }
    counters = raw["counters"]["zones"]
    assert counters["vector_writes"] > 1000 < counters["vector_addresses"]
    assert counters["vector_resets"] > 0
    assert raw["ftl"]["waf"] == 1.0
    assert "refused_requests" not in raw


@pytest.mark.parametrize("acknowledge", ["when-cached", "when-programmed"])
def test_reads_do_not_wait_for_writes_of_other_parallel_units(acknowledge: str) -> None:
    """Reads of a die that programs wait for up to 2 ms; of others, for each other only."""
    config = Config.load(ROOT / "examples" / "open-channel.toml")
    config = config.set(**{"run.requests": 20_000, "cache.acknowledge": acknowledge})
    slowest = {case.case: case.percentile("read", 99) for case in interpulse.run(config).cases}
    assert slowest["apart"] < 700 < 2000 < slowest["shared"]
    assert slowest["shared, suspension"] < slowest["shared"] / 2

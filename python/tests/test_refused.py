"""Requests that a drive refuses: are they counted apart, named first, and do they end a run of nothing else?"""

from __future__ import annotations

import pytest

import interpulse
from interpulse import Config, ConfigError, RunError
from interpulse.runs.summary import answers

ZONED = """config_version = 1
drive = "a4-mini"
[ftl]
family = "zoned"
over-provisioning = "7%"
max-active = 1
[precondition]
fill = "0%"
[run]
requests = 3000
[[flow]]
name = "two zones"
zones = "append"
block-size = "64KiB"
open-zones = 2
"""
"""A drive with one active zone, and a flow that needs two."""


def test_refused_requests_are_no_iops_and_the_first_line() -> None:
    config = Config.from_toml(ZONED + '[[flow]]\nname = "reads"\nread = "100%"\n')
    raw = interpulse.run(config).raw
    assert raw["flows"][0]["refused_requests"] > 0
    assert raw["refused_requests"] == sum(flow.get("refused_requests", 0) for flow in raw["flows"])
    served = raw["host_requests"] - raw["refused_requests"]
    assert raw["iops"] * raw["simulated_s"] == pytest.approx(served)
    first = next(iter(answers([raw])))
    assert first.startswith(f"{raw['refused_requests']:,} of {raw['host_requests']:,} requests refused")
    assert "Too Many Active Zones" in first


def test_a_drive_that_refuses_most_requests_is_not_steady() -> None:
    raw = interpulse.run(Config.from_toml(ZONED)).raw
    assert raw["steady"]["verdict"] == "no"
    assert raw["steady"]["drifts"] == ["refused"]
    assert sum(raw["steady"]["halves"]["refused"]) == raw["refused_requests"]


def test_a_run_that_is_only_refused_ends() -> None:
    """No zone of a full drive takes a write."""
    text = ZONED.partition("[[flow]]")[0] + '[[flow]]\nname = "w"\nread = "0%"\n'
    config = Config.from_toml(text).set(**{"precondition.fill": "100%", "run.requests": 1_000_000})
    with pytest.raises(
        RunError, match=r"refused all of the first \d+ requests that were measured, most with Zone Is Full"
    ):
        interpulse.run(config)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("ftl.gc", "random-greedy", r'that is "d-choices" here'),
        ("namespace.1.family", "log-block", r"namespace 2: log blocks belong to a whole drive"),
    ],
)
def test_the_right_reason_is_given(key: str, value: str, message: str) -> None:
    text = 'config_version = 1\ndrive = "a4-mini"\n[run]\nrequests = 1\n[[namespace]]\n[[namespace]]\n[[flow]]\n'
    with pytest.raises(ConfigError, match=message):
        interpulse.run(Config.from_toml(text).set(key, value))

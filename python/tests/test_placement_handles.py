"""Tests of placement handles: whose writes each handle counts."""

from __future__ import annotations

from typing import Any

import pytest

import interpulse

PACING: dict[str, dict[str, Any]] = {
    "closed": {"depth": 4},
    "open": {"pacing": "open", "rate": "5kIOPS", "arrivals": "poisson"},
}


@pytest.mark.parametrize("pacing", PACING)
def test_a_handle_counts_the_writes_of_its_flow(pacing: str) -> None:
    """Each flow writes with its own handle, with outstanding requests as with arrivals."""
    of_flow = {"read": "0%", **PACING[pacing]}
    result = interpulse.run(
        interpulse.Config.of(
            {
                "config_version": 1,
                "drive": "a4-mini",
                "seed": 1,
                "cache": {"size": "1MiB"},
                "ftl": {"placement": "fdp", "placement-handles": 2},
                "run": {"requests": 6000, "warmup": "0s"},
                "flow": [
                    {"name": "table", "to": 0.5, **of_flow},
                    {"name": "log", "from": 0.5, "address": "sequential", "placement-handle": 1, **of_flow},
                ],
            }
        )
    ).cases[0]
    handles = result.raw["placement"]["handles"]
    written = {flow["name"]: flow["latency_us"]["write"]["count"] for flow in result.raw["flows"]}
    cached = 2**20 // 4096  # units are counted when they are programmed
    for handle, flow in zip(handles, ("table", "log"), strict=True):
        assert abs(handle["host_pages"] - written[flow]) <= cached, (flow, handle)

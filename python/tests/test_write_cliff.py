"""Write cliff of the fitted 970 EVO: does its rate fall where the vendor's list says, and by as much?"""

from __future__ import annotations

import pytest

import interpulse
from interpulse import Config

CACHE_GB, WITHIN_MBS, AFTER_MBS = 42, 2500, 1200
"""The vendor's figures for 1 TB, as cited in examples/drives/970-evo-turbowrite.toml."""

WRITES = """config_version = 1
drive = "970-evo-turbowrite"
[precondition]
fill = "0%"
[report]
batches = true
[[flow]]
name = "w"
address = "sequential"
read = "0%"
block-size = "128KiB"
alignment = "128KiB"
depth = 32
"""


def check(scale: float) -> None:
    """Writes 1.6 times the cache of a drive of `scale` TB with the same dies."""
    settings = {
        "drive.capacity": f"{round(1000 * scale)}GB",
        "ftl.slc-cache.size": f"{round(1000 * CACHE_GB * scale)}MB",
        "run.requests": round(1.6 * CACHE_GB * scale * 1e9 / 131072),
        "run.warmup": "0s",
    }
    raw = interpulse.run(Config.from_toml(WRITES).set(**settings)).raw
    written, rates = 0.0, []
    for batch in raw["batches"]:
        data = batch["host_requests"] * 131072
        rates.append((written / 1e9, data / batch["length_s"] / 1e6))
        written += data
    step = rates[1][0]
    (cliff,) = [at for (at, rate), (_, before) in zip(rates[1:], rates, strict=False)
                if rate < (WITHIN_MBS + AFTER_MBS) / 2 < before]  # fmt: skip
    # A lane holds whole super blocks, and the write cache is written on top.
    assert cliff == pytest.approx(CACHE_GB * scale, abs=1.5 * step + 0.02 * CACHE_GB * scale)
    within = [rate for at, rate in rates[1:] if at + step < cliff]
    after = [rate for at, rate in rates if at >= cliff + step]
    assert sum(within) / len(within) == pytest.approx(WITHIN_MBS, rel=0.05)
    assert sum(after) / len(after) == pytest.approx(AFTER_MBS, rel=0.05)
    assert raw["ftl"]["waf"] == pytest.approx(1, abs=0.02), "nothing is folded while commands arrive"


def test_a_tenth_of_the_drive_has_a_tenth_of_its_cliff() -> None:
    check(0.1)


@pytest.mark.verify
def test_the_whole_drive_has_its_cliff_at_42_gb() -> None:
    check(1.0)

"""Are real traces replayed to their last row? On the miniature drive, from the folder that INTERPULSE_TRACES names."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from tests import sample
from tests.sample import ROOT, check

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended

FOLDER = os.environ.get("INTERPULSE_TRACES", "")
ROWS = {
    "msr_hm_0_first1k.csv.zst": ("msr", 1000),
    "financial1_first10k.disksim.zst": ("mqsim", 10_000),
    "msn_fileserver_disk5.ssdsim-ms.zst": ("disksim-ascii", 149_999),
    "tpcc-small.mqsim.zst": ("mqsim", 6999),
    "cloudphysics.vscsi.zst": ("vscsi", 113_872),
    "websearch-small.mqsim.zst": ("mqsim", 24_783),
}
pytestmark = pytest.mark.skipif(not FOLDER, reason="INTERPULSE_TRACES names no folder with real traces")


@pytest.mark.verify
def test_every_trace_runs_on_the_full_drive(interpulse: Callable[..., Ended]) -> None:
    replay = str(ROOT / "examples" / "replay.toml")
    # Not in a folder of pytest, which keeps those of the last three sessions: a snapshot is 1.9 GB.
    with TemporaryDirectory(prefix="interpulse-verify-") as cache:
        for name, (_, rows) in ROWS.items():
            ended = interpulse("run", replay, "--trace", f"{FOLDER}/{name}", "--cache-dir", cache, "--json")
            assert ended.code == 0
            check(ended.json())
            assert [seed["host_requests"] for seed in sample.seeds(ended.json())] == [rows, rows]


@pytest.mark.parametrize("name", ROWS)
def test_every_row_becomes_a_request(interpulse: Callable[..., Ended], name: str) -> None:
    format_name, rows = ROWS[name]
    trace = Path(FOLDER) / name
    if not trace.is_file():
        pytest.skip(f"{trace} is not there")
    replay = str(ROOT / "examples" / "replay.toml")
    ended = interpulse("run", replay, "--set", "drive=a4-mini", "--trace", str(trace), "--json")
    assert ended.code == 0
    assert f"read as {format_name}, {rows} rows" in ended.err
    check(ended.json())
    assert [seed["host_requests"] for seed in sample.seeds(ended.json())] == [rows, rows]

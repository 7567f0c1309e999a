"""Do the recordings of real programs replay, each time with the same result, and have the requests of their page?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import interpulse
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "examples" / "traces"
ROWS = re.findall(
    r"^\| `(\S+)` \|.*\| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", (FOLDER / "README.md").read_text(), re.M
)
MOST_BYTES = 300_000


def replayed(path: Path) -> dict[str, Any]:
    """The first case of the example, on a drive that is ready at once."""
    config = interpulse.Config.load(ROOT / "examples" / "recorded.toml")
    config.set("flow.0.trace", str(path))
    config.set("precondition.overwrite", "none")
    config.set("precondition.fill", "50%")
    return dict(interpulse.run(config).cases[0].raw)


def test_every_recording_is_listed_and_small() -> None:
    files = sorted(path.name for path in FOLDER.iterdir() if path.suffix == ".gz")
    assert files == sorted(row[0] for row in ROWS)
    assert all((FOLDER / name).stat().st_size < MOST_BYTES for name in files)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_recording_replays_as_listed(row: tuple[str, ...]) -> None:
    name, *counts = row
    reads, writes, flushes, discards = (int(count.replace(",", "")) for count in counts)
    first, second = replayed(FOLDER / name), replayed(FOLDER / name)
    host = first["counters"]["host"]
    assert host["requests"] == reads + writes + flushes + discards
    assert first["latency_us"]["read"]["count"] == reads
    assert first["latency_us"]["write"]["count"] == writes
    assert first["latency_us"] == second["latency_us"]
    assert first["counters"] == second["counters"]

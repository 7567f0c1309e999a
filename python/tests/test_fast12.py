"""Does the first suspension study hold in miniature: one workload on a small drive?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import interpulse
from interpulse.configuration.config import toml_value
from interpulse.experiments.fast12_points import POLICIES
from interpulse.experiments.registry import SETUPS

if TYPE_CHECKING:
    from pathlib import Path


def test_suspension_is_nearly_as_good_as_no_programs_and_costs_writes_little(tmp_path: Path) -> None:
    text = (SETUPS / "fast12" / "twin.toml").read_text()
    for policy, sets in POLICIES.items():
        overrides = ", ".join(f"'{key}={toml_value(value)}'" for key, value in sets.items())
        text += f'\n[[case]]\nname = "{policy}"\nset = [{overrides}]\n'
    config = interpulse.Config.from_toml(text)
    config.set("drive", "fast12-mlc").set("part.blocks-per-plane", 192)
    config.set("flow.0.twin", "cello-3").set("flow.0.requests", 5_000).set("flow.0.speed", 4.0)
    result = interpulse.run(config, cache_dir=tmp_path)
    read, write = ({case.case: case.latency_us[kind]["mean"] for case in result.cases} for kind in ("read", "write"))
    assert read["fifo"] > 1.5 * read["rps"]
    assert read["rps"] > 1.5 * read["ipc"]
    assert read["pe0"] <= read["per"] <= read["ipc"] <= read["ips"] <= 1.15 * read["ipc"]
    assert read["ipc"] < 1.1 * read["pe0"]
    assert write["ipc"] < 1.04 * write["fifo"]
    assert write["wser"] < write["ipc"]

"""What a run leaves in the folder of `--out`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interpulse._core import Plan
    from interpulse.runs.result import Result


def files(result: Result, plan: Plan, *, counters: bool = False) -> Iterator[tuple[str, bytes]]:
    """The result, its table (`counters` adds these), the resolved configuration, and power over time if followed."""
    from interpulse.cli import power, show, table

    yield "result.json", f"{result.to_json(indent=2)}\n".encode()
    yield "table.txt", f"{table.render(result, counters=counters)}\n".encode()
    yield "config.resolved.json", f"{show.resolved_json(plan, indent=2)}\n".encode()
    yield from power.files(result)

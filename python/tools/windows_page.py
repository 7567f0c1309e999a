"""Generator of the table of docs/howto/gc-windows.md: ranges over seeds (`make golden`)."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from generated import with_blocks

import interpulse
from interpulse.runs.result import Result

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "howto" / "gc-windows.md"
CONFIG = ROOT / "examples" / "raid5-windows.toml"
SEEDS = (1, 2, 3)

HEAD = """
| case | mean | p99 | p99.9 | p99.99 |
|---|---:|---:|---:|---:|
"""


def measure(names: Sequence[str], seeds: Sequence[int] = SEEDS) -> dict[str, list[Result]]:
    """Results of these cases, one for each seed of the load."""
    raw: dict[str, Any] = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    sets = {case["name"]: case.get("set", []) for case in raw["case"]}
    raw["case"] = [{"name": f"{name} {seed}", "set": [*sets[name], f"seed={seed}"]} for name in names for seed in seeds]
    results = interpulse.run(interpulse.Config.of(raw)).cases
    for result in results:
        if (verdict := result.raw["steady"]["verdict"]) != "yes":
            print(f"steady: {verdict}, {result.case}")  # noqa: T201
    return {name: list(results[k * len(seeds) : (k + 1) * len(seeds)]) for k, name in enumerate(names)}


def names() -> list[str]:
    """The cases of the example."""
    return [case["name"] for case in tomllib.loads(CONFIG.read_text(encoding="utf-8"))["case"]]


def spread(values: Sequence[float]) -> str:
    """The smallest and the largest value, or the only one."""
    low, high = (f"{value:,.0f}" for value in (min(values), max(values)))
    return low if low == high else f"{low}-{high}"


def line(name: str, results: Sequence[Result]) -> str:
    """The line of a case: latencies of reads in microseconds."""
    means = [float(each.raw["latency_us"]["read"]["mean"]) for each in results]
    tails = ([each.percentile("read", at) for each in results] for at in (99, 99.9, 99.99))
    return f"| `{name}` | {' | '.join(spread(values) for values in (means, *tails))} |"


def table(seeds: Sequence[int] = SEEDS) -> str:
    """The table of all cases."""
    results = measure(names(), seeds)
    return "\n".join([HEAD.strip(), *(line(name, of) for name, of in results.items()), ""])


def main() -> None:
    """Writes the table."""
    PAGE.write_text(with_blocks(PAGE.read_text(encoding="utf-8"), [table()]), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Generator of the table of docs/howto/gc-windows.md: ranges over seeds of examples/raid5-windows.toml (`make golden`)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
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
| case | read mean, us | p99 | p99.9 | p99.99 | write p99.9, ms | page reads, % |
|---|---:|---:|---:|---:|---:|---:|
"""


def measure(names: Sequence[str], seeds: Sequence[int] = SEEDS) -> dict[str, list[Result]]:
    """Results of these cases, one for each seed of drive and load."""
    raw: dict[str, Any] = tomllib.loads(CONFIG.read_text(encoding="utf-8"))
    sets = {case["name"]: case.get("set", []) for case in raw["case"]}
    raw["case"] = [
        {"name": f"{name} {seed}", "set": [*sets[name], f"seed={seed}", f"precondition.seed={seed}"]}
        for name in names
        for seed in seeds
    ]
    results = interpulse.run(interpulse.Config.of(raw)).cases
    for result in results:
        if (verdict := result.raw["steady"]["verdict"]) != "yes":
            print(f"steady: {verdict}, {result.case}")  # noqa: T201
    return {name: list(results[k * len(seeds) : (k + 1) * len(seeds)]) for k, name in enumerate(names)}


def names() -> list[str]:
    """The cases of the example."""
    return [case["name"] for case in tomllib.loads(CONFIG.read_text(encoding="utf-8"))["case"]]


def spread(values: Sequence[float], digits: int = 0) -> str:
    """The smallest and the largest value, or the only one."""
    low, high = (f"{value:,.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low}-{high}"


def line(name: str, results: Sequence[Result], plain: Sequence[Result]) -> str:
    """The line of a case; page reads are compared with those of `plain`, seed by seed."""

    def of(figure: Callable[[Result], float], digits: int = 0) -> str:
        return spread([figure(each) for each in results], digits)

    def reads(result: Result) -> float:
        nand = result.counters["nand"]
        return float(nand["host_reads"] + nand["gc_reads"])

    more = [100 * (reads(a) / reads(b) - 1) for a, b in zip(results, plain, strict=True)]
    cells = (
        of(lambda each: each.raw["latency_us"]["read"]["mean"]),
        *(of(lambda each, at=at: each.percentile("read", at)) for at in (99, 99.9, 99.99)),
        of(lambda each: each.percentile("write", 99.9) / 1000, 1),
        spread(more),
    )
    return f"| `{name}` | {' | '.join(cells)} |"


def table(seeds: Sequence[int] = SEEDS) -> str:
    """The table of all cases."""
    results = measure(names(), seeds)
    return "\n".join([HEAD.strip(), *(line(name, of, results["plain"]) for name, of in results.items()), ""])


def main() -> None:
    """Writes the table."""
    PAGE.write_text(with_blocks(PAGE.read_text(encoding="utf-8"), [table()]), encoding="utf-8")


if __name__ == "__main__":
    main()

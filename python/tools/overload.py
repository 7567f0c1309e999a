"""Check of the overload test on random worlds: false alarms, misses and power.

    python python/tools/overload.py [--worlds 200] [--first 0]

First the capacity of the drive under each mix is measured with an open load of half as much again. Each world offers
a share of it: stable worlds 30 to 95 %, overloaded ones 105 to 200 %, with fixed, Poisson and bursty arrivals of a
squared variation up to 16, alone or beside a closed flow, split over two flows, or overloaded from the middle of the
window on. The write cache is small, since it takes up an excess of writes until it is full. Windows are long enough to
tell an excess of 5 % from the variation of the arrivals; two more series have short windows, where `unknown` is legal.
`yes` in an overloaded world is a miss and `overloaded` in a stable one a false alarm, in any window. Seeds are fixed.
The exit code is 1 if there is a false alarm or a miss.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import interpulse

CAPACITY = 500_000
"""Requests that measure a capacity."""

HEAD = """\
drive = "a4-mini"
cache.size = "4MiB"
[precondition]
fill = "100%"
overwrite = "uniform"
"""


@dataclass(frozen=True)
class Mix:
    """What a flow asks of a drive.

    Attributes:
        read: share of reads in percent.
        kib: size of the requests.
        scheme: program suspension.
        beside: whether a closed flow of single reads runs beside it.
    """

    read: int
    kib: int
    scheme: str
    beside: bool

    @property
    def sets(self) -> list[str]:
        """Settings of the drive."""
        return [f"suspend.program.scheme={self.scheme}"] if self.scheme != "none" else []

    def flow(self, name: str, rate: float, arrivals: str, more: str = "") -> str:
        """A flow that offers this mix."""
        return (
            f'[[flow]]\nname = "{name}"\npacing = "open"\nrate = "{rate:.3f}IOPS"\nread = "{self.read}%"\n'
            f'block-size = "{self.kib}KiB"\n{arrivals}{more}'
        )

    def closed(self) -> str:
        """The closed flow beside it, if there is one."""
        return '[[flow]]\nname = "closed"\ndepth = 1\nread = "100%"\n' if self.beside else ""


@dataclass(frozen=True)
class World:
    """A load and what it is.

    Attributes:
        kind: `stable`, `overloaded` or `late`: overloaded from the middle of the window on.
        load: offered load as a share of the capacity, at the end of the window.
        variation: squared coefficient of variation of the gaps; 0 for fixed ones.
        requests: arrivals in the window.
        split: whether two flows share the load.
    """

    mix: Mix
    kind: str
    load: float
    variation: int
    requests: int
    split: bool
    seed: int

    def toml(self, capacity: float) -> str:
        """The configuration."""
        arrivals = {0: 'arrivals = "fixed"\n', 1: 'arrivals = "poisson"\n'}.get(
            self.variation, f'arrivals = "hyper-exponential"\nsquared-variation = {self.variation}\n'
        )
        rate = self.load * capacity
        window = self.requests / rate
        warmup = min(20_000, self.requests) / rate
        head = f'{HEAD}[run]\nwarmup = "{warmup:.6f}s"\ntime = "{window:.6f}s"\n'
        if self.kind == "late":
            steady = 0.6 * capacity
            flows = self.mix.flow("first", steady, arrivals)
            start = f'start = "{warmup + window / 2:.6f}s"\n'
            flows += self.mix.flow("second", rate - steady, arrivals, start)
        elif self.split:
            flows = self.mix.flow("first", rate / 3, arrivals) + self.mix.flow("second", 2 * rate / 3, arrivals)
        else:
            flows = self.mix.flow("only", rate, arrivals)
        return head + flows + self.mix.closed()

    def __str__(self) -> str:
        mix = self.mix
        parts = [f"{self.kind} {100 * self.load:.0f} %", f"variation {self.variation}", f"{self.requests:,} requests"]
        parts += [f"{mix.read} % reads of {mix.kib} KiB", mix.scheme, *["beside a closed flow"] * mix.beside]
        return ", ".join([*parts, *["two flows"] * self.split, f"seed {self.seed}"])


def mixes() -> list[Mix]:
    """Every mix."""
    kinds = [(0, 4), (30, 4), (50, 16), (70, 4), (95, 4), (100, 4)]
    return [
        Mix(read, kib, scheme, beside)
        for read, kib in kinds
        for scheme in ("none", "loop-boundary")
        for beside in (False, True)
    ]


def worlds(
    count: int, kinds: Sequence[str], first: int, *, short: bool = False, excess: float = 0.05
) -> Iterator[World]:
    """Random worlds, which depend on their number alone; overloaded ones offer at least `excess` too much."""
    known = mixes()
    for number in range(first, first + count):
        draw = random.Random(f"{kinds[0]} {short} {number}")
        kind = draw.choice(kinds)
        variation = draw.choice([0, 1, 1, 4, 16, 16])
        least, most = (0.3, 0.95) if kind == "stable" else (1 + excess, 2.0)
        nearest = most if kind == "stable" else least
        load = draw.choice([draw.uniform(least, most), nearest])
        # The excess is then more than eight times the noise: N = (8.3 / 0.048)^2 (variation + 1) for 5 %.
        mix = draw.choice(known)
        enough = max(4000, round(75 * (variation + 1) / excess**2))
        if mix.read < 100:
            # Collections come in waves, which vary what the drive serves.
            enough *= 4
        if short:
            requests = 600 + round(draw.uniform(0.01, 0.4) * enough)
        elif kind == "stable":
            requests = round(draw.uniform(0.2, 0.8) * enough)
        else:
            requests = enough * (2 if kind == "late" else 1)
        split = kind != "late" and draw.random() < 0.2
        yield World(mix, kind, load, variation, requests, split, number + 1)


def capacities(needed: Sequence[Mix], cache: Path) -> dict[Mix, float]:
    """Requests per second that the drive serves of each mix under an overload."""
    found = {}
    for mix in needed:
        # A rate of half as much again as a depth of 128 gives keeps the queue long enough.
        deep = f'[[flow]]\nname = "only"\ndepth = 128\nread = "{mix.read}%"\nblock-size = "{mix.kib}KiB"\n'
        near = _served(f"{HEAD}[run]\nwarmup-requests = 10000\nrequests = 20000\n{deep}", mix, cache)
        flow = mix.flow("only", 1.5 * near, 'arrivals = "poisson"\n')
        found[mix] = _served(f"{HEAD}[run]\nwarmup-requests = 60000\nrequests = {CAPACITY}\n{flow}", mix, cache)
        print(f"capacity {mix}: {found[mix]:,.0f} requests/s", file=sys.stderr, flush=True)  # noqa: T201
    return found


def _served(text: str, mix: Mix, cache: Path) -> float:
    """Requests per second of the flow `only`."""
    (result,) = _run([text + mix.closed()], mix.sets, [1], cache)
    return float(next(flow["iops"] for flow in result["flows"] if flow["name"] == "only"))


def _run(texts: Sequence[str], sets: Sequence[str], seeds: Sequence[int], cache: Path) -> list[dict[str, Any]]:
    """The results of configurations that differ in their flows only."""
    raws = []
    for text, seed in zip(texts, seeds, strict=True):
        config = interpulse.Config.from_toml(text)
        for each in sets:
            key, _, value = each.partition("=")
            config.set(key, value)
        raws.append(interpulse.run(config, seed=seed, cache_dir=cache).raw)
    return raws


def judged(of: Sequence[World], known: dict[Mix, float], cache: Path) -> Counter[str]:
    """Verdicts on these worlds; prints every wrong one."""
    found: Counter[str] = Counter()
    for number, world in enumerate(of):
        if number % 20 == 0:
            print(f"{number} of {len(of)} {world.kind}: {dict(found)}", file=sys.stderr, flush=True)  # noqa: T201
        (raw,) = _run([world.toml(known[world.mix])], world.mix.sets, [world.seed], cache)
        verdict = raw["steady"]["verdict"]
        load = raw["steady"]["load"]["verdict"]
        wrong = verdict == "overloaded" if world.kind == "stable" else verdict in ("yes", "no")
        found["wrong"] += wrong
        found[{"overloaded": "overloaded", "served": "served", "unknown": "undecided"}[load]] += 1
        if wrong:
            print(f"wrong: {verdict} in {world}: {raw['steady']}", flush=True)  # noqa: T201
    return found


def check(count: int, first: int, cache: Path, excess: float = 0.05) -> int:
    """Runs all series and prints a line for each; returns the number of wrong verdicts."""
    series = {
        "stable": [*worlds(count, ["stable"], first, excess=excess)],
        "overloaded": [*worlds(count, ["overloaded", "overloaded", "overloaded", "late"], first, excess=excess)],
        "stable, short": [*worlds(count // 4, ["stable"], first, short=True, excess=excess)],
        "overloaded, short": [*worlds(count // 4, ["overloaded"], first, short=True, excess=excess)],
    }
    used = list(dict.fromkeys(world.mix for of in series.values() for world in of))
    known = capacities(used, cache)
    wrong = 0
    for name, of in series.items():
        found = judged(of, known, cache)
        wrong += found["wrong"]
        what = "false alarms" if name.startswith("stable") else "misses"
        verdicts = ", ".join(f"{found[each]} {each}" for each in ("served", "overloaded", "undecided"))
        print(f"{name}: {len(of)} worlds, {found['wrong']} {what}; backlog: {verdicts}", flush=True)  # noqa: T201
        if name == "overloaded":
            print(f"power: {found['overloaded'] / max(len(of), 1):.3f}", flush=True)  # noqa: T201
    return wrong


def main() -> int:
    """Runs the check; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=200, help="worlds of each of the first two series")
    parser.add_argument("--first", type=int, default=0, help="number of the first world")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        return int(check(given.worlds, given.first, Path(cache)) > 0)


if __name__ == "__main__":
    sys.exit(main())

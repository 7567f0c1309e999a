"""Brute-force check of conclusions: what commands print about random miniature drives, against direct simulation.

    python python/tools/conclusions.py --worlds 100

Each world is a random drive with a random load. A command runs on it, and every conclusion that it prints is compared
with the true figures: many seeds and long windows of the same settings, for a search of every candidate. It is
contradicted if the truth lies on the other side by six standard errors and 5 %. The exit code is 1 if one is.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conclusions_worlds import (
    PRECISE,
    QUICK,
    TOLERANCE,
    Facts,
    Raw,
    Runner,
    Truth,
    World,
    clearly,
    draw,
    figure_of,
    in_process,
    keeps_up,
    plain_of,
)

import interpulse
from interpulse import ConfigError
from interpulse.runs import comparison, summary
from interpulse.runs.result import Result
from interpulse.search.advice import Advice, Option
from interpulse.search.candidates import OPERATIONS, Way, schemes
from interpulse.search.cost import extra, suspends
from interpulse.search.limits import Limit
from interpulse.search.load import Load
from interpulse.studies.outcome import Row
from interpulse.studies.verdict import Agreement, agreement
from interpulse.sweeps.axes import Sets

REQUESTS = 10_000
SEEDS = 3
"""Seeds of a search; the default of the commands is 5."""

NEAR = 1.15
"""Candidates whose coarse figures exceed a limit by more than this factor are not measured precisely."""

MOST_EACH = 2
"""Candidates that are measured precisely for each conclusion about all of them."""

LESS_DIE_TIME = 0.003
"""Difference of additional die time beyond which another scheme is clearly cheaper."""

Checked = tuple[str, str]
"""A conclusion, and why it is wrong; empty if it is not."""


@dataclass(frozen=True)
class Bench:
    """What a check needs: the world, its facts, a folder and random numbers."""

    world: World
    facts: Facts
    folder: Path
    rng: random.Random


def scheme_sets(program: str, erase: str) -> Sets:
    """Overrides that select two schemes."""
    return (("suspend.program.scheme", program), ("suspend.erase.scheme", erase))


def draw_limits(bench: Bench, kinds: Sequence[tuple[str, Sequence[str], float]], span: float) -> list[Limit]:
    """Limits near the figures of no suspension, of ideal suspension and of two practical schemes."""
    seen = [scheme_sets("none", "none"), scheme_sets("ideal", "ideal"), scheme_sets("loop-boundary", "deferred")]
    raws = [raw for raw in bench.facts.coarse(seen) if raw is not None]
    limits: list[Limit] = []
    while not limits:
        for kind, measures, likely in kinds:
            if bench.rng.random() < likely:
                probe = Limit(kind, bench.rng.choice(measures), 1.0)
                values = [value for raw in raws if (value := probe.value(raw))]
                if values:
                    factor = math.exp(bench.rng.uniform(-span, span))
                    limits.append(Limit(kind, probe.measure, float(f"{bench.rng.choice(values) * factor:.3g}")))
    return limits


def named(limits: Sequence[Limit]) -> dict[str, str]:
    """Limits as a user writes them."""
    return {f"{limit.kind}-{limit.measure}": f"{limit.bound:.6f}us" for limit in limits}


def of_advise(bench: Bench) -> Iterator[Checked]:
    """Every conclusion of `advise`, against all combinations of schemes."""
    world, facts = bench.world, bench.facts
    kinds = (("read", ("p50", "p99", "p99.9"), 0.85), ("write", ("p90", "p99"), 0.5), ("all", ("p99",), 0.1))
    limits = draw_limits(bench, kinds, 0.35)
    cap = bench.rng.choice((None, None, 3, 10))
    found = interpulse.advise(world.config, named(limits), max_suspends=cap, seeds=SEEDS, out=bench.folder / "advise")

    def truth(sets: Sets) -> tuple[str, list[Raw]]:
        raws = facts.fine(sets)
        return clearly(limits, raws, keeps_up(world, raws)), raws

    about = ", ".join(f"{limit.name} {limit.bound:g} us" for limit in limits)
    for option in _judged(found):
        really, _ = truth(option.candidate.sets)
        wrong = really and really != option.state
        label = "best" if option is found.best else "configured" if option is found.configured else "alternative"
        yield f"advise: {label} {option.state}", f"{option.candidate.label}: {really}, {about}" if wrong else ""
    holding = {}
    for program, erase in _promising(found, facts, limits):
        really, raws = truth((*program.sets, *erase.sets))
        if really == "holds":
            holding[program.label, erase.label] = raws
    yield from _about_all(found, holding, about)
    yield from _about_cost(found, holding, world, about)


def _judged(found: Advice) -> list[Option]:
    """Options that are said to hold or miss with all seeds."""
    options = [found.configured, *([found.best] if found.best else []), *found.options[:4]]
    different = {id(each): each for each in options if each.seeds == found.seeds and each.state in ("holds", "misses")}
    return list(different.values())


def _promising(found: Advice, facts: Facts, limits: Sequence[Limit]) -> list[tuple[Way, Way]]:
    """Combinations that may contradict the answer: one short simulation of each comes near all limits."""
    programs, erases = ([way for way, _ in found.ways[operation]] for operation in OPERATIONS)
    pairs = list(itertools.product(programs, erases))
    raws = facts.coarse([(*program.sets, *erase.sets) for program, erase in pairs])
    near: list[tuple[float, tuple[float, float], tuple[Way, Way]]] = []
    for pair, raw in zip(pairs, raws, strict=True):
        ratio = max((limit.value(raw) or 0) / limit.bound for limit in limits) if raw is not None else math.inf
        if raw is not None and ratio <= NEAR:
            near.append((ratio, _cost([raw]), pair))
    near.sort(key=lambda each: each[0])
    chosen = {id(pair): pair for _, _, pair in near[:MOST_EACH]}
    for at, operation in enumerate(OPERATIONS):
        for way, option in found.ways[operation]:
            if _out(option):
                chosen |= {id(pair): pair for _, _, pair in [e for e in near if e[2][at] is way][:MOST_EACH]}
    best = found.best
    if best is not None:
        own = next(
            (each for each in near if (each[2][0], each[2][1]) == (best.candidate.program, best.candidate.erase)), None
        )
        if own is not None:
            chosen[id(own[2])] = own[2]
            cheap = sorted((each for each in near if each[1] < own[1]), key=lambda each: each[1])
            chosen |= {id(pair): pair for _, _, pair in cheap[:MOST_EACH]}
    return list(chosen.values())


def _out(option: Option) -> str:
    """Why a way is said to be ruled out; empty if it is not."""
    return option.ruled_out if hasattr(option, "ruled_out") else option.why * (option.state == "misses")


def _about_all(found: Advice, holding: Mapping[tuple[str, str], Any], about: str) -> Iterator[Checked]:
    """Conclusions about every scheme: none can, and ways that are ruled out."""
    said = getattr(found, "impossible", None)
    if said is None:  # A version that concludes it from the bound.
        said = found.bound.why if found.best is None and found.bound.state == "misses" else ""
    if said:
        example = next(iter(holding), None)
        yield "advise: no scheme can", f"{said}, but {example} holds; {about}" if example else ""
    for at, operation in enumerate(OPERATIONS):
        for way, option in found.ways[operation]:
            if out := _out(option):
                example = next((labels for labels in holding if labels[at] == way.label), None)
                wrong = f"{operation} {way.label} ({out}), but {example} holds; {about}" if example else ""
                yield "advise: a way is ruled out", wrong
    if found.best is None and not said:
        # Windows that are too short to decide leave the answer open; longer ones of direct simulation may decide it.
        is_open = any(option.state == "open" and "too short to decide" in option.why for option in found.options)
        wrong = f"{len(holding)} hold; {about}" if holding and not is_open else ""
        yield f"advise: no combination was shown to hold{', windows too short' * is_open}", wrong


def _about_cost(
    found: Advice, holding: Mapping[tuple[str, str], Sequence[Raw]], world: World, about: str
) -> Iterator[Checked]:
    """That the best is the cheapest, with the part's entries charged."""
    best = found.best
    if best is None or best.candidate.program is None or best.candidate.erase is None:
        return
    for way in (best.candidate.program, best.candidate.erase):
        free = way.scheme in ("deferred", "timeout") and world.entries[way.operation] != "0us"
        if free and not any(key.endswith("safe-point-entry") for key, _ in way.sets):
            yield "advise: cost", f"{way.operation} {way.label}: entry of {world.entries[way.operation]} not charged"
    own = holding.get((best.candidate.program.label, best.candidate.erase.label))
    if own is None:
        return
    costs = {labels: _cost(raws) for labels, raws in holding.items()}
    mine = _cost(own)
    cheaper = [
        labels
        for labels, (time_share, count) in costs.items()
        if time_share < mine[0] - LESS_DIE_TIME or (time_share <= mine[0] and count < mine[1] / 1.5 - 0.2)
    ]
    wrong = f"{best.candidate.label} costs {mine}, {cheaper[0]} {costs[cheaper[0]]}; {about}" if cheaper else ""
    yield "advise: cheapest", wrong


def _cost(raws: Sequence[Raw]) -> tuple[float, float]:
    return sum(map(extra, raws)) / len(raws), sum(suspends(raw, OPERATIONS) for raw in raws) / len(raws)


def of_slo(bench: Bench) -> Iterator[Checked]:
    """Both ends of the interval of `slo`, and the loads beyond them."""
    world, facts = bench.world, bench.facts
    limits = draw_limits(bench, (("read", ("p50", "p99", "p99.9"), 0.9), ("write", ("p99",), 0.2)), 0.5)
    found = interpulse.slo(world.config, named(limits), precision=0.2, seeds=SEEDS, out=bench.folder / "slo").cases[0]
    load: Load = found.load

    def truth(at: float) -> str:
        raws = facts.fine(load.sets(at))
        return clearly(limits, raws, keeps_up(world, raws, at) if load.kind == "rate" else True)

    about = ", ".join(f"{limit.name} {limit.bound:g} us" for limit in limits)
    for at, said, factors in ((found.sustains, "holds", (1.0, 0.5)), (found.fails, "misses", (1.0, 1.5))):
        if at is None:
            continue
        for factor in factors:
            tried = load.tidy(at * factor)
            if factor != 1 and tried == at:
                continue
            really = truth(tried)
            wrong = really and really != said
            where = "at" if factor == 1 else "below" if factor < 1 else "above"
            end = "sustains" if said == "holds" else "fails from"
            text = f"{load.said(at)}: {load.said(tried)} {really}, {about}" if wrong else ""
            yield f"slo: {end}, {where} it", text


def of_optimize(bench: Bench) -> Iterator[Checked]:
    """Feasible, not feasible and front of `optimize`, against precise figures of every trial."""
    world, facts = bench.world, bench.facts
    (limit,) = draw_limits(bench, (("write", ("p99",), 1.0),), 0.5)
    objectives: dict[str, Limit | None] = {"read_p99_us": Limit("read", "p99", 1.0), "iops": None}
    if world.open_rate is not None:
        objectives = {"read_p99_us": Limit("read", "p99", 1.0), "write_mean_us": Limit("write", "mean", 1.0)}
    study = {
        "study_version": 1,
        "config": world.text,
        "trials": 12,
        "batch": 6,
        "repetitions": 3,
        "sampler": "random",
        "parameter": [
            {"key": f"suspend.{operation}.scheme", "name": operation, "values": [n for n in schemes() if n != "ideal"]}
            for operation in OPERATIONS
        ],
        "objective": [{"maximise" if name == "iops" else "minimise": name} for name in objectives],
        "constraints": {"writes": f"write_p99_us <= {limit.bound}"},
    }
    study["config"] = _table(world)
    found = interpulse.optimize(study, out=bench.folder / "optimize")
    true: dict[Sets, dict[str, Truth]] = {}
    for trial in found.trials:
        raws = facts.fine(trial.sets)
        of = {name: figure_of(each, raws) if each else Truth.of([raw["iops"] for raw in raws])
              for name, each in objectives.items()}  # fmt: skip
        of["limit"] = figure_of(limit, raws)
        if all(each is not None for each in of.values()):
            true[trial.sets] = {name: each for name, each in of.items() if each is not None}
    front = {trial.sets for trial in found.front}
    for trial in {trial.sets: trial for trial in found.trials if trial.sets in true}.values():
        own = true[trial.sets]
        at = f"{dict(trial.sets)}"
        if trial.feasible and trial.sound:
            wrong = own["limit"].clearly_above(limit.bound)
            yield "optimize: feasible", f"{at}: {own['limit']} over {limit.bound:g}" if wrong else ""
        elif not trial.feasible and not trial.error:
            wrong = own["limit"].clearly_below(limit.bound)
            yield "optimize: not feasible", f"{at}: {own['limit']} under {limit.bound:g}" if wrong else ""
        rivals = [other for other in true if other in front and other != trial.sets]
        if trial.sets in front:
            better = [other for other in rivals if _all_better(true[other], own)]
            yield "optimize: on the front", f"{at}: {dict(better[0])} is better in all" if better else ""
        elif trial.sound:
            beaten = any(not _all_better(own, true[other]) for other in rivals) or not rivals
            yield "optimize: not on the front", "" if beaten else f"{at} is better in all than the whole front"


def _table(world: World) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(world.text)


def _all_better(a: Mapping[str, Truth], b: Mapping[str, Truth]) -> bool:
    """Whether `a` is clearly better than `b` in every objective."""
    for name in a.keys() - {"limit"}:
        x, y = (b[name], a[name]) if name == "iops" else (a[name], b[name])
        if not x.high * TOLERANCE < y.low:
            return False
    return True


def _two(bench: Bench) -> tuple[Sets, Sets]:
    """Two different settings of the drive."""
    names = [name for name in schemes() if name != "ideal"]
    pairs = [scheme_sets(p, e) for p, e in itertools.product(names, names)]
    first, second = bench.rng.sample(pairs, 2)
    return first, second


def of_compare(bench: Bench) -> Iterator[Checked]:
    """Marks of `compare`: a marked difference has the sign of the true one, and a result equals itself."""
    sides = _two(bench)
    results = [[Result(raw) for raw in _seeds(bench, sets, 5)] for sets in sides]
    for row in comparison.compare(results[0], results[0]).rows:
        if row.differs:
            yield "compare: same", f"{row.figure} differs from itself"
    if any(raw.get("steady", {}).get("verdict") != "yes" for side in results for of in side for raw in [of.raw]):
        return  # It notes that longer runs may differ.
    true = [bench.facts.fine(sets) for sets in sides]
    read = {name: of for name, _, of in comparison.figures()}
    for row in comparison.compare(*results).rows:
        values = [[read[row.figure](raw) for raw in raws] for raws in true]
        pairs = list(zip(*values, strict=True))
        if row.ratio is None or any(a is None or b is None or a <= 0 or b <= 0 for a, b in pairs):
            continue
        truth = Truth.of([b / a for a, b in pairs if a and b])
        if row.differs:
            wrong = truth.clearly_below(1.0) if row.ratio > 1 else truth.clearly_above(1.0)
            yield "compare: differs", f"{row.figure}: {row.ratio:.3g}, truly {truth}; {sides}" if wrong else ""
        assert row.low is not None
        assert row.high is not None
        outside = truth.low > row.high * TOLERANCE or truth.high < row.low / TOLERANCE
        yield "compare: interval", f"{row.figure}: {row.low:.4g} .. {row.high:.4g}, truly {truth}" if outside else ""


def _seeds(bench: Bench, sets: Sets, count: int) -> list[Raw]:
    raws = [raw for seed in range(1, count + 1) for raw in bench.facts.coarse([sets], seed)]
    return [raw for raw in raws if raw is not None]


def of_run(bench: Bench) -> Iterator[Checked]:
    """First lines of `run` and `report`: difference of two cases, cause of the slowest reads, steadiness."""
    sides = _two(bench)
    raws = [raw for raw in bench.facts.coarse(sides) if raw is not None]
    if len(raws) < 2:
        return
    true = [bench.facts.fine(sets) for sets in sides]
    text = list(summary.lines([{**raw, "case": name} for raw, name in zip(raws, "AB", strict=True)]))
    for measure in ("p99.9", "p99", "mean"):
        old, new = (raw["latency_us"]["read"].get(measure) for raw in raws)
        hedged = any(measure in raw["latency_us"]["read"].get("few", ()) for raw in raws)
        limit = Limit("read", measure, 1.0)
        truth = Truth.of([limit.value(b) / limit.value(a) for a, b in zip(*true, strict=True)])  # type: ignore[operator]
        if not hedged and old and new and abs(new / old - 1) > TOLERANCE - 1:
            wrong = truth.clearly_below(1.0) if new > old else truth.clearly_above(1.0)
            yield "run: change", f"read {measure} {old:g} -> {new:g}, truly {truth}; {text[0]}" if wrong else ""
    for raw, real in zip(raws, true, strict=True):
        alone = list(summary.lines([raw]))
        line = next((line for line in alone if line.startswith("the slowest")), "")
        # A window that is said to be too short claims nothing beyond itself.
        if line and raw.get("steady", {}).get("verdict") == "yes":
            yield "run: cause of the slowest", _cause(line, real)
        if raw.get("steady", {}).get("verdict") == "yes":
            later = Truth.of([each["iops"] for each in real])
            wrong = later.clearly_above(raw["iops"] * 1.05) or later.clearly_below(raw["iops"] / 1.05)
            yield "run: steady", f"{raw['iops']:.0f} IOPS, later {later}" if wrong else ""


def _cause(line: str, real: Sequence[Raw]) -> str:
    """Why the causes named in a line are wrong; empty if they are not."""
    tail = next(name for name, share in summary.TAILS.items() if line.startswith(f"the slowest {share} of reads"))
    named = line.rpartition("of their time is ")[2].split(" and ")
    shares: Counter[str] = Counter()
    for raw in real:
        for cause, share in raw.get("tail_blame", {}).get(tail, {}).get("shares", {}).items():
            shares[cause.replace("_", " ")] += share / len(real)
    most, share = shares.most_common(1)[0]
    if most in named or share < shares[named[0]] + 0.15:
        return ""
    return f"{line}; truly {most} {100 * share:.0f} %, {named[0]} {100 * shares[named[0]]:.0f} %"


def of_experiment(bench: Bench) -> Iterator[Checked]:
    """Verdicts of experiments: statements and nearness of three seeds, as `experiment --quick` measures them."""
    sides = _two(bench)
    limit = Limit("read", bench.rng.choice(("mean", "p99")), 1.0)
    few = [_seeds(bench, sets, 3) for sets in sides]
    true = [bench.facts.fine(sets) for sets in sides]
    ratios = [limit.value(b) / limit.value(a) for a, b in zip(*few, strict=True)]  # type: ignore[operator]
    truth = Truth.of([limit.value(b) / limit.value(a) for a, b in zip(*true, strict=True)])  # type: ignore[operator]
    from interpulse.runs.estimate import Estimate

    mean = Estimate.of(ratios)
    bound = truth.value * math.exp(bench.rng.uniform(-0.3, 0.3))
    row = Row("ratio", "", "", None, mean.value, mean.low, mean.high, high=bound)
    said = agreement(row)
    wrong = (said is Agreement.HOLDS and truth.clearly_above(bound)) or (
        said is Agreement.FAILS and truth.clearly_below(bound)
    )
    yield f"experiment: {said}", f"{mean} at most {bound:.4g}, truly {truth}" if wrong else ""
    near = Row("ratio", "", "", bound, mean.value, mean.low, mean.high)
    said = agreement(near)
    off = (abs(truth.low / bound - 1), abs(truth.high / bound - 1))
    wrong = min(off) > 0.1 * 1.5 if said is Agreement.NEAR else max(off) < 0.1 / 1.5
    yield f"experiment: {said}", f"{mean} beside {bound:.4g}, truly {truth}" if wrong else ""


CHECKS: dict[str, Callable[[Bench], Iterator[Checked]]] = {
    "advise": of_advise,
    "slo": of_slo,
    "optimize": of_optimize,
    "compare": of_compare,
    "run": of_run,
    "experiment": of_experiment,
}


def check(seed: int, number: int, commands: Sequence[str], *, requests: int = REQUESTS) -> dict[str, list[Checked]]:
    """The conclusions of commands on one world."""
    runner = Runner()
    world = draw(seed, number, requests=requests)
    found: dict[str, list[Checked]] = {}
    with tempfile.TemporaryDirectory() as folder, in_process(runner):
        plain = plain_of(world.config, Path(folder) / "plain")
        for command in commands:
            try:
                # A contradiction has to be confirmed by more seeds and longer windows.
                for effort in (QUICK, PRECISE):
                    facts = Facts(runner, plain, requests, effort)
                    place = Path(tempfile.mkdtemp(dir=folder))
                    bench = Bench(world, facts, place, random.Random(f"{seed} {number} {command}"))
                    found[command] = list(CHECKS[command](bench))
                    if not any(why for _, why in found[command]):
                        break
            except ConfigError as error:
                found[command] = [(f"{command}: refused", "")]
                print(f"world {number}: {command} refused: {error}", flush=True)  # noqa: T201
    return found


def main() -> int:
    """Checks the worlds and prints the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="number of the first world")
    parser.add_argument("--seed", type=int, default=36)
    parser.add_argument("--commands", default=",".join(CHECKS), help="comma-separated")
    given = parser.parse_args()
    total: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    begin = time.monotonic()
    for number in range(given.first, given.first + given.worlds):
        for conclusions in check(given.seed, number, given.commands.split(",")).values():
            for what, why in conclusions:
                total[what] += 1
                wrong[what] += bool(why)
                if why:
                    print(f"world {number}: {what}: contradicted: {why}", flush=True)  # noqa: T201
        print(f"world {number}: {sum(total.values())} conclusions, {time.monotonic() - begin:.0f} s", flush=True)  # noqa: T201
    for what in sorted(total):
        print(f"conclusion {what}: {total[what]}, contradicted {wrong[what]}")  # noqa: T201
    print(f"all {given.worlds} worlds: {sum(total.values())} conclusions, contradicted {sum(wrong.values())}")  # noqa: T201
    return 1 if sum(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

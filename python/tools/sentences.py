"""Check of the sentences that a run begins with: does what they say hold for other seeds too?

Each example runs with two seeds. The sentence that compares a case with the first one is split into its claims.
Every claim is compared with three further seeds: a change has to have its direction in all of them, and the mean
ratio of what is called unchanged or within chance has to be below `SAME`. With names of examples as arguments only
those run.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import interpulse
from interpulse.cli import brief
from interpulse.runs.answer import TAILS, answer

ROOT = Path(__file__).parent.parent.parent
SEEDS = (1, 7)
FURTHER = (101, 102, 103)
SAME = 1.25
"""Largest mean ratio over the further seeds of what is called unchanged."""

EXAMPLES = (
    *("demo", "small", "choose", "tail", "aged", "dftl", "fdp", "iwl", "namespaces", "raid5", "read-ahead"),
    *("open-channel", "recorded", "ressd", "slc-cache", "slo", "twin", "wear-out", "zns"),
)

CLAIM = re.compile(r"(?:slowest (?P<share>.+) of )?(?P<kind>read|write)s?(?P<mean> mean)?(?P<rest>.*)")


def main() -> int:
    """Runs the examples; returns 1 if a claim does not hold."""
    wrong = rows = 0
    print("| example | seed | case | sentence | first lines warn | holds |\n|---|---|---|---|---|---|", flush=True)  # noqa: T201
    for name in sys.argv[1:] or EXAMPLES:
        further = [cases_of(name, seed) for seed in FURTHER]
        for seed in SEEDS:
            result = run(name, seed)
            cases = [case.raw for case in result.cases]
            text = " ".join(brief.render(result).split())
            for index, after in enumerate(cases[1:], start=1):
                sentence = answer(cases[0], after)
                pairs = [(others[0], others[index]) for others in further]
                found = [why for claim in sentence.split("; ") if (why := contradiction(claim, pairs))]
                found += untold(cases[0], after, text)
                warns = "yes" if any(each["steady"]["verdict"] != "yes" for each in (cases[0], after)) else ""
                shown = (name, seed, after["case"], sentence or "nothing to compare", warns, "; ".join(found) or "yes")
                print(f"| {' | '.join(map(str, shown))} |", flush=True)  # noqa: T201
                rows += 1
                wrong += bool(found)
    print(f"sentences: {rows}, contradicted by further seeds: {wrong}")  # noqa: T201
    return 1 if wrong else 0


def run(name: str, seed: int) -> interpulse.Result:
    """A run of an example."""
    return interpulse.run(interpulse.Config.load(ROOT / "examples" / f"{name}.toml"), seed=seed)


def cases_of(name: str, seed: int) -> list[Mapping[str, Any]]:
    """Results of the cases of an example."""
    return [case.raw for case in run(name, seed).cases]


def contradiction(claim: str, pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> str:
    """Why further seeds contradict a claim; empty if they do not."""
    ratios = list(_ratios(claim, pairs))
    if not ratios:
        return f"cannot be checked: {claim}" if claim else ""
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    seen = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    if "unchanged" in claim or "within chance" in claim:
        return "" if 1 / SAME <= mean <= SAME else f"{claim}: ratios of other seeds {seen}"
    rises = "+" in claim or " (x" in claim or claim.rpartition(" ")[2].startswith("x")
    return "" if all((ratio > 1) is rises for ratio in ratios) else f"{claim}: ratios of other seeds {seen}"


def _ratios(claim: str, pairs: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Iterator[float]:
    for before, after in pairs:
        values = [_value(claim, each) for each in (before, after)]
        if None not in values and all(values):
            yield values[1] / values[0]  # type: ignore[operator]


def _value(claim: str, case: Mapping[str, Any]) -> float | None:
    if claim.startswith("IOPS"):
        return float(case["iops"])
    if claim.startswith("power"):
        return float(case["power"]["mean_mw"]["total"])
    match = CLAIM.match(claim)
    if match is None:
        return None
    of = case["latency_us"].get(match["kind"], {})
    if match["share"]:
        return of.get(next(name for name, share in TAILS.items() if share == match["share"]))  # type: ignore[no-any-return]
    return of.get("mean")  # type: ignore[no-any-return]


def untold(before: Mapping[str, Any], after: Mapping[str, Any], text: str) -> Iterator[str]:
    """Doubts of a result that the text does not mention."""
    for case in (before, after):
        verdict = case["steady"]["verdict"]
        if verdict == "overloaded" and "overloaded" not in text:
            yield f"{case['case']}: the text does not say that it is overloaded"
        elif verdict != "yes" and "steady" not in text and "overloaded" not in text:
            yield f"{case['case']}: the text does not say that the window is not steady"


if __name__ == "__main__":
    raise SystemExit(main())

"""Text of the page: the answer, figures with their changes, doubts, pinned results, the export."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interpulse.explore.base import NAME, WITHOUT
from interpulse.explore.controls import OPERATIONS, named
from interpulse.explore.simulation import Outcome
from interpulse.report.cause_names import CAUSES
from interpulse.report.charts import COLOURS, INK, Key
from interpulse.runs.answer import answer
from interpulse.runs.answer import time as time_text
from interpulse.runs.latency import change
from interpulse.runs.steadiness import overload
from interpulse.tables.format import number

TAILS = {"p99.9": "0.1 %", "p99.99": "0.01 %", "p99": "1 %"}
"""Tails whose causes are named, in order of preference."""

LEAST_READS = 10
"""Least reads of a tail whose causes are named."""

SECOND = 0.2
"""Least share of a tail that names a second cause."""

UNSURE = "too short to be sure"

MINUS = "\N{MINUS SIGN}"


DRIFTS = {
    "no": "figures drift within the window: the drive is not steady",
    "unknown": f"the window is {UNSURE} that the drive is steady",
}
"""Doubts by the verdict on a window."""


@dataclass(frozen=True)
class Figure:
    """A figure of a result."""

    name: str
    of: str
    """Path of keys in the result, or the name of a latency such as `read p99.9`."""
    unit: str = ""
    decimals: int = 0

    def value(self, case: Mapping[str, Any]) -> float | None:
        """The figure, if the result has it."""
        return _found(case, self.of)

    def text(self, case: Mapping[str, Any]) -> str:
        """The figure with its unit."""
        value = self.value(case)
        if value is None:
            return "none"
        if self.unit == "us":
            return in_symbols(time_text(value))
        return f"{number(value, self.decimals)}{f' {self.unit}' if self.unit else ''}"

    def is_unsure(self, case: Mapping[str, Any]) -> bool:
        """Whether fewer than ten requests lie beyond a percentile."""
        kind, _, percentile = self.of.partition(" ")
        return percentile in case.get("latency_us", {}).get(kind, {}).get("few", ())


FIGURES = (
    Figure("Read p99.9", "read p99.9", "us"),
    Figure("Read p99.99", "read p99.99", "us"),
    Figure("Write p99.9", "write p99.9", "us"),
    Figure("Throughput", "iops", "IOPS"),
    Figure("Power of the flash", "power.mean_mw.total", "mW", 1),
    Figure("Suspends of a program", "suspends program", "", 2),
    Figure("Suspends of an erase", "suspends erase", "", 2),
    Figure("Write amplification", "ftl.waf", "", 2),
)
"""The figures of the page. The first five are those of pinned results."""

PINNED = FIGURES[:5]


def answers(outcome: Outcome) -> dict[str, Any]:
    """Answer, causes and doubts of a result."""
    before, after = outcome.cases[0], outcome.cases[-1]
    if len(outcome.cases) > 1:
        said = re.sub(r"-(?=\d)", MINUS, answer(before, after)).replace(" -> ", " → ")
        head = said[:1].upper() + said[1:] if said else "Nothing to compare: no request of a kind ended in both cases."
    else:
        head = "No suspension" + (
            f": 99.9 % of the reads take at most {FIGURES[0].text(after)}" if _reads(after) else ""
        )
    return {
        "answer": in_symbols(head),
        "causes": [*(line for case in outcome.cases for line in _causes(case)), *_remarks(outcome)],
        "doubts": list(_doubts(outcome.cases)),
        "window": _window(outcome),
    }


def in_symbols(text: str) -> str:
    """Text of the command line with the symbol of microseconds."""
    return re.sub(r"(?<=\d )us\b", "µs", text)


def cards(cases: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The figures of the last case, with their changes against the first."""
    return [
        _cell(figure, cases[-1], cases[0] if len(cases) > 1 else None) | {"name": figure.name} for figure in FIGURES
    ]


def compared(pin: Mapping[str, Any], now: Mapping[str, Any]) -> list[dict[str, str]]:
    """The figures of a pinned result, and what the current ones change against them."""
    return [{"value": figure.text(pin), "change": _changed(figure.value(pin), figure.value(now))} for figure in PINNED]


def described(state: Mapping[str, str], configured: Mapping[str, str]) -> str:
    """The settings in a few words: the suspension, then what else differs from the configuration."""
    parts = []
    for operation in OPERATIONS:
        if state[operation] != "none":
            most = state[f"{operation}-max"]
            interval = float(state[f"{operation}-interval"] or 0)
            limits = [f"at most {most}"] * bool(most) + [f"not within {interval:g} µs"] * bool(interval)
            parts.append(f"{operation}s {state[operation]}" + f" ({', '.join(limits)})" * bool(limits))
    names = ["load", "rate" if state["load"] == "rate" else "depth", "read", "part", "op", "seed"]
    for name in names:
        if state[name] != configured[name] and name != "load":
            control = named(name)
            parts.append(f"{control.label.lower()} {state[name] or 'as configured'}{_unit(control.unit)}")
    return "; ".join(parts) or WITHOUT


def export(outcome: Outcome) -> dict[str, str]:
    """The configuration as a file, and the command that gives the same figures."""
    return {"toml": outcome.setup.text, "file": NAME, "command": f"interpulse run {NAME}"}


def exact(outcome: Outcome) -> dict[str, Any]:
    """The latencies of every case as a result has them."""
    return {
        name: {kind: case["latency_us"].get(kind, {}) for kind in ("read", "write")}
        for name, case in zip(outcome.setup.cases, outcome.cases, strict=True)
        if "latency_us" in case
    }


def legend(keys: Iterable[Key]) -> list[dict[str, str]]:
    """Entries of a legend, whose colours are variables of the style sheet."""
    return [
        {
            "label": key.label.replace("_", " "),
            "colour": f"c{COLOURS.index(key.colour)}"
            if key.colour in COLOURS
            else "ink"
            if key.colour == INK
            else "muted",
            "dash": key.dash,
            "hatch": {"/": "slash", "x": "cross", ".": "dot"}.get(key.hatch, ""),
        }
        for key in keys
    ]


def _found(case: Mapping[str, Any], of: str) -> float | None:
    kind, _, name = of.partition(" ")
    if kind == "suspends":
        nand = case.get("nand", {})
        count = nand.get(f"{name}s")
        return nand.get("suspends", {}).get(name, 0) / count if count else None
    if name:
        found = case.get("latency_us", {}).get(kind, {}).get(name)
    else:
        found = case
        for key in of.split("."):
            found = found.get(key) if isinstance(found, Mapping) else None
    return None if found is None else float(found)


def _cell(figure: Figure, case: Mapping[str, Any], before: Mapping[str, Any] | None) -> dict[str, str]:
    changed = _changed(figure.value(before), figure.value(case)) if before is not None else ""
    doubt = UNSURE if figure.is_unsure(case) or (before is not None and figure.is_unsure(before)) else ""
    return {"value": figure.text(case), "change": changed, "doubt": doubt}


def _changed(old: float | None, new: float | None) -> str:
    text = change(old, new)
    if text in ("-", "+0.0", "-0.0"):
        return "" if text == "-" else "unchanged"
    return text if text.startswith("x") else f"{text.replace('-', MINUS)} %"


def _reads(case: Mapping[str, Any]) -> bool:
    return bool(case.get("latency_us", {}).get("read", {}).get("count"))


def _causes(case: Mapping[str, Any]) -> Iterator[str]:
    """What the slowest reads of a case waited for."""
    blame = case.get("tail_blame", {})
    tail = next((each for each in TAILS if blame.get(each, {}).get("reads", 0) >= LEAST_READS), None)
    if tail is None or not blame[tail].get("shares"):
        return
    (first, share), *others = sorted(blame[tail]["shares"].items(), key=lambda pair: -pair[1])
    named = [(first, share), *(each for each in others[:1] if each[1] >= SECOND)]
    parts = [f"{100 * part:.0f} % {CAUSES.get(name, name).replace('its die', 'the die')}" for name, part in named]
    yield f"{case['case']}: the slowest {TAILS[tail]} of reads, by time: {' and '.join(parts)}"


def _remarks(outcome: Outcome) -> Iterator[str]:
    """Notes of the simulator, but for those about its snapshots and those that `_doubts` has."""
    for line in outcome.notes:
        if not line.startswith("preconditioned state") and "overloaded: " not in line:
            yield line


def _doubts(cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Why figures are not to be trusted; a line about all cases names none."""
    about: dict[str, list[str]] = {}
    for case in cases:
        verdict = case.get("steady", {}).get("verdict")
        text = f"failed: {case['error']}" if "error" in case else overload(case) or DRIFTS.get(verdict, "")
        if text:
            about.setdefault(text, []).append(case["case"])
    for text, names in about.items():
        yield text[:1].upper() + text[1:] if len(names) == len(cases) else f"{', '.join(names)}: {text}"
    few = [figure.name for figure in PINNED if any(figure.is_unsure(case) for case in cases)]
    if few:
        yield f"{', '.join(few)}: fewer than ten requests lie beyond: {UNSURE}"


def _window(outcome: Outcome) -> str:
    case = outcome.cases[-1]
    count, seconds = case.get("host_requests", 0), case.get("simulated_s", 0.0)
    follows = "; a longer window follows" * outcome.longer
    return f"{count:,} requests, {seconds:,.3g} s of the drive, simulated in {outcome.took_s:.2f} s{follows}"


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""

"""`atc19-act`: the largest load of the Aerospike Certification Tool that each design passes (ATC'19, slides 34, 35)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from interpulse.configuration.config import Config
from interpulse.experiments import atc19
from interpulse.experiments.act import BEHIND_S, Bisection, Key, Limit, Verdict, load, search
from interpulse.plotting.plots import Plot, grouped, legend, mark, panels, places
from interpulse.runs.result import Result
from interpulse.studies.case import Case, Sets
from interpulse.studies.context import Context
from interpulse.studies.outcome import Outcome, Rows
from interpulse.studies.published import Published, marked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAP = 48
"""Maximum multiplier."""

SHOWN = 30
"""Multiplier of the latency distributions of slide 35."""

QUICK: Sets = {"run.warmup": "1s", "run.time": "5s"}

UNPRINTED = (atc19.BASELINE.key, "ideal")
"""Designs without a printed stress limit."""

RAMPS = ("200us", "1ms")
"""Ramps of ES besides 0 and the assumed one."""

BEHINDS_S = (0.2, 1.0)
"""Values of `BEHIND_S` besides the assumed one."""

RESERVE: Sets = {"ftl.gc-hard": "5%", "run.warmup": "8s", "run.time": "120s"}
"""Host data may use half of the reserve, which lasts for over a minute."""

ONE_PLANE: Sets = {"part.planes": 1, "part.pages-per-block": 768, "ftl.multi-plane": 1}
"""Single-plane programs: the same blocks and capacity, an eighth of the pages per program."""

EIGHT_PLANES: Sets = {
    "drive": "atc19",
    "ftl.gc-hard": "9.9%",
    "precondition.until": "drive-writes",
    "precondition.drive-writes": 0.5,
    "run.time": "5s",
}
"""Eight-plane erases: the full drive, one erase per 24 MiB."""


def check_caps(performance: dict[str, Bisection], judge: Callable[[set[Key]], dict[Key, Verdict]]) -> None:
    """Tries each design at its cap concurrently; a design that never keeps up has no load to judge."""
    caps = {(key, found.cap) for key, found in performance.items() if found.cap}
    for (key, cap), verdict in judge(caps).items():
        performance[key].record(cap, not verdict.failed_performance)


class Judge:
    """Runs designs at multipliers; all searches share the runs."""

    def __init__(self, context: Context, config: Config, designs: dict[str, Sets]) -> None:
        self._context = context
        self._config = config
        self._designs = designs
        self.results: dict[Key, Result] = {}
        self.verdicts: dict[Key, Verdict] = {}

    def __call__(self, keys: set[Key]) -> dict[Key, Verdict]:
        """Verdicts on designs at multipliers."""
        new = sorted(key for key in keys if key not in self.verdicts)
        cases = [Case(_name(key), self._config, {**self._designs[key[0]], **load(key[1])}) for key in new]
        results = self._context.run(cases) if cases else {}
        for key in new:
            self.results[key] = results[_name(key)][0]
            self.verdicts[key] = Verdict.of(self.results[key])
        return {key: self.verdicts[key] for key in keys}

    def why(self, design: str, limit: Bisection) -> str:
        """Reason for the failure of the number above the result of a search."""
        if limit.passes == limit.cap:
            return f"nothing failed up to {limit.cap}x"
        return f"{limit.fails}x fails by {self.verdicts[design, limit.fails].why()}"


def run(context: Context) -> Outcome:
    """Searches the limits of all designs; without `--quick` also of other readings and assumptions."""
    config = context.config("act.toml")
    length = QUICK if context.quick else {}
    schemes = atc19.SCHEMES if context.quick else (*atc19.SCHEMES, *atc19.VARIANTS)
    designs: dict[str, Sets] = {scheme.key: {**length, **scheme.sets} for scheme in schemes}
    judge = Judge(context, config, designs)
    # A quick run omits designs without printed values.
    stress = {key: Bisection(CAP) for key in designs if not context.quick or key not in UNPRINTED}
    search([Limit(key, lambda verdict: verdict.keeps_up, found) for key, found in stress.items()], judge)
    # Beyond the stress limit no steady latency exists.
    performance = {key: Bisection(found.passes) for key, found in stress.items()}
    check_caps(performance, judge)
    performance.setdefault(atc19.BASELINE.key, Bisection(CAP))
    tests = [Limit(key, lambda verdict: not verdict.failed_performance, found) for key, found in performance.items()]
    search(tests, judge)
    judge({(scheme.key, SHOWN) for scheme in atc19.SCHEMES})
    rows = context.rows()
    notes = []
    for scheme in schemes:
        key = scheme.key
        limits = {"stress_": stress.get(key), "performance_": performance.get(key)}
        tried = [limit for limit in limits.values() if limit is not None]
        if not tried:
            continue
        binding = min(tried, key=lambda limit: limit.passes)
        for name, limit in {**limits, "": binding}.items():
            row = f"act_x_{name}{key}"
            if limit is not None:
                rows.add_own(row, limit.passes, unit="x", figure=f"slide 35, no number printed: {scheme.label}")
        notes.append(f"{scheme.label}: {judge.why(key, binding)}")
    notes.append(
        f"assumed, and it decides the stress test: a stream with a request {BEHIND_S:g} s under way at the end of a "
        "run falls behind for good; the full run has rows for other values (_sens_behind_)"
    )
    best = max(performance[atc19.DES.key].passes, performance[atc19.TES.key].passes)
    if performance[atc19.BASELINE.key].passes:
        rows.add("act_best_over_baseline", best / performance[atc19.BASELINE.key].passes)
    shown = {scheme: judge.results[scheme.key, SHOWN] for scheme in atc19.SCHEMES}
    for scheme, result in shown.items():
        rows.add(f"act_30x_read_p99.9_us_{scheme.key}", result.percentile("read", 99.9))
    atc19.add_erase_suspends(rows, {f"{scheme.key}_30x": result for scheme, result in shown.items()})
    for multiplier in (14, 22, SHOWN):
        (verdict,) = judge({(atc19.BASELINE.key, multiplier)}).values()
        share = verdict.slower_percent["i"]
        rows.add(f"baseline_above_1ms_percent_{multiplier}x", share, unit="%", figure="rule i: at most 5 %")
    if not context.quick:
        _behind(rows, judge)
        _sensitivities(context, config, rows)
    reads = {scheme: atc19.buckets(result.raw, "read") for scheme, result in shown.items()}
    expected = context.expected().rows
    passed = {row.name: row.ours for row in rows.ordered() if row.name.startswith("act_x_") and row.ours is not None}
    drawn = atc19.tails("latency-30x", f"ACT at {SHOWN}x", {"read": reads})
    return atc19.outcome(
        rows,
        drawn,
        notes=notes,
        plots=[Plot("loads", lambda: _draw_loads(passed, expected), "Largest load that each design passes")],
    )


def _behind(rows: Rows, judge: Judge) -> None:
    """Largest load that passes all rules with other values of `BEHIND_S`."""

    def passes(behind_s: float) -> Callable[[Verdict], bool]:
        return lambda verdict: verdict.within(behind_s) and not verdict.failed_performance

    found = {(scheme.key, behind_s): Bisection(CAP) for scheme in (atc19.IES, atc19.TES) for behind_s in BEHINDS_S}
    search([Limit(key, passes(behind_s), limit) for (key, behind_s), limit in found.items()], judge)
    for (key, behind_s), limit in found.items():
        row = f"act_x_{key}"
        words = f"a request may be {behind_s:g} s under way at the end"
        rows.add(f"{row}_sens_behind_{behind_s:g}s", limit.passes, beside=row, figure=words)


def _sensitivities(context: Context, config: Config, rows: Rows) -> None:
    """Unprinted assumptions that the limits depend on."""
    designs: dict[str, Sets] = {f"ramp {ramp}": {**atc19.ES.sets, "suspend.erase.resume-ramp": ramp} for ramp in RAMPS}
    designs |= {"reserve": {**atc19.IES.sets, **RESERVE}, "one plane": ONE_PLANE, "eight planes": EIGHT_PLANES}
    judge = Judge(context, config, designs)
    ramps = {ramp: Bisection(CAP) for ramp in RAMPS}
    reserve = Bisection(30, 16)
    search(
        [Limit(f"ramp {ramp}", lambda verdict: verdict.keeps_up, ramps[ramp]) for ramp in RAMPS]
        + [Limit("reserve", lambda verdict: verdict.keeps_up, reserve)],
        judge,
    )
    for ramp, limit in ramps.items():
        rows.add(f"act_x_stress_es_ramp_{ramp}", limit.passes, unit="x", figure="sensitivity: resume-ramp")
    rows.add("act_x_stress_ies_reserve_5", reserve.passes, unit="x", figure="sensitivity: gc-hard 5 %")
    keys = {("one plane", 14), ("eight planes", 14), ("eight planes", 60)}
    for (design, x), verdict in sorted(judge(keys).items()):
        name, figure = design.replace(" ", "_"), f"sensitivity: {design}, {atc19.BASELINE.label}"
        share = verdict.slower_percent["i"]
        rows.add(f"{name}_above_1ms_percent_{x}x", share, unit="%", figure=figure)
        rows.add(f"{name}_behind_s_{x}x", verdict.waiting_s, unit="s", figure=figure)


def _draw_loads(passed: Mapping[str, float], expected: Mapping[str, Published]) -> Figure:
    """Largest load that each design passes in each test, beside slide 35."""
    figure, (axis,) = panels(1, 1, width=7.0, height=3.2)
    tests = {"performance_": "rules i to iii", "stress_": "rule iv", "": "all rules"}
    marks: list[tuple[float, Published]] = []
    bars: dict[str, list[float]] = {}
    for number, (test, words) in enumerate(tests.items()):
        names = [f"act_x_{test}{scheme.key}" for scheme in atc19.SCHEMES]
        bars[words] = [passed.get(name, 0.0) for name in names]
        at = places(number, len(tests), len(names), 0.27)
        marks += [(place, expected[name]) for place, name in zip(at, names, strict=True) if name in expected]
    grouped(axis, [scheme.label for scheme in atc19.SCHEMES], bars, 0.27)
    said = [(place, row, row.value) for place, row in marks if row.value is not None]
    label = marked("published", *(row for _, row, _ in said))
    mark(axis, [place for place, _, _ in said], [value for _, _, value in said], label)
    axis.set_ylabel("largest load passed, x")
    legend(axis)
    return figure


def _name(key: Key) -> str:
    return f"{key[0]} {key[1]}x"

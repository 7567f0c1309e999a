"""Confidence regions of a fit: coverage for long, bent regions and noisy figures."""

from __future__ import annotations

import hashlib
import math
import random
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import optimize, stats

from interpulse.fitting.confidence_regions import ConfidenceRegion
from interpulse.fitting.coordinates import to_additive, to_logs
from interpulse.fitting.model import Answer, Point
from interpulse.fitting.optimiser import SEEDS, Optimiser
from interpulse.fitting.spec import Spec
from interpulse.fitting.surrogate import REACH, Surrogate
from interpulse.fitting.uncertainty import Uncertainty, uncertainties
from tests.test_fit import LITTLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

FREE: list[dict[str, Any]] = [
    {"key": "host.firmware", "from": "1us", "to": "60us"},
    {"key": "part.bus-rate", "from": "100MT/s", "to": "1600MT/s"},
    {"time": "tR", "from": "20us", "to": "200us"},
    {"key": "ecc.interval", "from": "1ns", "to": "20ns"},
    {"key": "host.firmware-cores", "values": [1, 2, 3, 4, 6]},
]
FIGURES = ("4k 1", "16k 1", "64k 1", "4k 8", "4k 64", "128k 32")


CORES = [1, 2, 3, 4, 6]
Truth = tuple[float, float, float, int]


def drive(firmware: float, rate: float, read: float, cores: int) -> dict[str, float]:
    """Times of a request in nanoseconds, as a drive of 4 dies on 2 channels has them that queues without chance."""
    page = 18_000 / rate * 1e9
    die, wire, core = (read + page) / 4, page / 2, firmware / cores
    alone = firmware + read + page
    busy = (die**4 + wire**4 + core**4) ** 0.25
    return {
        "4k 1": alone,
        "16k 1": alone + 0.2 * page,
        "64k 1": alone + 4 * page,
        "4k 8": (busy**4 + (alone / 8) ** 4) ** 0.25,
        "4k 64": busy,
        "128k 32": 8 * (die**4 + wire**4 + (core / 8) ** 4) ** 0.25,
    }


class Made:
    """Answers at once, with chance of a share in each figure that the point and the seed decide, or the point alone."""

    def __init__(self, truth: Truth, tolerance: float, chance: float, *, jagged: bool = False) -> None:
        self.chance = chance
        self.jagged = jagged
        self.deaf = False
        known = drive(*truth)
        loads = [
            {
                "name": name,
                "pattern": "random",
                "depth": 1,
                "iops": 1e9 / known[name] * (1 + chance * self._drawn(name)),
            }
            for name in FIGURES
        ]
        given = {"config": LITTLE, "load": loads, "free": FREE, "tolerance": tolerance, "hold-out": 0}
        self.spec = Spec.of(given)
        self._asked: set[tuple[Point, int]] = set()

    def check(self, points: Sequence[Point]) -> None:
        """All are drives."""

    def ask(self, points: Sequence[Point], seeds: int = 1) -> list[list[Answer]]:
        """As `Model.ask`."""
        self._asked |= {(point, seed) for point in points for seed in range(seeds)}
        return [[self._answer(point, seed) for seed in range(seeds)] for point in points]

    def _answer(self, point: Point, seed: int) -> Answer:
        firmware, rate, read, _ = map(math.exp, point.logs)
        times = drive(*drawn(0)) if self.deaf else drive(firmware, rate, read, CORES[point.choices[0]])
        seed = 0 if self.jagged else seed
        return Answer(tuple(1e9 / times[name] * (1 + self.chance * self._drawn(name, point, seed)) for name in FIGURES))

    @staticmethod
    def _drawn(*what: object) -> float:
        hashed = int.from_bytes(hashlib.blake2b(repr(what).encode(), digest_size=6).digest(), "little")
        return NormalDist().inv_cdf((hashed + 0.5) / 2**48)


def recovered(truth: Truth, tolerance: float, chance: float, *, jagged: bool) -> tuple[list[Uncertainty], Point]:
    """How sure each parameter is said to be, and the point found."""
    made: Any = Made(truth, tolerance, chance, jagged=jagged)
    optimiser = Optimiser(made)
    region = ConfidenceRegion(optimiser, made.spec.continuous, optimiser.run())
    region.explore()
    best = region.best
    jacobian = optimiser.jacobian(best, SEEDS)
    residuals = optimiser.residuals(best)[: len(jacobian)]
    values = [math.exp(log) for log in best.logs]
    rivals = [[math.exp(log) for log in each.logs] for each in region.rivals()]
    found = uncertainties(made.spec.continuous, jacobian, optimiser.tolerances_in_use, residuals, values, rivals)
    assert {each.choices for each in region.rivals()} >= {best.choices}
    return found, best


def drawn(seed: int) -> Truth:
    """A drive within the bounds."""
    source = random.Random(seed)

    def between(low: float, high: float) -> float:
        return math.exp(source.uniform(math.log(low), math.log(high)))

    return between(3e3, 40e3), between(200e6, 1000e6), between(40e3, 120e3), source.choice(CORES)


def check(seeds: Sequence[int], tolerance: float, chance: float, *, jagged: bool = False) -> None:
    """Intervals hold the drive, and what is called determined is found."""
    sure, missed, determined = 0, [], 0
    for seed in seeds:
        truth = drawn(seed)
        found, best = recovered(truth, tolerance, chance, jagged=jagged)
        for each, value, log in zip(found, truth, best.logs, strict=False):
            off = math.expm1(abs(log - math.log(value)))
            sure += 1
            determined += each.determined
            if off > each.within:
                missed.append((seed, truth, off, each))
            if each.determined:
                # Where figures jump, an interval may be wide and its parameter still count as determined.
                assert off < max(0.05, each.within if jagged else 3 * tolerance), (seed, truth, each)
        # The last has no part in any figure.
        assert not found[3].determined
    # An interval of 95 % that is off once in twenty times by chance; more than these at once less than once in 1e6.
    assert len(missed) <= stats.binom.isf(1e-6, sure, 0.05), missed
    assert determined >= sure / 3


def test_random_drives_are_within_their_intervals() -> None:
    check([2], tolerance=0.01, chance=0.002)


@pytest.mark.verify
@pytest.mark.parametrize(("tolerance", "chance"), [(0.01, 0.002), (0.003, 0.0005), (0.02, 0.01)])
def test_many_random_drives_are_within_their_intervals(tolerance: float, chance: float) -> None:
    check(range(100, 108), tolerance, chance)


@pytest.mark.verify
def test_figures_that_jump_between_points_and_not_between_seeds_are_believed_as_little() -> None:
    """What meets what on a drive decides some figures: the next point has another, and every seed the same."""
    check(range(100, 108), tolerance=0.003, chance=0.01, jagged=True)


# ---- the parts ----------------------------------------------------------------------------------------


def test_times_and_inverses_of_rates_are_what_is_moved() -> None:
    bend = np.array([1.0, -1.0, 0.0])
    logs = np.log(np.array([1.5, 1.5, 1.5]))
    moved = to_additive(logs, bend)
    # Half as long again; a third less time for each byte, whose sign says that the rate is greater; a logarithm.
    assert moved == pytest.approx([0.5, 1 / 3, math.log(1.5)])
    assert to_logs(moved, bend) == pytest.approx(logs)


SHARES = np.array([[1.0, 1.0, 1.0], [1.0, 4.0, 1.0], [0.0, 1.0, 2.0], [3.0, 1.0, 0.0]])
SUMMED = np.array([1.0, -1.0, 1.0])
NO_PRIORS = np.zeros((0, 3)), np.zeros(0)
WIDE = np.full(3, -9.0), np.full(3, 9.0)


def sums(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithms of four sums of two times and of the inverse of a rate."""
    return np.array(np.log(SHARES @ np.exp(SUMMED * logs)))


def near(at: NDArray[np.float64], count: int, far: float) -> NDArray[np.float64]:
    """Points around one, itself the first."""
    return at + far * np.vstack([np.zeros(3), stats.qmc.Sobol(3, seed=1).random(count) - 0.5])


def test_a_surrogate_of_few_points_finds_what_adds_up() -> None:
    truth = np.log(np.array([10.0, 4.0, 3.0]))
    at, points = truth + 0.2, near(truth + 0.2, 8, 0.3)
    for _ in range(3):
        figures = np.array([sums(point) - sums(truth) for point in points])
        surrogate = Surrogate(at, SUMMED, points, figures, np.zeros(4))
        at = surrogate.lowest(np.full(4, 0.01), NO_PRIORS, WIDE, None, REACH)
        points = np.vstack([points, at])
    assert at == pytest.approx(truth, abs=2e-3)
    # What is held stays, and the others go where figures are nearest then.
    elsewhere = at[1] + 0.1
    for _ in range(2):
        held = surrogate.lowest(np.full(4, 0.01), NO_PRIORS, WIDE, (1, elsewhere), REACH)
        assert held[1] == pytest.approx(elsewhere)
        points = np.vstack([points, held])
        figures = np.array([sums(point) - sums(truth) for point in points])
        surrogate = Surrogate(held, SUMMED, points, figures, np.zeros(4))
    nearest = optimize.least_squares(lambda two: sums(np.insert(two, 1, elsewhere)) - sums(truth), at[[0, 2]])
    assert np.sum((sums(held) - sums(truth)) ** 2) < 1.05 * 2 * nearest.cost
    assert surrogate.figures(np.zeros(3)) == pytest.approx(sums(held) - sums(truth), abs=1e-3)
    # A bound is not passed, nor what is in reach.
    low = surrogate.lowest(np.full(4, 0.01), NO_PRIORS, (held + 0.01, WIDE[1]), None, REACH)
    assert np.all(low >= held + 0.0099)
    near_by = surrogate.lowest(np.full(4, 1e-6), NO_PRIORS, WIDE, None, 0.01)
    assert np.all(np.abs(to_additive(near_by - held, SUMMED)) < 0.011)


def test_a_surrogate_estimates_the_roughness_of_figures() -> None:
    at = np.log(np.array([10.0, 4.0, 3.0]))
    points = near(at, 64, 0.3)
    jumps = np.array([0.0, 0.02, 0.1, 0.0]) * np.random.default_rng(1).standard_normal((len(points), 4))
    figures = np.array([sums(point) for point in points]) + jumps
    chance = np.zeros(4)
    for _ in range(3):
        rough = Surrogate(at, SUMMED, points, figures, chance).rough()
        assert rough is not None
        chance = rough
    # Deviations of 65 points around a surrogate of 10 coefficients are known to 10 %.
    assert chance[[1, 2]] == pytest.approx([0.02, 0.1], rel=0.4)
    assert np.all(chance[[0, 3]] < 0.004)
    assert Surrogate(at, SUMMED, points[:6], figures[:6], chance).rough() is None


def test_what_chance_makes_of_a_derivative_counts_little() -> None:
    """Figures that nothing moves differ between points by chance: they say nothing of any parameter."""
    made: Any = Made(drawn(0), 0.01, 0.03)
    made.deaf = True
    optimiser = Optimiser(made)
    points = [Point((math.log(2e4), math.log(4e8 + shift), math.log(6e4), math.log(2.0)), (2,)) for shift in range(12)]
    optimiser.evaluate(points)
    optimiser._allow_for_chance(points)
    slopes = np.array([optimiser.jacobian(point) for point in points])
    # Each without regard to chance would be about 0.03 * sqrt(2) / 0.12.
    assert np.sqrt(np.mean(slopes**2)) < 0.8 * 0.03 * math.sqrt(2) / 0.12

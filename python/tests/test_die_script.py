"""Does a single die, driven by hand, do what the program-suspend study's flow says?"""

from __future__ import annotations

from pathlib import Path

import pytest

from interpulse import Config, ConfigError
from interpulse.experiments import suspend_tlc_grid
from interpulse.flash.die import drive

DRIVE = Path(__file__).parent.parent.parent / "experiments" / "suspend-tlc" / "drive.toml"
ENTRY_NS = 70_000


def exact() -> Config:
    """Stops anywhere; all word lines take 2 ms."""
    config = Config.load(DRIVE).set("suspend.program.scheme", "exact")
    return config.set("part.program-suspend-entry", "70us")


def test_suspends_of_an_exact_scheme_are_the_formula_everywhere() -> None:
    grid = suspend_tlc_grid.measure(exact().resolve(), word_lines=1, first_seed=1)
    assert len(grid) == 100
    for (first, then), (cell,) in grid.items():
        assert cell.suspends == suspend_tlc_grid.formula(first, then, boundary=False), (first, then)
        assert cell.entries_ns == (ENTRY_NS,) * cell.suspends
        assert cell.total_ns == suspend_tlc_grid.PROGRAM_NS + ENTRY_NS * cell.suspends


def test_the_formula_has_the_rows_derived_by_hand() -> None:
    rows = [[suspend_tlc_grid.formula(first, then, boundary=False) for then in range(1, 11)] for first in (1, 5, 10)]
    assert rows == [[9, 5, 3, 3, 2, 2, 2, 2, 1, 1], [5, 3, 2, 2, 1, 1, 1, 1, 1, 1], [0] * 10]
    assert suspend_tlc_grid.formula(1, 1, boundary=True) == 10


def test_a_program_that_is_never_suspended_lasts_its_loads_and_pulses() -> None:
    timeline = drive(Config.load(DRIVE).resolve(), [("program", 0), ("read", 1_000_000)])
    program, read = timeline.operations
    assert program.done_ns == 200 + 3 * 34_582 + 2_000_000
    assert read.done_ns is not None
    assert read.done_ns > program.done_ns
    states = [(span.state, span.operation) for span in timeline.spans]
    assert ("pulsing", "program") in states
    assert states[-1] == ("out", None)
    assert all(a.to_ns == b.from_ns for a, b in zip(timeline.spans, timeline.spans[1:], strict=False))


def test_mistakes_are_named() -> None:
    plan = Config.load(DRIVE).resolve()
    with pytest.raises(ConfigError, match="no operation 'raed' for a die; one of read, gc-read"):
        drive(plan, [("raed", 0)])
    with pytest.raises(ConfigError, match="horizon_ns = 0: at least 1"):
        drive(plan, [("read", 0)], horizon_ns=0)

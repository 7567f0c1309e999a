"""Does the verdict count what agrees, name what does not, and leave apart what was made to agree?"""

from __future__ import annotations

from typing import Any

from interpulse.studies.outcome import Row
from interpulse.studies.status import Status
from interpulse.studies.verdict import verdict


def row(name: str, published: float | None, ours: float | None, **more: Any) -> Row:  # noqa: ANN401 - as `Row`
    return Row(name, "Figure 1", "us", published, ours, **{"status": Status.UNTUNED, **more})


def test_figures_and_statements_are_counted_apart() -> None:
    rows = [
        row("near", 100.0, 109.0),
        row("quarter", 100.0, 80.0),
        row("far", 100.0, 300.0),
        row("farther", 100.0, 20.0),
        row("held", None, 3.0, high=4.0),
        row("equal", None, 4.0, high=4.0),
        row("broken", None, 5.0, high=4.0),
        row("open", None, 4.0, high=4.0, ci_low=3.0, ci_high=5.0),
    ]
    assert verdict(rows) == (
        "verdict: 1 of 4 published figures within 10 %, 1 within a quarter, 2 outside,"
        " 2 of 3 statements hold (1 by equality);"
        " off: farther (x0.2), far (x3), broken (fails); not counted: 1 undecided"
    )
    assert verdict(rows[:1]) == "verdict: 1 of 1 published figures within 10 %"


def test_what_was_made_to_agree_is_not_counted() -> None:
    rows = [
        row("calibrated", 100.0, 100.0, status=Status.CALIBRATED),
        row("given", 100.0, 500.0, status=Status.BY_CONSTRUCTION),
        row("contradicted", 100.0, 400.0, status=Status.PAPER_INCONSISTENT),
        row("unmeasured", 100.0, None),
    ]
    assert verdict(rows) == (
        "verdict: no published figure that nothing was calibrated on;"
        " not counted: 1 calibrated, 1 by-construction, 1 inconsistent, 1 not measured"
    )
    assert "no published figure" in verdict([])


def test_of_much_that_is_off_the_farthest_are_named() -> None:
    rows = [row(f"off{number}", 10.0, 100.0 * (number + 1)) for number in range(6)] + [row("sign", 10.0, -10.0)]
    assert verdict(rows).endswith("; off: sign (x-1), off5 (x60), off4 (x50), and 4 more")

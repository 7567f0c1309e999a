"""Bit errors from the outside: what an aged drive shows, in JSON by the schema and in the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

import interpulse
from tests import sample

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "aged.toml"


@pytest.fixture(scope="module")
def aged() -> interpulse.Result:
    """The example with a tenth of its requests."""
    config = interpulse.Config.load(EXAMPLE)
    config.set("run.requests", "20000")
    return interpulse.run(config, no_cache=True)


def test_the_example_tells_what_age_costs_and_what_helps(aged: interpulse.Result) -> None:
    """Retries cost reads most where they are regular; every remedy helps; nothing is lost."""
    sample.check(aged.document)
    cases = {case.case: case for case in aged.cases}
    tail = {name: case.percentile("read", 99.9) for name, case in cases.items()}
    assert tail["fresh"] < tail["aged"]
    for remedy in ("pr2-ar2", "on-die", "predicted", "refreshed"):
        assert tail[remedy] < tail["aged"], remedy
    share = {name: case.raw["reliability"]["retried_share"] for name, case in cases.items()}
    assert share["fresh"] < 0.01 < 0.9 < share["aged"]
    assert cases["aged"].tail_blame["p99"]["shares"]["retry"] > 0.0
    assert all(case.raw["reliability"]["uncorrectable"]["reads"] == 0 for case in cases.values())


def test_the_terminal_shows_errors_and_says_what_was_lost(aged: interpulse.Result) -> None:
    """A table of bit errors; a line about requests that completed with an error only where there are any."""
    from interpulse.cli.table import render

    text = render(aged)
    assert "Bit errors" in text
    assert "retry steps per page read" in text
    assert "completed with an error" not in text
    config = interpulse.Config.load(EXAMPLE)
    for key, value in (("run.requests", "2000"), ("ecc.max-retries", "0"), ("ecc.soft-sensings", "[]")):
        config.set(key, value)
    # Without stages their capabilities have no meaning.
    with pytest.raises(interpulse.ConfigError, match=r"ecc\.soft-capability: does not apply"):
        interpulse.run(config, no_cache=True)
    lost = interpulse.Config.from_toml(
        'drive = "a4-mini"\n[errors]\ntable = "tlc-3d"\ninitial-age = "90d"\n[ecc]\nmax-retries = 0\n'
        "[run]\nrequests = 2000\n[[flow]]\nread = 1.0\n"
    )
    result = interpulse.run(lost, no_cache=True)
    sample.check(result.document)
    reads = result.raw["reliability"]["uncorrectable"]["reads"]
    assert reads > 1000
    assert f"{reads:,} reads and 0 writes completed with an error" in render(result)

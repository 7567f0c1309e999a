"""Is every example steady in every case, or made to show a transient, as its first comment says?"""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest

from interpulse import Config, run
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
# Studies and searches, which choose their windows, a profile, and a replay of a trace given on the command line.
OTHERS = {"fit", "optimize", "profile", "replay", "slo", "sweep"}
RUNNABLE = [path for path in EXAMPLES if path.stem not in OTHERS]
# A second or less; the others run with `make verify`.
QUICK = {"ressd", "small", "twin"}
PARAMETERS = [
    pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.verify) for path in RUNNABLE
]


def transient(path: Path, cases: list[str]) -> set[str]:
    """Cases that show a transient, as the first comment says: `Shows a transient (every case)` or `(CASE, CASE)`."""
    comment = path.read_text().split("\n\n")[0].split("config_version")[0].replace("\n# ", " ")
    found = re.search(r"Shows a transient \(([^)]*)\)", comment)
    if found is None:
        return set()
    if found[1] == "every case":
        return set(cases)
    named = set(found[1].split(", "))
    assert named <= set(cases), f"{path.name}: {named - set(cases)} is no case"
    return named


def cases_of(path: Path) -> list[str]:
    return [case["name"] for case in tomllib.loads(path.read_text()).get("case", [{"name": "run"}])]


def test_every_example_says_which_cases_show_a_transient() -> None:
    shown = {path.stem: transient(path, cases_of(path)) for path in RUNNABLE}
    transients = {"aged", "faults", "recorded", "holdup", "powerloss", "raid5", "slc-cache", "wear-out", "write-hole"}
    assert {name for name, cases in shown.items() if cases} == transients
    assert shown["raid5"] == {"rebuilding"}
    assert {path.stem for path in RUNNABLE} > QUICK


@pytest.mark.parametrize("path", PARAMETERS)
def test_an_example_is_steady(path: Path) -> None:
    cases = run(Config.load(path), no_cache=True).cases
    apart = transient(path, cases_of(path))
    verdicts = {case.case: case.raw["steady"]["verdict"] for case in cases}
    # A transient is no excuse for a load that is not served.
    assert "overloaded" not in verdicts.values(), verdicts
    assert {name for name, verdict in verdicts.items() if verdict != "yes"} <= apart, verdicts

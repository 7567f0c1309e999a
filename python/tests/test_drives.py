"""The drives that were fitted to data sheets: do presets, page and simulator say the same?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

import interpulse
from interpulse import Config
from interpulse.fitting.defaults import shipped_values
from interpulse.fitting.model import window
from interpulse.fitting.spec import Spec
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PRESETS = ROOT / "crates" / "study" / "src" / "config" / "presets"
DRIVES = sorted(path.stem for path in (ROOT / "examples" / "drives").glob("*.toml"))
LINE = re.compile(r"# (.+): (\S+): (.+), (.+), ([\d.]+)( \*)?$")


def figures(drive: str) -> Iterator[tuple[str, str, float]]:
    """Load, figure, and the ratio of simulated to printed, as the head of the preset has them."""
    for line in (PRESETS / f"{drive}.toml").read_text().splitlines():
        if found := LINE.match(line):
            yield found[1], found[2], float(found[5])


def ratio(drive: str, name: str, figure: str) -> float:
    """What the preset does under the load of its fit."""
    spec = Spec.of(ROOT / "examples" / "drives" / f"{drive}.toml")
    load = next(each for each in spec.loads if each.name == name)
    target = next(each for each in load.targets if each.figure == figure)
    start = f'drive = "{drive}"\n[run]\nrequests = 1\n' + spec.flows * "[[flow]]\n"
    values = {entry.key: entry.value for entry in Config.from_toml(start).set(**dict(spec.sets)).entries()}
    sets = dict((*spec.sets, *load.sets(spec.requests, window(values))))
    simulated = target.of(interpulse.run(Config.from_toml(start).set(**sets)).cases[0].raw, load.block)
    assert simulated is not None
    return simulated / target.value


def test_five_drives_of_different_kinds_are_there() -> None:
    assert len(DRIVES) >= 5
    texts = {drive: Config.from_toml(f'drive = "{drive}"\n[run]\nrequests = 1\n[[flow]]\n') for drive in DRIVES}
    kinds = set()
    for drive, config in texts.items():
        values = {entry.key: entry.value for entry in config.entries()}
        kinds.add((values["link.kind"], values.get("link.generation"), values["part.bits-per-cell"]))
        assert len([*figures(drive)]) >= 4, drive
    assert len(kinds) >= 5


@pytest.mark.parametrize("drive", DRIVES)
def test_every_figure_of_an_example_has_its_source(drive: str) -> None:
    for load in Spec.of(ROOT / "examples" / "drives" / f"{drive}.toml").loads:
        assert load.targets
        assert all(target.source for target in load.targets), load.name


def test_the_page_has_what_the_presets_have() -> None:
    page = (ROOT / "docs" / "DRIVES.md").read_text()
    for drive in DRIVES:
        part = page[page.index(f"(`{drive}`)") :]
        for (name, _, value), row in zip(figures(drive), re.findall(r"^\| (?!\*).*$", part, re.M), strict=False):
            assert name in row, (drive, row)
            assert float(row.split("|")[4]) == pytest.approx(value, abs=0.0055), (drive, row)


def test_what_was_fitted_is_no_prior_of_the_next_fit() -> None:
    values = {entry.key: entry.value for entry in
              Config.from_toml('drive = "p4500"\n[run]\nrequests = 1\n[[flow]]\n').entries()}  # fmt: skip
    own = values["host.firmware"]
    assert not any(f"{each:.0f}ns" == own for each in shipped_values("host.firmware", values))
    assert shipped_values("tPROG", values)


def test_a_preset_does_what_its_head_says() -> None:
    name, figure, said = next(figures("970-evo"))
    assert ratio("970-evo", name, figure) == pytest.approx(said, rel=0.02)


@pytest.mark.verify
@pytest.mark.parametrize("drive", DRIVES)
def test_presets_do_what_their_heads_say(drive: str) -> None:
    for name, figure, said in figures(drive):
        assert ratio(drive, name, figure) == pytest.approx(said, rel=0.05), (name, figure)

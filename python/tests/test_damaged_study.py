"""Does a study whose folder is damaged go on with the same trials, or say what to do?"""

from __future__ import annotations

import json
import random
import shutil
from typing import TYPE_CHECKING

import pytest

import interpulse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STUDY = """trials = 4
batch = 4
sampler = "random"
[config]
config_version = 1
drive = "a4-mini"
run.requests = 300
run.warmup = "0s"
precondition.fill = "50%"
flow = [{ name = "mixed", depth = 2, read = 0.5 }]
[[parameter]]
key = "flow.0.depth"
name = "depth"
values = [1, 2, 4, 8]
[[objective]]
name = "read"
minimise = "read_p50_us"
[[objective]]
name = "speed"
maximise = "iops"
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a study that has ended."""
    place = tmp_path_factory.mktemp("study")
    (place / "study.toml").write_text(STUDY)
    interpulse.optimize(place / "study.toml", out=place / "o", jobs=1)
    return place


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def objects(change: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        for path in folder.glob("store/objects/*/*"):
            change(path)

    return damage


def index(change: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        for path in folder.glob("store/index/*"):
            change(path)

    return damage


def both(folder: Path) -> None:
    objects(flipped)(folder)
    index(lambda path: path.unlink())(folder)


REPAIRED: dict[str, Callable[[Path], object]] = {
    "a flipped bit": objects(flipped),
    "half": objects(lambda path: path.write_bytes(path.read_bytes()[:100])),
    "noise": objects(lambda path: path.write_bytes(random.Random(1).randbytes(300))),
    "deleted": objects(lambda path: path.unlink()),
    "damaged, index deleted": both,
    "index of noise": index(lambda path: path.write_bytes(random.Random(1).randbytes(300))),
    "no pages": lambda folder: shutil.rmtree(folder / "runs"),
}


@pytest.mark.parametrize("kind", REPAIRED)
def test_what_is_damaged_in_the_store_is_simulated_again(kind: str, whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole / "o", tmp_path / "o")
    REPAIRED[kind](tmp_path / "o")
    found = interpulse.optimize(whole / "study.toml", out=tmp_path / "o", jobs=1)
    before = json.loads((whole / "o" / "trials.json").read_text())
    assert json.loads((tmp_path / "o" / "trials.json").read_text())["trials"] == before["trials"]
    assert [each.number for each in found.front] == before["front"]
    for trial in found.front:
        assert found.result(trial).iops == trial.objectives["speed"]


def test_a_damaged_database_is_refused_with_what_to_do(whole: Path, tmp_path: Path) -> None:
    """Pages one by one; a page that nothing needs may be of zeros. An empty file is a new database."""
    size = (whole / "o" / "study.db").stat().st_size
    refused = 0
    places = range(0, size, 4096)[:: max(1, size // 4096 // 6)]
    for at in places:
        folder = tmp_path / str(at)
        shutil.copytree(whole / "o", folder)
        with (folder / "study.db").open("r+b") as file:
            file.seek(at)
            file.write(bytes(4096))
        error = ended(whole, folder)
        assert error is None or "study.db" in error
        refused += error is not None
    assert refused > len(places) / 2


def ended(whole: Path, folder: Path) -> str | None:
    """The message of a study's refusal, None where it went on."""
    try:
        assert len(interpulse.optimize(whole / "study.toml", out=folder, jobs=1).trials) == 4
    except (interpulse.RunError, interpulse.ConfigError) as error:
        return str(error)
    return None


def test_the_database_is_made_again_from_the_store(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole / "o", tmp_path / "o")
    for path in (tmp_path / "o").glob("study.db*"):
        path.unlink()
    found = interpulse.optimize(whole / "study.toml", out=tmp_path / "o", jobs=1)
    assert found.simulated == 0
    assert json.loads((tmp_path / "o" / "trials.json").read_text())["trials"] == [
        each.to_dict() for each in found.trials
    ]
    before = json.loads((whole / "o" / "trials.json").read_text())
    assert [each.to_dict() for each in found.trials] == before["trials"]

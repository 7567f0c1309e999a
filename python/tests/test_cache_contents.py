"""Does the cache delete what interpulse wrote, and no file of anybody else, whatever its name or the way to it?"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

import interpulse
from interpulse.files.cache import Cache
from interpulse.files.cache_contents import delete_store
from interpulse.sweeps.store import Store, StoreError, identity_at
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

STATE = "00112233445566778899aabbccddeeff"
BUILD = STATE[:16]

FOREIGN = {
    "thesis.tmp": b"years of work",
    "draft.snapshot": b"a virtual machine",
    "draft-v2.snapshot": b"INTERPLS",
    "survey.results": b"0123456789abcdef {}",
    "survey-2024.results": b"a,b",
    "notes.making": b"of",
    "cafe.2024-1.tmp": b"",
    f"{STATE}.draft-2024-1.tmp": b"INTERPLS",
    f"{STATE}.snapshot": b"INTERPLS",
    f"{STATE}-v6.snapshot": b"another format",
    f"{STATE[::-1]}-v6.snapshot": b"",
    f"{STATE}.4000000-0.tmp": b"another format",
    f"survey-{BUILD}.results": b"name,value\n",
    f"{STATE}.making": b"not a lock",
    f"{STATE}-v6.snapshot.bak": b"INTERPLS",
    ".hidden.tmp": b"x",
    "sweeps.tar": b"x",
    "sweeps/results.csv": b"x",
    "sweeps/2024/run.csv": b"x",
    f"sweeps/{STATE}/store.json": b"{}",
    f"sweeps/{STATE}/objects/00/{STATE}": b"x",
    f"sweeps/{STATE[::-1]}/run.csv": b"x",
}
"""Files that are not the cache's: by name, by content, or by both."""


def filled(folder: Path) -> dict[str, bytes]:
    for name, content in FOREIGN.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_file_of_another_program_is_neither_counted_nor_deleted(tmp_path: Path) -> None:
    before = filled(tmp_path)
    cache = Cache.default(tmp_path)
    assert cache.files() == []
    assert cache.clear() == 0
    assert contents(tmp_path) == before


def own(folder: Path) -> None:
    (folder / f"{STATE}-v5.snapshot").write_bytes(b"INTERPLS and more")
    (folder / f"{STATE}.{BUILD}-4000000-12.tmp").write_bytes(bytes(100))
    (folder / f"fast12-{BUILD}.results").write_bytes(b"0123456789abcdef {}")
    (folder / f"{STATE[::-1]}.making").touch()
    for name in (STATE.replace("0", "1"), f"suspend-tlc-{BUILD}"):
        store = Store.open(folder / "sweeps" / name)
        store.put(STATE, STATE, b"an answer")
        (store.folder / "locks" / STATE).touch()


@pytest.mark.parametrize("inside", [False, True])
def test_what_is_not_followed_is_kept(tmp_path: Path, inside: bool) -> None:
    """Links to own files, to a folder of sweeps and within one: at most the link's target could be meant."""
    cache, elsewhere = tmp_path / "cache", tmp_path / "elsewhere"
    cache.mkdir()
    elsewhere.mkdir()
    own(elsewhere)
    before = contents(elsewhere)
    for path in elsewhere.iterdir():
        if path.is_file():
            (cache / path.name).symlink_to(path)
    if inside:
        store = Store.open(cache / "sweeps" / STATE)
        (store.folder / "objects").rmdir()
        (store.folder / "objects").symlink_to(next((elsewhere / "sweeps").iterdir()) / "objects")
        (store.folder / "index" / f"host-1-{STATE[:8]}").symlink_to(elsewhere / f"{STATE}-v5.snapshot")
        (cache / "sweeps" / f"own-{BUILD}").symlink_to(next((elsewhere / "sweeps").iterdir()))
    else:
        (cache / "sweeps").symlink_to(elsewhere / "sweeps")
    Cache.default(cache).clear()
    assert contents(elsewhere) == before


def test_own_files_are_deleted_and_foreign_ones_beside_them_stay(tmp_path: Path) -> None:
    own(tmp_path)
    foreign = tmp_path / "sweeps" / f"suspend-tlc-{BUILD}"
    for name in ("notes.txt", "objects/00/notes.txt", "index/notes"):
        (foreign / name).parent.mkdir(exist_ok=True)
        (foreign / name).write_text("of a user")
    assert len(Cache.default(tmp_path).files()) == 6
    Cache.default(tmp_path).clear()
    assert set(contents(tmp_path)) == {
        f"sweeps/suspend-tlc-{BUILD}/{name}" for name in ("notes.txt", "objects/00/notes.txt", "index/notes")
    }


def test_a_run_within_a_limit_deletes_snapshots_of_its_own_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = filled(tmp_path)
    older = tmp_path / f"{STATE.replace('0', '1')}-v6.snapshot"
    older.write_bytes(b"INTERPLS".ljust(1000))
    os.utime(older, (1, 1))
    link = tmp_path / f"{STATE.replace('0', '2')}-v6.snapshot"
    link.symlink_to(tmp_path / "thesis.tmp")
    config = interpulse.Config.load(str(ROOT / "examples" / "small.toml")).set("run.requests", 500)
    interpulse.run(config, cache_dir=tmp_path / "size")
    (made,) = (tmp_path / "size").iterdir()
    monkeypatch.setenv("INTERPULSE_CACHE_LIMIT", f"{made.stat().st_size + 500}B")
    interpulse.run(config, cache_dir=tmp_path)
    assert not older.exists()
    assert link.is_symlink()
    after = contents(tmp_path)
    assert {name: after[name] for name in before} == before
    assert f"{made.name}" in after


@pytest.mark.parametrize("identity", ["../../precious", "/precious", "", "A" * 32, "0" * 31, 7, None, ["x"], "." * 32])
def test_the_identity_of_a_store_is_no_path(identity: object, tmp_path: Path) -> None:
    """A worker keeps its copies in a folder of this name, and deletes it at the end."""
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "store.json").write_text(json.dumps({"format": 1, "id": identity}))
    with pytest.raises(StoreError, match="expected a store of format 1"):
        Store.open(tmp_path / "store")
    assert identity_at(tmp_path / "store") is None


def test_a_folder_that_is_no_store_is_not_deleted_as_one(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("of a user")
    delete_store(tmp_path)
    Store.open(tmp_path / "store")
    (tmp_path / "link").symlink_to(tmp_path / "store")
    delete_store(tmp_path / "link")
    assert identity_at(tmp_path / "store") is not None
    delete_store(tmp_path / "store")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "notes"]

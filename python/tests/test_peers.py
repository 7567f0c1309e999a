"""Is docs/PEERS.md what its data says, and does every file named for interpulse exist?"""

from __future__ import annotations

import importlib.util
import re
import sys
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path


def tool() -> Any:  # noqa: ANN401 - a module
    """The generator of the page."""
    spec = importlib.util.spec_from_file_location("peers_page", ROOT / "python" / "tools" / "peers_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules["peers_page"] = module
    spec.loader.exec_module(module)
    return module


PEERS = tool()
HEAD = PEERS.DATA.read_text(encoding="utf-8").partition("\n[[row]]\n")[0]


def row(cells: str) -> str:
    """Data with one row of these cells."""
    return f'{HEAD}\n[[row]]\ngroup = "g"\nfeature = "f"\nsearch = "x"\n{cells}\n'


def test_the_page_is_what_its_data_says() -> None:
    assert PEERS.PAGE.read_text(encoding="utf-8") == PEERS.page(), "run `make golden`"


def test_every_file_named_for_interpulse_exists() -> None:
    rows = PEERS.load().rows
    named = [cell.path for one in rows if (cell := one.cells[PEERS.OURS]).at]
    assert len(named) > 30
    assert [path for path in named if not (ROOT / path).is_file()] == []


def test_rows_are_unique_and_groups_together() -> None:
    rows = PEERS.load().rows
    features = [one.feature for one in rows]
    assert len(set(features)) == len(features)
    groups = [one.group for one in rows]
    assert sum(a != b for a, b in pairwise(groups)) + 1 == len(set(groups))
    for one in rows:
        re.compile(one.search)


def test_every_repository_is_named_at_a_whole_commit() -> None:
    table = PEERS.load()
    assert {one.peer for one in table.repositories.values()} == set(table.peers)
    for one in table.repositories.values():
        assert re.fullmatch("[0-9a-f]{40}", one.commit), one.key


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ('mqsim = { status = "no", note = "n" }', "the cell of interpulse is missing"),
        ('interpulse = { status = "soon" }', "'soon' is none of yes, partly, no, outside"),
        ('interpulse = { status = "yes" }', "'yes' needs its evidence"),
        ('interpulse = { status = "partly", at = "README.md" }', "needs a note"),
        ('interpulse = { status = "no" }\nmqsim = { status = "outside" }', "'outside' is none of"),
        ('interpulse = { status = "no" }\nmqsim = { status = "yes", at = "a.c" }', "'yes' needs its evidence"),
        ('interpulse = { status = "no" }\nmqsim = { status = "no" }', "a 'no' that is written down needs a note"),
        ('interpulse = { status = "no" }\nmqsin = { status = "no" }', "unknown peer 'mqsin'"),
        (
            'interpulse = { status = "no" }\nmqsim = { status = "yes", at = "a#b", repo = "c" }',
            "unknown repository 'c'",
        ),
    ],
)
def test_a_wrong_cell_is_refused(cells: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        PEERS.Table(row(cells))


def test_cells_are_looked_up_in_check_outs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found evidence, a match of a peer that a row leaves out, a note without a match, and evidence that is gone."""
    cells = 'interpulse = { status = "no" }\nmqsim = { status = "yes", at = "src/a.cpp#x1" }'
    cells += '\nspdk = { status = "no", note = "n" }'
    data = tmp_path / "peers.toml"
    data.write_text(row(f'{cells}\nfemu = {{ status = "yes", at = "hw/femu/a.c#y" }}'), encoding="utf-8")
    monkeypatch.setattr(PEERS, "DATA", data)
    table = PEERS.load()
    for one in table.repositories.values():
        for folder in one.folders:
            file = tmp_path / one.key / folder / ("a.cpp" if one.key == "mqsim" else "a.c")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text({"mqsim": "int x1;", "ssdsim": "int\nX;"}.get(one.key, "int z;"))
    assert PEERS.looked_up(tmp_path) == [
        "f: ssdsim is left out, but ssdsim/./a.c:2 matches",
        "f: femu: no 'y' in hw/femu/a.c",
        "f: spdk has a note, but nothing matches",
    ]
    (tmp_path / "ssdsim" / "a.c").unlink()
    assert PEERS.looked_up(tmp_path) == ["no source files of ssdsim"]

"""Generator of docs/PEERS.md from python/tools/peers.toml (`make golden`).

`--sources FOLDER` writes nothing: it looks every cell up in check-outs of the other projects, FOLDER/KEY at the
commit that the file gives for the repository KEY, and prints what does not hold.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "PEERS.md"
DATA = Path(__file__).with_name("peers.toml")

OURS = "interpulse"
STATUSES = ("yes", "partly", "no", "outside")
"""Status of a cell; `outside` is for interpulse only: a feature that is not an aim."""

ENDINGS = {".c", ".cc", ".cpp", ".h", ".hh", ".hpp"}
"""Files that a search reads."""

INTRODUCTION = """# Other simulators, feature by feature

What interpulse and seven other projects have, each cell read in their code at the commit below. **yes**: the code has
it and a run can use it. **partly**: less than the feature says, or code without effect; the evidence says which.
**no**: the search of that row finds nothing in the project's source folders, or only what the evidence names.

Emulation in QEMU or in a kernel, computational drives and key-value drives are outside our aim: interpulse simulates
time, and emulators run a real operating system against theirs. Their rows are at the end, for completeness.

[COMPARISON](COMPARISON.md) has figures and costs of MQSim, SimpleSSD and SSDSim on their own files.

`make golden` generates this page from `python/tools/peers.toml`; `python python/tools/peers_page.py --sources FOLDER`
looks every cell up again in check-outs of the projects.
"""


@dataclass(frozen=True)
class Repository:
    """A repository of a peer at the commit that was read."""

    peer: str
    key: str
    where: str
    commit: str
    date: str
    folders: list[str]

    def link(self, path: str) -> str:
        """Address of a file at the commit."""
        return f"https://github.com/{self.where}/blob/{self.commit}/{path}"


@dataclass(frozen=True)
class Cell:
    """What one project has of a feature: `at` is `path#text` of a peer, a path of ours."""

    status: str
    at: str = ""
    note: str = ""
    repo: str = ""

    @property
    def path(self) -> str:
        """File of the evidence."""
        return self.at.partition("#")[0]

    @property
    def text(self) -> str:
        """Text that occurs in that file; empty for ours."""
        return self.at.partition("#")[2]


@dataclass(frozen=True)
class Row:
    """A feature with its cells by key of the peer; a peer without a cell has nothing that the search finds."""

    group: str
    feature: str
    search: str
    cells: dict[str, Cell] = field(default_factory=dict)

    def cell(self, key: str) -> Cell:
        """The cell of a peer."""
        return self.cells.get(key, Cell("no"))


class Table:
    """The data of the page.

    Raises:
        ValueError: a cell has another status than those of `STATUSES`, evidence is missing, or a key is unknown.
    """

    def __init__(self, text: str) -> None:
        """Reads the text of the data file."""
        data: dict[str, Any] = tomllib.loads(text)
        self.peers: dict[str, dict[str, str]] = {peer["key"]: peer for peer in data["peer"]}
        self.repositories = {one["key"]: Repository(**one) for one in data["repository"]}
        self.rows = [row(one, {OURS, *self.peers}) for one in data["row"]]
        for one in self.rows:
            for key, cell in one.cells.items():
                self.check(f"{one.feature}: {key}", key, cell)

    def check(self, name: str, key: str, cell: Cell) -> None:
        """Refuses a cell without evidence or of an unknown repository."""
        if cell.status not in STATUSES or (cell.status == "outside" and key != OURS):
            raise ValueError(f"{name}: status {cell.status!r} is none of {', '.join(STATUSES)}")
        if cell.status in ("yes", "partly") and not (cell.path and (cell.text or key == OURS)):
            raise ValueError(f"{name}: {cell.status!r} needs its evidence: at = {cell.at!r}")
        if cell.status == "partly" and not cell.note:
            raise ValueError(f"{name}: 'partly' needs a note that says what")
        if cell.status == "no" and key != OURS and not cell.note:
            raise ValueError(f"{name}: a 'no' that is written down needs a note")
        if cell.repo and cell.repo not in self.repositories:
            raise ValueError(f"{name}: unknown repository {cell.repo!r}")


def row(data: dict[str, Any], keys: set[str]) -> Row:
    """A row of the data file."""
    rest = dict(data)
    head = {name: rest.pop(name) for name in ("group", "feature", "search")}
    if unknown := set(rest) - keys:
        raise ValueError(f"{head['feature']}: unknown peer {sorted(unknown)[0]!r}")
    if OURS not in rest:
        raise ValueError(f"{head['feature']}: the cell of {OURS} is missing")
    return Row(**head, cells={key: Cell(**cell) for key, cell in rest.items()})


def load() -> Table:
    """The data of the page as it is stored."""
    return Table(DATA.read_text(encoding="utf-8"))


def evidence(table: Table, one: Row) -> str:
    """Evidence of a row: a line for each cell that has some, and the search behind the rest."""
    names = {OURS: OURS} | {key: peer["name"] for key, peer in table.peers.items()}
    lines = [f"**{one.feature}**\n\n"]
    for key, name in names.items():
        cell = one.cell(key)
        parts = [cell.note] if cell.note else []
        if cell.at and key == OURS:
            parts.insert(0, f"`{cell.path}`")
        elif cell.at:
            link = table.repositories[cell.repo or key].link(cell.path)
            parts.insert(0, f"[`{cell.path}`]({link}), `{cell.text}`")
        if parts:
            lines.append(f"- {name}, {cell.status}: {'; '.join(parts)}\n")
    lines.append(f"- Search: `{one.search}`\n\n")
    return "".join(lines)


def page() -> str:
    """The text of the page."""
    table = load()
    parts = [
        INTRODUCTION,
        "\n## What was read\n\n",
        "| project | repository | commit | of | what it is |\n|---|---|---|---|---|\n",
    ]
    for repository in table.repositories.values():
        peer = table.peers[repository.peer]
        commit = f"[`{repository.commit[:12]}`](https://github.com/{repository.where}/commit/{repository.commit})"
        about = (
            peer["about"]
            if repository.key == repository.peer
            else repository.key.replace("standalone", "its stand-alone host")
        )
        parts.append(f"| {peer['name']} | {repository.where} | {commit} | {repository.date} | {about} |\n")
    groups = [(name, list(rows)) for name, rows in groupby(table.rows, key=lambda one: one.group)]
    keys = [OURS, *table.peers]
    for name, rows in groups:
        parts.append(
            f"\n## {name}\n\n| feature | {OURS} | {' | '.join(peer['name'] for peer in table.peers.values())} |\n"
        )
        parts.append(f"|---|{'---|' * len(keys)}\n")
        for one in rows:
            shown = (
                f"**{status}**" if status == "yes" else status for status in (one.cell(key).status for key in keys)
            )
            parts.append(f"| {one.feature} | {' | '.join(shown)} |\n")
    missing = [one.feature for one in table.rows if behind(one)]
    parts.append("\n## What another has and interpulse lacks\n\n")
    parts += [f"- {feature}\n" for feature in missing] or ["Nothing within our aim.\n"]
    parts.append(
        "\n## Evidence\n\nSearches are regular expressions over lines of C and C++ files, without regard to case.\n\n"
    )
    parts += [evidence(table, one) for one in table.rows]
    return "".join(parts).rstrip("\n") + "\n"


def behind(one: Row) -> bool:
    """Whether a peer has a feature fully that interpulse has not or in part."""
    others = any(cell.status == "yes" for key, cell in one.cells.items() if key != OURS)
    return others and one.cells[OURS].status in ("no", "partly")


def lines_of(folder: Path) -> Iterator[tuple[str, str]]:
    """Lines of the source files of a folder, each with `file:line`."""
    for path in sorted(folder.rglob("*")):
        if path.suffix in ENDINGS and path.is_file():
            for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                yield f"{path.relative_to(folder)}:{number}", line


def looked_up(sources: Path) -> list[str]:
    """What does not hold in the check-outs of the other projects."""
    table = load()
    wrong: list[str] = []
    kept: dict[str, list[tuple[str, str]]] = {}
    for repository in table.repositories.values():
        kept.setdefault(repository.peer, []).extend(
            (f"{repository.key}/{folder}/{place}", line)
            for folder in repository.folders
            for place, line in lines_of(sources / repository.key / folder)
        )
    if empty := [key for key in table.peers if not kept.get(key)]:
        return [f"no source files of {key}" for key in empty]
    for one in table.rows:
        search = re.compile(one.search, re.IGNORECASE)
        for key in table.peers:
            cell = one.cells.get(key)
            found = next((place for place, line in kept[key] if search.search(line)), None)
            if cell is None and found:
                wrong.append(f"{one.feature}: {key} is left out, but {found} matches")
            elif cell is not None and cell.status == "no" and not found:
                wrong.append(f"{one.feature}: {key} has a note, but nothing matches")
            elif cell is not None and cell.at:
                path = sources / (cell.repo or key) / cell.path
                if not path.is_file() or cell.text not in path.read_text(errors="replace"):
                    wrong.append(f"{one.feature}: {key}: no {cell.text!r} in {cell.path}")
    return wrong


def main() -> int:
    """Writes the page, or looks it up in check-outs; returns the exit code."""
    parser = argparse.ArgumentParser(description="docs/PEERS.md from python/tools/peers.toml")
    parser.add_argument("--sources", type=Path, metavar="FOLDER", help="look every cell up in check-outs instead")
    sources: Path | None = parser.parse_args().sources
    if sources is None:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    wrong = looked_up(sources)
    print("\n".join(wrong) or "every cell holds")  # noqa: T201
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

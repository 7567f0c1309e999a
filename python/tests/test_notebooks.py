"""Do the notebooks of the examples run from their first cell to their last, and say what their text says?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "examples" / "notebooks"
MOST_BYTES = 16_000

EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
nbformat.validate(notebook)
NotebookClient(notebook, timeout=300, resources={"metadata": {"path": sys.argv[2]}}).execute()
nbformat.write(notebook, sys.argv[3])
"""

SAYS = {
    "sweep": ["18 rows", "{'host_reads': 0."],
    "optimize": ["12 trials, 4 on the front", "immediate", "front.html"],
    "limits": ["no-suspend: sustains", "holds", "misses", "'suspend.program.scheme': 'loop-boundary'"],
}
"""Words that have to be among what the cells of a notebook show."""

PLOTS = {"sweep": 1, "optimize": 1, "limits": 0}


def executed(name: str, folder: Path) -> list[dict[str, Any]]:
    """What the cells of a notebook put out."""
    out = folder / "executed.ipynb"
    line = [sys.executable, "-c", EXECUTE, str(FOLDER / f"{name}.ipynb"), str(folder), str(out)]
    # In a process of its own: a kernel's machinery warns of things that are not ours, which would be errors here.
    environment = os.environ | {"PYTHONPATH": str(ROOT / "python"), "MPLBACKEND": ""}
    ended = subprocess.run(line, env=environment, capture_output=True, text=True, check=False, timeout=400)
    assert ended.returncode == 0, ended.stderr[-4000:]
    return [put for cell in json.loads(out.read_text())["cells"] for put in cell.get("outputs", [])]


def test_every_notebook_is_known_here_small_and_without_output() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} >= SAYS.keys()
    for path in FOLDER.glob("*.ipynb"):
        assert path.stat().st_size < MOST_BYTES, path.name
        cells = json.loads(path.read_text())["cells"]
        code = [cell for cell in cells if cell["cell_type"] == "code"]
        assert code
        assert cells[0]["source"][0].startswith("# "), "it begins with its title"
        assert not any(cell["outputs"] or cell["execution_count"] for cell in code), path.name


@pytest.mark.parametrize(
    "name", ["sweep", *(pytest.param(name, marks=pytest.mark.verify) for name in SAYS if name != "sweep")]
)
def test_a_notebook_runs_and_shows_what_it_tells_of(name: str, tmp_path: Path) -> None:
    puts = executed(name, tmp_path)
    text = "\n".join("".join(put.get("text") or put.get("data", {}).get("text/plain", "")) for put in puts)
    for words in SAYS[name]:
        assert words in text
    assert sum("image/png" in put.get("data", {}) for put in puts) == PLOTS[name]
    assert all(put["output_type"] != "error" for put in puts)

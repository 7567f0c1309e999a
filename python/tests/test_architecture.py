"""Architecture of the Python package: imports point down, without circles, and every file has a package."""

from __future__ import annotations

import ast
from pathlib import Path

import interpulse

ROOT = Path(interpulse.__file__).parent

FLOORS = (
    {"_core", "tables"},
    {"files"},
    {"fio"},
    {"configuration"},
    {"flash", "importing", "logs"},
    {"blockdevice", "embedding", "plotting", "runs", "serving"},
    {"studies"},
    {"characterize", "experiments"},
    {"papers", "sweeps"},
    {"report"},
    {"lifetime"},
    {"explore", "search"},
    {"fitting"},
    # The public names: nothing inside the package imports them.
    {"interpulse"},
    {"cli"},
    {"__main__"},
)
"""The packages from the ground up; a file imports from its own package and from lower floors."""

LOOSE = {"__init__", "__main__"}
"""The only files outside a package."""


def room(module: str) -> str:
    """The room of `interpulse.room.file`; the package itself is one."""
    return module.split(".")[1] if "." in module else module


def floor(module: str) -> int:
    (found,) = [number for number, rooms in enumerate(FLOORS) if room(module) in rooms] or [-1]
    assert found >= 0, f"{module} has no floor: add its package to FLOORS"
    return found


def modules() -> dict[str, Path]:
    """Every file of the package by the name of its module."""
    names = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = [part for part in path.relative_to(ROOT.parent).with_suffix("").parts if part != "__init__"]
        names[".".join(parts)] = path
    return names


def used(path: Path, names: set[str]) -> set[str]:
    """The modules of the package that a file imports, wherever in it: for types alone and inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "interpulse":
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            # `from package import module` needs the module; what is no module is a name of the package.
            found |= inner & names | ({node.module} if inner - names else set())
            if node.module == "interpulse":
                found.add("interpulse")
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "interpulse"}
    return found


def arrows() -> dict[str, set[str]]:
    paths = modules()
    names = {*paths, "interpulse._core"}
    return {module: used(path, names) - {module} for module, path in paths.items()}


def test_arrows_point_down() -> None:
    up = [
        f"{module} uses {other}"
        for module, others in arrows().items()
        for other in others
        if room(other) != room(module) and floor(other) >= floor(module)
    ]
    assert not up, up


def test_no_file_imports_the_public_face() -> None:
    """Not even the command line: `from interpulse import name` hides which package is used."""
    up = [module for module, others in arrows().items() if "interpulse" in others]
    assert not up, up


def test_every_file_belongs_to_a_package() -> None:
    loose = {path.stem for path in ROOT.glob("*.py")}
    assert loose == LOOSE, loose ^ LOOSE


def test_every_package_says_what_it_offers() -> None:
    for path in sorted(ROOT.rglob("__init__.py")):
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


def test_every_public_name_is_listed() -> None:
    assert set(interpulse.__all__) <= set(dir(interpulse))
    assert all(getattr(interpulse, name) is not None for name in interpulse.__all__)


def test_no_file_is_in_a_circle() -> None:
    """What uses nothing that is left, or is used by nothing that is left, is taken away; what stays are circles."""
    left = arrows()
    assert sum(map(len, left.values())) > 200, "the check must have found the imports"
    before = 0
    while len(left) != before:
        before = len(left)
        in_use = {other for others in left.values() for other in others}
        left = {module: others for module, others in left.items() if others & left.keys() and module in in_use}
    assert not left, f"a circle runs through these: {sorted(left)}"


def test_files_stay_short() -> None:
    long = [module for module, path in modules().items() if len(path.read_text(encoding="utf-8").splitlines()) > 600]
    assert not long, f"two concepts? {long}"

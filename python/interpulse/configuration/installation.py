"""How this interpulse is installed, and which command gives it the packages of an extra."""

from __future__ import annotations

import re
import shlex
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

PURPOSES = {
    "frames": "results as tables of pyarrow and Polars, logs of requests, batches of embedded drives",
    "plot": "reports, plots of studies, explore",
    "timeline": "timelines of requests and dies in Perfetto",
    "sweep": "sweeps on all cores or a cluster",
    "search": "advise and optimize",
    "fit": "fit a drive to measurements",
}
"""Extras for users, and what each is for."""

_REQUIREMENT = re.compile(
    r"\s*([A-Za-z0-9._-]+)(?:\[([A-Za-z0-9,._-]+)\])?([^;]*?)\s*(?:;.*extra\s*==\s*['\"]([\w-]+)['\"])?\s*"
)


def clone() -> Path | None:
    """The repository that this package is imported from, or None."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "Makefile").is_file() and (root / "crates" / "python").is_dir() else None


def kind() -> str:
    """What this installation is: a clone, pipx, or packages of a virtual environment or of the system."""
    if (root := clone()) is not None:
        return f"clone in {root}"
    if "/pipx/venvs/" in f"{Path(sys.prefix).as_posix()}/":
        return "pipx"
    return f"virtual environment {sys.prefix}" if sys.prefix != sys.base_prefix else f"system's Python, {sys.prefix}"


def packages(extra: str) -> dict[str, str]:
    """Packages of an extra, each with its requirement such as `bokeh>=3.8`; empty where no distribution says it."""
    try:
        required = metadata.requires("interpulse") or []
    except metadata.PackageNotFoundError:
        return {}
    found: dict[str, str] = {}
    for text in required:
        match = _REQUIREMENT.fullmatch(text)
        if match is None or match[4] != extra:
            continue
        if match[1] == "interpulse":
            for other in match[2].split(","):
                found |= packages(other)
        else:
            found[match[1]] = f"{match[1]}{match[3].strip()}"
    return found


def missing(extra: str) -> dict[str, str]:
    """Packages of an extra that are not installed, as `packages`."""
    return {name: requirement for name, requirement in packages(extra).items() if not _is_installed(name)}


def _is_installed(package: str) -> bool:
    try:
        metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def command(extra: str, package: str = "") -> str:
    """The command that installs what is missing of an extra, for this installation; of an unknown extra, `package`."""
    if (root := clone()) is not None:
        return f"make -C {shlex.quote(str(root))} dev"
    wanted = (missing(extra) or packages(extra)).values() or [package] * bool(package)
    if not wanted:
        return f"install interpulse again: this installation has no metadata that lists the packages of '{extra}'"
    requirements = " ".join(shlex.quote(each) for each in wanted)
    if kind() == "pipx":
        return f"pipx inject interpulse {requirements}"
    python = shlex.quote(sys.executable or "python3")
    return (
        f"{python} -m pip install {requirements}"
        if find_spec("pip")
        else f"uv pip install --python {python} {requirements}"
    )

"""`interpulse doctor` command: what is installed, how missing packages are installed here, and what the machine has."""

from __future__ import annotations

import json as json_text
import os
import platform
import shutil
from typing import Any

from interpulse._core import version
from interpulse.blockdevice import requirements
from interpulse.cli.options import CacheDir, Json
from interpulse.cli.output_streams import emit
from interpulse.configuration import installation
from interpulse.files.cache import Cache
from interpulse.tables.format import size
from interpulse.tables.layout import Column, Sheet, fill, terminal_width

EPILOG = """\
Examples:

  interpulse doctor

  interpulse doctor --json

Simulations need no extra. Served drives need the listed programs only for what is named beside them."""

PROGRAMS = {
    "clients of served drives": ("nbdinfo", "nbdcopy", "qemu-img", "fio"),
    "file systems on served drives": requirements.FILE_SYSTEM,
    "PostgreSQL on served drives": requirements.POSTGRESQL,
}
"""Programs of the system, by what needs them."""

CLIENTS = {"nbdinfo": "libnbd-bin", "nbdcopy": "libnbd-bin", "qemu-img": "qemu-utils", "fio": "fio"}
"""Debian's packages of clients."""


def doctor(cache_dir: CacheDir = None, json: Json = False) -> None:
    """Show what is installed, how this installation gets what is missing, and what the machine has."""
    found = findings(Cache.default(cache_dir))
    emit(json_text.dumps(found) if json else text(found, terminal_width()))


def findings(kept: Cache) -> dict[str, Any]:
    """Everything that the command shows."""
    extras = {}
    for name, purpose in installation.PURPOSES.items():
        known, lacking = list(installation.packages(name)), list(installation.missing(name))
        extras[name] = {
            "purpose": purpose,
            "packages": known,
            "missing": lacking,
            "command": installation.command(name) if lacking or not known else None,
        }
    programs = {}
    for purpose, names in PROGRAMS.items():
        lacking = [name for name in names if shutil.which(name, path=requirements.path()) is None]
        packages = dict.fromkeys(CLIENTS.get(name) or requirements.PACKAGES[name] for name in lacking)
        programs[purpose] = {
            "missing": lacking,
            "command": f"apt-get install {' '.join(packages)}" if lacking else None,
        }
    folder = next(each for each in (kept.folder, *kept.folder.parents) if each.is_dir())
    return {
        "version": version,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "installation": installation.kind(),
        "extras": extras,
        "programs": programs,
        "machine": {
            "cores": len(os.sched_getaffinity(0)),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "may_mount": requirements.may_mount(),
        },
        "snapshots": {
            "folder": str(kept.folder),
            "used_bytes": sum(count for _, count in kept.files()),
            "limit_bytes": kept.limit_bytes,
            "disk_free_bytes": shutil.disk_usage(folder).free,
        },
    }


def text(found: dict[str, Any], width: int) -> str:
    """The findings in lines of at most `width` columns."""
    machine, kept = found["machine"], found["snapshots"]
    mounts = "allowed" if machine["may_mount"] else "need root"
    used = f"{size(kept['used_bytes'])} of at most {size(kept['limit_bytes'])} in {kept['folder']}"
    head = [
        f"interpulse {found['version']}, Python {found['python']}, {found['system']}",
        f"installed in: {found['installation']}",
        f"machine: {machine['cores']} cores, {size(machine['memory_bytes'])} of memory, mounts {mounts}",
        f"snapshots: {used}, {size(kept['disk_free_bytes'])} of the disk free",
    ]
    sheet = Sheet([Column("extra", "label"), Column("state", "text"), Column("for", "text")])
    for name, of in found["extras"].items():
        lacking = ", ".join(of["missing"]) if of["packages"] else "its packages (unknown here)"
        sheet.add_row(name, f"lacks {lacking}" if of["command"] else "installed", of["purpose"])
    programs = Sheet([Column("programs for", "label"), Column("state", "text")])
    for purpose, of in found["programs"].items():
        programs.add_row(purpose, f"lacks {', '.join(of['missing'])}" if of["command"] else "installed")
    parts = ["\n".join(fill(line, width) for line in head), sheet.text(width), programs.text(width)]
    commands = dict.fromkeys(of["command"] for each in ("extras", "programs") for of in found[each].values())
    wanted = [f"  {command}" for command in commands if command]
    # Commands are not wrapped, so that they can be copied.
    parts += ["\n".join(["what is missing comes with", *wanted])] * bool(wanted)
    return "\n\n".join(parts)

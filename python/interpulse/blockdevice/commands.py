"""Commands of real programs, as this process's user or another one."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path
from typing import Any

from interpulse._core import ConfigError, RunError
from interpulse.blockdevice.requirements import path, program

PATIENCE = 300.0
"""Most seconds that a command may take."""


def environment() -> dict[str, str]:
    """Environment of commands: messages in English, system programs found."""
    return os.environ | {"PATH": path(), "LC_ALL": "C.UTF-8"}


def owner(user: str) -> pwd.struct_passwd:
    """The account of a user. Raises ConfigError where there is none."""
    try:
        return pwd.getpwnam(user)
    except KeyError:
        raise ConfigError(f"there is no user '{user}' here, as whom the program must run: root is refused") from None


def account(user: str | None) -> dict[str, Any]:
    """Arguments of `subprocess` that run a command as `user`, if this process is root. Raises as `owner`."""
    if user is None or os.geteuid() != 0:
        return {}
    found = owner(user)
    return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}


def give(path: Path, user: str) -> None:
    """Makes `user` the owner of a path, if this process is root. Raises as `owner`."""
    if os.geteuid() == 0:
        found = owner(user)
        os.chown(path, found.pw_uid, found.pw_gid)


def start(
    name: str,
    *arguments: str | Path,
    stdin: int,
    stdout: int,
    stderr: int,
    folder: Path | None = None,
    user: str | None = None,
) -> subprocess.Popen[str]:
    """Starts a program beside this one, with standard streams as `subprocess` takes them.

    Raises:
        ConfigError: it is not installed.
    """
    line = [program(name), *map(str, arguments)]
    return subprocess.Popen(
        line,
        cwd=folder,
        env=environment(),
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        text=True,
        bufsize=1,
        **account(user),
    )


def run(
    name: str,
    *arguments: str | Path,
    folder: Path | None = None,
    user: str | None = None,
    codes: tuple[int, ...] = (0,),
    patience: float = PATIENCE,
) -> str:
    """Runs a program and returns its standard output.

    Args:
        name: of the program.
        arguments: of the command line.
        folder: current folder.
        user: account, for programs that refuse root.
        codes: exit codes of success.
        patience: most seconds that it may take.

    Raises:
        ConfigError: it is not installed.
        RunError: it failed, or took too long.
    """
    line = [program(name), *map(str, arguments)]
    try:
        # Input is empty: a program that wants an answer ends instead of waiting.
        done = subprocess.run(
            line,
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
            **account(user),
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"{name} took more than {patience:.0f} s: {' '.join(line)}") from None
    if done.returncode not in codes:
        said = (done.stderr.strip() or done.stdout.strip())[-2000:]
        raise RunError(f"{' '.join(line)}: exit code {done.returncode}: {said}")
    return str(done.stdout)

"""`interpulse bench`: the benchmark program, which is Rust from end to end."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from interpulse.cli.exits import UserError

EPILOG = """\
Examples:

  interpulse bench

  interpulse bench --quick --json

INTERPULSE_BENCH names another benchmark program to run."""

_INSTALLED = Path(__file__).parent.parent / "_bin" / "interpulse-bench"


def bench(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON array with an object per workload.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller drive and fewer requests: a smoke test.")] = False,
) -> NoReturn:
    """Measure how fast the simulator itself is: host requests per CPU second, memory, preconditioning.

    The numbers are those of one thread after preconditioning, with audits and accounts on.
    """
    program = find_program()
    arguments = [str(program), *(["--json"] if json else []), *(["--quick"] if quick else [])]
    sys.stdout.flush()
    try:
        # In place of this process: no interpreter sits beside what is measured, and signals reach it directly.
        os.execv(program, arguments)
    except OSError as error:
        raise UserError(f"cannot run the benchmark program {program}: {error.strerror}") from None


def find_program() -> Path:
    """The benchmark program: the one that `INTERPULSE_BENCH` names, or the one installed with the package.

    Raises:
        UserError: there is no such file.
    """
    named = os.environ.get("INTERPULSE_BENCH")
    program = Path(named) if named else _INSTALLED
    if program.is_file():
        return program
    if named:
        raise UserError(f"INTERPULSE_BENCH names {named}, which is not a file")
    raise UserError(f"the benchmark program is not installed ({program}): `make build` puts it there")

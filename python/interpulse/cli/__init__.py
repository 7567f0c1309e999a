"""The command line: one file per command, and how any of them ends."""

from __future__ import annotations

import os
import sys

from interpulse._core import ConfigError, InternalError, RunError
from interpulse._core import version as __version__
from interpulse.cli import plain
from interpulse.cli.exits import INTERNAL, INTERRUPTED, USER_ERROR, PoliteAsCtrlC, UserError
from interpulse.cli.streams import fail, finish, prepare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line and leaves the process with its exit code."""
    prepare()
    code = finish(run_app(arguments))
    # Where an interrupt has passed through code that is executed from text, as dataclasses are made, the interpreter
    # under `-m` ends by that signal whatever the exit code, unless more such code has ended well.
    eval("0")
    if arguments is None and "threading" not in sys.modules:
        # Nothing has been read that would have to be ended: the interpreter would only take itself apart, for long.
        os._exit(code)
    raise SystemExit(code)


def run_app(arguments: Sequence[str] | None) -> int:
    """Runs the command line; every way to end becomes an exit code and at most one line on standard error."""
    came: list[int] = []
    try:
        with PoliteAsCtrlC() as came:
            code = _run_app(arguments)
    except KeyboardInterrupt:  # It came just before or after there was something to interrupt.
        code = INTERRUPTED
    # A terminal that has gone takes the output with it, which is no other end than its signal.
    return 128 + came[0] if came and code in (INTERRUPTED, USER_ERROR) else code


def _run_app(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        options = plain.read(given)
        if options is not None:
            from interpulse.cli.running import run_command

            return run_command(**options)
        from interpulse.cli.app import call

        return call(given)
    except KeyboardInterrupt:
        return INTERRUPTED
    except InternalError as error:
        return fail(f"{error} (please report this: it is a bug of interpulse {__version__})", INTERNAL)
    except (ConfigError, RunError, UserError) as error:
        return fail(str(error), USER_ERROR)
    except MemoryError:
        return fail("there is no memory left for the command line itself; ulimit -v may be too low", USER_ERROR)
    except UnicodeEncodeError as error:
        needs = (
            "arguments and names of files have to be, and beyond ASCII the locale too (LC_ALL=C.UTF-8, PYTHONUTF8=1)"
        )
        return fail(f"{error.object!r} is not UTF-8 text: {needs}", USER_ERROR)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return fail(f"{place}{error.strerror or error}", USER_ERROR)
    except Exception as error:  # noqa: BLE001 - the last resort, where a bug turns into its exit code
        import traceback

        traceback.print_exc()
        return fail(f"{type(error).__name__}: {error} (please report this: it is a bug)", INTERNAL)

"""Command line: one file per command; this file turns every outcome into an exit code."""

from __future__ import annotations

import os
import sys

from interpulse._core import ConfigError, InternalError, RunError
from interpulse._core import version as __version__
from interpulse.cli import fast_path
from interpulse.cli.exit_codes import INTERNAL, INTERRUPTED, USER_ERROR, SignalAsCtrlC, UserError
from interpulse.cli.output_streams import fail, finish, prepare

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs the command line and leaves the process with its exit code."""
    prepare()
    code = finish(run_app(arguments))
    # After an interrupt inside code executed from text (dataclasses), `python -m` ends by that signal whatever the
    # exit code; a further successful evaluation clears this state.
    eval("0")
    if arguments is None and "threading" not in sys.modules:
        # No module needs a clean-up, and the teardown of the interpreter is slow.
        os._exit(code)
    raise SystemExit(code)


def run_app(arguments: Sequence[str] | None) -> int:
    """Runs the command line; returns the exit code after at most one line on standard error."""
    came: list[int] = []
    try:
        with SignalAsCtrlC() as came:
            code = _run_app(arguments)
    except KeyboardInterrupt:  # Just before or after the command.
        code = INTERRUPTED
    # After a hangup the lost output is no error of its own: report the signal.
    return 128 + came[0] if came and code in (INTERRUPTED, USER_ERROR) else code


def _run_app(arguments: Sequence[str] | None) -> int:
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        options = fast_path.read(given)
        if options is not None:
            from interpulse.cli.run_command import run_command

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
        return fail("out of memory in the command line itself; ulimit -v may be too low", USER_ERROR)
    except UnicodeEncodeError as error:
        needs = "arguments and file names must be; beyond ASCII also the locale (LC_ALL=C.UTF-8, PYTHONUTF8=1)"
        return fail(f"{error.object!r} is not UTF-8 text: {needs}", USER_ERROR)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return fail(f"{place}{error.strerror or error}", USER_ERROR)
    except Exception as error:  # noqa: BLE001 - a bug of interpulse
        import traceback

        traceback.print_exc()
        return fail(f"{type(error).__name__}: {error} (please report this: it is a bug)", INTERNAL)

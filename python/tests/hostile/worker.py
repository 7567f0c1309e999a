"""Takes wrong inputs line by line and says what interpulse made of each.

Many in one process, since starting one costs more than refusing a thousand configurations. Whoever waits for it ends it
when an input hangs.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import interpulse
from interpulse.cli import run_app

REFUSALS = (ValueError, TypeError, interpulse.RunError, OSError)
"""What the Python interface raises for a mistake of its caller, a `ConfigError` being a `ValueError`."""


def config(task: dict[str, Any]) -> dict[str, Any]:
    """Resolves a configuration."""
    wanted = interpulse.Config.from_toml(task["text"], path="mine.toml")
    try:
        for key, value in task["sets"]:
            wanted.set(key, value)
        wanted.resolve()
    except interpulse.ConfigError as error:
        return {"outcome": "refused", "message": str(error)}
    return {"outcome": "accepted"}


def python(task: dict[str, Any]) -> dict[str, Any]:
    """Executes a piece of code, which has to end in an error that is the caller's."""
    try:
        exec(task["text"], {"interpulse": interpulse, "Path": Path})
    except interpulse.InternalError:
        raise
    except REFUSALS as error:
        return {"outcome": "refused", "message": str(error)}
    return {"outcome": "accepted"}


def command(task: dict[str, Any]) -> dict[str, Any]:
    """Runs the command line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_app(task["argv"])
    said = err.getvalue()
    if code == 0:
        return {"outcome": "accepted", "code": 0, "message": out.getvalue()[:300] + said}
    errors = sum(line.startswith("error: ") for line in said.splitlines())
    refused = errors == 1 and not out.getvalue()
    return {"outcome": "refused" if refused else "crashed", "code": code, "message": said}


def main() -> None:
    """Answers until there is no more input."""
    kinds = {"config": config, "python": python, "command": command}
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Whatever else prints, prints elsewhere.
    for line in sys.stdin:
        task = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            for name, content in task["files"]:
                Path(name).write_bytes(bytes.fromhex(content))
            try:
                answer = kinds[task["kind"]](task)
            except BaseException:  # noqa: BLE001 - a panic of the core, too, is an answer
                answer = {"outcome": "crashed", "message": traceback.format_exc()}
            os.chdir("/")
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()

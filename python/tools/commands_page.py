"""Generator of docs/COMMAND-LINE.md from the declarations of the commands (`make golden`).

A test compares the page with the declarations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from interpulse.cli.app import app

PAGE = Path(__file__).parent.parent.parent / "docs" / "COMMAND-LINE.md"

INTRODUCTION = """# Commands

Every command with its arguments and options, as `interpulse COMMAND --help` prints them.
`interpulse --version` prints the version. [RUNS](RUNS.md) explains output, files and exit codes.

`make golden` generates this page from the declarations of the commands.
"""


def page() -> str:
    """The text of the page."""
    parts = [INTRODUCTION, "\n| command | purpose |\n|---|---|\n"]
    found = list(_commands())
    parts += [
        f"| [`{name}`](#interpulse-{name}) | {_summary(command)} |\n" for name, command in found if " " not in name
    ]
    for name, command in found:
        parts.append(f"\n## interpulse {name}\n\n{_text(command.help)}\n")
        if " " not in name and (inner := list(getattr(command, "commands", ()))):
            parts.append("\nCommands: " + ", ".join(f"[`{each}`](#interpulse-{name}-{each})" for each in inner) + ".\n")
        else:
            parts.append("\n| argument, option | meaning | default |\n|---|---|---|\n")
            parts += [
                _row(parameter) for parameter in command.params if not parameter.hidden and parameter.name != "help"
            ]
        examples = re.findall(r"^  (interpulse .+)$", command.epilog or "", re.MULTILINE)
        parts += ["\n", *(f"    {each}\n" for each in examples)] if examples else []
    return "".join(parts)


def _commands() -> Iterator[tuple[str, Any]]:
    group: Any = get_command(app)
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield name, command
        for inner, each in getattr(command, "commands", {}).items():
            yield f"{name} {inner}", each


def _summary(command: Any) -> str:  # noqa: ANN401 - a command of Typer
    return _text(command.help).split("\n", maxsplit=1)[0].rstrip(".")


def _row(parameter: Any) -> str:  # noqa: ANN401 - a parameter of Typer
    metavar = parameter.metavar or ""
    if parameter.param_type_name == "argument":
        name = metavar.strip("{}") + ("..." if parameter.nargs == -1 and "..." not in metavar else "")
        name = name if parameter.required or "[" in name else f"[{name}]"
    else:
        name = f"{', '.join([*parameter.opts, *parameter.secondary_opts])} {metavar}".strip()
    return f"| `{name}` | {_text(parameter.help)} | {_default(parameter)} |\n"


def _default(parameter: Any) -> str:  # noqa: ANN401 - a parameter of Typer
    if parameter.required:
        return "required"
    if isinstance(shown := getattr(parameter, "show_default", None), str):
        return shown
    value = parameter.default
    if shown is False or value is None or isinstance(value, bool) or value in ((), []) or callable(value):
        return ""
    return f"`{value}`"


def _text(text: str | None) -> str:
    """Help as Markdown: pages of docs/ are links, cells have no bars."""
    plain = (text or "").replace("\b", "").replace("|", "\\|").replace("<", "\\<").strip()
    return re.sub(r"\bdocs/([A-Za-z-]+)\.md", r"[\1](\1.md)", plain)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

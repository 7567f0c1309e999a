"""Runner of the tutorials in docs/tutorials: files, commands and their output, as a reader would type and see them.

A block "LANGUAGE file=NAME" is a file that the reader saves, a block "diff" a change that the reader makes, and a block
"console" has commands behind `$ ` and what each prints on standard output. A line `...` there is any number of lines.
The hash of a configuration, which changes with every new key, is printed as `config ...`.

python python/tools/tutorials.py [NAME...] runs them and rewrites output and pictures (`make golden`).
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "docs" / "tutorials"

LONG = frozenset({"own-scheme"})
"""Tutorials that build the program and run with `make verify` only."""

PICTURES = {
    "data-sheet": ("mynand.svg", "mynand.svg"),
}
"""The picture that a tutorial draws, and its name beside the page."""

CHARTS = {"first-run": ("first", "blame", "causes.png"), "trace": ("mine", "latency-read", "tail.png")}
"""Folder of a report, its chart that a browser shows, and the name of the picture beside the page."""

FENCE = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)

HASH = re.compile(r"\bconfig [0-9a-f]{32}\b")

FIGURE = re.compile(r"\d[\d.,]*(?<![.,]) ?(?:ns|us|ms|s|%|IOPS|[KMGT]i?B|W)(?!\w)")
"""A figure with its unit, in prose."""


class TutorialError(Exception):
    """A step of a tutorial that failed."""


@dataclass(frozen=True)
class Step:
    """A block of a tutorial, or a command of a console block."""

    kind: str
    name: str
    text: str
    """Content of the file, the change, or the command."""
    output: str = ""
    """Shown output of the command."""


def tutorials() -> list[str]:
    """Names of the tutorials."""
    return sorted(page.stem for page in FOLDER.glob("*.md") if page.stem != "README")


def steps(text: str) -> Iterator[Step]:
    """The steps of a page, in order."""
    for kind, name, body in FENCE.findall(text):
        if kind == "console":
            for command, output in _commands(body):
                yield Step("console", "", command, output)
        elif name or kind == "diff":
            yield Step("diff" if kind == "diff" else "file", name, body)


def _commands(body: str) -> Iterator[tuple[str, str]]:
    if not body.startswith("$ "):
        raise TutorialError(f"a console block begins with a command behind `$ `, not with {body.splitlines()[0]!r}")
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        found = re.match(r"(?:.*\\\n)*.*\n", part)
        assert found is not None
        yield found[0].rstrip("\n"), part[found.end() :]


def run(step: Step, folder: Path, environment: dict[str, str]) -> str:
    """Takes a step in a folder; returns the standard output of a command.

    Raises:
        TutorialError: a command failed, or a change does not apply.
    """
    if step.kind == "file":
        path = folder / step.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(step.text, encoding="utf-8")
        return ""
    words = ["patch", "--no-backup-if-mismatch", "-p1"] if step.kind == "diff" else ["bash", "-ec", step.text]
    given = step.text if step.kind == "diff" else None
    ended = subprocess.run(words, cwd=folder, env=environment, input=given, capture_output=True, text=True, check=False)
    if ended.returncode:
        said = (ended.stdout + ended.stderr)[-2000:]
        raise TutorialError(f"{shlex.join(words[:2])} ended with code {ended.returncode}: {step.text}\n{said}")
    return "" if step.kind == "diff" else known(ended.stdout)


def known(output: str) -> str:
    """Output without what differs between versions, machines and terminals."""
    lines = HASH.sub("config ...", output).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines).strip("\n") + "\n" if output.strip() else ""


def agrees(shown: str, output: str) -> bool:
    """Whether the shown output, in which a line `...` is any number of lines, is this output."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch(r"(?:.*\n)*?".join(parts), output) is not None


def unsupported(text: str, outputs: Sequence[str]) -> list[str]:
    """Figures of the prose that no output, file or command of the tutorial has."""
    prose = FENCE.sub("", text)
    seen = _plain("\n".join([*outputs, *(step.text + step.output for step in steps(text))]))
    found = dict.fromkeys(_plain(each) for each in FIGURE.findall(prose))
    return [each for each in found if not re.search(rf"(?<![\d.]){re.escape(each)}", seen)]


def _plain(text: str) -> str:
    return re.sub(r"[\s,]+", "", text)


def environment_of(folder: Path) -> dict[str, str]:
    """The environment of the commands: a terminal of 100 columns, and a cache of preconditioned drives of their own."""
    commands = folder / ".bin"
    commands.mkdir()
    for name, module in (("interpulse", "-m interpulse"), ("python", "")):
        path = commands / name
        path.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {module} "$@"\n', encoding="utf-8")
        path.chmod(0o755)
    own = {"PATH": f"{commands}:{os.environ['PATH']}", "COLUMNS": "100", "TERM": "dumb", "LC_ALL": "C.UTF-8"}
    own["INTERPULSE_CACHE_DIR"] = str(folder / ".cache")
    if (folder / "Makefile").is_file():
        # A clone builds and runs its own package, in its own environment.
        return os.environ | own | {"PATH": f"{folder / '.venv' / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": ""}
    packages = os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")]))
    return os.environ | own | {"PYTHONPATH": packages}


def clone(folder: Path) -> None:
    """Copies the files of the repository, changes that are not committed included, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_file() or source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


def outputs_of(name: str, folder: Path) -> list[tuple[Step, str]]:
    """Runs a tutorial in an empty folder that has the examples; returns its commands with their output."""
    environment = environment_of(folder)
    if not (folder / "examples").exists():
        (folder / "examples").symlink_to(ROOT / "examples")
    page = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    taken = [(step, run(step, folder, environment)) for step in steps(page)]
    return [(step, output) for step, output in taken if step.kind == "console"]


def _shortened(step: Step, output: str) -> str:
    """The output with as many lines before and after `...` as are shown now."""
    parts = re.split(r"^\.\.\.\n", step.output, flags=re.MULTILINE)
    if len(parts) == 1:
        return output
    if len(parts) > 2:
        raise TutorialError(f"$ {step.text}\nprints\n{output}\nwhich the parts that are shown do not match: edit them")
    lines = output.splitlines(keepends=True)
    head, tail = (part.count("\n") for part in parts)
    return "".join([*lines[:head], "...\n", *lines[len(lines) - tail :]])


def rewritten(text: str, taken: Sequence[tuple[Step, str]]) -> str:
    """The page with the output of its commands.

    Raises:
        TutorialError: an output with several `...` differs, which takes a decision about what to show.
    """
    for step, output in taken:
        if agrees(step.output, output):
            continue
        shown = _shortened(step, output)
        text = text.replace(f"$ {step.text}\n{step.output}", f"$ {step.text}\n{shown}", 1)
    return text


def draw(name: str, folder: Path) -> None:
    """Stores the picture of a tutorial that ran in a folder."""
    if name in PICTURES:
        source, target = PICTURES[name]
        shutil.copyfile(folder / source, FOLDER / target)
        return
    from gallery import chart_of

    source, chart, target = CHARTS[name]
    (FOLDER / target).write_bytes(chart_of(folder / source, chart))


def main(arguments: Sequence[str]) -> None:
    """Runs tutorials and rewrites their output; with `--charts` also pictures that need a browser."""
    names = [each for each in arguments if each != "--charts"]
    for name in names or [each for each in tutorials() if each not in LONG]:
        page = FOLDER / f"{name}.md"
        with tempfile.TemporaryDirectory() as folder:
            if name in LONG:
                clone(Path(folder))
            taken = outputs_of(name, Path(folder))
            if name in PICTURES or "--charts" in arguments:
                draw(name, Path(folder))
        text = rewritten(page.read_text(encoding="utf-8"), taken)
        page.write_text(text, encoding="utf-8")
        for figure in unsupported(text, [output for _, output in taken]):
            print(f"{page.name}: no command prints {figure}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])

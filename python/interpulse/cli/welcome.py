"""Welcome screens of `interpulse` and `interpulse run` without arguments: purpose, first commands, documentation."""

from __future__ import annotations

from pathlib import Path

from interpulse._core import version as __version__
from interpulse.tables.layout import fill, terminal_width

_WHAT = (
    "simulates an SSD whose programs and erases are trains of pulses that can be stopped, read past and resumed, and "
    "shows the effect on the whole drive: read tail, write tail, throughput, endurance and power."
)

_TRY = {
    "interpulse scheme loop-boundary": "one die, pulse by pulse, with a read in between",
    "interpulse run {small}": "a drive without and with suspension, in seconds",
    "interpulse experiment suspend-tlc --quick": "a paper's figures beside ours, in half a minute",
}

_RUN = {
    "interpulse run {small}": "a small drive, two cases, in seconds",
    "interpulse show {small}": "all its settings, each with its source",
    "interpulse run {small} --set flow.0.depth=16 --report": "one setting changed, and a page with plots",
}

_DOCS = "Documentation: README.md of the repository, and docs/ with a page for each subject."


def screen() -> str:
    """The screen of `interpulse`."""
    more = "`interpulse --help` lists all commands and `interpulse COMMAND --help` the options of a command."
    return _screen(f"interpulse {__version__} {_WHAT}", _TRY, f"{more} {_DOCS}")


def run_screen() -> str:
    """The screen of `interpulse run`."""
    what = (
        "interpulse run CONFIG simulates the cases of a configuration, a TOML file that describes a drive, its load "
        "and the cases to compare. No CONFIG is given."
    )
    more = "`interpulse run --help` lists the options, docs/CONFIGURATION.md the keys and docs/RESULTS.md the figures."
    return _screen(what, _RUN, more)


def _screen(what: str, commands: dict[str, str], more: str) -> str:
    width = terminal_width()
    small = _small()
    pairs = [(command.format(small=small), does) for command, does in commands.items()]
    widest = max(len(command) for command, _ in pairs)
    if all(len(f"  {'':{widest}}  {does}") <= width for _, does in pairs):
        tries = [f"  {command:{widest}}  {does}" for command, does in pairs]
    else:
        # A line of its own keeps the command easy to copy.
        tries = [fill(f"  {command}\n    {does}", width) for command, does in pairs]
    return "\n\n".join([fill(what, width, hang=""), "\n".join(["Try:", *tries]), fill(more, width, hang="")])


def _small() -> str:
    """Path of the smallest example: relative in the repository's folder, else absolute if the file exists."""
    name = Path("examples") / "small.toml"
    there = Path(__file__).parents[3] / name
    return str(there if there.is_file() and not name.is_file() else name)

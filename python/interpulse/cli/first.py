"""What `interpulse` and `interpulse run` say to who types nothing else: what it is, what to try, where to read."""

from __future__ import annotations

from pathlib import Path

from interpulse._core import version as __version__
from interpulse.tables.layout import fill, terminal_width

_WHAT = (
    "simulates an SSD whose programs and erases are trains of pulses that can be stopped, read past and resumed, and "
    "tells what that is worth to the whole drive: the read tail, the write tail, throughput, endurance and power."
)

_TRY = {
    "interpulse scheme loop-boundary": "one die, pulse by pulse, and a read in between",
    "interpulse run {small}": "a drive without and with suspension, in seconds",
    "interpulse experiment suspend-tlc --quick": "a paper's figures beside ours, in half a minute",
}

_RUN = {
    "interpulse run {small}": "a small drive, two cases, in seconds",
    "interpulse show {small}": "every setting of it, and where it comes from",
    "interpulse run {small} --set flow.0.depth=16 --report": "one setting changed, and a page with plots",
}

_DOCS = "README.md of the repository is where to read on, and docs/ has a page on everything."


def screen() -> str:
    """What `interpulse` alone prints."""
    more = "`interpulse --help` lists all commands and `interpulse COMMAND --help` has the options of one."
    return _screen(f"interpulse {__version__} {_WHAT}", _TRY, f"{more} {_DOCS}")


def of_run() -> str:
    """What `interpulse run` alone prints."""
    what = (
        "interpulse run CONFIG simulates the cases of a configuration, a TOML file that describes a drive, its load "
        "and what is to be compared. There is no CONFIG here."
    )
    more = "`interpulse run --help` has the options, docs/CONFIGURATION.md the keys and docs/RESULTS.md the figures."
    return _screen(what, _RUN, more)


def _screen(what: str, commands: dict[str, str], more: str) -> str:
    width = terminal_width()
    small = _small()
    pairs = [(command.format(small=small), does) for command, does in commands.items()]
    widest = max(len(command) for command, _ in pairs)
    if all(len(f"  {'':{widest}}  {does}") <= width for _, does in pairs):
        tries = [f"  {command:{widest}}  {does}" for command, does in pairs]
    else:
        # What one copies stands on a line of its own.
        tries = [fill(f"  {command}\n    {does}", width) for command, does in pairs]
    return "\n\n".join([fill(what, width, hang=""), "\n".join(["Try:", *tries]), fill(more, width, hang="")])


def _small() -> str:
    """The smallest example: as one types it in the repository's folder, else where it lies if it does."""
    name = Path("examples") / "small.toml"
    there = Path(__file__).parents[3] / name
    return str(there if there.is_file() and not name.is_file() else name)

"""`interpulse state` command: shows, copies and ages the states that drives keep between sessions and runs."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated, Any

import typer

from interpulse._core import ConfigError, state_age, state_clone, state_show
from interpulse.cli.options import Json, Sets, path_argument, path_option
from interpulse.cli.output_streams import emit, say
from interpulse.files.backing import copy_sparse, free_backing
from interpulse.tables.format import size

EPILOG = """\
Examples:

  interpulse state show drive.img.state

  interpulse state age drive.img.state --cycles 1000 --retention 90d

  interpulse state clone drive.img.state copy.img.state --data

  interpulse run CONFIG --start-state drive.img.state

docs/STATE.md describes states."""

SUFFIX = ".state"
"""What the name of a state has after that of its backing file."""
MOST = 2**32 - 1

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]})


@app.callback(epilog=EPILOG)
def state() -> None:
    """Show, copy and age the state that a drive keeps between sessions and runs."""


StatePath = Annotated[Path, path_argument("FILE.state", "A file that `serve` or `run --save-state` has written.")]


@app.command(epilog=EPILOG)
def show(file: StatePath, json: Json = False) -> None:
    """Check a state and print what it is of, how full and worn the drive is, and what it has done."""
    text = state_show(file)
    emit(text if json else _table(json_text.loads(text)))


@app.command(epilog=EPILOG)
def clone(
    file: StatePath,
    to: Annotated[Path, path_argument("NEW.state", "The file to write.")],
    config: Annotated[
        Path | None, path_option("CONFIG", "Check that the drive of this configuration can start with it.")
    ] = None,
    sets: Sets = None,
    case: Annotated[str | None, typer.Option(metavar="NAME", help="The case of --config.")] = None,
    data: Annotated[
        bool, typer.Option("--data", help="Also copy the backing file, sparsely: FILE and NEW without .state.")
    ] = False,
) -> None:
    """Copy a state, with its data if wanted, also for another configuration of the same flash."""
    if to.exists() and to.samefile(file):
        raise ConfigError(f"{to}: the copy needs another file")
    text, name, overrides = None, "", list[tuple[str, str]]()
    if config is not None:
        from interpulse.configuration.config import load_with_sets

        text, name, overrides = load_with_sets(config, sets or []).utf8()
    elif sets or case:
        raise ConfigError("--set and --case are for the drive of --config: give it")
    with free_backing(file, SUFFIX), free_backing(to, SUFFIX):
        if data:
            copy_sparse(_backing(file), _backing(to))
        state_clone(file, to, text, name, overrides, case)
    say(f"wrote {to}" + (f" and {_backing(to)}" if data else ""))


@app.command(epilog=EPILOG)
def age(
    file: StatePath,
    cycles: Annotated[
        int, typer.Option(metavar="N", min=0, max=MOST, help="Program/erase cycles of every block, added to its own.")
    ] = 0,
    retention: Annotated[
        str, typer.Option(metavar="TIME", help="Age of all data, such as 90d, added to its own; for [errors].")
    ] = "0s",
    reads: Annotated[
        int, typer.Option(metavar="N", min=0, max=MOST, help="Page reads of every block, added to its own.")
    ] = 0,
    out: Annotated[Path | None, path_option("NEW.state", "Write another file.", "FILE.state")] = None,
) -> None:
    """Wear the drive of a state and let its data age, without simulation."""
    to = out or file
    with free_backing(to, SUFFIX):
        state_age(file, to, cycles, retention, reads)
    say(f"wrote {to}")


def _backing(state: Path) -> Path:
    if state.suffix != SUFFIX:
        raise ConfigError(
            f"{state}: seen a name without {SUFFIX}; --data needs the name of the backing file and {SUFFIX}"
        )
    return state.with_suffix("")


def _table(state: dict[str, Any]) -> str:
    """The state for people."""
    blocks, cycles, done, aged = state["super_blocks"], state["pe_cycles"], state["done"], state["aged"]
    full = state["mapped_bytes"] / state["capacity_bytes"]
    lines = [
        ("written by", f"interpulse {state['interpulse']}, configuration {state['config_hash']}"),
        ("capacity", size(state["capacity_bytes"])),
        ("data", f"{size(state['mapped_bytes'])} ({full:.1%})"),
        ("super blocks", f"{blocks['all']:,}: {blocks['free']:,} free, {blocks['open']:,} open"),
        ("P/E cycles", f"{cycles['min']:,} to {cycles['max']:,}, mean {cycles['mean']:,.1f}"),
    ]
    if age := state["age_ns"]:
        days = [age[of] / 86400e9 for of in ("min", "max", "mean")]
        lines.append(("ages of blocks", f"{days[0]:,.3f} to {days[1]:,.3f} days, mean {days[2]:,.3f}"))
        reads = state["block_reads"]
        lines.append(("reads of blocks", f"{reads['min']:,} to {reads['max']:,}, mean {reads['mean']:,.1f}"))
    else:
        lines.append(("ages of blocks", "none: the drive has no error table"))
    if any(aged.values()):
        retention = aged["retention_ns"] / 86400e9
        text = f"{aged['cycles']:,} cycles, {retention:,.3f} days, {aged['reads']:,} reads of every block"
        lines.append(("aged by", text))
    lines.append(("sessions and runs", f"{done['sessions']:,} in {done['time_ns'] / 1e9:,.3f} s of drive time"))
    if (factor := state["write_amplification"]) is not None:
        written = size(done["host_units"] * state["unit_bytes"])
        lines.append(("host writes", f"{written}, write amplification {factor:.3f}, {done['erases']:,} erases"))
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in lines)

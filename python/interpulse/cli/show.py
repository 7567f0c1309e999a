"""`interpulse show` command."""

from __future__ import annotations

from typing import Annotated

import typer

from interpulse._core import Plan
from interpulse.cli.options import ConfigPath, Json, Seed, Sets, Trace
from interpulse.cli.output_streams import emit
from interpulse.cli.trace_options import FlowKeys, flow_options
from interpulse.configuration.cases import positions
from interpulse.configuration.config import load_with_sets
from interpulse.tables.format import grid
from interpulse.tables.layout import fill, terminal_width

EPILOG = """\
Examples:

  interpulse show examples/quickstart.toml

  interpulse show examples/quickstart.toml --case suspend-10

  COLUMNS=300 interpulse show examples/quickstart.toml --set ftl.gc=fifo | grep ftl

Lines have the width of the terminal or of COLUMNS: with many columns every setting is one line."""


@flow_options
def show(
    config: ConfigPath,
    sets: Sets = None,
    trace: Trace = None,
    *,
    trace_keys: FlowKeys,
    seed: Seed = None,
    case: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of several cases, show this one.", show_default="the first"),
    ] = None,
    json: Json = False,
) -> None:
    """Print the fully resolved configuration, with the source of each figure.

    One row per setting: the key for `--set`, the value, and its source: a line of the file, an override, a preset with
    its publication, or the default.
    """
    plan = load_with_sets(config, sets or [], trace_keys).resolve(trace=trace, seed=seed)
    if case is not None:
        plan = plan.only(positions(plan.case_names, [case]))
    emit(resolved_json(plan) if json else _table(plan))


def resolved_json(plan: Plan, *, indent: int | None = None) -> str:
    """The resolved configuration as one JSON object: `config_hash`, `cases`, `entries` of key, value, origin, doc."""
    import json

    entries = [
        {"key": entry.key, "value": entry.value, "origin": entry.origin, "doc": entry.doc} for entry in plan.entries()
    ]
    shown = {"config_hash": plan.config_hash, "cases": plan.case_names, "entries": entries}
    return json.dumps(shown, indent=indent, ensure_ascii=False)


def _table(plan: Plan) -> str:
    rows = ((entry.key, entry.value, entry.origin) for entry in plan.entries())
    table = grid(rows, ("setting", "value", "source"), whole=("setting",))
    first, *others = plan.case_names
    head = f"config {plan.config_hash} of case {first}"
    if others:
        head += f"; --case NAME shows another: {', '.join(others)}"
    return f"{fill(head, terminal_width())}\n\n{table}"

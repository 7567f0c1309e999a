"""`interpulse trace` command: trace statistics, and synthetic twins of traces that are not public."""

from __future__ import annotations

import json as json_text
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

import interpulse._core as _core
from interpulse.cli.options import Json, path_argument, path_option
from interpulse.cli.output_streams import emit
from interpulse.cli.trace_options import (
    FlowKeys,
    Format,
    OfLateRows,
    Reorder,
    SkipBadRows,
    TimeUnit,
    WritesAre,
    layout_options,
)
from interpulse.cli.trace_tools import TOOLS
from interpulse.tables.format import grid, size
from interpulse.tables.layout import fill, terminal_width

EPILOG = """\
Examples:

  interpulse trace disk.csv.zst

  interpulse trace stats disk.txt --time-unit us --json

  interpulse trace own.csv --columns time,op,offset,size --address-unit 512B

  interpulse trace twin msr-hm-0 --out hm_0.csv.zst --requests 100000

  interpulse trace row msr-hm-0

  interpulse trace convert disk.csv.zst --out disk.mqsim

  interpulse trace merge sda.blktrace.* --to blkparse --out sda.txt.zst

A configuration runs a twin without a file: `twin = "msr-hm-0"` in a flow. docs/TWINS.md defines every figure."""

SHOWN_SIZES = 8
"""Most frequent sizes listed per kind."""


class Measuring(TyperGroup):
    """Command group with `stats` as the default command for files."""

    def parse_args(self, ctx: object, args: list[str]) -> list[str]:
        """Parses `args`, after inserting `stats` if they name a file and no command."""
        if not any(arg in self.commands for arg in args) and any(_is_file_name(arg) for arg in args):
            args = ["stats", *args]
        return super().parse_args(cast("Any", ctx), args)


def _is_file_name(text: str) -> bool:
    return not text.startswith("-") and ("." in text or "/" in text or Path(text).exists())


app = typer.Typer(
    cls=Measuring,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


Row = Annotated[
    str, typer.Argument(metavar="ROW", help="A name of `interpulse list twins`, or a file that ends in .toml.")
]
Requests = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=2,
        help="Scale the row to N requests: volumes scale, shares and means do not change.",
        show_default="the row's own",
    ),
]


@app.callback(epilog=EPILOG)
def trace() -> None:
    """Measure, convert, cut, scale, merge and anonymise block traces, and write twins of traces that are not public.

    Without a command, FILE is measured.
    """


@app.command("stats")
@layout_options
def stats(
    file: Annotated[Path, path_argument("FILE", "A block trace: plain, .gz or .zst.")],
    trace_format: Format = None,
    time_unit: TimeUnit = None,
    writes_are: WritesAre = None,
    *,
    layout: FlowKeys,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Measure only this device, such as 8,16 of blkparse, hm_0 or 3.",
            show_default="all; of stacked devices the lowest",
        ),
    ] = None,
    reorder: OfLateRows = Reorder.ERROR,
    skip_bad_rows: SkipBadRows = False,
    json: Json = False,
) -> None:
    """Measure a trace: requests, sizes, volumes, rewrites and their locality, gaps and their burstiness.

    All figures are exact, over every row. docs/TWINS.md defines them.
    """
    text = _core.trace_statistics(
        file,
        "auto" if trace_format is None else trace_format,
        time_unit,
        writes_are,
        reorder.value,
        skip_bad_rows,
        device,
        layout,
    )
    emit(text if json else _stats_table(json_text.loads(text)))


for tool in TOOLS:
    app.command(tool.__name__)(tool)


@app.command("twin")
def twin(
    row: Row,
    out: Annotated[
        Path,
        path_option(
            "FILE", "The trace to write: MSR CSV, or by its suffix (.spc, .mqsim, ...; .gz and .zst compress it)."
        ),
    ],
    seed: Annotated[int, typer.Option(metavar="N", min=0, max=2**64 - 1, help="The seed of the order.")] = 1,
    requests: Requests = None,
    json: Json = False,
) -> None:
    """Write a trace with the statistics of a row, within 2 per cent each.

    A run's first flow with this twin and seed issues the same requests. A row that no trace can match is rejected.
    """
    text = _core.write_twin(row, requests, seed, out)
    if json:
        emit(text)
        return
    made = json_text.loads(text)
    head = fill(f"{made['trace']}: {made['requests']:,} requests, {made['format']}", terminal_width())
    emit(f"{head}\n\n{grid(_figures(made))}")


@app.command("row")
def row_(row: Row, requests: Requests = None, json: Json = False) -> None:
    """Show the required statistics of a row, and the source of each figure."""
    text = _core.twin_row(row, requests)
    if json:
        emit(text)
        return
    found = json_text.loads(text)
    parts = [grid(_figures(found))]
    if "entries" in found:
        parts.append(grid((e["key"], e["value"], e["source"]) for e in found["entries"]))
    emit("\n\n".join(parts))


def _stats_table(found: Mapping[str, Any]) -> str:
    head = (
        f"{found['trace']}: {found['format']}, {found['packing']}, {found['devices']:,} device(s)\n{found['assumed']}"
    )
    if found["bad_rows"]:
        shown = "; ".join(found["first_bad_rows"])
        head += f"\n{found['bad_rows']:,} bad row(s) skipped: {shown}"
    if found.get("stacked_rows"):
        head += f"\n{found['stacked_rows']:,} request(s) of stacked devices omitted"
    if found.get("unselected_rows"):
        head += f"\n{found['unselected_rows']:,} request(s) of other devices omitted"
    if found["other_rows"]:
        head += f"\n{found['other_rows']:,} row(s) other than requests omitted"
    if found["late_rows"]:
        head += f"\n{found['late_rows']:,} row(s) with an earlier time moved to the previous time"
    parts = [fill(head, terminal_width()), grid(_figures(found))]
    parts += [grid(_sizes(kind, found[f"{kind}_sizes"])) for kind in ("read", "write") if found[f"{kind}_sizes"]]
    return "\n\n".join(parts)


def _figures(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Labels and texts of the present figures."""
    return [
        (label, shown(found[name]))
        for label, (name, shown) in _SHOWN.items()
        if name in found and not (name in _IF_ANY and not found[name])
    ]


def _share(share: float) -> str:
    return f"{100 * share:.2f} %"


def _kib(count: float) -> str:
    return f"{count / 1024:.2f} KiB"


def _volume(count: float) -> str:
    return size(round(count))


_SHOWN: dict[str, tuple[str, Callable[[Any], str]]] = {
    "requests": ("requests", "{:,}".format),
    "writes": ("write_share", _share),
    "mean read": ("mean_read_bytes", _kib),
    "mean write": ("mean_write_bytes", _kib),
    "read": ("read_bytes", _volume),
    "written": ("written_bytes", _volume),
    "unique written (512 B)": ("unique_written_bytes", _volume),
    "rewritten, of the written volume": ("rewritten_share", _share),
    "updates, of the writes of 4 KiB pages": ("update_share", _share),
    "updates on the busiest 20 % of the written pages": ("update_skew", _share),
    "discards": ("discards", "{:,}".format),
    "discarded": ("discarded_bytes", _volume),
    "mean discard": ("mean_discard_bytes", _kib),
    "flushes": ("flushes", "{:,}".format),
    "flushes of writes": ("flushes_of_writes", "{:,}".format),
    "pauses": ("waits", "{:,}".format),
    "span": ("span_s", "{:,.3f} s".format),
    "mean gap": ("mean_gap_ms", "{:,.4g} ms".format),
    "requests per second": ("mean_gap_ms", lambda gap: f"{1000 / gap:,.0f}" if gap else "-"),
    "squared variation of the gaps": ("gap_scv", "{:.3f}".format),
    "gaps below 1.5 ms": ("burst_share", _share),
}

_IF_ANY = {"discards", "discarded_bytes", "flushes", "flushes_of_writes", "waits"}
"""Figures that are shown only above zero."""


def _sizes(kind: str, sizes: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The most frequent sizes of a kind, ascending, and the total of the other sizes."""
    most = sorted(sizes, key=lambda each: (-each["requests"], each["bytes"]))[:SHOWN_SIZES]
    rows = [(f"{kind}s of {size(each['bytes'])}", _share(each["share"])) for each in most]
    rest = len(sizes) - len(most)
    if rest:
        left = 1 - sum(each["share"] for each in most)
        rows.append((f"{kind}s of {rest:,} other size(s)", _share(left)))
    return rows

"""Options for the layout of a trace, shared by `interpulse run`, `show` and `trace stats`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

import typer

from interpulse.cli.options import with_options

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="NAME",
        help="The format of the trace; see `interpulse list formats`.",
        show_default="detected from the rows",
    ),
]
TimeUnit = Annotated[
    str | None,
    typer.Option(
        metavar="UNIT", help="The unit of its times: ns, 100ns, us, ms or s.", show_default="inferred from the file"
    ),
]
WritesAre = Annotated[
    int | None, typer.Option(metavar="0|1", min=0, max=1, help="Type code of a write, for --format ascii.")
]


class Reorder(StrEnum):
    """Handling of times that go back."""

    ERROR = "error"
    CLAMP = "clamp"


OfLateRows = Annotated[
    Reorder, typer.Option(help="A row earlier than the previous row: an error, or moved to the time of that row.")
]
SkipBadRows = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Count and report bad rows instead of stopping at the first.")
]
AddressUnit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE", help="The unit of its addresses: 1B, 512B, 4KiB, ...", show_default="the unit of the format"
    ),
]
SizeUnit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="The unit of its sizes.",
        show_default="--address-unit where the format has one unit for both",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="For --format columns: time, op, offset, size, device or skip for each column, such as "
        "time,offset,size,op.",
        show_default="the heading of the file",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="For --format columns: comma, tab, semicolon, pipe or spaces.",
        show_default="the one that the rows have",
    ),
]
HeaderRows = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=0,
        max=1000,
        help="For --format columns: lines at the start that hold no rows. Headings without numbers need none.",
        show_default="0",
    ),
]
Operation = Annotated[
    str | None,
    typer.Option(
        metavar="OP",
        help="For formats without a column for it: the operation of every row.",
        show_default="the column op",
    ),
]
ReadWords = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="For --format columns: the words of the column op for reads.",
        show_default="r, read, get, ...",
    ),
]
WriteWords = Annotated[
    str | None,
    typer.Option(
        metavar="LIST",
        help="For --format columns: the words of the column op for writes.",
        show_default="w, write, put, ...",
    ),
]


_LAYOUT: dict[str, tuple[Any, Any]] = {
    "address_unit": (AddressUnit, None),
    "size_unit": (SizeUnit, None),
    "columns": (Columns, None),
    "separator": (Separator, None),
    "header_rows": (HeaderRows, None),
    "operation": (Operation, None),
    "read_words": (ReadWords, None),
    "write_words": (WriteWords, None),
}

_LISTS = ("columns", "read_words", "write_words")
"""Options with a list of words."""

FlowKeys: TypeAlias = list[tuple[str, str]]
"""Keys of a flow that replays a trace, with their values in TOML."""


def _layout_keys(given: Mapping[str, Any]) -> FlowKeys:
    def value(name: str) -> object:
        return [word.strip() for word in given[name].split(",")] if name in _LISTS else given[name]

    return [
        (name.replace("_", "-"), json.dumps(value(name), ensure_ascii=False))
        for name in _LAYOUT
        if given[name] is not None
    ]


def _flow_keys(given: Mapping[str, Any]) -> FlowKeys:
    """All keys: `columns` and its keys imply the format of this name."""
    layout, trace_format = _layout_keys(given), given["trace_format"]
    if trace_format is None and any(key not in ("address-unit", "size-unit") for key, _ in layout):
        trace_format = "columns"
    named = [("format", trace_format), ("time-unit", given["time_unit"])]
    return layout + [(key, json.dumps(value)) for key, value in named if value is not None]


layout_options = with_options(_LAYOUT, "layout", _layout_keys)
"""Decorator that adds the options for the layout of a trace to a command, passed as `layout`: `FlowKeys`."""

flow_options = with_options(
    {"trace_format": (Format, None), "time_unit": (TimeUnit, None), **_LAYOUT}, "trace_keys", _flow_keys
)
"""Decorator that adds these, format and time unit to a command, passed as `trace_keys`: `FlowKeys`."""

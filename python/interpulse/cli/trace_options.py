"""Options for the layout of a trace, shared by `interpulse run`, `show` and `trace stats`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

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
        help="For --format columns: the operation of every row, for a file that does not give it.",
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


def layout_keys(
    *,
    address_unit: str | None,
    size_unit: str | None,
    columns: str | None,
    separator: str | None,
    header_rows: int | None,
    operation: str | None,
    read_words: str | None,
    write_words: str | None,
) -> list[tuple[str, str]]:
    """Keys of a flow for the given options, with their values in TOML."""

    def listed(text: str | None) -> str | None:
        return None if text is None else json.dumps([word.strip() for word in text.split(",")], ensure_ascii=False)

    def quoted(text: str | None) -> str | None:
        return None if text is None else json.dumps(text, ensure_ascii=False)

    found = {
        "address-unit": quoted(address_unit),
        "size-unit": quoted(size_unit),
        "columns": listed(columns),
        "separator": quoted(separator),
        "header-rows": None if header_rows is None else str(header_rows),
        "operation": quoted(operation),
        "read-words": listed(read_words),
        "write-words": listed(write_words),
    }
    return [(key, value) for key, value in found.items() if value is not None]


def flow_keys(trace_format: str | None, time_unit: str | None, layout: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Keys of a replaying flow: `columns` and its keys imply the format of this name."""
    units = {"address-unit", "size-unit"}
    if trace_format is None and any(key not in units for key, _ in layout):
        trace_format = "columns"
    named = [("format", trace_format), ("time-unit", time_unit)]
    return layout + [(key, json.dumps(value)) for key, value in named if value is not None]

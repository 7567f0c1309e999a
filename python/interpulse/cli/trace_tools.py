"""`interpulse trace convert`, `cut`, `scale`, `merge` and `anonymise`: traces rewritten as traces."""

from __future__ import annotations

import json as json_text
import secrets
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import interpulse._core as _core
from interpulse.cli.options import Json, path_argument, path_option, with_options
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
from interpulse.cli.trace_progress import TraceProgress
from interpulse.files.paths import read_text
from interpulse.tables.layout import fill, terminal_width

if TYPE_CHECKING:
    from collections.abc import Mapping


class Treatment(StrEnum):
    """Treatment of a kind of rows."""

    REPLAY = "replay"
    SKIP = "skip"


class Fit(StrEnum):
    """Mapping of addresses onto a capacity."""

    SCALE = "scale"
    FOLD = "fold"


class Times(StrEnum):
    """Meaning of the times of several traces."""

    RECORDED = "recorded"
    START = "start"


class Devices(StrEnum):
    """Identity of the devices of several traces."""

    KEEP = "keep"
    SEPARATE = "separate"
    CONCATENATE = "concatenate"


_MOST_KEY_BYTES = 2**20

File = Annotated[Path, path_argument("FILE", "A block trace: plain, .gz or .zst.")]
Out = Annotated[
    Path,
    path_option("FILE", "The trace to write; .gz and .zst compress it. It is replaced only when it is complete."),
]

_OUTPUT: dict[str, tuple[Any, Any]] = {
    "to": (
        Annotated[
            str | None,
            typer.Option(
                metavar="NAME",
                help="The format to write; see `interpulse list formats`.",
                show_default="the suffix of --out, or the format of the (first) input",
            ),
        ],
        None,
    ),
    "discards": (
        Annotated[Treatment, typer.Option(help="Write discards, or leave them out.")],
        Treatment.REPLAY,
    ),
    "flushes": (Annotated[Treatment, typer.Option(help="Write flushes, or leave them out.")], Treatment.REPLAY),
}
_READING: dict[str, tuple[Any, Any]] = {
    "trace_format": (Format, None),
    "time_unit": (TimeUnit, None),
    "writes_are": (WritesAre, None),
    "reorder": (OfLateRows, Reorder.ERROR),
    "skip_bad_rows": (SkipBadRows, False),
}

_rewriting = with_options({**_OUTPUT, **_READING}, "common", dict)


def rewriting(command: Any) -> Any:  # noqa: ANN401 - commands of all signatures
    """Adds the options of input and output to a command, passed as `layout` and `common`."""
    return layout_options(_rewriting(command))


def _rewrite(
    files: list[Path],
    out: Path,
    common: Mapping[str, Any],
    layout: FlowKeys,
    own: Mapping[str, object],
    *,
    json: bool,
) -> None:
    """Rewrites `files` into `out` and prints what was done."""
    settings = {**{name: common[name] for name in _OUTPUT}, **own}
    with TraceProgress(out.name) as shown:
        text = _core.trace_rewrite(
            files,
            out,
            [(name.replace("_", "-"), _toml(value)) for name, value in settings.items() if value not in (None, [])],
            common["trace_format"] or "auto",
            common["time_unit"],
            common["writes_are"],
            common["reorder"].value,
            common["skip_bad_rows"],
            layout,
            shown.report,
        )
    if json:
        emit(text)
        return
    done = json_text.loads(text)
    lines = [
        (
            f"{done['trace']}: {done['rows_written']:,} rows as {done['format']}, {done['devices']:,} device(s); "
            f"{done['rows_read']:,} requests read as {', '.join(dict.fromkeys(done['read_as']))}"
        ),
        *dict.fromkeys(done["assumed"]),
        *done["notes"],
    ]
    emit("\n".join(fill(line, terminal_width()) for line in lines))


def _toml(value: object) -> str:
    # JSON has other names for infinity and NaN than TOML.
    return repr(value) if isinstance(value, float) else json_text.dumps(value, ensure_ascii=False)


@rewriting
def convert(file: File, out: Out, *, common: dict[str, Any], layout: FlowKeys, json: Json = False) -> None:
    """Convert a trace to another format or compression.

    Every row is read back and compared. What the format cannot hold is refused, or counted where it is only rounded.
    """
    _rewrite([file], out, common, layout, {}, json=json)


@rewriting
def cut(
    file: File,
    out: Out,
    *,
    start: Annotated[
        str | None, typer.Option(metavar="TIME", help="First time kept, such as 90s, from the first request.")
    ] = None,
    end: Annotated[str | None, typer.Option(metavar="TIME", help="First time that is no longer kept.")] = None,
    first_row: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="First request kept, counted from 1.")
    ] = None,
    last_row: Annotated[int | None, typer.Option(metavar="N", min=1, help="Last request kept.")] = None,
    device: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A device that is kept, such as 8,16 or hm_0; may be repeated."),
    ] = None,
    common: dict[str, Any],
    layout: FlowKeys,
    json: Json = False,
) -> None:
    """Cut a range of times or requests, or devices, out of a trace."""
    own = {"start": start, "end": end, "first_row": first_row, "last_row": last_row, "device": device}
    if not any(own.values()):
        raise typer.BadParameter(
            "nothing to cut; give --start, --end, --first-row, --last-row or --device", param_hint="cut"
        )
    _rewrite([file], out, common, layout, own, json=json)


@rewriting
def scale(
    file: File,
    out: Out,
    *,
    speed: Annotated[float | None, typer.Option(metavar="FACTOR", help="Divide the times: 2 is twice as fast.")] = None,
    iops: Annotated[
        float | None,
        typer.Option(metavar="N", help="Mean rate in requests per second. A trace without times gets even gaps."),
    ] = None,
    capacity: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Map the addresses onto this capacity, such as 64GiB.")
    ] = None,
    fit: Annotated[
        Fit,
        typer.Option(help="Map the occupied range linearly, aligned to 4 KiB, or take addresses modulo the capacity."),
    ] = Fit.SCALE,
    common: dict[str, Any],
    layout: FlowKeys,
    json: Json = False,
) -> None:
    """Scale the rate or the footprint of a trace.

    With --capacity several devices are placed side by side on one.
    """
    if speed is None and iops is None and capacity is None:
        raise typer.BadParameter("nothing to scale; give --speed, --iops or --capacity", param_hint="scale")
    joined = {"devices": Devices.CONCATENATE} if capacity is not None else {}
    own = {"speed": speed, "iops": iops, "capacity": capacity, "fit": fit, **joined}
    _rewrite([file], out, common, layout, own, json=json)


@rewriting
def merge(
    files: Annotated[list[Path], path_argument("FILES", "Block traces, such as the files of blktrace of each CPU.")],
    out: Out,
    *,
    times: Annotated[
        Times, typer.Option(help="The recorded times have a common origin, or every trace begins at the same time.")
    ] = Times.RECORDED,
    devices: Annotated[
        Devices,
        typer.Option(
            help="Devices of equal name are one; or every device of every file is one of its own; or all are side by "
            "side on one."
        ),
    ] = Devices.KEEP,
    common: dict[str, Any],
    layout: FlowKeys,
    json: Json = False,
) -> None:
    """Merge traces in order of time. Requests at equal times keep the order of the files."""
    _rewrite(files, out, common, layout, {"times": times, "devices": devices}, json=json)


@rewriting
def anonymise(
    file: File,
    out: Out,
    *,
    key: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="The secret of the permutation; the same secret gives the same addresses.",
            show_default="random, and forgotten",
        ),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file with the secret, which the list of processes does not show. A final line end does not count.",
        ),
    ] = None,
    device_capacity: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Permute this whole capacity of each device, so that several files get the same addresses.",
            show_default="up to the last address of the file",
        ),
    ] = None,
    extent: Annotated[
        str, typer.Option(metavar="SIZE", help="Addresses within an extent of this size stay in order.")
    ] = "1MiB",
    common: dict[str, Any],
    layout: FlowKeys,
    json: Json = False,
) -> None:
    """Permute the addresses of a trace by a secret key, and remove its dates and the names of its devices.

    Operations, sizes and gaps are kept; so are repeated and sequential addresses within an extent.
    docs/TRACE-TOOLS.md says what that discloses.
    """
    own = {"key": _secret(key, key_file), "extent": extent, "device_capacity": device_capacity}
    _rewrite([file], out, common, layout, own, json=json)


def _secret(key: str | None, key_file: Path | None) -> str:
    if key is not None and key_file is not None:
        raise typer.BadParameter("either --key or --key-file", param_hint="--key-file")
    if key_file is None:
        return secrets.token_hex(16) if key is None else key
    secret = read_text(key_file, "the key", _MOST_KEY_BYTES).removesuffix("\n").removesuffix("\r")
    if not secret:
        raise typer.BadParameter(f"{key_file} holds no secret", param_hint="--key-file")
    return secret


TOOLS = (convert, cut, scale, merge, anonymise)
"""Commands of this file."""

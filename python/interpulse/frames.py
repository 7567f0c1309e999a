"""Results as Arrow tables and Polars frames; the libraries are loaded only when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import polars
    import pyarrow


def to_arrow(rows: Iterable[dict[str, Any]], measures: Sequence[str], made: Mapping[str, str]) -> pyarrow.Table:
    """See `Result.to_arrow`; `made` says how the rows came about."""
    import pyarrow

    schema = pyarrow.schema(
        [
            pyarrow.field("case", pyarrow.string(), nullable=False),
            pyarrow.field("flow", pyarrow.string()),
            pyarrow.field("kind", pyarrow.string(), nullable=False),
            pyarrow.field("count", pyarrow.int64(), nullable=False),
            pyarrow.field("iops", pyarrow.float64()),
            *(pyarrow.field(f"{measure}_us", pyarrow.float64()) for measure in measures),
        ],
        metadata=made,
    )
    return pyarrow.Table.from_pylist(list(rows), schema=schema)


def to_polars(table: pyarrow.Table) -> polars.DataFrame:
    """See `Result.to_polars`."""
    import polars

    frame = polars.from_arrow(table)
    assert isinstance(frame, polars.DataFrame)
    return frame

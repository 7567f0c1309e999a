"""Results as Arrow tables and Polars frames; the libraries are loaded only when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interpulse.result import KINDS, PERCENTILES, Result, kind_iops

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars
    import pyarrow

_MEASURES = ("mean", *PERCENTILES.values())


def to_arrow(result: Result, *, flows: bool) -> pyarrow.Table:
    """See `Result.to_arrow`."""
    import pyarrow

    schema = pyarrow.schema(
        [
            pyarrow.field("case", pyarrow.string(), nullable=False),
            pyarrow.field("flow", pyarrow.string()),
            pyarrow.field("kind", pyarrow.string(), nullable=False),
            pyarrow.field("count", pyarrow.int64(), nullable=False),
            pyarrow.field("iops", pyarrow.float64()),
            *(pyarrow.field(f"{measure}_us", pyarrow.float64()) for measure in _MEASURES),
        ],
        metadata={"config_hash": result.config_hash, "seed": str(result.seed)},
    )
    return pyarrow.Table.from_pylist(list(_rows(result, flows=flows)), schema=schema)


def to_polars(result: Result, *, flows: bool) -> polars.DataFrame:
    """See `Result.to_polars`."""
    import polars

    frame = polars.from_arrow(to_arrow(result, flows=flows))
    assert isinstance(frame, polars.DataFrame)
    return frame


def _rows(result: Result, *, flows: bool) -> Iterator[dict[str, Any]]:
    for case in result.cases:
        groups: list[tuple[str | None, Mapping[str, Any]]] = [(None, case.raw)]
        if flows:
            groups = [(flow["name"], flow) for flow in case.flows]
        for flow, group in groups:
            for kind in KINDS:
                summary = group.get("latency_us", {}).get(kind, {})
                row = {"case": case.case, "flow": flow, "kind": kind, "count": summary.get("count", 0)}
                row |= {"iops": kind_iops(group, kind)}
                yield row | {f"{measure}_us": summary.get(measure) for measure in _MEASURES}

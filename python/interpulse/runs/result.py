"""Results: one object per case, read from the JSON that docs/result.schema.json describes."""

from __future__ import annotations

from interpulse.files.json_reader import parsed
from interpulse.runs.latency import KINDS, kind_iops, latency
from interpulse.tables.format import number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    import polars
    import pyarrow

    from interpulse.runs.latency import Kind

PERCENTILES: dict[float, str] = {
    50.0: "p50",
    90.0: "p90",
    99.0: "p99",
    99.9: "p99.9",
    99.99: "p99.99",
    99.999: "p99.999",
    100.0: "max",
}
"""The percentiles that a result holds and their keys in `latency_us`."""

_NEAR = 1e-5
"""Tolerance of a percentile's number."""

_MEASURES = ("mean", *PERCENTILES.values())

_HEADING = {"schema_version": int, "case": str, "seed": int, "config_hash": str}
"""Keys of every result, also of a failed case."""


class Result:
    """Result of one case of a run.

    Latencies are in microseconds, times of the simulated drive in seconds of its clock. A figure that does not exist
    (the percentile of no requests, the write amplification of a run without writes) is absent, never NaN or zero.
    `raw` holds everything; the attributes below are the parts that are read most.
    """

    def __init__(self, raw: Mapping[str, Any], *, notes: Sequence[str] = ()) -> None:
        self._raw = dict(raw)
        self._notes = list(notes)
        self._cases: list[Result] | None = None

    @classmethod
    def from_json(cls, text: str, *, notes: Sequence[str] = ()) -> Result:
        """Reads a result, such as the `result.json` of an earlier run.

        Raises:
            ValueError: the text is not JSON, or not a result.
        """
        try:
            raw = parsed(text)
        except RecursionError:
            raise ValueError("a result is a JSON object; this text is nested too deeply") from None
        if not isinstance(raw, dict):
            raise ValueError(f"a result is a JSON object, not {type(raw).__name__}")
        for key, kind in _HEADING.items():
            if not isinstance(raw.get(key), kind):
                seen = repr(raw[key]) if key in raw else "none"
                raise ValueError(
                    f"no result of interpulse: seen {key} = {seen}; expected {kind.__name__} (docs/RESULTS.md)"
                )
        return cls(raw, notes=notes)

    @property
    def raw(self) -> dict[str, Any]:
        """The whole result as parsed JSON; docs/RESULTS.md explains every key."""
        return self._raw

    @property
    def notes(self) -> list[str]:
        """Notes of the run, such as the path and size of a snapshot that it wrote."""
        return self._notes

    @property
    def case(self) -> str:
        """The name of the case."""
        return str(self._raw["case"])

    @property
    def seed(self) -> int:
        """The seed of every random stream of the run."""
        return int(self._raw["seed"])

    @property
    def config_hash(self) -> str:
        """The hash of the resolved configuration, in hexadecimal."""
        return str(self._raw["config_hash"])

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before its end, so that figures are partial or absent."""
        return bool(self._raw.get("interrupted", False))

    @property
    def iops(self) -> float:
        """Completed host requests per simulated second. Raises KeyError when an interrupted run has none."""
        return float(self._raw["iops"])

    @property
    def latency_us(self) -> dict[str, dict[str, float]]:
        """Latency by kind (`read`, `write`, `all`): `count`, and unless that is 0, `mean`, `p50` to `p99.999`, `max`.

        In microseconds, from submission to completion. Empty when an interrupted run has none.
        """
        return dict(self._raw.get("latency_us", {}))

    def percentile(self, kind: Kind, percent: float) -> float:
        """The latency in microseconds that `percent` % of the requests of a kind stayed at or below.

        Args:
            kind: `read`, `write` or `all`.
            percent: 50, 90, 99, 99.9, 99.99, 99.999 or 100 (the maximum).

        Raises:
            ValueError: the result does not hold this percentile, or no such request completed.
        """
        # A percentile of single precision, 99.9 of NumPy for one, is the nearest.
        near, key = min(PERCENTILES.items(), key=lambda each: abs(each[0] - float(percent)))
        if not abs(near - float(percent)) <= _NEAR:
            raise ValueError(f"no percentile {percent}: a result holds {', '.join(f'{p:g}' for p in PERCENTILES)}")
        summary = self.latency_us.get(kind, {})
        if key not in summary:
            raise ValueError(f"no {kind} request completed in case '{self.case}'")
        return summary[key]

    @property
    def tail_blame(self) -> dict[str, dict[str, Any]]:
        """Why the slowest reads were slow, for `p99`, `p99.9` and `p99.99`.

        Each has `above_us` (the threshold), `reads` (how many were slower), `mean_us` and `shares`, the share of each
        cause in their latency. A tail of less than one read is absent.
        """
        return dict(self._raw.get("tail_blame", {}))

    @property
    def flows(self) -> list[dict[str, Any]]:
        """The same statistics per flow: `name`, `host_requests`, `iops`, `latency_us`."""
        return list(self._raw.get("flows", []))

    @property
    def counters(self) -> dict[str, dict[str, int]]:
        """Every declared counter, by group and name; docs/RESULTS.md says where units and meanings are listed."""
        return dict(self._raw.get("counters", {}))

    @property
    def cases(self) -> list[Result]:
        """Every compared case, this one first; a run of one case gives a list of one."""
        if self._cases is None:
            several = self._raw.get("cases")
            self._cases = [Result(raw, notes=self._notes) for raw in several] if several else [self]
        return self._cases

    def to_json(self, *, indent: int | None = None) -> str:
        """The result as JSON text, equal to what `interpulse run --json` prints except for white space."""
        import json

        return json.dumps(self._raw, indent=indent, ensure_ascii=False)

    def to_arrow(self, *, flows: bool = False) -> pyarrow.Table:
        """Latency and throughput of every case as an Arrow table.

        Args:
            flows: one group of rows per flow instead of one per case.

        Returns:
            A row per case (and flow) and kind. Columns: `case`, `flow` (null for the whole case), `kind`, `count`,
            `iops`, then `mean_us`, `p50_us`, ..., `max_us`, null where no request completed.

        Raises:
            ImportError: pyarrow is not installed (`pip install 'interpulse[frames]'`).
        """
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
            metadata={"config_hash": self.config_hash, "seed": str(self.seed)},
        )
        return pyarrow.Table.from_pylist(list(self._rows(flows=flows)), schema=schema)

    def to_polars(self, *, flows: bool = False) -> polars.DataFrame:
        """The table of `to_arrow` as a Polars frame.

        Raises:
            ImportError: polars or pyarrow is not installed (`pip install 'interpulse[frames]'`).
        """
        import polars

        frame = polars.from_arrow(self.to_arrow(flows=flows))
        assert isinstance(frame, polars.DataFrame)
        return frame

    def _rows(self, *, flows: bool) -> Iterator[dict[str, Any]]:
        for case in self.cases:
            groups: list[tuple[str | None, Mapping[str, Any]]] = [(None, case.raw)]
            if flows:
                groups = [(flow["name"], flow) for flow in case.flows]
            for flow, group in groups:
                for kind in KINDS:
                    summary = group.get("latency_us", {}).get(kind, {})
                    row = {"case": case.case, "flow": flow, "kind": kind, "count": summary.get("count", 0)}
                    row |= {"iops": kind_iops(group, kind)}
                    yield row | {f"{measure}_us": summary.get(measure) for measure in _MEASURES}

    def __repr__(self) -> str:
        lines = [f"{case.raw.get('case', '?')}: {_said(case)}" for case in self.cases]
        seed = f", seed {self._raw['seed']}" if "seed" in self._raw else ""
        if len(lines) == 1:
            return f"Result({lines[0]}{seed})"
        return "\n".join([f"Result of {len(lines)} cases{seed}", *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        """HTML for notebooks: requests per second and latency in microseconds of every case."""
        import html

        lost = [f"{case.raw.get('case', '?')}: {_said(case)}" for case in self.cases if "iops" not in case.raw]
        below = "".join(f"<p>{html.escape(line)}</p>" for line in lost)
        return latency([case.raw for case in self.cases]).html() + below


def _said(result: Result) -> str:
    """The case in a few words."""
    if "error" in result.raw:
        return f"failed: {result.raw['error']}"
    if "iops" not in result.raw:
        return "stopped before anything was measured"
    tails = [
        f"{kind} p99 {number(result.latency_us[kind]['p99'])} us"
        for kind in ("read", "write")
        if "p99" in result.latency_us.get(kind, {})
    ]
    parts = [f"{result.iops:,.0f} IOPS", *tails, *["interrupted"] * result.interrupted]
    return ", ".join(parts)

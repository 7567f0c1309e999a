"""Results of runs, read from the JSON that docs/result.schema.json describes."""

from __future__ import annotations

from interpulse.files.json_reader import parsed
from interpulse.runs.document import document, flat_cases, problem
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


class Result:
    """Result of a run: its attributes are those of the first case and seed, `cases` and `seeds` lead to the others.

    Latencies are in microseconds, times of the simulated drive in seconds of its clock. A figure that does not exist
    (the percentile of no requests, the write amplification of a run without writes) is absent, never NaN or zero.
    `raw` holds everything about the case; the attributes below are the parts that are read most.
    """

    def __init__(self, raw: Mapping[str, Any], *, notes: Sequence[str] = ()) -> None:
        """`raw`: a document of `run --json`, of version 1 or 2, or the `raw` of another result."""
        self._flat = flat_cases(raw)
        self._file: str | None = raw.get("config_file")
        self._notes = list(notes)
        self._cases: list[Result] | None = None

    @classmethod
    def _part(cls, flat: list[list[dict[str, Any]]], file: str | None, notes: Sequence[str]) -> Result:
        found = cls({}, notes=notes)
        found._flat, found._file = flat, file
        return found

    @classmethod
    def of_seeds(cls, results: Sequence[Result]) -> Result:
        """One result of several that differ in their seeds and have the same cases."""
        first, *others = (result.document for result in results)
        by_name = {case["case"]: case["seeds"] for case in first["cases"]}
        for other in others:
            for case in other["cases"]:
                by_name[case["case"]].extend(case["seeds"])
        return cls(first, notes=results[0].notes)

    @classmethod
    def from_json(cls, text: str, *, notes: Sequence[str] = ()) -> Result:
        """Reads a result, such as the `result.json` of an earlier run, of `schema_version` 1 or 2.

        Raises:
            ValueError: the text is not JSON, or not a result.
        """
        try:
            raw = parsed(text)
        except RecursionError:
            raise ValueError("a result is a JSON object; this text is nested too deeply") from None
        what = problem(raw)
        if what is not None:
            raise ValueError(f"no result of interpulse: {what}")
        return cls(raw, notes=notes)

    @property
    def raw(self) -> dict[str, Any]:
        """Everything about the first case and seed; docs/RESULTS.md explains every key.

        The keys of a seed in the document, beside `schema_version`, `version` and `case`.
        """
        return self._flat[0][0]

    @property
    def document(self) -> dict[str, Any]:
        """The whole result as `interpulse run --json` prints it: every case with its seeds."""
        return document(self._flat, self._file)

    @property
    def notes(self) -> list[str]:
        """Notes of the run, such as the path and size of a snapshot that it wrote."""
        return self._notes

    @property
    def case(self) -> str:
        """The name of the case."""
        return str(self.raw["case"])

    @property
    def seed(self) -> int:
        """The seed of every random stream of the run."""
        return int(self.raw["seed"])

    @property
    def config_hash(self) -> str:
        """The hash of the resolved configuration, in hexadecimal."""
        return str(self.raw["config_hash"])

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped before its end, so that figures are partial or absent."""
        return any(seed.get("interrupted", False) for seeds in self._flat for seed in seeds)

    @property
    def iops(self) -> float:
        """Completed host requests per simulated second. Raises KeyError when an interrupted run has none."""
        return float(self.raw["iops"])

    @property
    def latency_us(self) -> dict[str, dict[str, float]]:
        """Latency by kind (`read`, `write`, `all`): `count`, and unless that is 0, `mean`, `p50` to `p99.999`, `max`.

        In microseconds, from submission to completion. Empty when an interrupted run has none.
        """
        return dict(self.raw.get("latency_us", {}))

    def percentile(self, kind: Kind, percent: float) -> float:
        """The latency in microseconds that `percent` % of the requests of a kind stayed at or below.

        Args:
            kind: `read`, `write` or `all`.
            percent: 50, 90, 99, 99.9, 99.99, 99.999 or 100 (the maximum).

        Raises:
            ValueError: there is no such kind or percentile, or no such request completed.
        """
        if kind not in KINDS:
            raise ValueError(f"no kind of requests {kind!r}; expected one of {', '.join(KINDS)}")
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
        return dict(self.raw.get("tail_blame", {}))

    @property
    def flows(self) -> list[dict[str, Any]]:
        """The same statistics per flow: `name`, `host_requests`, `iops`, `latency_us`."""
        return list(self.raw.get("flows", []))

    @property
    def counters(self) -> dict[str, dict[str, int]]:
        """Every declared counter, by group and name; docs/RESULTS.md says where units and meanings are listed."""
        return dict(self.raw.get("counters", {}))

    @property
    def cases(self) -> list[Result]:
        """Every compared case, this one first; a run of one case gives a list of one."""
        if self._cases is None:
            parts = [Result._part([seeds], self._file, self._notes) for seeds in self._flat]
            self._cases = parts if len(parts) > 1 else [self]
        return self._cases

    @property
    def seeds(self) -> list[Result]:
        """One result for each seed, with all cases; a run of one seed gives a list of one."""
        count = max(len(seeds) for seeds in self._flat)
        if count == 1:
            return [self]
        parts = ([[seeds[k]] for seeds in self._flat if k < len(seeds)] for k in range(count))
        return [Result._part(part, self._file, self._notes) for part in parts]

    def to_json(self, *, indent: int | None = None) -> str:
        """The result as JSON text, equal to what `interpulse run --json` prints except for white space."""
        import json

        return json.dumps(self.document, indent=indent, ensure_ascii=False)

    def to_arrow(self, *, flows: bool = False) -> pyarrow.Table:
        """Latency and throughput of every case as an Arrow table.

        Args:
            flows: one group of rows per flow instead of one per case.

        Returns:
            A row per case, seed (and flow) and kind. Columns: `case`, `seed`, `flow` (null for the whole case), `kind`,
            `count`, `iops`, then `mean_us`, `p50_us`, ..., `max_us`, null where no request completed.

        Raises:
            ImportError: pyarrow is not installed (extra `frames`: `interpulse doctor`).
        """
        import pyarrow

        schema = pyarrow.schema(
            [
                pyarrow.field("case", pyarrow.string(), nullable=False),
                pyarrow.field("seed", pyarrow.uint64(), nullable=False),
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
            ImportError: polars or pyarrow is not installed (extra `frames`: `interpulse doctor`).
        """
        import polars

        frame = polars.from_arrow(self.to_arrow(flows=flows))
        assert isinstance(frame, polars.DataFrame)
        return frame

    def _rows(self, *, flows: bool) -> Iterator[dict[str, Any]]:
        for case in (seed for each in self.cases for seed in each.seeds):
            groups: list[tuple[str | None, Mapping[str, Any]]] = [(None, case.raw)]
            if flows:
                groups = [(flow["name"], flow) for flow in case.flows]
            for flow, group in groups:
                for kind in KINDS:
                    summary = group.get("latency_us", {}).get(kind, {})
                    row = {"case": case.case, "seed": case.seed, "flow": flow, "kind": kind}
                    row |= {"count": summary.get("count", 0), "iops": kind_iops(group, kind)}
                    yield row | {f"{measure}_us": summary.get(measure) for measure in _MEASURES}

    def __repr__(self) -> str:
        several = len(self.seeds) > 1
        lines = [
            f"{case.raw.get('case', '?')}{f', seed {case.seed}' if several else ''}: {_said(case)}"
            for each in self.cases
            for case in each.seeds
        ]
        seed = f", seed {self.raw['seed']}" if "seed" in self.raw and not several else ""
        if len(lines) == 1:
            return f"Result({lines[0]}{seed})"
        return "\n".join([f"Result of {len(self.cases)} cases{seed}", *(f"  {line}" for line in lines)])

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

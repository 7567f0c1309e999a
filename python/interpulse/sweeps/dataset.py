"""Dataset of a sweep: rows and their Parquet file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interpulse._core import ConfigError
from interpulse.files.atomic_file import whole_file
from interpulse.runs.result import PERCENTILES
from interpulse.sweeps.expression import all_hold
from interpulse.sweeps.points import Simulation
from interpulse.sweeps.spec import Spec

if TYPE_CHECKING:
    import pyarrow

NAME = "results.parquet"

MEASURES = {"mean": "mean", **{name: name.replace(".", "_") for name in PERCENTILES.values()}}
"""Latency measures with their column names: `p99.9` is `p99_9`."""

FIGURES: dict[str, str] = {
    "simulated_s": "simulated_s",
    "host_requests": "host_requests",
    "iops": "iops",
    **{
        f"{kind}_{name}{'' if measure == 'count' else '_us'}": f"latency_us.{kind}.{measure}"
        for kind in ("read", "write", "all")
        for measure, name in {"count": "count", **MEASURES}.items()
    },
    "waf": "ftl.waf",
    "gc_runs": "ftl.gc_runs",
    "erases": "ftl.erases",
    "program_suspends": "nand.suspends.program",
    "erase_suspends": "nand.suspends.erase",
    "power_mw": "power.mean_mw.total",
    "uj_per_request": "power.per_request_uj.total",
    "steady": "steady.verdict",
    "offered_iops": "steady.load.offered_per_s",
    "served_iops": "steady.load.served_per_s",
}
"""Figures of every dataset: the column, and the path in a result (docs/RESULTS.md)."""

_WHOLE = {"point", "repetition", "host_requests", "gc_runs", "erases", "program_suspends", "erase_suspends",
          "read_count", "write_count", "all_count"}  # fmt: skip


def figure(raw: Mapping[str, Any], path: str) -> int | float | bool | str | None:
    """The figure at a path, or None; keys may contain dots, as in percentiles."""
    found: Any = raw
    parts = path.split(".")
    while parts:
        if isinstance(found, list):
            index = parts.pop(0)
            found = found[int(index)] if index.isdigit() and int(index) < len(found) else None
            continue
        if not isinstance(found, dict):
            return None
        # The longest matching key: `p99.9` before `p99`.
        for length in range(len(parts), 0, -1):
            key = ".".join(parts[:length])
            if key in found:
                found, parts = found[key], parts[length:]
                break
        else:
            return None
    if isinstance(found, float) and not math.isfinite(found):
        return None
    return found if isinstance(found, int | float | str) else None


def columns(spec: Spec) -> list[str]:
    """The columns of a sweep, in order. Raises ConfigError for a duplicate name."""
    parts = ["point", *spec.names, "repetition", "seed", "status", *FIGURES, *spec.columns, *spec.derived]
    if spec.constraints:
        parts += [*(f"meets_{name}" for name in spec.constraints), "feasible"]
    parts += ["error", "key"]
    for name in parts:
        if parts.count(name) > 1:
            place = spec.places.get(name, spec.path)
            raise ConfigError(f"{place}: seen the column {name} twice; it has to have another name")
    return parts


def check_expressions(spec: Spec) -> None:
    """Checks that expressions use existing columns: derived columns those above, constraints all.

    Raises:
        ConfigError: an unknown column.
    """
    every = columns(spec)
    known = [name for name in every if name not in spec.derived and not name.startswith("meets_")]
    known = [name for name in known if name not in ("feasible", "error", "key")]
    for name, expression in spec.derived.items():
        expression.check(known, f"{spec.places[name]}: derived.{name}")
        known.append(name)
    for name, expression in spec.constraints.items():
        expression.check(known, f"{spec.places[name]}: constraints.{name}")


def row(spec: Spec, simulation: Simulation, key: str | None, answer: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a simulation from its answer: `raw`, a result, or `error`."""
    point = simulation.point
    made: dict[str, Any] = {"point": point.number, **point.columns}
    made |= {"repetition": simulation.repetition, "seed": simulation.seed}
    error = answer.get("error")
    made |= {"status": "failed" if error else "done", "error": error and error["message"], "key": key}
    raw = answer.get("raw", {})
    made |= {name: figure(raw, path) for name, path in (FIGURES | dict(spec.columns)).items()}
    for name, expression in spec.derived.items():
        made[name] = expression.value(made)
    if spec.constraints:
        met = {name: expression.value(made) for name, expression in spec.constraints.items()}
        made |= {f"meets_{name}": None if value is None else bool(value) for name, value in met.items()}
        made["feasible"] = all_hold(spec.constraints.values(), made)
    return made


def table(spec: Spec, rows: Sequence[Mapping[str, Any]], about: Mapping[str, str]) -> pyarrow.Table:
    """Rows as an Arrow table with types inferred from the values."""
    import pyarrow

    names = columns(spec)
    fields, arrays = [], []
    for name in names:
        values = [each.get(name) for each in rows]
        kind = _kind(name, values)
        if kind == pyarrow.string():
            values = [each if each is None or isinstance(each, str) else _text(each) for each in values]
        elif kind == pyarrow.float64():
            values = [None if each is None else float(each) for each in values]
        fields.append(pyarrow.field(name, kind))
        arrays.append(pyarrow.array(values, kind))
    return pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields, metadata=dict(about)))


def _kind(name: str, values: Iterable[Any]) -> pyarrow.DataType:
    import pyarrow

    there = {type(each) for each in values if each is not None}
    if name == "seed":
        return pyarrow.uint64()
    if name in _WHOLE:
        return pyarrow.int64()
    if name in ("status", "error", "key", "steady"):
        return pyarrow.string()
    if name == "feasible" or name.startswith("meets_") or there == {bool}:
        return pyarrow.bool_()
    if there == {int}:
        return pyarrow.int64()
    # A column without values holds missing figures.
    return pyarrow.float64() if there <= {int, float} else pyarrow.string()


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(_text, value)) if isinstance(value, list) else str(value)


def write(folder: Path, content: pyarrow.Table) -> Path:
    """Writes the dataset atomically. Raises OSError if that fails."""
    import pyarrow.parquet

    with whole_file(folder / NAME) as file:
        pyarrow.parquet.write_table(content, file, compression="zstd")
    return folder / NAME

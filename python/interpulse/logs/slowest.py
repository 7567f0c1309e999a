"""Slowest reads and writes, selected from the rows of all requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interpulse.logs.columns import Rows

KINDS = ("read", "write")
"""Request kinds, in output order."""

FIRST = ("number", "arrival_ns", "latency_ns", "flow", "kind", "address_bytes", "size_bytes", "status")
"""Columns before the causes."""


class SlowestRequests:
    """Keeps the slowest so many requests of each kind."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}

    def take(self, rows: Rows) -> None:
        """Looks at rows of the log of requests, which come in the order of their numbers."""
        import numpy as np

        latency, kind = rows.columns["latency_ns"].numbers(), rows.columns["kind"]
        for name in KINDS:
            kept = self._kept[name]
            bound = kept[-1]["latency_ns"] if len(kept) == self._most else -1
            # Of equal ones the earlier counts, and those that are kept are earlier.
            (found,) = np.nonzero((latency > bound) & (kind.numbers() == kind.names.index(name)))
            if len(found) > self._most:
                # A stable order of the slowest first keeps the earliest of equal ones.
                found = found[np.argsort(-latency[found], kind="stable")[: self._most]]
            kept += (_row(rows, int(place)) for place in found)
            kept.sort(key=lambda row: (-row["latency_ns"], row["number"]))
            del kept[self._most :]

    def rows(self) -> list[dict[str, Any]]:
        """The slowest reads, then the slowest writes; of each kind the slowest first."""
        return [row for kind in KINDS for row in self._kept[kind]]


def named(rows: Rows) -> Sequence[str]:
    """The columns in output order, the causes last."""
    return [*FIRST, *(name for name in rows.columns if name not in FIRST)]


def _row(rows: Rows, place: int) -> dict[str, Any]:
    values = ((name, rows.columns[name], rows.columns[name].numbers()[place]) for name in named(rows))
    return {name: of.names[value] if of.kind == "names" else int(value) for name, of, value in values}

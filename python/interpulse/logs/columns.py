"""Rows from the core as NumPy arrays and Arrow tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import pyarrow

NOTHING = -(2**63)
"""Placeholder for no value in a column of whole numbers."""

FULL = ("requests",)
"""Tables in which every value is one."""

RawRows: TypeAlias = "tuple[int, str, int, list[tuple[str, str, bytes, list[str]]]]"
"""Case, table, number of rows; of each column name, type, bytes, names: as `Handle.take_rows` gives them."""


@dataclass(frozen=True)
class Column:
    """One column of a chunk."""

    kind: str
    content: bytes
    names: list[str]

    def numbers(self) -> np.ndarray[Any, Any]:
        """The values as they lie in memory."""
        import numpy as np

        return np.frombuffer(self.content, dtype={"whole": "<i8", "real": "<f8", "names": "<i4"}[self.kind])

    def values(self) -> list[Any]:
        """The values as Python has them, None for nothing."""
        found = self.numbers().tolist()
        if self.kind == "names":
            return [None if place < 0 else self.names[place] for place in found]
        return [None if value == NOTHING or value != value else value for value in found]

    def array(self, *, full: bool) -> pyarrow.Array:
        """The values for Arrow: integers, floats, or a dictionary of names; null for nothing, if it is not `full`."""
        import pyarrow

        numbers = self.numbers()
        if self.kind == "names":
            places = pyarrow.array(numbers, mask=None if full else numbers < 0)
            return pyarrow.DictionaryArray.from_arrays(places, pyarrow.array(self.names, pyarrow.string()))
        if full:
            return pyarrow.array(numbers)
        nothing = numbers == NOTHING if self.kind == "whole" else numbers != numbers
        return pyarrow.array(numbers, mask=nothing) if nothing.any() else pyarrow.array(numbers)


@dataclass(frozen=True)
class Rows:
    """Rows of one table of one case."""

    case: int
    table: str
    count: int
    columns: dict[str, Column]

    @classmethod
    def of(cls, raw: RawRows) -> Rows:
        """From a tuple of the core."""
        case, table, count, columns = raw
        return cls(case, table, count, {name: Column(kind, content, names) for name, kind, content, names in columns})

    def first(self, name: str) -> int:
        """The value of the first row in a column of whole numbers."""
        return int(self.columns[name].numbers()[0])

    def values(self, *names: str) -> list[tuple[Any, ...]]:
        """The rows of these columns."""
        return list(zip(*(self.columns[name].values() for name in names), strict=True))

    def every(self, nth: int) -> Rows:
        """One row in so many, by `number`."""
        if nth == 1:
            return self
        kept = self.columns["number"].numbers() % nth == 0
        columns = {name: Column(of.kind, of.numbers()[kept].tobytes(), of.names) for name, of in self.columns.items()}
        return Rows(self.case, self.table, int(kept.sum()), columns)

    def arrow(self) -> pyarrow.Table:
        """All rows."""
        import pyarrow

        full = self.table in FULL
        arrays = {name: column.array(full=full) for name, column in self.columns.items()}
        fields = [pyarrow.field(name, array.type, nullable=not full) for name, array in arrays.items()]
        return pyarrow.table(list(arrays.values()), schema=pyarrow.schema(fields))

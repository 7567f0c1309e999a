"""Log files: written during a run under a temporary name, kept even when the disk fills up."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from interpulse.files.atomic_file import temporary, whole_file
from interpulse.logs.columns import Rows

if TYPE_CHECKING:
    import pyarrow

RESERVE = 1 << 20
"""Bytes that stay free on the disk, for the ends of files and for the result."""

ROWS_TOGETHER = 1 << 17
"""Rows of a row group of Parquet, at least: what readers like, and what memory takes."""


class FullError(Exception):
    """The disk has no room for more rows."""


class Growing(Protocol):
    """A file that takes rows."""

    name: str
    rows: int

    def take(self, rows: Rows) -> None:
        """Writes rows; raises `FullError` where they have no room, OSError where they cannot be written."""

    def close(self, about: dict[str, str]) -> bool:
        """Gives the file its name, unless nothing is in it; `about` says what is. Returns whether there is a file."""


class _Place:
    """A file under a name of its own until it is whole."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.stream, self._temporary = temporary(folder)

    def needs(self, size: int) -> None:
        """Raises `FullError` where the disk has not so many bytes and the reserve."""
        self.stream.flush()
        if shutil.disk_usage(self.folder).free < size + RESERVE:
            raise FullError

    def rename(self) -> None:
        """The file is whole."""
        try:
            self.stream.flush()
            os.fsync(self.stream.fileno())
            self.stream.close()
            self._temporary.replace(self.folder / self.name)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """There is no such file."""
        self._temporary.unlink(missing_ok=True)
        # What it has not written goes nowhere.
        with suppress(OSError):
            self.stream.close()


class ParquetFile:
    """Rows as Parquet."""

    def __init__(self, folder: Path, name: str) -> None:
        self._place = _Place(folder, name)
        self.name, self.rows = name, 0
        self._writer: Any = None
        self._waiting: list[pyarrow.Table] = []

    def take(self, rows: Rows) -> None:
        """Writes rows, a row group at a time."""
        table = rows.arrow()
        # Room is asked for as if nothing were compressed: the row group that is being written must not be torn.
        self._place.needs(table.nbytes + sum(each.nbytes for each in self._waiting))
        self._waiting.append(table)
        self.rows += rows.count
        if sum(each.num_rows for each in self._waiting) >= ROWS_TOGETHER:
            self._write()

    def _write(self) -> None:
        import pyarrow
        from pyarrow import parquet

        if not self._waiting:
            return
        table = pyarrow.concat_tables(self._waiting, promote_options="permissive").unify_dictionaries()
        self._waiting = []
        if self._writer is None:
            self._writer = parquet.ParquetWriter(
                self._place.stream,
                table.schema,
                compression="zstd",
                compression_level=1,
                use_dictionary=[f.name for f in table.schema if pyarrow.types.is_dictionary(f.type)],
                # Whole numbers are near their neighbours or mostly zero.
                column_encoding={f.name: "DELTA_BINARY_PACKED" for f in table.schema if f.type == pyarrow.int64()},
            )
        self._writer.write_table(table.cast(self._writer.schema), row_group_size=table.num_rows or None)

    def close(self, about: dict[str, str]) -> bool:
        """Ends the file with its metadata."""
        try:
            self._write()
            if self._writer is None:
                self._place.discard()
                return False
            self._writer.add_key_value_metadata({f"interpulse.{key}": value for key, value in about.items()})
            self._writer.close()
        except BaseException:
            self._place.discard()
            raise
        self._place.rename()
        return True


class FioFile:
    """Rows as lines of text."""

    def __init__(self, folder: Path, name: str) -> None:
        self._place = _Place(folder, name)
        self.name, self.rows = name, 0

    def take(self, rows: Rows) -> None:
        """Writes lines."""
        text = rows.columns["line"].content
        self._place.needs(len(text))
        self._place.stream.write(text)
        self.rows += rows.count

    def close(self, about: dict[str, str]) -> bool:  # noqa: ARG002 - fio's format has no place for it
        """Gives the file its name."""
        self._place.rename()
        return True


def store(folder: Path, name: str, content: bytes) -> str:
    """Writes one file, whole or not at all; returns its name. Raises OSError where that cannot be done."""
    with whole_file(folder / name) as file:
        file.write(content)
    return name

"""What `interpulse experiment` and `interpulse characterize` share."""

from __future__ import annotations

import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from interpulse.cli.text import emit, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@contextmanager
def sigterm_as_ctrl_c() -> Iterator[None]:
    """Lets a polite request to end, as `timeout` and batch systems send it, keep what is done as Ctrl-C does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def show_entries(what: str, columns: Sequence[str], entries: Sequence[object], *, json: bool) -> None:
    """Prints a registry: a table of these attributes, or a JSON object with a list called `what`."""
    import json as json_text

    rows = [{column: getattr(each, column) for column in columns} for each in entries]
    if json:
        emit(json_text.dumps({what: rows}, ensure_ascii=False))
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column == "name")
    for row in rows:
        table.add_row(*row.values())
    emit(plain(table))


def say(line: str) -> None:
    """Prints a line on standard error."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201

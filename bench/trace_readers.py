"""CPU time of reading and of converting a trace of 1 M rows, by format.

.venv/bin/python bench/trace_readers.py [ROWS]
"""

from __future__ import annotations

import json
import random
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from interpulse import _core

if TYPE_CHECKING:
    from collections.abc import Callable

NOT_WRITTEN = ("auto", "ascii", "oraclegeneral")
"""Formats that no command writes."""
OBJECTS: list[tuple[str, str]] = [("operation", '"read"'), ("address-unit", '"512B"')]
"""What the records of `oraclegeneral` do not hold."""


def main() -> None:
    """Prints a row for each format."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        source, at = Path(folder, "source.mqsim"), 0
        with source.open("w") as file:
            for _ in range(rows):
                at += 1000 * draw.randrange(1, 20)
                address, size = 8 * draw.randrange(1 << 21), 8 << draw.randrange(6)
                file.write(f"{at} 0 {address} {size} {draw.randrange(2)}\n")
        print(f"{rows:,} rows, seconds of CPU time\n{'format':14} {'write':>7} {'measure':>8} {'to mqsim':>9}")
        for row in json.loads(_core.lists())["formats"]:
            if row["name"] not in NOT_WRITTEN:
                _format(row["name"], source, Path(folder))
        _objects(rows, Path(folder))


def _format(name: str, source: Path, folder: Path) -> None:
    there, back = folder / "there", folder / "back"
    read, unit = ("auto", "us") if name == "columns" else (name, None)
    to, out = json.dumps(name), json.dumps("fio-v2" if name == "fio-v2" else "mqsim")
    seconds = [
        _time(lambda: _core.trace_rewrite([source], there, [("to", to)], "mqsim", None, None, "error", False)),
        _time(lambda: _core.trace_statistics(there, read, unit, None, "error", False)),
        _time(lambda: _core.trace_rewrite([there], back, [("to", out)], read, unit, None, "error", False)),
    ]
    print(f"{name:14} {seconds[0]:7.2f} {seconds[1]:8.2f} {seconds[2]:9.2f}")


def _objects(rows: int, folder: Path) -> None:
    there, back, draw = folder / "there", folder / "back", random.Random(1)
    records = (struct.pack("<IQIq", row // 1000, draw.randrange(1 << 21), 4096, row + 1) for row in range(rows))
    there.write_bytes(b"".join(records))
    name, out = "oraclegeneral", [("to", '"mqsim"')]
    seconds = [
        _time(lambda: _core.trace_statistics(there, name, None, None, "error", False, None, OBJECTS)),
        _time(lambda: _core.trace_rewrite([there], back, out, name, None, None, "error", False, OBJECTS)),
    ]
    print(f"{name:14} {'':7} {seconds[0]:8.2f} {seconds[1]:9.2f}")


def _time(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


if __name__ == "__main__":
    main()

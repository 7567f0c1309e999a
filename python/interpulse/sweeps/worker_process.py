"""Local worker process: `python -m interpulse.sweeps.worker_process DESCRIPTOR`; it ends with its driver."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any


def main() -> None:
    """Runs the functions that arrive on the connection until its other end closes: the driver has ended in any way."""
    connection = Connection(int(sys.argv[1]))
    os.set_inheritable(connection.fileno(), False)
    # Ctrl-C in a terminal goes to the driver, which ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    calls: SimpleQueue[tuple[Any, Any]] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, calls), daemon=True).start()
    while True:
        function, argument = calls.get()
        try:
            answer = function(argument)
        except Exception as error:  # noqa: BLE001 - the driver judges it
            answer = RuntimeError(f"{type(error).__name__}: {error}")
        connection.send(answer)


def _receive(connection: Connection, calls: SimpleQueue[tuple[Any, Any]]) -> None:
    # A simulation may run: only a thread of its own sees the end of the driver at once.
    with suppress(EOFError, OSError):
        while True:
            calls.put(connection.recv())
    # Finished simulations are in the store, and no driver is left for the others.
    os._exit(0)


if __name__ == "__main__":
    main()

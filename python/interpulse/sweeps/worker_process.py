"""Local worker process: `python -m interpulse.sweeps.worker_process SCHEDULER`; it ends with its driver."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import threading


def main() -> None:
    """Works for a scheduler until standard input closes, that is, until the driver ends in any way."""
    address, name, limit, folder = sys.argv[1:5]
    # Ctrl-C in a terminal goes to the driver, which ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_driver, args=(folder,), daemon=True).start()
    asyncio.run(_work(address, name, int(limit), folder))


def _end_with_driver(folder: str) -> None:
    while os.read(0, 4096):
        pass
    # A killed driver cannot remove its folder.
    shutil.rmtree(folder, ignore_errors=True)
    # Finished simulations are in the store, and no driver is left for the others.
    os._exit(0)


async def _work(address: str, name: str, limit: int, folder: str) -> None:
    from distributed import Worker

    # Without a host a worker listens on all interfaces, and whoever connects can run code.
    worker = Worker(
        address,
        name=name,
        nthreads=1,
        memory_limit=limit or None,
        local_directory=folder,
        dashboard=False,
        host="127.0.0.1",
    )
    async with worker:
        await worker.finished()


if __name__ == "__main__":
    main()

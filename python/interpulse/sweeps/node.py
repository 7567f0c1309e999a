"""A worker process of this machine: `python -m interpulse.sweeps.node SCHEDULER`. It ends when its driver does."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import threading


def main() -> None:
    """Works for a scheduler until standard input ends, which is when the driver does, however it ends."""
    address, name, limit, folder = sys.argv[1:5]
    # Ctrl-C in a terminal goes to the driver, which ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_driver, args=(folder,), daemon=True).start()
    asyncio.run(_work(address, name, int(limit), folder))


def _end_with_driver(folder: str) -> None:
    while os.read(0, 4096):
        pass
    # The driver's own, who may have been killed.
    shutil.rmtree(folder, ignore_errors=True)
    # Nothing is lost: what has ended is in the store, and what runs could not be told to anybody.
    os._exit(0)


async def _work(address: str, name: str, limit: int, folder: str) -> None:
    from distributed import Worker

    worker = Worker(address, name=name, nthreads=1, memory_limit=limit or None, local_directory=folder, dashboard=False)
    async with worker:
        await worker.finished()


if __name__ == "__main__":
    main()

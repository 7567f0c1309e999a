"""CPU time of embedded devices: the C interface beside the Rust one, and Python in batches and one by one."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from interpulse import Device

ROOT = Path(__file__).parent.parent
CONFIG = {"drive": "a4-mini", "part": {"blocks-per-plane": 24}}
REQUESTS = 200_000
ROUNDS = 5


def batches(op: str, size: int) -> float:
    """CPU time in s of this many reads or writes, in batches whose instants are as fast as the drive serves them."""
    device = Device(CONFIG)
    rng = np.random.default_rng(1)
    offsets = 4096 * rng.integers(device.capacity // 4096, size=REQUESTS)
    step = 20_000 if op == "read" else 200_000
    ats = step * np.arange(1, REQUESTS + 1)
    before = time.process_time()
    taken = 0
    for first in range(0, REQUESTS, size):
        device.submit_batch(ats[first : first + size], op, offsets[first : first + size], 4096)
        device.advance_to(int(ats[min(first + size, REQUESTS) - 1]))
        taken += len(device.poll().tag)
    while device.advance_to_completion():
        taken += len(device.poll().tag)
    spent = time.process_time() - before
    assert taken == REQUESTS
    return spent


def one_by_one() -> float:
    """CPU time in s of reads, one outstanding at a time."""
    device = Device(CONFIG)
    count = REQUESTS // 10
    before = time.process_time()
    for k in range(count):
        device.submit(device.now_ns, "read", 4096 * (k % 1000), 4096)
        device.advance_to_completion()
        device.pop()
    return 10 * (time.process_time() - before)


def main() -> None:
    """Prints the least of several rounds of each."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "interpulse-capi", "--example", "overhead"]
    print(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout, end="")
    rows: list[tuple[str, Callable[[], float]]] = [
        ("Python, reads in batches of 10,000", partial(batches, "read", 10_000)),
        ("Python, reads in batches of 100", partial(batches, "read", 100)),
        ("Python, writes in batches of 10,000", partial(batches, "write", 10_000)),
        ("Python, reads one by one", one_by_one),
    ]
    for name, measured in rows:
        least = min(measured() for _ in range(ROUNDS))
        print(f"{name}: {REQUESTS / least / 1e6:.2f} M requests per s of CPU time")


if __name__ == "__main__":
    main()

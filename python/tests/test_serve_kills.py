"""Is everything that a client made durable there after a kill of the server, and no block a mix or foreign data?

Each block of the writer is one stamp, its place and the number of its write, again and again, so that a part of another
write, of another block or of another program is found. Beside it fio rewrites blocks with checksums.
"""

from __future__ import annotations

import os
import random
import signal
import struct
import subprocess
import time
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

import pytest

from tests.nbd_server import PATIENCE, Client, client, serving

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = 4096
BLOCKS = 1000
"""Blocks of the writer; those of fio follow."""
FIO_MIB = 4
READ, WRITE, FLUSH, TRIM, FUA = 0, 1, 3, 4, 1
MOST_START_S = float("inf") if os.environ.get("INTERPULSE_VERIFY") is None else 5.0
"""Seconds that a start may take; speed is judged in `make verify` alone."""


def stamped(block: int, number: int) -> bytes:
    """A block of write `number`; zeroes for number 0, which is a trim."""
    return struct.pack(">QQ", block, number) * (BLOCK // 16) if number else bytes(BLOCK)


class Written:
    """Numbers of the writes that each block may hold: the durable one, and those sent after it."""

    def __init__(self) -> None:
        self.legal = {block: {0} for block in range(BLOCKS)}
        self.last = dict.fromkeys(range(BLOCKS), 0)
        self.number = 0
        self.durable = 0

    def send(self, blocks: range, *, trim: bool = False) -> int:
        """A write of these blocks is sent; its number."""
        self.number += 1
        for block in blocks:
            self.last[block] = 0 if trim else self.number
            self.legal[block].add(self.last[block])
        return self.number

    def make_durable(self, blocks: range) -> None:
        """The last write of these blocks, which was acknowledged, is durable."""
        for block in blocks:
            self.durable += self.legal[block] != {self.last[block]}
            self.legal[block] = {self.last[block]}

    def check(self, folder: Path) -> None:
        """Reads all blocks: each holds one legal write as a whole; from now on that one."""
        with Client(folder) as reader:
            for block, legal in self.legal.items():
                data = reader.request(READ, block * BLOCK, BLOCK)
                found = [number for number in legal if data == stamped(block, number)]
                assert found, f"block {block} has {data[:32].hex()}...; legal: {sorted(legal)}"
                self.legal[block], self.last[block] = set(found), found[0]


def write_until_killed(folder: Path, pid: int, draw: random.Random, written: Written) -> None:
    """Writes, trims and flushes until a kill at a random moment."""
    end = draw.randrange(20, 200)
    with Client(folder) as writer, suppress(ConnectionResetError, BrokenPipeError):
        for step in count():
            if step == end:
                os.kill(pid, signal.SIGKILL)
            blocks = range(first := draw.randrange(BLOCKS - 4), first + draw.choice((1, 1, 4)))
            trims, fua = step % 11 == 5, step % 3 == 0
            number = written.send(blocks, trim=trims)
            data = b"" if trims else b"".join(stamped(block, number) for block in blocks)
            length = BLOCK * len(blocks)
            writer.request(TRIM if trims else WRITE, first * BLOCK, length, data, flags=FUA if fua else 0)
            if fua:
                written.make_durable(blocks)
            elif step % 9 == 1:
                writer.request(FLUSH, 0, 0)
                written.make_durable(range(BLOCKS))


def fio(uri: str, mode: str, *more: str) -> list[str]:
    """Command line of a job over the blocks of fio."""
    place = (f"--offset={BLOCKS * BLOCK}", f"--size={FIO_MIB}M", "--bs=4k", "--verify=crc32c", "--verify_fatal=1")
    return ["fio", "--name=job", "--ioengine=nbd", f"--uri={uri}", *place, "--iodepth=8", f"--rw={mode}", *more]


def kills(folder: Path, rounds: int) -> Written:
    """Kills servers under a writer and fio; another one starts within 5 s and has all that was durable."""
    draw, written = random.Random(4), Written()
    state = folder / "data.state"
    for turn in range(rounds + 1):
        began = time.monotonic()
        with serving(folder, "--backing", "data", "--save-every", "1") as server:
            took = time.monotonic() - began
            assert took < MOST_START_S
            written.check(folder)
            client(*fio(server.uri, "write" if turn == 0 else "read", "--do_verify=1"), folder=folder)
            if turn == rounds:
                break
            # As a thread, so that a kill leaves no process of a job behind.
            more = ("--thread", "--do_verify=0", "--time_based", "--runtime=60", f"--randseed={turn}")
            line = fio(server.uri, "randwrite", *more)
            with subprocess.Popen(line, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as rewriting:
                if turn % 10 == 0:
                    # Idle for as long as a save of the state takes: the next drive starts with it.
                    rewriting.kill()
                    wait_for_state(state)
                write_until_killed(folder, server.process.pid, draw, written)
                server.process.wait(timeout=PATIENCE)
                rewriting.kill()
    return written


def wait_for_state(state: Path) -> None:
    """Waits until the server has saved the state again."""
    before, began = state.stat().st_mtime_ns if state.exists() else 0, time.monotonic()
    while not state.exists() or state.stat().st_mtime_ns == before:
        assert time.monotonic() - began < PATIENCE
        time.sleep(0.05)


def test_what_was_durable_survives_a_kill(tmp_path: Path) -> None:
    assert kills(tmp_path, 3).durable > 20


@pytest.mark.verify
@pytest.mark.timeout(3600)
def test_what_was_durable_survives_200_kills(tmp_path: Path) -> None:
    written = kills(tmp_path, 200)
    assert written.durable > 5_000
    print(f"kills: 200, {written.number} writes, {written.durable} blocks made durable, all there and whole")  # noqa: T201

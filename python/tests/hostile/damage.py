"""Faults of what is kept on disk: snapshots and answers of studies, at random bytes, cut short, or something else."""

from __future__ import annotations

import gzip
import json
import os
import random
from typing import TYPE_CHECKING

import interpulse
from interpulse import _core
from interpulse.studies.store import Store
from tests.hostile.world import tiny, untimed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.hostile.world import World

    Fault = tuple[str, Callable[[World], str | None]]


def flipped(content: bytes, chance: random.Random) -> bytes:
    """Another bit at one place."""
    place = chance.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]


def snapshots() -> Iterator[Fault]:
    """A snapshot that is damaged is made anew, with a note; the result stays what it was."""

    def with_content(change: Callable[[bytes], bytes]) -> Callable[[World], str | None]:
        def fault(world: World) -> str | None:
            name, content = world.snapshot
            (world.folder / name).write_bytes(change(content))
            return _made_anew(world)

        return fault

    for seed in range(60):
        yield f"snapshot, bit {seed}", with_content(lambda c, seed=seed: flipped(c, random.Random(seed)))  # type: ignore[misc]
    for seed in range(12):
        share = random.Random(seed).random()
        yield f"snapshot, first {share:.3f}", with_content(lambda c, share=share: c[: int(len(c) * share)])  # type: ignore[misc]
    yield "snapshot, empty", with_content(lambda _: b"")
    yield "snapshot, zeros", with_content(lambda c: bytes(len(c)))
    yield "snapshot, too long", with_content(lambda c: c + b"more")
    yield "snapshot, twice", with_content(lambda c: c + c)
    yield "snapshot, noise", with_content(lambda c: random.Random(1).randbytes(len(c)))
    for about, put in OTHERS.items():

        def fault(world: World, put: Callable[[Path], object] = put) -> str | None:
            put(world.folder / world.snapshot[0])
            return _made_anew(world)

        yield f"{about} for a snapshot", fault


OTHERS: dict[str, Callable[[Path], object]] = {
    "a folder": lambda path: path.mkdir(),
    "a full folder": lambda path: (path / "x").mkdir(parents=True),
    "a pipe": os.mkfifo,
    "an endless file": lambda path: path.symlink_to("/dev/zero"),
    "nothing": lambda path: path.symlink_to("/dev/null"),
    "a circle": lambda path: path.symlink_to(path),
    "a way to nowhere": lambda path: path.symlink_to("/nowhere/at/all"),
}
"""What may stand in the place of a file."""


def _made_anew(world: World) -> str | None:
    result = tiny(world.folder)
    if untimed(result.raw) != world.reference:
        return "another result"
    told = any(line.startswith(("snapshot not used", "preconditioned state kept")) for line in result.notes)
    return None if told else f"nothing is said: {result.notes}"


ANSWERS = {f"job {k}": {"latency_us": 10.25 * k, "case": f"case {k}", "reads": [k] * 5} for k in range(20)}


def answers() -> Iterator[Fault]:
    """An answer that is damaged is forgotten, never taken for another one."""

    def with_content(change: Callable[[bytes], bytes]) -> Callable[[World], str | None]:
        def fault(world: World) -> str | None:
            store = Store.open(world.folder, "study")
            store.put(ANSWERS)
            assert store.path is not None
            store.path.write_bytes(change(store.path.read_bytes()))
            return _true_or_none(world)

        return fault

    for seed in range(40):
        yield f"answers, bit {seed}", with_content(lambda c, seed=seed: flipped(c, random.Random(seed)))  # type: ignore[misc]
    for seed in range(10):
        share = random.Random(seed).random()
        yield f"answers, first {share:.3f}", with_content(lambda c, share=share: c[: int(len(c) * share)])  # type: ignore[misc]
    yield "answers, noise", with_content(lambda c: random.Random(1).randbytes(len(c)))
    yield "answers, an old format", with_content(lambda _: b'{"identity": "job 1", "result": {"latency_us": 3}}\n')
    yield "answers, another JSON", with_content(lambda _: b'[1, 2]\n3\n"x"\nnull\n')
    yield "answers, a deep JSON", with_content(lambda _: b"[" * 100_000 + b"\n")
    for about, put in OTHERS.items():

        def fault(world: World, put: Callable[[Path], object] = put) -> str | None:
            path = Store.open(world.folder, "study").path
            assert path is not None
            put(path)
            return _true_or_none(world)

        yield f"{about} for answers", fault


def _true_or_none(world: World) -> str | None:
    store = Store.open(world.folder, "study")
    wrong = {name: found for name, answer in ANSWERS.items() if (found := store.get(name)) not in (answer, None)}
    return f"wrong answers: {wrong}" if wrong else None


def traces() -> Iterator[Fault]:
    """A packed trace that is damaged is refused; where the damage is in what nobody reads, its rows are the same."""
    for seed in range(25):

        def fault(world: World, seed: int = seed) -> str | None:
            path = world.folder / "t.mqsim.gz"
            rows = []
            for content in (world.packed, flipped(world.packed, random.Random(seed))):
                path.write_bytes(content)
                try:
                    rows.append(json.loads(_core.trace_statistics(path, "auto", None, None, "error", False)))
                except interpulse.ConfigError as error:
                    return None if str(path) in str(error) else f"no name: {error}"
            return None if rows[0] == rows[1] else "other rows"

        yield f"packed trace, bit {seed}", fault


def packed_trace() -> bytes:
    """Forty rows."""
    return gzip.compress(
        "\n".join(f"{100_000 * i} 0 {(i * 7919) % 4000} 8 {i % 2}" for i in range(40)).encode(), mtime=0
    )

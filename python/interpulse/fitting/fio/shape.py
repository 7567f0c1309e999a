"""Shape of the load of a fio job: what fio measured, checked against the options.

The share of reads is that of `total_ios`, the size the mean of `io_bytes`, and the requests outstanding are rate times
latency (Little's law). A measurement that contradicts the options shows a load of another kind, and is refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from interpulse._core import ConfigError
from interpulse.fio.options import ENGINES, SYNCHRONOUS
from interpulse.fitting.fio.measured import Direction
from interpulse.fitting.fio.options import switched, whole

MIXES = {
    "read": ("sequential", "read"),
    "write": ("sequential", "write"),
    "rw": ("sequential", "mixed"),
    "readwrite": ("sequential", "mixed"),
    "randread": ("random", "read"),
    "randwrite": ("random", "write"),
    "randrw": ("random", "mixed"),
}
"""fio's `rw` as pattern and direction."""

UNLIKE = 0.02
"""Largest difference between a measured share of reads and the option, beside five standard deviations by chance."""

OTHER_SIZE = 0.01
"""Largest difference between a mean size and the option, as a share: the last request of a file may be shorter."""

IDLE, BUSY, SAME = 0.5, 1.1, 0.1
"""Outstanding requests over those of the options: the least and most that agree, and the difference that is ignored."""

FLUSHES = 0.05
"""Largest difference between measured flushes and those of the options, as a share."""

_SIZE = re.compile(r"(\d{1,12})([kmg]?)(?:i?b)?", re.IGNORECASE)


@dataclass(frozen=True)
class Shape:
    """The load of a job.

    Attributes:
        read: share of reads.
        block: request size in bytes.
        depth: outstanding requests.
        flush_every: writes between flushes, or None.
        together: whether fio measured reads and writes together (`mixed`).
        notes: what a reader of the fit should know.
    """

    pattern: str
    read: float
    block: int
    depth: int
    flush_every: int | None
    together: bool
    notes: list[str] = field(default_factory=list)


def shape_of(
    options: Mapping[str, str], parts: Mapping[str, Direction], flushes: tuple[int, float], jobs: int, place: str
) -> Shape:
    """The load of jobs that ran at the same time.

    Args:
        options: of the jobs.
        parts: measurements by direction.
        flushes: number and mean latency in nanoseconds.
        jobs: reported jobs.
        place: file and job, for messages.

    Raises:
        ConfigError: an option is invalid, or a measurement contradicts it.
    """
    kind = options.get("rw", "read")
    if kind not in MIXES:
        raise ConfigError(f"{place}: rw: seen {kind!r}; expected one of {', '.join(MIXES)}")
    pattern, direction = MIXES[kind]
    used = _used(kind, direction, parts, place)
    notes: list[str] = []
    share = _share(direction, options, used, place, notes)
    block = _block(options, used, share, place, notes)
    flush_every = _flush_every(options, used, share, flushes, place)
    depth = _depth(options, used, (flushes if flush_every else None), jobs, place, notes)
    _warn(options, pattern, share, notes)
    return Shape(pattern, share, block, depth, flush_every, "mixed" in used, notes)


def _used(kind: str, direction: str, parts: Mapping[str, Direction], place: str) -> dict[str, Direction]:
    """The measured directions, which have to be those of `rw`."""
    apart = {name: part for name, part in parts.items() if name != "mixed"}
    wanted = ("read", "write") if direction == "mixed" else (direction,)
    for name, part in apart.items():
        if name not in wanted:
            raise ConfigError(
                f"{place}: rw: seen {kind!r}, yet fio measured {part.count} {name}s ({name}.total_ios): jobs of "
                "different kinds in one group? expected one kind of load at a time (stonewall in the job file)"
            )
    # unified_rw_reporting = both has them together once more.
    return apart or dict(parts)


def _share(
    direction: str, options: Mapping[str, str], used: Mapping[str, Direction], place: str, notes: list[str]
) -> float:
    if direction != "mixed":
        return 1.0 if direction == "read" else 0.0
    reads, writes = (whole(options, key, place, 50) for key in ("rwmixread", "rwmixwrite"))
    for key, value in (("rwmixread", reads), ("rwmixwrite", writes)):
        if value > 100:
            raise ConfigError(f"{place}: {key}: seen {value}; expected a percentage up to 100")
    wanted = {"rwmixread": reads / 100} if "rwmixwrite" not in options else {"rwmixwrite": 1 - writes / 100}
    if "rwmixread" in options:
        wanted["rwmixread"] = reads / 100
    if "mixed" in used:
        key, share = wanted.popitem()
        if wanted and share not in wanted.values():
            raise ConfigError(
                f"{place}: unified_rw_reporting: the share of reads was not measured, and rwmixread and rwmixwrite "
                "contradict each other; expected one of them"
            )
        notes.append(
            f"unified_rw_reporting: the share of reads, {100 * share:.4g} %, is that of the options: fio counted "
            "reads and writes together"
        )
        return share
    counts = [used[name].count if name in used else 0 for name in ("read", "write")]
    share = counts[0] / sum(counts)
    apart = {key: abs(share - each) for key, each in wanted.items()}
    key = min(apart, key=apart.__getitem__)
    by_chance = 5 * math.sqrt(wanted[key] * (1 - wanted[key]) / sum(counts))
    if apart[key] > UNLIKE + by_chance:
        seen = f"seen {options[key]}" if key in options else f"seen none, which is {100 * wanted[key]:.4g}"
        raise ConfigError(
            f"{place}: {key}: {seen}, yet {counts[0]} reads and {counts[1]} writes were measured, {100 * share:.4g} % "
            "reads; expected options of what was measured"
        )
    return share


def sizes_of(options: Mapping[str, str], name: str, place: str) -> tuple[int, ...]:
    """The size that an option asks for in bytes; two where fio's units are ambiguous (`4KiB` may be 4000 bytes)."""
    text = options.get(name, "4096")
    match = _SIZE.fullmatch(text)
    if match is None or not int(match[1]):
        raise ConfigError(f"{place}: {name}: seen {text!r}; expected one size, such as 4k")
    power = " kmg".index(match[2].lower() or " ")
    return tuple(dict.fromkeys(int(match[1]) * unit**power for unit in (1024, 1000)))


def _block(
    options: Mapping[str, str], used: Mapping[str, Direction], share: float, place: str, notes: list[str]
) -> int:
    asked = dict(options)
    if "," in options.get("bs", ""):
        # Sizes of reads, writes and trims; the last one counts for the rest.
        each = [part.strip() for part in options["bs"].split(",")]
        named = {"read": each[0], "write": each[min(1, len(each) - 1)]}
        kept = {named[name] for name in named if (share > 0 if name == "read" else share < 1)}
        asked["bs"] = kept.pop() if len(kept) == 1 else options["bs"]
    legal = sizes_of(asked, "bs", place)
    found, measured = legal[0], False
    for name, part in used.items():
        apart = {key: min(abs(size / each - 1) for each in legal) for key, size in part.sizes.items()}
        wrong = [key for key, off in apart.items() if off > OTHER_SIZE]
        if 2 * len(wrong) > len(apart):
            key = wrong[0]
            raise ConfigError(
                f"{place}: bs: seen {options.get('bs', '4096, the default of fio')}, yet {name}s had "
                f"{part.sizes[key]:.6g} B in the mean ({key}): jobs of different sizes in one group? expected one size"
            )
        right = [key for key in apart if key not in wrong]
        for key in right:
            found = min(legal, key=lambda each, size=part.sizes[key]: abs(size - each))  # type: ignore[misc]
            measured = True
        for key in wrong:
            notes.append(
                f"{name}.{key} contradicts {', '.join(right)}: it makes {part.sizes[key]:.6g} B of a request; "
                f"{found} B, which is bs, are simulated"
            )
    if not measured:
        notes.append(f"the size, {found} B, is that of bs; it was not measured")
    if "ba" in options and found not in sizes_of(options, "ba", place):
        raise ConfigError(f"{place}: ba: seen {options['ba']!r}; expected addresses that are multiples of bs")
    return found


def _flush_every(
    options: Mapping[str, str], used: Mapping[str, Direction], share: float, flushes: tuple[int, float], place: str
) -> int | None:
    every = {key: count for key in ("fsync", "fdatasync") if (count := whole(options, key, place, 0))}
    if len(every) > 1:
        raise ConfigError(f"{place}: fsync, fdatasync: seen both; expected one of them: flushes at one distance")
    writes = used["write"].count if "write" in used else sum(part.count for part in used.values()) * (1 - share)
    if not every or not writes:
        if flushes[0] > FLUSHES * max(writes, 1) + 64:
            raise ConfigError(
                f"{place}: sync: seen {flushes[0]} flushes without fsync or fdatasync; expected options of what "
                "was measured"
            )
        return None
    ((key, count),) = every.items()
    # Not every version of fio counts flushes; each job may end between two of them.
    if flushes[0] and abs(flushes[0] - writes / count) > FLUSHES * writes / count + 64:
        raise ConfigError(
            f"{place}: {key}: seen {count}, yet fio measured {flushes[0]} flushes and {writes:.0f} writes; expected "
            "options of what was measured"
        )
    return count


def _depth(
    options: Mapping[str, str],
    used: Mapping[str, Direction],
    flushes: tuple[int, float] | None,
    jobs: int,
    place: str,
    notes: list[str],
) -> int:
    engine = options.get("ioengine", "psync")
    if engine not in ENGINES:
        raise ConfigError(f"{place}: ioengine: seen {engine!r}; expected one of {', '.join(ENGINES)}")
    each = 1 if engine in SYNCHRONOUS else whole(options, "iodepth", place, 1)
    # Jobs of a group that fio reports together are one entry.
    asked = each * (jobs if jobs > 1 else whole(options, "numjobs", place, 1))
    if not 1 <= asked <= 65535:
        raise ConfigError(f"{place}: iodepth x numjobs: seen {asked}; expected from 1 to 65535")
    if not all(part.mean for part in used.values()):
        notes.append(f"the requests outstanding, {asked}, are those of the options: no latency was measured")
        return asked
    outstanding = sum(part.iops * part.mean for part in used.values()) / 1e9
    seconds = max(part.seconds for part in used.values())
    # The time of flushes counts too, where fio measured it.
    known = flushes is None or bool(seconds and flushes[0] and flushes[1])
    if flushes is not None and known:
        outstanding += flushes[0] * flushes[1] / 1e9 / seconds
    said = (
        f"Little's law (rate times latency) gives {outstanding:.3g} requests outstanding of {asked} (iodepth x numjobs)"
    )
    if outstanding > BUSY * asked or (known and outstanding < IDLE * asked):
        why = "several jobs in one group?" if outstanding > asked else "is the job held back?"
        raise ConfigError(f"{place}: {said}: {why} expected a closed loop whose measurements agree")
    found = max(1, round(outstanding))
    if outstanding < (1 - SAME) * asked and known and found != asked:
        notes.append(f"{said}; {found} are simulated")
        return found
    return asked


def _warn(options: Mapping[str, str], pattern: str, share: float, notes: list[str]) -> None:
    buffered = switched(options, "buffered")
    direct = switched(options, "direct") if buffered is None else not buffered
    if not direct or options.get("ioengine") == "mmap":
        notes.append("without direct=1 the page cache of the host may have answered instead of the drive")
    if "size" in options and pattern == "random" and share < 1 and not options["size"].endswith("%"):
        notes.append(
            f"size={options['size']}: the random writes went to a part of the drive; the load writes all over it"
        )

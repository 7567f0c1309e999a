"""Jobs of a job file: typed options, checked against what flows can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from interpulse._core import ConfigError
from interpulse.fio import values
from interpulse.fio.distribution import UNIFORM, Distribution, read_distribution
from interpulse.fio.jobfile import Given, Section
from interpulse.fio.options import DRIVERS, ENGINES, SYNCHRONOUS, table

DIRECTIONS = {
    "read": (("read",), False),
    "write": (("write",), False),
    "trim": (("trim",), False),
    "rw": (("read", "write"), False),
    "readwrite": (("read", "write"), False),
    "trimwrite": (("trim", "write"), False),
    "randread": (("read",), True),
    "randwrite": (("write",), True),
    "randtrim": (("trim",), True),
    "randrw": (("read", "write"), True),
    "randtrimwrite": (("trim", "write"), True),
}
"""fio's `rw`: kinds of requests, and whether addresses are random."""

KINDS = ("read", "write", "trim")
MOST_CLONES = 256
MOST_DEPTH = 65535
MOST_SIZE = 16 * 2**20
SECTOR = 512

Sizes = tuple[tuple[int, float], ...]
"""Request sizes in bytes with their weights."""

_T = TypeVar("_T")


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job of the file, before it is cloned; sizes in bytes, times in ns.

    Attributes:
        options: as given, by first name.
        kinds: kinds of requests; a pair of trim and write is `("trim", "write")`.
        run: requests in sequence before the next random address (`rw=randread:8`); 0 for none.
        skip: bytes left out between sequential requests (`rw=read:8k`).
        reads: share of reads of a mix.
        sizes: of reads, writes and trims.
        alignment: addresses are multiples of it.
        size, offset, offset_increment: bytes, or shares of the file; `size` is `None` if not given.
        random_percent: share of random addresses in %, of reads, writes and trims.
        covers: whether each block is used once in a pass (fio's random map).
        rate_per_s: requests per second of an open loop, or `None`.
        log: file with requests to replay.
    """

    name: str
    place: str
    options: Mapping[str, Given]
    inherited: Mapping[str, Given]
    clones: int
    kinds: tuple[str, ...]
    random: bool
    run: int
    skip: int
    reads: float
    sizes: tuple[Sizes, Sizes, Sizes]
    alignment: int
    depth: int
    files: str | None
    filesize: int | None
    size: int | Fraction | None
    offset: int | Fraction
    offset_increment: int | Fraction
    offset_align: int
    io_size: int | Fraction | None
    loops: int
    number_ios: int | None
    covers: bool
    distribution: Distribution
    random_percent: tuple[int, int, int]
    start_ns: int
    runtime_ns: int | None
    time_based: bool
    ramp_ns: int
    pause_ns: int
    pause_blocks: int
    rate_per_s: Fraction | None
    poisson: bool
    flush_every: int | None
    log: str | None
    log_closed: bool
    log_speed: float
    log_skip: tuple[str, ...]
    stonewall: bool
    new_group: bool
    group_reporting: bool
    reported: bool
    percentiles: tuple[float, ...] | None
    of_total: bool
    of_completion: bool
    notes: tuple[str, ...] = field(default=())

    @property
    def engine(self) -> str:
        """The engine, by default that of fio on Linux."""
        given = self.options.get("ioengine")
        return given.value if given and given.value else "psync"

    def given(self, name: str) -> Given | None:
        """An option as given."""
        return self.options.get(name)

    def refused(self, name: str, why: str) -> ConfigError:
        """The error for an option that was given, or for the job where it was not."""
        given = self.options.get(name)
        return given.refused(why) if given else ConfigError(f"{self.place}: job {self.name}: {why}")

    @property
    def used_sizes(self) -> tuple[Sizes, ...]:
        """Sizes of the kinds of requests that the job makes."""
        return tuple(self.sizes[KINDS.index(kind)] for kind in self.kinds)

    @property
    def one_size(self) -> int | None:
        """The size of all requests, `None` if there are several."""
        found = {size for sizes in self.used_sizes for size, _ in sizes}
        return found.pop() if len(found) == 1 else None

    @property
    def least(self) -> int:
        """The least size of a request."""
        return min(size for sizes in self.used_sizes for size, _ in sizes)


class _Reader:
    """Options of a section by name."""

    def __init__(self, section: Section) -> None:
        self.options = section.options
        kb = self.read("kb_base", lambda given: values.whole(given, 1000, 1024), 1024)
        if kb not in (1000, 1024):
            raise section.options["kb_base"].wrong("1024 or 1000")
        self.kb = kb

    def read(self, name: str, function: Callable[[Given], _T], default: _T) -> _T:
        """An option, or its default."""
        given = self.options.get(name)
        return default if given is None else function(given)

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A flag."""
        return self.read(name, values.flag, default)

    def place(self, name: str) -> int | Fraction:
        """Bytes, or a share of the file; 0 if not given."""
        given = self.options.get(name)
        return 0 if given is None else values.size_or_share(given, self.kb)

    def word(self, name: str, legal: Sequence[str], default: str) -> str:
        """One of several words."""
        found = self.read(name, lambda given: given.value or "", default)
        if found not in legal:
            raise self.options[name].wrong(f"one of {', '.join(legal)}")
        return found


def read_job(section: Section) -> Job:
    """The job of a section.

    Raises:
        ConfigError: an option has an illegal value, or no counterpart.
    """
    it = _Reader(section)
    check_treatments(section)
    notes: list[str] = []
    kinds, random, run, skip = _directions(it)
    engine = it.read("ioengine", lambda given: given.value or "", "psync")
    if engine not in ENGINES + DRIVERS:
        raise it.options["ioengine"].refused(f"expected an engine for a drive: {', '.join(ENGINES + DRIVERS)}")
    depth = it.read("iodepth", lambda given: values.whole(given, 1, MOST_DEPTH), 1)
    if engine in SYNCHRONOUS and depth > 1:
        notes.append(f"{it.options['iodepth'].place}: iodepth={depth}: ioengine={engine} has one request outstanding")
        depth = 1
    sizes = _sizes(it, kinds)
    rate, poisson = _rate(it, kinds, sizes)
    clat = it.flag("clat_percentiles", default=True)
    job = Job(
        name=section.name,
        place=section.place,
        options=section.options,
        inherited=section.inherited,
        clones=it.read("numjobs", lambda given: values.whole(given, 1, MOST_CLONES), 1),
        kinds=kinds,
        random=random,
        run=run,
        skip=skip,
        reads=_reads(it, kinds),
        sizes=sizes,
        alignment=_alignment(it, kinds, sizes),
        depth=depth,
        files=_file(it),
        filesize=it.read("filesize", lambda given: values.size(given, it.kb, 1), None),
        size=it.read("size", lambda given: _positive(given, it.kb), None),
        offset=it.place("offset"),
        offset_increment=it.place("offset_increment"),
        offset_align=it.read("offset_align", lambda given: values.size(given, it.kb), 0),
        io_size=it.read("io_size", lambda given: _positive(given, it.kb), None),
        loops=it.read("loops", lambda given: values.whole(given, 0, 10**9), 1) or 1,
        number_ios=it.read("number_ios", lambda given: values.whole(given, 0), 0) or None,
        covers=not it.flag("norandommap") and random,
        distribution=it.read("random_distribution", lambda given: read_distribution(given, it.kb), UNIFORM),
        random_percent=it.read("percentage_random", values.percentages, (100, 100, 100)),
        start_ns=it.read("startdelay", values.duration_ns, 0),
        runtime_ns=it.read("runtime", values.duration_ns, it.read("timeout", values.duration_ns, 0)) or None,
        time_based=it.flag("time_based"),
        ramp_ns=it.read("ramp_time", values.duration_ns, 0),
        pause_ns=it.read("thinktime", lambda given: values.duration_ns(given, "us"), 0),
        pause_blocks=it.read("thinktime_blocks", lambda given: values.whole(given, 1, 10**9), 1),
        rate_per_s=rate,
        poisson=poisson,
        flush_every=_flush_every(it),
        log=it.read("read_iolog", lambda given: given.value, None),
        log_closed=it.flag("replay_no_stall"),
        log_speed=it.read("replay_time_scale", lambda given: values.whole(given, 1, 10**6), 100) / 100,
        log_skip=it.read("replay_skip", _skipped, ()),
        stonewall=it.flag("stonewall"),
        new_group=it.flag("new_group"),
        group_reporting=it.flag("group_reporting"),
        reported=it.flag("stats", default=True),
        percentiles=it.read("percentile_list", values.percentiles, None),
        of_total=it.flag("lat_percentiles"),
        of_completion=clat,
        notes=tuple(notes),
    )
    _check_together(job)
    return job


def _positive(given: Given, kb: int) -> int | Fraction:
    found = values.size_or_share(given, kb)
    if not found:
        raise given.wrong(f"{values.SIZE} or a percentage, above 0")
    return found


def check_treatments(section: Section) -> None:
    """Checks that every option has a counterpart, or needs none.

    Raises:
        ConfigError: an option has no counterpart.
    """
    for name, given in section.options.items():
        option = table()[name]
        if option.treatment == "no" and not _off(given, option.kind):
            raise given.refused(option.why)
        if option.treatment == "only" and (given.value or "").lower() not in option.values:
            legal = f"expected {' or '.join(option.values)}: " if option.values else ""
            raise given.refused(f"{legal}{option.why}")
        values.check_kind(given, option.kind)


def _off(given: Given, kind: str) -> bool:
    if given.value is None or kind == "text":
        return False
    return bool(given.value.strip("0.") == "" or given.value.rstrip("kKmMgGsu%").strip("0") == "")


def _directions(it: _Reader) -> tuple[tuple[str, ...], bool, int, int]:
    given = it.options.get("rw")
    if given is None:
        return ("read",), False, 0, 0
    word, colon, rest = (given.value or "").partition(":")
    if word not in DIRECTIONS:
        raise given.wrong(f"one of {', '.join(DIRECTIONS)}")
    kinds, random = DIRECTIONS[word]
    number = values.size_of(rest, it.kb) if colon else 0
    if number is None or (colon and not number):
        raise given.wrong(f"{word}, or {word}:{'8 for 8 addresses in sequence' if random else '8k to leave out 8k'}")
    return kinds, random, number if random else 0, 0 if random else number


def _reads(it: _Reader, kinds: tuple[str, ...]) -> float:
    reads = it.read("rwmixread", values.percentage, -1)
    writes = it.read("rwmixwrite", values.percentage, -1)
    if kinds != ("read", "write"):
        return float(kinds == ("read",))
    if reads < 0:
        return (100 - writes) / 100 if writes >= 0 else 0.5
    if writes >= 0 and reads + writes != 100:
        # fio takes the one that was given last.
        last = [name for name in it.options if name in ("rwmixread", "rwmixwrite")][-1]
        raise it.options[last].wrong(f"rwmixread and rwmixwrite of 100 in all; these are {reads} and {writes}")
    return reads / 100


def _sizes(it: _Reader, kinds: tuple[str, ...]) -> tuple[Sizes, Sizes, Sizes]:
    # fio lets bssplit and bsrange override bs.
    given = next((it.options[name] for name in ("bssplit", "bsrange", "bs") if name in it.options), None)
    if given is None:
        each: list[Sizes] = [((4096, 1.0),)] * 3
    elif given.name == "bs":
        each = [((size, 1.0),) for size in values.sizes(given, it.kb)]
    elif given.name == "bsrange":
        each = [_range(given, least, most) for least, most in values.ranges(given, it.kb)]
    else:
        each = [tuple(split) for split in values.splits(given, it.kb)]
    for kind, of_kind in zip(KINDS, each, strict=True):
        for size, _ in of_kind:
            if given is not None and kind in kinds and (size % SECTOR or size > MOST_SIZE):
                raise given.wrong(f"sizes that are multiples of 512 bytes, up to 16 MiB; {size} is not")
    return each[0], each[1], each[2]


def _range(given: Given, least: int, most: int) -> Sizes:
    if most // least > 4096:
        raise given.wrong("at most 4096 sizes: multiples of the least one up to the largest one")
    return tuple((least * k, 1.0) for k in range(1, most // least + 1))


def _alignment(it: _Reader, kinds: tuple[str, ...], sizes: tuple[Sizes, Sizes, Sizes]) -> int:
    own = [sizes[KINDS.index(kind)] for kind in kinds]
    least = min(size for each in own for size, _ in each)
    given = it.options.get("ba")
    if given is None:
        return least
    found = values.sizes(given, it.kb)
    wanted = {found[KINDS.index(kind)] for kind in kinds}
    if wanted == {min(size for size, _ in sizes[KINDS.index(kind)]) for kind in kinds}:
        return least
    if len(wanted) > 1 or min(wanted) % SECTOR or min(wanted) > MOST_SIZE:
        raise given.wrong("one multiple of 512 bytes, up to 16 MiB")
    return wanted.pop()


def _file(it: _Reader) -> str | None:
    given = it.options.get("filename") or it.options.get("replay_redirect")
    if given is None:
        return None
    name = (given.value or "").replace("\\:", "\0")
    if ":" in name:
        raise given.refused("a job has one file or drive")
    folder = it.options.get("directory")
    prefix = f"{folder.value}/" if folder and not name.startswith("/") else ""
    return prefix + name.replace("\0", ":")


def _skipped(given: Given) -> tuple[str, ...]:
    found = [part.strip() for part in (given.value or "").split(",")]
    if any(part not in ("read", "write", "trim", "sync") for part in found):
        raise given.wrong("some of read, write, trim, sync")
    if "read" in found or "write" in found:
        raise given.refused("reads and writes are not left out; trim and sync are")
    return tuple(found)


def _flush_every(it: _Reader) -> int | None:
    every = {name: it.read(name, lambda given: values.whole(given, 0, 10**9), 0) for name in ("fsync", "fdatasync")}
    set_ = {name: count for name, count in every.items() if count}
    if len(set_) > 1:
        raise it.options["fdatasync"].refused("fsync is given too: flushes have one distance")
    return next(iter(set_.values()), None)


def _rate(it: _Reader, kinds: tuple[str, ...], sizes: tuple[Sizes, Sizes, Sizes]) -> tuple[Fraction | None, bool]:
    """Requests per second of an open loop, and whether they are a Poisson process."""
    poisson = it.word("rate_process", ("linear", "poisson"), "linear") == "poisson"
    given = it.options.get("rate_iops") or it.options.get("rate")
    if given is None or _off(given, "number"):
        return None, poisson
    if "rate" in it.options and "rate_iops" in it.options:
        raise it.options["rate"].refused("rate_iops is given too")
    if len(kinds) > 1:
        raise given.refused("a rate of each direction of a mix: use one job for each direction")
    which = KINDS.index(kinds[0])
    part = values.by_direction(given)[which]
    if not part:
        return None, poisson
    one = Given(given.name, given.spelling, part, given.place)
    if given.name == "rate_iops":
        return Fraction(values.whole(one, 1, 10**9)), poisson
    if len(sizes[which]) > 1:
        raise given.refused("bytes per second of several sizes: use rate_iops")
    return Fraction(values.size(one, it.kb, 1), sizes[which][0][0]), poisson


def _check_together(job: Job) -> None:
    """Raises ConfigError for options that do not go together."""
    if job.time_based and job.runtime_ns is None:
        raise job.options["time_based"].wrong("runtime beside it")
    if job.ramp_ns and not job.time_based:
        raise job.refused("ramp_time", "needs time_based and runtime: what is measured must begin at a known time")
    if job.pause_ns and job.depth > 1:
        raise job.refused("thinktime", f"needs iodepth=1 (seen {job.depth}): fio waits for all requests before a pause")
    if job.pause_ns % 1000:
        raise job.options["thinktime"].wrong("whole microseconds")
    if job.pause_ns and job.rate_per_s is not None:
        raise job.refused("thinktime", "a rate is given too")
    if job.loops > 1 and (job.number_ios is not None or job.io_size is not None):
        raise job.refused("loops", "io_size or number_ios is given too: they end the job")
    if job.alignment != job.least and (not job.random or (job.covers and not job.distribution.address)):
        raise job.refused(
            "ba", f"sequential addresses and fio's random map have multiples of the least size, {job.least}"
        )
    if not job.random and "random_distribution" in job.options and job.distribution != UNIFORM:
        raise job.refused("random_distribution", "the addresses are sequential: rw is no random one")
    if job.log is None and (job.log_closed or job.log_skip):
        raise job.refused("replay_no_stall" if job.log_closed else "replay_skip", "there is no read_iolog")

"""Options of logs, series and timelines: `requests:1/10`, `10ms`, `worst:20:read`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from interpulse._core import ConfigError

LOGS = ("requests", "fio")
"""What `--log` writes: Parquet, or the text of fio."""

UNITS_NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
"""The units of a time."""

LONGEST_NS = 2**62
"""No time is longer: about 146 years."""

MOST_SLOWEST = 1000
"""Limit of K in `worst:K`."""

EACH = "each"
"""The slowest reads and the slowest writes, instead of those of one kind."""

REPORTED = "worst:5:each"
"""The timeline of a run with `--report`."""

NO_TIMELINE = "none"
"""The value that disables it."""

REPORTED_DIE_NS = 800_000_000
"""Limit of die time that a report records for one request, to bound its drawing."""

LEAST_WINDOW_NS = 1000
"""The shortest window of a series: a row for each takes longer than simulating it."""

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)")


@dataclass(frozen=True, kw_only=True)
class LogOptions:
    """What to record of every case."""

    logs: dict[str, int] = field(default_factory=dict)
    """By log: of so many requests one."""
    series_ns: int | None = None
    """The length of a window."""
    stretch_ns: tuple[int, int] | None = None
    """The stretch of the timeline, from the beginning of the measurement window."""
    worst: tuple[int, str | None] | None = None
    """The timeline of the slowest so many requests, of this kind; `EACH` is so many reads and so many writes."""
    bounded: bool = False
    """Record only the end of very long requests."""

    @classmethod
    def of(
        cls,
        log: str | Iterable[str] | None,
        series: str | None,
        timeline: str | None,
        *,
        bounded: bool = False,
        dashes: str = "",
    ) -> LogOptions:
        """Reads the options; `dashes` stand before their names in messages, and `bounded` is as the attribute.

        Raises:
            ConfigError: an option is not valid.
        """
        logs: dict[str, int] = {}
        for text in [log] if isinstance(log, str) else log or ():
            name, every = _log(f"{dashes}log", text)
            if name in logs:
                raise ConfigError(f"{dashes}log {name}: seen twice; expected each of {', '.join(LOGS)} at most once")
            logs[name] = every
        series_ns = None if series is None else time_ns(f"{dashes}series", series)
        if series_ns is not None and series_ns < LEAST_WINDOW_NS:
            raise ConfigError(f"{dashes}series {series}: expected a window of 1us or longer")
        stretch, worst = (None, None) if timeline is None else _timeline(f"{dashes}timeline", timeline)
        return cls(logs=logs, series_ns=series_ns, stretch_ns=stretch, worst=worst, bounded=bounded)

    @property
    def parquet(self) -> bool:
        """Whether Parquet is written."""
        return "requests" in self.logs or self.series_ns is not None

    @property
    def timeline(self) -> bool:
        """Whether a timeline is written."""
        return self.stretch_ns is not None or self.worst is not None

    @property
    def each(self) -> bool:
        """Whether the slowest of each kind are looked for."""
        return self.worst is not None and self.worst[1] == EACH

    def __bool__(self) -> bool:
        return bool(self.logs) or self.series_ns is not None or self.timeline

    def longest_ns(self, dies: int) -> int | None:
        """The longest stretch that is followed for one request on so many dies; None for any."""
        return max(REPORTED_DIE_NS // max(dies, 1), 1_000_000) if self.bounded else None

    def record(self) -> str:
        """The recording request of a case, for the core (`interpulse_study::record`)."""
        request: dict[str, Any] = dict(self.logs)
        if self.series_ns is not None:
            request["series"] = self.series_ns
        if self.stretch_ns is not None:
            request["timeline"] = [list(self.stretch_ns)]
        if self.each:
            # The core looks for those of one kind: here they are found in the rows of all.
            request["requests"] = 1
        elif self.worst is not None:
            request["slowest"], kind = self.worst
            request |= {"kind": kind} if kind else {}
        return json.dumps(request)


def timeline_record(requests: Sequence[tuple[int, int]], longest_ns: int | None = None) -> str:
    """The recording request of a timeline around each request from `arrival` to `end`, and of nothing else.

    Times are from the beginning of the measurement window, where the timeline begins at the earliest. Of a request that
    took longer than `longest_ns` so much of its end is followed.
    """
    stretches: list[list[int]] = []
    cut = requests if longest_ns is None else [(max(arrival, end - longest_ns), end) for arrival, end in requests]
    for arrival, end in sorted(cut):
        margin = max((end - arrival) // 10, 1000)
        begin, stop = max(0, arrival - margin), end + margin
        if stretches and begin <= stretches[-1][1]:
            stretches[-1][1] = max(stretches[-1][1], stop)
        else:
            stretches.append([begin, stop])
    return json.dumps({"timeline": stretches, "only_timeline": True})


def time_ns(option: str, text: str) -> int:
    """A time in ns.

    Raises:
        ConfigError: it is none, no whole number of ns, or longer than anything.
    """
    matched = _TIME.fullmatch(text.strip())
    factor = UNITS_NS.get(matched[2]) if matched else None
    if matched is None or factor is None:
        raise ConfigError(f"{option}: seen {text!r}; expected a time such as 10ms, in {', '.join(UNITS_NS)}")
    ns = Fraction(matched[1]) * factor
    if ns.denominator != 1:
        raise ConfigError(f"{option}: seen {text!r}; expected a whole number of ns")
    if ns > LONGEST_NS:
        raise ConfigError(f"{option}: seen {text!r}; expected a time of at most 146 years")
    return int(ns)


def _log(option: str, text: str) -> tuple[str, int]:
    name, colon, share = text.partition(":")
    expected = f"expected {' or '.join(LOGS)}, or one with :1/N such as requests:1/100"
    if name not in LOGS:
        raise ConfigError(f"{option}: seen {text!r}; {expected}")
    matched = re.fullmatch(r"1/(\d{1,18})", share)
    if colon and (matched is None or int(matched[1]) == 0):
        raise ConfigError(f"{option}: seen {text!r}; {expected}, N of 1 or more")
    return name, int(matched[1]) if matched else 1


def _timeline(option: str, text: str) -> tuple[tuple[int, int] | None, tuple[int, str | None] | None]:
    if text.startswith("worst"):
        matched = re.fullmatch(r"worst:(\d{1,9})(?::(read|write|each))?", text)
        if matched is None or not 1 <= int(matched[1]) <= MOST_SLOWEST:
            raise ConfigError(
                f"{option}: seen {text!r}; expected worst:K, worst:K:read, worst:K:write or worst:K:each, K from 1 to "
                f"{MOST_SLOWEST}"
            )
        return None, (int(matched[1]), matched[2])
    first, dots, last = text.partition("..")
    if not dots:
        raise ConfigError(
            f"{option}: seen {text!r}; expected START..END such as 1s..1.01s, or worst:K such as worst:20"
        )
    begin, end = time_ns(option, first), time_ns(option, last)
    if begin >= end:
        raise ConfigError(f"{option}: seen {text!r}; expected an end after the start")
    return (begin, end), None

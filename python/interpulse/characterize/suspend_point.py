"""Grid point of `characterize suspend`: every word line under one pair of delays."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Any

from interpulse.characterize.rber import READS, rates


@dataclass(frozen=True)
class Point:
    """All word lines under one pair of delays."""

    delay1: float
    delay2: float
    page_type: str
    word_lines: list[dict[str, Any]]
    """Answers of the core."""

    @property
    def running(self) -> list[dict[str, Any]]:
        """Word lines whose program was still running after Delay1."""
        return [each for each in self.word_lines if each["running_at_delay1"]]

    def suspends(self) -> list[int]:
        """Suspensions of each word line."""
        return [each["suspends"] for each in self.word_lines]

    def teps_us(self) -> list[float]:
        """All times to enter suspension."""
        return [us for each in self.word_lines for us in each["teps_us"]]

    def row(self) -> dict[str, float | int | str | None]:
        """Row of `grid`."""
        suspends, teps = self.suspends(), self.teps_us()
        tpgms = [each["tpgms_us"] for each in self.word_lines]
        going = self.running
        return {
            "delay1": self.delay1,
            "delay2": self.delay2,
            "page_type": self.page_type,
            "suspends_mean": fmean(suspends),
            "suspends_max": max(suspends),
            "teps_mean_us": fmean(teps) if teps else None,
            "teps_max_us": max(teps) if teps else None,
            "tpgms_mean_us": fmean(tpgms),
            "tpgms_max_us": max(tpgms),
            "word_lines": len(self.word_lines),
            "running": len(going),
            "running_suspends_min": min((each["suspends"] for each in going), default=None),
            "running_suspends_max": max((each["suspends"] for each in going), default=None),
            "running_tpgms_min_us": min((each["tpgms_us"] for each in going), default=None),
            "running_tpgms_mean_us": fmean(each["tpgms_us"] for each in going) if going else None,
            **{f"rber_{read}": fmean(rates(self.word_lines, read)) for read in READS},
        }

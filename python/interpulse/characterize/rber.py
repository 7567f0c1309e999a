"""Raw bit error rates with intervals: word lines are independent, bits of one are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from interpulse.runs.estimate import Estimate

READS = ("default", "calibrated")
"""Read levels: of the part, or the best ones."""

WHEN = ("before", "after")


@dataclass
class Errors:
    """Error rates of blocks before and after a treatment."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    """Rows of `--json`: the mean over word lines with its 95 % interval."""
    _rates: dict[tuple[str, str], list[tuple[list[float], list[float]]]] = field(default_factory=dict)

    def add(self, block: str, page_type: str, read: str, before: list[float], after: list[float]) -> None:
        """Adds rates of the same word lines before and after."""
        for when, each in zip(WHEN, (before, after), strict=True):
            estimate = Estimate.of(each)
            row: dict[str, Any] = {"block": block, "when": when, "page_type": page_type, "read": read}
            row |= {"rber": estimate.value, "ci_low": estimate.low, "ci_high": estimate.high}
            self.rows.append(row)
        self._rates.setdefault((block, read), []).append((before, after))

    def change_percent(self, block: str, read: str) -> Estimate:
        """Mean change per word line over all pages, in percent of the mean before.

        Word lines that never had an error have not changed; where none had one before, the mean after it is used.
        """
        before, after = (
            [fmean(pages) for pages in zip(*each, strict=True)] for each in zip(*self._rates[block, read], strict=True)
        )
        base = fmean(before) or fmean(after) or 1.0
        return Estimate.of([(b - a) / base * 100 for a, b in zip(before, after, strict=True)])


def rates(word_lines: Sequence[dict[str, Any]], read: str) -> list[float]:
    """Bit error rate of each word line."""
    return [each[f"errors_{read}"] / each["bits"] for each in word_lines]

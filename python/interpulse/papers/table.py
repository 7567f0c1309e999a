"""Published figures beside simulated ones, judged and counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interpulse.studies.status import Status
from interpulse.studies.verdict import APART, Agreement, agreement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from interpulse.papers.catalogue import Paper
    from interpulse.studies.outcome import Row, Rows
    from interpulse.studies.registry import Entry


@dataclass(frozen=True)
class Line:
    """One row of a study that says something of a paper."""

    paper: str
    study: str
    row: Row

    @property
    def agreement(self) -> Agreement:
        """How far ours lies from what is printed."""
        return agreement(self.row)

    def to_dict(self) -> dict[str, Any]:
        """The line as `--json` prints it."""
        return {"paper": self.paper, "study": self.study, "agreement": self.agreement, **self.row.to_dict()}


def lines(paper: Paper, study: Entry, rows: Rows) -> Iterator[Line]:
    """The rows of a study that say something of its paper, in the order of its published figures."""
    for row in rows.published():
        if row.name not in paper.repeats:
            yield Line(paper.name, study.title, row)


def counts(of: Iterable[Line]) -> dict[Status, Counter[Agreement]]:
    """How many lines of each status agree how far."""
    found: dict[Status, Counter[Agreement]] = {}
    for line in of:
        found.setdefault(line.row.status, Counter())[line.agreement] += 1
    return {status: found[status] for status in Status if status in found}


def summary(of: Iterable[Line]) -> str:
    """The counts in two sentences, what was made to agree apart."""
    by_status = counts(of)
    judged = sum((each for status, each in by_status.items() if status not in APART), Counter[Agreement]())
    parts = ", ".join(f"{judged[each]} {_SAID.get(each, each)}" for each in Agreement if judged[each])
    apart = ", ".join(f"{by_status[status].total()} {status}" for status in APART if status in by_status)
    return (
        f"Figures and statements that nothing was calibrated on: {judged.total()} ({parts or 'none'}). "
        f"Counted apart: {apart or 'none'}."
    )


_SAID = {
    Agreement.HOLDS: "with bounds met",
    Agreement.EQUAL: "with bounds met by equality",
    Agreement.FAILS: "with bounds missed",
}

"""Causes of the slowest reads of each case as bars, which need no script."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence

from interpulse.report.cause_names import LOOKS, REST
from interpulse.report.charts import Key, colour, dash
from interpulse.report.elements import Html, swatch, variable
from interpulse.report.runs import Report, Series
from interpulse.runs.summary import LEAST_READS, TAILS

MOST = 4
"""Bars of one page."""

NAMED = 3
"""Causes of a bar that are named below it at most."""

LEAST = 0.02
"""Share of a tail from which a cause is named."""

_HATCHES = {
    "/": '<path d="M0 8 8 0" stroke="var(--paper)" stroke-width="1.5"/>',
    "x": '<path d="M0 0 8 8M0 8 8 0" stroke="var(--paper)" stroke-width="1.5"/>',
    ".": '<circle cx="4" cy="4" r="1.2" fill="var(--paper)"/>',
}


def tail(series: Series) -> tuple[str, Mapping[str, float]] | None:
    """The share of reads that are the slowest, and the causes of their time with their shares; None without any."""
    blame = series.first.get("tail_blame", {})
    for name, share in TAILS.items():
        if blame.get(name, {}).get("reads", 0) >= LEAST_READS and blame[name].get("shares"):
            return share, blame[name]["shares"]
    return None


def bars(report: Report, cases: Sequence[tuple[int, Series]]) -> Html | None:
    """A bar for each case; None where no case has causes."""
    found = [(index, series, of) for index, series in cases[:MOST] if (of := tail(series)) is not None]
    if not found:
        return None
    shares = {of[0] for *_, of in found}
    what = f"the slowest {shares.pop()} of reads" if len(shares) == 1 else "the slowest reads"
    used = {cause for *_, (_, causes) in found for cause in causes}
    patterns = "".join(_pattern(cause) for cause in LOOKS if cause in used and LOOKS[cause][1] in _HATCHES)
    body = "".join(_bar(index, series, of, several=len(report.series) > 1) for index, series, of in found)
    note = report.only_first().strip()
    noted = f'<p class="note">{html.escape(note)}</p>' if note else ""
    return Html(
        f'<div class="bars"><h3>What {what} waited for</h3><svg width="0" height="0" class="hidden" '
        f'aria-hidden="true"><defs>{patterns}</defs></svg>{body}{noted}</div>'
    )


def _pattern(cause: str) -> str:
    look, hatch = LOOKS[cause]
    return (
        f'<pattern id="of-{cause}" width="8" height="8" patternUnits="userSpaceOnUse">'
        f'<rect width="8" height="8" fill="var(--{variable(look)})"/>{_HATCHES[hatch]}</pattern>'
    )


def _bar(index: int, series: Series, of: tuple[str, Mapping[str, float]], *, several: bool) -> str:
    _, shares = of
    causes = sorted(((cause, share) for cause, share in shares.items() if share > 0), key=lambda pair: -pair[1])
    label = html.escape(series.label)
    named = [(cause, share) for cause, share in causes[:NAMED] if share >= LEAST]
    rest = 1 - sum(share for _, share in named)
    items = "".join(f"<li>{swatch(_key(cause))}{_words(cause)} {100 * share:.0f}\u00a0%</li>" for cause, share in named)
    if rest >= LEAST / 2:
        items += f"<li>others {100 * rest:.0f}\u00a0%</li>"
    head = f"<p>{swatch(Key(series.label, colour(index), dash(index)))} <b>{label}</b></p>" if several else ""
    said = ", ".join(f"{_words(cause)} {100 * share:.0f} %" for cause, share in named)
    return (
        f'<div>{head}<svg class="bar" viewBox="0 0 400 14" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}: {said}">{"".join(_fields(causes))}</svg><ul>{items}</ul></div>'
    )


def _fields(causes: Sequence[tuple[str, float]]) -> Iterator[str]:
    at = 0.0
    for cause, share in causes:
        look, hatch = LOOKS.get(cause, REST)
        fill = f"url(#of-{cause})" if hatch in _HATCHES and cause in LOOKS else f"var(--{variable(look)})"
        yield f'<rect x="{400 * at:.1f}" width="{400 * share:.1f}" height="14" fill="{fill}"/>'
        at += share


def _words(cause: str) -> str:
    return html.escape(cause.replace("_", " "))


def _key(cause: str) -> Key:
    look, hatch = LOOKS.get(cause, REST)
    return Key(cause, look, hatch=hatch)

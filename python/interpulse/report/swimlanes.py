"""Swimlane drawing of a slow request: the request, its dies, their channel, the queue of the first die."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from interpulse.logs.trace import Slice
from interpulse.report.cause_names import CAUSES, LOOKS, REST
from interpulse.report.charts import INK, PAPER, Drawing, Key
from interpulse.report.context import CAUSE_OF_USE, TRAIN, Die, spent
from interpulse.report.slow_request import SlowRequest

if TYPE_CHECKING:
    from bokeh.plotting import figure

_NAMES = {
    "host_reads": "other reads of the host",
    "programs": "programs of the host",
    "erases": "erases",
    "gc": "garbage collection",
    "stop": "running on to a legal stop",
    "suspend": "entering, leaving, suspended",
    "bus": "bus",
}

KEYS = {
    "own": Key("the request itself", INK, hatch=" "),
    **{cause: Key(name, LOOKS[cause][0], hatch=LOOKS[cause][1]) for cause, name in _NAMES.items()},
    "rest": Key("queue, link, cache, decode", REST[0], hatch=REST[1]),
    "line": Key("waiting in line", LOOKS["sensing"][0], hatch=" "),
}
"""What the colours mean, by cause."""

COLUMNS = ("request", "strip", "what", "shown_as", "from_us", "to_us", "height", "about")
"""The head of the numbers: the name of a request, then a piece."""

MOST_DIES = 6
"""Dies that are drawn of one request."""

MOST_STRETCHES = 60
"""An operation that was suspended more often is drawn as one."""

_LOW = {
    "verify": 0.55,
    "voltage reset": 0.4,
    "data out": 0.4,
    "data in": 0.4,
    "under way": 0.4,
    "page load": 0.4,
    "buffer reload": 0.4,
    "command": 0.25,
    "entry": 0.25,
    "resume": 0.25,
    "command, data out, decode": 0.4,
    "wait for the bus": 0.12,
    "suspended": 0.12,
}
"""How high slices are drawn whose name is here; pulses and sensings are as high as their strip."""

_TITLE = 0.45
"""How high strips are drawn that have words above them."""

_LETTER = 0.0072
"""The width of a letter as a share of the drawing's."""

_LONG = {"program": "programs", "gc-program": "gc", "erase": "erases"}

_IN_ORDER = (
    *("queue", "firmware", "link", "host_reads", "programs", "erases", "gc", "stop", "suspend", "bus", "sensing"),
    *("retry", "decode", "cache", "power", "own_program"),
)
"""Causes about as requests go through them."""


class Piece(NamedTuple):
    """A rectangle; times in us since the request came."""

    strip: str
    what: str
    shown_as: str
    from_us: float
    to_us: float
    height: float
    about: str


def pieces(it: SlowRequest, budget: int) -> list[Piece]:
    """What is drawn of a request that has a die, strip by strip from the top, in about `budget` pieces."""
    first = it.dies[0]
    return [
        *_life(it),
        *_operations(it, first),
        *_dies(it, int(0.7 * budget)),
        *_channel(it, first, max(int(0.15 * budget), 20)),
        *_line(it, first, max(int(0.15 * budget), 20)),
    ]


def view(it: SlowRequest, of: Sequence[Piece]) -> Mapping[str, Any]:
    """What the page has to know to show a request (`Chart.views`)."""
    begin, end = ((at - it.arrival) / 1e3 for at in _extent(it))
    return {
        "pick": it.name,
        "strips": list(dict.fromkeys(piece.strip for piece in of)),
        "range": [begin, end],
        "done": it.latency / 1e3,
        "labels": list(_labels(it, of, begin, end)),
    }


def _extent(it: SlowRequest) -> tuple[int, int]:
    """From when until when a request is shown: where it waited long before its die, its time there."""
    begin = it.arrival
    if it.span is not None and it.span[0] - it.arrival > it.latency // 2:
        begin = it.span[0]
    margin = (it.done - max(begin, it.around.from_ns)) // 10
    return max(it.around.from_ns, begin - margin), it.done + margin


def draw(used: Sequence[str], drawing: Drawing) -> figure:
    """An empty figure with a renderer for each of the keys: the page fills it with the request that is chosen."""
    from bokeh.models import FixedTicker, NumeralTickFormatter

    found = drawing.figure(
        "µs since the request came",
        "",
        drawing.range(0, 1),
        drawing.range(0, 1),
        height=360,
        crisp=False,
        zooms="width",
    )
    found.xaxis.formatter = NumeralTickFormatter(format="0,0.[000]")
    found.yaxis.ticker = FixedTicker(ticks=[])
    found.yaxis.major_tick_line_color = None
    found.ygrid.grid_line_color = None
    columns = ("left", "right", "bottom", "top", "what", "strip", "about")
    edge = {"line_color": PAPER, "line_width": 0.5, "hatch_alpha": 0.6}
    quads = [
        found.quad("left", "right", "top", "bottom", source={name: [] for name in columns}, **edge, **key.filling)
        for key in map(KEYS.__getitem__, used)
    ]
    marks: dict[str, list[float]] = {"x": [], "y0": [], "y1": []}
    found.segment("x", "y0", "x", "y1", source=marks, line_color=INK, line_dash=[2, 4], line_width=1.5, name="marks")
    labels: dict[str, list[Any]] = {"x": [], "y": [], "text": []}
    # Clear of the line where the request comes, and of the one where it is done.
    style = {"text_color": INK, "text_font_size": "11px", "text_baseline": "bottom", "x_offset": 4}
    style |= {"background_fill_color": PAPER, "background_fill_alpha": 0.8}
    found.text("x", "y", "text", source=labels, name="labels", **style)
    tips = [
        ("", "@strip"),
        ("what", "@what"),
        ("about", "@about"),
        ("from", "@left{0,0.000} µs"),
        ("to", "@right{0,0.000} µs"),
    ]
    drawing.hover(found, tips, quads)
    drawing.legend(found, [KEYS[key] for key in used])
    return found


def _piece(it: SlowRequest, strip: str, what: str, key: str, begin: int, end: int, height: float, about: str) -> Piece:
    begin, end = max(begin, it.around.from_ns) - it.arrival, min(end, it.around.to_ns) - it.arrival
    return Piece(strip, what, KEYS[key].label, begin / 1e3, end / 1e3, height, about)


def _life(it: SlowRequest) -> Iterator[Piece]:
    """The request from its arrival until it is done, by what it waited for."""
    known = it.span is not None and (it.exact or it.inferred)
    for what, key, begin, end, about in _timed(it) if known else _in_order(it):
        # Unlike a die's, its time is known before anything was recorded.
        yield Piece(it.name, what, KEYS[key].label, (begin - it.arrival) / 1e3, (end - it.arrival) / 1e3, _TITLE, about)


def _timed(it: SlowRequest) -> Iterator[tuple[str, str, int, int, str]]:
    """What is known of when: before its die, behind others at its die, on its die, after it."""
    assert it.span is not None
    start, begin = it.span
    if start > it.arrival:
        yield "before its die", "rest", it.arrival, start, "submission queue, firmware and link"
    at = start
    for each in it.dies[0].slices:
        lo, hi = max(each.from_ns, start), min(each.to_ns, begin)
        if lo < hi:
            if lo > at:
                yield "bus", "bus", at, lo, "about to be granted the bus"
            key = CAUSE_OF_USE[each.args["use"]]
            yield f"waits: {KEYS[key].label}", key, lo, hi, _about(each)
            at = hi
    mine = [each.to_ns for each in it.dies[0].slices if each.from_ns >= begin and it.own(each)]
    at, end = begin, max(mine, default=begin)
    for each in it.dies[0].slices:
        if begin <= each.from_ns < end:
            if each.from_ns > at:
                yield "decode", "rest", at, each.from_ns, "or about to be granted the bus"
            cause = CAUSE_OF_USE[each.args["use"]]
            if it.own(each):
                bus = cause == "host_reads" and each.name != "sensing"
                yield each.name, "bus" if bus else "own", each.from_ns, each.to_ns, _about(each)
            else:
                yield f"waits again: {KEYS[cause].label}", cause, each.from_ns, each.to_ns, _about(each)
            at = each.to_ns
    if end < it.done:
        after = "sensing, transfer and what follows" if it.inferred else "decode, and the link to the host"
        yield "after its wait" if it.inferred else "after its die", "rest", end, it.done, after


def _in_order(it: SlowRequest) -> Iterator[tuple[str, str, int, int, str]]:
    """How long each took is known, and not when: in the order in which requests go through them."""
    at = it.arrival
    for cause in _IN_ORDER:
        ns = it.waits.get(cause, 0)
        if ns:
            key = cause if cause in KEYS else "own" if cause in ("sensing", "own_program") else "rest"
            yield CAUSES[cause], key, at, at + ns, "in the order of causes, not of time"
            at += ns
    if at < it.done:
        yield "under way", "rest", at, it.done, "no account is kept of it"


def _operations(it: SlowRequest, die: Die) -> Iterator[Piece]:
    """The programs and erases of a die, each as one that is low while it is suspended."""
    for each in die.operations:
        about = f"{each.what}, block {each.block}" + f", suspended: {each.suspends}" * bool(each.suspends)
        key = _LONG.get(each.what, "rest")
        strip = f"{die.name}: operations"
        stretches = each.stretches if len(each.stretches) <= MOST_STRETCHES else ((each.from_ns, each.to_ns, True),)
        for begin, end, runs in stretches:
            what = each.what if runs else f"{each.what}, suspended"
            yield _piece(it, strip, what, key, begin, end, (0.8 if runs else 0.2) * _TITLE, about)


def _dies(it: SlowRequest, budget: int) -> Iterator[Piece]:
    """What its dies did, phase by phase; of dies that are not the first, and of many phases, only the gist."""
    dies = it.dies[:MOST_DIES]
    for number, die in enumerate(dies):
        share = budget if len(dies) == 1 else budget // 2 if number == 0 else budget // (2 * (len(dies) - 1))
        yield from _die(it, die, max(share, 20))


def _die(it: SlowRequest, die: Die, most: int) -> Iterator[Piece]:
    begin, end = _extent(it)
    slices = [each for each in die.slices if each.to_ns > begin and each.from_ns < end]
    if len(slices) <= most:
        for each in slices:
            key = "own" if it.own(each) else CAUSE_OF_USE[each.args["use"]]
            height = _LOW.get(each.name, 1.0)
            yield _piece(it, die.name, each.name, key, each.from_ns, each.to_ns, height, _about(each))
        return
    runs: list[list[Slice]] = []
    for each in slices:
        if runs and runs[-1][-1].to_ns == each.from_ns and _same(runs[-1][-1], each) and not it.own(each):
            runs[-1].append(each)
        else:
            runs.append([each])
    if len(runs) > most:
        kept = most // 2
        yield from _gist(it, die, [each for run in runs[:-kept] for each in run], most - kept)
        runs = runs[-kept:]
    for run in runs:
        key = "own" if it.own(run[0]) else CAUSE_OF_USE[run[0].args["use"]]
        what = " and ".join(dict.fromkeys(each.name for each in run))
        height = max(_LOW.get(each.name, 1.0) for each in run)
        yield _piece(it, die.name, what, key, run[0].from_ns, run[-1].to_ns, height, _about(run[0]))


def _gist(it: SlowRequest, die: Die, slices: Sequence[Slice], most: int) -> Iterator[Piece]:
    """More phases than a page can hold: by what took the most of each of some equal stretches of time."""
    begin, end = max(slices[0].from_ns, _extent(it)[0]), slices[-1].to_ns
    width = -(-(end - begin) // most)
    for start in range(begin, end, width):
        stop = min(start + width, end)
        did = spent(die, start, stop)
        if not did:
            continue
        cause = max(did, key=lambda cause: did[cause])
        count = sum(each.to_ns > start and each.from_ns < stop for each in slices)
        about = f"{100 * did[cause] / (stop - start):.0f} % of this stretch; {count} phases, too many to draw each"
        yield _piece(it, die.name, f"mostly {KEYS[cause].label}", cause, start, stop, 0.7, about)


def _same(one: Slice, other: Slice) -> bool:
    keys = ("operation", "suspended so often") if one.name in TRAIN else ("operation", "for request", "block")
    uses = (CAUSE_OF_USE[one.args["use"]], CAUSE_OF_USE[other.args["use"]])
    return uses[0] == uses[1] and all(one.args.get(key) == other.args.get(key) for key in keys)


def _about(each: Slice) -> str:
    args = each.args
    parts = [f"block {args['block']}"] if args.get("block") is not None else []
    parts += [f"{args['operation']} on the die"] if args.get("operation") else []
    parts += [f"suspended: {args['suspended so often']}"] if args.get("suspended so often") else []
    parts += ["runs on to a stop"] * ("runs on to a stop" in args) + ["done again"] * ("done again" in args)
    parts += [f"for request {args['for request']}"] if args.get("for request") is not None else []
    return ", ".join(parts)


def _channel(it: SlowRequest, die: Die, most: int) -> Iterator[Piece]:
    """Transfers over the channel of a die; where there are too many, those that are near each other are one."""
    mine = {(each.from_ns, each.to_ns) for each in die.slices if it.own(each)}
    begin, end = _extent(it)
    moves = [one for one in it.around.channels.get(die.channel, ()) if one.to_ns > begin and one.from_ns < end]
    gaps = sorted(after.from_ns - before.to_ns for before, after in pairwise(moves))
    # The shortest ones go.
    gap = gaps[len(gaps) - most] if len(gaps) > most else 0
    groups: list[list[Slice]] = []
    for each in moves:
        own = [(one.from_ns, one.to_ns) in mine for one in (each, *(of[-1] for of in groups[-1:]))]
        if groups and gap and not any(own) and each.from_ns - groups[-1][-1].to_ns <= gap:
            groups[-1].append(each)
        else:
            groups.append([each])
    for of in groups:
        first, last = of[0], of[-1]
        key = "own" if (first.from_ns, first.to_ns) in mine else "bus"
        moved = sum(each.args.get("bytes", 0) for each in of)
        about = (f"{moved:,} bytes" if moved else "") + f" in {len(of)} steps" * (len(of) > 1)
        what = " and ".join(dict.fromkeys(each.name for each in of))
        height = 2 * max(_LOW.get(each.name, 0.4) for each in of)
        yield _piece(it, die.channel, what, key, first.from_ns, last.to_ns, height, about)


def _line(it: SlowRequest, die: Die, most: int) -> Iterator[Piece]:
    """How many commands waited for a die; the longest line is as high as the strip. Of many, some are one."""
    begin, end = _extent(it)
    levels = it.around.waiting.get(die.name, [])
    until = [*(one.at_ns for one in levels[1:]), it.around.to_ns]
    shown = [
        (max(level.at_ns, begin), min(after, end), level.value)
        for level, after in zip(levels, until, strict=True)
        if after > begin and level.at_ns < end
    ]
    if len(shown) > most:
        step = -(-len(shown) // most)
        groups = [shown[k : k + step] for k in range(0, len(shown), step)]
        shown = [(of[0][0], of[-1][1], max(value for *_, value in of)) for of in groups]
    highest = max((value for *_, value in shown), default=0)
    for start, stop, value in shown:
        if value and stop > start:
            about = f"at most {highest} here"
            yield _piece(it, f"line of {die.name}", f"{value} waiting", "line", start, stop, value / highest, about)


def _labels(it: SlowRequest, of: Sequence[Piece], begin: float, end: float) -> Iterator[list[Any]]:
    """Words above pieces that are wide enough for them: where, strip, text."""
    life: list[Piece] = []
    long: list[Piece] = []
    for piece in of:
        if piece.strip == it.name:
            if life and life[-1].shown_as == piece.shown_as and life[-1].what == piece.what:
                life[-1] = life[-1]._replace(to_us=piece.to_us)
            else:
                life.append(piece)
        elif piece.strip.endswith(": operations"):
            if long and long[-1].to_us == piece.from_us and long[-1].about == piece.about:
                long[-1] = long[-1]._replace(to_us=piece.to_us)
            else:
                long.append(piece)
    for piece in [*life, *long]:
        start, stop = max(piece.from_us, begin), min(piece.to_us, end)
        whole = f"{piece.what}, {piece.to_us - piece.from_us:,.1f} µs in all"
        texts = (
            [*[whole] * (piece.from_us < begin), piece.what] if piece.strip == it.name else [piece.about, piece.what]
        )
        for text in (text.replace("gc-program", "collection") for text in texts):
            if stop - start > _LETTER * len(text) * (end - begin):
                yield [start, piece.strip, text]
                break

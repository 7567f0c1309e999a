"""Text about a slow request: the causes of its latency, in words and figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from interpulse.logs.trace import Slice
from interpulse.report.cause_names import CAUSES
from interpulse.report.context import CAUSE_OF_USE, Operation, spent
from interpulse.report.slow_request import SlowRequest

MEANWHILE = {
    "host_reads": "reads of the host",
    "programs": "programs of the host",
    "erases": "erases",
    "gc": "garbage collection",
    "stop": "running on to a point where a program or erase may stop",
    "suspend": "entering, leaving and keeping suspensions",
}
"""Die activities by the cause that they are for waiting requests."""

_SMALL = 0.03
"""Causes below this share of a latency are merged, unless there are details about them."""


def parts(it: SlowRequest) -> Iterator[tuple[str, str]]:
    """The causes of its latency, longest first: time and description. Small parts are merged, without a time."""
    words = _words(it)
    rest = []
    for cause, ns in it.waits.items():
        share = ns / it.latency
        if cause in words or share >= _SMALL:
            percent = f"{100 * share:.0f} %" if share >= 0.01 else "below 1 %"
            yield f"{us(ns)} µs", f"({percent}) {words.get(cause, CAUSES[cause])}"
        else:
            rest.append(f"{us(ns)} µs {CAUSES[cause]}")
    if rest:
        yield "", "; ".join(rest)


def lead(it: SlowRequest) -> str:
    """The summary in one sentence."""
    kind = it.request["kind"]
    begins = f"The slowest {kind} (number {it.request['number']}) took {us(it.latency)} µs"
    if not it.waits:
        return f"{begins}."
    cause, ns = next(iter(it.waits.items()))
    if cause == "retry" and it.again is not None and (wait := _longest_wait(it, it.again[0])) and 2 * wait[1] > ns:
        _, ns, what = wait
        return (
            f"{begins}: {us(ns)} µs of it ({100 * ns / it.latency:.0f} %) on {it.dies[0].name} {what}, between its "
            "first reading, which could not be decoded, and the next."
        )
    where = f" on {it.dies[0].name}" if it.dies and cause in MEANWHILE else ""
    likely = ", in all likelihood," if it.inferred else ""
    what = _words(it).get(cause, CAUSES[cause])
    why = f" {_meanwhile(it)}" if it.last is not None or (cause == "queue" and it.dies) else ""
    return f"{begins}: {us(ns)} µs of it ({100 * ns / it.latency:.0f} %){likely}{where} {what}.{why}"


def notes(it: SlowRequest) -> Iterator[str]:
    """Further details, in sentences."""
    kind = it.request["kind"]
    if it.others:
        yield f"It read from {it.others + 1} dies; {it.dies[0].name} was the last to answer."
    if it.inferred:
        what = "The last read that it can have waited for" if kind == "write" else "The read that ended it"
        yield (
            f"{what} was, in all likelihood, one on {it.dies[0].name}: its data had left the die {us(it.gap_ns)} µs "
            f"before the {kind} was done."
        )
    if it.last is not None:
        yield _let_in(it, it.last)
        yield _meanwhile(it)
    if it.dies and it.around.from_ns > it.arrival:
        yield f"What happened in its first {us(it.around.from_ns - it.arrival)} µs was not recorded."


def us(ns: float) -> str:
    """A time in µs."""
    return f"{ns / 1e3:,.1f}"


def _let_in(it: SlowRequest, last: Operation) -> str:
    what = "Its own program was the last to end" if "own_program" in it.waits else "It was let in when a program ended"
    about = [f"{'it' if last.began else 'what was recorded of it'} had taken {us(last.to_ns - last.from_ns)} µs"]
    about += [f"it had been suspended {_times(last.suspends)}"] * bool(last.suspends)
    where = f"{_block(last.block)} on {last.die}"
    return f"{what}, {where}, {us(it.gap_ns)} µs before the write was done: {' and '.join(about)}."


def _meanwhile(it: SlowRequest) -> str:
    """Activity of all dies during the request."""
    begin, end = max(it.arrival, it.around.from_ns), it.done
    sums: dict[str, int] = defaultdict(int)
    for die in it.around.dies.values():
        for cause, ns in spent(die, begin, end).items():
            sums[cause] += ns
    count = len(it.around.dies)
    total = count * (end - begin)
    shares = sorted(sums.items(), key=lambda pair: -pair[1])
    texts = [f"{MEANWHILE[cause]} {100 * ns / total:.0f} %" for cause, ns in shares if ns >= 0.005 * total]
    dies = f"{count} dies that did anything" if count > 1 else "only die that did anything"
    late = f", in the last {us(end - begin)} µs" if begin > it.arrival else ""
    return f"Meanwhile{late}, the {dies} spent their time on {', '.join(texts)}."


def _words(it: SlowRequest) -> dict[str, str]:
    """By cause, what of it the die did while the request waited."""
    if not it.dies or it.span is None:
        return {}
    said = _did(it, *it.span)
    if it.again is not None and (retry := _of_retry(it, it.again[0])):
        said["retry"] = retry
    return said


def _of_retry(it: SlowRequest, begin: int) -> str:
    """What a read waited for while it was read again."""
    own = [each for each in it.dies[0].slices if each.from_ns >= begin and it.own(each)]
    if not own:
        return ""
    sensed = sum(each.name == "sensing" for each in own)
    text = f"for read retries, {sensed} sensing{'s' * (sensed != 1)} more"
    wait = _longest_wait(it, begin)
    return text if wait is None else f"{text}; meanwhile it waited {us(wait[1])} µs {wait[2]}"


def _longest_wait(it: SlowRequest, begin: int) -> tuple[str, int, str] | None:
    """The longest that a read waited for from `begin` on, between its readings: the cause, ns, and in words."""
    own = [each for each in it.dies[0].slices if each.from_ns >= begin and it.own(each)]
    if not own:
        return None
    waited = {
        cause: ns - sum(each.to_ns - each.from_ns for each in own if CAUSE_OF_USE[each.args["use"]] == cause)
        for cause, ns in spent(it.dies[0], begin, own[-1].to_ns).items()
    }
    cause = max(waited, key=lambda cause: waited[cause])
    if waited[cause] <= 0:
        return None
    return cause, waited[cause], _did(it, begin, own[-1].to_ns, own=False).get(cause, CAUSES[cause])


def _did(it: SlowRequest, begin: int, end: int, *, own: bool = True) -> dict[str, str]:
    """What its die did in a time, by what that is to those who wait, in words; with what it did for itself, or not."""
    die = it.dies[0]
    by_cause: dict[str, list[Slice]] = defaultdict(list)
    for each in die.slices:
        if min(each.to_ns, end) > max(each.from_ns, begin) and (own or not it.own(each)):
            by_cause[CAUSE_OF_USE[each.args["use"]]].append(each)
    operations = [each for each in die.operations if each.to_ns > begin and each.from_ns < end]
    said: dict[str, str] = {}
    for cause, slices in by_cause.items():
        if cause == "host_reads":
            said[cause] = _of_reads(it, slices)
        elif cause in _OPERATION:
            said[cause] = _of_operations(it, cause, operations, slices)
        elif cause == "stop":
            stopped = {(each.args.get("operation"), each.args.get("block")) for each in slices}
            names = [
                f"{_NAMED.get(str(what), f'{what} of')} {_block(block)}" for what, block in sorted(stopped, key=str)
            ]
            said[cause] = f"until {_listed(names)} had reached a point where it may stop"
        else:
            kept = {_SUSPENDED.get(each.name, each.name): None for each in slices}
            said[cause] = f"while a suspension was {_listed([*kept])}"
    return {cause: text for cause, text in said.items() if text}


_SUSPENDED = {
    "entry": "entered",
    "suspended": "kept with nothing to read",
    "buffer reload": "left",
    "page load": "left",
    "resume": "left",
    "wait for the bus": "waiting for the bus",
}

_OPERATION = {"programs": "program", "gc": "gc-program", "erases": "erase"}

_NAMED = {"program": "a host program on", "gc-program": "a program of garbage collection on", "erase": "the erase of"}

_PLURAL = {"program": "host programs", "gc-program": "programs of garbage collection", "erase": "erases"}


def _of_reads(it: SlowRequest, slices: Sequence[Slice]) -> str:
    if it.inferred:
        # Reads of an array bear no numbers.
        count = sum(each.name == "sensing" for each in slices)
        return f"behind {count} read{'s' * (count > 1)} of the host" if count else ""
    others = {each.args.get("for request") for each in slices} - {it.request["number"], None}
    texts = [f"behind {len(others)} other read{'s' * (len(others) > 1)} of the host"] * bool(others)
    # Such as the reads of block maintenance.
    nobodys = sum(each.name == "sensing" and each.args.get("for request") is None for each in slices)
    texts += [f"behind {nobodys} read{'s' * (nobodys > 1)} for no request"] * bool(nobodys)
    return " and ".join([*texts, *["behind other pages of its own"] * any(map(it.own, slices))])


def _of_operations(it: SlowRequest, cause: str, operations: Sequence[Operation], slices: Sequence[Slice]) -> str:
    wanted = _OPERATION[cause]
    # An operation may have been suspended all the time.
    busy = {each.args.get("block") for each in slices if each.args.get("operation") == wanted}
    found = [each for each in operations if each.what == wanted and each.block in busy]
    reads = sum(each.name == "sensing" for each in slices) if cause == "gc" else 0
    texts = []
    if len(found) == 1:
        (one,) = found
        before = it.arrival - one.from_ns
        more = "more than " if before > 0 and not one.began else ""
        when = f"begun {more}{us(abs(before))} µs {'before' if before > 0 else 'after'} it came"
        texts.append(f"for {_NAMED[wanted]} {_block(one.block)}, {when} and {_suspended(one.suspends)}")
    elif found:
        stops = _suspended(sum(each.suspends for each in found))
        blocks = [str(block) for block in dict.fromkeys(each.block for each in found)]
        named = f"block{'s' * (len(blocks) > 1)} {_listed(blocks[:6])}{' and others' * (len(blocks) > 6)}"
        texts.append(f"for {len(found)} {_PLURAL[wanted]} ({named}), {stops}")
    if reads:
        texts.append(f"for {reads} read{'s' * (reads > 1)} of garbage collection")
    return " and ".join(texts)


def _suspended(times: int) -> str:
    return f"suspended {_times(times)}" if times else "never suspended"


def _block(block: int | None) -> str:
    return "a block" if block is None else f"block {block}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _listed(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)

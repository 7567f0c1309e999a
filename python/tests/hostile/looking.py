"""Wrong inputs of what shows and searches: logs, timelines, reports, comparisons, several seeds, sweeps."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.hostile.commands import SMALL, words
from tests.hostile.records import Wrong
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = str(ROOT / "examples" / "sweep.toml")
FIT = str(ROOT / "examples" / "fit.toml")


def outside(most: int) -> list[tuple[str, str]]:
    """Values of an option for 1 to `most`, and what must be said of them."""
    beyond = [(str(n), f"{n} is not in the range 1<=x<={most}") for n in (0, most + 1)]
    return [*beyond, ("x", "'x' is not a valid int range")]


LINES = (
    *(
        (f"run {{small}} --out o --log {log}", "--log")
        for log in ("''", "bogus", "requests:1/0", "requests:0", "fio:1/x", "requests:2/3", "fio --log fio")
    ),
    *((f"run {{small}} --out o --series {length}", "--series") for length in ("''", "0s", "-1ms", "10", "soon", "1ns")),
    *(
        (f"run {{small}} --out o --timeline {span}", "--timeline")
        for span in (
            *("''", "worst", "worst:0", "worst:x", "worst:5:trim", "worst:99999999999"),
            *("1s", "2s..1s", "1s..1s", "1..2", "..", "1s..2s..3s"),
        )
    ),
    *((f"run {{small}} --{option}", "--out") for option in ("log requests", "series 1ms", "timeline worst:1")),
    *((f"{line} --repeat {n}", said) for line in ("run {small}", "papers") for n, said in outside(1000)),
    ("run {small} --repeat 3 --seed 18446744073709551615", "18446744073709551615"),
    ("experiment fast12 --repeat 0", "--repeat"),
    ("characterize suspend --repeat x", "--repeat"),
    ("papers bogus", "bogus"),
    ("papers --seed -1", "--seed"),
    ("papers --out ''", "--out"),
    *(
        (f"report {place}", place)
        for place in ("none", "/", "/dev/zero", "/dev/random", "/proc/kmsg", "{small}", "result.json", "list.json")
    ),
    ("report ''", "DIR"),
    ("report good.json --out /", "/"),
    ("report good.json --out ''", "--out"),
    ("report good.json --out {small}", "small.toml"),
    ("report good.json --out /dev/zero", "/dev/zero"),
    ("report good.json", "iops", "figures"),
    ("report good.json --image ''", "--image"),
    ("report good.json --image x.pdf", "--image x.pdf", ".svg or .png"),
    ("report good.json --image /proc/x.svg", "--image /proc"),
    ("report good.json --image x.svg --out y.html", "--image", "--out"),
    ("report good.json --image x.svg", "figures"),
    *((f"compare {place} good.json", place) for place in ("none", "/", "/dev/zero", "{small}", "list.json")),
    ("compare good.json", "two"),
    ("compare good.json good.json --json --csv", "--csv"),
    ("compare good.json good.json --case bogus", "bogus", "figures"),
    *((f"view {file}", file) for file in ("none", "/", "/dev/zero", "{small}", "empty", "good.json")),
    ("view ''", "FILE"),
    *((f"view {{small}} --port {port}", port) for port in ("-1", "65536", "x")),
    *((f"sweep {file}", file) for file in ("none.toml", "/", "/dev/zero", "/dev/null", "{small}", "empty")),
    ("sweep ''", "SWEEP"),
    ("sweep {sweep} --out ''", "--out"),
    ("sweep {sweep} --out {small}", "small.toml"),
    ("sweep {sweep} --out /proc/x", "/proc/x"),
    *((f"sweep {{sweep}} --on {on}", "--on") for on in ("''", "bogus", "none.json", "{small}", "http://127.0.0.1:1")),
    *((f"sweep {{sweep}} --jobs {jobs}", said) for jobs, said in outside(1024)),
    *(
        (f"optimize {file}", file)
        for file in ("none.toml", "/", "/dev/zero", "/dev/null", "{small}", "{sweep}", "empty")
    ),
    ("optimize ''", "STUDY"),
    *(
        (f"fit {file}", file)
        for file in ("none.toml", "/", "/dev/zero", "/dev/null", "{small}", "{sweep}", "empty", "good.json")
    ),
    ("fit ''", "FIT"),
    *((f"fit {{fit}} --out {place}", place) for place in ("{small}", "/proc/x")),
    ("fit {fit} --out ''", "--out"),
    *((f"fit {{fit}} --on {on}", "--on") for on in ("''", "bogus", "none.json")),
    *((f"fit {{fit}} --jobs {jobs}", said) for jobs, said in outside(1024)),
    *((f"fit {{fit}} --budget {time}", "budget") for time in ("''", "0", "-1min", "soon", "10ms", "5")),
    ("fit {fit} --jobs 2 --on tcp://127.0.0.1:1", "--jobs"),
    *((f"{line} {{small}} --read-p99 1ms --out /proc/x", "/proc/x") for line in ("slo", "advise")),
    *((line, "limit") for line in ("slo {small}", "advise {small}")),
    *(
        (f"{line} {option}", option.split()[0])
        for line in ("slo {small}", "advise {small}")
        for option in (
            *(f"--read-p99 {time}" for time in ("''", "1", "-1ms", "0us", "soon", "1e9s", "9999999s")),
            *("--read-p95 1ms", "--trim-p99 1ms"),
        )
    ),
    *(
        (f"{line} {{small}} --read-p99 1ms {option}", option.split()[0])
        for line, options in {
            "slo": ("--precision 0", "--precision x", "--precision ''"),
            "advise": ("--without magic", "--max-suspends 0", "--max-suspends x", "--wear 0", "--wear x", "--wear 2%"),
        }.items()
        for option in (*options, "--case x", "--seeds 1", "--out ''")
    ),
)
"""Command lines, and what the answer names one of."""

GOOD = {"schema_version": 1, "version": "0.1.0", "case": "a", "seed": 1, "config_hash": "x"}
FILES = (
    ("good.json", json.dumps(GOOD).encode()),
    ("result.json", b'{"schema_version": 99, "version": "9.9", "case": "a", "seed": 1}'),
    ("list.json", b"[1, 2]"),
    ("empty", b""),
)

SWEEP = """\
sweep_version = 1
repetitions = 2
[config]
config_version = 1
drive = "a4-mini"
run.requests = 1000
flow = [{ name = "mixed" }]
[[axis]]
key = "flow.0.depth"
name = "depth"
values = [1, 2]
[columns]
moved = "counters.ftl.gc_units"
[derived]
tail = "read_p99_us / read_p50_us"
[constraints]
reads = "read_p99_us <= 2500"
"""

CHANGES = (
    ("sweep_version = 1", "sweep_version = 2", "sweep_version"),
    ("sweep_version", "sweep_versoin", "sweep_versoin"),
    ("repetitions = 2", "repetitions = 0", "repetitions"),
    ("repetitions = 2", 'repetitions = "many"', "repetitions"),
    ("repetitions = 2", "repetitions = 1000000000", "repetitions", "simulations"),
    ('"a4-mini"', '"a4-mono"', "a4-mono"),
    ('"a4-mini"', "3", "drive"),
    ("[config]", "[confg]", "confg"),
    ("flow.0.depth", "flow.0.dept", "flow.0.dept"),
    ("flow.0.depth", "flow.9.depth", "flow.9"),
    ("flow.0.depth", "", "key"),
    ("[1, 2]", "[]", "values"),
    ("[1, 2]", "[0]", "flow.0.depth"),
    ("[1, 2]", '["deep"]', "flow.0.depth"),
    ("[1, 2]", "[1, 1]", "the same"),
    ("[1, 2]", "[nan]", "NaN"),
    ("[1, 2]", "3", "values"),
    ("values = [1, 2]", "", "depth", "values"),
    ("values = [1, 2]", "range = { from = 5, to = 1, step = 1 }", "range"),
    ("values = [1, 2]", "range = { from = 1, to = 5, step = 0 }", "step"),
    ("values = [1, 2]", "range = { from = 1, to = 1e12, step = 1 }", "range", "points"),
    ("values = [1, 2]", "log-range = { from = 0, to = 64, factor = 4 }", "from"),
    ("values = [1, 2]", "log-range = { from = 1, to = 64, factor = 1 }", "factor"),
    ("read_p50_us", "read_p5x_us", "read_p5x_us"),
    ("/ read", "/ / read", "tail"),
    ('"read_p99_us / read_p50_us"', "\"__import__('os')\"", "tail"),
    ("<= 2500", "<=", "reads"),
    ("[constraints]", "[constraint]", "constraint"),
    ("[[axis]]", "[axis]", "axis"),
    ("[[axis]]", "[[axis", "line 8"),
    ("sweep_version", "\x00", "line 1"),
)
"""A text of the sweep file, what stands there instead, and what the answer names one of."""


def shown() -> Iterator[Wrong]:
    """Command lines beside files that are no results."""
    for line, *names in LINES:
        argv, asked = (_full(words(line)), _full(names))
        yield Wrong(kind="command", about="a command", argv=argv, names=asked, files=FILES)


PIPE = "import os; os.mkfifo('pipe')\n"


def pipes() -> Iterator[Wrong]:
    """Calls that are given a pipe into which nobody writes."""
    for code in (
        "interpulse.compare('pipe', 'pipe')",
        "interpulse.sweep('pipe')",
        "interpulse.fit('pipe')",
        "interpulse.Config.load('pipe')",
        "from interpulse.flash.parts import one_die; one_die('./pipe')",
        "from interpulse.report.runs import load; load([Path('pipe')])",
        "from interpulse.logs.viewer import Viewer; Viewer.of(Path('pipe'), 0)",
    ):
        yield Wrong(kind="python", about="a pipe", text=PIPE + code, names=("it is a pipe",))


def sweeps() -> Iterator[Wrong]:
    """Sweep files."""
    for before, after, *names in CHANGES:
        assert before in SWEEP
        files = (("s.toml", SWEEP.replace(before, after, 1).encode()),)
        yield Wrong(kind="command", about="a sweep", argv=("sweep", "s.toml"), names=tuple(names), files=files)


def _full(texts: list[str]) -> tuple[str, ...]:
    return tuple(text.replace("{small}", SMALL).replace("{sweep}", EXAMPLE).replace("{fit}", FIT) for text in texts)

"""What the gallery shows, in the order of its page: each picture, its command, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass

OUT = "out/gallery"
"""Where the commands write, below the folder of the repository."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture of the gallery."""

    name: str
    """Its file in docs/gallery."""
    title: str
    command: str
    """What a user types in the folder of the repository."""
    says: str
    """What there is to see."""
    file: str = ""
    """The file of the command's folder that it is."""
    chart: str = ""
    """The chart of the command's report that it is, as a browser shows it."""
    view: str = ""
    """The timeline of the command's folder that it shows, as a browser shows it."""
    table: bool = False
    """Whether it is drawn by the tool itself, of the table that the command wrote."""
    width: int = 900
    """Of what a browser shows, in CSS pixels."""
    height: int = 0
    """0: as high as it is."""


@dataclass(frozen=True)
class Part:
    """A part of the page."""

    title: str
    text: str
    pictures: tuple[Picture, ...]


_TAIL = f"interpulse run examples/tail.toml --report --out {OUT}/tail"
_SMALL = f"interpulse run examples/small.toml --set power.trace=true --report --out {OUT}/small"
_RETENTION = f"interpulse characterize retention --quick --out {OUT}/retention"
_ENDURANCE = f"interpulse characterize endurance --quick --out {OUT}/endurance"
_SUSPEND = f"interpulse characterize suspend --quick --out {OUT}/suspend"
_POWER = f"interpulse experiment suspend-tlc-power --quick --out {OUT}/suspend-tlc-power"
_ARTICLE = f"interpulse experiment suspend-tlc --quick --out {OUT}/suspend-tlc"

TRAIN = Picture(
    name="train.svg",
    title="One pulse train with a read inside it",
    command=f"interpulse scheme loop-boundary --part a4-tlc --read-at 900us --out {OUT}/train.svg",
    file="train.svg",
    says="A program of 16 pulses, each with its verify. A read arrives within the seventh; the train stops when that "
    "loop is over, the read goes first, and the train goes on where it was.",
)
TAIL = Picture(
    name="read-tail.png",
    title="The tail of reads, without and with suspension",
    command=_TAIL,
    chart="latency-read",
    says="Each decade of the tail has the same height. With programs suspended, 99 % of the reads are through before "
    "they would have waited for one; the slowest thousandth waits for erases until those are suspended too.",
)

PARTS = (
    Part(
        "One die",
        "Timing diagrams of `interpulse scheme`. Those of all ten schemes, drawn by `make golden`, stand on "
        "[their pages](schemes/README.md).",
        (TRAIN,),
    ),
    Part(
        "A drive",
        "Charts of the page that `--report` writes ([REPORT](REPORT.md)), where they zoom, hide curves and give their "
        "numbers away.",
        (
            TAIL,
            Picture(
                name="blame.png",
                title="What reads waited for",
                command=_TAIL,
                chart="blame",
                says="Each bar is the mean latency of a group of requests by cause. Erases are what the slowest reads "
                "wait for unless these are suspended too; then what is left is mostly their stop.",
            ),
            Picture(
                name="slowest.png",
                title="What the slowest read met",
                command=_TAIL,
                chart="slowest-3",
                says="The slowest read of the third case, from its arrival on: what it waited for, and what its die, "
                "the channel and the line for the die did meanwhile, pulse by pulse.",
            ),
            Picture(
                name="report.png",
                title="The page of a run",
                command=_SMALL,
                chart="page",
                width=1100,
                height=820,
                says="It begins with the figures that matter, with their 95 % intervals.",
            ),
            Picture(
                name="read-latency.png",
                title="Read latency over time",
                command=_SMALL,
                chart="over-time-read",
                says="Median and 99th percentile, batch by batch: with suspension the latter is a quarter.",
            ),
            Picture(
                name="dies.png",
                title="What the dies did",
                command=_SMALL,
                chart="over-time-dies-2",
                says="Shares of the time of all dies; what is missing to 100 % is idle. With suspension at this depth "
                "nothing is, and the same requests are done after 6 s instead of 9.7.",
            ),
            Picture(
                name="power.svg",
                title="Power over time",
                command=_SMALL,
                file="power.svg",
                says="The same requests take less time with suspension, at a higher power.",
            ),
            Picture(
                name="timeline.png",
                title="A timeline",
                command="interpulse run examples/small.toml --set run.requests=20000 --timeline 100ms..102ms "
                f"--out {OUT}/timeline",
                view="suspend-10.timeline.pftrace",
                width=1200,
                height=520,
                says="`interpulse view` of the file shows every phase of every die: pulses and verifies, and the "
                "reads between them ([LOGS](LOGS.md)).",
            ),
            Picture(
                name="sweep.svg",
                title="What suspension costs writes, by load",
                command=f"interpulse sweep examples/sweep.toml --out {OUT}/sweep",
                table=True,
                says="Of the sweep's `results.parquet` ([SWEEP](SWEEP.md)): suspension shortens the tail of reads at "
                "every load, and writes begin to wait at a smaller queue depth.",
            ),
        ),
    ),
    Part(
        "Cells",
        "Plots of `interpulse characterize` ([CHARACTERIZE](CHARACTERIZE.md)): word lines of real cells on a tester, "
        "three seeds each, with 95 % intervals.",
        (
            Picture(
                name="current.svg",
                title="The current of one program",
                command=_SUSPEND,
                file="trace.svg",
                says="Pulses are the peaks. The program is suspended three times; each time a page is sensed and moves "
                "out, and the train goes on.",
            ),
            Picture(
                name="suspends.svg",
                title="Suspensions of one program",
                command=_SUSPEND,
                file="suspends.svg",
                says="By the delay before the first suspension and that between two. The shorter the second, the more "
                "often one program is suspended.",
            ),
            Picture(
                name="states.png",
                title="The states of cells, and reprogramming",
                command=f"interpulse characterize reprogram --quick --out {OUT}/reprogram",
                file="histograms.png",
                says="Cells by threshold voltage. The more layers have been programmed again without an erase, the "
                "further the tail of P7 reaches down.",
            ),
            Picture(
                name="retention.png",
                title="Bit errors over time",
                command=_RETENTION,
                file="rber.png",
                says="By wear and type of page. Worn cells leak sooner, and reads with calibrated levels (solid) put "
                "the limit of the ECC off.",
            ),
            Picture(
                name="temperature.svg",
                title="Bit errors and temperature",
                command=_RETENTION,
                file="temperature.svg",
                says="What 25 °C does in three years, 55 °C does in a month.",
            ),
            Picture(
                name="endurance.svg",
                title="Bit errors over wear",
                command=_ENDURANCE,
                file="errors.svg",
                says="Three months at 40 °C are as bad as a year at 30 °C, which is why the two curves lie on each "
                "other.",
            ),
            Picture(
                name="erase-time.svg",
                title="Operations over wear",
                command=_ENDURANCE,
                file="operations.svg",
                says="Worn cells program a little faster and erase ever slower.",
            ),
            Picture(
                name="erase-stress.svg",
                title="What suspending erases costs cells",
                command=f"interpulse characterize erase --quick --out {OUT}/erase",
                file="stress.svg",
                says="Schemes that stop an erase at once keep cells longer under the erase voltage, and worn cells "
                "reach the limit of errors sooner.",
            ),
        ),
    ),
    Part(
        "Papers",
        "Plots of `interpulse experiment`, quick runs of three seeds. What was published is marked; where it differs, "
        "and why, is in [EXPERIMENTS](EXPERIMENTS.md).",
        (
            Picture(
                name="article.svg",
                title="Bandwidth and latency with suspension",
                command=_ARTICLE,
                file="bandwidth_and_latency.svg",
                says="Beside the figures that the article prints.",
            ),
            Picture(
                name="article-tail.svg",
                title="Latency distributions",
                command=_ARTICLE,
                file="latency_cdf.svg",
                says="With suspension reads are through within one ms instead of three; writes pay for it.",
            ),
            Picture(
                name="article-power.svg",
                title="Power with suspension",
                command=_POWER,
                file="over_time.svg",
                says="From an empty cache on: with suspension the flash does more in the same time, and draws a little "
                "more.",
            ),
            Picture(
                name="fast12.svg",
                title="Read latency with suspension, on six traces and two kinds of cells",
                command=f"interpulse experiment fast12 --quick --out {OUT}/fast12",
                file="read_latency.svg",
                says="Over that of first come, first served, on twins of the paper's traces: reads first (RPS), two "
                "bounds, and suspension, which comes close to them.",
            ),
            Picture(
                name="reprogram-reads.svg",
                title="Reads beside reprogramming",
                command=f"interpulse experiment reprogram-suspend --quick --out {OUT}/reprogram-suspend",
                file="reads.svg",
                says="Under each scheme, without a limit and with at most two suspensions: also where cells are "
                "programmed again, reads hardly wait.",
            ),
        ),
    ),
)


def pictures() -> list[Picture]:
    """All of them, in the order of the page."""
    return [picture for part in PARTS for picture in part.pictures]

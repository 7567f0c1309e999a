"""Pictures of the gallery in the order of the page, with their commands and sources."""

from __future__ import annotations

from dataclasses import dataclass

OUT = "out/gallery"
"""Output folder of the commands, below the repository."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One picture of the gallery."""

    name: str
    """File name in docs/gallery."""
    title: str
    command: str
    """Command line, in the folder of the repository."""
    says: str
    """Explanation of the picture."""
    file: str = ""
    """Source file in the output folder."""
    chart: str = ""
    """Source chart of the report, shown by a browser."""
    view: str = ""
    """Source timeline, shown by a browser."""
    explore: str = ""
    """Query of the page of `interpulse explore`, shown by a browser."""
    figure: str = ""
    """Figure of each case of the result, as a path of keys, of which the tool draws bars."""
    axis: str = ""
    """Label of the axis of the bars or lines."""
    rate: str = ""
    """Column with the bytes of each interval of the series (`--series`), of which the tool draws MB/s over time."""
    unit: float = 1.0
    """Divisor of the figure."""
    table: bool = False
    """Whether the tool draws the picture from the table of the command."""
    width: int = 900
    """Width in the browser, in CSS pixels."""
    height: int = 0
    """Height in the browser, in CSS pixels; 0: natural height."""


@dataclass(frozen=True)
class Part:
    """A section of the page."""

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

EXPLORE = Picture(
    name="explore.png",
    title="Settings as controls",
    command="interpulse explore",
    explore="window=1000000",
    width=1280,
    height=900,
    says="The slowest reads of the demo drive without suspension and with the chosen one. Each change of a control is "
    "simulated at once; a dotted end is too short to be sure ([EXPLORE](EXPLORE.md)).",
)

TRAIN = Picture(
    name="train.svg",
    title="One pulse train with a read inside it",
    command=f"interpulse scheme loop-boundary --part a4-tlc --read-at 900us --out {OUT}/train.svg",
    file="train.svg",
    says="A program of 16 pulses, each with its verify. A read arrives within the seventh; the train stops at the "
    "end of that loop, the die serves the read, and the train continues.",
)
TAIL = Picture(
    name="read-tail.png",
    title="The tail of reads, without and with suspension",
    command=_TAIL,
    chart="latency-read",
    says="Each decade of the tail has the same height. With program suspension, 99 % of the reads do not wait for a "
    "program; the slowest thousandth waits for erases unless these are suspended too.",
)

PARTS = (
    Part(
        "One die",
        "Timing diagrams of `interpulse scheme`. `make golden` draws those of all schemes, which are on "
        "[their pages](schemes/README.md).",
        (TRAIN,),
    ),
    Part(
        "A drive",
        "Charts of the page that `--report` writes ([REPORT](REPORT.md)). On the page they zoom, hide curves and "
        "export their numbers.",
        (
            TAIL,
            EXPLORE,
            Picture(
                name="blame.png",
                title="Read latency by cause",
                command=_TAIL,
                chart="blame",
                says="Each bar is the mean latency of a group of requests by cause. The slowest reads wait for "
                "erases unless these are suspended too; then they mostly wait for the stop of an erase.",
            ),
            Picture(
                name="slowest.png",
                title="The slowest read",
                command=_TAIL,
                chart="slowest-3",
                says="The slowest read of the third case from its arrival: causes of its latency, and the activity of "
                "its die, channel and die queue, pulse by pulse.",
            ),
            Picture(
                name="report.png",
                title="The page of a run",
                command=_SMALL,
                chart="page",
                width=1280,
                height=720,
                says="The first screen: what changed, four figures with 95 % intervals, the tail, what the slowest "
                "reads waited for.",
            ),
            Picture(
                name="read-latency.png",
                title="Read latency over time",
                command=_SMALL,
                chart="over-time-read",
                says="Median and 99th percentile, batch by batch. Suspension reduces the latter to a quarter.",
            ),
            Picture(
                name="dies.png",
                title="Die activity",
                command=_SMALL,
                chart="over-time-dies-2",
                says="Shares of the time of all dies; the rest to 100 % is idle. With suspension at this depth no die "
                "is idle, and the same requests take 6 s instead of 9.7.",
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
                title="Cost of suspension for writes, by load",
                command=f"interpulse sweep examples/sweep.toml --out {OUT}/sweep",
                table=True,
                says="From the sweep's `results.parquet` ([SWEEP](SWEEP.md)): suspension shortens the tail of reads at "
                "every load, and writes start to wait at a smaller queue depth.",
            ),
        ),
    ),
    Part(
        "Today's drives",
        "Examples of SLC cache, mapping cache, placement, zones, independent planes, namespaces and wear. "
        "Each runs in a few seconds.",
        (
            Picture(
                name="slc-cache.svg",
                title="The write cliff of an SLC cache",
                command=f"interpulse run examples/slc-cache.toml --series 50ms --out {OUT}/slc-cache",
                rate="write_bytes",
                axis="written, MB/s",
                says="A burst of writes beside reads on a QLC drive. The cache takes writes fast until it is full; "
                "folding while the host writes lowers their rate before that ([SLC](SLC.md)).",
            ),
            Picture(
                name="dftl.svg",
                title="Hit rate of a mapping cache by its size",
                command=f"interpulse run examples/dftl.toml --out {OUT}/dftl",
                figure="ftl.mapping.hit_rate",
                axis="share of look-ups that hit",
                says="Single entries under a Zipf load; the full table would take 2.3 MiB ([MAPPING](MAPPING.md)).",
            ),
            Picture(
                name="fdp.svg",
                title="Write amplification of two tenants, without and with placement handles",
                command=f"interpulse run examples/fdp.toml --out {OUT}/fdp",
                figure="ftl.waf",
                axis="write amplification",
                says="A log and a table of random writes share a drive. With a handle each, collection no longer moves "
                "the log along ([PLACEMENT](PLACEMENT.md)).",
            ),
            Picture(
                name="zns.png",
                title="Reads beside a zone of one die and of eight",
                command=f"interpulse run examples/zns.toml --report --out {OUT}/zns",
                chart="latency-read",
                says="A wide zone writes faster, and all reads wait for its programs, unless these are suspended "
                "([ZNS](ZNS.md)).",
            ),
            Picture(
                name="iwl.svg",
                title="Random reads with and without independent planes",
                command=f"interpulse run examples/iwl.toml --out {OUT}/iwl",
                figure="iops",
                axis="thousand requests per second",
                unit=1000,
                says="Four planes that read independently pay where several reads wait for a die, and not at depth "
                "1 or over a slow bus ([PARTS](PARTS.md)).",
            ),
            Picture(
                name="namespaces.png",
                title="Reads of one namespace beside writes to another",
                command=f"interpulse run examples/namespaces.toml --report --out {OUT}/namespaces",
                chart="latency-read",
                says="Namespaces share dies. A zoned namespace collects nothing, and suspension shortens the rest of "
                "the tail ([NAMESPACES](NAMESPACES.md)).",
            ),
            Picture(
                name="wear-out.svg",
                title="Data written until a drive is read-only",
                command=f"interpulse run examples/wear-out.toml --out {OUT}/wear-out",
                figure="smart.host_bytes_written",
                axis="GB written by the host",
                unit=1e9,
                says="Static levelling lets blocks under cold data wear, too: a longer life in each of four seeds. "
                "The last two bars differ by chance ([FAULTS](FAULTS.md)).",
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
                says="Pulses are the peaks. The program is suspended three times; each time a page is sensed and "
                "transferred, and the train continues.",
            ),
            Picture(
                name="suspends.svg",
                title="Suspensions of one program",
                command=_SUSPEND,
                file="suspends.svg",
                says="By the delay before the first suspension and the interval between suspensions. A shorter "
                "interval gives more suspensions per program.",
            ),
            Picture(
                name="states.png",
                title="The states of cells, and reprogramming",
                command=f"interpulse characterize reprogram --quick --out {OUT}/reprogram",
                file="histograms.png",
                says="Cells by threshold voltage. The more layers are reprogrammed without an erase, the further "
                "the tail of P7 extends to low voltages.",
            ),
            Picture(
                name="retention.png",
                title="Bit errors over time",
                command=_RETENTION,
                file="rber.png",
                says="By wear and type of page. Worn cells leak sooner, and calibrated read levels (solid) delay the "
                "ECC limit.",
            ),
            Picture(
                name="temperature.svg",
                title="Bit errors and temperature",
                command=_RETENTION,
                file="temperature.svg",
                says="One month at 55 °C has the effect of three years at 25 °C.",
            ),
            Picture(
                name="endurance.svg",
                title="Bit errors over wear",
                command=_ENDURANCE,
                file="errors.svg",
                says="Three months at 40 °C and a year at 30 °C have the same effect, so the two curves coincide.",
            ),
            Picture(
                name="erase-time.svg",
                title="Operations over wear",
                command=_ENDURANCE,
                file="operations.svg",
                says="Worn cells program slightly faster and erase more slowly.",
            ),
            Picture(
                name="erase-stress.svg",
                title="Cell wear by erase suspension",
                command=f"interpulse characterize erase --quick --out {OUT}/erase",
                file="stress.svg",
                says="Schemes that stop an erase at once apply the erase voltage for longer, and worn cells reach the "
                "error limit sooner.",
            ),
        ),
    ),
    Part(
        "Papers",
        "Plots of `interpulse experiment`, quick runs of three seeds. Published values are marked; "
        "[EXPERIMENTS](EXPERIMENTS.md) explains differences.",
        (
            Picture(
                name="article.svg",
                title="Bandwidth and latency with suspension",
                command=_ARTICLE,
                file="bandwidth_and_latency.svg",
                says="Simulation and the figures of the article.",
            ),
            Picture(
                name="article-tail.svg",
                title="Latency distributions",
                command=_ARTICLE,
                file="latency_cdf.svg",
                says="With suspension reads complete within one ms instead of three; write latencies grow.",
            ),
            Picture(
                name="article-power.svg",
                title="Power with suspension",
                command=_POWER,
                file="over_time.svg",
                says="From an empty cache. With suspension the flash completes more work in the same time and draws "
                "slightly more power.",
            ),
            Picture(
                name="fast12.svg",
                title="Read latency with suspension, on six traces and two kinds of cells",
                command=f"interpulse experiment fast12 --quick --out {OUT}/fast12",
                file="read_latency.svg",
                says="Relative to first come, first served, on twins of the paper's traces: read priority (RPS), two "
                "bounds, and suspension, which is close to the bounds.",
            ),
            Picture(
                name="reprogram-reads.svg",
                title="Reads beside reprogramming",
                command=f"interpulse experiment reprogram-suspend --quick --out {OUT}/reprogram-suspend",
                file="reads.svg",
                says="Each scheme, without a limit and with at most two suspensions: reads hardly wait, even during "
                "reprogramming.",
            ),
            Picture(
                name="decade.svg",
                title="Schemes of 2012 to 2025 on one drive",
                command=f"interpulse experiment decade --out {OUT}/decade",
                file="decade.svg",
                says="Read tail over write tail of each scheme, on TLC and QLC, with and without an SLC cache and "
                "independent plane reads; colour: time under voltage; area: energy.",
            ),
        ),
    ),
)


def pictures() -> list[Picture]:
    """All pictures in the order of the page."""
    return [picture for part in PARTS for picture in part.pictures]

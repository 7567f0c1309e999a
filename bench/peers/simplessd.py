"""SimpleSSD-Standalone: its sample drive under generated loads, and its log of latencies."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from peers.figures import Figures, of_latencies
from peers.process import Command
from peers.rows import Ready, Row

_SAMPLE = Path("simplessd", "config", "sample.cfg")


def simulation(kind: str, block: int, depth: int, requests: int, log: str) -> str:
    """Its simulation file: a generated load over NVMe, without time of the host's software."""
    sections = {
        "global": {
            "Mode": 0,
            "LogPeriod": 0,
            "LogFile": "log.txt",
            "DebugLogFile": "",
            "LatencyLogFile": log,
            "ProgressPeriod": 0,
            "Interface": 1,
            "Scheduler": 0,
            "SubmissionLatency": 0,
            "CompletionLatency": 0,
        },
        "generator": {
            "io_size": requests * block,
            "readwrite": kind,
            "blocksize": block,
            "iomode": "async",
            "iodepth": depth,
            "offset": 0,
            "thinktime": 0,
            "randseed": 13245,
            "time_based": 0,
        },
    }
    lines = [f"[{name}]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items()) for name, keys in sections.items()]
    return "\n".join(lines)


def result(output: Path, told: str) -> Figures:
    """Figures of the files in the output folder, latencies in ps, and of the simulated time that it prints.

    Its standard deviation is not used: it subtracts the mean, not its square.
    """
    path = output / "latency.txt"
    latencies = [int(line.rsplit(",", 1)[1]) / 1e6 for line in path.read_text().splitlines()]
    span = re.search(r"Time \(ps\): \d+ - \d+ \((\d+)\)", told)
    log = (output / "log.txt").read_text()
    found = re.search(r"^ftl\.page_mapping\.gc\.count\s+([\d.]+)", log, re.MULTILINE)
    return of_latencies(
        latencies,
        iops=len(latencies) / (int(span[1]) / 1e12) if span else None,
        collections=float(found[1]) if found else None,
    )


def _sample(program: Path) -> Path:
    """The sample drive beside the program or in the folder above it."""
    places = [program.parent / _SAMPLE, program.parent.parent / _SAMPLE]
    return next((place for place in places if place.is_file()), places[-1])


def _prepare(kind: str, block: int, depth: int, fill: str, work: Path, program: Path, requests: int) -> Ready:
    drive = work / "drive.cfg"
    text = re.sub(r"(?m)^(FillRatio) *=.*", rf"\1 = {fill}", _sample(program).read_text())
    drive.write_text(text)
    commands = []
    for log in ("", "latency.txt"):
        output = work / f"output-{bool(log)}"
        output.mkdir(exist_ok=True)
        (output / "sim.cfg").write_text(simulation(kind, block, depth, requests, log))
        commands.append(Command([str(program), str(output / "sim.cfg"), str(drive), str(output)], output))
    write, random = kind.endswith("write"), kind.startswith("rand")
    changes = (
        f"flow.0.depth={depth}",
        f"flow.0.block-size={block}B",
        f"flow.0.address={'uniform' if random else 'sequential'}",
        f"flow.0.read={0 if write else 1}",
        f"run.requests={requests}",
    )
    recorded = commands[1]
    return Ready(commands[0], partial(result, recorded.folder), ["simplessd", str(drive)], changes, recorded)


def _row(name: str, kind: str, block: int, depth: int, requests: int, fill: str = "1.0") -> Row:
    prepare = partial(_prepare, kind, block, depth, fill)
    return Row(f"SimpleSSD: {name}", "simplessd", requests, prepare)


ROWS = [
    _row("4 KiB reads, depth 1", "randread", 4096, 1, 200_000),
    _row("4 KiB reads, depth 16", "randread", 4096, 16, 1_000_000),
    _row("4 KiB reads, depth 64", "randread", 4096, 64, 1_000_000),
    _row("4 KiB writes, full drive", "randwrite", 4096, 16, 1_000_000),
    _row("128 KiB writes", "write", 128 << 10, 16, 30_000, fill="0.0"),
]

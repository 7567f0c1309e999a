"""Requests of a trace that was replayed on a real drive, each beside the same request of the simulation.

    python python/tools/replays.py NAME CHECKOUT

examples/drives/replayed/NAME.toml is the drive; NAME-files.toml names the files of the checkout, each with the latency
of every request. Writes NAME.json beside them: for each file the share of requests within 10 % and within a quarter,
and percentiles. `python python/tools/predictions.py` writes the table of docs/PREDICTIONS.md.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import interpulse
from interpulse import Config

ROOT = Path(__file__).parent.parent.parent
REPLAYED = ROOT / "examples" / "drives" / "replayed"
PERCENTILES = (50.0, 99.0, 99.9)

Column = NDArray[Any]


@dataclass(frozen=True)
class Requests:
    """Requests of a file in order of submission, one array element each."""

    time_ns: Column
    """Submission; requests of the same microsecond are one nanosecond apart, so that each has a time of its own."""
    read: Column
    offset: Column
    size: Column
    latency_us: Column

    @classmethod
    def load(cls, path: Path) -> Requests:
        """Reads the columns time, latency, direction, size, offset, submission, size.

        Raises:
            ValueError: a row has another number of columns, or a word that is no number.
            OSError: the file cannot be read.
        """
        rows = np.loadtxt(path, delimiter=",", ndmin=2)
        if rows.shape[1] != 7:
            raise ValueError(f"{path}: {rows.shape[1]} columns instead of 7")
        rows = rows[np.argsort(rows[:, 5], kind="stable")]
        steps = np.arange(len(rows))
        time = np.maximum.accumulate(np.rint(rows[:, 5] * 1e6).astype(np.int64) - steps) + steps
        return cls(time, rows[:, 2] == 1, rows[:, 4].astype(np.int64), rows[:, 3].astype(np.int64), rows[:, 1])

    def write(self, path: Path) -> None:
        """Writes them as a trace of the columns time, op, offset, size."""
        words = np.where(self.read, "R", "W")
        rows = zip(self.time_ns, words, self.offset, self.size, strict=True)
        path.write_text("".join(f"{time},{op},{offset},{size}\n" for time, op, offset, size in rows), encoding="utf-8")


def simulated(config: Path, requests: Requests) -> Column:
    """Latency in us of each request on the drive of a configuration.

    Raises:
        ValueError: the log has other requests.
    """
    with tempfile.TemporaryDirectory() as folder:
        trace, out = Path(folder) / "requests.csv", Path(folder) / "out"
        requests.write(trace)
        interpulse.run(Config.load(config).set("flow.0.trace", str(trace)), out=out, log="requests", no_cache=True)
        log = pl.concat([pl.read_parquet(path) for path in out.glob("*.requests.parquet")])
    log = log.filter(pl.col("flow") != "warmup").sort("arrival_ns")
    arrival = log["arrival_ns"].to_numpy()
    if len(arrival) != len(requests.time_ns) or np.any(np.diff(arrival) != np.diff(requests.time_ns)):
        raise ValueError(f"{config}: {len(arrival)} of {len(requests.time_ns)} requests in the log, or other times")
    return log["latency_ns"].to_numpy() / 1000.0


def compared(measured: Column, ours: Column) -> dict[str, Any]:
    """Shares of near latencies, rank correlation, percentiles in us."""
    ratio = ours / measured
    ranks = [np.argsort(np.argsort(each)) for each in (ours, measured)]
    return {
        "requests": len(measured),
        "within-10%": float(np.mean(np.abs(ratio - 1) <= 0.1)),
        "within-25%": float(np.mean(np.abs(ratio - 1) <= 0.25)),
        "rank-correlation": float(np.corrcoef(ranks[0], ranks[1])[0, 1]),
        "median-alone-within-10%": float(np.mean(np.abs(np.median(measured) / measured - 1) <= 0.1)),
        "measured-us": [float(each) for each in np.percentile(measured, PERCENTILES)],
        "simulated-us": [float(each) for each in np.percentile(ours, PERCENTILES)],
    }


def outcome(config: Path, checkout: Path) -> dict[str, Any]:
    """Rows of all files, reads and writes apart."""
    files = tomllib.loads(config.with_name(f"{config.stem}-files.toml").read_text(encoding="utf-8"))
    rows = []
    for status, names in (("fitted", [files["fitted"]]), ("predicted", files["predicted"])):
        for name in names:
            requests = Requests.load(checkout / name)
            ours = simulated(config, requests)
            for kind, of in (("reads", requests.read), ("writes", ~requests.read)):
                row = {"file": Path(name).name, "status": status, "kind": kind}
                rows.append({**row, **compared(requests.latency_us[of], ours[of])})
                sys.stdout.write(f"{json.dumps(rows[-1])}\n")
    sha256 = hashlib.sha256(config.read_bytes()).hexdigest()
    return {"config-sha256": sha256, "source": files["source"], "rows": rows}


def table() -> Iterator[str]:
    """The rows of all outcomes."""
    yield "| replayed trace | | within 10 % | within a quarter | measured median, within 10 % | p50, us | p99 | p99.9 |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for path in sorted(REPLAYED.glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
            pairs = zip(row["simulated-us"], row["measured-us"], strict=True)
            tails = [f"{ours:,.0f} of {measured:,.0f}" for ours, measured in pairs]
            shares = [f"{100 * row[key]:.1f} %" for key in ("within-10%", "within-25%", "median-alone-within-10%")]
            cells = [f"`{row['file']}`, {row['status']}", row["kind"], *shares, *tails]
            yield f"| {' | '.join(cells)} |"


def main(arguments: list[str]) -> None:
    """Simulates the files of one name."""
    if len(arguments) != 2:
        sys.exit(__doc__)
    name, checkout = arguments
    text = json.dumps(outcome(REPLAYED / f"{name}.toml", Path(checkout)), indent=1) + "\n"
    (REPLAYED / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

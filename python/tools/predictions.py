"""Predictions of fitted drives: figures of other capacities, simulated after the fit, and their table.

    python python/tools/predictions.py [NAME ...]

examples/drives/predicted/NAME.toml has the loads with their known figures, and the SHA-256 of the preset NAME from
before any of the loads was simulated. The tool refuses another preset, simulates the loads, and writes NAME.json beside
the file and the table of docs/PREDICTIONS.md, with that of replays.py. Without names it writes the tables only.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import tomllib
from collections.abc import Iterator
from statistics import fmean
from typing import Any

import drives
import replays
from drives import ROOT, figure_text
from generated import with_blocks

import interpulse
from interpulse import Config
from interpulse.fitting.model import window
from interpulse.fitting.spec import with_idle_flows
from interpulse.fitting.targets import REQUESTS, TOLERANCE, Load, read_load

PREDICTED = ROOT / "examples" / "drives" / "predicted"
PAGE = ROOT / "docs" / "PREDICTIONS.md"
SEEDS = 3


def sha256(name: str) -> str:
    """The hash of a preset as it is now."""
    return hashlib.sha256((drives.PRESETS / f"{name}.toml").read_bytes()).hexdigest()


def recorded(name: str) -> str:
    """The hash of the preset that the prediction file recorded."""
    return str(tomllib.loads((PREDICTED / f"{name}.toml").read_text(encoding="utf-8"))["preset-sha256"])


def loads(name: str) -> tuple[int, list[Load]]:
    """Number of flows and loads of a prediction file, all held out."""
    path = PREDICTED / f"{name}.toml"
    raw = tomllib.loads(path.read_text(encoding="utf-8"))
    flows = raw.get("flows", 1)
    return flows, [with_idle_flows(read_load({**each, "held-out": True}, lambda _: str(path), TOLERANCE), flows)
                   for each in raw["load"]]  # fmt: skip


def simulated(name: str, flows: int, load: Load, seed: int) -> list[float]:
    """The figures of a load on the preset, from the text of its file."""
    text = (drives.PRESETS / f"{name}.toml").read_text(encoding="utf-8")
    start = f"{text}\n[run]\nrequests = 1\n" + flows * "\n[[flow]]\n"
    own = {key: value for key, value in load.own if not key.startswith(("flow.", "run."))}
    values = {entry.key: entry.value for entry in Config.from_toml(start).set(**own).entries()}
    config = Config.from_toml(start).set(**dict(load.sets(REQUESTS, window(values))))
    raw = interpulse.run(config, seed=seed).cases[0].raw
    found = [target.of(raw, load.block) for target in load.targets]
    if None in found:
        raise ValueError(f"{name}: {load.name}: no request completed")
    return [float(each) for each in found if each is not None]


def predict(name: str) -> dict[str, Any]:
    """Known and simulated figures of all loads.

    Raises:
        ValueError: the preset is another one than that of the prediction file.
    """
    if sha256(name) != recorded(name):
        raise ValueError(f"{name}: the preset has changed since its predictions were written down; seen {sha256(name)}")
    flows, every = loads(name)
    rows = []
    for load in every:
        runs = [simulated(name, flows, load, seed) for seed in range(1, SEEDS + 1)]
        for target, values in zip(load.targets, zip(*runs, strict=True), strict=True):
            value = fmean(values)
            rows.append({"load": load.name, "figure": target.figure, "known": target.value, "simulated": value,
                         "ratio": value / target.value})  # fmt: skip
            sys.stdout.write(f"{name}: {load.name}: {target.figure}: {value / target.value:.3f}\n")
            sys.stdout.flush()
    return {"preset-sha256": recorded(name), "seeds": SEEDS, "rows": rows}


def error(rows: list[dict[str, Any]]) -> float:
    """Mean of the absolute logarithms of the ratios, as a factor less one."""
    return math.exp(fmean(abs(math.log(row["ratio"])) for row in rows)) - 1


def table() -> Iterator[str]:
    """The rows of all drives with an outcome."""
    yield "| load | known | predicted | ratio |"
    yield "|---|---:|---:|---:|"
    for path in sorted(PREDICTED.glob("*.json")):
        outcome = json.loads(path.read_text(encoding="utf-8"))
        rows = outcome["rows"]
        near = sum(abs(row["ratio"] - 1) <= 0.1 for row in rows)
        title = tomllib.loads(path.with_suffix(".toml").read_text(encoding="utf-8"))["title"]
        said = f"{near} of {len(rows)} within 10 %, mean error {100 * error(rows):.0f} %"
        yield f"| **{title}** (`{path.stem}`): {said} | | | |"
        for row in rows:
            rate = row["figure"] in ("iops", "bandwidth")
            label = row["load"] if rate else f"{row['load']}, {row['figure'].replace('-', ' ')}"
            known, found = figure_text(row["figure"], row["known"]), figure_text(row["figure"], row["simulated"])
            yield f"| {label} | {known} | {found} | {row['ratio']:.2f} |"


def main(names: list[str]) -> None:
    """Simulates the named predictions and writes the table."""
    for name in names:
        text = json.dumps(predict(name), indent=1) + "\n"
        (PREDICTED / f"{name}.json").write_text(text, encoding="utf-8")
    blocks = ["\n".join(["", *rows, "\n"]) for rows in (table(), replays.table())]
    PAGE.write_text(with_blocks(PAGE.read_text(encoding="utf-8"), blocks), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Fidelity of a served drive: percentiles of fio, of the session and of its replay, and rates at the highest pace.

For queue depths 1, 16 and 64 fio reads at random through a server at pace 20, which records. The record is replayed in
pure simulation, and must have the latencies of the session. Percentiles of fio, divided by the pace, may differ from
them by the slip that the server reports, by a wake-up of the client of at most 75 us of real time, and by 3 % (median)
or 5 % (p99.9). At the highest pace the rates stand beside those of the memory plugin of nbdkit; two thirds are
required. The exit code is 1 where a bound is exceeded. It is for a machine that does nothing else.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import interpulse
from interpulse.blockdevice.server import serving

DRIVE = 'config_version = 1\ndrive = "a4-mini"\npart.blocks-per-plane = 24\n'

PACE = 20
DEPTHS = (1, 16, 64)
SECONDS = 12

WAKE_UP_US = 75.0
"""Real time that a client's thread may wake up late."""

WITHIN = {"p50": 0.03, "p99.9": 0.05}
"""Shares by which fio may differ beside slip and wake-up."""

LEAST_RATE = 2 / 3
"""Of the rate of nbdkit's memory plugin."""

NBDKIT_BYTES = "512M"


def fio(uri: str, folder: Path, *options: str) -> dict[str, Any]:
    """Runs fio on an export; its result of the only job."""
    line = ["fio", "--name=load", "--ioengine=nbd", f"--uri={uri}", "--bs=4k", "--size=256M", "--time_based"]
    line += ["--percentile_list=50:99.9", "--output-format=json", *options]
    printed = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=True, timeout=600).stdout
    job: dict[str, Any] = json.loads(printed[printed.index("{") :])["jobs"][0]
    return job


def fidelity(folder: Path, depth: int) -> bool:
    """Compares fio, session and replay at a queue depth; whether they agree."""
    config = folder / "drive.toml"
    config.write_text(DRIVE)
    trace = folder / f"depth-{depth}"
    with serving(folder, config, str(PACE), "--record", str(trace)) as served:
        job = fio(served.uri, folder, "--rw=randread", f"--iodepth={depth}", f"--runtime={SECONDS}")
    report = served.report
    flow = f'[run]\nwarmup = "0s"\n[[flow]]\nname = "replay"\ntrace = {json.dumps(str(trace))}\n'
    replayed = interpulse.run(interpulse.Config.from_toml(DRIVE + flow)).raw["latency_us"]["read"]
    session = report["operations"]["read"]["latency_ns"]
    good = True
    for name, share in WITHIN.items():
        client = job["read"]["clat_ns"]["percentile"][f"{float(name[1:]):.6f}"] / PACE / 1000
        own, again, slip = session[name] / 1000, replayed[name], report["slip"]["drive_ns"][name] / 1000
        allowed = share * own + slip + WAKE_UP_US / PACE
        agree = abs(client - own) <= allowed and abs(again - own) <= 1e-3 * own
        good &= agree
        print(  # noqa: T201
            f"depth {depth} {name}: fio {client:.1f} us, session {own:.1f} us, replay {again:.1f} us, "
            f"slip {slip:.2f} us, difference {100 * (client / own - 1):+.1f} %: {'agree' if agree else 'DIFFER'}"
        )
    return good


@contextmanager
def nbdkit(folder: Path) -> Iterator[str]:
    """A server with the memory plugin of nbdkit."""
    socket = folder / "nbdkit"
    process = subprocess.Popen(["nbdkit", "-f", "-U", str(socket), "memory", NBDKIT_BYTES])
    try:
        while not socket.exists():
            assert process.poll() is None, "nbdkit has ended"
            time.sleep(0.02)
        yield f"nbd+unix:///?socket={socket}"
    finally:
        process.terminate()
        process.wait(timeout=60)


def rates(folder: Path) -> bool:
    """Compares rates at the highest pace with those of nbdkit; the better of three rounds each, in turn."""
    config = folder / "drive.toml"
    config.write_text(f'{DRIVE}precondition.fill = "0%"\n')
    best: dict[tuple[str, str], float] = {}
    with serving(folder, config, "max") as served, nbdkit(folder) as other:
        for _ in range(3):
            for name, uri in (("interpulse", served.uri), ("nbdkit", other)):
                for load in ("randread", "randwrite"):
                    job = fio(uri, folder, f"--rw={load}", "--iodepth=32", "--runtime=4")
                    rate = job["read"]["iops"] + job["write"]["iops"]
                    best[name, load] = max(rate, best.get((name, load), 0.0))
    good = True
    for load in ("randread", "randwrite"):
        ratio = best["interpulse", load] / best["nbdkit", load]
        good &= ratio >= LEAST_RATE
        print(  # noqa: T201
            f"rate {load}: {best['interpulse', load]:,.0f}/s, nbdkit {best['nbdkit', load]:,.0f}/s, ratio {ratio:.2f}"
        )
    return good


def main() -> int:
    """Runs both comparisons."""
    missing = [name for name in ("fio", "nbdkit") if shutil.which(name) is None]
    if missing:
        sys.exit(f"there is no {' and no '.join(missing)} here: apt-get install {' '.join(missing)}")
    good = True
    with tempfile.TemporaryDirectory(prefix="interpulse-fidelity-") as name:
        for depth in DEPTHS:
            good &= fidelity(Path(name), depth)
        good &= rates(Path(name))
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())

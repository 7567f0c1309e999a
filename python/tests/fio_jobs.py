"""Job files with what real fio makes of them, and the comparison of fio's output with another one.

`data/fio_recorded.json` has what fio 3.33 reported (`python -m tests.fio_jobs` in `python/` records it anew). Jobs are
small and use the engine `null`, so that fio needs no disk.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RECORDED = Path(__file__).parent / "data" / "fio_recorded.json"

JOBS = {
    name: text
    for name, _, text in (
        part.partition("\n")
        for part in (Path(__file__).parent / "data" / "fio_jobs.txt").read_text(encoding="utf-8").split("=== ")[1:]
    )
}
"""Job files by name; in the file, a line `=== NAME` begins each."""

BY_CHANCE = (
    "split",
    "split-without-map",
    "split-with-a-rest",
    "range",
    "random-range",
    "sizes-per-direction",
    "partly-random",
    "enterprise-mix",
)
"""Job files whose number of requests depends on random sizes, or on how often requests met."""

TIMED = ("time-based",)
"""Job files whose number of requests depends on the machine."""

SIGMAS = 6
"""Standard deviations of what may differ by chance: once in 500 million."""

NUMBERS = ("total_ios", "io_bytes")


def summary(output: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Names, groups, requests and bytes of the jobs of fio's output."""
    return [
        {"jobname": job["jobname"], "groupid": job["groupid"], "sync": job["sync"]["total_ios"]}
        | {word: {name: job[word][name] for name in NUMBERS} for word in ("read", "write", "trim")}
        for job in output["jobs"]
    ]


def differences(name: str, fio: Sequence[Mapping[str, Any]], ours: Sequence[Mapping[str, Any]]) -> list[str]:
    """What two summaries of a job file have different beyond chance."""
    found = []
    heads = [[(job["jobname"], job["groupid"]) for job in each] for each in (fio, ours)]
    if heads[0] != heads[1]:
        return [f"{name}: jobs {heads[0]} of fio, {heads[1]} here"]
    for one, other in zip(fio, ours, strict=True):
        place = f"{name}: {one['jobname']}"
        found += _different_totals(name, place, one, other)
        found += _different_mix(place, one, other)
        if name not in TIMED and one["sync"] != other["sync"]:
            found.append(f"{place}: {one['sync']} flushes of fio, {other['sync']} here")
    return found


def _different_totals(name: str, place: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    if name in TIMED:
        return []
    requests, bytes_ = ([sum(job[w][n] for w in ("read", "write", "trim")) for job in (one, other)] for n in NUMBERS)
    if name not in BY_CHANCE:
        found = [] if requests[0] == requests[1] else [f"{place}: {requests[0]} requests of fio, {requests[1]} here"]
        return found + ([] if bytes_[0] == bytes_[1] else [f"{place}: {bytes_[0]} bytes of fio, {bytes_[1]} here"])
    # A total of random sizes whose deviation is at most their mean; bytes end within a request.
    most = SIGMAS * math.sqrt(2 * max(requests))
    found = (
        []
        if abs(requests[0] - requests[1]) <= most
        else [f"{place}: {requests[0]} requests of fio, {requests[1]} here"]
    )
    return found + (
        [] if abs(bytes_[0] - bytes_[1]) <= 65536 else [f"{place}: {bytes_[0]} bytes of fio, {bytes_[1]} here"]
    )


def _different_mix(place: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    counts = [(job["read"]["total_ios"], job["write"]["total_ios"]) for job in (one, other)]
    (reads, writes), (own_reads, own_writes) = counts
    different = f"{place}: {counts[0]} reads and writes of fio, {counts[1]} here"
    if not min(reads + own_reads, writes + own_writes):
        return (
            []
            if (reads > 0) == (own_reads > 0)
            else [f"{place}: {counts[0]} reads and writes of fio, {counts[1]} here"]
        )
    share = (reads + own_reads) / (reads + own_reads + writes + own_writes)
    deviation = math.sqrt(share * (1 - share) * (1 / (reads + writes) + 1 / (own_reads + own_writes)))
    if abs(reads / (reads + writes) - own_reads / (own_reads + own_writes)) <= SIGMAS * deviation:
        return []
    return [different]


FIELDS = ("groups", "flushes", "trims", "mix-70", "later-start")
"""Job files whose outputs have every field."""

OPEN = ("percentile", "bins", "job options", "global options")
"""Tables whose keys depend on the job file."""


def fields(output: Mapping[str, Any]) -> dict[str, str]:
    """Type of each field of an output by its path; `*` is any item of a list and any key of an open table."""
    found: dict[str, str] = {}

    def walk(value: object, path: str) -> None:
        if isinstance(value, dict):
            for key, each in value.items():
                walk(each, f"{path}.*" if path.rpartition(".")[2] in OPEN else f"{path}.{key}".lstrip("."))
        elif isinstance(value, list):
            for each in value:
                walk(each, f"{path}.*")
        else:
            found[path] = type(value).__name__

    walk(output, "")
    return found


def order(output: Mapping[str, Any]) -> dict[str, list[str]]:
    """Order of the fields of the document, of a job, and of the reads of a job with some."""
    job = next(job for job in output["jobs"] if job["read"]["total_ios"])
    return {"document": list(output), "job": [key for key in job if key != "desc"], "read": list(job["read"])}


def of_program(*words: str) -> str:
    """What a program prints."""
    return subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


def of_fio(text: str, folder: Path, *options: str) -> dict[str, Any]:
    """The output of real fio for a job file, in JSON."""
    (folder / "job.fio").write_text(text)
    words = ["fio", "job.fio", "--output-format=json+", "--output=out.json", *options]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        raise RuntimeError(f"fio failed: {done.stdout}{done.stderr}")
    found: dict[str, Any] = json.loads((folder / "out.json").read_text())
    return found


def record() -> None:
    """Records what fio makes of all job files."""
    version = subprocess.run(
        ["fio", "--version"], capture_output=True, text=True, timeout=60, check=True
    ).stdout.strip()
    jobs: dict[str, Any] = {}
    every: dict[str, str] = {}
    places: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in JOBS.items():
            output = of_fio(text, Path(folder))
            jobs[name] = summary(output)
            if name in FIELDS:
                every |= fields(output)
                places = places or order(output)
            sys.stdout.write(f"{name}\n")
    found = {"version": version, "fields": every, "order": places, "jobs": jobs}
    RECORDED.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    record()

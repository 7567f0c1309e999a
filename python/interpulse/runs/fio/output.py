"""Results in fio's JSON (stat.c, 3.33), from the figures of all flows.

The host takes no time to submit a request, so that submission latency is 0 and `lat_ns` equals `clat_ns`. Times are
those of the simulated clock, which begins with 1970.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from interpulse._core import version
from interpulse.fio.expansion import Jobs
from interpulse.fio.job import Job
from interpulse.fio.options import SYNCHRONOUS, VERSION
from interpulse.runs.fio.histogram import PERCENTILES, bins, percentiles
from interpulse.runs.fio.measured import DEPTHS, LAT_MS, LAT_NS, SAMPLE_NS, FlowFigures, Kind, merged

FORMATS = ("fio-json", "fio-json+")
"""Values of --output-format; the second one has all buckets of the histograms too, as fio's json+."""


@dataclass(frozen=True)
class Member:
    """A flow with its job.

    Attributes:
        group: number of fio's group.
        least_ns: the job lasted at least so long.
        depth: outstanding requests.
        options: of the job, as fio shows them.
    """

    figures: FlowFigures
    name: str
    group: int
    least_ns: int
    depth: int
    options: Mapping[str, str]
    job: Job | None

    @property
    def lasted_ms(self) -> int:
        """Duration in ms, rounded up; 0 of a job without requests."""
        if not any(kind.requests for kind in self.figures.kinds.values()):
            return 0
        return -(-max(self.figures.end_ns, self.least_ns) // 1_000_000)


def fio_json(flows: Mapping[str, FlowFigures], jobs: Jobs | None, *, plus: bool) -> str:
    """The text of fio's output.

    Args:
        flows: figures by flow, those of other flows than jobs included.
        jobs: of a job file, or `None`: then each flow is a job.
        plus: with all buckets.
    """
    members = [*_members(flows, jobs)]
    everywhere = _global_options(jobs)
    elapsed = max((member.lasted_ms for member in members), default=0)
    found: dict[str, Any] = {
        "fio version": f"{VERSION} (interpulse {version})",
        "timestamp": 0,
        "timestamp_ms": 0,
        "time": "Thu Jan  1 00:00:00 1970",
    }
    if everywhere:
        found["global options"] = everywhere
    found["jobs"] = [_job(entry, members, elapsed, plus=plus) for entry in _entries(members)]
    return json.dumps(found, indent=2, ensure_ascii=False)


def _members(flows: Mapping[str, FlowFigures], jobs: Jobs | None) -> list[Member]:
    nothing = FlowFigures()
    made = {} if jobs is None else {flow.clone.name: flow for flow in jobs.flows}
    # Requests before the window of a trace are no job.
    others = [name for name in sorted(flows) if name not in made and name != "warmup"]
    found = [Member(flows[name], name, 0, 0, 1, {}, None) for name in others]
    for name, flow in made.items():
        job = flow.job
        if not job.reported:
            continue
        least = job.runtime_ns or 0 if job.time_based else 0
        figures = flows.get(name, nothing)
        found.append(Member(figures, job.name, flow.group, least, job.depth, own_options(job), job))
    return found


def held_back(flows: Mapping[str, FlowFigures], jobs: Jobs) -> list[str]:
    """Notes on jobs with a rate of which more requests were outstanding than fio would have submitted."""
    found = []
    for flow in jobs.flows:
        given = flow.job.given("rate_iops") or flow.job.given("rate")
        if flow.job.rate_per_s is None or given is None or flow.clone.name not in flows:
            continue
        most = flows[flow.clone.name].most_outstanding()
        if most > flow.job.depth:
            found.append(
                f"{given.place}: {given.seen}: up to {most} requests of {flow.clone.name} were outstanding: fio "
                f"submits no more than iodepth={flow.job.depth}, so that its rate and latencies would be lower"
            )
    return found


def own_options(job: Job) -> dict[str, str]:
    """Options of a job without those of `[global]`, as fio shows them: flags without a value are left out."""
    return {
        name: given.value
        for name, given in job.options.items()
        if given.value is not None and job.inherited.get(name) is not given and name != "name"
    }


def _global_options(jobs: Jobs | None) -> dict[str, str]:
    last = jobs.sections[-1].inherited if jobs is not None else {}
    return {name: given.value for name, given in last.items() if given.value is not None}


def _entries(members: Sequence[Member]) -> list[list[Member]]:
    """Members of each reported job: neighbours of a group are one with group_reporting."""
    found: list[list[Member]] = []
    for member in members:
        together = member.job is not None and member.job.group_reporting
        if together and found and found[-1][0].group == member.group and found[-1][0].job is not None:
            found[-1].append(member)
        else:
            found.append([member])
    return found


def _job(entry: Sequence[Member], members: Sequence[Member], elapsed: int, *, plus: bool) -> dict[str, Any]:
    first = entry[0]
    job = first.job
    group = [member for member in members if member.group == first.group]
    figures = [member.figures for member in entry]
    found: dict[str, Any] = {
        "jobname": first.name,
        "groupid": first.group,
        "error": 0,
        "eta": 0,
        "elapsed": elapsed // 1000 + 1,
        "job options": dict(first.options),
    }
    for word in ("read", "write", "trim"):
        found[word] = _direction(entry, group, word, plus=plus)
    # fio does not count the flushes of fdatasync.
    counted = [member.figures for member in entry if member.job is None or "fdatasync" not in member.job.options]
    flushes = merged(counted, "flush")
    found["sync"] = {"total_ios": flushes.requests, "lat_ns": _latency(flushes, _wanted(job), plus=plus)}
    requests = sum(kind.requests for each in figures for word, kind in each.kinds.items() if word != "flush")
    depths = [sum(column) for column in zip(*(each.depths() for each in figures), strict=True)]
    found |= {
        "job_runtime": sum(member.lasted_ms for member in entry),
        "usr_cpu": 0.0,
        "sys_cpu": 0.0,
        "ctx": 0,
        "majf": 0,
        "minf": 0,
        "iodepth_level": _shares(["1", *map(str, DEPTHS[:-1]), f">={DEPTHS[-1]}"], depths, requests),
        "iodepth_submit": _batches(requests),
        "iodepth_complete": _batches(requests),
    }
    levels = [sum(column) for column in zip(*(each.levels for each in figures), strict=True)]
    names = [str(limit) for limit in LAT_NS]
    found["latency_ns"] = _shares(names, levels[:10], requests)
    found["latency_us"] = _shares(names, levels[10:20], requests)
    found["latency_ms"] = _shares([*map(str, LAT_MS), f">={LAT_MS[-1]}"], levels[20:], requests)
    found |= {"latency_depth": first.depth, "latency_target": 0, "latency_percentile": 100.0, "latency_window": 0}
    if "description" in first.options:
        found["desc"] = first.options["description"]
    return found


def _shares(names: Sequence[str], counts: Sequence[int], total: int) -> dict[str, float]:
    shares = [round(100 * count / total, 6) if total else 0.0 for count in counts]
    return dict(zip(names, shares, strict=True))


def _batches(requests: int) -> dict[str, float]:
    """Requests are submitted and completed one at a time, which fio counts as up to four."""
    names = ("0", "4", "8", "16", "32", "64", ">=64")
    return {name: 100.0 if name == "4" and requests else 0.0 for name in names}


def _wanted(job: Job | None) -> Sequence[float]:
    return PERCENTILES if job is None or job.percentiles is None else job.percentiles


def _direction(entry: Sequence[Member], group: Sequence[Member], word: str, *, plus: bool) -> dict[str, Any]:
    kind = merged([member.figures for member in entry], word)
    job = entry[0].job
    runtime = max((member.lasted_ms for member in entry if member.figures.kinds[word].requests), default=0)
    bandwidth = kind.bytes * 1000 // runtime if runtime else 0
    # Synchronous engines do not measure the submission.
    submitted = 0 if job is not None and job.engine in SYNCHRONOUS else kind.requests
    nothing = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": submitted}
    clat = _wanted(job) if job is None or job.of_completion else ()
    lat = _wanted(job) if job is not None and job.of_total else ()
    return {
        "io_bytes": kind.bytes,
        "io_kbytes": kind.bytes // 1024,
        "bw_bytes": bandwidth,
        "bw": bandwidth // 1024,
        "iops": round(1000 * kind.requests / runtime, 6) if runtime else 0.0,
        "runtime": runtime,
        "total_ios": kind.requests,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": nothing,
        "clat_ns": _latency(kind, clat, plus=plus),
        "lat_ns": _latency(kind, lat, plus=plus),
    } | _samples(entry, group, word)


def _latency(kind: Kind, wanted: Sequence[float], *, plus: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "min": kind.least,
        "max": kind.most,
        "mean": round(kind.mean, 6),
        "stddev": round(kind.deviation, 6),
        "N": kind.requests,
    }
    if wanted and kind.requests:
        found["percentile"] = percentiles(kind.counts, wanted)
        if plus:
            found["bins"] = bins(kind.counts)
    return found


@dataclass
class _Samples:
    """Statistics of samples; those of several jobs are added, as fio does."""

    least: int = 0
    most: int = 0
    mean: float = 0.0
    squares: float = 0.0
    count: int = 0

    def add(self, values: Sequence[int]) -> None:
        if not values:
            return
        mean = sum(values) / len(values)
        self.least += min(values)
        self.most += max(values)
        self.mean += mean
        self.squares += sum((value - mean) ** 2 for value in values)
        self.count += len(values)

    @property
    def deviation(self) -> float:
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else 0.0


def _samples(entry: Sequence[Member], group: Sequence[Member], word: str) -> dict[str, Any]:
    bandwidth, requests = _Samples(), _Samples()
    for member in entry:
        whole = max(member.figures.end_ns, member.least_ns) // SAMPLE_NS
        samples = [each for place, each in sorted(member.figures.kinds[word].samples.items()) if place < whole]
        bandwidth.add([1_000_000_000 // SAMPLE_NS * each // 1024 for each, _ in samples])
        requests.add([1_000_000_000 // SAMPLE_NS * each for _, each in samples])
    # The bandwidth of the group in KiB/s.
    every = sum(
        member.figures.kinds[word].bytes * 1000 / member.lasted_ms / 1024 for member in group if member.lasted_ms
    )
    return {
        "bw_min": bandwidth.least,
        "bw_max": bandwidth.most,
        "bw_agg": round(min(100.0, 100 * bandwidth.mean / every), 6) if every else 0.0,
        "bw_mean": round(bandwidth.mean, 6),
        "bw_dev": round(bandwidth.deviation, 6),
        "bw_samples": bandwidth.count,
        "iops_min": requests.least,
        "iops_max": requests.most,
        "iops_mean": round(requests.mean, 6),
        "iops_stddev": round(requests.deviation, 6),
        "iops_samples": requests.count,
    }

"""Is fio's output refused by name where it is broken, contradicts its options, or has options that change the load?"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from interpulse import ConfigError
from interpulse.fitting.fio.options import HARMLESS, OFF, READ, SWITCHED_BY_NOUGHT
from tests import fio_like
from tests.fio_like import measured, nothing, reported
from tests.test_fit_fio import READS, of_jobs, of_text, one

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# ---- the text around it -------------------------------------------------------------------------------

TEXT = "a: (g=0): rw=randread, bs=(R) 4096B-4096B, ioengine=psync, iodepth=1\nfio-3.33\nStarting 1 process\n"
TERSE = "3;fio-3.33;a;0;0;52452;52399;13099;1001;0;0;0.000000;0.000000;19;15509\n"


@pytest.mark.parametrize(
    ("above", "below"),
    [("", ""), (TEXT, ""), ("", TEXT), (TEXT, TERSE), (TERSE, TEXT), ("fio: terminating on signal 2\n", "\n\n"),
     ("", "Run status group 0 (all jobs):\n   READ: bw=51.2MiB/s {x}\n"), ("{not JSON\n", ""), ("\r\n", "\r\n")],
)  # fmt: skip
def test_text_around_the_json_is_no_error(above: str, below: str, tmp_path: Path) -> None:
    (load,) = of_text(tmp_path, above + fio_like.output([reported(READS, read=measured())]) + "\n" + below)
    assert load.depth == 8


def whole(job: Mapping[str, Any], **more: object) -> str:
    return json.dumps({"fio version": "fio-3.33", "jobs": [job], **more})


GOOD = reported(READS, read=measured())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "there is no 'fio version'"),
        ("{", "this is not fio's JSON"),
        ("{}", "there is no 'fio version'"),
        (whole(GOOD)[:-200], "this is not fio's JSON"),
        ('{"fio version": ' + 100_000 * "[", "nested more than 64 deep"),
        (whole(GOOD) + "\n" + whole(GOOD), "seen 2 outputs of fio in one file; expected one: without --status"),
        (whole(GOOD, **{"fio version": "fio-2.21"}), "seen 'fio-2.21'; expected fio-3.0 or later"),
        (json.dumps({"fio version": "fio-3.33", "client_stats": []}), r"those of a server's clients"),
        (json.dumps({"fio version": "fio-3.33", "jobs": [3]}), r"jobs: seen none"),
        (whole(GOOD, **{"global options": [1]}), r"job options: seen \[1\]; expected a table"),
        (whole(GOOD | {"job options": {"bs": ["4k"]}}), r"bs: seen \['4k'\]; expected a word"),
        (whole(GOOD | {"read": {}}), "'iops' is missing or not a number"),
        (whole(GOOD | {"read": 5}), "read: seen 5; expected a table"),
        (whole(GOOD | {"read": nothing()}), "iops: seen 0; expected a job that did something"),
        (whole(GOOD | {"read": measured() | {"iops": -5.0}}), "iops: seen -5.0; expected a number of at least 0"),
        (whole(GOOD | {"read": measured() | {"iops": float("nan")}}), "iops: seen nan; expected a number"),
        (whole(GOOD | {"read": measured() | {"iops": "fast"}}), "iops: seen 'fast'; expected a number"),
        (whole(GOOD | {"read": measured() | {"iops": 41e6}}), r"iops: seen 41000000; 500000 requests"),
        (whole(GOOD | {"read": measured(percentiles={"p99": 1.0})}), "percentile: seen 'p99'; expected a percentage"),
    ],
)  # fmt: skip
def test_what_is_no_output_of_fio_3_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"fio.file: .*({said})"):
        of_text(tmp_path, text)


def test_a_job_that_is_not_there_cannot_be_held_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no job 'rw'; expected one of rr"):
        of_jobs(tmp_path, [GOOD], **{"held-out": ["rw"]})


# ---- contradictions -----------------------------------------------------------------------------------

MIX = {"rw": "randrw", "bs": "4k", "iodepth": "8"}
SYNC = {"total_ios": 0, "lat_ns": {"mean": 900e3, "N": 700}}


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (reported(READS, read=measured(), error=5), "error: seen 5; expected 0"),
        (reported(READS, read=measured(), total_err=1), "total_err: seen 1; expected 0"),
        (reported(READS, read=measured() | {"short_ios": 9_000}), "seen 9000 short or dropped requests of 500000"),
        # Several kinds of jobs that fio reported as one.
        (
            reported({"rw": "randwrite", "iodepth": "8"}, read=measured(), write=measured()),
            "seen 'randwrite', yet fio measured 500000 reads",
        ),
        (reported(READS, read=measured(), write=measured(5, 9)), "rw: seen 'randread', yet fio measured 50 writes"),
        (reported(READS, read=measured(), trim=measured(5, 9)), "rw: seen 'randread', yet fio measured 50 trims"),
        (
            reported(READS | {"bs": "256k"}, read=measured(size=16_320)),
            r"bs: seen 256k, yet reads had 16320 B in the mean",
        ),
        (
            {**GOOD, "job options": {"rw": "randread", "iodepth": "8"}, "read": measured(size=8192)},
            "bs: seen 4096, the default of fio, yet",
        ),
        (
            reported(MIX | {"bs": "4k,8k"}, read=measured(25_000), write=measured(25_000, size=8192)),
            "bs: seen '4k,8k'; expected one size",
        ),
        (
            reported(MIX | {"rwmixread": "70"}, read=measured(25_000), write=measured(25_000)),
            "rwmixread: seen 70, yet 250000 reads and 250000 writes",
        ),
        (reported(MIX, read=measured(35_000), write=measured(15_000)), "rwmixread: seen none, which is 50, yet"),
        (
            reported(MIX | {"rwmixread": "300"}, read=measured(), write=measured()),
            "rwmixread: seen 300; expected a percentage",
        ),
        (reported(MIX, read=measured()), "500000 reads and 0 writes were measured"),
        (
            reported(READS, read=measured(latency_us=320)),
            "gives 16 requests outstanding of 8 .*several jobs in one group",
        ),
        (reported(READS, read=measured(latency_us=60)), "gives 3 requests outstanding of 8 .*is the job held back"),
        (reported(READS | {"ioengine": "psync"}, read=measured()), "gives 8 requests outstanding of 1 "),
        (reported(READS | {"iodepth": "0"}, read=measured()), "iodepth x numjobs: seen 0; expected from 1 to 65535"),
        (reported(READS | {"iodepth": "9" * 5000}, read=measured()), "iodepth: seen '9+'; expected a whole number"),
        (reported(READS | {"ioengine": "null"}, read=measured()), "ioengine: seen 'null'; expected one of sync"),
        (
            reported(READS | {"filename": "/dev/nvme0n1:/dev/nvme1n1"}, read=measured()),
            "filename: seen /dev/nvme0n1, /dev/nvme1n1; expected one",
        ),
        (
            reported({"rw": "write", "ioengine": "psync", "fdatasync": "1"}, write=measured(1000, 100), sync=SYNC),
            "fdatasync: seen 1, yet fio measured 700 flushes and 10000 writes",
        ),
        (
            reported({"rw": "write", "ioengine": "psync"}, write=measured(1000, 900), sync={"total_ios": 9_000}),
            "sync: seen 9000 flushes without fsync",
        ),
        (
            reported({"rw": "write", "fsync": "1", "fdatasync": "1"}, write=measured(1000, 900)),
            "fsync, fdatasync: seen both",
        ),
    ],
)
def test_measurements_that_contradict_options_are_refused(job: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"fio.file: .*: job rr: .*{said}"):
        of_jobs(tmp_path, [copy.deepcopy(job)])


SHAPING = {
    "percentage_random": "50",
    "blocksize_range": "4k-16k",
    "bsrange": "4k-16k",
    "bssplit": "4k/50:8k/50",
    "bs_unaligned": "1",
    "read_iolog": "x.log",
    "zoneskip": "4k",
    "zonemode": "zbd",
    "latency_target": "1ms",
    "rate": "10m",
    "rate_iops": "5",
    "thinktime": "100",
    "random_distribution": "zipf:1.1",
    "iodepth_batch": "8",
    "iodepth_batch_submit": "8",
    "iodepth_batch_complete_max": "8",
    "iodepth_low": "2",
    "startdelay": "5",
    "sync": "1",
    "verify": "crc32c",
    "sync_file_range": "write:8",
    "new_group": "1",
    "flow": "8",
    "stats": "0",
    "rw_sequencer": "identical",
    "blockalign": "64k",
    "cmdprio_percentage": "50",
    "wait_for": "a",
    "profile": "tiobench",
    "io_submit_mode": "offload",
    "write_hint": "short",
    "an_option_of_2031": "1",
}


@pytest.mark.parametrize("option", SHAPING)
def test_an_option_that_may_change_the_load_is_refused_by_name(option: str, tmp_path: Path) -> None:
    said = rf": (ba|bsrange|iodepth_batch|{option}): seen '{SHAPING[option]}'; expected "
    with pytest.raises(ConfigError, match=said):
        of_jobs(tmp_path, [reported(READS | {option: SHAPING[option]}, read=measured())])


def test_options_that_leave_the_load_as_it_is_are_accepted(tmp_path: Path) -> None:
    values = dict.fromkeys(SWITCHED_BY_NOUGHT, "0") | {option: words[0] for option, words in OFF.items()}
    options = dict.fromkeys(HARMLESS, "1") | values | READS
    assert one(tmp_path, options, read=measured()).depth == 8
    assert not READ & HARMLESS
    assert not (READ | HARMLESS) & ({*OFF} | SWITCHED_BY_NOUGHT)


def test_groups_that_ran_at_the_same_time_are_refused(tmp_path: Path) -> None:
    jobs = [reported(READS, name, read=measured(), elapsed=11) for name in ("a", "b", "c")]
    with pytest.raises(ConfigError, match="elapsed: seen 11 s, in which 3 groups of jobs ran for 30 s"):
        of_jobs(tmp_path, jobs)
    for job in jobs:
        job["job options"]["stonewall"] = ""
    assert len(of_jobs(tmp_path, jobs)) == 3


def test_a_group_of_different_jobs_is_refused(tmp_path: Path) -> None:
    jobs = [
        reported(READS, "a", groupid=0, read=measured()),
        reported(READS | {"bs": "8k"}, "b", groupid=0, read=measured(size=8192)),
    ]
    with pytest.raises(ConfigError, match="job a: job b ran at the same time with other options"):
        of_jobs(tmp_path, jobs)

"""Does `interpulse run` print what it should, where it should, and end with the right code?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import sample
from tests.conftest import process

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended
    from tests.fake_core import FakeCore


@pytest.mark.usefixtures("core")
def test_the_table_shows_every_case_and_figure(interpulse: Callable[..., Ended], config_file: str) -> None:
    ended = interpulse("run", config_file, "--full")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == "interpulse 0.1.0, seed 1, config 0000000000000000048d159e26af37bc of 2 cases"
    heading = next(line for line in lines if line.startswith("case "))
    assert heading.split() == ["case", "IOPS", "mean", "p50", "p99", "p99.9", "p99.99", "max"]
    rows = [line.split() for line in lines]
    assert ["none", "read", "166,500", "250.0", "200.0", "1,000", "1,500", "2,250", "3,750"] in rows
    assert ["write", "83,750", "300.0", "240.0", "1,200", "1,800", "2,700", "4,500"] in rows
    assert ["change,", "%", "read", "+50.9", *["-40.0"] * 6] in rows
    assert ["write", "amplification", "2.400", "2.400"] in rows
    assert ["effective", "spare", "factor", "0.2222", "0.2222"] in rows
    assert ["suspends", "per", "program", "0.000", "3.200"] in rows
    assert ["die", "time", "programming,", "%", "37.5", "37.5"] in rows
    assert ["queued", "behind", "program", "160.00", "60.00"] in rows
    assert ["sum", "250.00", "150.00"] in rows
    tails = lines[next(i for i, line in enumerate(lines) if "slowest reads" in line) + 1 :]
    assert tails[0].split() == ["none", "suspend"]
    assert tails[1].split() == ["p99", "p99.9", "p99.99"] * 2
    assert ["programs", *["75.0"] * 6] in rows
    assert ["erases", *["24.6"] * 6] in rows
    assert not any(line.startswith("sensing") for line in tails), "a cause below half a per cent is left out"
    assert ["reads", "750", "75", "8", "750", "75", "8"] in rows
    assert ["slower", "than,", "us", "1,000", "1,500", "2,250", "600.0", "900.0", "1,350"] in rows
    assert "took longer" not in ended.out
    assert not any("retry" in line for line in lines), "a cause that no case had is left out"
    assert "none: 100,000 requests in 0.450 s simulated, 0.05 s here, 2,500,000 requests per CPU second" in lines


def test_the_tables_fit_80_columns() -> None:
    from interpulse.cli.table import render
    from interpulse.runs.result import Result

    tables = render(Result(sample.two_cases())).split("\n\n", 2)[2].rpartition("\n\n")[0]
    assert max(map(len, tables.splitlines())) <= 80


def test_every_declared_counter_can_be_shown() -> None:
    from interpulse import _core
    from interpulse.cli.table import render
    from interpulse.runs.result import Result

    declared = json.loads(_core.lists())["counters"]
    raw = sample.two_cases()
    for k, row in enumerate(declared, start=1):
        group = sample.seed(raw, 1)
        for name in row["kind"].split("."):
            group = group.setdefault(name, {})
        group[row["name"]] = k
    text = render(Result(raw), 200, counters=True).rpartition("\nCounters\n")[2]
    rows = {line.split(",")[0]: line.split()[-1] for line in text.partition("\n\n")[0].splitlines()[1:]}
    for k, row in enumerate(declared, start=1):
        group = row["kind"].replace("counters", "").strip(".")
        assert rows[f"{group} {row['name']}"] == f"{k:,}"
    assert len(declared) > 100
    assert "\nCounters\n" not in render(Result(raw), 200)


@pytest.mark.parametrize("other", ["--json", "--repeat=2"])
@pytest.mark.usefixtures("core")
def test_counters_are_refused_where_there_is_no_table_of_one_run(
    interpulse: Callable[..., Ended], config_file: str, other: str
) -> None:
    ended = interpulse("run", config_file, "--counters", other)
    assert ended.code == 2
    assert f"--counters extends the table of one run, and {other.partition('=')[0]} prints none" in " ".join(
        ended.err.split()
    )


def test_timeouts_are_told(core: FakeCore, interpulse: Callable[..., Ended], config_file: str) -> None:
    case = sample.case("starved")
    case["counters"]["host"] = {"command_timeouts_read": 0, "command_timeouts_write": 1234, "command_timeouts_other": 2}
    case["config"]["host.command-timeout"] = "64ms"
    case["oldest_outstanding_us"] = {"write": 70_000.0}
    core.result = sample.result(case)
    ended = interpulse("run", config_file)
    assert ended.code == 0
    told = "starved: took longer than 64ms: 1,234 writes, 2 trims and flushes"
    assert f"{told}; oldest outstanding at the end: write 70,000 us" in ended.out.replace("\n  ", " ").splitlines()


def test_a_run_without_reads_or_writes_has_dashes(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str
) -> None:
    only_writes = sample.case("writes")
    only_writes["latency_us"]["read"] = {"count": 0}
    only_writes["read_wait_us"] = {}
    only_writes["tail_blame"] = {}
    del only_writes["ftl"]["waf"]
    core.result = sample.result(only_writes)
    ended = interpulse("run", config_file, "--full")
    assert ended.code == 0
    assert "Where read time went" not in ended.out
    assert "slowest reads" not in ended.out
    assert ["writes", "read", "-", "-", "-", "-", "-", "-", "-"] in [line.split() for line in ended.out.splitlines()]


def test_several_flows_have_rows_of_their_own(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str
) -> None:
    case = sample.case("only")
    case["flows"] = [dict(case["flows"][0], name=name) for name in ("reader", "writer")]
    core.result = sample.result(case)
    for options in ([], ["--full"]):
        out = interpulse("run", config_file, *options).out
        assert "\n  reader " in out
        assert "\n  writer " in out


def test_json_is_one_object_and_nothing_else(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str
) -> None:
    core.notes = ["wrote a snapshot of 120 MB to /somewhere"]
    ended = interpulse("run", config_file, "--json")
    assert ended.code == 0
    assert len(ended.out.splitlines()) == 1
    assert ended.json() == core.result
    assert "note: wrote a snapshot of 120 MB" in ended.err, "notes go to standard error"
    assert "none, suspend: run 50 % of 100 requests" in ended.err, "and so does progress"


def test_options_reach_the_core(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str, tmp_path: Path
) -> None:
    options = ["--set", "flow.0.depth=16", "--set", "a.b = x=y", "--trace", "t.csv", "--seed", "7"]
    options += ["--jobs", "3", "--skip-bad-rows", "--no-cache", "--cache-dir", str(tmp_path)]
    assert interpulse("run", config_file, *options).code == 0
    assert core.requests == [
        {
            "text": 'part = "a4-tlc"\n',
            "path": config_file,
            "sets": [("flow.0.depth", "16"), ("a.b", "x=y")],
            "trace": "t.csv",
            "seed": 7,
            "skip_bad_rows": True,
        }
    ]
    assert core.starts == [{"jobs": 3, "cache_dir": str(tmp_path), "limit": 8 * 2**30, "no_cache": True}]


def test_a_configuration_error_is_one_line_and_code_2(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str
) -> None:
    core.config_error = "config.toml:3: unknown key 'prat'; the keys here are part, drive"
    ended = interpulse("run", config_file)
    assert (ended.code, ended.out, ended.error()) == (2, "", core.config_error)


@pytest.mark.parametrize(("exception", "code"), [("ConfigError", 2), ("RunError", 2), ("InternalError", 1)])
def test_a_failed_run_has_its_exit_code(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str, exception: str, code: int
) -> None:
    core.run_error = (exception, "trace.csv:17: the time is not a number: 'x'")
    ended = interpulse("run", config_file, "--json")
    assert (ended.code, ended.out) == (code, "")
    assert ended.error().startswith("trace.csv:17: the time is not a number: 'x'")


@pytest.mark.parametrize("options", [[], ["--full"], ["--json"]])
def test_a_failed_run_still_prints_what_other_cases_gave(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str, options: list[str]
) -> None:
    core.result["cases"][1]["seeds"] = [{"seed": 1, "config_hash": "ab", "error": "out of luck"}]
    sample.check(core.result)
    core.run_error, core.partial = ("RunError", 'case "suspend": out of luck'), True
    ended = interpulse("run", config_file, *options)
    assert (ended.code, ended.error()) == (2, 'case "suspend": out of luck')
    if options == ["--json"]:
        assert ended.json() == core.result
    else:
        assert "suspend: failed: out of luck" in ended.out
        assert ("none: 100,000 requests in 0.450 s simulated" in ended.out) == bool(options)
        assert "none" in ended.out


def test_a_bug_in_the_face_is_code_1_with_a_traceback(
    core: FakeCore, interpulse: Callable[..., Ended], config_file: str
) -> None:
    core.result = {"cases": [{"case": "without anything else"}]}
    ended = interpulse("run", config_file)
    assert ended.code == 1
    assert "Traceback" in ended.err
    assert ended.err.splitlines()[-1].startswith("error: ValueError: no result of interpulse: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "missing.toml"], "cannot read the configuration missing.toml: No such file or directory"),
        (["run", "/"], "cannot read the configuration /: it is a folder; expected a regular file"),
        (
            ["run", "{config}", "--set", "depth"],
            "--set takes key=value, such as --set flow.0.depth=16; got 'depth'",
        ),
        (["run", "{config}", "--set", "=3"], "--set takes key=value, such as --set flow.0.depth=16; got '=3'"),
        (["run", "{config}", "--seed", "-1"], "Invalid value for '--seed'"),
        (["run", "{config}", "--seed", "x"], "Invalid value for '--seed'"),
        (["run", "{config}", "--jobs", "0"], "Invalid value for '--jobs'"),
        (["run", "{config}", "--sed", "1"], "No such option: --sed"),
        (["run", "{config}", "more"], "Got unexpected extra argument"),
        (["rum"], "No such command 'rum'."),
        (["list", "things"], "no list 'things': there are parts, drives, schemes,"),
    ],
)
@pytest.mark.usefixtures("core")
def test_bad_arguments_are_one_line_and_code_2(
    interpulse: Callable[..., Ended], config_file: str, arguments: list[str], message: str
) -> None:
    ended = interpulse(*(argument.format(config=config_file) for argument in arguments))
    assert (ended.code, ended.out) == (2, "")
    assert ended.error().startswith(message)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "is empty"), (b" \n\t\n", "is empty"), (b"part = \xff", "is not UTF-8 text (byte 7)")],
)
@pytest.mark.usefixtures("core")
def test_a_file_that_is_no_configuration_is_named(
    interpulse: Callable[..., Ended], tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    ended = interpulse("run", str(path))
    assert ended.code == 2
    assert str(path) in ended.error()
    assert message in ended.error()


def test_a_reader_that_goes_away_is_no_error(config_file: str) -> None:
    with process("-m", "tests.fake_core", "{}", "run", config_file) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert "Traceback" not in running.stderr.read()
        assert running.wait(timeout=20) == 0


def test_full_standard_output_is_an_error(config_file: str) -> None:
    with (
        Path("/dev/full").open("w") as full,
        process("-m", "tests.fake_core", "{}", "run", config_file, stdout=full) as running,
    ):
        assert running.stderr is not None
        err = running.stderr.read()
        assert running.wait(timeout=20) == 2
    assert "No space left on device" in err
    assert "Traceback" not in err


def test_full_standard_output_does_not_cost_the_files(config_file: str, tmp_path: Path) -> None:
    arguments = ["run", config_file, "--out", str(tmp_path / "out")]
    with (
        Path("/dev/full").open("w") as full,
        process("-m", "tests.fake_core", "{}", *arguments, stdout=full) as running,
    ):
        assert running.wait(timeout=20) == 2
    assert (tmp_path / "out" / "result.json").is_file()

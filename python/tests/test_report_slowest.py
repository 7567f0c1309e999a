"""Does the page tell of the slowest requests what their run accounted for and recorded, to the nanosecond?"""

from __future__ import annotations

import html
import json
import re
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import interpulse as package
from interpulse.cli import run_app
from interpulse.cli.run_command import _log_options
from interpulse.logs import options
from interpulse.logs.options import LogOptions
from interpulse.report import (
    context,
    latency_text,
    page,
    run_page,
    runs,
    slow_request,
    swimlanes,
    timeline_files,
)
from interpulse.report.elements import Chart, Html
from interpulse.report.sections import slowest
from tests import sample
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from interpulse.report.elements import Section
    from interpulse.report.slow_request import SlowRequest
    from interpulse.report.swimlanes import Piece
    from tests.conftest import Ended

    Cli = Callable[..., Ended]

pytest.importorskip("perfetto")

SMALL = ROOT / "examples" / "small.toml"
REQUESTS = 20_000
CASES = ("no suspension", "suspend-10")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two seeds with its page."""
    out = tmp_path_factory.mktemp("slowest") / "out"
    config = out.parent / "small.toml"
    # The names of its files are not the case's own.
    config.write_text(SMALL.read_text().replace('"no-suspend"', f'"{CASES[0]}"'))
    sets = ["--set", f"run.requests={REQUESTS}", "--repeat", "2"]
    assert (
        run_app(["run", str(config), *sets, "--report", "--out", str(out), "--cache-dir", str(out.parent / "cache")])
        == 0
    )
    return out


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, list[SlowRequest]]:
    """What the page has to tell, by case."""
    (run, _) = runs.load([folder])
    return {case: _incidents(run, case) for case in CASES}


def _incidents(run: runs.Run, case: str) -> list[SlowRequest]:
    timeline = timeline_files.beside(run, case)
    assert timeline is not None
    assert timeline.why == ""
    config = next(each.raw["config"] for each in run.result.cases if each.case == case)
    return slow_request.of(timeline, config)


def _slowest(folder: Path, case: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "seed-1" / f"{case.replace(' ', '-')}.slowest.json").read_text())
    return found


def _ns(pieces: Sequence[Piece]) -> int:
    return sum(round(1000 * piece.to_us) - round(1000 * piece.from_us) for piece in pieces)


def test_the_first_seed_is_followed_and_each_kind_has_its_slowest(folder: Path) -> None:
    assert not [*(folder / "seed-2").glob("*.slowest.json")]
    result = json.loads((folder / "seed-1" / "result.json").read_text())
    for case in result["cases"]:
        (seed,) = case["seeds"]
        rows = _slowest(folder, case["case"])
        for kind in ("read", "write"):
            of_kind = [row for row in rows if row["kind"] == kind]
            assert len(of_kind) == 5
            assert of_kind == sorted(of_kind, key=lambda row: (-row["latency_ns"], row["number"]))
            assert of_kind[0]["latency_ns"] == round(1000 * seed["latency_us"][kind]["max"])


def test_each_kind_alone_has_the_same_slowest(folder: Path, tmp_path: Path) -> None:
    """Found in the rows of all requests here, by the core there."""
    config = package.Config.load(folder.parent / "small.toml").set("run.requests", REQUESTS)
    for kind in ("read", "write"):
        package.run(config, out=tmp_path, timeline=f"worst:5:{kind}", cache_dir=folder.parent / "cache")
        for case in CASES:
            alone = json.loads((tmp_path / f"{case.replace(' ', '-')}.slowest.json").read_text())
            assert [row for row in _slowest(folder, case) if row["kind"] == kind] == alone


def test_what_its_die_did_is_what_a_read_waited_for(found: dict[str, list[SlowRequest]]) -> None:
    for case in CASES:
        reads = [each for each in found[case] if each.request["kind"] == "read"]
        assert len(reads) == 5
        for it in reads:
            assert it.exact
            assert it.span is not None
            did = context.spent(it.dies[0], *it.span)
            for cause in slow_request.WAITS:
                assert did.get(cause, 0) == it.request[f"{cause}_ns"], (case, it.name, cause)
            assert sum(it.waits.values()) == it.latency


def test_the_strip_of_a_read_adds_up_by_colour(found: dict[str, list[SlowRequest]]) -> None:
    for it in (each for case in CASES for each in found[case] if each.exact):
        life = [piece for piece in swimlanes.pieces(it, 300) if piece.strip == it.name]
        life.sort(key=lambda piece: piece.from_us)
        assert life[0].from_us == 0
        assert all(a.to_us == b.from_us for a, b in pairwise(life)), "without a gap"
        assert _ns(life) == it.latency
        request = it.request
        for key in slow_request.WAITS:
            of_key = [piece for piece in life if piece.shown_as == swimlanes.KEYS[key].label]
            assert _ns(of_key) == request[f"{key}_ns"], (it.name, key)
        assert _ns([piece for piece in life if piece.what == "sensing"]) == request["sensing_ns"]
        around_it = sum(request[f"{cause}_ns"] for cause in ("queue", "firmware", "link", "decode", "cache"))
        assert _ns([piece for piece in life if piece.shown_as == swimlanes.KEYS["rest"].label]) == around_it


def test_a_write_that_waits_for_the_cache_is_let_in_by_the_end_of_a_program(
    found: dict[str, list[SlowRequest]],
) -> None:
    stalled = [each for each in found["suspend-10"] if each.request["kind"] == "write" and each.latency > 1_000_000]
    assert stalled
    for it in stalled:
        assert it.last is not None
        assert it.last.what == "program"
        # DRAM and the link are all that comes after it.
        assert 500 <= it.gap_ns < 1000, it.name
        assert it.dies[0].name == it.last.die
        assert "Meanwhile, the 8 dies that did anything spent their time on " in latency_text.lead(it)


def test_a_suspended_program_is_drawn_with_the_read_in_between(found: dict[str, list[SlowRequest]]) -> None:
    seen = 0
    for it in (each for each in found["suspend-10"] if each.dies):
        of_die = [piece for piece in swimlanes.pieces(it, 600) if piece.strip == it.dies[0].name]
        names = [piece.what for piece in of_die]
        for k, name in enumerate(names):
            if name == "entry":
                assert names[k + 1] in ("command", "wait for the bus", "suspended"), it.name
                seen += "sensing" in names[k + 1 : k + 4]
    assert seen >= 3


def test_the_page_says_it_in_words_and_figures(folder: Path, found: dict[str, list[SlowRequest]]) -> None:
    text = (folder / page.NAME).read_text()
    section = text[text.index('id="slowest"') : text.index('id="over-time"')]
    for case in CASES:
        worst = found[case][0]
        assert html.escape(latency_text.lead(worst)) in section
        cause, ns = next(iter(worst.waits.items()))
        assert f"<b>{latency_text.us(ns)} µs</b>" in section, cause
    first = found["no suspension"][0]
    erase = first.request["erases_ns"]
    block = next(each.block for each in first.dies[0].operations if each.what == "erase")
    share = f"({100 * erase / first.latency:.0f} %)"
    assert f"<b>{erase / 1e3:,.1f} µs</b> {share} for the erase of block {block}" in section
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])  # type: ignore[index]
    for number, case in enumerate(CASES, 1):
        picks = [view["pick"] for view in data["views"][f"slowest-{number}"]]
        assert picks == [each.name for each in found[case] if each.dies]
        rows = data["tables"][f"slowest-{number}"]["rows"]
        assert {row[0] for row in rows} == set(picks)
        assert all(row[4] <= row[5] for row in rows)


def test_the_number_of_pieces_is_bounded(found: dict[str, list[SlowRequest]]) -> None:
    saved: list[int] = []
    for it in (each for case in CASES for each in found[case] if each.dies):
        whole, few = swimlanes.pieces(it, 600), swimlanes.pieces(it, 60)
        saved.append(len(whole) - len(few))
        # Each of the strips may have 20, and the two of the request and its die's operations are as they are.
        assert len(few) < 20 * (swimlanes.MOST_DIES + 2) + len(whole) // 2
        for strip in {piece.strip for piece in few}:
            ends = [max(piece.to_us for piece in of if piece.strip == strip) for of in (whole, few)]
            assert ends[0] == ends[1], "the end of it stays"
    # A request of few pieces has them all.
    assert min(saved) >= 0
    assert 2 * sum(each > 0 for each in saved) > len(saved)


def test_what_is_not_drawn_phase_by_phase_does_not_look_idle(found: dict[str, list[SlowRequest]]) -> None:
    seen = 0
    for it in (each for case in CASES for each in found[case] if each.dies):
        begin, end = (1e3 * at + it.arrival for at in swimlanes.view(it, ())["range"])
        busy = sum(context.spent(it.dies[0], int(begin), int(end)).values())
        # As few as there are of the last of many dies.
        few = list(swimlanes._die(it, it.dies[0], 6))
        seen += any("too many to draw each" in piece.about for piece in few)
        # Short of the stretches at either end, that are drawn whole.
        assert _ns(few) >= 0.97 * busy, it.name
    assert seen >= 3


def test_an_operation_is_low_while_it_is_suspended(found: dict[str, list[SlowRequest]]) -> None:
    stopped = 0
    for it in (each for case in CASES for each in found[case] if each.dies):
        for each in it.dies[0].operations:
            assert each.stretches[0][0] == each.from_ns
            assert all(a[1] == b[0] and a[2] != b[2] for a, b in pairwise(each.stretches))
            assert each.stretches[-1][1] == each.to_ns
            pauses = sum(not runs for *_, runs in each.stretches)
            assert pauses <= each.suspends
            stopped += pauses
    assert stopped >= 3


def test_a_retry_is_told_by_what_it_waited_for(tmp_path: Path) -> None:
    """Of blocks that were read often and long ago."""
    sets = ["--set", "run.requests=60000", "--report", "--out", str(tmp_path)]
    assert run_app(["run", str(ROOT / "examples" / "aged.toml"), *sets, "--cache-dir", str(tmp_path / "cache")]) == 0
    (run,) = runs.load([tmp_path])
    again = [each for case in ("pr2-ar2", "refreshed") for each in _incidents(run, case) if "retry" in each.waits]
    assert len(again) >= 3
    told = 0
    for it in again:
        assert it.again is not None
        begin, end = it.again
        # Once the data of the first reading has left the die.
        after = sum(it.waits[cause] for cause in ("retry", "decode", "link"))
        assert it.exact
        assert it.span is not None
        before = it.span[0] - it.arrival - it.waits.get("queue", 0)
        assert end - begin == after - before, it.name
        own = [each for each in it.dies[0].slices if it.own(each) and each.from_ns >= begin]
        assert own
        assert all("read again" in each.args for each in own)
        assert {each.name for each in own} <= {"command, data out, decode", "sensing"}
        if next(iter(it.waits)) == "retry" and "between its first reading" in latency_text.lead(it):
            told += 1
            ns = int(float(latency_text.lead(it).split(": ")[1].split(" µs")[0].replace(",", "")) * 1000)
            assert it.waits["retry"] // 2 < ns < it.waits["retry"]
    assert told


def test_a_page_without_room_draws_less(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def render(_title: str, _about: str, sections: Iterable[Section], _notes: object) -> bytes:
        parts = next(each for each in sections if each.name == slowest.NAME).parts
        seen.append(sum(len(part.rows) for part in parts if isinstance(part, Chart)))
        if len(seen) < 3:
            raise ValueError("too large")
        return "".join(part.text for part in parts if isinstance(part, Html)).encode()

    monkeypatch.setattr(run_page, "render", render)
    text = run_page.page(runs.load([folder])).decode()
    assert seen[0] > seen[1] > seen[2] == 0
    assert "there is no room on this page for drawings of them" in text
    assert 'class="pick"' not in text
    assert "The slowest read (number " in text


def _copy(folder: Path, to: Path) -> Path:
    shutil.copytree(folder / "seed-1", to)
    return to


def _section(folder: Path) -> str:
    parts = slowest.section(runs.of(runs.load([folder]))).parts
    return html.unescape("".join(part.text if isinstance(part, Html) else part.title for part in parts))


def test_timelines_of_another_run_are_left_out(folder: Path, tmp_path: Path) -> None:
    copy = _copy(folder, tmp_path / "copy")
    result = json.loads((copy / "result.json").read_text())
    sample.seed(result)["latency_us"]["read"]["max"] += 0.001
    (copy / "result.json").write_text(json.dumps(result))
    section = _section(copy)
    assert "no suspension: no-suspension.slowest.json is of another run than result.json and is left out." in section
    assert "The slowest requests: suspend-10" in section


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("slowest.json", b"[", "no-suspension.slowest.json cannot be read"),
        ("slowest.json", b"[1]", "no-suspension.slowest.json cannot be read"),
        ("slowest.json", b'[{"number": "1"}]', "no-suspension.slowest.json cannot be read"),
        ("slowest.json", None, "No timeline of no suspension"),
        ("timeline.pftrace", b"\x0a\xff\xff", "no-suspension.timeline.pftrace cannot be read: no trace"),
        ("timeline.pftrace", None, "no suspension: the run ended before they were followed"),
    ],
)
def test_what_cannot_be_read_costs_no_page(
    name: str, content: bytes | None, expected: str, folder: Path, tmp_path: Path
) -> None:
    copy = _copy(folder, tmp_path / "copy")
    file = copy / f"no-suspension.{name}"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    section = _section(copy)
    assert expected in section
    assert "The slowest requests: suspend-10" in section
    if name == "timeline.pftrace":
        # What the account says is told without it.
        assert "µs</b> (" in section[: section.index("suspend-10")]


def test_without_perfetto_the_account_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "perfetto", None)
    monkeypatch.setitem(sys.modules, "perfetto.protos.perfetto.trace.perfetto_trace_pb2", None)
    section = _section(folder)
    assert "drawing them needs perfetto: make -C " in section
    assert "behind erases at its die" in section


def test_the_second_run_is_left_out_on_demand(tmp_path: Path, interpulse: Cli) -> None:
    assert _log_options(None, None, None, tmp_path, report=True) == LogOptions(worst=(5, "each"), bounded=True)
    assert _log_options(None, None, "none", tmp_path, report=True) is None
    assert _log_options(["fio"], None, "none", tmp_path, report=True) == LogOptions(logs={"fio": 1})
    refused = interpulse("run", str(SMALL), "--timeline", "none", "--out", str(tmp_path))
    assert refused.code == 2
    assert "--timeline none omits the timeline of --report: there is no --report" in refused.error()


def test_what_was_not_recorded_is_said(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(sample.result(sample.case("only"))))
    assert slowest.MISSING in _section(tmp_path)


def test_of_a_request_that_takes_very_long_the_end_is_followed() -> None:
    bounded = LogOptions(worst=(5, "each"), bounded=True)
    longest = bounded.longest_ns(64)
    assert longest == 12_500_000
    (stretch,) = json.loads(options.timeline_record([(0, 100_000_000)], longest))["timeline"]
    assert stretch == [86_250_000, 101_250_000]
    assert LogOptions(worst=(5, "each")).longest_ns(64) is None


def test_a_timeline_of_one_kind_is_shown_as_well(folder: Path, tmp_path: Path) -> None:
    copy = _copy(folder, tmp_path / "copy")
    config = package.Config.load(folder.parent / "small.toml").set("run.requests", REQUESTS)
    package.run(config, out=copy, timeline="worst:2:read", cache_dir=folder.parent / "cache")
    section = _section(copy)
    assert section.count('class="pick"') == 2 * len(CASES)
    assert 'data-pick="write ' not in section


def test_a_log_of_requests_has_all_that_it_would_have(folder: Path, tmp_path: Path) -> None:
    """The slowest are found in the same rows."""
    parquet = pytest.importorskip("pyarrow.parquet")
    config = package.Config.load(folder.parent / "small.toml").set("run.requests", REQUESTS)
    cache = folder.parent / "cache"
    package.run(config, out=tmp_path / "both", log="requests:1/7", timeline="worst:3:each", cache_dir=cache)
    package.run(config, out=tmp_path / "log", log="requests:1/7", cache_dir=cache)
    for case in CASES:
        name = f"{case.replace(' ', '-')}.requests.parquet"
        assert parquet.read_table(tmp_path / "both" / name) == parquet.read_table(tmp_path / "log" / name)

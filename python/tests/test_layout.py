"""Does everything that is printed fit its width, with every figure in it?"""

from __future__ import annotations

import itertools
import os
import pty
import re
import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.cells import cell_len

from interpulse.cli import run_app, table
from interpulse.runs.result import Result
from interpulse.studies import output
from interpulse.studies.outcome import Row
from interpulse.studies.verdict import verdict
from interpulse.tables.layout import Column, Sheet, fill, terminal_width, wrap
from tests import sample
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import Ended

    Cli = Callable[..., Ended]

WIDTHS = (40, 60, 80, 120, 200)
NAMES = [
    "none",
    "suspend-10",
    "a-case-name-of-sixty-characters-with-every-setting-said-in-it",
    "閾値電圧" * 7,
    "x" * 60,
]


def squeezed(text: str) -> str:
    """The text without white space: wherever a line was broken, it is the same."""
    return re.sub(r"\s", "", text)


def case(number: int) -> dict[str, Any]:
    """A case with everything that has a table; its figures tell it from the others."""
    name = NAMES[number] if number < len(NAMES) else f"case-{number}"
    case = sample.case(name, iops=1e5 + 1234 * number, read_mean=250.0 + number, suspends=16_000 + number)
    case["counters"]["nand"] = {"program_suspends": 16_000, "stop_time": 4e7 + number, "reload_bus_time": 3e6}
    counts = {"degraded_writes": 500_000 + number, "media_error_pages": 7, "repaired_pages": 6, "held_writes": 3}
    case["array"] = {"level": "raid5", "drives": 4, "parity_per_data_page": 0.333, "counters": counts}
    case["array"] |= {"failures": [{}], "rebuild": {"progress": 1.0, "started_s": 0.0, "finished_s": 0.5 + number}}
    lost = {"reads": 3, "writes": 0, "gc_pages": 1_234_567 + number}
    case["reliability"] = {"raw_bit_error_rate": 1.25e-3, "retried_share": 0.125, "uncorrectable": lost, "uber": 1e-15}
    each = {name: {"total_uj": 76_543.0 + number} for name in ("read", "gc_read", "program", "gc_program", "erase")}
    mean = {"nand_core": 151.25, "io_bus": 33.5, "controller": 500.0, "dram": 100.0, "total": 784.75 + number}
    case["power"] = {"mean_mw": mean, "per_request_uj": {"total": 2.602}, "by_operation": each}
    return case


def result(cases: int) -> Result:
    return Result(sample.result(*map(case, range(cases))))


def fits(text: str, width: int) -> None:
    for line in text.splitlines():
        assert cell_len(line) <= width, f"{cell_len(line)} columns of {width}: {line}"
        assert line == line.rstrip()


@pytest.mark.parametrize("cases", [1, 2, 5, 12])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_table_of_a_run_fits_and_has_every_figure(width: int, cases: int) -> None:
    shown = result(cases)
    text = table.render(shown, width)
    fits(text, width)
    found = re.findall(r"\S+", text)
    for _, build in table.SECTIONS.items():
        sheet = build([each.raw for each in shown.cases])
        assert sheet is not None, "the sample has something for every table"
        for row in sheet.rows:
            for column, cell in zip(sheet.columns, row, strict=True):
                if column.kind == "figure":
                    assert found.count(cell) >= 1, (column, cell)
    for name in NAMES[:cases]:
        # In a narrow column other cells of the same line stand between the parts of a name.
        assert all(part in text for part in re.split("-", name) if cell_len(part) <= 12), name


def test_figures_are_as_often_there_however_they_are_laid_out() -> None:
    """Nothing is dropped or doubled: splitting repeats labels, never figures."""
    shown = result(5)
    for build in table.SECTIONS.values():
        sheet = build([each.raw for each in shown.cases])
        assert sheet is not None
        figures = [
            c for row in sheet.rows for column, c in zip(sheet.columns, row, strict=True) if column.kind == "figure"
        ]
        for width in WIDTHS:
            words = re.findall(r"\S+", sheet.text(width))
            for figure in set(figures) - {"-"}:
                if len(figure) > 4:
                    assert words.count(figure) == figures.count(figure), (width, figure)


def test_a_figure_is_never_torn_apart() -> None:
    sheet = Sheet([Column("case", "label"), *(Column(f"a heading of several words {k}") for k in range(6))])
    sheet.add_row("a label that is rather long, as labels go", *(f"{123_456_789 * (k + 1):,}" for k in range(6)))
    for width in range(40, 200):
        text = sheet.text(width)
        fits(text, width)
        assert [f"{123_456_789 * (k + 1):,}" in text for k in range(6)] == [True] * 6
        assert text.count("rather") == text.count("case"), "each block says what its rows are"


def test_many_cases_become_rows() -> None:
    sheet = Sheet([Column("", "label"), *(Column(f"case-{k}") for k in range(30))], turns=True)
    sheet.add_row("energy per request, uJ", *(f"{k}.5" for k in range(30)))
    sheet.add_row("  of it reads", *(f"{k}.25" for k in range(30)))
    lines = [line.split() for line in sheet.text(60).splitlines()]
    assert ["case-17", "17.5", "17.25"] in lines
    assert squeezed(sheet.text(60)).startswith("energyperrequest,uJ:of"), "a part says of what"
    assert "case-17" in sheet.text(1000).splitlines()[0], "where there is room, cases are columns"


def test_wide_and_odd_characters() -> None:
    sheet = Sheet([Column("", "label"), Column("閾値電圧" * 10)], turns=True)
    sheet.add_row("[bold]markup[/] & \x1b[31mescapes\t", "1.0")
    for width in WIDTHS:
        fits(sheet.text(width), width)
    assert "[bold]markup[/] & \ufffd[31mescapes" in sheet.text(200)
    assert wrap("", 40) == [""]
    assert wrap("a/long/path/without/a/blank", 12) == ["a/long/path/", "without/a/", "blank"]
    assert fill("note: " + "word " * 12, 40).splitlines()[1].startswith("  word")


def test_a_row_has_a_cell_for_each_column() -> None:
    with pytest.raises(ValueError, match="a row of 1 cells in a table of 2 columns"):
        Sheet([Column("a"), Column("b")]).add_row("1")


def test_a_sheet_as_html_is_escaped() -> None:
    sheet = Sheet([Column("<case>", "label"), Column("p99", group="a&b")])
    sheet.add_row("<script>", "1.5")
    html = sheet.html()
    assert "&lt;script&gt;" in html
    assert "a&amp;b p99" in html
    assert "<script>" not in html


@pytest.mark.parametrize(
    ("columns", "width"), [("72", 72), ("10", 40), ("0", 100), ("", 100), ("wide", 100), ("-5", 100), ("1000", 1000)]
)
def test_where_there_is_no_terminal_columns_says_the_width(
    monkeypatch: pytest.MonkeyPatch, columns: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal_width() == width


def test_a_terminal_says_its_own_width() -> None:
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "cols", "63"], stdin=theirs, check=True)
    code = "from interpulse.tables.layout import terminal_width; print(terminal_width())"
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    environment["PYTHONPATH"] = str(ROOT / "python")
    subprocess.run([sys.executable, "-c", code], stdin=theirs, stdout=theirs, env=environment, check=True)
    assert os.read(ours, 100).strip() == b"63"
    for end in (ours, theirs):
        os.close(end)


COMMANDS: dict[str, list[str]] = {
    "list": ["list"],
    "policies": ["list", "policies"],
    "show": ["show", "examples/small.toml"],
    "show of an array": ["show", "examples/raid5.toml"],
    "experiments": ["experiment", "--list"],
    "kinds": ["characterize", "--list"],
    "scheme": ["scheme", "timeout", "--operation", "erase", "--part", "atc19-ll"],
    "scheme and writes": ["scheme", "exact", "--operation", "erase", "--write-at", "2ms"],
    "row": ["trace", "row", "msr-hm-0"],
    "run": ["run", "examples/small.toml", "--set", "run.requests=2000", "--no-cache", "--full"],
}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_fits_and_says_the_same_at_any_width(
    interpulse: Cli, monkeypatch: pytest.MonkeyPatch, name: str, width: int
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", str(width))
    out = interpulse(*COMMANDS[name]).out
    fits(out, width)
    monkeypatch.setenv("COLUMNS", "2000")
    # What a run took here is another figure each time; what stands first in a record needs no heading.
    words = {word for word in re.findall(r"[\w%]+", interpulse(*COMMANDS[name]).out) if cell_len(word) <= 10}
    words -= {word for word in words if name == "run" and word.isdigit()} | {"name", "setting"}
    missing = {word for word in words if word not in out}
    assert not missing, missing


@pytest.mark.parametrize("width", WIDTHS)
def test_traces_fit(interpulse: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, width: int) -> None:  # noqa: ANN401
    monkeypatch.setenv("COLUMNS", str(width))
    trace = str(tmp_path / ("a-trace-of-a-long-name" * 4 + ".csv"))
    for command in (["twin", "msr-hm-0", "--requests", "1000", "--out", trace], ["stats", trace]):
        ended = interpulse("trace", *command)
        assert ended.code == 0
        fits(ended.out, width)
        assert squeezed(trace) in squeezed(ended.out)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_cache_fits(interpulse: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, width: int) -> None:  # noqa: ANN401
    monkeypatch.setenv("COLUMNS", str(width))
    file = tmp_path / f"{'0123456789abcdef' * 2}-v6.snapshot"
    file.write_bytes(b"INTERPLS".ljust(2048, b"x"))
    out = interpulse("cache", "--cache-dir", str(tmp_path)).out
    fits(out, width)
    assert file.name in squeezed(out)
    assert squeezed(f"{tmp_path}: 2.0 KiB of at most") in squeezed(out)


HELP = [
    [],
    *(
        [name]
        for name in (
            "run",
            "show",
            "list",
            "compare",
            "scheme",
            "experiment",
            "characterize",
            "trace",
            "bench",
            "cache",
            "view",
        )
    ),
    ["trace", "stats"],
    ["trace", "twin"],
    ["trace", "row"],
]


@pytest.mark.parametrize(("command", "width"), list(itertools.product(HELP, WIDTHS)))
def test_help_fits(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str], width: int
) -> None:
    def shown(columns: int) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        assert run_app([*command, "--help"]) == 0
        return capfd.readouterr().out

    out = shown(width)
    for line in out.splitlines():
        assert cell_len(line) <= width, line
    assert "…" not in out
    assert not re.search(r"\w\.\.\.$", out, re.MULTILINE)
    words = {word for word in re.findall(r"[\w%]+", shown(400)) if len(word) < 20}
    missing = {word for word in words if word not in out}
    assert not missing, missing


@pytest.mark.parametrize("width", WIDTHS)
def test_a_study_fits_and_has_every_row(width: int) -> None:
    """Long names, bounds, intervals, citations and notes, as experiments and characterizations print them."""
    samples: list[tuple[Any, ...]] = [
        ("plain", 1234.5, 1180.25, 1100.5, 1250.75),
        ("bounded", None, 3.25, None, None, 3.0, 4.5),
        ("nothing", 7.5, None),
        ("least", None, 12345678.0, None, None, 1.5, None),
    ]
    rows = [
        Row(f"{name}_of_a_very_long_name_{number}", f"Figure {number}, Section 4: {'words ' * 9}", "us", *figures)
        for number, (name, *figures) in enumerate(samples)
    ]
    found = SimpleNamespace(
        rows=SimpleNamespace(ordered=lambda: rows, published=lambda: rows[:3], expected=lambda: rows),
        notes=["a note of many words " * 12],
        calibrated={"a": 1},
    )
    head = "an-experiment (full), interpulse 0.1.0, seed 1, config 0123456789abcdef0123456789abcdef"
    context = SimpleNamespace(head=lambda: head, preface=lambda _: f"calibrated: {head}\nmore: {head}", verdict=verdict)
    text = output.render(cast("Any", context), cast("Any", found), width)
    fits(text, width)
    for figure in ("1,234", "1,180", "1,100", "1,251", "3.25", "4.5", "7.5", "12,345,678", ">=", "yes"):
        assert figure in text
    for row in rows:
        assert squeezed(row.name) in squeezed(text) or all(part in text for part in row.name.split("_"))
    text = output.render(cast("Any", context), cast("Any", found), width, every=False)
    fits(text, width)
    for figure in ("1,234", "1,180 ± 70.5", "3 .. 4.5", "3.25", "7.5", "holds"):
        assert figure in text
    assert "12,345,678" not in text, "nothing is published of it"
    assert squeezed("1 more rows, what was calibrated, where each is published, 1 note") in squeezed(text)

"""Does `interpulse scheme` tell what a die does, and are the pages of the schemes what the program says?"""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from interpulse import ConfigError, _core
from interpulse.flash.die import Die, waited_ns
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

SCHEMES = [each["name"] for each in json.loads(_core.lists())["schemes"]]


def tool(name: str) -> Any:  # noqa: ANN401 - a module
    spec = importlib.util.spec_from_file_location(name, ROOT / "python" / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


# The others import it from beside them.
GENERATED = tool("generated")
PARTIAL_ERASE = tool("partial_erase_page")
PAGES = tool("scheme_pages")
CHOOSING = tool("choosing_page")


def test_json_tells_each_phase_and_each_wait(interpulse: Callable[..., Ended]) -> None:
    """An erase of 5 loops of 992 us + 8 us behind 100 ns of command; entry 100 us; a read takes 6,887 ns on the die."""
    told = interpulse(
        *("scheme", "immediate", "--part", "atc19-ll", "--operation", "erase", "--read-at", "1500.1us", "--json")
    ).json()
    resumed = 1_500_100 + 100_000 + 6_887
    assert told["operation_alone_ns"] == 5_000_100
    assert told["read_alone_ns"] == 6_887 + 4_000
    assert told["operations"] == [
        {"kind": "erase", "arrived_ns": 0, "done_ns": resumed + 4_000_000},
        {"kind": "read", "arrived_ns": 1_500_100, "done_ns": resumed + 4_000, "waited_ns": 100_000},
    ]
    assert told["suspends"] == 1
    assert told["costs_ns"] == {
        "ran-on": 0,
        "discharge": 0,
        "entry": 100_000,
        "hold": 0,
        "reload": 0,
        "resume": 0,
        "ramp": 0,
        "again": 500_000,
    }
    entry = {"from_ns": 1_500_100, "to_ns": 1_600_100, "what": "entry", "operation": "erase"}
    assert entry | {"running_on": False, "again": False} in told["phases"]


def test_the_text_has_a_bar_the_phases_and_the_costs(interpulse: Callable[..., Ended]) -> None:
    shown = ("scheme", "deferred", "--part", "atc19-ll", "--operation", "erase", "--read-at", "1500.1us")
    # At a safe point nothing is left to enter, unless the part asks for it there too.
    assert interpulse(*shown).out.splitlines()[-1] == "suspensions: 1; in us: ran-on 500"
    out = interpulse(*shown, "--set", "suspend.erase.safe-point-entry=part").out
    lines = out.splitlines()
    assert lines[0].startswith("deferred: erase on a die of atc19-ll, 5,000.1 us when nothing stops it")
    assert len(lines[2]) == 72
    assert set(lines[2]) == set("=>sR")
    assert ["1,500.1", "2,000.1", "500", "erase", "pulses", "(runs", "on", "to", "the", "stop)"] in map(
        str.split, lines
    )
    assert lines[-1] == "suspensions: 1; in us: ran-on 500, entry 100"


def test_a_write_suspends_an_erase_and_a_read_the_write(interpulse: Callable[..., Ended]) -> None:
    sets = (
        "part.suspend-support=nested",
        "suspend.erase.for-host-writes=true",
        "suspend.nesting=true",
        "suspend.program.scheme=loop-boundary",
    )
    told = interpulse(
        *("scheme", "exact", "--operation", "erase", "--write-at", "2ms", "--read-at", "3ms", "--json"),
        *(part for each in sets for part in ("--set", each)),
    ).json()
    # The program of the study: 138,440 ns of loading, then 16 loops of 125 us, stopped 7 loops after it began.
    stop = 2_000_000 + 138_440 + 7 * 125_000
    read = 200 + 80_000 + 46_080
    program = stop + read + 9 * 125_000
    assert told["suspends"] == 2
    assert [(each["kind"], each["done_ns"]) for each in told["operations"]] == [
        ("erase", program + 5_000_200 - 2_000_000),
        ("program", program),
        ("read", stop + read + 4_000),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["exact", "--part", "zz"], "there is no part 'zz'; one of a4-tlc, "),
        (["exat"], "there is no scheme 'exat'; one of none, ideal, "),
        (
            ["exact", "--read-at", "5"],
            "--read-at '5': a time is a number with its unit (ns, us, ms or s), such as 100us",
        ),
        (["exact", "--read-at", "-5us"], "--read-at '-5us': a time is a number with its unit"),
        (["exact", "--write-at", "11s"], "--write-at '11s': at most 10s"),
        (["exact", "--read-at", "0.5ns"], "--read-at '0.5ns': a time is a whole number of nanoseconds"),
        (["exact", "--out", "x.pdf"], "--out x.pdf: a diagram is written as .svg or .png"),
        (["exact", "--operation", "read"], "Invalid value for '--operation'"),
        (["exact", "--set", "suspend.program.schem=none"], "--set: suspend.program.schem: unknown key"),
        (["exact", "--set", "suspend.program.scheme=none"], "suspend.program.scheme is not for --set here"),
        (["exact", "--set", "part.preset=a4-tlc"], "part.preset is not for --set here"),
    ],
)
def test_a_mistake_is_one_line(interpulse: Callable[..., Ended], arguments: list[str], message: str) -> None:
    ended = interpulse("scheme", *arguments)
    assert ended.code == 2
    assert ended.error().startswith(message)
    assert ended.err.count("\n") == 1


def test_an_instant_out_of_range_is_refused() -> None:
    with pytest.raises(ConfigError, match="a read at -1 ns"):
        Die("a4-tlc", "program", "none").run([-1])


@pytest.mark.parametrize(("form", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_the_diagram_is_a_file(interpulse: Callable[..., Ended], tmp_path: Path, form: str, begins: bytes) -> None:
    path = tmp_path / "folder" / f"loop.{form}"
    assert interpulse("scheme", "loop-boundary", "--out", str(path)).code == 0
    assert path.read_bytes().startswith(begins)
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_die_without_pulses_can_be_drawn(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    """Operations that take no time leave the page loads and the reads."""
    path = tmp_path / "zero.svg"
    ended = interpulse("scheme", "exact", "--set", "schedule.long-operations=zero", "--out", str(path))
    assert ended.code == 0
    assert path.exists()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("operation", ["program", "erase"])
def test_what_a_suspension_costs_adds_up(scheme: str, operation: str) -> None:
    """However late the read comes: the operation is longer by the read and by what the suspension cost, exactly."""
    sets = [(f"suspend.{operation}.resume-ramp", "7us")]
    die = Die("fast12-mlc", operation, scheme, sets)
    stopped = 0
    for k in range(40):
        told = die.run([(2 * k + 1) * die.alone_ns // 80])
        longer = (told.operations[0].done_ns or 0) - die.alone_ns
        read = 45_200 if told.suspends else 0
        costs = told.spent_ns("discharge", "entry", "ramp", "reload", "resume") + told.again_ns
        # The commands of slices take their time without reads, too.
        costs -= die.alone.spent_ns("ramp", "resume")
        assert longer == read + costs
        assert (waited_ns(die, told.reads[0]) or 0) >= 0
        stopped += told.suspends
    assert (stopped > 0) == (
        scheme != "none" and not (operation == "erase" and scheme in ("deferred", "loop-boundary", "sliced"))
    )


def test_every_scheme_has_a_page_that_is_linked() -> None:
    assert set(PAGES.EXAMPLES) < set(SCHEMES)
    index = (PAGES.FOLDER / "README.md").read_text()
    for name in SCHEMES:
        assert f"({name}.md)" in index
        page = (PAGES.FOLDER / f"{name}.md").read_text()
        for heading in ("## Timing and costs", "## Use it for", "## Not for", "## Source"):
            assert heading in page


@pytest.mark.parametrize("page", [*SCHEMES, "README", *PAGES.OTHERS])
def test_the_figures_of_the_pages_are_what_the_program_says(page: str) -> None:
    written = (PAGES.FOLDER / f"{page}.md").read_text()
    assert written == GENERATED.with_blocks(written, PAGES.blocks_of(page)), "run `make golden`"


def test_a_page_with_another_number_of_generated_parts_is_refused() -> None:
    page = f"a\n{GENERATED.BEGIN}old\n{GENERATED.END}b\n"
    assert GENERATED.with_blocks(page, ["new\n"]) == page.replace("old", "new")
    with pytest.raises(ValueError, match="has 1 generated parts, not 2"):
        GENERATED.with_blocks(page, ["new\n", "more\n"])
    with pytest.raises(ValueError, match="has no end"):
        GENERATED.with_blocks(page.replace(GENERATED.END, ""), ["new\n"])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_diagrams_are_what_the_program_draws(scheme: str) -> None:
    assert (PAGES.FOLDER / f"{scheme}.svg").read_bytes() == PAGES.diagram(scheme), "run `make golden`"


def test_the_diagram_of_an_adapted_erase_is_what_the_program_draws() -> None:
    assert (PAGES.FOLDER / "erase-methods.svg").read_bytes() == PAGES.methods_diagram(), "run `make golden`"


def test_the_diagram_of_a_compensated_program_is_what_the_program_draws() -> None:
    assert (PAGES.FOLDER / "compensation.svg").read_bytes() == PAGES.compensation_diagram(), "run `make golden`"


def test_the_diagram_of_a_repeated_read_is_what_the_program_draws() -> None:
    assert (PAGES.FOLDER / "read-retry.svg").read_bytes() == PAGES.retry_diagram(), "run `make golden`"


def test_the_diagram_of_a_merge_in_place_is_what_the_program_draws() -> None:
    drawn = PARTIAL_ERASE.diagram()
    assert (PAGES.FOLDER / "partial-erase.svg").read_bytes() == drawn, "run `make golden`"


def test_the_guide_says_what_is_measured() -> None:
    """What it prints of one seed stands for all; `make golden` measures the others in the same way."""
    assert CHOOSING.one_seed() in CHOOSING.PAGE.read_text(), "run `make golden`"


def test_the_guide_has_intervals_where_its_digits_show_them() -> None:
    """Student's t for four degrees of freedom is 2.776; the five values below have a standard error of 0.7071 ms."""
    cell = CHOOSING.cell
    assert cell([1, 2, 3, 4, 5], lambda each: 1000.0 * each) == "3,000 ±1,963"
    assert cell([1, 2, 3, 4, 5], lambda each: 10 + each / 1000, 1) == "10.0"
    assert cell([7], float, 1) == "7.0"

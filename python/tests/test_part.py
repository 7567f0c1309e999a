"""Does a part come out of a data sheet, say where each figure is from, and run wherever a part is taken?"""

from __future__ import annotations

import json
import shlex
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from interpulse.flash.datasheet import BITS, PRINTED, TYPICAL, part_file, typical_lines
from interpulse.flash.parts import keys
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

SHEET = [
    "--tr", "60us", "--tprog", "700us", "--tbers", "5ms", "--pages", "2304", "--blocks", "1400", "--planes", "4",
    "--page-size", "16KiB", "--bits", "tlc",
]  # fmt: skip

DRIVE = """[part]
file = "mynand.toml"
[geometry]
channels = 2
chips-per-channel = 1
[ftl]
over-provisioning = "40%"
multi-plane = 4
[drive]
capacity = "24GiB"
[cache]
size = "4MiB"
[precondition]
fill = 0.5
[run]
requests = 2000
[[flow]]
depth = 8
read = "60%"
"""


def written(text: str) -> dict[str, Any]:
    """The figures of a part file, each with `value` and `source`."""
    part: dict[str, Any] = tomllib.loads(text)["part"]
    return part


def us(figure: dict[str, Any]) -> float:
    """A time in microseconds."""
    text = str(figure["value"])
    assert text.endswith("us")
    return float(text.removesuffix("us"))


def made(bits: str = "tlc", further: dict[str, str] | None = None, **given: str) -> dict[str, Any]:
    """The figures of a part of the typical data sheet but for what is given."""
    return written(part_file("mine", {**typical_lines({"bits": bits}), "bits": bits, **given}, further or {}))


@pytest.mark.parametrize("bits", sorted(BITS))
def test_every_figure_has_a_source_and_the_loops_last_as_long_as_the_sheet_says(bits: str) -> None:
    part = made(bits, tprog="937us", tbers="3.5ms")
    assert part.pop("name") == "mine"
    power, cache = part.pop("power"), part.pop("cache")
    for key, figure in [*part.items(), *power.items(), *cache.items()]:
        assert figure["source"] == "data sheet" or figure["source"].startswith(("data sheet (", "assumed: ")), key
    assert part["program-loops"]["value"] * (us(part["program-pulse"]) + us(part["program-verify"])) == pytest.approx(
        937
    )
    assert part["erase-loops"]["value"] * (us(part["erase-pulse"]) + us(part["erase-verify"])) == pytest.approx(3500)
    assert "typical split" in part["program-pulse"]["source"]
    assert sum(key.startswith("read-") and key != "read-transfer" for key in part) == BITS[bits]
    sections = {"reprogram", "slc-mode", "two-step", "power", "cache"}
    chosen = {"sub-block-erase-loops", "sub-block-wear", "sub-block-disturb", "file", "preset", "name", "interface"}
    pages = {"read-csb", "read-msb", "read-top", "read-fifth", "page-load"}
    assert {key.partition(".")[0] for key in keys()} - set(part) - sections <= chosen | pages


def test_what_is_given_is_taken_and_called_the_data_sheets() -> None:
    part = made(
        further={
            "program-loops": "7",
            "erase-loops": "3",
            "program-verify": "33us",
            "power.standby": "20uA",
            "layers": "88",
        },
        tr="50us,60us,75us",
    )
    assert [part[f"read-{page}"]["value"] for page in ("lsb", "csb", "msb")] == ["50us", "60us", "75us"]
    assert part["program-loops"] == {"value": 7, "source": "data sheet"}
    assert (part["program-verify"]["value"], us(part["program-pulse"])) == ("33us", 67.0)
    assert part["power"]["standby"] == {"value": "20uA", "source": "data sheet"}
    assert part["layers"] == {"value": 88, "source": "data sheet"}
    # 5 ms do not split into three loops of whole nanoseconds: the nearest, and the file says what they add up to.
    assert part["erase-loops"]["value"] == 3
    assert "3 x (1566.667us + 100us) = 5000.001us; tbers is 5ms (data sheet)" in part["erase-pulse"]["source"]


def test_all_lines_that_are_missing_are_named_at_once(interpulse: Callable[..., Ended]) -> None:
    ended = interpulse("part", "new", "mynand", "--tr", "60us", "--bits", "tlc")
    assert ended.code == 2
    lines = ended.err.splitlines()
    assert lines[0] == "error: 6 lines of the data sheet are missing:"
    named = [line.split(":")[0].strip() for line in lines[1:-1]]
    assert named == ["--tprog", "--tbers", "--pages", "--blocks", "--planes", "--page-size"]
    assert all("(typically " in line for line in lines[1:-1])
    assert set(PRINTED) == set(TYPICAL)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tr", "60"], "--tr '60': a time is a number with its unit (ns, us, ms or s), such as 60us"),
        (["--tr", "60us,70us"], "--tr 60us,70us: one time, or one for each page of a word line (lsb, csb, msb)"),
        (["--tprog", "0us"], "--tprog '0us': a whole number of nanoseconds, and not zero"),
        (["--bits", "6"], "--bits 6: bits per cell: 1 or slc, 2 or mlc, 3 or tlc, 4 or qlc, 5 or plc"),
        (["--planes", "0"], "--planes 0: a whole number from 1, such as 4"),
        (["--planes", "65"], "error: part.planes: seen 65; expected a whole number from 1 to 64"),
        (["--page-size", "16"], "--page-size 16: a size is a number with its unit (B, KiB, MiB or kB), such as 16KiB"),
        (["--page-size", "15kB"], 'part.page-size: seen "15kB"; expected a multiple of 4KiB'),
        (["--program-loops", "many"], "--program-loops many: a whole number from 1, such as 16"),
        (["--program-verify", "1ms"], "--program-verify 1000us: a loop of 43.75us has to hold a pulse beside it"),
        (["--bus-rate", "3"], 'part.bus-rate: seen "3"; expected a transfer rate'),
        (["--set", "plane=3"], "plane: a part has no such figure; docs/CONFIGURATION.md has all keys of `part`"),
        (
            ["--set", "interface=onfi-5.0"],
            "interface: a data sheet prints the rate itself; expected --bus-rate instead",
        ),
        (["--density", "512"], "--density '512': a density is a number with its unit (Gb or Tb), such as 512Gb"),
        (["--density", "128Gb"], "--density 128Gb: seen "),
        (["--out", "part.txt"], "--out part.txt: a part file is a file that ends in .toml"),
    ],
)
def test_a_figure_that_cannot_be_is_refused(
    interpulse: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = interpulse("part", "new", "mynand", *SHEET, *options)
    assert ended.code == 2
    assert message in ended.err
    assert not list(tmp_path.iterdir())


def test_a_printed_density_is_compared_with_the_geometry(
    interpulse: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shape = ("--planes", "4", "--pages", "2112", "--page-size", "16KiB", "--typical")
    ended = interpulse("part", "new", "fits", *shape, "--blocks", "1014", "--density", "1Tb")
    assert ended.code == 0, ended.err
    ended = interpulse("part", "new", "twice", *shape, "--blocks", "1014", "--density", "512Gb")
    assert ended.code == 2
    geometry = "--planes 4, --blocks 1014, --pages 2112, --page-size 16KiB"
    assert f"seen 1,046 Gb by {geometry}; expected 0.9 to 1.2 of the density" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == ["fits.toml"]


@pytest.mark.parametrize("bits", sorted({"slc", "mlc", "tlc", "qlc", "plc"}))
def test_the_next_steps_that_are_printed_work(
    bits: str, interpulse: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = interpulse("part", "new", "mine", "--typical", "--bits", bits, "--out", "a part.toml")
    scheme, first = (shlex.split(line)[1:] for line in ended.out.splitlines()[1:])
    assert interpulse(*scheme).code == 0
    assert first[:2] == ["run", "examples/small.toml"]
    ended = interpulse("run", str(ROOT / first[1]), *first[2:], "--set", "run.requests=200", "--no-cache", "--json")
    assert ended.code == 0, ended.err
    config = ended.seed()["config"]
    bits_per_cell = str({"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4, "plc": 5}[bits])
    assert (config["part.bits-per-cell"], config["part.blocks-per-plane"]) == (bits_per_cell, "32")


def test_the_file_runs_as_it_stands(
    interpulse: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = interpulse("part", "new", "mynand", *SHEET)
    assert ended.code == 0, ended.err
    file = tmp_path / "mynand.toml"
    again = interpulse("part", "new", "mynand", "--typical")
    assert (again.code, again.error()) == (2, "mynand.toml: exists already; --force replaces it")
    checked = interpulse("part", "check", "mynand.toml")
    assert checked.code == 0
    assert "program-suspend-entry = 20us" in checked.out
    shown = json.loads(interpulse("part", "show", "mynand.toml", "--json").out)
    tr = next(row for row in shown if row["key"] == "part.read-csb")
    assert (tr["value"], tr["origin"].endswith("(data sheet (one tR for all pages))")) == ("60us", True)
    defaults = {row["key"]: row["value"] for row in shown if row["origin"] == "default"}
    assert defaults.keys() - {"part.preset", "part.file", "part.interface"} == {"part.page-load"}
    assert defaults["part.page-load"] == "not set"

    die = json.loads(interpulse("scheme", "loop-boundary", "--part", "mynand.toml", "--json").out)
    assert die["part"] == "mynand.toml"
    # Three page loads over the bus come before the pulses.
    assert 0 < die["operation_alone_ns"] - 700_000 < 100_000
    costs = die["costs_ns"]
    assert (costs["entry"], costs["resume"]) == (20_000 * die["suspends"], 5_000 * die["suspends"])

    (tmp_path / "x.toml").write_text(DRIVE)
    for sets in (
        [],
        ["suspend.program.scheme=exact", "suspend.erase.scheme=loop-boundary"],
        ["array.level=raid5", "array.drives=3"],
        ["power.budget=10W"],
    ):
        options = [option for each in sets for option in ("--set", each)]
        ended = interpulse("run", "x.toml", *options, "--json", "--no-cache")
        assert ended.code == 0, ended.err
        result = ended.seed()
        assert result["capacity"]["usable_bytes"] == 24 << 30
        assert result["config"]["part.program-resume"] == "5us"
        assert "note: part mynand: assumed, and not from a data sheet: program-suspend-entry = 20us, " in ended.err
    assert file.read_text().count("# ") > 30


def test_a_part_file_that_lacks_keys_is_told_all_of_them(
    interpulse: Callable[..., Ended], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    interpulse("part", "new", "mynand", *SHEET)
    file = tmp_path / "mynand.toml"
    lacking = ("program-resume", "erase-suspend-entry", "planes")
    kept = [line for line in file.read_text().splitlines() if not line.startswith(lacking)]
    file.write_text("\n".join(kept))
    (tmp_path / "x.toml").write_text(DRIVE)
    for command in (["part", "check", "mynand.toml"], ["scheme", "exact", "--part", "mynand.toml"], ["show", "x.toml"]):
        ended = interpulse(*command)
        assert ended.code == 2, command
        lines = ended.err.splitlines()
        assert lines[0] == "error: mynand.toml:5: 3 keys are missing:"
        assert [line.split(":")[0].strip() for line in lines[1:]] == [
            "part.planes", "part.program-resume", "part.erase-suspend-entry",
        ]  # fmt: skip
        assert lines[1] == "  part.planes: planes per die; expected a whole number from 1 to 64 (typically 4)"
    missing = interpulse("scheme", "exact", "--part", "other.toml")
    assert missing.error() == "cannot read the part file other.toml: No such file or directory"


def test_what_of_a_trace_lies_beyond_the_capacity_is_said(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    # Of ten reads of 4 KiB at every 400 MiB the first three lie on a drive of 1.2 GB.
    rows = "".join(f"{k * 1000} 0 {k * 400 * 2048} 8 1\n" for k in range(10))
    (tmp_path / "t.trace").write_text(rows)
    config = tmp_path / "x.toml"
    config.write_text(
        'drive = "a4-mini"\n[drive2]\n'.replace("[drive2]\n", "")
        + '[precondition]\nfill = 0\n[[flow]]\ntrace = "t.trace"\nformat = "mqsim"\nfit = "fold"\n'
    )
    ended = interpulse("run", str(config), "--set", "drive.capacity=1200MB", "--no-cache", "--full")
    assert ended.code == 0, ended.err
    assert "7 of 10 requests of the trace (70 %) lay beyond the capacity, up to 3.77 GB" in ended.out
    assert "addresses up to 3.77 GB on a capacity of 1.20 GB" in ended.err
    assert "usable capacity of a drive, GB" in ended.out
    result = interpulse("run", str(config), "--set", "drive.capacity=1200MB", "--no-cache", "--json").seed()
    trace = result["counters"]["trace"]
    assert (trace["replayed"], trace["beyond"], trace["end_bytes"]) == (10, 7, (9 * 400 << 20) + 4096)


@pytest.mark.parametrize(("unit", "days"), [("d", 1), ("w", 7), ("y", 365)])
def test_long_durations_have_units(interpulse: Callable[..., Ended], unit: str, days: int, tmp_path: Path) -> None:
    config = tmp_path / "x.toml"
    config.write_text('drive = "a4-mini"\n[errors]\ntable = "cai-tlc"\n[run]\nrequests = 1\n[[flow]]\n')
    ended = interpulse("show", str(config), "--set", f"errors.initial-age=1{unit}", "--json")
    assert ended.code == 0, ended.err
    shown = {entry["key"]: entry["value"] for entry in json.loads(ended.out)["entries"]}
    assert shown["errors.initial-age"] == f"{days * 86400}s"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--pages", "2303"],
            "--pages 2303: a word line of 3 bits per cell has 3 pages; expected a multiple of 3, such",
        ),
        (["--pages", "1"], "such as 3"),
        (["--pages", "2305", "--bits", "mlc"], "expected a multiple of 2, such as 2304 or 2306"),
        (["--pages", "2306", "--bits", "4"], "expected a multiple of 4, such as 2304 or 2308"),
        (["--pages", "2304", "--bits", "plc"], "expected a multiple of 5, such as 2300 or 2305"),
        (["--set", "pages-per-block=2112"], "--set pages-per-block=2112: seen --pages 2304 too"),
        (["--set", "part.pages-per-block=2112"], "--set pages-per-block=2112: seen --pages 2304 too"),
        (["--set", "blocks-per-plane=1"], "--set blocks-per-plane=1: seen --blocks 1400 too"),
        (["--set", "planes=2"], "--set planes=2: seen --planes 4 too"),
        (["--set", "page-size=4KiB"], "--set page-size=4KiB: seen --page-size 16KiB too"),
        (["--set", "bits-per-cell=2"], "--set bits-per-cell=2: seen --bits tlc too"),
        (["--set", "read-csb=70us"], "--set read-csb=70us: seen --tr 60us too"),
        (["--set", "program-pulse=1us"], "--set program-pulse=1us: seen --tprog 700us too"),
        (
            ["--set", "erase-pulse=9ms", "--set", "erase-loops=2"],
            "seen --tbers 5ms too, which says something else; expected one of both: 2 loops last 18200us",
        ),
        (["--program-loops", "7", "--set", "program-loops=8"], "program-loops=8: seen program-loops = 7 too"),
        (["--set", "layers=8", "--set", "layers=9"], "--set layers=9: seen layers = 8 too"),
    ],
)
def test_what_contradicts_the_data_sheet_is_refused(
    options: list[str], message: str, interpulse: Callable[..., Ended], tmp_path: Path
) -> None:
    line = dict(zip(SHEET[::2], SHEET[1::2], strict=True)) | dict(zip(options[::2], options[1::2], strict=True))
    line.pop("--set", None)
    sets = [part for at, part in enumerate(options) if options[at - at % 2] == "--set"]
    given = [part for pair in line.items() for part in pair] + sets
    ended = interpulse("part", "new", "mynand", *given, "--out", str(tmp_path / "p.toml"))
    assert (ended.code, list(tmp_path.iterdir())) == (2, [])
    assert message in ended.error()


def test_what_agrees_with_the_data_sheet_is_taken() -> None:
    part = made(
        further={"pages-per-block": "2112", "program-pulse": "50us", "program-verify": "50us", "program-loops": "7"}
    )
    assert (part["pages-per-block"]["value"], part["program-loops"]["value"]) == (2112, 7)
    assert made(further={"read-msb": "60us"})["read-msb"]["source"] == "data sheet"

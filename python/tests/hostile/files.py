"""Wrong files: error tables, parts, rows of twins, traces."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING

from interpulse import _core
from tests.hostile.records import Wrong
from tests.hostile.settings import BASE

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = """\
[error-table]
title = "a table"
source = "made up"
temperature-c = 40
cycles = [0, 3000]
retention-h = [24]
page-types = ["lsb", "csb", "msb"]
attempts = ["default"]
rber = [1e-4, 1e-4, 1e-4, 2e-4, 2e-4, 2e-4]
"""
PART = '[part]\npreset = "a4-tlc"\nprogram-loops = { value = 17, source = "measured" }\n'
ROW = """\
[twin]
requests = 5000
write-share = "50%"
read-size = "8KiB"
write-size = "12KiB"
rewritten-share = "80%"
mean-gap = "1ms"
squared-variation = 4
"""


def named() -> Iterator[Wrong]:
    """Files that a configuration names: error tables, parts, rows of twins."""
    tables = (
        ("cycles = [0, 3000]", "cycles = [3000, 0]", "t.toml:5: error-table.cycles"),
        ("cycles = [0, 3000]", "cycles = []", "error-table.cycles"),
        ("cycles = [0, 3000]", "cycles = [0, -1]", "error-table.cycles"),
        ("cycles = [0, 3000]", 'cycles = "all"', "error-table.cycles"),
        ("retention-h = [24]", "retention-h = [nan]", "error-table.retention-h"),
        ("retention-h = [24]", "retention-h = [0]", "error-table.retention-h"),
        ('["lsb", "csb", "msb"]', '["lsb", "csb", "usb"]', "error-table.page-types"),
        ('["lsb", "csb", "msb"]', '["msb", "csb", "lsb"]', "error-table.page-types"),
        ('["lsb", "csb", "msb"]', '["upper", "middle", "lower"]', "error-table.page-types"),
        ('["lsb", "csb", "msb"]', '["lsb"]', "error-table.rber"),
        ('["lsb", "csb", "msb"]', "[]", "error-table.page-types"),
        ('["default"]', "[]", "error-table.attempts"),
        ('["default"]', '["a", "a"]', "error-table.attempts"),
        ("1e-4, 1e-4, 1e-4, ", "", "error-table.rber"),
        ("2e-4]", "0.6]", "error-table.rber"),
        ("2e-4]", "nan]", "error-table.rber"),
        ("2e-4]", "-1e-9]", "error-table.rber"),
        ("2e-4]", '"2e-4"]', "error-table.rber"),
        ("= 40", "= 400", "error-table.temperature-c"),
        ("= 40", '= "hot"', "error-table.temperature-c"),
        ("[error-table]", "[table]", "error-table", "table"),
        ("[error-table]", "[error-table", "t.toml:1"),
        ("title", "tilte", "error-table.title", "error-table.tilte"),
        ('source = "made up"\n', "", "error-table.source"),
    )
    for before, after, *names in tables:
        assert before in TABLE
        content = TABLE.replace(before, after).encode()
        yield _beside("t.toml", content, '[errors]\ntable = "t.toml"\n', names)
    parts = (
        ("a4-tlc", "a5-tlc", "p.toml:2: part.preset"),
        ("program-loops", "progam-loops", "p.toml:3: part.progam-loops: unknown key"),
        ("17", "0", "p.toml:3: part.program-loops"),
        ("17", "-3", "part.program-loops"),
        ("17", '"17us"', "part.program-loops"),
        ("[part]", "[parts]", "parts"),
        ("[part]", "[part", "p.toml:1"),
        ("[part]", 'drive = "a4"\n[part]', "p.toml:1: drive"),
        ("[part]", '[part]\nfile = "p.toml"', "part.file: does not apply"),
        ("[part]", "[cache]\nsize = 1\n[part]", "p.toml:1: cache"),
        ('"measured"', "3", "part.program-loops"),
    )
    for before, after, *names in parts:
        assert before in PART
        yield _beside("p.toml", PART.replace(before, after).encode(), '[part]\nfile = "p.toml"\n', names)
    rows = (
        ('"50%"', '"150%"', "twin.write-share"),
        ('"8KiB"', '"8"', "twin.read-size"),
        ("requests = 5000", "requests = 1", "twin.requests"),
        ("requests = 5000", "requests = 1e3", "twin.requests"),
        ('"80%"', '"99.9999%"', "twin.rewritten-share"),
        ('"1ms"', '"0ms"', "twin.mean-gap"),
        ('"1ms"', '"1"', "twin.mean-gap"),
        ("= 4\n", "= 0\n", "twin.squared-variation"),
        ("= 4\n", "= nan\n", "twin.squared-variation"),
        ("[twin]", "[twins]", "twin"),
        ("[twin]", "[twin", "r.toml:1"),
        ("mean-gap", "mean-gasp", "twin.mean-gap", "twin.mean-gasp"),
    )
    for before, after, *names in rows:
        assert before in ROW
        yield _beside("r.toml", ROW.replace(before, after).encode(), 'twin = "r.toml"\n', names)
    chance = random.Random(7)
    for name, good, key in (
        ("t.toml", TABLE, "[errors]\ntable"),
        ("p.toml", PART, "[part]\nfile"),
        ("r.toml", ROW, "twin"),
    ):
        line = f'{key} = "{name}"\n'
        for about, content in (
            ("empty", b""),
            ("blanks", b"\n\n"),
            ("binary", chance.randbytes(3000)),
            ("zeros", bytes(5000)),
            ("too large", good.encode() + b"#" * (33 << 20) if name == "t.toml" else good.encode() + b"#" * (2 << 20)),
            ("not UTF-8", good.encode() + b"# \xff\n"),
            ("packed", gzip.compress(good.encode())),
            ("cut in the middle of a value", good.encode()[: good.rindex("=") + 1]),
            ("cut in the middle of a text", good.encode()[: good.index('"') + 3]),
        ):
            yield _beside(name, content, line, (name, key.split("\n")[-1]), about)


def _beside(name: str, content: bytes, line: str, names: tuple[str, ...] | list[str], about: str = "") -> Wrong:
    """A configuration with a line that names a file beside it."""
    config = BASE + line
    given = (("mine.toml", config.encode()), (name, content))
    return Wrong(kind="command", about=f"{name} {about}", argv=("show", "mine.toml"), files=given, names=tuple(names))


ROWS = {
    "mqsim": [f"{100_000 * i} 0 {8 * i} 8 {i % 2}" for i in range(40)],
    "msr": [
        f"{128166372000000000 + 1000 * i},h,0,{'Read' if i % 2 else 'Write'},{4096 * i},4096,10" for i in range(40)
    ],
    "baleen": [f"{i} {4096 * i} 4096 {1572074461 + i / 1000:.5f} {1 + i % 6} 24 3 {i % 3} 1 7" for i in range(40)],
    "biotracer": [f"{8 * i} 9 4096 {4 + i % 2}" + f" {1425168000 + i / 1000:.6f}" * 4 for i in range(40)],
    "spc": [f"0,{8 * i},4096,{'r' if i % 2 else 'w'},{i / 1000:.6f}" for i in range(40)],
}
"""Good rows by format."""


FREE = {"msr": (1, 6), "baleen": (5, 6, 8, 9)}
"""Columns that may hold anything."""

SAID = {
    # The columns of `ascii` say too little by themselves, and the records of `oraclegeneral` say nothing.
    "ascii": ("--writes-are",),
    "oraclegeneral": ("--operation", "--address-unit"),
}
"""Options without which a format is refused."""


def traces() -> Iterator[Wrong]:
    """Traces that cannot be read."""
    for form, rows in ROWS.items():
        split = "," if "," in rows[0] else " "
        columns = rows[20].split(split)
        wrong = [split.join(columns[:2]), "The quick brown fox", "\x01\x02\x03"]
        for k in {*range(len(columns))} - {*FREE.get(form, ())}:
            values = ["soon", "", *(["-5", "9" * 40] if columns[k].isdigit() else [])]
            wrong += [split.join([*columns[:k], value, *columns[k + 1 :]]) for value in values]
        for row in wrong:
            content = "\n".join([*rows[:20], row, *rows[21:]]).encode()
            yield _trace(form, repr(row), f"t.{form}", content, "line 21")
    chance = random.Random(11)
    good = "\n".join(ROWS["mqsim"]).encode()
    packed = gzip.compress(good, mtime=0)
    for form in (str(each["name"]) for each in json.loads(_core.lists())["formats"]):
        noise = chance.randbytes(400)
        for about, name, content in (
            ("empty", "t", b""),
            ("blanks", "t", b"\n\n\n"),
            ("zeros", "t", bytes(1000)),
            ("noise", "t", b"\xff" + noise),
            ("one line", "t", b"x" * 10_000_000),
            ("an empty pack", "t.gz", b""),
            ("half a pack", "t.gz", packed[: len(packed) // 2]),
            ("the head of a pack", "t.gz", packed[:10]),
            ("a damaged pack", "t.gz", packed[:-6] + b"abcdef"),
            ("a pack of noise", "t.gz", b"\x1f\x8b" + noise),
            ("another pack of noise", "t.zst", bytes.fromhex("28b52ffd") + noise),
            ("the head of another pack", "t.zst", bytes.fromhex("28b52ffd0458")),
            ("not UTF-8", "t", b"\xff\xfe\n" + good),
        ):
            yield _trace(form, f"{form}: {about}", name, content, "trace t", *SAID.get(form, ()))
    yield from _layouts()
    argv = ("trace", "stats", "t", "--format", "blk")
    yield Wrong(kind="command", about="a format that is none", argv=argv, files=(("t", b"1"),), names=("blk",))
    for place in ("/dev/zero", "/", "/dev/null", "none.csv"):
        yield Wrong(kind="command", about=place, argv=("trace", "stats", place), names=(place,))


OWN = "time,op,offset,size\n" + "".join(f"{100 * i},{'RW'[i % 2]},{4096 * i},4096\n" for i in range(20))
"""A good trace in columns of its own."""


def _layouts() -> Iterator[Wrong]:
    """Wrong layouts of the format `columns`, and files that it cannot read."""
    four = "time,op,offset,size"
    for about, content, options, *names in (
        # Options.
        ("a column that is none", OWN, ("--columns", "time,op,offset,sise"), '--columns: seen "sise"', "size"),
        ("no column", OWN, ("--columns", ""), '--columns: seen ""'),
        ("an empty column", OWN, ("--columns", "time,,offset,size"), '--columns: seen ""'),
        ("no size", OWN, ("--columns", "time,op,offset"), "--columns", "with offset and size"),
        ("no offset", OWN, ("--columns", "time,op,size"), "--columns", "with offset and size"),
        ("no operation", OWN, ("--columns", "time,skip,offset,size"), 'operation = "read" or "write"'),
        ("two times", OWN, ("--columns", f"time,{four}"), "at most once"),
        ("65 columns", OWN, ("--columns", ",".join([four, *["skip"] * 61])), "at most 64"),
        ("an operation beside op", OWN, ("--columns", four, "--operation", "read"), "without op beside `operation`"),
        (
            "an operation that is none",
            OWN,
            ("--columns", "offset,size", "--operation", "trim"),
            '--operation: seen "trim"',
        ),
        ("a separator that is none", OWN, ("--columns", four, "--separator", "colon"), '--separator: seen "colon"'),
        ("another separator", OWN, ("--columns", four, "--separator", "tab"), "separator tab"),
        ("a unit of nothing", OWN, ("--address-unit", "0B"), '--address-unit: seen "0B"'),
        ("a unit without a unit", OWN, ("--address-unit", "512"), '--address-unit: seen "512"'),
        ("a negative unit", OWN, ("--size-unit", "-4KiB"), '--size-unit: seen "-4KiB"'),
        ("a unit beyond reason", OWN, ("--size-unit", "2TiB"), '--size-unit: seen "2TiB"'),
        ("a unit that is too large", OWN, ("--columns", four, "--size-unit", "1GiB"), "`size` is `4096`"),
        (
            "words for both",
            OWN,
            ("--columns", four, "--read-words", "R,W", "--write-words", "w"),
            "no word can mean both",
        ),
        ("an empty word", OWN, ("--columns", four, "--read-words", "R,"), "--read-words", "words that are not empty"),
        ("other words", OWN, ("--columns", four, "--read-words", "X"), "`op` is `R`"),
        (
            "columns of another format",
            OWN,
            ("--format", "msr", "--columns", four),
            "--columns belongs to --format columns",
        ),
        ("only header rows", OWN, ("--columns", four, "--header-rows", "100"), "trace t:"),
        ("no time unit", OWN, ("--columns", four, "--time-unit", "h"), 'seen "h"'),
        # Files.
        ("no operation in the file", "LBA,IO_SIZE,TIME\n8,8,0.1\n16,8,0.3\n", (), "--operation read"),
        ("no heading", OWN.split("\n", 1)[1], ("--format", "columns"), "no heading names the columns", "--columns"),
        ("no heading and no format", "1 0 48 W\n2 8 8 R\n", (), "--columns time,offset,size,op"),
        ("a heading against the rows", "device,sector,size,op,offset\n1,8,8,R,0\n1,16,8,W,0\n", (), "look like spc"),
        ("two addresses", OWN.replace("time", "lba", 1), ("--format", "columns"), "several columns for offset"),
        ("a heading too short", OWN.replace(",4096\n", ",4096,1\n"), ("--format", "columns"), "names 4 columns"),
        ("blocks without a unit", OWN.replace("offset", "blkno"), (), "does not say the unit of `blkno`"),
        ("sizes below a sector", OWN.replace(",4096\n", ",8\n"), (), "too small for bytes"),
        ("text for a size", OWN + "5000,R,0,big\n", ("--columns", four), "`size` is `big`"),
        ("a size of nothing", OWN + "5000,R,0,0\n", ("--columns", four), "`size` is `0`"),
        ("a part of a byte", OWN + "5000,R,0.5,512\n", ("--columns", four), "`offset` is `0.5`"),
        ("an address below zero", OWN + "5000,R,-8,512\n", ("--columns", four), "`offset` is `-8`"),
        ("an address without end", OWN + "5000,R,1e400,512\n", ("--columns", four), "`offset` is `1e400`"),
        ("half an exponent", OWN + "5000,R,1e,512\n", ("--columns", four), "`offset` is `1e`"),
        ("hexadecimal that is none", OWN + "5000,R,0xZZ,512\n", ("--columns", four), "`offset` is `0xZZ`"),
        ("a row of two columns", OWN + "5000,R\n", ("--columns", four), "has 2 columns"),
        ("a time of day", OWN + "12:30:01,R,0,512\n", ("--columns", four), "`time` is `12:30:01`"),
        ("no time at all", OWN + "nan,R,0,512\n", ("--columns", four), "`time` is `nan`"),
        ("a time that goes back", OWN + "5,R,0,512\n", ("--columns", four), "goes back"),
        ("a quote that stays open", OWN + '"5000,R,0,512\n', ("--columns", four), "`time` is `"),
        ("an event without sectors", "a-1 [0] 5.5: block_rq_issue: 8,0 R 0 ()\n", ("--format", "ftrace"), "trace t:"),
        ("biosnoop without a sector", "0.1 a 7 sda W 64\n", ("--format", "biosnoop"), "has 6 columns"),
    ):
        argv = ("trace", "stats", "t", *options)
        yield Wrong(kind="command", about=about, argv=argv, files=(("t", content.encode()),), names=tuple(names))


def _trace(form: str, about: str, name: str, content: bytes, *names: str) -> Wrong:
    argv = ("trace", "stats", name, "--format", form)
    return Wrong(kind="command", about=about, argv=argv, files=((name, content),), names=names)

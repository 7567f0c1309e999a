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
    "spc": [f"0,{8 * i},4096,{'r' if i % 2 else 'w'},{i / 1000:.6f}" for i in range(40)],
}
"""Good rows by format."""


FREE = {"msr": (1, 6)}
"""Columns that may hold anything."""


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
            # The columns of `ascii` say too little by themselves.
            yield _trace(form, f"{form}: {about}", name, content, "trace t", *["--writes-are"] * (form == "ascii"))
    argv = ("trace", "stats", "t", "--format", "blk")
    yield Wrong(kind="command", about="a format that is none", argv=argv, files=(("t", b"1"),), names=("blk",))
    for place in ("/dev/zero", "/", "/dev/null", "none.csv"):
        yield Wrong(kind="command", about=place, argv=("trace", "stats", place), names=(place,))


def _trace(form: str, about: str, name: str, content: bytes, *names: str) -> Wrong:
    argv = ("trace", "stats", name, "--format", form)
    return Wrong(kind="command", about=about, argv=argv, files=((name, content),), names=names)

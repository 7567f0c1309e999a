"""Wrong inputs that no declaration tells of: broken text, contradictions, files, commands, calls from Python."""

from __future__ import annotations

import gzip
import random
from typing import TYPE_CHECKING

from tests.hostile.records import Wrong
from tests.hostile.settings import BASE
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

ESCAPE = "\\u001b[31m"


def configurations() -> Iterator[Wrong]:
    """Whole configurations."""
    for about, text, *names in (
        # No TOML.
        ("nothing", "", "nothing says which drive"),
        ("blanks", "\n \t\n", "nothing says which drive"),
        ("an open bracket", "drive = [", "mine.toml:1"),
        ("an open text", 'drive = "a4', "mine.toml:1"),
        ("an open table", "[run", "mine.toml:1"),
        ("a table without a name", "[]\n", "mine.toml:1"),
        ("no value", "drive =\n", "mine.toml:1"),
        ("no key", "= 3\n", "mine.toml:1"),
        ("prose", "The quick brown fox\n", "mine.toml:1"),
        ("JSON", '{"drive": "a4-mini"}', "mine.toml:1"),
        ("YAML", "drive: a4-mini\n", "mine.toml:1"),
        ("an INI file", "; a comment\n[run]\n", "mine.toml:1"),
        ("a null character", 'drive = "a4\0"\n', "mine.toml:1"),
        ("a byte order mark in the middle", 'drive\ufeff = "a4"\n', "mine.toml:1"),
        ("a bad escape", 'drive = "a\\q"\n', "mine.toml:1"),
        ("a key twice", 'drive = "a4"\ndrive = "a4"\n', "mine.toml:2"),
        ("a section twice", "[run]\nrequests = 1\n[run]\ntime = 1\n", "mine.toml:3"),
        ("a table and an array of tables", "[flow]\n[[flow]]\n", "mine.toml:2"),
        ("an octal number with a 9", "seed = 0o9\n", "mine.toml:1"),
        ("a number of 1000 digits", f"seed = {'9' * 1000}\n", "seed"),
        ("a leap in depth", f"x = {'[' * 5000}{']' * 5000}\n", "mine.toml:1"),
        ("tables in depth", f"x = {'{ a = ' * 300}1{' }' * 300}\n", "mine.toml:1"),
        ("a dotted key in depth", f"{'.'.join(['a'] * 400)} = 1\n", "mine.toml"),
        ("a key of a million characters", f"{'k' * 1_000_000} = 1\n{BASE}", "kkk: unknown key"),
        # Nothing to run, or not to an end.
        ("no flow", 'drive = "a4-mini"\n[run]\nrequests = 1\n', "flow"),
        ("no end", 'drive = "a4-mini"\n[[flow]]\n', "nothing ends this run"),
        ("no drive", "[run]\nrequests = 1\n[[flow]]\n", "nothing says which drive"),
        ("half a drive", '[part]\npreset = "a4-tlc"\n[[flow]]\n', "geometry.channels"),
        ("an unknown drive", 'drive = "a44"\n', "drive: seen"),
        ("a drive with a line break", 'drive = "a\\nb"\n', 'drive: seen "a\\nb"'),
        ("a later version", f"config_version = 9\n{BASE}", "config_version: seen 9"),
        ("a version as text", f'config_version = "1"\n{BASE}', "config_version"),
        ("a flow as a table", 'drive = "a4-mini"\n[flow]\ndepth = 1\n', "flow: seen a table"),
        ("a run as an array", 'drive = "a4-mini"\n[[run]]\n[[flow]]\n', "run: seen an array of tables"),
        ("an array as a number", f"array = 3\n{BASE}", "array: seen 3"),
        ("257 flows", BASE + "[[flow]]\n" * 256, "at most 256"),
        # Names.
        ("an empty flow name", BASE.replace("only", ""), 'flow.0.name: seen ""'),
        ("a blank flow name", BASE.replace("only", "  "), "flow.0.name: seen"),
        ("a flow name with a line break", BASE.replace("only", "a\\nb"), 'flow.0.name: seen "a\\nb"'),
        ("a flow name with an escape", BASE.replace("only", f"a{ESCAPE}b"), 'flow.0.name: seen "a\\u{1b}[31mb"'),
        ("a flow name that turns", BASE.replace("only", "a\\u202eb"), "flow.0.name: seen"),
        ("a flow name of 10000", BASE.replace("only", "n" * 10_000), "flow.0.name: seen"),
        ("a flow name as a number", BASE.replace('"only"', "3"), "flow.0.name: seen 3"),
        ("two flows of one name", f'{BASE}[[flow]]\nname = "only"\n', "flow.1.name"),
        ("a name that the next flow has", f"{BASE.replace('only', 'flow1')}[[flow]]\n", "flow.1.name"),
        # Contradictions.
        ("a stop before the start", f'{BASE}start = "2ms"\nstop = "1ms"\n', "flow.0.stop"),
        ("more than everything", f"{BASE}read = 0.8\ntrim = 0.3\n", "flow.0.trim"),
        ("a queue that is not there", f"{BASE}queue = 3\n", "flow.0.queue"),
        ("weights for other sizes", f'{BASE}sizes = ["4KiB"]\nsize-weights = [1, 2]\n', "flow.0.size"),
        ("a trace and a twin", f'{BASE}trace = "t"\ntwin = "msn"\n', "flow.0."),
        ("a twin that is not there", f'{BASE}twin = "none.toml"\n', "flow.0.twin"),
        ("a twin that is no row", f'{BASE}twin = "msr-xx"\n', "flow.0.twin"),
        ("an endless file for a twin", f'{BASE}twin = "/dev/zero"\n', "flow.0.twin"),
        ("a power cut after the end", f"{BASE}[run.x]\n", "run.x"),
        ("no queue at all", f"{BASE}[host]\nqueue-weights = []\n", "host.queue-weights"),
        ("a weight of 0", f"{BASE}[host]\nqueue-weights = [0]\n", "host.queue-weights"),
        ("three lanes", f"{BASE}[link]\nlanes = 3\n", "link.lanes: seen 3; expected 1, 2, 4, 8 or 16"),
        ("a payload of 100", f"{BASE}[link]\nmax-payload = 100\n", "link.max-payload: seen 100"),
        ("a payload of 192", f"{BASE}[link]\nmax-payload = 192\n", "expected 128, 256, 512"),
        ("a part from a folder", f'{BASE}[part]\nfile = "/"\n', "part.file"),
        ("a part from an endless file", f'{BASE}[part]\nfile = "/dev/zero"\n', "part.file"),
        ("a table from an endless file", f'{BASE}[errors]\ntable = "/dev/zero"\n', "errors.table"),
        ("a table from a folder", f'{BASE}[errors]\ntable = "/.toml"\n', "errors.table"),
        ("a part that is not there", f'{BASE}[part]\nfile = "none.toml"\n', "part.file"),
        ("a table that is not there", f'{BASE}[errors]\ntable = "none.toml"\n', "errors.table"),
    ):
        yield Wrong(kind="config", about=about, text=text, names=tuple(names))
    late = ("[power-loss]\nat = ", '[array]\nlevel = "raid5"\ndrives = 4\nfail-drive = 1\nfail-at = ')
    for text in late:
        for at in ("5ms", "6ms", "1s", "8640000s"):
            whole = BASE.replace("requests = 10", 'time = "5ms"') + f'{text}"{at}"\n'
            yield Wrong(kind="config", about="after the end", text=whole, names=("the run is over after 5ms",))


def cases() -> Iterator[Wrong]:
    """Tables of cases."""
    for about, case, *names in (
        ("no name", "", "case.0.name: missing key"),
        ("an empty name", 'name = ""', 'case.0.name: seen ""'),
        ("a line break", 'name = "a\\nb"', 'case.0.name: seen "a\\nb"'),
        ("an escape", f'name = "a{ESCAPE}"', "case.0.name: seen"),
        ("a name as a list", 'name = ["a"]', 'case.0.name: seen ["a"]'),
        ("an unknown key", 'name = "a"\nsets = []', "case.0.sets: unknown key"),
        ("a set as text", 'name = "a"\nset = "ftl.gc=fifo"', "case.0.set: seen"),
        ("a set as a table", 'name = "a"\nset = { ftl = 1 }', "case.0.set"),
        ("a set of numbers", 'name = "a"\nset = [1]', "case.0.set: seen 1"),
        ("no value", 'name = "a"\nset = ["ftl.gc"]', "case.0.set"),
        ("no key", 'name = "a"\nset = ["=fifo"]', "a key such as"),
        ("nothing", 'name = "a"\nset = [""]', "case.0.set"),
        ("an empty value", 'name = "a"\nset = ["ftl.gc="]', 'ftl.gc: seen ""'),
        ("a key with a blank", 'name = "a"\nset = ["ftl gc=fifo"]', "a key such as"),
        ("a key in depth", f'name = "a"\nset = ["{".".join(["a"] * 40)}=1"]', "a key such as"),
        ("an unknown override", 'name = "a"\nset = ["ftl.gcc=fifo"]', 'case "a": ftl.gcc: unknown key'),
        ("a wrong override", 'name = "a"\nset = ["ftl.gc=lifo"]', 'case "a": ftl.gc: seen "lifo"'),
        ("another name", 'name = "a"\nset = ["case.0.name=b"]', "one is of case.0.name"),
        ("another set", 'name = "a"\nset = ["case.0.set=[]"]', "one is of case.0.set"),
        ("all cases", 'name = "a"\nset = ["case=1"]', "one is of case"),
        ("a key twice", 'name = "a"\nset = ["seed=1", "seed=2"]', "two of seed"),
        ("a flow that is not there", 'name = "a"\nset = ["flow.3.depth=1"]', 'case "a": flow.3'),
        ("the flows as one", 'name = "a"\nset = ["flow.depth=1"]', 'case "a": flow'),
        ("the same name again", 'name = "a"\n[[case]]\nname = "a"', "a name no other case has"),
    ):
        yield Wrong(kind="config", about=f"a case, {about}", text=f"{BASE}[[case]]\n{case}\n", names=tuple(names))
    yield Wrong(
        kind="config", about="a case as a table", text=f'{BASE}[case]\nname = "a"\n', names=("case: seen a table",)
    )


def settings() -> Iterator[Wrong]:
    """Overrides whose key is none."""
    for key in (
        "",
        ".",
        "a.",
        ".a",
        "a..b",
        "a b",
        "a=b",
        "a\nb",
        "ä",
        "flow.-1.depth",
        "flow.1.depth",
        "flow.x.depth",
        "flow.0",
        "flow",
        "run",
        "flow.99999999999999999999.depth",
        "case.0.name",
        "run.requests.x",
        "a" * 5000,
    ):
        yield Wrong(kind="config", about=f"the key {key[:20]!r}", text=BASE, sets=((key, "1"),), names=("--set",))


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


def files() -> Iterator[Wrong]:
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


def traces() -> Iterator[Wrong]:
    """Traces that cannot be read."""
    chance = random.Random(11)
    for form, rows in ROWS.items():
        good = "\n".join(rows).encode()
        split = "," if "," in rows[0] else " "
        columns = rows[20].split(split)
        broken = [("a word in a column", k, "soon") for k in range(len(columns)) if not (form == "msr" and k in (1, 6))]
        broken += [("an empty column", k, "") for k in range(len(columns)) if not (form == "msr" and k in (1, 6))]
        broken += [
            ("a negative number", k, "-5")
            for k in range(len(columns))
            if columns[k].isdigit() and not (form == "msr" and k == 6)
        ]
        broken += [
            ("a huge number", k, "9" * 40)
            for k in range(len(columns))
            if columns[k].isdigit() and not (form == "msr" and k == 6)
        ]
        for about, k, value in broken:
            row = split.join([*columns[:k], value, *columns[k + 1 :]])
            content = "\n".join([*rows[:20], row, *rows[21:]]).encode()
            yield _trace(form, f"{form}: {about} {k}", f"t.{form}", content, "line 21")
        for about, row in (
            ("too few columns", split.join(columns[:2])),
            ("prose", "The quick brown fox"),
            ("binary", "\x01\x02\x03"),
        ):
            content = "\n".join([*rows[:20], row, *rows[21:]]).encode()
            yield _trace(form, f"{form}: {about}", f"t.{form}", content, "line 21")
        packed = gzip.compress(good)
        noise = chance.randbytes(400)
        for about, name, content in (
            ("empty", "t", b""),
            ("blanks", "t", b"\n\n\n"),
            ("zeros", "t", bytes(1000)),
            ("noise", "t", b"\xff" + noise),
            ("an empty pack", "t.gz", b""),
            ("half a pack", "t.gz", packed[: len(packed) // 2]),
            ("the head of a pack", "t.gz", packed[:10]),
            ("a damaged pack", "t.gz", packed[:-6] + b"abcdef"),
            ("a pack of noise", "t.gz", b"\x1f\x8b" + noise),
            ("another pack of noise", "t.zst", bytes.fromhex("28b52ffd") + noise),
            ("the head of another pack", "t.zst", bytes.fromhex("28b52ffd0458")),
            ("not UTF-8", "t", good + b"\n\xff\xfe\n"),
        ):
            yield _trace(form, f"{form}: {about}", name, content, "trace t")
    yield Wrong(
        kind="command",
        about="a format that is none",
        argv=("trace", "stats", "t", "--format", "blk"),
        files=(("t", b"1"),),
        names=("blk",),
    )
    for place in ("/dev/zero", "/", "/dev/null", "none.csv"):
        yield Wrong(kind="command", about=place, argv=("trace", "stats", place), names=(place,))


def _trace(form: str, about: str, name: str, content: bytes, *names: str) -> Wrong:
    argv = ("trace", "stats", name, "--format", form)
    return Wrong(kind="command", about=about, argv=argv, files=((name, content),), names=names)


SMALL = str(ROOT / "examples" / "small.toml")


def commands() -> Iterator[Wrong]:
    """Command lines."""
    for line, *names in (
        ("rum", "rum"),
        ("--bogus", "--bogus"),
        ("run {small} more", "more"),
        ("run {small} --sed 1", "--sed"),
        ("run {small} --seed -1", "--seed"),
        ("run {small} --seed x", "--seed"),
        ("run {small} --seed 18446744073709551616", "--seed"),
        ("run {small} --seed 1.5", "--seed"),
        ("run {small} --seed", "--seed"),
        ("run {small} --jobs 0", "--jobs"),
        ("run {small} --jobs -3", "--jobs"),
        ("run {small} --jobs many", "--jobs"),
        ("run {small} --out ''", "--out"),
        ("run {small} --out ' '", "--out"),
        ("run {small} --out {small}", "small.toml"),
        ("run {small} --out {small}/x", "small.toml"),
        ("run {small} --out /proc/x", "/proc/x"),
        ("run {small} --cache-dir ''", "--cache-dir"),
        ("run {small} --trace ''", "--trace"),
        ("run {small} --trace t.csv", "--trace"),
        ("run {small} --skip-bad-rows", "--skip-bad-rows"),
        ("run {small} --set", "--set"),
        ("run {small} --set ''", "--set"),
        ("run {small} --set depth", "depth"),
        ("run {small} --set =3", "=3"),
        ("run {small} --set 'a\nb=3'", "a key such as"),
        ("run {small} --set 'a\x1b[31m'", "--set"),
        ("run {small} --set case.0.name=", "case.0.name"),
        ("run {small} --json=yes", "--json"),
        ("run ''", "CONFIG"),
        ("run none.toml", "none.toml"),
        ("run /", "/"),
        ("run /dev/zero", "/dev/zero"),
        ("run /dev/null", "/dev/null"),
        ("run /dev/random", "/dev/random"),
        ("run /proc/kmsg", "/proc/kmsg"),
        ("run pipe", "pipe"),
        ("run {small}/x", "small.toml/x"),
        ("run 'a\nb'", "a"),
        ("run 'a\x1b[31mb'", "a"),
        ("run " + "x" * 5000, "File name too long"),
        ("show ''", "CONFIG"),
        ("show /dev/zero", "/dev/zero"),
        ("show {small} --seed -1", "--seed"),
        ("show {small} --trace x", "--trace"),
        ("show {small} --set x", "--set"),
        ("show {small} --out x", "--out"),
        ("list thing", "thing"),
        ("list parts drives", "drives"),
        ("list --csv", "--csv"),
        ("list ''", "''"),
        ("scheme ''", "scheme", "''"),
        ("scheme bogus", "bogus"),
        ("scheme exact --part bogus", "bogus"),
        ("scheme exact --part ''", "part"),
        ("scheme exact --operation read", "read"),
        ("scheme exact --read-at 5", "--read-at"),
        ("scheme exact --read-at -5us", "--read-at"),
        ("scheme exact --read-at 0.0001ns", "--read-at"),
        ("scheme exact --read-at 99999s", "--read-at"),
        ("scheme exact --read-at ''", "--read-at"),
        ("scheme exact --write-at soon", "--write-at"),
        ("scheme exact --out ''", "--out"),
        ("scheme exact --out x.pdf", "x.pdf"),
        ("scheme exact --out x", "--out"),
        ("scheme exact --out /proc/x.svg", "/proc"),
        ("scheme exact --set bogus", "--set"),
        ("scheme exact --set bogus=1", "bogus"),
        ("scheme exact --set suspend.program.max-suspends=-1", "max-suspends"),
        ("trace stat", "stat"),
        ("trace stats", "FILE"),
        ("trace stats ''", "FILE"),
        ("trace stats {small}", "small.toml"),
        ("trace stats none --format ''", "format"),
        ("trace stats none --time-unit h", "--time-unit"),
        ("trace stats none --writes-are 2", "--writes-are"),
        ("trace stats none --reorder sort", "--reorder"),
        ("trace stats {small} --format ascii", "time-unit"),
        ("trace stats {small} --format msr --time-unit us", "time-unit"),
        ("trace twin", "ROW"),
        ("trace twin msn", "--out"),
        ("trace twin msn --out ''", "--out"),
        ("trace twin none --out x.csv", "none"),
        ("trace twin none.toml --out x.csv", "none.toml"),
        ("trace twin msn --out /proc/x.csv", "/proc/x.csv"),
        ("trace twin msn --out /", "/"),
        ("trace twin msn --out x.csv --requests 1", "--requests"),
        ("trace twin msn --out x.csv --requests 3", "msn"),
        ("trace twin msn --out x.csv --seed -1", "--seed"),
        ("trace row", "ROW"),
        ("trace row none", "none"),
        ("trace row ''", "row", "twin"),
        ("trace row /dev/zero", "/dev/zero"),
        ("trace row msn --requests 0", "--requests"),
        ("experiment bogus", "bogus"),
        ("experiment ''", "experiment"),
        ("experiment fast12 --out ''", "--out"),
        ("experiment fast12 --out {small}", "small.toml"),
        ("experiment fast12 --seed x", "--seed"),
        ("experiment --list fast12", "--list"),
        ("experiment fast12 --cache-dir ''", "--cache-dir"),
        ("characterize bogus", "bogus"),
        ("characterize --list suspend", "--list"),
        ("characterize suspend --out ''", "--out"),
        ("characterize suspend --preset bogus", "bogus"),
        ("characterize suspend --scheme bogus", "bogus"),
        ("characterize suspend --poll never", "--poll"),
        ("characterize suspend --word-lines 0", "--word-lines"),
        ("characterize suspend --cells 0", "--cells"),
        ("characterize suspend --cells 99999999999", "cells"),
        ("characterize suspend --set x", "--set"),
        ("characterize suspend --set x=1", "cell. or part."),
        ("characterize suspend --set cell.bogus=1", "bogus"),
        ("characterize suspend --quick --no-cache --json --set part.bogus=1", "bogus"),
        ("characterize erase --scheme exact", "--scheme"),
        ("bench bogus", "bogus"),
        ("bench ''", "row", "''"),
        ("bench --rounds 0", "--rounds"),
        ("bench --rounds 101", "--rounds"),
        ("bench --against x", "--instructions"),
        ("bench --against ''", "--against"),
        ("bench --instructions --against /dev/zero", "/dev/zero"),
        ("bench --instructions --against none", "none"),
        ("bench --instructions --against {small}", "JSON"),
        ("cache --cache-dir ''", "--cache-dir"),
        ("cache --bogus", "--bogus"),
        ("cache extra", "extra"),
    ):
        argv = tuple(word.replace("{small}", SMALL) for word in _words(line))
        yield Wrong(kind="command", about="a command", argv=argv, names=tuple(names))


def _words(line: str) -> list[str]:
    """As `shlex.split`, for words in single quotes that may hold anything."""
    words = line.split("'")
    return [word for k, part in enumerate(words) for word in ([part] if k % 2 else part.split())]


LOADED = f"config = interpulse.Config.load({SMALL!r})\n"


def calls() -> Iterator[Wrong]:
    """Calls from Python."""
    result = "interpulse.Result.from_json"
    whole = '{"schema_version": 1, "case": "a", "seed": 1, "config_hash": "x"}'
    text_version, number_case = whole.replace("1,", '"x",', 1), whole.replace('"a"', "3")
    for code, *names in (
        ("interpulse.Config.load('')", "."),
        ("interpulse.Config.load('none.toml')", "none.toml"),
        ("interpulse.Config.load('/dev/zero')", "/dev/zero"),
        ("interpulse.Config.load('a\\0b')", "null"),
        ("interpulse.Config.load(3.5)", "float", "path"),
        ("interpulse.Config.load(None)", "None"),
        ("interpulse.Config.load(b'none.toml')", "none.toml", "bytes"),
        ("interpulse.Config.from_toml('')..entries()".replace("..", "."), "drive"),
        ("interpulse.Config.from_toml('drive = \"\\udcff\"').entries()", "UTF-8"),
        ("interpulse.Config.from_toml('drive = 3').hash", "drive"),
        ("interpulse.Config.from_toml(3).hash", "str", "int"),
        ("interpulse.Config.from_toml('drive = \"a4\"', path='\\udcff').hash", "UTF-8"),
        (LOADED + "config.set('seed', None)", "NoneType", "seed"),
        (LOADED + "config.set('seed', {})", "dict", "seed"),
        (LOADED + "config.set('seed', b'1')", "bytes", "seed"),
        (LOADED + "config.set('seed', object())", "object", "seed"),
        (LOADED + "config.set('seed', [None])", "NoneType", "seed"),
        (LOADED + "config.set(3, 1).hash", "str", "int"),
        (LOADED + "config.set('', 1).hash", "--set"),
        (LOADED + "config.set('seed', float('nan')).hash", "seed"),
        (LOADED + "config.set('seed', -1).hash", "seed"),
        (LOADED + "config.set('seed', 2**64).hash", "seed"),
        (LOADED + "config.set('seed', 10**40).hash", "seed"),
        (LOADED + "config.set('title', '\\udcff').hash", "UTF-8"),
        (LOADED + "config.set('case', []).set('ftl.gc', 'lifo').case_names", "ftl.gc"),
        (LOADED + "config.resolve(seed=-1)", "seed"),
        (LOADED + "config.resolve(seed=2**64)", "seed"),
        (LOADED + "config.resolve(seed='x')", "str"),
        (LOADED + "config.resolve(seed=1.5)", "float"),
        (LOADED + "config.resolve(trace='x')", "--trace"),
        (LOADED + "config.resolve(trace='')", "--trace"),
        (LOADED + "config.resolve(skip_bad_rows=True)", "--skip-bad-rows"),
        (LOADED + "config.resolve(bogus=1)", "bogus"),
        (LOADED + "interpulse.run(config, jobs=0)", "jobs"),
        (LOADED + "interpulse.run(config, jobs=-1)", "jobs"),
        (LOADED + "interpulse.run(config, jobs='x')", "str"),
        (LOADED + "interpulse.run(config, cache_dir='')", "cache_dir"),
        (LOADED + "interpulse.run(config, seed=-1)", "seed"),
        (LOADED + "interpulse.run(config, trace='none.csv')", "--trace"),
        (LOADED + "interpulse.run(config.set('run.requests', 0))", "run.requests"),
        (f"{result}('')", "JSON", "Expecting"),
        (f"{result}('[]')", "list"),
        (f"{result}('null')", "NoneType"),
        (f"{result}('3')", "int"),
        (f"{result}('{{}}')", "schema_version"),
        (f"{result}('[' * 100000)", "nested"),
        (f"{result}('{{\"schema_version\": 1}}')", "case"),
        (f"{result}({text_version!r})", "schema_version"),
        (f"{result}({number_case!r})", "case"),
        (f"{result}({whole!r}).percentile('read', 42)", "42"),
        (f"{result}({whole!r}).percentile('read', 99)", "read"),
        (f"{result}({whole!r}).percentile('bogus', 99)", "bogus"),
        (f"{result}(None)", "None"),
    ):
        yield Wrong(kind="python", about="a call", text=code, names=tuple(names))


def written() -> list[Wrong]:
    """All of them."""
    makers = (configurations, cases, settings, files, traces, commands, calls)
    return [wrong for maker in makers for wrong in maker()]

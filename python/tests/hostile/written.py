"""Wrong configurations that no declaration tells of: broken text, contradictions, cases, names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.hostile.records import Wrong
from tests.hostile.settings import BASE

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
        ("an unknown drive", 'drive = "a44"\n', "drive.preset: seen"),
        ("a drive with a line break", 'drive = "a\\nb"\n', 'drive.preset: seen "a\\nb"'),
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
        # Faults.
        ("a fault as a table", f'{BASE}[fault]\nkind = "stall"\n', "fault: seen a table"),
        ("257 faults", BASE + '[[fault]]\nkind = "stall"\nat = "1ms"\nduration = "1ms"\n' * 257, "at most 256"),
        ("a fault of no kind", f'{BASE}[[fault]]\nat = "1ms"\n', "fault.0.kind"),
        ("a fault of another kind", f'{BASE}[[fault]]\nkind = "meteor"\nat = "1ms"\n', "fault.0.kind: seen"),
        ("a fault at no time", f'{BASE}[[fault]]\nkind = "die-failure"\ndie = 0\n', "fault.0.at"),
        (
            "a fault at a time and after commands",
            f'{BASE}[[fault]]\nkind = "die-failure"\ndie = 0\nat = "1ms"\nafter = 3\n',
            "fault.0.at",
        ),
        ("a failure of no die", f'{BASE}[[fault]]\nkind = "die-failure"\nat = "1ms"\n', "fault.0.die"),
        (
            "a die beyond the last",
            f'{BASE}[[fault]]\nkind = "die-failure"\ndie = 8\nat = "1ms"\n',
            "fault.0.die: seen 8",
        ),
        (
            "a channel beyond the last",
            f'{BASE}[[fault]]\nkind = "channel-failure"\nchannel = 99\nat = "1ms"\n',
            "fault.0.channel: seen 99",
        ),
        (
            "a stall of a die and a channel",
            f'{BASE}[[fault]]\nkind = "stall"\ndie = 0\nchannel = 0\nduration = "1ms"\nat = "1ms"\n',
            "fault.0.",
        ),
        ("a stall of no length", f'{BASE}[[fault]]\nkind = "stall"\nduration = "0s"\nat = "1ms"\n', "fault.0.duration"),
        (
            "an address beyond the capacity",
            f'{BASE}[[fault]]\nkind = "uncorrectable-read"\naddress = "1TiB"\nat = "1ms"\n',
            "beyond the capacity",
        ),
        (
            "a fault of a drive that is not there",
            f'{BASE}[[fault]]\nkind = "stall"\ndrive = 1\nduration = "1ms"\nat = "1ms"\n',
            "without [array] there is one drive",
        ),
        (
            "a failing program in an array",
            f'{BASE}[array]\nlevel = "raid5"\ndrives = 4\n[[fault]]\nkind = "program-failure"\nat = "1ms"\n',
            "an array has no answer",
        ),
        (
            "a hedged read without an array",
            f'{BASE}hedge-after = "1ms"\n',
            "flow.0.hedge-after",
            "an [array] of a level with redundancy",
        ),
        (
            "a hedged read of an array without redundancy",
            f'{BASE}hedge-percentile = 95\n[array]\nlevel = "raid0"\ndrives = 2\n',
            "flow.0.hedge-percentile",
            "an [array] of a level with redundancy",
        ),
        (
            "a deterministic window without another",
            f'{BASE}[predictable-latency]\ndtwin-time = "40ms"\n',
            "predictable-latency.ndwin-time",
        ),
        (
            "deterministic windows without a write cache",
            (
                f"{BASE}[predictable-latency]\ndtwin-time = '4ms'\nndwin-time = '1ms'\n"
                "[cache]\nacknowledge = 'when-programmed'\n"
            ),
            "predictable-latency.dtwin-time",
            "cache.acknowledge",
        ),
        # Contradictions.
        ("a stop before the start", f'{BASE}start = "2ms"\nstop = "1ms"\n', "flow.0.stop"),
        ("more than everything", f"{BASE}read = 0.8\ntrim = 0.3\n", "flow.0.trim"),
        ("a queue that is not there", f"{BASE}queue = 3\n", "flow.0.queue"),
        ("weights for other sizes", f'{BASE}sizes = ["4KiB"]\nsize-weights = [1, 2]\n', "flow.0.size"),
        ("an unknown treatment of discards", f'{BASE}trace = "t"\ndiscards = "drop"\n', "flow.0.discards: seen"),
        (
            "a treatment of flushes as true or false",
            f'{BASE}trace = "t"\nflushes = true\n',
            "flow.0.flushes: seen true",
        ),
        ("discards of a made-up flow", f'{BASE}discards = "skip"\n', "flow.0.discards"),
        ("no pass", f'{BASE}trace = "t"\nrepeat = 0\n', "flow.0.repeat: seen 0"),
        ("passes without end", f'{BASE}trace = "t"\nrepeat = 10000000\n', "flow.0.repeat: seen 10000000"),
        ("half a pass", f'{BASE}trace = "t"\nrepeat = 1.5\n', "flow.0.repeat: seen 1.5"),
        ("a shift of one pass", f'{BASE}trace = "t"\nrepeat-addresses = "shifted"\n', "flow.0.repeat-addresses"),
        ("a device as a number", f'{BASE}trace = "t"\ndevice = 3\n', "flow.0.device: seen 3"),
        ("a device without a name", f'{BASE}trace = "t"\ndevice = ""\n', 'flow.0.device: seen ""'),
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

"""Do the examples in the documents run, and do version and licence agree everywhere?"""

from __future__ import annotations

import importlib.util
import re
import tomllib
from importlib.metadata import requires
from typing import TYPE_CHECKING

import pytest
from packaging.requirements import Requirement

from interpulse import Config, run
from tests.sample import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DATA = ROOT / "python" / "tests" / "data"
BLOCKS = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def execute(code: str, name: str) -> None:
    exec(compile(code, name, "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("code", BLOCKS, ids=range(len(BLOCKS)))
def test_the_readme_runs(code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    execute(code, "README.md")
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    execute(path.read_text(), str(path))
    assert capsys.readouterr().out


def test_the_error_table_of_the_document_runs_on_every_drive_of_three_bits(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "RELIABILITY.md").read_text()
    (table,) = (block for block in re.findall(r"^```toml\n(.*?)^```", text, re.M | re.S) if "[error-table]" in block)
    path = tmp_path / "table.toml"
    path.write_text(table)
    tried = 0
    for example in sorted((ROOT / "examples").glob("*.toml")):
        config = Config.load(example)
        # One needs a trace, three have cells of one, two or four bits; a sweep, two studies, a profile.
        if example.stem not in ("replay", "ressd", "holdup", "slc-cache", "sweep", "optimize", "fit", "profile"):
            config.set("errors.table", str(path)).entries()
            tried += 1
    assert tried > 5
    small = Config.load(ROOT / "examples" / "small.toml").set("run.requests", 1000).set("errors.table", str(path))
    assert run(small, no_cache=True).raw["reliability"]


def test_there_is_something_to_run() -> None:
    assert BLOCKS
    assert EXAMPLES


def test_one_version_everywhere() -> None:
    from interpulse import __version__

    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert __version__ == cargo["version"]
    assert project["dynamic"] == ["version"]
    assert cargo["license"] == project["license"] == "Apache-2.0 OR MIT"
    assert f"## [{cargo['version']}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {cargo['version']}\n" in (ROOT / "CITATION.cff").read_text()


LOCKS = ("requirements.lock", "requirements-dev.lock", "requirements-docs.lock")


def locked(name: str) -> list[str]:
    """The lines of a lock file, such as `rich==15.0.0`."""
    return [line for line in (ROOT / name).read_text().splitlines() if not line.startswith("#")]


def normal(name: str) -> str:
    """The one form of a package's name."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_exact_versions_and_no_place(lock: str) -> None:
    assert locked(lock)
    for line in locked(lock):
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line), line


def test_what_is_installed_later_changes_nothing_that_is_there() -> None:
    running, testing, site = ({normal(line.partition("==")[0]) for line in locked(lock)} for lock in LOCKS)
    assert not running & (testing | site)
    both = [dict(map(partition, locked(lock))) for lock in LOCKS[1:]]
    assert all(both[0][name] == both[1][name] for name in testing & site)


def partition(line: str) -> tuple[str, str]:
    """The name and the version of a line."""
    name, _, version = line.partition("==")
    return normal(name), version


def test_the_first_lock_has_what_running_needs_and_no_more() -> None:
    """As the metadata of what is installed says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked, needed = [*project["dependencies"], "maturin"], set()
    while asked:
        requirement = Requirement(asked.pop())
        name = normal(requirement.name)
        if (requirement.marker is None or requirement.marker.evaluate({"extra": ""})) and name not in needed:
            needed.add(name)
            asked += requires(name) or []
    assert {normal(line.partition("==")[0]) for line in locked(LOCKS[0])} == needed


PAGES = [
    ("config_page", "CONFIGURATION"),
    ("counters_page", "COUNTERS"),
    ("results_page", "RESULT-KEYS"),
    ("commands_page", "COMMAND-LINE"),
    ("python_page", "PYTHON"),
    ("import_page", "IMPORT"),
    ("fio_page", "FIO"),
]


@pytest.mark.parametrize(("name", "written"), PAGES)
def test_a_page_is_what_is_declared(name: str, written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "python" / "tools"))
    path = ROOT / "python" / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert (ROOT / "docs" / f"{written}.md").read_text() == tool.page(), "run `make golden`"


DRIVE = """config_version = 1
drive = "a4-mini"
[errors]
table = "tlc-3d"
[precondition]
cycles = 1000
fill = "100%"
[run]
requests = 2000
warmup = "0s"
[[flow]]
name = "replayed"
trace = "golden.mqsim"
fit = "fold"
"""

ARRAY = """config_version = 1
drive = "a4-mini"
[array]
level = "raid5"
drives = 3
[run]
requests = 500
[[flow]]
name = "closed"
depth = 4
read = "50%"
"""


MAPPED = """config_version = 1
drive = "a4-mini"
[ftl]
mapping = "cached"
[run]
requests = 500
[[flow]]
name = "closed"
depth = 4
read = "50%"
"""


CACHED = (
    DRIVE
    + """[read-cache]
size = "4MiB"
read-ahead = "sequential"
[firmware]
mapping-time = "100ns"
collection-time = "1us"
[dram]
"""
)


WINDOWS = ARRAY + 'hedge-after = "500us"\n[predictable-latency]\ndtwin-time = "4ms"\nndwin-time = "1ms"\n'


@pytest.mark.parametrize(
    "text", [DRIVE, ARRAY, MAPPED, CACHED, WINDOWS], ids=["drive", "array", "mapped", "cached", "windows"]
)
def test_every_counter_of_a_result_is_on_the_page_with_a_unit_and_a_meaning(text: str) -> None:
    page = (ROOT / "docs" / "COUNTERS.md").read_text()
    rows = {}
    for section in page.split("\n## ")[1:]:
        for name, unit, doc in re.findall(r"^\| `(\w+)` \| (.+) \| (.+) \|$", section, re.MULTILINE):
            rows[section.split("`")[1], name] = (unit, doc)
    config = Config(text, path=str(DATA / "small.toml"))
    case = run(config).cases[0].raw
    groups = {f"counters.{name}": group for name, group in case["counters"].items()}
    groups |= {"array.counters": case["array"]["counters"]} if "array" in case else {}
    held = {(group, name) for group, counters in groups.items() for name in counters}
    # A drive counts nothing of caches, DRAM timing, firmware cores and windows that it lacks.
    lacks: tuple[str, ...] = () if text is MAPPED else ("map_",)
    lacks += () if text is CACHED else ("read_cache_", "read_ahead_", "firmware_", "dram_")
    lacks += () if text is WINDOWS else ("dtwin_", "ndwin_", "hedge")
    expected = {row for row in rows if row[0] in groups and not row[1].startswith(lacks)}
    assert held == expected, "the page and the result name the same"
    if text is not MAPPED:
        assert ({"array.counters"} if "array" in case else {"counters.errors", "counters.trace"}) <= set(groups)

"""Do `show`, `list`, `cache` and `--help` say what they should?"""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from interpulse.sweeps.store import Store
from tests.conftest import process
from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.conftest import Ended

HEAVY = ("numpy", "pandas", "polars", "pyarrow", "pydantic", "rich.progress")
"""What would make the command line start slowly; the frames and bars load it when they are asked for."""


def test_help_teaches_and_starts_lean() -> None:
    code = (
        "import runpy, sys; sys.argv = ['x', '{}', '--help']\n"
        "try: runpy.run_module('tests.fake_core', run_name='__main__')\n"
        "except SystemExit as end: print('code', end.code)\n"
        f"print('heavy', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    with process("-c", code) as running:
        out, err = running.communicate(timeout=20)
    assert out.splitlines()[-2:] == ["code 0", "heavy []"], out + err
    for word in ("run", "show", "list", "scheme", "trace", "bench", "cache", "examples/quickstart.toml", "Exit codes"):
        assert word in out


@pytest.mark.parametrize(
    "command", ["run", "compare", "show", "list", "scheme", "trace", "import", "export", "bench", "cache"]
)
def test_every_command_has_help_with_examples(interpulse: Callable[..., Ended], command: str) -> None:
    ended = interpulse(command, "--help")
    assert ended.code == 0
    assert "Examples:" in ended.out
    assert f"interpulse {command}" in ended.out


def test_version(interpulse: Callable[..., Ended]) -> None:
    from interpulse import __version__

    ended = interpulse("--version")
    assert (ended.code, ended.out) == (0, f"interpulse {__version__}\n")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_the_first_screen_says_what_it_is_and_what_to_try(
    interpulse: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(ROOT)
    first, of_run = interpulse(), interpulse("run")
    assert (first.code, first.err, of_run.code, of_run.out) == (0, "", 2, "")
    for text, words in ((first.out, ("pulses", "README.md")), (of_run.err, ("No CONFIG is given", "docs/RESULTS.md"))):
        assert max(map(len, text.splitlines())) <= width
        assert width < 80 or len(text.splitlines()) <= 24, "it is one screen"
        assert all(word in " ".join(text.split()) for word in words)
        tried = re.findall(r"^  (interpulse .*?)(?=  |$)", text.split("Try:")[1], re.MULTILINE)
        assert len(tried) == 3
        assert width == 40 or all(len(command.split()) > 2 for command in tried), "none is torn"
    assert interpulse("scheme", "loop-boundary").code == 0
    assert (ROOT / "examples" / "small.toml").is_file()


@pytest.mark.parametrize("arguments", [["show"], ["scheme"]])
def test_nothing_to_do_shows_the_help_and_is_code_2(interpulse: Callable[..., Ended], arguments: list[str]) -> None:
    ended = interpulse(*arguments)
    assert ended.code == 2
    assert "Usage:" in ended.out + ended.err


@pytest.mark.usefixtures("core")
def test_show_prints_each_setting_with_its_source(interpulse: Callable[..., Ended], config_file: str) -> None:
    ended = interpulse("show", config_file, "--set", "a.b=80us")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert lines[0] == "config 0123456789abcdef of case none; --case NAME shows another: suspend"
    assert [line.split() for line in lines[2:]] == [
        ["setting", "value", "source"],
        ["part", "a4-tlc", "examples/x.toml:3"],
        ["a.b", "80us", "--set"],
    ]


@pytest.mark.usefixtures("core")
def test_show_json(interpulse: Callable[..., Ended], config_file: str) -> None:
    shown = interpulse("show", config_file, "--json").json()
    entry = {"key": "part", "value": "a4-tlc", "origin": "examples/x.toml:3", "doc": "the flash part"}
    assert shown == {"config_hash": "0123456789abcdef", "cases": ["none", "suspend"], "entries": [entry]}


@pytest.mark.usefixtures("core")
def test_list_prints_one_list_or_all(interpulse: Callable[..., Ended]) -> None:
    assert interpulse("list", "schemes").out.split() == ["schemes:", "first", "what", "it", "is"]
    assert interpulse("list", "policies").out.split() == ["policies:", "gc", "greedy", "fewest", "valid", "pages"]
    counters = ["counters:", "counters.ftl", "gc_runs", "blocks", "victims", "chosen"]
    assert interpulse("list", "counters").out.split() == counters
    assert interpulse("list", "parts", "--json").json() == {"parts": [{"name": "first", "doc": "what it is"}]}
    assert list(interpulse("list", "--json").json()) == [
        "parts",
        "drives",
        "schemes",
        "policies",
        "twins",
        "formats",
        "error-tables",
        "counters",
    ]


def test_cache_shows_and_clears_its_own_files(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    state = "0123456789abcdef" * 2
    (tmp_path / f"{state}-v6.snapshot").write_bytes(b"INTERPLS".ljust(2048))
    (tmp_path / f"{state}.4000000-0.tmp").write_bytes(b"INTERPLS".ljust(512))
    (tmp_path / f"fast12-{state[:16]}.results").write_bytes(b"0123456789abcdef {}".ljust(512))
    (tmp_path / f"{state}.making").touch()
    store = Store.open(tmp_path / "sweeps" / state)
    store.put(state, state, b"x" * (1024 - (store.folder / "store.json").stat().st_size - 66))
    (tmp_path / "thesis.tex").write_bytes(b"years of work")
    options = ["--cache-dir", str(tmp_path)]
    shown = interpulse("cache", *options, "--json").json()
    assert (shown["folder"], shown["used_bytes"], len(shown["files"])) == (str(tmp_path), 4096, 5)
    # A long folder of the test has the line broken, within the path too.
    said = "".join(interpulse("cache", *options).out.split())
    assert said.endswith("".join(f"{tmp_path}: 4.0 KiB of at most 8.0 GiB".split()))
    assert interpulse("cache", *options, "--clear").out.startswith("deleted 4.0 KiB\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sweeps", "thesis.tex"]
    assert not list((tmp_path / "sweeps").iterdir())


def test_no_cache_folder_is_an_empty_cache(interpulse: Callable[..., Ended], tmp_path: Path) -> None:
    assert interpulse("cache", "--cache-dir", str(tmp_path / "none"), "--clear").code == 0


def test_the_installed_command_runs() -> None:
    import shutil
    import sys
    from pathlib import Path

    program = shutil.which("interpulse", path=str(Path(sys.executable).parent))
    assert program is not None
    listed = subprocess.run([program, "list", "schemes", "--json"], capture_output=True, check=True)
    assert "none" in [scheme["name"] for scheme in json.loads(listed.stdout)["schemes"]]

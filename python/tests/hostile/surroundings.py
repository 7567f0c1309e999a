"""Faults around a command: its streams, places and limits, signals at random moments, locales, names of files."""

from __future__ import annotations

import json
import os
import random
import shlex
import signal
import time
from typing import TYPE_CHECKING

from tests.hostile.world import Ended, begun, ended, of_json, shell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.hostile.world import World

    Fault = tuple[str, Callable[[World], str | None]]

COMMANDS = {
    "run": "run tiny.toml",
    "run --json": "run tiny.toml --json",
    "show": "show tiny.toml",
    "show --json": "show tiny.toml --json",
    "list": "list",
    "list --json": "list parts --json",
    "scheme": "scheme exact --json",
    "trace row": "trace row msn",
    "cache": "cache",
    "experiments": "experiment --list",
    "kinds": "characterize --list --json",
    "help": "--help",
    "version": "--version",
}


def streams() -> Iterator[Fault]:
    """Output that cannot be written is told, unless its reader has gone; errors that cannot be told cost nothing."""
    for about, words in COMMANDS.items():
        for what, where, codes, told in (
            ("closed", ">&-", (2,), True),
            ("full", "> /dev/full", (2,), True),
            ("for reading", "1< /dev/null", (2,), True),
            ("gone", "| true", (0, 2), False),
            ("closed, errors too", ">&- 2>&-", (2,), False),
        ):

            def fault(
                world: World, line: str = f"{words} {where}", codes: tuple[int, ...] = codes, told: bool = told
            ) -> str | None:
                return shell(f"set -o pipefail; $I {line}", world).verdict(codes, told=told)

            yield f"output {what}: {about}", fault
        for what, where in (("closed", "2>&-"), ("full", "2> /dev/full"), ("both from nowhere", "2> /dev/null <&-")):

            def fault_of_errors(world: World, line: str = f"{words} {where}") -> str | None:
                done = shell(f"$I {line}", world)
                return done.verdict((0,)) or (None if done.out.strip() else "nothing is printed")

            yield f"errors {what}: {about}", fault_of_errors


def _same(script: str, **environment: str) -> Callable[[World], str | None]:
    """The tiny drive has to give its result in spite of the fault."""

    def fault(world: World) -> str | None:
        done = shell(script, world, **environment)
        if verdict := done.verdict((0,)):
            return verdict
        return None if of_json(done.out) == world.reference else "another result"

    return fault


def _told(script: str, *names: str, codes: tuple[int, ...] = (2,), **environment: str) -> Callable[[World], str | None]:
    """The command has to fail with a message that has one of the names."""

    def fault(world: World) -> str | None:
        done = shell(script, world, **environment)
        if verdict := done.verdict(codes):
            return verdict
        return None if any(name in done.err for name in names) else f"none of {names} in: {done.err}"

    return fault


STARTING = ("Fatal Python error", "import", "error while loading shared libraries")
"""What is said where there is not enough to start the interpreter with, which is not interpulse's word."""

RUN = "$I run tiny.toml --json"


def places() -> Iterator[Fault]:
    """Folders and files that are not what they should be."""
    yield "out is a file", _told(f"touch x; {RUN} --out x", "x")
    yield "out below a file", _told(f"touch x; {RUN} --out x/y", "x/y")
    yield "out below /proc", _told(f"{RUN} --out /proc/x", "/proc/x")
    yield "out is a circle", _told(f"ln -s x x; {RUN} --out x", "x")
    yield "out leads nowhere", _told(f"ln -s /nowhere/x x; {RUN} --out x", "x")
    yield "out is a pipe", _told(f"mkfifo x; {RUN} --out x", "x")
    yield "out is a device", _told(f"{RUN} --out /dev/null", "/dev/null")
    yield "out has a folder for a file", _told(f"mkdir -p x/result.json; {RUN} --out x", "x")
    yield "out has a name too long", _told(f"{RUN} --out {'n' * 300}", "nnn")
    yield "cache is a file", _same(f"touch x; {RUN} --cache-dir x")
    yield "cache below /proc", _same(f"{RUN} --cache-dir /proc/x")
    yield "cache is a circle", _same(f"ln -s x x; {RUN} --cache-dir x")
    yield "cache is a pipe", _same(f"mkfifo x; {RUN} --cache-dir x")
    yield "cache is a device", _same(f"{RUN} --cache-dir /dev/full")
    yield "no home", _same(f"unset HOME INTERPULSE_CACHE_DIR XDG_CACHE_HOME; {RUN}")
    yield "a home that is not there", _same(f"unset INTERPULSE_CACHE_DIR; {RUN}", HOME="/nowhere", XDG_CACHE_HOME="")
    yield "a home that is a file", _same(f"touch h; unset INTERPULSE_CACHE_DIR; HOME=$PWD/h {RUN}", XDG_CACHE_HOME="")
    yield "a cache folder that is a file", _same(f"touch h; unset INTERPULSE_CACHE_DIR; XDG_CACHE_HOME=$PWD/h {RUN}")
    yield "a temporary folder that is not there", _same(RUN, TMPDIR="/nowhere")
    for limit in ("", "much", "-1", "1e9", "5 parsec", "nan", "8GiB8", "0x10"):
        yield f"cache limit {limit!r}", _told(RUN, "INTERPULSE_CACHE_LIMIT", INTERPULSE_CACHE_LIMIT=limit)
    for limit in ("0", "1", "10 kB"):
        yield f"cache limit {limit!r}", _same(RUN, INTERPULSE_CACHE_LIMIT=limit)
    for command in ("run tiny.toml --json", "show tiny.toml"):
        yield f"no working folder: {command}", _told(f"mkdir d; cd d; rmdir ../d; $I {command}", "tiny.toml")
    yield "no working folder, no file", _kept("mkdir d; cd d; rmdir ../d; $I list parts")
    yield "no working folder for out", _told("mkdir d; cd d; rmdir ../d; $I run {}/tiny.toml --out x", "x", "tiny")
    for what, make in (
        ("a folder", "mkdir x"),
        ("a pipe", "mkfifo x"),
        ("a circle", "ln -s x x"),
        ("a device", "ln -s /dev/zero x"),
        ("nothing", "true"),
        ("a way to nowhere", "ln -s /nowhere x"),
        ("an endless file", "ln -s /dev/random x"),
        ("a large file", "truncate -s 9T x"),
    ):
        for command in ("run x", "show x", "trace stats x", "bench --instructions --against x"):
            yield f"{what} for {command}", _told(f"{make}; $I {command}", "x")
        toml = make.replace(" x", " x.toml") if make != "ln -s x x" else "ln -s x.toml x.toml"
        for key in ("part.file", "errors.table", "flow.0.twin"):
            yield (
                f"{what} for {key}",
                _told(f"{toml}; $I show tiny.toml --set {key}=x.toml --set flow.0.depth=4", "x.toml", key, "flow.0."),
            )
    yield "a row that vanishes", _told("$I trace row none.toml", "none.toml")


def _kept(script: str) -> Callable[[World], str | None]:
    def fault(world: World) -> str | None:
        done = shell(script, world)
        return done.verdict((0,)) or (None if done.out.strip() else "nothing is printed")

    return fault


def limits() -> Iterator[Fault]:
    """Limits of the size of files and of how many are open: a clear end, or the result in spite of them."""
    for blocks in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256):
        for words in ("--json", "--json --out out"):

            def fault(
                world: World, script: str = f"ulimit -f {blocks}; $I run tiny.toml {words} > result; exit"
            ) -> str | None:
                return shell(script.replace("> result", "| cat"), world).verdict((0, 2))

            yield f"files of {blocks} KiB: run {words}", fault
    for files in (3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32):

        def few(world: World, script: str = f"ulimit -n {files}; {RUN}") -> str | None:
            done = shell(script, world)
            # The interpreter itself may not start with so few; that is its word, and not interpulse's.
            return None if any(word in done.err for word in STARTING) else done.verdict((0, 2))

        yield f"{files} open files", few


def signals() -> Iterator[Fault]:
    """Signals at random moments: a documented exit code, whole files or none, and a cache that the next run can use."""
    chance = random.Random(5)
    for number, codes in (
        (signal.SIGINT, (0, 130)),
        (signal.SIGTERM, (0, 143)),
        (signal.SIGHUP, (0, 129)),
        (signal.SIGPIPE, (0, -13)),
        (signal.SIGKILL, (0, -9)),
    ):
        for _ in range(6):
            after = chance.uniform(0.02, 1.2)

            def fault(
                world: World, number: int = number, codes: tuple[int, ...] = codes, after: float = after
            ) -> str | None:
                running = begun("exec $I run tiny.toml --set run.requests=400000 --json --out out", world)
                time.sleep(after)
                os.kill(running.pid, number)
                done = ended(running)
                # Before the interpreter has taken charge, and after the end, a signal ends it as it ends anything.
                quiet = not done.err.strip() and not done.out.strip()
                uncaught = done.code in (-number, 128 + number) and (quiet or _complete(done.out))
                if not uncaught and (verdict := done.verdict((130, *codes))):
                    return verdict
                return _whole(world, done)

            yield f"signal {number} after {after:.2f} s", fault


def _complete(text: str) -> bool:
    try:
        return "interrupted" not in json.loads(text)
    except ValueError:
        return False


def _whole(world: World, done: Ended) -> str | None:
    out = world.folder / "out"
    for path in sorted(out.glob("*.json")) if out.is_dir() else []:
        text = path.read_text()
        if path.name == "result.json":
            of_json(text)
        else:
            json.loads(text)
    again = shell(RUN, world)
    if verdict := again.verdict((0,)):
        return f"the run after {done.code}: {verdict}"
    return None if of_json(again.out) == world.reference else "the run after it gives another result"


def tongues() -> Iterator[Fault]:
    """Locales without UTF-8, and names that are no text in any."""
    for name, value in (
        ("LC_ALL", "C"),
        ("LC_ALL", "POSIX"),
        ("LC_ALL", "xx_YY.bogus"),
        ("LANG", ""),
        ("PYTHONIOENCODING", "ascii"),
        ("PYTHONIOENCODING", "latin-1"),
        ("PYTHONUTF8", "0"),
        ("PYTHONCOERCECLOCALE", "0"),
        ("COLUMNS", "1"),
        ("COLUMNS", "x"),
        ("TERM", "dumb"),
        ("TERM", ""),
        ("NO_COLOR", "1"),
        ("FORCE_COLOR", "1"),
        ("TZ", "bogus"),
    ):
        yield f"{name}={value!r}", _same(RUN, **{name: value})
        yield f"{name}={value!r}, a table", _kept(f"{name}={shlex.quote(value)} $I run tiny.toml --set title=Größe")
        yield f"{name}={value!r}, help", _kept(f"{name}={shlex.quote(value)} $I run --help")
    yield (
        "ASCII and a name that is not",
        _kept("LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 $I run tiny.toml --set flow.0.name=größe"),
    )
    odd = "$'a\\xff.toml'"
    yield "a configuration's name", _told(f"cp tiny.toml {odd}; $I show {odd}", "xff", "udcff")
    yield "a trace's name", _told("$I show tiny.toml --trace $'a\\xff'", "xff", "udcff")
    yield "a value", _told("$I show tiny.toml --set $'title=\\xff'", "xff", "udcff")
    yield "a key", _told("$I show tiny.toml --set $'\\xff=1'", "xff", "udcff")
    yield "a name", _told("$I scheme $'\\xff'", "xff", "udcff")
    yield "a cache folder's name", _same(f"{RUN} --cache-dir $'c\\xff'")
    yield "an output folder's name", _same(f"{RUN} --out $'o\\xff'")
    yield "a line break in a name", _told("$I show $'a\\nb'", "a\\nb")
    yield "an escape in a name", _told("$I show $'a\\x1b[31m'", "x1b")

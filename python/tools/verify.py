"""Long checks, whose outcome is recorded in docs/VERIFY.md (`make verify`).

The output of each step is printed as it appears; the page contains command, exit status, duration and summary lines,
with day, machine and commit. A step whose tool is missing is recorded as not measured. With words as arguments (`make
verify STEPS="fuzzing MQSim"`) only steps whose question contains one of the words run; the page keeps its sections of
the others. The exit code is 0 only if every executed step passed.
`INTERPULSE_MQSIM`, `INTERPULSE_SIMPLESSD` and `INTERPULSE_SSDSIM` name built simulators for comparison, and
`INTERPULSE_BEFORE` the command `interpulse` of another version, which then runs beside this one. Snapshots go to a
temporary folder (about 1.9 GB) that is deleted at the end.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "VERIFY.md"
BIN = Path(sys.executable).parent
APART = ("hostile", "test_fio_real.py", "test_serve_kills.py", "test_serve_soak.py")
LEFT_OUT = tuple(f"--ignore=python/tests/{name}" for name in APART)
"""Python tests that have steps of their own."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A command and the question that it answers."""

    question: str
    command: tuple[str, ...]
    summary: tuple[str, ...] | None = ()
    """Prefixes of the output lines to keep; None keeps all."""
    environment: tuple[tuple[str, str], ...] = ()
    """Environment variables of the command."""
    needs: str | None = None
    """Name or path of a program that the step needs."""
    most_s: float | None = None
    """Time limit of the step."""

    def run(self, cache: str) -> Outcome:
        """Runs the command and copies its output to the terminal."""
        print(f"== {self.question}\n$ {self.shown()}", flush=True)  # noqa: T201
        if self.needs is not None and shutil.which(self.needs) is None:
            print(f"not measured: there is no {self.needs} on this machine", flush=True)  # noqa: T201
            return Outcome(self, None, 0.0, [])
        environment = os.environ | {"INTERPULSE_VERIFY": "1", "PYTHONUNBUFFERED": "1", "INTERPULSE_CACHE_DIR": cache}
        environment |= dict(self.environment)
        start = time.monotonic()
        lines = []
        running = subprocess.Popen(
            self.command, cwd=ROOT, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert running.stdout is not None
        for line in running.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line.rstrip())
        return Outcome(self, running.wait(), time.monotonic() - start, lines)

    def heading(self) -> str:
        """Heading of the step's section of the page."""
        return f"## {self.question}\n\n"

    def shown(self) -> str:
        """The command line."""
        words = [*(f"{name}={value}" for name, value in self.environment), *self.command]
        return " ".join(Path(word).name if word.startswith("/") else word for word in words)


@dataclass(frozen=True)
class Outcome:
    """Outcome of a step."""

    step: Step
    code: int | None
    """The exit code; None if the step could not run."""
    took_s: float
    lines: list[str]

    def failed(self) -> bool:
        """Whether the step ran and did not pass."""
        return self.code not in (0, None) or self.too_slow()

    def too_slow(self) -> bool:
        """Whether the step exceeded its time limit."""
        return self.step.most_s is not None and self.took_s > self.step.most_s

    def section(self, when: str) -> str:
        """The step's section of the page; `when` is day, machine and commit."""
        heading = f"{self.step.heading()}{when}. `{self.step.shown()}`: "
        if self.code is None:
            return f"{heading}not measured, there is no {Path(self.step.needs or '').name} on this machine.\n"
        summary = self.step.summary
        kept = self.lines if summary is None else [line for line in self.lines if summary and line.startswith(summary)]
        verdict = "passed"
        if self.code:
            kept, verdict = self.lines[-40:], f"FAILED (exit code {self.code})"
        elif self.too_slow():
            verdict = f"FAILED (more than {self.step.most_s:.0f} s)"
        text = "".join(f"    {line}".rstrip() + "\n" for line in kept)
        return f"{heading}{verdict} in {self.took_s:.0f} s.\n" + (f"\n{text}" if text else "")


EXPERIMENTS_MOST_S = 2700.0
"""Time limit of all experiments with --quick, three seeds each, on two cores."""

PEERS = {name: os.environ.get(f"INTERPULSE_{name.upper()}", "") for name in ("mqsim", "simplessd", "ssdsim")}
BEFORE = os.environ.get("INTERPULSE_BEFORE")

STEPS = (
    Step(
        question="What does the main experiment give, from nothing?",
        command=(str(BIN / "interpulse"), "run", "examples/quickstart.toml"),
        summary=None,
        most_s=60,
    ),
    Step(
        question="What does it give from a restored drive?",
        command=(str(BIN / "interpulse"), "run", "examples/quickstart.toml"),
        summary=("no-suspend: ", "suspend-10: "),
        most_s=30,
    ),
    Step(
        question="Does a long run with every version tracked pass its audits?",
        command=(
            *(str(BIN / "interpulse"), "run", "examples/quickstart.toml"),
            *("--set", "run.requests=50000000", "--set", "audit.sample=1"),
        ),
        summary=("no-suspend: ", "suspend-10: "),
    ),
    Step(
        question="Is an overload found in every random world, and none where there is none?",
        command=(sys.executable, "python/tools/overload.py"),
        summary=("stable", "overloaded", "power", "wrong"),
    ),
    Step(
        question="Is anything lost in 4,200 random worlds: drives, namespaces, zones, log blocks, power cuts, arrays?",
        command=(
            *("cargo", "test", "--release", "--locked", "-p", "interpulse-drive", "-p", "interpulse-array"),
            *("--test", "all", "--", "--ignored", "many_worlds", "many_arrays"),
        ),
        summary=("worlds: ", "test "),
    ),
    Step(
        question="Is an acknowledged and protected write lost in 10,000 power cuts of drives and 2,000 of arrays?",
        command=(
            *("cargo", "test", "--release", "--locked", "-p", "interpulse-drive", "-p", "interpulse-array"),
            *("--test", "all", "thousand_cuts", "--", "--ignored"),
        ),
        summary=("cuts: ", "test "),
    ),
    Step(
        question="Do 200 kills under writers and fio lose or mix anything that a served drive has made durable?",
        command=(str(BIN / "pytest"), "-q", "-s", "-m", "verify", "python/tests/test_serve_kills.py"),
        summary=("kills: ", "=", "FAILED", "ERROR", "SKIPPED"),
        needs="fio",
    ),
    Step(
        question="Does every victim policy and suspension scheme hold for millions of requests?",
        command=(
            *("cargo", "test", "--release", "--locked", "-p", "interpulse-drive", "--test", "all"),
            *("soak", "--", "--ignored", "--nocapture"),
        ),
        summary=("test ",),
    ),
    Step(
        question="Do the twins of all rows have their statistics at full length?",
        command=(
            *("cargo", "test", "--release", "--locked", "-p", "interpulse-workload", "--test", "all"),
            *("twins", "--", "--ignored"),
        ),
        summary=("test ",),
    ),
    Step(
        question="Do the readers of configurations and traces survive long fuzzing?",
        command=(
            *("cargo", "test", "--release", "--locked", "--quiet"),
            *("-p", "interpulse-settings", "-p", "interpulse-workload", "-p", "interpulse-study"),
            *("--test", "all", "--", "never_panics", "fuzz"),
        ),
        summary=("test ",),
        environment=(("PROPTEST_CASES", "100000"),),
    ),
    Step(
        question="Does the protocol of `interpulse serve` survive ten million mutated inputs?",
        command=(
            *("cargo", "test", "--release", "--locked", "-p", "interpulse-serve", "--test", "all"),
            *("mutated", "--", "--ignored"),
        ),
        summary=("test ",),
    ),
    Step(
        question="Do fio through a served drive, the session and its replay agree, and how fast is the highest pace?",
        command=(sys.executable, "python/tools/served_fidelity.py"),
        summary=("depth ", "rate "),
        needs="nbdkit",
    ),
    Step(
        question="Do all experiments with --quick, three seeds each, end within three quarters of an hour?",
        command=(sys.executable, "python/tools/studies.py", "experiment", "--quick"),
        summary=("== ", "all "),
        most_s=EXPERIMENTS_MOST_S,
    ),
    Step(
        question="Does any choice that a paper does not print move a row that is called untuned?",
        command=(sys.executable, "python/tools/unprinted_choices.py"),
        summary=("== ",),
    ),
    Step(
        question="What do the full characterizations give, and how long do they take?",
        command=(sys.executable, "python/tools/studies.py", "characterize", "--no-cache"),
        summary=("== ",),
    ),
    Step(
        question="Does direct simulation contradict a conclusion about 100 random drives?",
        command=(sys.executable, "python/tools/conclusions.py", "--worlds", "100"),
        summary=("conclusion ", "all "),
    ),
    Step(
        question="Do the long Python tests pass?",
        command=(str(BIN / "pytest"), "-q", "-m", "verify", "--durations=5", *LEFT_OUT),
        summary=("=", "FAILED", "ERROR", "SKIPPED"),
    ),
    Step(
        question="Is every wrong input refused by name, and does every fault end in a result or a message?",
        command=(str(BIN / "pytest"), "-q", "-s", "-m", "verify", "python/tests/hostile"),
        summary=("hostile ", "FAILED", "ERROR"),
    ),
    Step(
        question="Does a served drive work for an hour, beside clients that misbehave, without growth?",
        # INTERPULSE_SOAK_S sets another number of seconds.
        command=(str(BIN / "pytest"), "-q", "-s", "-m", "verify", "python/tests/test_serve_soak.py"),
        summary=("soak of ", "FAILED", "ERROR", "E  "),
    ),
    Step(
        question="Do real fio and this one make the same requests of the same job files?",
        command=(str(BIN / "pytest"), "-m", "verify", "python/tests/test_fio_real.py"),
        summary=("=", "FAILED", "ERROR", "SKIPPED"),
        needs="fio",
    ),
    Step(
        question="Does the documentation of the crates build without warnings?",
        command=("cargo", "doc", "--locked", "--quiet", "--no-deps", "--workspace"),
        environment=(("RUSTDOCFLAGS", "-D warnings"),),
        needs="cargo",
    ),
    Step(
        question="Does the documentation site build without broken links?",
        command=(sys.executable, "python/tools/docs_site.py"),
        summary=("wrote ",),
        most_s=300,
    ),
    Step(
        question="Are the pictures of the gallery current?",
        command=(sys.executable, "python/tools/gallery.py", "--check"),
        summary=("differs: ", "all "),
    ),
    Step(
        question="Does a request take as many instructions as recorded?",
        command=(str(BIN / "interpulse"), "bench", "--instructions", "--against", "crates/bench/instructions.json"),
        summary=None,
        needs="valgrind",
    ),
    Step(
        question="What do the same files give and cost in MQSim, SimpleSSD, SSDSim, here and in an earlier version?",
        command=(
            *(sys.executable, "bench/compare.py"),
            *(word for name, path in PEERS.items() if path for word in (f"--{name}", path)),
            *(("--before", BEFORE) if BEFORE else ()),
        ),
        summary=None,
        needs=next((path for path in PEERS.values() if path), "MQSim"),
    ),
    Step(
        question="Does libinterpulse install, and are its examples clean under valgrind and the sanitizers?",
        command=("crates/capi/tests/installed.sh",),
        summary=None,
        needs="valgrind",
    ),
    Step(
        question="Do the sentences that runs begin with hold for further seeds?",
        command=(sys.executable, "python/tools/sentences.py"),
        summary=("sentences: ",),
    ),
    Step(
        question="Do wheel and source distribution install and work in an empty environment?",
        command=(sys.executable, "python/tools/packages.py"),
        summary=("package ",),
        needs="cargo",
    ),
    Step(
        question="Does the container file build, and does the container run the demo?",
        command=("sh", "-c", "docker build --file Containerfile --tag interpulse . && docker run --rm interpulse"),
        summary=("programs ", "error"),
        needs="docker",
    ),
    Step(
        question="What does a call of the C and Python interfaces cost?",
        command=(sys.executable, "bench/embedding.py"),
        summary=None,
    ),
    Step(
        question="Is the simulator fast enough?",
        command=(str(BIN / "interpulse"), "bench", "--json"),
    ),
)


def speeds(outcome: Outcome) -> str:
    """Table of the benchmark's results; empty if the output contains no array of objects."""
    text = "\n".join(outcome.lines)
    try:
        rows, _ = json.JSONDecoder().raw_decode(text[text.index("[") :])
        columns = list(dict.fromkeys(name for row in rows for name in row))
    except (ValueError, LookupError, TypeError):
        return ""
    table = [columns, ["---"] * len(columns), *([_cell(row.get(name)) for name in columns] for row in rows)]
    return "\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in table)


def _cell(value: object) -> str:
    if isinstance(value, float) and abs(value) < 10_000:
        return f"{value:,.4g}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value or "")


def machine() -> str:
    """Description of the machine."""
    models = [
        line.partition(":")[2].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if "model name" in line
    ]
    memory_kib = int(Path("/proc/meminfo").read_text().split()[1])
    model = models[0] if models else platform.machine()
    return f"{len(os.sched_getaffinity(0))} cores of {model}, {memory_kib / 2**20:.0f} GiB memory, {platform.system()}"


def commit() -> str:
    """The checked commit, and whether files differed from it."""
    name = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=False)
    if name.returncode:
        return "outside a repository"
    return f"commit {name.stdout.strip()}" + (" with uncommitted changes" if changed.stdout.strip() else "")


def kept(page: str, step: Step) -> str:
    """The section of a step in an earlier page."""
    sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    found = next((section for section in sections if section.startswith(step.heading())), None)
    return found.rstrip("\n") + "\n" if found else f"{step.heading()}Not run yet.\n"


def chosen(words: Sequence[str]) -> list[Step]:
    """Steps whose question contains one of the words, or all steps; exits if a word matches no step."""
    for word in words:
        if not any(word.lower() in step.question.lower() for step in STEPS):
            questions = "".join(f"\n  {step.question}" for step in STEPS)
            sys.exit(f"error: no question of a step contains {word!r}; the questions are{questions}")
    return [step for step in STEPS if not words or any(word.lower() in step.question.lower() for word in words)]


def main() -> int:
    """Runs the steps, also after a failure, and writes the page."""
    steps, when = chosen(sys.argv[1:]), f"{datetime.now(UTC):%Y-%m-%d}, {machine()}, {commit()}"
    with tempfile.TemporaryDirectory(prefix="interpulse-verify-") as cache:
        outcomes = {step: step.run(cache) for step in steps}
    head = "# The last `make verify`\n\nWritten by `python/tools/verify.py`; not edited by hand.\n"
    before = PAGE.read_text() if PAGE.exists() else ""
    sections = []
    for step in STEPS:
        outcome = outcomes.get(step)
        section = outcome.section(when) if outcome else kept(before, step)
        sections.append(section + (speeds(outcome) if outcome and step is STEPS[-1] else ""))
    PAGE.write_text("\n".join([head, *sections]))
    failed = [outcome.step.question for outcome in outcomes.values() if outcome.failed()]
    print(f"wrote {PAGE.relative_to(ROOT)}" + (f"; failed: {'; '.join(failed)}" if failed else ""))  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

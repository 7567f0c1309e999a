"""Trial of the packages: a wheel and a source distribution, each installed and used in an empty environment.

Every environment is new, has an empty home folder and does not see this clone. A package has to run an example, to show
its API, and to name a command for a missing extra that installs it. `--wheel FILE` tries that wheel, not a new one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "demo.toml"
API = "import interpulse, pydoc; print(len(dir(interpulse)), len(pydoc.render_doc(interpulse)))"


def main() -> int:
    """Builds both packages and tries them; returns 0 if everything works."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wheel", type=Path, help="try this wheel")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="interpulse-packages-") as name:
        folder = Path(name)
        wheel = given.wheel.resolve() if given.wheel else build(folder, "build", "--release", "--locked")
        for package in (wheel, sdist(folder)):
            start = time.monotonic()
            attempt(package, folder / package.suffix.removeprefix("."))
            print(f"package {package.name}: works, {time.monotonic() - start:.0f} s with its installation")  # noqa: T201
    return 0


def build(folder: Path, *command: str) -> Path:
    """Runs maturin and returns the file it made."""
    out = folder / command[0]
    maturin = Path(sys.executable).parent / "maturin"
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target")}
    subprocess.run([maturin, *command, "--out", out], cwd=ROOT, env=environment, check=True, stderr=subprocess.DEVNULL)
    (made,) = out.iterdir()
    return made


def sdist(folder: Path) -> Path:
    """Builds a source distribution and returns the file."""
    command = (sys.executable, ROOT / "python" / "tools" / "sdist.py", folder / "sdist")
    return Path(subprocess.run(command, check=True, text=True, capture_output=True).stdout.strip())


def attempt(package: Path, folder: Path) -> None:
    """Installs a package into a new environment and uses it.

    Raises:
        SystemExit: something does not work.
    """
    home = folder / "home"
    home.mkdir(parents=True)
    base = str(Path(sys.executable).resolve())
    own = ("PATH", "LANG", "RUSTUP_HOME", "CARGO_HOME", "SSL_CERT_FILE")
    kept = {key: value for key, value in os.environ.items() if key in own or key.startswith("PIP_")}
    # The toolchain of this user, so that a new home folder is no new installation of Rust.
    kept |= {"RUSTUP_HOME": kept.get("RUSTUP_HOME", str(Path.home() / ".rustup")), "HOME": str(home)}

    def run(*words: object, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [str(word) for word in words], cwd=home, env=kept, text=True, capture_output=True, check=False
        )
        if done.returncode != code:
            shown = " ".join(map(str, words))
            sys.exit(f"{package.name}: {shown}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    run(base, "-m", "venv", folder / "venv")
    python, command = folder / "venv" / "bin" / "python", folder / "venv" / "bin" / "interpulse"
    run(python, "-m", "pip", "install", package)
    shutil.copy(EXAMPLE, home)
    report = (command, "run", EXAMPLE.name, "--report", "--out", "out", "--set", "run.requests=20000")
    names, characters = map(int, run(python, "-c", API).stdout.split())
    if names < 20 or characters < 1000:
        sys.exit(f"{package.name}: help(interpulse) has {characters} characters, dir() {names} names")
    if not json.loads(run(command, "run", EXAMPLE.name, "--json").stdout)["cases"]:
        sys.exit(f"{package.name}: the example has no cases")
    run(command, "experiment", "--list")
    refused = run(*report, code=2).stderr
    missing = json.loads(run(command, "doctor", "--json").stdout)["extras"]["plot"]["command"]
    if missing not in refused:
        sys.exit(f"{package.name}: the message does not name the command {missing}: {refused}")
    run("sh", "-c", missing)
    run(*report)
    if not (home / "out" / "report.html").is_file():
        sys.exit(f"{package.name}: no report was written")


if __name__ == "__main__":
    raise SystemExit(main())

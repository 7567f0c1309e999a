"""Profile-guided wheel: choice of llvm-profdata, build flags and loads of `python/tools/take_profile.py`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = "rustc 1.99.0 (0 2026-01-01)\nhost: x86_64-unknown-linux-gnu\nrelease: 1.99.0\nLLVM version: 22.1.2\n"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - a module
    """The tool, as a module."""
    monkeypatch.delenv("CARGO_TARGET_DIR", raising=False)
    spec = importlib.util.spec_from_file_location("take_profile", ROOT / "python" / "tools" / "take_profile.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outputs(toolchain: Path, versions: dict[Path, str]) -> Callable[..., str]:
    """Stand-in for commands: a rustc with this folder of libraries, and several llvm-profdata."""

    def output(*command: str) -> str:
        if command[0] != "rustc":
            return f"LLVM version {versions[Path(command[0])]}"
        return VERSION if command[1] == "-vV" else f"{toolchain / 'lib'}\n"

    return output


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    path.chmod(0o755)
    return path


def test_host_and_llvm_version_come_from_rustc(tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    monkeypatch.setattr(tool, "_output", outputs(tmp_path, {}))
    assert tool.compiler() == ("x86_64-unknown-linux-gnu", "22")


def test_llvm_profdata_of_the_toolchain_comes_first(tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    bundled = program(tmp_path / "rust" / "bin" / "llvm-profdata")
    other = program(tmp_path / "path" / "llvm-profdata")
    monkeypatch.setenv("PATH", str(other.parent))
    monkeypatch.setattr(tool, "_output", outputs(tmp_path / "rust", {bundled: "999.1.2", other: "999.0.1"}))
    assert tool.profdata("999") == bundled
    bundled.unlink()
    assert tool.profdata("999") == other


def test_another_major_version_is_an_error_that_says_what_to_install(
    tool: Any,  # noqa: ANN401
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = program(tmp_path / "llvm-profdata")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tool, "_output", outputs(tmp_path / "rust", {other: "14.0.6"}))
    with pytest.raises(SystemExit, match=r"no llvm-profdata of LLVM 999.*rustup component add llvm-tools.*PROFILE=no"):
        tool.profdata("999")


def test_a_flag_with_a_space_is_one_flag_in_a_target_folder_of_its_own(tool: Any) -> None:  # noqa: ANN401
    environment = tool.flags("-Cprofile-use=/a folder/p")
    assert environment["CARGO_ENCODED_RUSTFLAGS"] == "-Cprofile-use=/a folder/p"
    assert environment["CARGO_TARGET_DIR"] == str(ROOT / "target" / "wheel")


def test_every_example_of_the_loads_exists(tool: Any) -> None:  # noqa: ANN401
    assert [name for name in tool.EXAMPLES if not (ROOT / "examples" / name).is_file()] == []

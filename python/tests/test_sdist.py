"""Can the command of a source distribution be executed, and has the archive the same bytes each time?"""

from __future__ import annotations

import importlib.util
import io
import tarfile

from tests.sample import ROOT


def test_scripts_get_the_executable_bit_that_maturin_drops() -> None:
    spec = importlib.util.spec_from_file_location("sdist", ROOT / "python" / "tools" / "sdist.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in ("p-1/python/data/scripts/interpulse", "p-1/README.md"):
            member = tarfile.TarInfo(name)
            member.size, member.mode = 3, 0o644
            archive.addfile(member, io.BytesIO(b"abc"))
    made = tool.with_executable_scripts(packed.getvalue())
    assert made == tool.with_executable_scripts(packed.getvalue())
    with tarfile.open(fileobj=io.BytesIO(made)) as archive:
        modes = {member.name: member.mode for member in archive}
        contents = {archive.extractfile(member).read() for member in archive.getmembers()}  # type: ignore[union-attr]
    assert modes == {"p-1/python/data/scripts/interpulse": 0o755, "p-1/README.md": 0o644}
    assert contents == {b"abc"}

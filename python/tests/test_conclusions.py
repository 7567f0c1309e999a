"""Are conclusions that commands print those that direct simulation gives? A miniature of the check of `make verify`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.sample import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOLS = ROOT / "python" / "tools"


@pytest.fixture(scope="module")
def tool() -> Iterator[Any]:
    """The tool, as it is found beside the others."""
    sys.path.insert(0, str(TOOLS))
    try:
        import conclusions

        yield conclusions
    finally:
        sys.path.remove(str(TOOLS))
        for name in [name for name in sys.modules if name.startswith("conclusions")]:
            del sys.modules[name]


@pytest.mark.parametrize("command", ["run", "experiment"])
def test_no_conclusion_about_a_random_drive_is_contradicted(tool: Any, command: str) -> None:  # noqa: ANN401 - a module
    found = [each for number in (5, 7) for each in tool.check(36, number, [command], requests=8000)[command]]
    assert found, "there is something to contradict"
    assert [why for _, why in found if why] == []


@pytest.mark.verify
@pytest.mark.parametrize("command", ["advise", "slo", "optimize", "compare"])
def test_no_conclusion_of_a_longer_check_is_contradicted(tool: Any, command: str) -> None:  # noqa: ANN401 - a module
    """Of one drive; `make verify` has a step with a hundred."""
    assert [why for _, why in tool.check(36, 3, [command], requests=3000)[command] if why] == []


def test_a_wrong_conclusion_is_found(tool: Any) -> None:  # noqa: ANN401 - a module
    """The check itself: truths beyond chance and tolerance contradict, others do not."""
    truth = tool.Truth.of([100.0, 101.0, 99.0, 100.0])
    assert truth.clearly_above(80.0)
    assert truth.clearly_below(120.0)
    assert not truth.clearly_above(99.0)
    limit = tool.Limit("read", "p99", 80.0)
    raws = [{"latency_us": {"read": {"p99": value}}} for value in (100.0, 101.0, 99.0)]
    assert tool.clearly([limit], raws, True) == "misses"
    assert tool.clearly([tool.Limit("read", "p99", 130.0)], raws, True) == "holds"
    assert tool.clearly([tool.Limit("read", "p99", 130.0)], raws, False) == "misses", "the load is not served"
    line = "the slowest 0.1 % of reads: 86 % of their time is host reads"
    wrong = [{"tail_blame": {"p99.9": {"shares": {"erases": 0.92, "host_reads": 0.05}}}}]
    assert "truly erases 92 %" in tool._cause(line, wrong)

"""Is a sweep file read strictly: what is varied, at which points, and what is said of a mistake?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interpulse import ConfigError
from interpulse.sweeps import dataset
from interpulse.sweeps.axes import read_axis
from interpulse.sweeps.check import Checked
from interpulse.sweeps.expression import Expression
from interpulse.sweeps.points import points, simulations
from interpulse.sweeps.spec import Spec
from interpulse.sweeps.store import Store, encode

if TYPE_CHECKING:
    from collections.abc import Mapping

DRIVE = """[config]
config_version = 1
drive = "a4-mini"
run.requests = 100
run.warmup = "0s"
flow = [{ name = "mixed", depth = 2 }]
"""


def spec_of(text: str, folder: Path) -> Spec:
    path = folder / "s.toml"
    path.write_text(text)
    return Spec.of(path)


def mistake(text: str, folder: Path) -> str:
    with pytest.raises(ConfigError) as caught:
        checked(text, folder)
    return str(caught.value)


def checked(text: str, folder: Path) -> Checked:
    spec = spec_of(text, folder)
    dataset.check_expressions(spec)
    points(spec)
    return Checked.of(spec)


def values(axis: Mapping[str, Any], folder: Path = Path()) -> list[Any]:
    read = read_axis({"key": "flow.0.depth", **axis}, lambda _: "s.toml:1", folder)
    return [choice.columns["flow_0_depth"] for choice in read.choices]


@pytest.mark.parametrize(
    ("axis", "expected"),
    [
        ({"values": [3, 1, "2"]}, [3, 1, "2"]),
        ({"range": {"from": 1, "to": 4}}, [1, 2, 3, 4]),
        ({"range": {"from": 4, "to": 1, "step": -2}}, [4, 2]),
        ({"range": {"from": 0.1, "to": 0.5, "step": 0.1}}, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ({"range": {"from": "10us", "to": "25us", "step": "5us"}}, ["10us", "15us", "20us", "25us"]),
        ({"log-range": {"from": 1, "to": 70, "factor": 4}}, [1, 4, 16, 64]),
        ({"log-range": {"from": 1, "to": 1000, "points": 4}}, [1, 10, 100, 1000]),
        ({"log-range": {"from": 1, "to": 4, "points": 9}}, [1, 2, 3, 4]),
        ({"log-range": {"from": "1kIOPS", "to": "4kIOPS", "factor": 2}}, ["1kIOPS", "2kIOPS", "4kIOPS"]),
    ],
)
def test_an_axis_has_the_values_that_it_says(axis: dict[str, Any], expected: list[Any]) -> None:
    assert values(axis) == expected


def test_files_of_an_axis_lie_beside_the_sweep_file(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv"):
        (tmp_path / name).touch()
    axis = read_axis({"key": "flow.0.trace", "files": "*.csv"}, lambda _: "s.toml:1", tmp_path)
    assert [choice.columns["flow_0_trace"] for choice in axis.choices] == ["a.csv", "b.csv"]
    assert axis.choices[0].sets == (("flow.0.trace", str(tmp_path / "a.csv")),)


ZIP = '[[axis]]\nzip."flow.0.depth" = [1, 2]\nzip."flow.0.read" = [0.5, 0.9]\n'


def test_points_are_every_combination_and_zipped_ones_go_together(tmp_path: Path) -> None:
    text = f'repetitions = 2\nwhere = "flow_0_depth < 2 or not nesting"\n{DRIVE}{ZIP}'
    text += '[[axis]]\nkey = "suspend.nesting"\nname = "nesting"\nvalues = [false, true]\n'
    spec = spec_of(text, tmp_path)
    found = [tuple(point.columns.values()) for point in points(spec)]
    assert found == [(1, 0.5, False), (1, 0.5, True), (2, 0.9, False)]
    seeds = [each.seed for each in simulations(spec, points(spec), 7)]
    assert seeds[0] == 7
    assert seeds[0:2] == seeds[2:4] == seeds[4:6], "every point sees the same seeds"
    assert seeds[0] != seeds[1]


def test_cases_of_the_configuration_are_an_axis(tmp_path: Path) -> None:
    text = f'{DRIVE}case = [{{ name = "a" }}, {{ name = "b", set = ["flow.0.read=50%"] }}]\n'
    spec = spec_of(f'{text}[[axis]]\nkey = "flow.0.depth"\nvalues = [1, 2]\n', tmp_path)
    assert [tuple(point.columns.values()) for point in points(spec)] == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]
    assert ("flow.0.read", "50%") in points(spec)[1].sets
    both = mistake(f'{text}[[axis]]\nkey = "flow.0.read"\nvalues = [0.1]\n', tmp_path)
    assert "flow.0.read is set by [[case]]" in both


AXIS = '[[axis]]\nkey = "flow.0.depth"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DRIVE, ("s.toml: axis: seen none", "[[axis]]")),
        (f"{DRIVE}{AXIS}values = []\n", ("s.toml:9: axis.values: seen an empty list", "at least one value")),
        (f'{DRIVE}[[axis]]\nkey = "flow.0.dept"\nvalues = [1]\n', ("s.toml:9: axis: flow.0.dept: unknown", "depth")),
        (f'{DRIVE}{AXIS}values = [1, "x"]\n', ("s.toml:9: axis: flow.0.depth", '"x"', "a whole number")),
        (f"{DRIVE}{AXIS}values = [1, 1]\n", ("s.toml:9", "values 1 and 2 are the same (flow.0.depth=1)")),
        (f"{DRIVE}{ZIP[:-6]}]\n", ("s.toml:8: axis.zip: seen 2 of flow.0.depth, 1 of flow.0.read", "same length")),
        (f"{DRIVE}{AXIS}range = {{ from = 1 }}\n", ("s.toml:9: axis.range: to is missing",)),
        (f"{DRIVE}{AXIS}range = {{ from = 5, to = 1 }}\n", ("s.toml:9", "at least one value")),
        (f'{DRIVE}{AXIS}range = {{ from = "1us", to = "1ms" }}\n', ("s.toml:9", "'ms' and 'us'", "same unit")),
        (f"{DRIVE}{AXIS}log-range = {{ from = 0, to = 9, points = 3 }}\n", ("s.toml:9", "0 < from <= to")),
        (f'{DRIVE}{AXIS}files = "no/*.csv"\n', ("s.toml:9: axis.files: seen 'no/*.csv'", "no such file")),
        (f"{DRIVE}{AXIS}values = [1]\nrange = {{ from = 1, to = 2 }}\n", ("s.toml:7", "exactly one of values, range")),
        (f"{DRIVE}{AXIS}value = [1]\n", ("s.toml:9: axis: unknown key value", "values")),
        (f"repetition = 2\n{DRIVE}{AXIS}values = [1]\n", ("s.toml:1: unknown key repetition", "repetitions")),
        (f"repetitions = 0\n{DRIVE}{AXIS}values = [1]\n", ("s.toml:1: repetitions = 0", "from 1")),
        (f"sweep_version = 9\n{DRIVE}{AXIS}values = [1]\n", ("s.toml:1: sweep_version: seen 9; expected 1",)),
        (f'config = "none.toml"\n{AXIS}values = [1]\n', ("s.toml:1: config: cannot read", "none.toml")),
        (f"config = 3\n{AXIS}values = [1]\n", ("s.toml:1: config: seen 3", "the path of a configuration")),
        (f'{DRIVE}{AXIS}values = [1]\n{AXIS}name = "x"\nvalues = [1]\n', ("s.toml:13", "is set by the axis at")),
        (f'{DRIVE}[[axis]]\nkey = "seed"\nvalues = [1]\n', ("s.toml:9", "expected repetitions")),
        (f'{DRIVE}{AXIS}name = "iops"\nvalues = [1]\n', ("the column iops twice",)),
        (f'{DRIVE}{AXIS}name = "point"\nvalues = [1]\n', ("s.toml:10", "the column point")),
        (f'where = "dept > 1"\n{DRIVE}{AXIS}values = [1]\n', ("s.toml:1: where: seen dept", "flow_0_depth")),
        (f'where = "flow_0_depth > 1"\n{DRIVE}{AXIS}values = [1]\n', ("where: it holds at none of the 1 points",)),
        (f'{DRIVE}{AXIS}values = [1]\n[derived]\na = "b + 1"\nb = "2"\n', ("s.toml:11: derived.a: seen b", "no such")),
        (f'{DRIVE}{AXIS}values = [1]\n[constraints]\na = "iops <"\n', ("s.toml:11: constraints.a", "an expression")),
        (f'{DRIVE}{AXIS}values = [1]\n[derived]\na = "open(iops)"\n', ("s.toml:11: derived.a: seen open()", "sqrt")),
        (f'{DRIVE}{AXIS}values = [1]\n[derived]\na = "iops.real"\n', ("s.toml:11: derived.a: seen Attribute",)),
        (f'{DRIVE}{AXIS}values = [1]\n[columns]\na = 3\n', ("s.toml:11: columns.a: seen 3", "counters.ftl.erases")),
        ("a = \n", ("s.toml: this is not TOML", "line 1")),
    ],
)  # fmt: skip
def test_a_mistake_names_the_place_what_was_seen_and_what_is_legal(
    text: str, said: tuple[str, ...], tmp_path: Path
) -> None:
    message = mistake(text, tmp_path)
    for part in said:
        assert part in message, message
    assert "\n" not in message


def test_a_point_that_cannot_be_used_is_no_mistake_of_the_file_where_its_values_can(tmp_path: Path) -> None:
    text = f'{DRIVE}[[axis]]\nkey = "flow.0.from"\nvalues = [0.5, 0]\n[[axis]]\nkey = "flow.0.to"\nvalues = [0.4, 1]\n'
    fine = checked(text, tmp_path)
    assert fine._try(tuple(axis.choices[0] for axis in fine.spec.axes)), "from 0.5 to 0.4 is nothing"
    assert "flow.0.to" in mistake(text.replace("[0.4, 1]", "[0.4, 1.5]"), tmp_path)


def test_an_expression_is_arithmetic_and_nothing_else() -> None:
    row = {"a": 6, "b": 4.0, "c": None, "s": "greedy"}
    for text, expected in {
        "a / b": 1.5,
        "a // 4 + a % 4 - -b": 7.0,
        "2 ** 3": 8.0,
        "1 < a <= 6 and not b > 4": True,
        "'x' if s == 'greedy' else 'y'": "x",
        "s in ('fifo', 'greedy')": True,
        "max(a, b, 9) + log2(8) + sqrt(b)": 14.0,
        "a + c": None,
        "a / (b - 4)": None,
        "a < s": None,
    }.items():
        assert Expression.read(text, "x").value(row) == expected, text


def test_the_store_finds_what_is_damaged_and_nothing_is_half_written(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "s")
    alias, key = "a" * 32, "b" * 32
    store.put(alias, key, encode({"raw": {"iops": 1.5}}))
    other = Store.open(tmp_path / "s")
    assert other.key(alias) == key
    assert other.get(key) == {"raw": {"iops": 1.5}}
    (place,) = [path for path in (tmp_path / "s" / "objects").rglob("*") if path.is_file()]
    place.write_bytes(place.read_bytes()[:-3])
    assert other.get(key) is None
    # A line of the index that was cut off is no line, and those after it stand.
    (log,) = (tmp_path / "s" / "index").iterdir()
    log.write_bytes(log.read_bytes() + b"c" * 20)
    assert Store.open(tmp_path / "s").key(alias) == key


def test_a_figure_is_found_by_its_path() -> None:
    raw = {"latency_us": {"read": {"p99": 1.0, "p99.9": 2.0}}, "flows": [{"iops": 3}], "ftl": {"waf": float("nan")}}
    assert dataset.figure(raw, "latency_us.read.p99.9") == 2.0
    assert dataset.figure(raw, "latency_us.read.p99") == 1.0
    assert dataset.figure(raw, "flows.0.iops") == 3
    for path in ("flows.1.iops", "ftl.waf", "latency_us.write.p99", "latency_us", "iops.x"):
        assert dataset.figure(raw, path) is None

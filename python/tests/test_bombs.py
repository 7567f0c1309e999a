"""Inputs that would take all memory, all time or the whole stack: each is refused or has no value, at once."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

import interpulse
from interpulse import ConfigError
from interpulse.fitting.fio.output import read_output
from interpulse.sweeps.expression import MOST_TEXT, Expression

if TYPE_CHECKING:
    from pathlib import Path

ROW: dict[str, Any] = {"x": 3, "y": 2.5, "big": 2**62, "t": "abc", "none": None, "yes": True}

WITHOUT_VALUE = [
    "'a' * 100000",
    "t * 10 ** 9",
    "10 ** 9 * t",
    "100000 * 'abcdefgh'",
    "[x] * 100000",
    "[[x] * 1000] * 1000",
    "(x, x) * 50000",
    "'%1000000000d' % x",
    "t % x",
    "round(x, -10000000000)",
    "round(big, -1000000000)",
    "round(y, 10 ** 9)",
    "round(x, y)",
    "2 ** 100000",
    "10 ** 400",
    "exp(1000)",
    "[x] + [x]",
    "(x,) + (x,)",
    "x / 0",
    "x % 0",
    "log(0)",
    "sqrt(-x)",
    "max([])",
    "t - x",
    "-t",
    " * ".join(["1e300"] * 5),
    " * ".join(["big"] * 100),
    " + ".join(["'" + "a" * 900 + "'"] * 5),
]


@pytest.mark.parametrize("text", WITHOUT_VALUE, ids=lambda text: text[:30])
def test_an_expression_without_bounds_has_no_value(text: str) -> None:
    begin = time.process_time()
    assert Expression.read(text, "derived.x").value(ROW) is None
    assert time.process_time() - begin < 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("big + big", float(2**63)),
        ("big * 8", float(2**65)),
        ("-big - big - big", float(-3 * 2**62)),
        ("round(y)", 2),
        ("round(2.345, 2)", 2.35),
        ("round(1234, -2)", 1200),
        ("ceil(1e18)", 10**18),
        ("floor(1e300)", 1e300),
        ("x // 2 + x % 2", 2),
        ("t + 'd'", "abcd"),
        ("'yes' if t in ['abc', 'd'] else 'no'", "yes"),
        ("yes + 1", 2),
        ("x ** 2", 9.0),
        (" + ".join(["x"] * 120), 360),
    ],
)
def test_an_expression_within_bounds_has_its_value(text: str, value: object) -> None:
    found = Expression.read(text, "derived.x").value(ROW)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(" * 300 + "x" + ")" * 300, "expected an expression"),
        ("-" * 160 + "x", "nested 161 deep"),
        ("not " * 170 + "x", "nested 171 deep"),
        ("+".join(["x"] * 2000), "expected at most 500"),
        ("x" * 20_000, "an expression of 20000 characters; expected at most 10000"),
        ("9" * 5000, "expected an expression"),
        ("0x" + "f" * 5000, "an integer beyond"),
        ("9" * 20, "an integer beyond 9223372036854775807"),
        (f"'{'a' * (MOST_TEXT + 1)}'", "a text of 1001 characters; expected at most 1000"),
        ("x if x else (lambda: x)()", "Call"),
        ("[x for x in t]", "ListComp"),
        ("f'{x:1000000000}'", "JoinedStr"),
        ("t.__class__", "Attribute"),
    ],
)
def test_an_expression_that_is_too_large_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Expression.read(text, "s.toml:3: derived.x")
    message = str(caught.value)
    assert message.startswith("s.toml:3: derived.x: seen ")
    assert said in message
    assert len(message) < 1000


DRIVE = """config_version = 1
drive = "a4-mini"
run.requests = 100
flow = [{}]
"""
NESTED = {
    "list": "x = " + "[" * 20_000 + "]" * 20_000,
    "open list": "x = " + "[" * 100_000,
    "table": "x = " + "{a=" * 20_000 + "1" + "}" * 20_000,
    "both": "x = " + "[{a=" * 5_000 + "1" + "}]" * 5_000,
    "within limits of the parser": "x = " + "[" * 100 + "]" * 100,
    "in a table": "[set]\nx = " + "[" * 1000 + "]" * 1000,
    "dotted key": ".".join(["a"] * 100_000) + " = 1",
    "dotted key with blanks": " . ".join(["a"] * 50_000) + " = 1",
    "dotted key with quotes": ".".join(['"a"'] * 50_000) + " = 1",
    "heading": "[" + ".".join(["a"] * 100_000) + "]\nx = 1",
    "heading of a list": "[[" + ".".join(["a"] * 100_000) + "]]\nx = 1",
    "inline key": "x = {" + ".".join(["a"] * 100_000) + " = 1}",
    "second inline key": "x = {b = 1, " + ".".join(["a"] * 100_000) + " = 1}",
    "config": "[config]\n" + ".".join(["a"] * 65) + " = 1",
}


@pytest.mark.parametrize("kind", NESTED)
@pytest.mark.parametrize("command", ["sweep", "optimize", "fit"])
def test_a_file_that_is_nested_without_end_is_refused(kind: str, command: str, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(NESTED[kind])
    begin = time.process_time()
    with pytest.raises(ConfigError, match=r"s\.toml") as caught:
        getattr(interpulse, command)(path, out=tmp_path / "o")
    assert time.process_time() - begin < 2
    assert len(str(caught.value)) < 1000
    assert not (tmp_path / "o").exists()


def test_a_dictionary_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    deep: dict[str, Any] = {"config_version": 1}
    deep["x"] = deep
    long: Any = 1
    for _ in range(5000):
        long = {"a": long}
    for given in (deep, {"x": long}):
        with pytest.raises(ConfigError, match="nested"):
            interpulse.sweep(given, out=tmp_path / "o")
        with pytest.raises(ConfigError, match="nested"):
            interpulse.Config.of(given)


@pytest.mark.parametrize(
    "text",
    [
        '{"fio version": "fio-3.36", "jobs": ' + "[" * 100_000,
        '{"fio version": "fio-3.36", "jobs": ' + "[" * 500 + "]" * 500 + "}",
        '{"a":' * 100_000,
        '{"a":' * 200 + "1" + "}" * 200,
    ],
    ids=["open", "closed", "objects", "closed objects"],
)
def test_fios_output_that_is_nested_without_end_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "fio.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=r"fio\.json: .*nested more than 64 deep"):
        read_output(path)


def test_ordinary_nesting_is_legal(tmp_path: Path) -> None:
    path = tmp_path / "fio.json"
    path.write_text(json.dumps({"fio version": "fio-3.36", "jobs": [{"a": {"b": [{"c": [[1]]}]}}]}))
    assert read_output(path)["jobs"]

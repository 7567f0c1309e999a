"""Is JSON read as `json.loads` reads it?"""

from __future__ import annotations

import json
import sys

import pytest

from interpulse.files import json_reader
from interpulse.files.json_reader import parsed

VALUES = [
    {},
    [],
    {"a": [1, -2, 3.5, 1e-300, 1.7976931348623157e308, 0.1, 2**70], "b": {"c": None, "d": True, "e": False}},
    {"text": 'quotes " and \\ and \n and \u00e9 and \U0001f600 and \x7f', "": ""},
    [[[[1]]]],
    "text",
    7,
    None,
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("options", [{}, {"ensure_ascii": False}, {"indent": 2}], ids=repr)
def test_values_come_back(value: object, options: dict[str, object]) -> None:
    text = json.dumps(value, **options)  # type: ignore[arg-type]
    for padded in (text, f" {text}", f"{text}\n"):
        found = parsed(padded)
        assert (found, repr(found)) == (value, repr(value))


@pytest.mark.parametrize("text", ['{"a": NaN}', "[Infinity, -Infinity]"])
def test_what_is_no_number_is_read_all_the_same(text: str) -> None:
    assert repr(parsed(text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["", " ", "{", "[1,]", '{"a"}', "[1] 2", "{}}", "nothing", '["\x01"]', "[1}"])
def test_what_is_no_json_is_refused_in_the_same_words(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as expected:
        json.loads(text)
    with pytest.raises(json.JSONDecodeError) as found:
        parsed(text)
    assert str(found.value) == str(expected.value)


def test_where_the_interpreter_has_no_such_reader_json_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "_json", None)
    assert json_reader.parsed('{"a": [1]}') == {"a": [1]}

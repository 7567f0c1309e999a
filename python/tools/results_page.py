"""Generator of docs/RESULT-KEYS.md from the descriptions of docs/result.schema.json (`make golden`).

A test compares the page with the schema; other tests compare results with the schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = DOCS / "RESULT-KEYS.md"

INTRODUCTION = """# Keys of a result

Every key of the object that `interpulse run --json` prints and `result.json` holds, from
[`result.schema.json`](result.schema.json). [RESULTS](RESULTS.md) explains the main ones, [COUNTERS](COUNTERS.md)
lists `counters`. `*` is a name that is no key of its own, such as that of a cause; `[]` is each entry of a list. A
key that is not "always" there is absent where its figure does not exist.

`make golden` generates this page from the schema.
"""

HEAD = "| key | value | always | meaning |\n|---|---|---|---|\n"

FIRST = ("case", "seed", "latency_by_kind", "latency")
"""Objects at the top of the page; the others follow in the order of the schema."""


def page() -> str:
    """The text of the page."""
    schema = json.loads((DOCS / "result.schema.json").read_text(encoding="utf-8"))
    objects = {name: of for name, of in schema["$defs"].items() if _is_object(of)}
    order = [*FIRST, *(name for name in objects if name not in FIRST)]
    parts = [INTRODUCTION, f"\n## The run\n\n{HEAD}", *_rows(schema, schema, "")]
    for name in order:
        of = objects[name]
        doc = f"{of['description']}\n\n" if "description" in of else ""
        parts += [f"\n## {name}\n\n{doc}{HEAD}", *_rows(schema, of, "")]
    return "".join(parts)


def _is_object(of: Mapping[str, Any]) -> bool:
    return bool(of.get("properties"))


def _rows(schema: Mapping[str, Any], at: Mapping[str, Any], path: str) -> Iterator[str]:
    """The rows of the keys of an object, those of objects within it included."""
    always = {*at.get("required", ()), *at.get("else", {}).get("required", ())}
    inside = dict(at.get("properties", {}))
    if isinstance(at.get("additionalProperties"), dict):
        inside["*"] = at["additionalProperties"]
    for key, of in inside.items():
        whole, name = _resolved(schema, of), f"{path}.{key}".lstrip(".")
        doc = str(of.get("description", whole.get("description", ""))).replace("|", "\\|")
        if doc or key != "*" or _is_object(whole):
            yield f"| `{name}` | {_value(schema, of)} | {'yes' if key in always else ''} | {doc} |\n"
        inner = of
        while whole.get("type") == "array":
            inner, name = _items(whole), f"{name}[]"
            whole = _resolved(schema, inner)
        if "$ref" not in inner or not _is_object(whole):
            yield from _rows(schema, whole, name)


def _resolved(schema: Mapping[str, Any], at: Mapping[str, Any]) -> dict[str, Any]:
    """The place with what its `$ref` refers to."""
    found = dict(at)
    while "$ref" in found:
        target = schema["$defs"][found.pop("$ref").rpartition("/")[2]]
        found = {**target, **found}
    return found


def _items(at: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an entry of a list is."""
    items = at.get("items")
    return items if isinstance(items, dict) else next(iter(at.get("prefixItems", ())), {})


def _value(schema: Mapping[str, Any], of: Mapping[str, Any]) -> str:
    """The legal values, in words; a link for an object that has a section."""
    at = _resolved(schema, of)
    if "$ref" in of and _is_object(at):
        name = of["$ref"].rpartition("/")[2]
        return f"[{name}](#{name})"
    if "enum" in at:
        return ", ".join(f"`{each}`" for each in at["enum"])
    if "const" in at:
        return f"`{json.dumps(at['const'])}`"
    if at.get("type") == "array":
        return f"list: {_value(schema, _items(at))}"
    if at.get("type") == "number" and at.get("maximum") == 1:
        return "share"
    return {"boolean": "true or false", "string": "text"}.get(str(at.get("type")), str(at.get("type", "object")))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

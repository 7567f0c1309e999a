"""Generator of docs/PYTHON.md from signatures and docstrings of the package (`make golden`).

The site has the same by autodoc. A test compares the page with the package.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import interpulse

PAGE = Path(__file__).parent.parent.parent / "docs" / "PYTHON.md"

INTRODUCTION = """# Python

Every public name of `interpulse`, with types; `help(interpulse)` prints the
same. [Five lines](../README.md#from-python) to begin with; [examples/seeds.py](../examples/seeds.py) and the notebooks
in `examples/notebooks` show more.

`make golden` generates this page from the package.
"""

SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Raises \(all methods\)):$", re.MULTILINE)


def page() -> str:
    """The text of the page."""
    names = [name for name in interpulse.__all__ if name != "__version__"]
    functions = [name for name in names if inspect.isfunction(getattr(interpulse, name))]
    parts = [INTRODUCTION, "\n| name | |\n|---|---|\n"]
    # A function and the class of its result may differ in the case of a letter only.
    titles = {
        name: name if name in functions else f"class {name}" for name in sorted(names, key=str.islower, reverse=True)
    }
    for name, title in titles.items():
        link = title.lower().replace(" ", "-")
        parts.append(f"| [`{name}`](#{link}) | {_first(getattr(interpulse, name))} |\n")
    for name, title in titles.items():
        parts += [f"\n## {title}\n", *_described(name, getattr(interpulse, name))]
    return "".join(parts)


def _described(name: str, what: Any) -> Iterator[str]:  # noqa: ANN401 - a function or a class
    signature = _signature(name, what)
    yield f"\n{signature}" if signature else ""
    yield _doc(what)
    if not inspect.isclass(what):
        return
    for member, value in vars(what).items():
        if member.startswith("_"):
            continue
        if isinstance(value, property):
            returns = inspect.get_annotations(value.fget).get("return", "") if value.fget else ""
            yield f"\n### {name}.{member}\n\n`{member}: {returns}`\n{_doc(value)}" if returns else ""
        elif callable(value) or isinstance(value, classmethod | staticmethod):
            function = getattr(value, "__func__", value)
            yield f"\n### {name}.{member}\n\n{_signature(member, function)}{_doc(function)}"


def _signature(name: str, what: Any) -> str:  # noqa: ANN401 - a function or a class
    try:
        signature = inspect.signature(what)
    except (TypeError, ValueError):
        return ""
    parameters = [each for each in signature.parameters.values() if each.name not in ("self", "cls")]
    shown = [str(each).replace("'", "") for each in parameters]
    keyword = [number for number, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY]
    if keyword and not any(each.kind is each.VAR_POSITIONAL for each in parameters):
        shown.insert(keyword[0], "*")
    returns = "" if signature.return_annotation is signature.empty else f" -> {signature.return_annotation}"
    line = f"{name}({', '.join(shown)}){returns if not inspect.isclass(what) else ''}"
    if len(line) > 100:
        line = f"{name}(\n" + "".join(f"    {each},\n" for each in shown) + f"){returns}"
    return f"```python\n{line}\n```\n"


def _first(what: Any) -> str:  # noqa: ANN401 - a function or a class
    return (inspect.getdoc(what) or "").split("\n\n")[0].replace("\n", " ")


def _doc(what: Any) -> str:  # noqa: ANN401 - anything with a docstring
    """A docstring of Google's style as Markdown."""
    text = inspect.getdoc(what) or ""
    head, *sections = SECTION.split(text)
    parts = [f"\n{_code(head.strip())}\n"] if head.strip() else []
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        items = re.split(r"\n(?=    \S)", body.rstrip())
        lines = [" ".join(each.split()) for each in items if each.strip()]
        if title == "Returns":
            parts.append(f"\nReturns: {' '.join(lines)}\n")
            continue
        named = [re.sub(r"^([\w*]+):", r"`\1`:", each) for each in lines]
        parts.append(f"\n{title}:\n\n" + "".join(f"- {each}\n" for each in named))
    return "".join(parts)


def _code(text: str) -> str:
    """Literal blocks (`::`) as Markdown."""
    return re.sub(r"::\n", ":\n", text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

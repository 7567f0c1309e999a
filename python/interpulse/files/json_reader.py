"""JSON reader for short runs: the scanner of `json` without its imports, which take longer than parsing."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _AsUsual:
    """The default options of `json.loads`."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int

    @staticmethod
    def parse_constant(name: str) -> float:
        """The value of `NaN`, `Infinity` or `-Infinity`."""
        return float(name)


def parsed(text: str) -> Any:  # noqa: ANN401 - any value of JSON
    """The value of a JSON text, as `json.loads` returns it.

    Raises:
        ValueError: the text is not JSON.
    """
    scan = _scanner()
    if scan is not None and text[:1] in ("{", "["):
        try:
            value, end = scan(text, 0)
        except StopIteration:
            end = -1
        if end == len(text):
            return value
    import json

    return json.loads(text)


def _scanner() -> Callable[[str, int], tuple[Any, int]] | None:
    """The scanner of CPython's `json`, None in other interpreters."""
    try:
        from _json import make_scanner
    except ImportError:
        return None
    scanner: Callable[[str, int], tuple[Any, int]] = make_scanner(_AsUsual)  # type: ignore[arg-type]
    return scanner

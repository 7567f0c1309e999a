"""JSON as the core writes it, read without `json`, which reads regular expressions first: that takes longer."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class _AsUsual:
    """How `json.loads` reads a text unless it is told otherwise."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int = float, int

    @staticmethod
    def parse_constant(name: str) -> float:
        """The value of `NaN`, `Infinity` or `-Infinity`."""
        return float(name)


def parsed(text: str) -> Any:  # noqa: ANN401 - any value of JSON
    """What `json.loads` makes of a text.

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
    """What CPython's `json` itself reads with; None where there is no such thing."""
    try:
        from _json import make_scanner
    except ImportError:
        return None
    scanner: Callable[[str, int], tuple[Any, int]] = make_scanner(_AsUsual)  # type: ignore[arg-type]
    return scanner

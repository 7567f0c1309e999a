"""Setting values: numbers, arrays and durations of Python and NumPy, and dictionaries as TOML."""

from __future__ import annotations

from interpulse._core import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta
    from typing import Any, TypeAlias

Value: TypeAlias = "str | int | float | bool | timedelta | Sequence[Any]"
"""What a setting may be given: text with its unit (`"80us"`), a number, a truth value, a duration, or a list of these.

Numbers, truth values, durations and arrays of NumPy and of libraries like it count as such."""

_BARE = r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*"
"""Keys that need no quotes, dotted ones included."""


def plain(value: object, key: str) -> str | int | float | bool | list[Any]:
    """The value in Python's own types; a duration as text with its unit.

    Raises:
        ConfigError: a setting cannot be such a value; the message has the key and the value.
    """
    if type(value) is str:
        return value  # As the command line gives it, which reads nothing else for that.
    from collections.abc import Sequence
    from datetime import timedelta
    from numbers import Integral, Real

    if getattr(getattr(value, "dtype", None), "kind", "") == "m":
        # A duration of NumPy: whole nanoseconds, which is what the simulator counts in.
        nanoseconds = value.astype("timedelta64[ns]").astype("int64")  # type: ignore[attr-defined]
        found = nanoseconds.tolist()
        return [f"{each}ns" for each in found] if isinstance(found, list) else f"{found}ns"
    if not isinstance(value, str | int | float) and callable(tolist := getattr(value, "tolist", None)):
        value = tolist()  # Scalars and arrays alike.
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real) or hasattr(value, "as_integer_ratio"):
        return float(value)  # type: ignore[arg-type]
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [plain(each, key) for each in value]
    kind = type(value).__name__
    raise ConfigError(
        f"{key} = {value!r} ({kind}): a setting is text with its unit (such as '80us'), a number, a truth value, "
        "a duration, or a list of these"
    )


def whole(name: str, value: Any, what: str, least: int, limit: int | None = None) -> int:  # noqa: ANN401 - any number
    """A whole number of any library, at least `least` and below `limit`; `what` it is goes into the message.

    Raises:
        ConfigError: it is something else; the message has the name and the value.
    """
    from operator import index

    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else index(value)
    except (TypeError, ValueError, OverflowError):
        number = least - 1
    if number < least or (limit is not None and number >= limit):
        range_ = f"at least {least}" if limit is None else f"from {least} to {_bound(limit)}"
        raise ConfigError(f"{name} = {value!r}: {what} is a whole number {range_}")
    return number


def _bound(limit: int) -> str:
    return f"2**{limit.bit_length() - 1} - 1" if limit & (limit - 1) == 0 else str(limit - 1)


def typed(text: str) -> Any:  # noqa: ANN401 - any value of a setting
    """A setting's text as TOML has it: a number, a list or a truth value where it is one, else text."""
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def literal(value: object, key: str = "value") -> str:
    """The value as TOML has it."""
    found = plain(value, key)
    if isinstance(found, bool):
        return "true" if found else "false"
    if isinstance(found, list):
        return "[" + ", ".join(literal(each, key) for each in found) + "]"
    # JSON escapes as a TOML basic string does, but for characters in two halves, and one control character.
    return _basic(found) if isinstance(found, str) else repr(found)


def _basic(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml(settings: Mapping[str, Any]) -> str:
    """A configuration as TOML, one line for each top key: tables and lists of tables within one are written inline.

    Raises:
        ConfigError: a key is no text, or a value cannot be one of a configuration.
    """
    try:
        return "".join(f"{_pair(key, value, '')}\n" for key, value in settings.items())
    except RecursionError:
        raise ConfigError("configuration: seen tables or lists nested too deeply, or within themselves") from None


def _pair(key: object, value: object, place: str) -> str:
    if not isinstance(key, str):
        raise ConfigError(f"{place or 'configuration'}: key {key!r} is not text")
    import re

    name = key if re.fullmatch(_BARE, key) else _basic(key)
    return f"{name} = {_inline(value, f'{place}.{key}'.lstrip('.'))}"


def _inline(value: object, place: str) -> str:
    from collections.abc import Mapping

    if isinstance(value, Mapping):
        return "{" + ", ".join(_pair(key, each, place) for key, each in value.items()) + "}"
    if isinstance(value, list | tuple) and any(isinstance(each, Mapping) for each in value):
        return "[" + ", ".join(_inline(each, f"{place}.{number}") for number, each in enumerate(value)) + "]"
    return literal(value, place)

"""Converts what the command line says without Pydantic, where nothing more than a parser or plain digits is needed.

Typer has Pydantic convert and check every value, those of options that are not there too, and importing it and building
its validators takes longer than a small run. What is not plainly right still goes there, so every refusal is Typer's.
"""

from __future__ import annotations

from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any, get_args

from typer.core import TyperArgument, TyperOption

if TYPE_CHECKING:
    from typer._click.core import Context

_by_typer: Any = getattr(TyperOption, "get_runtime_param", None)
"""What makes Typer's own conversion. No version promises it, and one without it needs no other."""

_LONGEST = len(str(2**64))
"""No option takes a number of more digits."""


def install() -> None:
    """Makes every option and argument of this process convert its values here first."""
    if _by_typer is not None:
        for kind in (TyperOption, TyperArgument):
            kind.get_runtime_param = lambda _: _Direct()  # type: ignore[method-assign,assignment,return-value]


class _Direct:
    """Stands where Typer has what converts the values of one parameter."""

    def coerce(self, value: Any, param: TyperOption | TyperArgument, ctx: Context) -> object:  # noqa: ANN401
        """The value for one that the command line or a default gives."""
        many = param.multiple or param.nargs == -1
        if value is None:
            return () if many else None
        described = param.type_descriptor
        info, kind = described.parameter_info, described.annotation
        if info.parser is not None and not many:
            with suppress(ValueError):
                return info.parser(value)
        elif many and get_args(kind) == (str,) and isinstance(value, list | tuple):
            return list(value)
        elif type(value) is kind and issubclass(kind, str | Enum):  # Of choices only a default is one already.
            return value
        elif kind is int and (number := _plain(value)) is not None and _within(number, info.min, info.max):
            return number
        return _by_typer(param).coerce(value, param, ctx)


def _plain(value: object) -> int | None:
    """The whole number that this is, or that can only be meant by these digits."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _LONGEST:
        return int(value) if str(int(value)) == value else None
    return value if type(value) is int else None


def _within(number: int, low: float | None, high: float | None) -> bool:
    return (low is None or number >= low) and (high is None or number <= high)

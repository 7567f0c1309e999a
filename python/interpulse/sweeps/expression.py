"""Expressions over the columns of a sweep: Python's own syntax, arithmetic and comparisons alone."""

from __future__ import annotations

import ast
import difflib
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from interpulse._core import ConfigError

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "ceil": math.ceil,
    "exp": math.exp,
    "floor": math.floor,
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "max": max,
    "min": min,
    "round": round,
    "sqrt": math.sqrt,
}

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: math.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, several: value in several,
    ast.NotIn: lambda value, several: value not in several,
}
_MOST_NODES = 500
"""A longer expression is a program."""


@dataclass(frozen=True)
class Expression:
    """An expression that has been read.

    Attributes:
        text: as it was written.
        names: the columns that it uses.
    """

    text: str
    names: frozenset[str]
    _tree: ast.expr

    @classmethod
    def read(cls, text: object, place: str) -> Expression:
        """Reads an expression; `place` is how messages begin.

        Raises:
            ConfigError: it is no expression, or holds more than numbers, texts, columns, operators and `FUNCTIONS`.
        """
        if not isinstance(text, str) or not text.strip():
            raise ConfigError(f"{place}: seen {text!r}; expected an expression such as 'read_p99_us / 1000 < 2'")
        try:
            tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            why = getattr(error, "msg", None) or "too deep"
            raise ConfigError(f"{place}: seen {text!r}; expected an expression ({why})") from None
        nodes = list(ast.walk(tree))
        if len(nodes) > _MOST_NODES:
            raise ConfigError(f"{place}: seen an expression of {len(nodes)} parts; expected at most {_MOST_NODES}")
        called = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        for node in nodes:
            _check(node, text, place)
        names = {node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in called}
        return cls(text, frozenset(names), tree)

    def check(self, known: Iterable[str], place: str) -> None:
        """Raises ConfigError where a column is not among the known ones."""
        columns = sorted(known)
        for name in sorted(self.names - set(columns)):
            near = difflib.get_close_matches(name, columns, n=1)
            hint = f"did you mean {near[0]}? There are" if near else "there are"
            raise ConfigError(f"{place}: seen {name} in {self.text!r}; no such column: {hint} {', '.join(columns)}")

    def value(self, row: Mapping[str, Any]) -> int | float | bool | str | None:
        """The value for a row; None where a column that it needs is None, or where there is none (1 / 0)."""
        try:
            found = _value(self._tree, row)
        except _Missing:
            return None
        except (ArithmeticError, TypeError, ValueError):
            return None
        if isinstance(found, float) and not math.isfinite(found):
            return None
        return found if isinstance(found, int | float | str) else None

    def excess(self, row: Mapping[str, Any]) -> float | None:
        """How far a condition is from holding: at most 0 where it holds, None where a column has no value.

        Of `a <= b` and its like it is (a - b) / |b|, of anything else 1.
        """
        found = self.value(row)
        if found is None:
            return None
        if not (isinstance(self._tree, ast.Compare) and len(self._tree.ops) == 1):
            return 0.0 if found else 1.0
        try:
            left, right = (float(_value(side, row)) for side in (self._tree.left, self._tree.comparators[0]))
        except (_Missing, ArithmeticError, TypeError, ValueError):
            return 0.0 if found else 1.0
        sign = {ast.LtE: 1, ast.Lt: 1, ast.GtE: -1, ast.Gt: -1}.get(type(self._tree.ops[0]))
        if sign is None or not math.isfinite(left - right):
            return 0.0 if found else 1.0
        far = sign * (left - right) / (abs(right) or 1.0)
        # At the bound itself the comparison decides.
        return min(far, 0.0) if found else max(far, 1e-12)


class _Missing(Exception):  # noqa: N818 - it is no error
    """A column has no value in this row."""


def _check(node: ast.AST, text: str, place: str) -> None:
    plain = isinstance(
        node,
        ast.Name | ast.BinOp | ast.UnaryOp | ast.BoolOp | ast.Compare | ast.IfExp | ast.Load | ast.Tuple | ast.List,
    )
    constant = isinstance(node, ast.Constant) and isinstance(node.value, int | float | str)
    known = isinstance(node, ast.boolop) or type(node) in {*_BINARY, *_UNARY, *_COMPARE}
    call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords
    if isinstance(node, ast.Call) and call and node.func.id not in FUNCTIONS:  # type: ignore[attr-defined]
        seen = node.func.id  # type: ignore[attr-defined]
        raise ConfigError(f"{place}: seen {seen}() in {text!r}; expected one of {', '.join(FUNCTIONS)}")
    if not (plain or constant or known or call):
        kind = type(node).__name__
        raise ConfigError(
            f"{place}: seen {kind} in {text!r}; expected numbers, texts, columns, + - * / // % **, comparisons, "
            f"and, or, not, in, if else, and {', '.join(FUNCTIONS)}"
        )


def _value(node: ast.expr, row: Mapping[str, Any]) -> Any:  # noqa: ANN401, C901 - one arm for each kind
    match node:
        case ast.Constant():
            return node.value
        case ast.Name():
            if row.get(node.id) is None:
                raise _Missing
            return row[node.id]
        case ast.BinOp():
            return _BINARY[type(node.op)](_value(node.left, row), _value(node.right, row))
        case ast.UnaryOp():
            return _UNARY[type(node.op)](_value(node.operand, row))
        case ast.BoolOp(op=ast.And()):
            return all(_value(each, row) for each in node.values)
        case ast.BoolOp():
            return any(_value(each, row) for each in node.values)
        case ast.IfExp():
            return _value(node.body if _value(node.test, row) else node.orelse, row)
        case ast.Compare():
            values = [_value(each, row) for each in (node.left, *node.comparators)]
            pairs = zip(node.ops, values, values[1:], strict=False)
            return all(_COMPARE[type(op)](left, right) for op, left, right in pairs)
        case ast.Call(func=ast.Name(id=name)):
            return FUNCTIONS[name](*(_value(each, row) for each in node.args))
        case ast.Tuple() | ast.List():
            return [_value(each, row) for each in node.elts]
    raise TypeError(type(node).__name__)


def all_hold(expressions: Iterable[Expression], row: Mapping[str, Any]) -> bool | None:
    """Whether all hold; None where one of them has no value and no other is false."""
    found = [expression.value(row) for expression in expressions]
    if any(value is not None and not value for value in found):
        return False
    return None if any(value is None for value in found) else True

"""Expressions over the columns of a sweep: arithmetic and comparisons in Python's syntax, evaluated by simpleeval."""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from simpleeval import DEFAULT_OPERATORS, EvalWithCompoundTypes, InvalidExpression

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


def _modulo(left: Any, right: Any) -> Any:  # noqa: ANN401 - any number
    if isinstance(left, str):  # `%` would format the text, to any length.
        raise TypeError
    return left % right


# simpleeval limits the length of texts; math.pow overflows where integers would grow without limit.
_LIMITED: dict[type, Any] = {ast.Mod: _modulo, ast.Pow: math.pow}
_OPERATORS = {kind: _LIMITED.get(kind, DEFAULT_OPERATORS[kind]) for kind in (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.USub, ast.UAdd, ast.Not,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
)}  # fmt: skip
_NODES = (ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.boolop, ast.Compare, ast.IfExp, ast.Load, ast.Tuple,
          ast.List, *_OPERATORS)  # fmt: skip
_MOST_NODES = 500


@dataclass(frozen=True)
class Expression:
    """A parsed expression.

    Attributes:
        text: the source text.
        names: the columns that the expression uses.
    """

    text: str
    names: frozenset[str]
    _tree: ast.expr

    @classmethod
    def read(cls, text: object, place: str) -> Expression:
        """Parses an expression; messages begin with `place`.

        Raises:
            ConfigError: not an expression, or more than numbers, texts, columns, operators and `FUNCTIONS`.
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
        """Raises ConfigError if the expression uses a column that is not among the known ones."""
        columns = sorted(known)
        for name in sorted(self.names - set(columns)):
            near = difflib.get_close_matches(name, columns, n=1)
            hint = f"did you mean {near[0]}? There are" if near else "there are"
            raise ConfigError(f"{place}: seen {name} in {self.text!r}; no such column: {hint} {', '.join(columns)}")

    def value(self, row: Mapping[str, Any]) -> int | float | bool | str | None:
        """The value for a row; None if a column is None or the value is undefined (1 / 0)."""
        found = _value(self._tree, row)
        if isinstance(found, float) and not math.isfinite(found):
            return None
        return found if isinstance(found, int | float | str) else None

    def excess(self, row: Mapping[str, Any]) -> float | None:
        """The violation of a condition: at most 0 if the condition holds, None if a column has no value.

        For `a <= b`, `<`, `>=` and `>` the violation is (a - b) / |b|, for other conditions 1.
        """
        found = self.value(row)
        if found is None:
            return None
        if not (isinstance(self._tree, ast.Compare) and len(self._tree.ops) == 1):
            return 0.0 if found else 1.0
        left, right = (_value(side, row) for side in (self._tree.left, self._tree.comparators[0]))
        sign = {ast.LtE: 1, ast.Lt: 1, ast.GtE: -1, ast.Gt: -1}.get(type(self._tree.ops[0]))
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        if sign is None or not numbers or not math.isfinite(left - right):
            return 0.0 if found else 1.0
        far: float = sign * (left - right) / (abs(right) or 1.0)
        # At the bound itself the comparison decides.
        return min(far, 0.0) if found else max(far, 1e-12)


class _Missing(InvalidExpression):  # type: ignore[misc] # simpleeval has no annotations
    """A column has no value in this row."""


class _Evaluator(EvalWithCompoundTypes):  # type: ignore[misc]
    """simpleeval whose `and` and `or` return a truth value."""

    def _eval_boolop(self, node: ast.BoolOp) -> bool:
        return bool(super()._eval_boolop(node))


def _check(node: ast.AST, text: str, place: str) -> None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id not in FUNCTIONS:
            raise ConfigError(f"{place}: seen {node.func.id}() in {text!r}; expected one of {', '.join(FUNCTIONS)}")
    elif not isinstance(node, _NODES) and not (
        isinstance(node, ast.Constant) and isinstance(node.value, int | float | str)
    ):
        raise ConfigError(
            f"{place}: seen {type(node).__name__} in {text!r}; expected numbers, texts, columns, + - * / // % **, "
            f"comparisons, and, or, not, in, if else, and {', '.join(FUNCTIONS)}"
        )


def _value(tree: ast.expr, row: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any value of a column
    def column(node: ast.Name) -> Any:  # noqa: ANN401
        if row.get(node.id) is None:
            raise _Missing
        return row[node.id]

    try:
        return _Evaluator(_OPERATORS, dict(FUNCTIONS), column).eval("", tree)
    except (InvalidExpression, ArithmeticError, TypeError, ValueError):
        return None


def all_hold(expressions: Iterable[Expression], row: Mapping[str, Any]) -> bool | None:
    """Whether all conditions hold; None if one has no value and no other is false."""
    found = [expression.value(row) for expression in expressions]
    if any(value is not None and not value for value in found):
        return False
    return None if any(value is None for value in found) else True

"""Expressions over the columns of a sweep: arithmetic and comparisons in Python's syntax, evaluated by simpleeval."""

from __future__ import annotations

import ast
import difflib
import math
import operator
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from simpleeval import DEFAULT_OPERATORS, EvalWithCompoundTypes, InvalidExpression

from interpulse._core import ConfigError

MOST_TEXT = 1000
"""Characters of a text: a column holds one for each row."""

MOST_SOURCE = 10_000
"""Characters of an expression."""

_MOST_INTEGER = 2**63 - 1
"""Larger integers become floating-point numbers, as a column has them; without a limit they would grow for ever."""

_MOST_DIGITS = 400
"""Digits that `round` may be asked for: more change no floating-point number."""


def _round(number: Any, digits: Any = 0) -> Any:  # noqa: ANN401 - any number
    if not isinstance(digits, int) or abs(digits) > _MOST_DIGITS:
        raise TypeError
    return round(number, digits) if digits else round(number)


def _bounded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose result takes little memory; OverflowError for numbers beyond floating point."""

    def limited(*given: Any) -> Any:  # noqa: ANN401
        found = function(*given)
        if isinstance(found, int) and abs(found) > _MOST_INTEGER:
            return float(found)
        if isinstance(found, str) and len(found) > MOST_TEXT:
            raise OverflowError
        return found

    return limited


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": _bounded(abs),
    "ceil": _bounded(math.ceil),
    "exp": math.exp,
    "floor": _bounded(math.floor),
    "log": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "max": max,
    "min": min,
    "round": _bounded(_round),
    "sqrt": math.sqrt,
}


def _of_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """An operator that refuses texts and lists, which Python would repeat or format to any length."""

    def limited(left: Any, right: Any) -> Any:  # noqa: ANN401
        if not isinstance(left, int | float) or not isinstance(right, int | float):
            raise TypeError
        return function(left, right)

    return _bounded(limited)


def _add(left: Any, right: Any) -> Any:  # noqa: ANN401
    if isinstance(left, list | tuple):
        raise TypeError
    return left + right


# math.pow overflows where integers would grow without limit.
_LIMITED: dict[type, Any] = {
    ast.Add: _bounded(_add),
    ast.Mod: _of_numbers(operator.mod),
    ast.Mult: _of_numbers(operator.mul),
    ast.Pow: math.pow,
} | {kind: _bounded(DEFAULT_OPERATORS[kind]) for kind in (ast.Sub, ast.Div, ast.FloorDiv, ast.USub, ast.UAdd)}
_OPERATORS = {kind: _LIMITED.get(kind, DEFAULT_OPERATORS[kind]) for kind in (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.USub, ast.UAdd, ast.Not,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
)}  # fmt: skip
_NODES = (ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.boolop, ast.Compare, ast.IfExp, ast.Load, ast.Tuple,
          ast.List, *_OPERATORS)  # fmt: skip
_MOST_NODES = 500
_MOST_DEPTH = 150
"""Operators within operators; the evaluation of each takes frames of Python's stack."""


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
        if len(text) > MOST_SOURCE:
            raise ConfigError(f"{place}: seen an expression of {len(text)} characters; expected at most {MOST_SOURCE}")
        try:
            with warnings.catch_warnings():
                # Of `1 is 1` and similar texts, which are refused below.
                warnings.simplefilter("ignore", SyntaxWarning)
                tree = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            why = getattr(error, "msg", None) or "too deep"
            raise ConfigError(f"{place}: seen {_short(text)}; expected an expression ({why})") from None
        nodes = list(ast.walk(tree))
        if len(nodes) > _MOST_NODES:
            raise ConfigError(f"{place}: seen an expression of {len(nodes)} parts; expected at most {_MOST_NODES}")
        if (depth := _depth(tree)) > _MOST_DEPTH:
            raise ConfigError(
                f"{place}: seen operators nested {depth} deep in {_short(text)}; expected at most {_MOST_DEPTH}"
            )
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
            raise ConfigError(
                f"{place}: seen {name} in {_short(self.text)}; no such column: {hint} {', '.join(columns)}"
            )

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


def _short(text: str) -> str:
    return repr(text) if len(text) <= 200 else f"{text[:200]!r}... ({len(text)} characters)"


def _depth(tree: ast.expr) -> int:
    """The largest number of expressions within each other."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return depth


def _check(node: ast.AST, text: str, place: str) -> None:
    if isinstance(node, ast.Constant):
        value = node.value
        if type(value) is int and abs(value) > _MOST_INTEGER:
            raise ConfigError(f"{place}: seen an integer beyond {_MOST_INTEGER} in {_short(text)}; write it as 1e19")
        if isinstance(value, str) and len(value) > MOST_TEXT:
            raise ConfigError(f"{place}: seen a text of {len(value)} characters; expected at most {MOST_TEXT}")
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id not in FUNCTIONS:
            raise ConfigError(
                f"{place}: seen {node.func.id}() in {_short(text)}; expected one of {', '.join(FUNCTIONS)}"
            )
    elif not isinstance(node, _NODES) and not (
        isinstance(node, ast.Constant) and isinstance(node.value, int | float | str)
    ):
        raise ConfigError(
            f"{place}: seen {type(node).__name__} in {_short(text)}; expected numbers, texts, columns, + - * / // % "
            f"**, comparisons, and, or, not, in, if else, and {', '.join(FUNCTIONS)}"
        )


def _value(tree: ast.expr, row: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any value of a column
    def column(node: ast.Name) -> Any:  # noqa: ANN401
        if row.get(node.id) is None:
            raise _Missing
        return row[node.id]

    try:
        return _Evaluator(_OPERATORS, dict(FUNCTIONS), column).eval("", tree)
    except (InvalidExpression, ArithmeticError, TypeError, ValueError, RecursionError):
        return None


def all_hold(expressions: Iterable[Expression], row: Mapping[str, Any]) -> bool | None:
    """Whether all conditions hold; None if one has no value and no other is false."""
    found = [expression.value(row) for expression in expressions]
    if any(value is not None and not value for value in found):
        return False
    return None if any(value is None for value in found) else True

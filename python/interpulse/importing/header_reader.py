"""Reader of `#define` constants in a C header: conditions and expressions are evaluated, nothing is compiled."""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable

from interpulse._core import ConfigError
from interpulse.files.paths import shown
from interpulse.importing.lines_reader import read_lines
from interpulse.importing.parameters import Seen

_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: operator.lshift,
}
_SCALES = {"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40, "MS_PER_SEC": 1000}
_MOST_SHIFT, _MOST_DEPTH = 62, 40


class Header:
    """Constants of a header for one value of the name that chooses a model."""

    def __init__(self, path: str, what: str, chooser: str, model: str | None) -> None:
        self.name = shown(path)
        self.models: list[str] = []
        """Models of the header's conditions."""
        self._texts: dict[str, tuple[str, int]] = {}
        lines = _uncommented(read_lines(path, what))
        self._select(lines, chooser, model)

    def seen(self) -> list[Seen]:
        """Every constant with a value, evaluated where it is an expression."""
        found = []
        for name, (text, line) in self._texts.items():
            if "(" not in name and text:
                found.append(Seen(name, self._shown(text, line), line))
        return found

    def _select(self, lines: list[tuple[str, int]], chooser: str, model: str | None) -> None:
        """Keeps the definitions that apply; the stack has, for each open #if, whether it applies and one did before."""
        stack: list[tuple[bool, bool]] = []
        for text, line in lines:
            found = re.match(r"\s*#\s*(ifndef|ifdef|if|elif|else|endif|define)\b\s*(.*)$", text)
            if not found:
                continue
            word, rest = found[1], found[2].strip()
            if word in ("if", "ifdef", "ifndef"):
                applies = self._applies(word, rest, chooser, model)
                stack.append((applies, applies))
            elif word == "endif" or (not stack and word in ("elif", "else")):
                if not stack:
                    raise ConfigError(f"{self.name}:{line}: seen #{word} without #if; expected a C header")
                stack.pop()
            elif word in ("elif", "else"):
                _, before = stack.pop()
                applies = not before and (word == "else" or self._applies("if", rest, chooser, model))
                stack.append((applies, before or applies))
            elif all(applies for applies, _ in stack):
                self._define(rest, line)
        if stack:
            raise ConfigError(f"{self.name}: seen #if without #endif; expected a whole C header")

    def _applies(self, word: str, rest: str, chooser: str, model: str | None) -> bool:
        chosen = re.fullmatch(rf"\(?\s*{chooser}\s*==\s*(\w+)\s*\)?", rest)
        if chosen:
            self.models.append(chosen[1])
            return chosen[1] == model
        return word != "if" or rest.strip("() ") not in ("0", "")

    def _define(self, rest: str, line: int) -> None:
        found = re.match(r"(\w+)(\([^)]*\))?\s*(.*)$", rest)
        if not found or found[2]:
            return
        if found[1] in self._texts:
            before = self._texts[found[1]][1]
            raise ConfigError(f"{self.name}:{line}: {found[1]}: seen twice, first in line {before}; expected it once")
        self._texts[found[1]] = (found[3].strip(), line)

    def _shown(self, text: str, line: int) -> str:
        """The value as text: a number where the expression has one, else the text itself."""
        bare = text.strip("() ")
        if re.fullmatch(r"[A-Za-z_]\w*", bare) and bare not in self._texts:
            return bare
        if re.fullmatch(r"[0-9]*\.[0-9]+", bare):
            return bare
        return str(self._value(text, line, 0))

    def _value(self, text: str, line: int, depth: int) -> int:
        plain = re.sub(r"\b(0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*\b", r"\1", text).replace("/", "//")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Of literals that are no numbers, which are refused.
                tree = ast.parse(plain.strip(), mode="eval").body
            return self._of(tree, line, depth)
        except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
            raise ConfigError(
                f"{self.name}:{line}: seen the expression {text[:60]!a}; expected whole numbers, names, "
                f"KB(), MB(), "
                "GB() and + - * / % <<"
            ) from None

    def _of(self, tree: ast.expr, line: int, depth: int) -> int:
        if depth > _MOST_DEPTH:
            raise ConfigError(f"{self.name}:{line}: seen names that refer to each other; expected numbers")
        if isinstance(tree, ast.Constant) and type(tree.value) is int and tree.value < 1 << _MOST_SHIFT:
            return tree.value
        if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
            left, right = self._of(tree.left, line, depth + 1), self._of(tree.right, line, depth + 1)
            if isinstance(tree.op, ast.LShift) and not 0 <= right <= _MOST_SHIFT:
                raise ValueError
            result = _OPERATORS[type(tree.op)](left, right)
            if abs(result) >= 1 << _MOST_SHIFT:
                raise ValueError
            return result
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return -self._of(tree.operand, line, depth + 1)
        if (
            isinstance(tree, ast.Call)
            and isinstance(tree.func, ast.Name)
            and tree.func.id in _SCALES
            and len(tree.args) == 1
        ):
            return _SCALES[tree.func.id] * self._of(tree.args[0], line, depth + 1)
        if isinstance(tree, ast.Name) and tree.id in self._texts:
            text, place = self._texts[tree.id]
            return self._value(text, place, depth + 1)
        raise ValueError


def _uncommented(lines: list[str]) -> list[tuple[str, int]]:
    """Lines without comments, continued lines joined, with their numbers."""
    joined: list[tuple[str, int]] = []
    inside, before, start = False, "", 0
    for number, line in enumerate(lines, 1):
        text = ""
        rest = line
        while rest:
            if inside:
                _, end, rest = rest.partition("*/")
                inside = not end
                continue
            head, begin, rest = rest.partition("/*")
            text += head.partition("//")[0]
            inside = bool(begin) and "//" not in head
            rest = rest if begin and inside else ""
        start = start or number
        if text.rstrip().endswith("\\"):
            before += text.rstrip()[:-1] + " "
            continue
        joined.append((before + text, start))
        before, start = "", 0
    return joined

"""Dimensions: integers, or integer expressions over named symbols.

A dimension is data: an ``int``, or the canonical text of an expression such as ``"2*m"`` or
``"m//5 - 1"``. ``//`` and ``%`` round towards negative infinity, as Python's do and as TIR's
``floordiv`` and ``floormod`` do.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import CodeType
from typing import TypeVar

Dim = int | str

_NO_NAMES: dict[str, object] = {"__builtins__": {}}

LONGEST = 500
"""Longer text is refused: it would nest deeper than the walks below may."""

_T = TypeVar("_T")

_OPERATORS: dict[type[ast.operator], tuple[str, int]] = {
    ast.Add: ("+", 1),
    ast.Sub: ("-", 1),
    ast.Mult: ("*", 2),
    ast.FloorDiv: ("//", 2),
    ast.Mod: ("%", 2),
}

ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}


@lru_cache(maxsize=4096)
def _parse(text: str) -> ast.expr:
    if len(text) > LONGEST:
        raise ValueError(f"dimension {text[:20] + '...'!r} has more than {LONGEST} characters")
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"dimension {text!r} is not an expression") from error
    _check(tree, text)
    return tree


def _check(node: ast.expr, text: str) -> None:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int()):
            return
        # Python gives names such as __debug__ a meaning of its own.
        case ast.Name(id=name) if not name.startswith("__"):
            return
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _check(left, text)
            _check(right, text)
            return
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
            return
    raise ValueError(
        f"dimension {text!r}: only integers, symbols and + - * // % are allowed in a dimension"
    )


def fold(
    dim: Dim,
    constant: Callable[[int], _T],
    symbol: Callable[[str], _T],
    binary: Callable[[str, _T, _T], _T],
) -> _T:
    """Fold ``dim`` bottom-up: the one walk behind evaluation, printing and emission.

    Raises:
        ValueError: ``dim`` is text that is not a dimension expression.
    """

    def walk(node: ast.expr) -> _T:
        match node:
            case ast.Constant(value=int(value)):
                return constant(value)
            case ast.Name(id=name):
                return symbol(name)
            case ast.UnaryOp(operand=ast.Constant(value=int(value))):
                return constant(-value)
            case ast.BinOp(left=left, op=op, right=right):
                return binary(_OPERATORS[type(op)][0], walk(left), walk(right))
        raise AssertionError(f"unchecked node {ast.dump(node)}")

    return constant(dim) if isinstance(dim, int) else walk(_parse(dim))


def canonical(dim: Dim) -> Dim:
    """``dim`` with the fewest parentheses and fixed spacing; an integer where it has no symbol.

    Raises:
        ValueError: ``dim`` is text that is not a dimension expression, or divides by zero.
    """
    return dim if isinstance(dim, int) else _canonical(dim)


# Drawn programs have few distinct dimensions, and each is canonicalised several times a case.
@lru_cache(maxsize=4096)
def _canonical(text: str) -> Dim:
    tree = _parse(text)
    if not symbols(text):
        try:
            return evaluate(text, {})
        except ZeroDivisionError as error:
            raise ValueError(f"dimension {text!r} divides by zero") from error
    return _print(tree)[0]


def _print(node: ast.expr) -> tuple[str, int]:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            sign, strength = _OPERATORS[type(op)]
            (left_text, left_strength), (right_text, right_strength) = _print(left), _print(right)
            if left_strength < strength:
                left_text = f"({left_text})"
            # A right operand of equal strength keeps its parentheses: none of - // % associates.
            if right_strength <= strength:
                right_text = f"({right_text})"
            gap = " " if strength == 1 else ""
            return f"{left_text}{gap}{sign}{gap}{right_text}", strength
        case ast.UnaryOp(operand=ast.Constant(value=int(value))):
            return f"(-{value})", 3
    return ast.unparse(node), 3


def symbols(dim: Dim) -> frozenset[str]:
    """The names of the symbols in ``dim``."""
    return frozenset() if isinstance(dim, int) else _symbols(dim)


@lru_cache(maxsize=4096)
def _symbols(text: str) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(_parse(text)) if isinstance(node, ast.Name))


def evaluate(dim: Dim, binding: Mapping[str, int]) -> int:
    """The value of ``dim`` where each symbol has the value that ``binding`` gives it.

    Raises:
        KeyError: a symbol has no value.
        ZeroDivisionError: a divisor is zero.
    """
    if isinstance(dim, int):
        return dim
    try:
        value: int = eval(_code(dim), _NO_NAMES, binding)
    except NameError as error:
        raise KeyError(error.name) from None
    return value


@lru_cache(maxsize=4096)
def _code(text: str) -> CodeType:
    """``text`` as Python's code: of integers, names and five operators, which ``_check`` saw to."""
    return compile(ast.Expression(_parse(text)), "<dimension>", "eval")

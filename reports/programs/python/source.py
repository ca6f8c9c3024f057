"""Python source text for a person to read: literals, and long lines broken as formatters do."""

import base64
import json
import math
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from itertools import count

import numpy as np

from relaxcheck.generators.core.dims import Dim, fold, symbols
from relaxcheck.generators.core.program import Attribute, ShapeValue
from relaxcheck.generators.core.values import Array

WIDTH = 100
_INDENT = "    "
_OPEN, _CLOSE = "([{", ")]}"
_STRENGTH = {"+": 1, "-": 1, "*": 2, "//": 2, "%": 2}


def free_name(name: str, taken: Collection[str]) -> str:
    """``name``, with as many underscores behind it as make it none of ``taken``."""
    return next(free for n in count() if (free := name + "_" * n) not in taken)


def fitted(line: str, indent: int = 0) -> list[str]:
    """The logical ``line``, indented by so many columns, broken at its brackets where it is long.

    The content of the last bracket pair whose head fits goes to a line of its own; or to one line
    for each item where it does not fit either.
    """
    line = " " * indent + line
    pairs = _pairs(line)
    if len(line) <= WIDTH or not pairs:
        return [line]
    start, end = next((pair for pair in reversed(pairs) if pair[0] < WIDTH), pairs[0])
    head, body, tail = line[: start + 1], line[start + 1 : end], line[end:]
    inner = indent + len(_INDENT)
    items = _items(body)
    if inner + len(body) <= WIDTH or len(items) == 1:
        return [head, *fitted(body, inner), " " * indent + tail]
    broken = [part for item in items for part in fitted(f"{item},", inner)]
    return [head, *broken, " " * indent + tail]


def _pairs(line: str) -> list[tuple[int, int]]:
    """The outermost brackets that are not empty, as positions of their two ends."""
    pairs, start = [], 0
    for position, letter, depth in _code(line):
        if letter in _OPEN and depth == 0:
            start = position
        elif letter in _CLOSE and depth == 1 and position > start + 1:
            pairs.append((start, position))
    return pairs


def _items(body: str) -> list[str]:
    """``body`` at its outermost commas."""
    cuts = [at for at, letter, depth in _code(body) if letter == "," and depth == 0]
    starts = [0, *(cut + 1 for cut in cuts)]
    parts = (body[a:b].strip() for a, b in zip(starts, [*cuts, len(body)], strict=True))
    return [part for part in parts if part]


def _code(line: str) -> Iterator[tuple[int, str, int]]:
    """The characters outside of strings: position, character, brackets open before it."""
    depth, quote, escaped = 0, "", False
    for position, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote and not escaped else quote
            escaped = letter == "\\" and not escaped
        elif letter in "\"'":
            quote = letter
        else:
            yield position, letter, depth
            depth += (letter in _OPEN) - (letter in _CLOSE)


def string_text(text: str) -> str:
    """A string literal in double quotes; characters that no page shows are escaped."""
    return re.sub(
        r"[^\S ]|[\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]",
        _escaped,
        json.dumps(text, ensure_ascii=False),
    )


def _escaped(character: re.Match[str]) -> str:
    return f"\\u{ord(character[0]):04x}"


_LARGE = 256
"""An array of so many elements is not for reading; what is shorter to write is written shorter."""

_PIECE = 72
"""Letters of what is packed, on a line."""

PARTS = " / 2048"
"""The end of ``array_text`` where it divides."""


def array_text(array: Array) -> str:
    """An expression whose value is ``array`` (no bfloat16): same dtype, same shape, same values.

    Multiples of 1/2048 are written as integers divided by it. NumPy's name is ``np``. A large one
    is packed, by ``base64`` and ``zlib``, where that is far shorter.
    """
    text = _written_out(array)
    packed = _packed(array) if array.size >= _LARGE else text
    return packed if len(packed) < len(text) // 4 else text


def _written_out(array: Array) -> str:
    dtype = array.dtype.name
    if not array.size:
        return f'np.zeros({shape_text(array.shape)}, "{dtype}")'
    first = array.flat[0].item()
    if array.size > 1 and (array == first).all() and _sign_alike(array):
        return f'np.full({shape_text(array.shape)}, {number_text(first)}, "{dtype}")'
    if times := _repeated(array):
        return f"np.repeat({array_text(array[..., ::times])}, {times}, axis=-1)"
    if array.dtype.kind == "f" and np.isfinite(array).all():
        scaled = np.clip(array.astype(np.float64), -8, 8) * 2048
        whole = (scaled == np.rint(scaled)).all() and (np.abs(array) <= 4).all()
        if whole and (array != np.rint(array)).any() and not np.signbit(array[array == 0]).any():
            return f'np.array({_nested(scaled.astype(np.int64).tolist())}, "{dtype}"){PARTS}'
    return f'np.array({_nested(array.tolist())}, "{dtype}")'


def _packed(array: Array) -> str:
    """``array`` as bytes, which are not for reading."""
    text = base64.b85encode(zlib.compress(array.tobytes(), 9)).decode()
    pieces = [string_text(text[at : at + _PIECE]) for at in range(0, len(text), _PIECE)]
    unpacked = f'zlib.decompress(base64.b85decode("".join([{", ".join(pieces)}])))'
    made = f'np.frombuffer({unpacked}, "{array.dtype.name}")'
    return f"{made}.reshape({shape_text(array.shape)}).copy()"


def _repeated(array: Array) -> int:
    """Count copies of each element in a row along the last axis; 0 where it saves nothing."""
    if array.size < _LARGE or not array.ndim:
        return 0
    last: int = array.shape[-1]
    for times in (last // parts for parts in range(1, last // 2 + 1) if last % parts == 0):
        kept = np.repeat(array[..., ::times], times, axis=-1)
        if kept.tobytes() == array.tobytes():
            return times
    return 0


def _sign_alike(array: Array) -> bool:
    return array.dtype.kind != "f" or len(set(np.signbit(array).ravel().tolist())) == 1


def _nested(values: object) -> str:
    if isinstance(values, list):
        return f"[{', '.join(map(_nested, values))}]"
    assert isinstance(values, bool | int | float)
    return number_text(values)


def number_text(value: bool | int | float) -> str:
    """A number as Python writes it; NaN and infinities as NumPy names them."""
    if isinstance(value, float) and not math.isfinite(value):
        return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def rounded_up(value: float) -> float:
    """``value`` (finite, >= 0) rounded up to three significant digits."""
    if value == 0:
        return 0.0
    exponent = math.floor(math.log10(value)) - 2
    digits = math.ceil(value / 10.0**exponent)
    text = float(f"{digits}e{exponent}")
    return text if text >= value else float(f"{digits + 1}e{exponent}")


def shape_text(shape: Sequence[Dim], *, in_tvm: bool = False) -> str:
    """A shape as a tuple of expressions; ``in_tvm``: over TVM's variables, not integers."""
    parts = [dim_text(dim) if in_tvm else str(dim) for dim in shape]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def dim_text(dim: Dim) -> str:
    """A dimension over TVM's variables, whose own ``//`` and ``%`` are ambiguous."""
    if not symbols(dim):
        return str(dim)

    def binary(sign: str, left: tuple[str, int], right: tuple[str, int]) -> tuple[str, int]:
        if sign in ("//", "%"):
            name = "floordiv" if sign == "//" else "floormod"
            return f"tirx.{name}({left[0]}, {right[0]})", 3
        if (sign, right[0]) == ("+", "0") or (sign, left[0]) == ("*", "1"):
            # An operator of Python's would leave it away.
            name = "Add" if sign == "+" else "Mul"
            first, second = (_immediate(text) for text, _ in (left, right))
            return f"tirx.{name}({first}, {second})", 3
        strength = _STRENGTH[sign]
        first = f"({left[0]})" if left[1] < strength else left[0]
        second = f"({right[0]})" if right[1] <= strength else right[0]
        return f"{first} {sign} {second}", strength

    return fold(dim, lambda value: (str(value), 3), lambda name: (name, 3), binary)[0]


def _immediate(text: str) -> str:
    return f'tirx.IntImm("int64", {text})' if text.isdigit() else text


def attribute_text(value: Attribute) -> str:
    """An attribute as the argument that ``relax.op``'s functions take."""
    if isinstance(value, ShapeValue):
        return f"relax.ShapeExpr([{', '.join(map(dim_text, value.dims))}])"
    if isinstance(value, tuple):
        return str(list(value))
    return string_text(value) if isinstance(value, str) else repr(value)

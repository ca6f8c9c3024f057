"""ONNX's Einsum, by an equation in which all axes have letters.

Its kernel does not sum along axes without letters, and its shape inference refuses those that
broadcast.
"""

from collections.abc import Iterator, Sequence
from string import ascii_letters

import numpy as np

from relaxcheck.oracles.limitations import dtype
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float

_DOTS = "..."

limit("einsum", dtype("int64"), "Einsum adds integers of 64 bits in floating point")


@operator("einsum")
def _einsum(call: Call) -> Wire:
    made, shapes = call.operands[0].dtype, [each.shape for each in call.operands]
    terms, result = _lettered(str(call.node.attributes["subscripts"]), list(map(len, shapes)))
    pairs = zip("".join(terms), (size for shape in shapes for size in shape), strict=True)
    sizes: dict[str, int] = {}
    for letter, size in pairs:
        sizes[letter] = size if sizes.get(letter, 1) == 1 else sizes[letter]
    shape = tuple(sizes[letter] for letter in result)
    if 0 in sizes.values():
        # The kernel refuses most tensors without elements.
        kind = np.float64 if made == "float64" else np.float32
        zeros = np.zeros(shape, kind if is_float(made) else np.int64)
        return Wire(call.graph.constant(zeros), shape, made)
    equation = f"{','.join(terms)}->{result}"
    names = [each.name for each in call.operands]
    return call.graph.settle(call.graph.call("Einsum", *names, equation=equation), shape, made)


def _lettered(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, with further ones for axes without."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    texts = left.split(",")
    free = [letter for letter in ascii_letters if letter not in equation]

    def written(term: str, rank: int) -> str:
        rest = rank - len(term.replace(_DOTS, ""))
        return term.replace(_DOTS, "".join(free[:rest][::-1]))

    terms = [written(*each) for each in zip(texts, ranks, strict=True)]
    pairs = zip(terms, texts, strict=True)
    most = max(len(term) - len(text.replace(_DOTS, "")) for term, text in pairs)
    unnamed = "".join(free[:most][::-1])
    if arrow:
        return terms, right.replace(_DOTS, unnamed)
    return terms, unnamed + "".join(_once("".join(terms), unnamed))


def _once(letters: str, apart: str) -> Iterator[str]:
    """The letters that occur once, but for those ``apart``, in their order."""
    return (each for each in sorted({*letters} - {*apart}) if letters.count(each) == 1)

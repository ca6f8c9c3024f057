"""What an error says: does it name operator and fault, and which errors are alike."""

import re
from collections.abc import Iterable

_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")
_PATH = re.compile(r"(?:/[\w.+-]+)+/([\w.+-]+)(?::\d+)?")
_INSTALLED = re.compile(r"/[^\s\"':]*/(?=(?:site-packages|dist-packages|python3\.\d+)/)")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_LAYOUT = re.compile(r"\b[A-Z]{3,6}(?:\d+[a-z])*\b")
_DTYPE = re.compile(r"\b(?:bool|bfloat16|(?:float|u?int)\d+)\b")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_SHAPE = re.compile(r"[\[(](?:[\w#*+/%.'… -]{1,12},\s*)*[\w#*+/%.'… -]{0,12}[\])]")
"""A bracket around short items: a shape, a list of strides, an empty argument list."""


def squash(text: str) -> str:
    """``text`` in lower case with only letters and digits: "Output padding" is "outputpadding"."""
    return re.sub(r"[^0-9a-z]", "", text.lower())


def names(message: str, operator: str, terms: Iterable[str]) -> bool:
    """Whether ``message`` names ``operator`` (its last part will do) and one of ``terms``.

    Spelling is compared squashed, so ``Conv2dTranspose`` and ``output padding`` count.
    """
    said = squash(message)
    return squash(operator.rsplit(".", 1)[-1]) in said and any(
        squash(term) in said for term in terms
    )


def disowns(message: str, operator: str) -> bool:
    """Whether ``message`` says that ``operator``, or some use of it, is not supported."""
    return names(message, operator, ("not supported", "not implemented", "unsupported"))


def portable(message: str) -> str:
    """``message`` with the paths of installed files as they are on any machine."""
    return _INSTALLED.sub("", message)


def headline(message: str) -> str:
    """The line of ``message`` that says most: the last one that is not a traceback's."""
    lines = [
        line.strip()
        for line in message.splitlines()
        if line.strip() and not line.lstrip().startswith(("File ", "Traceback", "Stack trace", "^"))
    ]
    return lines[-1] if lines else ""


def normalise(message: str) -> str:
    """The headline of ``message``, folded: numbers, strings, layouts, dtypes, addresses, paths."""
    line = headline(message)
    line = _ADDRESS.sub("0x…", line)
    line = _PATH.sub(r"\1", line)
    line = _QUOTED.sub("'…'", line)
    line = _LAYOUT.sub("L", line)
    line = _DTYPE.sub("dtype", line)
    line = _NUMBER.sub("#", line)
    return _SHAPE.sub("(#)", line)[:300]

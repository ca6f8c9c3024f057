"""Sets of dtypes in words: "8- and 16-bit integers or bool"."""

from collections.abc import Collection

from relaxcheck.generators.core.program import DTYPES

_GROUPS = (
    ("integers", ("int", "uint"), (8, 16, 32, 64)),
    ("signed integers", ("int",), (8, 16, 32, 64)),
    ("unsigned integers", ("uint",), (8, 16, 32, 64)),
    ("8- to 32-bit integers", ("int", "uint"), (8, 16, 32)),
    ("8- and 16-bit integers", ("int", "uint"), (8, 16)),
    ("32- and 64-bit integers", ("int", "uint"), (32, 64)),
)
"""Groups of dtypes, larger ones first: a name, the kinds and the numbers of bits."""


def dtype_words(dtypes: Collection[str]) -> str:
    """``dtypes`` in words, any of them: groups by their names, the others one by one."""
    left, words = set(dtypes), []
    for name, kinds, widths in _GROUPS:
        group = {f"{kind}{bits}" for kind in kinds for bits in widths}
        if group <= left:
            words.append(name)
            left -= group
    words += [dtype for dtype in DTYPES if dtype in left]
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last

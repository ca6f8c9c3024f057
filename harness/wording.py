"""Numbers, series and foreign text as people read them, with control characters in sight."""

from collections.abc import Sequence
from typing import TypeVar

_NUL, _DELETE, _C1, _DELETE_PICTURE = 0x2400, 0x7F, range(0x80, 0xA0), 0x2421
_REPLACEMENT = 0xFFFD
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)
"""Characters that change the direction of the text around them."""

_KEPT = "\t\n"

_IN_SIGHT = {
    **{code: _NUL + code for code in range(0x20) if chr(code) not in _KEPT},
    _DELETE: _DELETE_PICTURE,
    **dict.fromkeys((*_C1, *_DIRECTIONS), _REPLACEMENT),
}

Text = TypeVar("Text", bound=str)


def plural(count: int, singular: str, several: str = "") -> str:
    """``count`` with its noun: ``1 case``, ``2 cases``."""
    return f"{count:,} {noun(count, singular, several)}"


def noun(count: int, singular: str, several: str = "") -> str:
    """The noun alone: ``case`` for 1, ``cases`` for any other number."""
    return singular if count == 1 else several or f"{singular}s"


def series(texts: Sequence[str]) -> str:
    """``texts`` as one: ``a, b and c``."""
    *others, last = texts or ("",)
    return f"{', '.join(others)} and {last}" if others else last


def outside_of(count: int, size: int) -> str:
    """Elements of an array of ``size`` that are too far off: ``1 of 4 elements outside …``."""
    return f"{count} of {plural(size, 'element')} outside {noun(size, 'its', 'their')} bound"


def in_sight(text: Text) -> Text:
    """``text`` with control characters replaced by pictures of them: ESC by ``␛``.

    Line breaks and tabs stay. A journal, and an error of TVM, may hold sequences that a terminal
    obeys, and marks that change the direction of the text after them.
    """
    # Of a subclass, as jinja's escaped text, the result has the same type.
    return text.translate(_IN_SIGHT)  # type: ignore[return-value]

"""Refusals: the errors by which TVM turns an invalid program down on purpose.

TVM checks a program mostly while it infers types. Such a check raises a ``ValueError`` or
``TypeError``, or fails as ``Check failed: CONDITION is false: WORDS``. Everything else that ends a
compilation is an accident: an assertion about something else, an index out of bounds, an error of
Python's own.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from relaxcheck.harness.outcomes.errors import integers_in, mentions, without_module

_ACCIDENTS = frozenset(
    {
        *("AttributeError", "ImportError", "IndexError", "KeyError", "LookupError", "NameError"),
        *("ModuleNotFoundError", "OSError", "RecursionError", "StopIteration"),
        *("UnboundLocalError", "ZeroDivisionError"),
    }
)
"""Exceptions that no check raises on purpose."""

_PYTHONS_OWN = re.compile(
    r"got an unexpected keyword argument|missing \d+ required|takes \d+ positional argument"
    r"|got multiple values for|unsupported operand type|not supported between instances"
    r"|can't multiply sequence|object is not |object has no |has no len\(\)|cannot be interpreted"
    r"|indices must be integers|is not iterable|cannot unpack|values to unpack|unhashable type"
    r"|invalid literal for|could not convert|not in (?:list|tuple)\b|substring not found"
    r"|iterable argument is empty|arg is an empty sequence|negative shift count|math domain error"
)
"""Words of Python's interpreter in a ``TypeError`` or ``ValueError``."""

_ACCIDENTAL = re.compile(
    r"out of bounds on (?:an )?array|indexing \d+ on|divi(?:de|sion) by zero|unknown intrinsic"
    r"|could not be broadcast together|Mismatched type on argument",
    re.IGNORECASE,
)
"""Words that no check of a program writes: those of containers, arithmetic, and the FFI."""

OF_CPP = re.compile(r"std::|\bbasic_string\b|\bvector::")
"""Words of an exception of the C++ library."""

_CLASS = re.compile(r"^\s*(?:\w+\.)*(\w*(?:Error|Exception))\b:?")
_CONDITION = re.compile(r"Check failed:.*?(?: is false:| vs\. .*?\) ?:|$)", re.MULTILINE)
_OPERATOR = re.compile(r"\b(?:ir\.)?Op\(.*?support_level=\d+\)")
_CALL = re.compile(r"\bR\.[\w.]+\(")
"""The beginning of a call or type as TVM prints it, with all operands and attributes."""

_PLACE = re.compile(r"[\w./-]+\.(?:cc|h|cpp|py):\d+|\bat line \d+")
"""A place in some source, whose number is no size."""

_TYPE_INFERENCE = "emit"
TOO_LATE = frozenset({"codegen", "load", "run"})
"""Stages in which no check of Relax's is left: what fails there is the result of one that lacks."""
DELIBERATE = frozenset({"TypeError", "ValueError"})
"""The exceptions of the checks of Relax's type inference; its assertions are others."""

_CHECKS = DELIBERATE | {"InternalError"}
"""Those of all checks, the C++ ones included."""

_LONG = 2


@dataclass(frozen=True, slots=True)
class Subject:
    """The names and sizes that an error about one invalid program may use.

    ``fault`` are the names of the attribute or dimension at fault, ``parts`` those of all operands
    and attributes of the operator, ``sizes`` the integers among its shapes and attributes;
    ``values`` are the texts of the attribute at fault.
    """

    fault: Sequence[str]
    parts: Sequence[str] = ()
    sizes: frozenset[int] = frozenset()
    values: Sequence[str] = ()

    @property
    def named(self) -> tuple[str, ...]:
        """The ``parts`` whose names are no words of any sentence, such as "a"."""
        return tuple(name for name in self.parts if len(name) >= _LONG)


def own_words(message: str) -> str:
    """``message`` without its class, the condition of a C++ check, and printed calls and types."""
    text = _CLASS.sub("", without_module(message), count=1)
    for shown in (_CONDITION, _OPERATOR, _PLACE):
        text = shown.sub(" ", text)
    return " ".join(_without_calls(text).split())


def _without_calls(text: str) -> str:
    kept, position = [], 0
    for call in _CALL.finditer(text):
        if call.start() >= position:
            kept.append(text[position : call.start()])
            position = _closing(text, call.end())
    return " ".join([*kept, text[position:]])


def _closing(text: str, position: int) -> int:
    """The end of the bracket that is open at ``position``; that of ``text`` if none closes it."""
    depth = 1
    while depth and position < len(text):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
    return position


def is_accident(message: str) -> bool:
    """True if no check raised ``message``: a container, arithmetic, Python or C++'s library did."""
    if raised_class(message) in _ACCIDENTS:
        return True
    if OF_CPP.search(own_words(message)):
        return True
    return any(words.search(message) for words in (_PYTHONS_OWN, _ACCIDENTAL))


def raised_class(message: str) -> str:
    """The class of the exception that ``message`` begins with; "" if it begins with none."""
    raised = _CLASS.match(message)
    return raised[1] if raised else ""


def refuses(message: str, stage: str | None, subject: Subject) -> bool:
    """True if a deliberate check raised ``message`` in ``stage``, and it says what is wrong.

    A ``stage`` of None is one that is early enough.

    Nothing may have run by then. The check's own words must name the attribute or dimension at
    fault, or quote its value; or, in type inference, name any operand or attribute; or, in an
    exception of ``_CHECKS``, name two different sizes of the program; or, in one of
    ``DELIBERATE``, call something invalid and give its numbers. They need not name the operator.
    """
    if stage in TOO_LATE or is_accident(message):
        return False
    kind, words = raised_class(message), own_words(message)
    if len(words.split()) < 2:
        return False
    if mentions(words, subject.fault):
        return True
    if any(f"'{value}'" in words or f'"{value}"' in words for value in subject.values):
        return True
    if kind in DELIBERATE and words.startswith("Invalid ") and integers_in(words):
        return True
    if kind in _CHECKS and len(integers_in(words) & subject.sizes) > 1:
        return True
    inferring = stage == _TYPE_INFERENCE and kind in DELIBERATE
    return inferring and mentions(words, subject.named)

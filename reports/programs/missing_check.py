"""The check that type inference lacks, where it accepts an invalid program: as a clause."""

import re
from collections.abc import Iterator, Mapping

from relaxcheck.generators import families
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Attribute, Case
from relaxcheck.harness.compiling.pipelines import PIPELINES

_CLAUSES: Mapping[str, str] = {
    "-zero": "{} {is} not 0",
    "-negative": "{} {is} not negative",
    "-length": "the length of {} is right",
    "-unknown": "{} {is} a known one",
    "-unknown-letter": "{} has no unknown letter",
    "-repeated-letter": "{} has no letter twice",
    "-repeated": "nothing comes twice in {}",
    "-out-of-range": "{} {is} in range",
    "-too-large": "{} is small enough",
    "-too-few": "there are enough {}",
    "-do-not-divide": "the {} divide evenly",
    "-does-not-divide": "the {} divides evenly",
    "-rank": "the rank of {} is right",
    "-dtype": "the dtype of {} is one that it takes",
    "-differ": "the {} agree",
    "-differs": "the {} fits",
    "batch-beyond-rank": "batch_dims is within the rank",
    "below-zero": "no size is below -1",
    "dtype-int32": "the dtype is one of floating point",
    "integer-dtype": "the dtype is one of floating point",
    "two-open": "one size at most is -1",
    "output-zero": "the output has elements",
    "output-negative": "the size of the output is not negative",
}
"""The check for a kind of fault, by how the kind ends; what comes before stands for ``{}``."""

_ZERO, _NEGATIVE, _RANK_OF = "-zero", "-negative", "rank-of-"


def missing_check(case: Case, expect: Invalid) -> str:
    """The clause: ``dilation is not negative``; of an unknown fault, that its name is valid."""
    kind = _kind(case, expect)
    if kind.startswith(_RANK_OF):
        return f"the rank of {_words(kind.removeprefix(_RANK_OF), expect)} is right"
    for ending in sorted(_CLAUSES, key=len, reverse=True):
        if kind.endswith(ending):
            words = _words(kind.removesuffix(ending), expect)
            several = words.endswith("s") and not words.endswith(("is", "as"))
            return _CLAUSES[ending].format(words, **{"is": "are" if several else "is"})
    return f"its {expect.fault[0]} is valid"


def _words(stem: str, expect: Invalid) -> str:
    """The name of what is at fault: the attribute, else the words of the kind."""
    words = re.sub("[-_]", " ", stem)
    return next((name for name in expect.fault if re.sub("[-_]", " ", name) == words), words)


def _kind(case: Case, expect: Invalid) -> str:
    """The kind of fault of ``case``, empty where several kinds come into question.

    A case names its fault by what an error may call it; kinds that have the same names are told
    apart by the values of the attribute.
    """
    kinds = {
        fault.kind
        for family in families.every(tuple(PIPELINES))
        if family.name == case.family
        for fault in getattr(family, "faults", ())
        if fault.names == expect.fault
    }
    numbers = [number for value in _values(case, expect) for number in _numbers(value)]
    signed = {kind for kind in kinds if kind.endswith((_ZERO, _NEGATIVE))}
    if any(number < 0 for number in numbers):
        return _only({kind for kind in kinds if kind.endswith(_NEGATIVE)})
    if 0 in numbers and signed:
        return _only({kind for kind in kinds if kind.endswith(_ZERO)})
    return _only(kinds - signed)


def _only(kinds: set[str]) -> str:
    return next(iter(kinds)) if len(kinds) == 1 else ""


def _values(case: Case, expect: Invalid) -> Iterator[Attribute]:
    for node in case.program.nodes:
        if node.operator == expect.operator:
            names = (expect.fault[0], f"{expect.fault[0]}s")
            yield from (value for name, value in node.attributes.items() if name in names)


def _numbers(value: Attribute) -> Iterator[int]:
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, int) and not isinstance(each, bool):
            yield each

"""Names of what a case about a KV cache does, for outcomes, signatures and titles."""

from relaxcheck.generators.kvcache.case import ORDINARY, SUBJECT, KvCase
from relaxcheck.generators.kvcache.operations import Forward
from relaxcheck.generators.kvcache.settings import Limits, Model
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

AT = "operation"
"""The key, in the details of a failure, of the number of the operation that shows it."""


COMPARE = "compare"

ATTENTION, POSITIONS, CONTENT, LENGTH, LEAK = (
    *("attention", "query positions", "cached keys and values", "length", "leak"),
)
"""Parts of a cache that may be wrong."""


def stage_of(part: str) -> str:
    """The stage in which ``part`` of a cache is compared: ``compare attention``.

    The part is a symptom, which many causes have, and so no ``Outcome.cause``: that would be taken
    for all that tells findings apart.
    """
    return f"{COMPARE} {part}"


def wrong_part(outcome: Outcome) -> str:
    """The part of the cache that is wrong in ``outcome``; "" if none is."""
    named = (outcome.stage or "").partition(f"{COMPARE} ")[2]
    return named if outcome.verdict is Verdict.WRONG_VALUE else ""


def kind_of(number: int, case: KvCase) -> str:
    """The kind of operation ``number`` in a word or two; below 0 that of the constructor."""
    if number < 0:
        return SUBJECT
    operation = case.operations[number]
    name = type(operation).__name__.lower()
    if isinstance(operation, Forward) and operation.parents is not None:
        return "forward of trees"
    return name


def settings_off(case: KvCase) -> dict[str, str]:
    """The settings of ``case`` that are not the plainest, those of sizes left out."""
    off: dict[str, str] = {}
    for given, plain in ((case.model, Model()), (case.limits, Limits())):
        for name in given.__struct_fields__:
            value = getattr(given, name)
            if value != getattr(plain, name):
                off[name] = str(value)
    if case.regime != ORDINARY:
        off["values"] = case.regime
    return off

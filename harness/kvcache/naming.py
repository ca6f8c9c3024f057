"""Names of what a case about a KV cache does, for outcomes, signatures and titles."""

from relaxcheck.generators.kvcache.case import ORDINARY, SUBJECT, KvCase
from relaxcheck.generators.kvcache.operations import Forward
from relaxcheck.generators.kvcache.settings import Limits, Model

AT = "operation"
"""The key, in the details of a failure, of the number of the operation that shows it."""


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

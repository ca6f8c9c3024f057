"""A case about a paged KV cache: its settings, and the operations on it in order."""

from typing import ClassVar

import msgspec

from relaxcheck.generators.core.case import AnyCase, Data, Expectation, Invalid, Valid, Value
from relaxcheck.generators.kvcache.model import Cache, Refused, Unclear
from relaxcheck.generators.kvcache.operations import Operation, numbers_of, text_of
from relaxcheck.generators.kvcache.settings import MOST, Limits, Model

FORMAT = 6
"""The format number of a case about a KV cache."""

FAMILY = "kvcache"
SUBJECT = "paged_kv_cache"
"""The name of the family, and that of the subject of every case."""

ORDINARY, PEAKED, FAR = "normal", "peaked", "far"
REGIMES = (ORDINARY, PEAKED, FAR)
"""Queries of size 1; such that few keys matter; and such that exponentials of scores underflow."""


class KvCase(Data, AnyCase, frozen=True, kw_only=True, tag_field="format", tag=FORMAT):
    """``operations`` on a cache of ``limits`` for ``model``.

    Queries, keys and values follow from ``seed``, the ``regime`` and the number of the operation.
    All operations are valid, but that the last may be one that the cache has to refuse.
    """

    kind: ClassVar[str] = "kvcache"

    operations: tuple[Operation, ...]
    model: Model = Model()
    limits: Limits = Limits()
    family: str = FAMILY
    at: dict[str, Value] = msgspec.field(default_factory=dict)
    seed: int = 0
    regime: str = ORDINARY
    fixes: bool = False

    def __post_init__(self) -> None:
        if self.regime not in REGIMES:
            raise ValueError(f"regime {self.regime!r} is unknown: {', '.join(REGIMES)}")
        if self.seed < 0:
            raise ValueError(f"seed {self.seed} is negative")
        for operation in self.operations:
            if any(abs(number) > MOST for number in numbers_of(operation)):
                raise ValueError(f"{text_of(operation)} has a number beyond {MOST}")

    @property
    def opt_level(self) -> int:
        """The level of LLVM at which kernels are built: TVM's own."""
        return 0

    @property
    def expect(self) -> Expectation:
        """Invalid where the model of the cache refuses an operation."""
        try:
            replay(self)
        except Refused as refusal:
            return Invalid(operator=SUBJECT, fault=refusal.terms)
        except Unclear:
            pass
        return Valid()


def replay(case: KvCase) -> Cache:
    """The model of the cache after all operations of ``case``.

    Raises:
        Refused: the cache has to refuse an operation; its ``number`` says which.
        Unclear: nothing says what an operation does.
    """
    cache = Cache(case.model, case.limits)
    for number, operation in enumerate(case.operations):
        try:
            cache.apply(operation)
        except (Refused, Unclear) as error:
            error.number = number
            raise
    return cache

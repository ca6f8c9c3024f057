"""The programs that the benchmark runs: the first drawn cases of each kind."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase, Invalid
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import family
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.family import families as models
from relaxcheck.generators.torch.case import EXPORT, TorchCase
from relaxcheck.generators.torch.families import families as programs
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.compiling.pipelines import PIPELINES

_SIMPLE = (
    *("exp", "sqrt", "floor", "logical_not", "clip", "astype"),
    *("add", "multiply", "maximum", "less", "where"),
    *("expand_dims", "flip", "concat", "tile", "repeat"),
    *("take", "gather_elements", "one_hot", "index_tensor"),
)
"""Operators that compute each element alone, that move elements, and that look elements up.

Those are left out of which some calls fail with the fixes on: all contestants run the same cases.
"""
_LONGER = ("softmax", "layer_norm", "matmul", "max_pool2d")
"""Operators that compute each element of many."""

FAMILIES = tuple(
    family(name, tuple(PIPELINES))
    for name in (
        *("conv1d_transpose", "conv2d_transpose", "conv3d_transpose"),
        *("attention", "attention_var_len"),
    )
)
"""The families that cost most a case."""
CHEAP = tuple(family(name, tuple(PIPELINES)) for name in (*_SIMPLE, *_LONGER))
"""Families that cost less, as most do."""
MODELS = models(tuple(PIPELINES))
"""The families of ONNX models of one node."""
EXPORTED = programs(tuple(PIPELINES))
"""The families of PyTorch programs."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Programs of one kind, out of a campaign over ``families``.

    ``target`` is how many times as many cases per core-second the engine is to do as the naive
    loop, None where nothing is promised; ``rate`` how many cases a core-second, 0 where nothing is.
    ``passing``: those of them that pass, where some calls of every family are not supported.
    """

    name: str
    wanted: Callable[[AnyCase], bool]
    target: float | None
    families: tuple[Family, ...] = FAMILIES
    rate: float = 0
    passing: bool = False


def _of(*families: str) -> Callable[[AnyCase], bool]:
    return lambda case: isinstance(case, Case) and case.family in families


def _attention(*, symbolic: bool) -> Callable[[AnyCase], bool]:
    def wanted(case: AnyCase) -> bool:
        own = isinstance(case, Case) and case.family == "attention"
        return own and bool(case.program.symbols) is symbolic

    return wanted


SIMPLE = "elementwise, movement, indexing"

SUBJECTS = (
    Subject(SIMPLE, _of(*_SIMPLE), 3, CHEAP, rate=40),
    Subject("normalization, matmul, pooling", _of(*_LONGER), 3, CHEAP),
    Subject("static attention", _attention(symbolic=False), 3),
    Subject("symbolic attention", _attention(symbolic=True), 3),
    Subject("attention_var_len", _of("attention_var_len"), 3),
    Subject("conv1d_transpose", _of("conv1d_transpose"), 3),
    Subject("conv2d_transpose", _of("conv2d_transpose"), 3),
    Subject("conv3d_transpose", _of("conv3d_transpose"), 3),
    Subject(
        "ONNX models of one node",
        lambda case: isinstance(case, OnnxCase),
        None,
        MODELS,
        rate=25,
        passing=True,
    ),
    # Those that pass were exported when they were chosen, and are kept.
    Subject(
        "PyTorch programs, exported before",
        lambda case: isinstance(case, TorchCase) and case.importing.door == EXPORT,
        None,
        EXPORTED,
        rate=15,
        passing=True,
    ),
)


def drawn(subject: Subject, seed: int) -> Iterator[AnyCase]:
    """The valid cases of ``subject`` that a campaign with ``seed`` draws, without end."""
    valid = (case for case in _all(subject.families, seed) if not isinstance(case.expect, Invalid))
    return filter(subject.wanted, valid)


def invalid(count: int, seed: int) -> list[AnyCase]:
    """The first ``count`` invalid cases that a campaign with ``seed`` draws."""
    return list(
        islice((case for case in _all(FAMILIES, seed) if isinstance(case.expect, Invalid)), count)
    )


def chunks(cases: Sequence[AnyCase], size: int) -> Iterator[Sequence[AnyCase]]:
    """``cases``, ``size`` at a time."""
    for first in range(0, len(cases), size):
        yield cases[first : first + size]


def _all(families: Sequence[Family], seed: int) -> Iterator[AnyCase]:
    # With the fixes, so that nearly all go the whole way.
    for case in stream(families, seed):
        assert isinstance(case, Case | OnnxCase | TorchCase)
        yield msgspec.structs.replace(case, fixes=True)

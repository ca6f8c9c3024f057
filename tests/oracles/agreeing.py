"""One-node programs held against all oracles: what tests of whole groups of operators share."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from relaxcheck.generators.core.fills.kinds import Fill, Random
from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.generators.core.values import Array, arrays, numpy_dtype
from relaxcheck.oracles.answer import Bounded, Unsupported
from relaxcheck.oracles.compare import Comparison, within
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.oracles.programs import one_node

Shape = tuple[int, ...]


def program_of(
    operator: str,
    shapes: Sequence[Shape],
    dtypes: str | Sequence[str] = "float32",
    fills: Sequence[Fill] = (),
    **attributes: object,
) -> Program:
    """The call of ``operator`` on inputs ``x0``, ``x1``, … of ``shapes``."""
    kinds = [dtypes] * len(shapes) if isinstance(dtypes, str) else dtypes
    filled = [*fills, *[Random()] * (len(shapes) - len(fills))]
    inputs = [
        Input(f"x{at}", shape, kind, fill=fill)
        for at, (shape, kind, fill) in enumerate(zip(shapes, kinds, filled, strict=True))
    ]
    return one_node(operator, inputs, **attributes)


def agree(program: Program, regime: str = "normal", seed: int = 0, oracles: int = 2) -> Bounded:
    """The reference of the only output; at least ``oracles`` oracles lie within its bound."""
    values = arrays(Case("drawn", program, regime=regime, seed=seed), 0)
    return agree_on(program, values, oracles)


def agree_on(program: Program, values: dict[str, Array], oracles: int = 2) -> Bounded:
    """As ``agree``, on the given ``values``."""
    (reference,) = evaluate(program, values)
    answered = 0
    for name, oracle in ORACLES.items():
        try:
            (answer,) = oracle(program, values)
        except Unsupported:
            continue
        answered += 1
        assert answer.dtype == numpy_dtype(reference.dtype), name
        assert answer.shape == reference.value.shape, (name, answer.shape)
        compared = within(answer, reference)
        assert compared.ok, _difference(name, compared, answer, reference)
    assert answered >= oracles
    return reference


def _difference(name: str, compared: Comparison, answer: Array, reference: Bounded) -> str:
    assert compared.worst is not None
    actual, wanted = answer[compared.worst], reference.value[compared.worst]
    return f"{name}: {actual} for {wanted} ± {reference.bound[compared.worst]}; {compared}"


_SEEN = {"float16": 0.05, "bfloat16": 0.4, "float32": 1e-3, "float64": 1e-9}


def wrong_is_seen(reference: Bounded) -> None:
    """A small error in any element (absolute below 1, relative above) is outside the bounds."""
    off = np.array(reference.value, np.float64)
    off += _SEEN.get(reference.dtype, 1) * np.maximum(np.abs(off), 1)
    if off.size:
        compared = within(off, replace(reference, dtype="float64"))
        assert compared.outside == off.size, compared

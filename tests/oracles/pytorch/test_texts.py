"""The PyTorch texts of scripts, run: they compute what the reference says."""

from typing import Any

import msgspec
import numpy as np
import pytest

from relaxcheck.generators.core.program import Case, Program
from relaxcheck.generators.core.values import Array, arrays
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.pytorch.evaluate import OPERATORS
from relaxcheck.oracles.pytorch.source import SOURCES, reference_source
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.measure.quality.tests.control_calls import calls

GENERATED_ELSEWHERE = {
    *("nn.attention", "nn.attention_var_len", "matmul"),
    *(f"nn.conv{rank}d_transpose" for rank in (1, 2, 3)),
}
"""Those that programs of ``tests/oracles/programs.py`` and the corpus call."""


def test_most_operators_have_a_text() -> None:
    # Scripts write the results of the others out.
    assert len(SOURCES) > 80
    assert SOURCES.keys() <= OPERATORS.keys()


@pytest.mark.parametrize("operator", sorted(SOURCES.keys() - GENERATED_ELSEWHERE))
def test_a_text_computes_what_the_reference_says(operator: str) -> None:
    written = 0
    for at, program in enumerate(calls(operator)):
        values = arrays(Case("drawn", program, seed=at), 0)
        try:
            (reference,) = evaluate(program, values)
        except ValueError:
            continue
        empty = 0 in reference.value.shape or any(0 in each.shape for each in values.values())
        # A script writes such results out in figures.
        if empty or "bfloat16" in str(program) or len(program.nodes) > 1:
            continue
        lines = _lines(program, values, reference)
        if lines is not None:
            written += 1
            computed = _run(lines, program, values)
            if "int" in reference.dtype:
                # As scripts do: integers wrap around at the end.
                computed = computed.astype(reference.dtype)
            computed = computed.astype(np.float64)
            assert computed.shape == reference.value.shape, lines
            # The text rounds to the dtype nowhere, and its float64 is not the reference's.
            size = np.abs(reference.value.astype(np.float64))
            slack = 1e-12 * np.where(np.isfinite(size), size, 0)
            wide = Bounded(reference.value, reference.bound * 2 + slack, reference.dtype)
            assert within(computed, wide).ok, lines
    assert written or operator == "zeros", "no call has a text"


def _lines(program: Program, values: dict[str, Array], reference: Bounded) -> list[str] | None:
    made = [node.name for node in program.nodes if node.name != "y"]
    before = msgspec.structs.replace(program, outputs=(*made, "y"))
    results = dict(zip(before.outputs, evaluate(before, values), strict=True))
    assert results["y"].dtype == reference.dtype
    names = {name: name for name in (*values, *results)}
    shapes = {name: array.shape for name, array in values.items()}
    dtypes = {tensor.name: tensor.dtype for tensor in program.inputs}
    return reference_source(
        program,
        names,
        {**shapes, **{name: each.value.shape for name, each in results.items()}},
        {**dtypes, **{name: each.dtype for name, each in results.items()}},
    )


def _run(lines: list[str], program: Program, values: dict[str, Array]) -> Array:
    import torch
    from torch.nn import functional

    kinds = {tensor.name: "float" in tensor.dtype for tensor in program.inputs}
    tensors = {
        name: torch.tensor(array.astype(np.float64 if kinds[name] else np.int64))
        for name, array in values.items()
    }
    scope: dict[str, Any] = {**tensors, "torch": torch, "F": functional}
    exec("\n".join(lines), scope)
    result: Array = scope["y"].numpy()
    return result

"""No correct evaluation lies outside its bounds: every operator, dtype, order and regime."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaxcheck.generators.core.program import Case, Program
from relaxcheck.generators.core.values import arrays, numpy_dtype
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.reference.evaluate import Numerics, evaluate
from relaxcheck.oracles.reference.operators import (
    arithmetic,
    attention,
    matmul,
    transposed_convolution,
)
from tests.oracles import in_dtype, programs
from tests.oracles.declared import declared_in
from tests.oracles.evaluations import evaluations

EXAMPLES = settings(max_examples=40, deadline=None)

DRAWN: dict[str, st.SearchStrategy[Program]] = {
    "matmul": programs.matmuls(),
    "nn.attention": programs.attentions(),
    "transposed convolution": programs.canonical_conv_transposes(),
    **{each: programs.elementwise(each) for each in ("add", "multiply", "nn.relu", "permute_dims")},
}

GROUPS = (arithmetic, attention, matmul, transposed_convolution)
"""Modules whose operators are drawn here; those of the others have test files of their own."""

REGIMES = ("normal", "exact", "moderate", "boundary", "special")


def test_every_operator_of_these_modules_is_drawn() -> None:
    convolutions = {f"nn.conv{rank}d_transpose" for rank in (1, 2, 3)}
    drawn = set(DRAWN) - {"transposed convolution"} | convolutions | {"nn.attention_var_len"}
    assert drawn == declared_in(*GROUPS)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("operator", DRAWN)
def test_evaluations_in_the_dtype_and_the_oracles(operator: str, regime: str) -> None:
    @EXAMPLES
    @given(programs.cases(DRAWN[operator], (regime,)))
    def holds(case: Case) -> None:
        values = arrays(case, 0)
        (reference,) = evaluate(case.program, values)
        for route, actual in evaluations(case.program, values):
            assert actual.dtype == numpy_dtype(reference.dtype)
            compared = within(actual, reference)
            assert compared.ok, (route, compared)
        _agree(case)

    holds()


@pytest.mark.parametrize("regime", ["special", "boundary"])
def test_the_oracles_at_every_program(regime: str) -> None:
    @settings(max_examples=100, deadline=None)
    @given(programs.cases(programs.programs(), (regime,)))
    def holds(case: Case) -> None:
        _agree(case)

    holds()


def _agree(case: Case) -> None:
    values = arrays(case, 0)
    references = evaluate(case.program, values)
    for name, oracle in ORACLES.items():
        try:
            answers = oracle(case.program, values)
        except Unsupported:
            continue
        for answer, reference in zip(answers, references, strict=True):
            compared = within(answer, reference)
            assert compared.ok, (name, compared)


@EXAMPLES
@given(programs.cases(programs.attentions(("float32",)), REGIMES))
def test_attention_in_mixed_precision(case: Case) -> None:
    values = arrays(case, 0)
    with np.errstate(over="ignore"):
        half = {name: in_dtype.narrowed(each, "float16") for name, each in values.items()}
    (reference,) = evaluate(case.program, values, Numerics.MIXED_FLOAT16)
    for route, actual in evaluations(case.program, half):
        compared = within(actual.astype(np.float32), reference)
        assert compared.ok, (route, compared)

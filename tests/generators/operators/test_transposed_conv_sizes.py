"""Sizes of transposed convolutions: what a case costs is known, and is kept low."""

import pytest

from relaxcheck.generators.core.axes import complete, point_of
from relaxcheck.generators.core.layouts import logical
from relaxcheck.generators.core.points import integer, text
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import OperatorFamily, draft_of
from relaxcheck.generators.operators.transposed_convolution import sizes
from relaxcheck.generators.operators.transposed_convolution.sizes import ITERATIONS, iterations
from relaxcheck.generators.operators.transposed_convolution.transposed import SPATIAL, name_of
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.generators.drawn import PIPELINES, at_random


@pytest.fixture(params=SPATIAL)
def conv(request: pytest.FixtureRequest) -> OperatorFamily:
    return OperatorFamily(OPERATORS[name_of(request.param)], PIPELINES)


def _letters(conv: OperatorFamily) -> str:
    return next(letters for letters in SPATIAL if name_of(letters) == conv.operator)


def _counted(conv: OperatorFamily, case: Case, at: int) -> int:
    """Each element of the output sums one product for each weight of its channel."""
    point = point_of(conv, case)
    (output,) = evaluate(case.program, arrays(case, at))
    weight = logical(text(point, "kernel_layout"), case.shape("weight", case.bindings[at]))
    weights = weight["I"] // integer(point, "groups")
    for letter in _letters(conv):
        weights *= weight[letter]
    return int(output.value.size) * weights


def test_iterations_are_the_products_that_the_output_sums(conv: OperatorFamily) -> None:
    for seed, point in enumerate(at_random(conv.axes, 25)):
        case = conv.build(point, seed)
        for at, binding in enumerate(case.bindings):
            assert iterations(_letters(conv), point, binding) == _counted(conv, case, at)


def test_bindings_that_take_long_are_left_out(conv: OperatorFamily) -> None:
    full = 0
    for seed, point in enumerate(at_random(conv.axes, 400)):
        case = conv.build(point, seed)
        symbolic = any(value is True for value in point.values())
        assert len(case.bindings) >= (2 if symbolic else 1)
        assert {
            "B": integer(point, "batch"),
            **{letter: integer(point, f"size.{letter.lower()}") for letter in _letters(conv)},
        }.items() >= {
            name: size for name, size in case.bindings[0].items() if name not in "CK"
        }.items()
        spent = sum(iterations(_letters(conv), point, binding) for binding in case.bindings)
        full += len(case.bindings) > 2
        assert spent <= ITERATIONS or len(case.bindings) <= 2
    assert full > 100


def test_bindings_that_take_just_as_long_as_is_allowed_are_kept(
    conv: OperatorFamily, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = complete(conv.axes, {"symbolic.batch": True})
    kept = conv.build(point, 0).bindings
    costs = [iterations(_letters(conv), point, binding) for binding in kept]
    assert len(kept) > 3
    monkeypatch.setattr(sizes, "ITERATIONS", sum(costs))
    assert conv.build(point, 0).bindings == kept
    monkeypatch.setattr(sizes, "ITERATIONS", sum(costs) - 1)
    assert len(conv.build(point, 0).bindings) < len(kept)


def test_padding_shortens_the_output_and_stride_and_dilation_lengthen_it() -> None:
    window = {"kernel": 3, "stride": 2, "dilation": 2, "output_padding": 1}
    padded = {"size": 4, **window, "pad_begin": 1, "pad_end": 2}
    assert sizes.output_extent(*padded.values()) == 3 * 2 - (1 + 2) + 2 * 2 + 1 + 1
    record = OPERATORS[name_of("W")]
    point = complete(record.family_axes, {f"{name}.w": size for name, size in padded.items()})
    (*_, result) = draft_of(record, point).values
    assert result.shape == (2, 3, 9)

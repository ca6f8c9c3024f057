"""Inputs of ordinary magnitudes in the place of those of a case."""

import numpy as np
from msgspec.structs import replace

from relaxcheck.generators.core.fills.kinds import Below, Literal, Positive
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.values import arrays
from relaxcheck.harness.programs.kind import KIND
from relaxcheck.harness.programs.reduction.convincing import (
    MOST_CANDIDATES,
    convincing,
    written_out,
)


def case_of(*inputs: Input, regime: str = "normal") -> Case:
    """One call on ``inputs``, at m = 3 where a shape has it."""
    program = Program(inputs, (Node("y", "toy", tuple(each.name for each in inputs)),), ("y",))
    return Case("toy", program, bindings=(dict.fromkeys(program.symbols, 3),), regime=regime)


X = Input("x", (2,), "float32")


def test_values_written_out_are_decimal_numbers_and_differ() -> None:
    case = case_of(X, Input("z", (1,), "float64"))
    written = [
        [each.fill.values for each in candidate.program.inputs if isinstance(each.fill, Literal)]
        for candidate in written_out(case)
    ]
    assert written[0] == [(0.1, 0.11), (0.12,)]
    assert [(-10, -11), (-12,)] in written
    assert [(0.001, 0.0011), (0.0012,)] in written


def test_nothing_but_floats_changes() -> None:
    held = (
        Input("i", (2,), "int64", fill=Below(4)),
        Input("c", (2,), "float32", constant=True),
        Input("v", (2,), "float32", fill=Positive(0.5)),
    )
    case = replace(case_of(X, *held), opt_level=3)
    candidates = [*convincing(case)]
    assert 0 < len(candidates) <= MOST_CANDIDATES
    for each in candidates:
        assert each.program.inputs[1:] == held
        assert (each.program.nodes, each.opt_level) == (case.program.nodes, case.opt_level)
        made = arrays(each, 0)["x"]
        assert (made.shape, made.dtype) == ((2,), np.float32)
    assert not [*convincing(case_of(*held))]


def test_a_few_draws_reach_large_and_low_values_that_are_not_extreme() -> None:
    drawn = [each for each in convincing(case_of(X)) if each.regime == "moderate"]
    values = [arrays(each, 0)["x"].astype("float64") for each in drawn]
    assert any(4 <= each.max() <= 32 for each in values)
    assert any(-32 <= each.min() <= -4 for each in values)
    assert [*convincing(case_of(X))] == [*convincing(case_of(X))]


def test_inputs_of_any_size_are_drawn() -> None:
    for shape in (("m",), (1000,)):
        candidates = [*convincing(case_of(Input("x", shape, "float32")))]
        assert {each.regime for each in candidates} == {"moderate"}


def test_out_of_doubt_only_unusual_inputs_are_replaced_by_some_to_read() -> None:
    assert not [*KIND.convincing(case_of(X), doubtful=False)]
    unusual = case_of(X, regime="boundary")
    assert [*KIND.convincing(unusual, doubtful=False)] == [*written_out(unusual)]
    assert [*KIND.convincing(unusual, doubtful=True)] == [*convincing(unusual)]
    # Where it runs in several regimes, its checks tell which of them it takes.
    assert not [*convincing(replace(case_of(X), also=("exact",)))]

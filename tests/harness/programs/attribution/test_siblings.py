"""Attribution beyond defaults: inputs that get elements, other dtypes than a blamed one."""

import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.fills.kinds import Below
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.appearance import NAN
from relaxcheck.harness.outcomes.attribution import Aspect
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.reports.programs.attribution_text import attribution_text, settings
from tests.harness.programs.attribution.test_attribution import (
    LEFT,
    PASS,
    REFUSED,
    WRONG,
    attributed,
)


def test_an_input_without_elements_is_given_some() -> None:
    inputs = (Input("x", (2, 0), "float32"), Input("i", (0,), "int64", fill=Below(4)))
    program = Program(inputs, (Node("z", "take", ("x", "i"), {"axis": 0}),), ("z",))

    def comes(tried: Case) -> Outcome:
        if len(tried.program.inputs) == 1:
            return REFUSED
        return LEFT if 0 in tried.program.inputs[1].shape else PASS

    result, tried = attributed(Case("none", program), comes)
    assert settings(result) == ["i of shape (0,)"]
    assert all(each.program.inputs[1].fill == Below(1) for each in tried if comes(each) is PASS)
    innocent = [each.named for each in result.conditions if each.alike]
    assert {(Aspect.SHAPE, "x")} in innocent


@pytest.mark.parametrize(
    ("failing", "words"),
    [
        ({"int8"}, "x in int8"),
        ({"int8", "uint8", "int16", "uint16", "bool"}, "x in 8- and 16-bit integers or bool"),
        ({"int8", "int16", "int32", "int64"}, "x in signed integers"),
    ],
)
def test_a_blamed_dtype_is_named_with_those_that_fail_as_well(
    failing: set[str], words: str
) -> None:
    program = Program((Input("x", (2,), "int8"),), (Node("z", "sort", ("x",)),), ("z",))
    case = Case("none", program)

    def comes(tried: Case) -> Outcome:
        if tried.program.inputs[0].dtype == "float64":
            return REFUSED
        return LEFT if tried.program.inputs[0].dtype in failing else PASS

    result, _ = attributed(case, comes)
    text = attribution_text(result, case, LEFT.stage)
    assert text == f"Fails with {words}; passes with x in float32."


def test_no_sibling_of_a_dtype_is_tried_that_is_not_blamed() -> None:
    program = Program((Input("x", (2,), "int8"),), (Node("z", "sort", ("x",)),), ("z",))
    for comes in (LEFT, Outcome(Verdict.TIMEOUT, "run")):
        result, tried = attributed(Case("none", program), lambda each, comes=comes: comes)  # type: ignore[misc]
        assert not result.siblings
        assert {each.program.inputs[0].dtype for each in tried} == {"int8", "float32"}


def test_an_optional_operand_is_left_out() -> None:
    """With its input, where no other call takes it."""
    inputs = tuple(Input(name, (2,), "float32") for name in ("query", "bias"))
    program = Program(inputs, (Node("z", "nn.attention", ("query", "bias")),), ("z",))
    case = Case("none", program)

    def comes(tried: Case) -> Outcome:
        return WRONG if len(tried.program.inputs) == 2 else PASS

    result, _ = attributed(case, comes)
    assert settings(result) == ["bias"]
    text = attribution_text(result, case, WRONG.stage)
    assert text.startswith("Fails with bias; passes without bias.")
    # That it fails without an operand, too, is no news.
    result, _ = attributed(case, lambda tried: WRONG)
    assert attribution_text(result, case, WRONG.stage) == ""


def test_values_that_are_off_are_not_the_failure_that_gives_nan() -> None:
    node = Node("z", "nn.attention", ("x",), {"causal_mask": "TopLeft"})
    case = Case("none", Program((Input("x", (2,), "float32"),), (node,), ("z",)))
    nan = replace(WRONG, details={NAN: True})

    def comes(tried: Case) -> Outcome:
        return nan if "causal_mask" in tried.program.nodes[0].attributes else WRONG

    result, _ = attributed(case, comes)
    text = attribution_text(result, case, nan.stage, verdict=nan.verdict)
    assert text.startswith(
        'Fails with causal_mask="TopLeft"; gives other wrong values without causal_mask.'
    )


def test_a_blamed_word_is_named_with_those_that_fail_as_well() -> None:
    size = {"size": ShapeValue((2, 2))}
    words = {"coordinate_transformation_mode": "align_corners"}
    inputs = (Input("x", (1, 1, 1, 1), "float32"),)
    program = Program(inputs, (Node("y", "image.resize2d", ("x",), {**size, **words}),), ("y",))

    def comes(tried: Case) -> Outcome:
        mode = tried.program.nodes[0].attributes.get("coordinate_transformation_mode")
        return LEFT if mode in ("align_corners", "asymmetric") else PASS

    case = Case("none", program)
    result, _ = attributed(case, comes, family("resize2d", tuple(PIPELINES)))
    words_of = 'coordinate_transformation_mode="align_corners" or "asymmetric"'
    text = attribution_text(result, case, LEFT.stage)
    assert text == f"Fails with {words_of}; passes without coordinate_transformation_mode."

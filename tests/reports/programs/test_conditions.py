"""Conditions of a failure in its title: shapes, expressions, values of inputs."""

import msgspec

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.families import family
from relaxcheck.harness.outcomes.attribution import Aspect, Attribution, Condition, Difference
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.pipelines import PIPELINES
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.reports.programs.titles import title_text

WRONG = Outcome(Verdict.WRONG_VALUE, "compare")


def test_a_title_names_an_expression_and_not_its_symbol() -> None:
    inputs = (Input("x", ("n", "1*n"), "float32"),)
    case = Case("toy", Program(inputs, (Node("z", "exp", ("x",)),), ("z",)), ({"n": 2},))
    repro = reproduction(
        case, Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", message="no, it does not")
    )
    symbol = Difference(Aspect.SYMBOL, "n", True, None)
    written = Difference(Aspect.DIMENSION, "n", "1*n", "n")
    cured = tuple(Condition((each,), (Verdict.PASS,), 0) for each in (symbol, written))
    title = title_text(repro, Attribution(1, 1, cured))
    assert title.endswith(" in LegalizeOps (a dimension written 1*n)")
    assert title_text(repro, Attribution(1, 1, cured[:1])).endswith(" (symbolic n)")


def test_the_words_of_an_axis_may_have_the_shapes_of_the_inputs() -> None:
    member = family("scatter_elements", tuple(PIPELINES))
    case = member.build(complete(member.axes, {"others": "fewer"}), 0)
    assert isinstance(case, Case)
    repro = reproduction(case, WRONG)
    title = title_text(repro, None, {"others": "fewer"})
    data, indices, _ = (tensor.shape for tensor in case.program.inputs)
    assert data != indices
    assert title.endswith(f" (indices of shape {indices} into data of shape {data})")
    # A reduction may take away inputs that the words speak of.
    first = msgspec.structs.replace(
        case.program,
        inputs=case.program.inputs[:1],
        nodes=(Node("y", "exp", ("x0",)),),
        outputs=("y",),
    )
    alone = msgspec.structs.replace(case, program=first)
    title = title_text(reproduction(alone, WRONG), None, {"others": "fewer"})
    assert "indices" not in title


def test_a_title_says_that_integers_are_at_their_limits() -> None:
    inputs = (Input("x", (40,), "int32"),)
    case = Case("argmax", Program(inputs, (Node("z", "argmax", ("x",)),), ("z",)), regime="special")
    assert title_text(reproduction(case, WRONG), None).endswith(" (inputs at the limits of int32)")


def test_a_title_names_an_input_without_elements_where_that_matters() -> None:
    inputs = (Input("x", (2, 0), "float32"), Input("y", (0,), "float32"))
    case = Case("toy", Program(inputs, (Node("z", "add", ("x", "y")),), ("z",)))
    repro = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen", message="no"))
    x = Difference(Aspect.SHAPE, "x", "(2, 0)", "(2, 2)")
    y = Difference(Aspect.SHAPE, "y", "(0,)", "(2,)")
    cured, same = Condition((y,), (Verdict.PASS,), 0), Condition((x,), (Verdict.OPAQUE_CRASH,), 1)
    assert title_text(repro, Attribution(1, 1, (cured,))).endswith(" (empty y)")
    assert title_text(repro, Attribution(1, 1, (same,))).endswith(" (empty y)")
    assert title_text(repro, None).endswith(" (x of shape (2, 0), empty y)")
    # With elements in one of them alone it fails as well.
    both = Condition((x, y), (Verdict.PASS,), 0)
    assert title_text(repro, Attribution(1, 1, (both,))).endswith(
        " (x of shape (2, 0) and empty y)"
    )

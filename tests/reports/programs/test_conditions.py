"""Conditions of a failure in its title: shapes, expressions, values of inputs."""

import msgspec
import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.fills.kinds import Literal, Random
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.attribution import Aspect, Attribution, Condition, Difference
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.reports.programs.attribution_text import attribution_text
from relaxcheck.reports.programs.conditions import with_inputs
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
    assert title_text(repro, Attribution(1, 1, cured[:1])).endswith(" (input of shape (n, 1*n))")


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


def test_a_title_names_a_pipeline_that_is_not_tvms() -> None:
    program = Program((Input("x", (4,), "float32"),), (Node("z", "exp", ("x",)),), ("z",))
    repro = reproduction(Case("exp", program, pipeline="mine:passes"), WRONG)
    assert title_text(repro, None, {"pipeline": "mine:passes"}).endswith(" (mine:passes)")


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


def test_the_shapes_that_a_campaign_blames_go_with_an_axis() -> None:
    member = family("scatter_elements", tuple(PIPELINES))
    case = member.build(complete(member.axes, {"others": "fewer"}), 0)
    assert isinstance(case, Case)
    axis = Condition((Difference(Aspect.ATTRIBUTE, "axis", -1, 1),), (Verdict.PASS,), 0)
    title = title_text(reproduction(case, WRONG), Attribution(1, 1, (axis,)), {"others": "fewer"})
    assert " (axis=-1, indices of shape " in title
    # Not with other settings, which are enough.
    other = Condition((Difference(Aspect.ATTRIBUTE, "mode", "a", None),), (Verdict.PASS,), 0)
    repro = reproduction(case, WRONG)
    title = title_text(repro, Attribution(1, 1, (axis, other)), {"others": "fewer"})
    assert "indices of shape" not in title


@pytest.mark.parametrize(
    ("kind", "value", "mildest", "passing", "words"),
    [
        ("low", -12.0, -2.76, -0.12, "as low as -12; passes with inputs down to -0.12 "),
        ("large", 116.5, 96.1, 1.17, "as large as 116; passes with inputs up to 1.17 "),
        ("small", 1.4e-6, 0.0477, 0.142, "as small as 1.4e-06; passes with inputs no closer"),
    ],
)
def test_magnitudes_are_those_of_the_script(
    kind: str, value: float, mildest: float, passing: float, words: str
) -> None:
    inputs = (Input("x", (2,), "float64", fill=Literal((value, 1.0))),)
    case = Case("toy", Program(inputs, (Node("z", "exp", ("x",)),), ("z",)))
    repro = reproduction(case, WRONG)
    known = Condition((Difference(Aspect.VALUES, kind, mildest, passing),), (Verdict.PASS,), 0)
    attribution = Attribution(1, 1, (known,))
    assert title_text(repro, attribution).endswith(f" (inputs {words.partition(';')[0]})")
    text = attribution_text(with_inputs(attribution, repro), case, WRONG.stage)
    assert text.startswith(f"Fails with inputs {words}")
    assert f" (of those tried, {mildest} is the mildest that fails)." in text
    # Where the script has the mildest, nothing more is there to say.
    same = Condition((Difference(Aspect.VALUES, kind, value, passing),), (Verdict.PASS,), 0)
    text = attribution_text(with_inputs(Attribution(1, 1, (same,)), repro), case, WRONG.stage)
    assert "mildest" not in text


def test_a_symbol_is_named_by_the_shapes_that_have_it() -> None:
    error = Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", message="no, it does not")
    symbol = Difference(Aspect.SYMBOL, "m", True, None)
    attribution = Attribution(1, 1, (Condition((symbol,), (Verdict.PASS,), 0),))

    def words(*shapes: tuple[int | str, ...], calls: int = 1) -> str:
        inputs = tuple(Input(f"x{at}", shape, "float32") for at, shape in enumerate(shapes))
        nodes = [Node("y0", "add", tuple(tensor.name for tensor in inputs))]
        nodes += [Node(f"y{at}", "exp", (f"y{at - 1}",)) for at in range(1, calls)]
        program = Program(inputs, tuple(nodes), (nodes[-1].name,))
        case = Case("toy", program, ({"m": 2},))
        return title_text(reproduction(case, error), attribution).partition(" in LegalizeOps ")[2]

    assert words((3, "m")) == "(input of shape (3, m))"
    assert words((1,), (3, "m")) == "(x1 of shape (3, m))"
    assert words((1, "m"), ("2*m", 3)) == "(x0 of shape (1, m) and x1 of shape (2*m, 3))"
    assert words((1, "m"), ("m",), ("m",)) == "(symbolic m)"
    assert words(("m",)) == "(symbolic m)"
    assert words((3, "m"), (1,), calls=2) == "(symbolic m)"


def test_other_inputs_that_pass_are_named_with_the_kind_of_their_numbers() -> None:
    for fill, kind in ((Literal((0.1,)), " (multiples of 1/2048 from -2 to 2)"), (Random(), "")):
        inputs = (Input("x", (1,), "float64", fill=fill),)
        case = Case("toy", Program(inputs, (Node("z", "exp", ("x",)),), ("z",)))
        text = attribution_text(Attribution(3, 1), case, WRONG.stage)
        assert text == f"With other drawn inputs{kind} it failed in 0 of 2 tries."
        assert attribution_text(Attribution(3, 3), case, WRONG.stage) == ""
        assert attribution_text(Attribution(2, 1), case, "LegalizeOps") == ""

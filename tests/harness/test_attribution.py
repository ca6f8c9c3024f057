"""What a failure is blamed on, with failures that are known and nothing compiled."""

from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace

from generators.axes import complete
from generators.families import family
from generators.program import Case, Input, Invalid, Literal, Node, Program, Random
from harness.attribution import Attribution, Condition, Difference, What, attribute, differences
from harness.outcome import Outcome, Reference, Verdict
from harness.pipelines import PIPELINES
from harness.reduction.search import defaults_of
from reports.attribution_text import attribution_text, innocent_operators, settings_text

MEMBER = family("conv2d_transpose", tuple(PIPELINES))
DEFAULTS = defaults_of([MEMBER])
PASS = Outcome(Verdict.PASS)
WRONG = Outcome(Verdict.WRONG_VALUE, "compare")
LEFT = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.conv2d_transpose")
REFUSED = Outcome(Verdict.HARNESS_ERROR, "oracle", reference=Reference("invalid"))
Comes = Callable[[Case], Outcome]


def attributed(case: Case, comes: Comes) -> tuple[Attribution, list[Case]]:
    """What is blamed where ``comes`` says what comes of a case; and the cases tried."""
    tried: list[Case] = []
    trials = attribute(case, comes(case), MEMBER, DEFAULTS)
    try:
        tried.append(next(trials))
        while True:
            tried.append(trials.send(comes(tried[-1])))
    except StopIteration as end:
        result: Attribution = end.value
        return result, tried


def at(case: Case, name: str) -> object:
    return case.program.nodes[0].attributes.get(name)


def drawn(**axes: object) -> Case:
    return MEMBER.build(complete(MEMBER.axes, axes), 3)  # type: ignore[arg-type]


def test_what_cures_it_alone_is_blamed_and_what_does_not_is_not() -> None:
    case = drawn(data_layout="NHWC", groups=2, **{"symbolic.batch": True})

    def comes(tried: Case) -> Outcome:
        return LEFT if at(tried, "data_layout") == "NHWC" and at(tried, "groups") == 2 else PASS

    found, tried = attributed(case, comes)
    assert settings_text(found) == 'groups=2, data_layout="NHWC"'
    assert {one.axis for one in found.blamed} == {"data_layout", "groups"}
    innocent = [one for one in found.conditions if not one.holds]
    assert What.SYMBOL in [one.differences[0].what for one in innocent]
    said = attribution_text(found, case, LEFT.stage)
    assert 'it takes groups=2, data_layout="NHWC"' in said
    assert "with B static" in said.partition("It fails all the same ")[2]
    # It fails before there are any inputs.
    assert "input" not in said
    # It never ran, but a second draw could still have been another constant.
    assert {one.seed for one in tried} == {3, 4}
    assert (found.drawn, found.failed) == (2, 2)


def test_one_draw_that_is_right_by_coincidence_blames_nothing() -> None:
    case = drawn(groups=2, **{"kernel.h": 3})

    def comes(tried: Case) -> Outcome:
        # The groups have nothing to do with it; with one seed of three it comes out right.
        return PASS if at(tried, "groups") != 2 and tried.seed == 3 else WRONG

    found, _ = attributed(case, comes)
    groups = next(one for one in found.conditions if one.axis == "groups")
    assert (groups.verdicts[0], groups.alike, len(groups.verdicts)) == (Verdict.PASS, 2, 3)
    assert not groups.holds
    assert "groups" not in settings_text(found)
    assert "(2 of 3 inputs)" in attribution_text(found, case, WRONG.stage)


def test_only_draws_that_fail_are_tried_further() -> None:
    case = drawn(groups=2)

    def comes(tried: Case) -> Outcome:
        return WRONG if tried.seed != 4 and at(tried, "groups") == 2 else PASS

    found, _ = attributed(case, comes)
    assert (found.drawn, found.failed) == (3, 2)
    assert all(len(one.verdicts) == 2 for one in found.conditions)
    said = attribution_text(found, case, WRONG.stage)
    assert "with 2 of the 3 inputs that were tried" in said


def test_what_is_no_valid_program_is_put_back_in_another_way() -> None:
    case = drawn(data_layout="NHWC")
    shape = case.program.inputs[0].shape

    def comes(tried: Case) -> Outcome:
        if at(tried, "data_layout") != "NHWC" and tried.program.inputs[0].shape == shape:
            return REFUSED
        return LEFT if at(tried, "data_layout") == "NHWC" else PASS

    found, tried = attributed(case, comes)
    assert settings_text(found) == 'data_layout="NHWC"'
    assert any(at(one, "data_layout") is None for one in tried)
    nothing, _ = attributed(case, lambda one: LEFT if one.program == case.program else REFUSED)
    assert nothing.conditions == ()
    assert attribution_text(nothing, case, LEFT.stage) == ""


@pytest.mark.parametrize("verdict", [Verdict.ORACLE_SPLIT, Verdict.NO_ORACLE])
def test_what_says_nothing_about_tvm_cures_nothing(verdict: Verdict) -> None:
    case = drawn(groups=2)
    silent = Outcome(verdict, "compare")
    found, _ = attributed(case, lambda one: WRONG if at(one, "groups") == 2 else silent)
    assert found.failed == 3
    assert "groups" not in settings_text(found)


def test_values_that_were_written_out_are_drawn_again() -> None:
    inputs = tuple(Input(name, (1,), "float16", fill=Literal((1,))) for name in "xy")
    program = Program(inputs, (Node("z", "add", ("x", "y")),), ("z",))
    _, tried = attributed(Case("none", program), lambda one: WRONG)
    fills = {type(given.fill) for one in tried[:2] for given in one.program.inputs}
    assert fills == {Random}


def test_of_an_invalid_program_nothing_is_put_back() -> None:
    case = msgspec.structs.replace(drawn(groups=2), expect=Invalid("nn.conv2d_transpose", ("x",)))
    found, _ = attributed(case, lambda one: Outcome(Verdict.ACCEPTS_INVALID, "run"))
    assert found.conditions == ()


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ({"pipeline": "mixed-precision"}, "ToMixedPrecision"),
        ({"pipeline": "default-pipeline"}, "relax.get_default_pipeline"),
        ({"exec_mode": "compiled"}, 'exec_mode="compiled"'),
        ({"opt_level": 3}, "LLVM's opt-level 3"),
        ({"regime": "special"}, "inputs with NaN, infinities and the like"),
        ({"symbolic.batch": True}, "symbolic B"),
        ({"result": "relu"}, "together with nn.relu"),
    ],
)
def test_differences_are_told_in_tvm_s_words(axes: dict[str, object], said: str) -> None:
    found = differences(drawn(**axes), drawn())
    verdicts = (Verdict.PASS,)
    assert settings_text(Attribution(1, 1, (Condition(found, verdicts, 0),))) == said


def test_dtypes_that_are_alike_are_told_together() -> None:
    found = differences(drawn(dtype="float16"), drawn())
    blamed = Attribution(1, 1, (Condition(found, (Verdict.PASS,), 0),))
    assert settings_text(blamed) == "data, weight in float16"


def test_what_is_written_out_at_tvm_s_default_goes_without_saying() -> None:
    case = drawn()
    alike = (Difference(What.ATTRIBUTE, "groups", 1, None),)
    found = Attribution(2, 2, (Condition(alike, (Verdict.WRONG_VALUE,) * 2, 2),))
    assert "groups" not in attribution_text(found, case, WRONG.stage)
    off = (Difference(What.ATTRIBUTE, "groups", 2, None),)
    found = Attribution(2, 2, (Condition(off, (Verdict.WRONG_VALUE,) * 2, 2),))
    said = attribution_text(found, drawn(groups=2), WRONG.stage)
    assert "all the same with no groups." in said


def test_shapes_are_told_where_nothing_else_differs() -> None:
    one, other = (
        Case("none", Program((Input("x", (size,), "float32"),), (), ("x",))) for size in (3, 1)
    )
    assert differences(one, other) == (Difference(What.SHAPE, "x", "(3,)", "(1,)"),)
    assert differences(one, one) == ()


def test_what_fails_otherwise_is_not_said_to_pass() -> None:
    case = drawn(groups=2)
    crash = Outcome(Verdict.OPAQUE_CRASH, "codegen", message="it broke")
    found, _ = attributed(case, lambda one: LEFT if at(one, "groups") == 2 else crash)
    said = attribution_text(found, case, LEFT.stage)
    assert "groups it does not fail in this way, but raises an error that does not say" in said
    assert "it passes" not in said
    assert not any(verdict in said for verdict in Verdict if "-" in verdict)


@pytest.mark.parametrize("limit", [Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY])
def test_what_a_limit_cuts_short_is_neither_cured_nor_innocent(limit: Verdict) -> None:
    case = drawn(groups=2, data_layout="NHWC")

    def comes(tried: Case) -> Outcome:
        if at(tried, "groups") != 2:
            return Outcome(limit, "run", None, "too much of it")
        return WRONG if at(tried, "data_layout") == "NHWC" and tried.seed != 5 else PASS

    found, _ = attributed(case, comes)
    assert settings_text(found) == 'data_layout="NHWC"'
    groups = next(one for one in found.conditions if one.axis == "groups")
    assert (groups.undecided, groups.holds, groups.known) == (2, False, False)
    said = attribution_text(found, case, WRONG.stage)
    unknown = said.partition("It cannot be told whether it takes the rest: ")[2]
    assert unknown.startswith("with no groups it ")
    assert "all the same with no groups" not in said
    # Where it is the failure itself, it is no other one.
    late = Outcome(limit, "run", None, "too much of it")
    found, _ = attributed(case, lambda one: late if at(one, "groups") == 2 else PASS)
    assert settings_text(found) == "groups=2"


def test_a_draw_that_a_limit_cuts_short_is_none() -> None:
    def comes(tried: Case) -> Outcome:
        return Outcome(Verdict.TIMEOUT, "run") if tried.seed == 4 else WRONG

    found, _ = attributed(drawn(groups=2), comes)
    assert (found.drawn, found.failed) == (2, 2)


GROUPS = Difference(What.ATTRIBUTE, "groups", 2, None)
DTYPE = Difference(What.DTYPE, "data", "int8", "float32")
CURED, SAME = (Verdict.PASS,), (Verdict.WRONG_VALUE,)


def test_what_alone_does_not_matter_is_not_what_it_takes() -> None:
    both, alone = Condition((GROUPS, DTYPE), CURED, 0), Condition((GROUPS,), SAME, 1)
    assert settings_text(Attribution(1, 1, (both,))) == "groups=2 and data in int8"
    assert settings_text(Attribution(1, 1, (both, alone))) == "data in int8"
    # What one of them does alone, both of them say no more of.
    enough = Condition((DTYPE,), CURED, 0)
    assert Attribution(1, 1, (both, enough)).blamed == (enough,)


def test_every_operator_is_left_out_once() -> None:
    inputs = tuple(Input(name, (2,), "float32") for name in "xy")
    nodes = (Node("a", "add", ("x", "y")), Node("m", "multiply", ("a", "y")))
    case = Case("none", Program((*inputs,), (*nodes, Node("z", "nn.relu", ("m",))), ("z",)))

    def comes(tried: Case) -> Outcome:
        names = [node.operator for node in tried.program.nodes]
        return WRONG if {"add", "nn.relu"} <= set(names) else PASS

    found, _ = attributed(case, comes)
    assert settings_text(found) == "together with add, together with nn.relu"
    assert innocent_operators(found, case) == {"multiply"}


def test_an_operator_without_which_it_fails_all_the_same_is_not_at_fault() -> None:
    case = drawn(result="relu")
    relu = Difference(What.NODE, "nn.relu", True, None)
    other = Difference(What.NODE, "nn.conv2d_transpose", True, None)
    found = Attribution(1, 1, (Condition((relu,), SAME, 1), Condition((other,), CURED, 0)))
    assert innocent_operators(found, case) == {"nn.relu"}
    assert innocent_operators(None, case) == frozenset()
    program = case.program
    twice = replace(program.nodes[1], name="again")
    several = replace(case, program=replace(program, nodes=(*program.nodes, twice)))
    assert innocent_operators(found, several) == frozenset()

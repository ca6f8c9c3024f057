"""Attribution of failures that are known, with nothing compiled."""

from collections.abc import Callable

import msgspec
import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.axes import ProgramFamily, complete
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.fills.kinds import Literal, Random
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.attribution import Aspect, Attribution, Condition, Difference
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Reference, Verdict
from relaxcheck.harness.programs.attribution.attribute import attribute
from relaxcheck.harness.programs.attribution.differences import differences
from relaxcheck.harness.programs.reduction.simplicity import defaults_of
from relaxcheck.reports.programs.attribution_text import (
    attribution_text,
    innocent_operators,
    settings,
)

MEMBER = family("conv2d_transpose", tuple(PIPELINES))
DEFAULTS = defaults_of([MEMBER])
PASS = Outcome(Verdict.PASS)
WRONG = Outcome(Verdict.WRONG_VALUE, "compare")
LEFT = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "nn.conv2d_transpose")
REFUSED = Outcome(Verdict.HARNESS_ERROR, "oracle", reference=Reference("invalid"))
Comes = Callable[[Case], Outcome]


def attributed(
    case: Case, comes: Comes, member: ProgramFamily = MEMBER
) -> tuple[Attribution, list[Case]]:
    """The attribution where ``comes`` gives the outcome of a case; and the cases tried."""
    tried: list[Case] = []
    defaults = DEFAULTS if member is MEMBER else defaults_of([member])
    trials = attribute(case, comes(case), member, defaults)
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


def test_settings_are_blamed_only_if_they_cure_it_alone() -> None:
    case = drawn(data_layout="NHWC", groups=2, **{"symbolic.batch": True})

    def comes(tried: Case) -> Outcome:
        return LEFT if at(tried, "data_layout") == "NHWC" and at(tried, "groups") == 2 else PASS

    result, tried = attributed(case, comes)
    assert ", ".join(settings(result)) == 'groups=2, data_layout="NHWC"'
    assert {condition.axis for condition in result.blamed} == {"data_layout", "groups"}
    innocent = [condition for condition in result.conditions if not condition.holds]
    assert Aspect.SYMBOL in [each.differences[0].what for each in innocent]
    text = attribution_text(result, case, LEFT.stage)
    assert text.startswith('Fails with groups=2 and data_layout="NHWC"; passes ')
    assert "with B static" in text.partition("Also fails ")[2]
    # It fails before there are any inputs.
    assert "input" not in text
    # It never ran, but a second draw could still have been another constant.
    assert {each.seed for each in tried} == {3, 4}
    assert (result.drawn, result.failed) == (2, 2)


def test_one_draw_that_is_right_by_coincidence_blames_nothing() -> None:
    case = drawn(groups=2, **{"kernel.h": 3})

    def comes(tried: Case) -> Outcome:
        # The groups have nothing to do with it; with one seed of three it comes out right.
        return PASS if at(tried, "groups") != 2 and tried.seed == 3 else WRONG

    result, _ = attributed(case, comes)
    groups = next(condition for condition in result.conditions if condition.axis == "groups")
    assert (groups.verdicts[0], groups.alike, len(groups.verdicts)) == (Verdict.PASS, 2, 3)
    assert not groups.holds
    assert "groups" not in ", ".join(settings(result))
    assert "without groups (with 2 of the 3 draws)." in attribution_text(result, case, WRONG.stage)


def test_a_setting_that_moves_the_failure_to_other_magnitudes_is_not_to_blame() -> None:
    case = drawn(groups=2)

    def comes(tried: Case) -> Outcome:
        return WRONG if at(tried, "groups") == 2 or tried.regime == "moderate" else PASS

    result, _ = attributed(case, comes)
    groups = next(condition for condition in result.conditions if condition.axis == "groups")
    assert (groups.verdicts[:3], groups.alike) == ((Verdict.PASS,) * 3, 1)
    assert not groups.holds


def test_only_draws_that_fail_are_tried_further() -> None:
    case = drawn(groups=2)

    def comes(tried: Case) -> Outcome:
        return WRONG if tried.seed != 4 and at(tried, "groups") == 2 else PASS

    result, _ = attributed(case, comes)
    assert (result.drawn, result.failed) == (3, 2)
    # One that passes with these may be right by chance: it is tried with more draws.
    counts = {len(condition.verdicts): condition.holds for condition in result.conditions}
    assert counts == {2: False, 14: True}
    text = attribution_text(result, case, WRONG.stage)
    assert text.startswith("With other drawn inputs it failed in 1 of 2 tries. ")
    tries = "Changes were tried with 14 draws of the inputs; with others it may fail too."
    assert text.endswith(tries)


def test_an_invalid_program_is_repaired_in_another_way() -> None:
    case = drawn(data_layout="NHWC")
    shape = case.program.inputs[0].shape

    def comes(tried: Case) -> Outcome:
        if at(tried, "data_layout") != "NHWC" and tried.program.inputs[0].shape == shape:
            return REFUSED
        return LEFT if at(tried, "data_layout") == "NHWC" else PASS

    result, tried = attributed(case, comes)
    assert ", ".join(settings(result)) == 'data_layout="NHWC"'
    assert any(at(trial, "data_layout") is None for trial in tried)
    nothing, _ = attributed(case, lambda trial: LEFT if trial.program == case.program else REFUSED)
    assert nothing.conditions == ()
    assert attribution_text(nothing, case, LEFT.stage) == ""


@pytest.mark.parametrize("verdict", [Verdict.ORACLE_SPLIT, Verdict.NO_ORACLE])
def test_inconclusive_outcomes_cure_nothing(verdict: Verdict) -> None:
    case = drawn(groups=2)
    silent = Outcome(verdict, "compare")
    result, _ = attributed(case, lambda trial: WRONG if at(trial, "groups") == 2 else silent)
    assert result.failed == 3
    assert "groups" not in ", ".join(settings(result))


def test_values_that_were_written_out_are_drawn_again() -> None:
    inputs = tuple(Input(name, (1,), "float16", fill=Literal((1,))) for name in "xy")
    program = Program(inputs, (Node("z", "add", ("x", "y")),), ("z",))
    _, tried = attributed(Case("none", program), lambda trial: WRONG)
    fills = {type(tensor.fill) for trial in tried[:2] for tensor in trial.program.inputs}
    assert fills == {Random}


def test_no_attribute_is_left_out_that_a_call_has_to_have() -> None:
    attributes = {"function": "backwards", "of": ShapeValue((3,)), "shape": ShapeValue((3,))}
    node = Node("y", "call_tir", ("x",), {**attributes, "dtype": "float32"})
    program = Program((Input("x", (3,), "float32"),), (node,), ("y",))
    trials = attribute(Case("none", program), WRONG, None, {"call_tir": {"function": "opposite"}})
    tried = [next(trials)]
    while True:
        try:
            tried.append(trials.send(WRONG))
        except StopIteration:
            break
    functions = {at(case, "function") for case in tried}
    assert functions == {"backwards", "opposite"}
    assert all(set(case.program.nodes[0].attributes) == set(node.attributes) for case in tried)
    assert all(at(case, "of") == ShapeValue((3,)) for case in tried)


def test_that_it_does_not_fail_without_its_operator_goes_without_saying() -> None:
    gone = [Difference(Aspect.NODE, name, True, None) for name in ("nn.relu", "exp")]
    conditions = tuple(Condition((node,), (Verdict.PASS,), 0) for node in gone)
    case = drawn()

    def text(*about: str) -> str:
        return attribution_text(Attribution(1, 1, conditions), case, LEFT.stage, about)

    assert text() == (
        "Fails together with nn.relu and exp; passes without nn.relu, or without exp."
    )
    assert text("exp") == "Fails together with nn.relu; passes without nn.relu."
    assert text("exp", "nn.relu") == ""
    # Of several calls of its operator one may not matter.
    alike = (Condition((gone[0],), (Verdict.SILENT_BAIL,), 1),)
    assert attribution_text(Attribution(1, 1, alike), case, LEFT.stage, ("nn.relu",)) == ""


def test_a_shape_that_follows_from_a_symbol_is_not_listed() -> None:
    shape = Difference(Aspect.ATTRIBUTE, "shape", ShapeValue(("m",)), ShapeValue((1,)))
    symbol = Difference(Aspect.SYMBOL, "m", True, None)
    both = Condition((shape, symbol), (Verdict.PASS,), 0)
    assert settings(Attribution(1, 1, (both,))) == ["symbolic m"]
    alone = Condition((shape,), (Verdict.PASS,), 0)
    assert settings(Attribution(1, 1, (alone,))) == ["shape=relax.ShapeExpr([m])"]


def test_sizes_that_do_not_matter_are_not_listed() -> None:
    shape = Difference(Aspect.SHAPE, "data", "(1, 2)", "(3, 4)")
    alike = Condition((shape,), (Verdict.SILENT_BAIL,), 1)
    assert attribution_text(Attribution(1, 1, (alike,)), drawn(), LEFT.stage) == ""
    cured = Condition((shape,), (Verdict.PASS,), 0)
    text = attribution_text(Attribution(1, 1, (cured,)), drawn(), LEFT.stage)
    assert text.startswith("Fails with data of shape (1, 2)")


def test_pipelines_that_a_maintainer_cannot_tell_apart_are_not_compared() -> None:
    def text(was: str, to: str) -> str:
        pipeline = Difference(Aspect.SETTING, "pipeline", was, to)
        conditions = (Condition((pipeline,), (Verdict.WRONG_VALUE,), 1),)
        return attribution_text(Attribution(1, 1, conditions), drawn(), WRONG.stage)

    assert text("mixed-precision", "build") == "Also fails with relax.build alone."
    # Without the fixes both are relax.build.
    assert text("fixes-build", "build") == ""


def test_a_symbol_gets_the_size_and_the_inputs_that_it_fails_with() -> None:
    """Not those of the first binding: with these the symbolic program passes, too."""
    program = Program((Input("x", ("m",), "float32"),), (Node("y", "exp", ("x",)),), ("y",))
    case = Case("exp", program, ({"m": 1}, {"m": 2}), seed=4)
    failing = arrays(case, 1)["x"].tolist()

    def comes(tried: Case) -> Outcome:
        checks = tuple(
            Check(binding, "y", 2.0 if arrays(tried, at)["x"].tolist() == failing else 0.5, ())
            for at, binding in enumerate(tried.bindings)
        )
        wrong = any((check.ratio or 0) > 1 for check in checks)
        return replace(WRONG if wrong else PASS, checks=checks)

    result, tried = attributed(case, comes)
    (condition,) = result.conditions
    assert (condition.differences[0].what, condition.alike) == (Aspect.SYMBOL, 1)
    assert tried[-1].program.inputs[0].shape == (2,)


def test_of_an_invalid_program_nothing_is_put_back() -> None:
    case = msgspec.structs.replace(drawn(groups=2), expect=Invalid("nn.conv2d_transpose", ("x",)))
    result, _ = attributed(case, lambda trial: Outcome(Verdict.ACCEPTS_INVALID, "run"))
    assert result.conditions == ()


@pytest.mark.parametrize(
    ("axes", "text"),
    [
        ({"pipeline": "mixed-precision"}, "ToMixedPrecision"),
        ({"pipeline": "default-pipeline"}, "relax.get_default_pipeline"),
        ({"exec_mode": "compiled"}, 'exec_mode="compiled"'),
        ({"opt_level": 3}, "LLVM's opt-level 3"),
        ({"regime": "special"}, "NaN, infinities and the like among the inputs"),
        ({"symbolic.batch": True}, "symbolic B"),
        ({"result": "relu"}, "together with nn.relu"),
    ],
)
def test_differences_are_written_in_tvms_words(axes: dict[str, object], text: str) -> None:
    result = differences(drawn(**axes), drawn())
    verdicts = (Verdict.PASS,)
    assert ", ".join(settings(Attribution(1, 1, (Condition(result, verdicts, 0),)))) == text


def test_equal_dtypes_are_listed_together() -> None:
    result = differences(drawn(dtype="float16"), drawn())
    blamed = Attribution(1, 1, (Condition(result, (Verdict.PASS,), 0),))
    assert ", ".join(settings(blamed)) == "data, weight in float16"


def test_attributes_at_the_default_of_tvm_are_left_out() -> None:
    case = drawn()
    alike = (Difference(Aspect.ATTRIBUTE, "groups", 1, None),)
    result = Attribution(2, 2, (Condition(alike, (Verdict.WRONG_VALUE,) * 2, 2),))
    assert "groups" not in attribution_text(result, case, WRONG.stage)
    off = (Difference(Aspect.ATTRIBUTE, "groups", 2, None),)
    result = Attribution(2, 2, (Condition(off, (Verdict.WRONG_VALUE,) * 2, 2),))
    text = attribution_text(result, drawn(groups=2), WRONG.stage)
    assert "Also fails without groups." in text


def test_shapes_are_listed_where_nothing_else_differs() -> None:
    first, second = (
        Case("none", Program((Input("x", (size,), "float32"),), (), ("x",))) for size in (3, 1)
    )
    assert differences(first, second) == (Difference(Aspect.SHAPE, "x", "(3,)", "(1,)"),)
    assert differences(first, first) == ()


def test_other_failures_do_not_count_as_passing() -> None:
    case = drawn(groups=2)
    crash = Outcome(Verdict.OPAQUE_CRASH, "codegen", message="it broke")
    result, _ = attributed(case, lambda trial: LEFT if at(trial, "groups") == 2 else crash)
    text = attribution_text(result, case, LEFT.stage)
    assert "Fails with groups=2; raises an error without groups." in text
    again = attribution_text(result, case, LEFT.stage, (), Verdict.OPAQUE_CRASH)
    assert "raises another error without groups." in again
    assert "passes" not in text
    assert not any(verdict in text for verdict in Verdict if "-" in verdict)


@pytest.mark.parametrize("limit", [Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY])
def test_runs_cut_short_by_a_limit_are_neither_cured_nor_innocent(limit: Verdict) -> None:
    case = drawn(groups=2, data_layout="NHWC")

    def comes(tried: Case) -> Outcome:
        if at(tried, "groups") != 2:
            return Outcome(limit, "run", None, "too much of it")
        return WRONG if at(tried, "data_layout") == "NHWC" and tried.seed != 5 else PASS

    result, _ = attributed(case, comes)
    assert ", ".join(settings(result)) == 'data_layout="NHWC"'
    groups = next(condition for condition in result.conditions if condition.axis == "groups")
    assert (groups.undecided, groups.holds, groups.known) == (2, False, False)
    text = attribution_text(result, case, WRONG.stage)
    unknown = text.partition("Undecided: ")[2].partition(".")[0]
    assert unknown.endswith(" without groups")
    assert "Also fails without groups" not in text
    # Where it is the failure itself, it is no other one.
    late = Outcome(limit, "run", None, "too much of it")
    result, _ = attributed(case, lambda trial: late if at(trial, "groups") == 2 else PASS)
    assert ", ".join(settings(result)) == "groups=2"


def test_a_draw_that_a_limit_cuts_short_is_none() -> None:
    def comes(tried: Case) -> Outcome:
        return Outcome(Verdict.TIMEOUT, "run") if tried.seed == 4 else WRONG

    result, _ = attributed(drawn(groups=2), comes)
    assert (result.drawn, result.failed) == (2, 2)


GROUPS = Difference(Aspect.ATTRIBUTE, "groups", 2, None)
DTYPE = Difference(Aspect.DTYPE, "data", "int8", "float32")
CURED, SAME = (Verdict.PASS,), (Verdict.WRONG_VALUE,)


def test_settings_that_do_not_matter_alone_are_not_required() -> None:
    both, alone = Condition((GROUPS, DTYPE), CURED, 0), Condition((GROUPS,), SAME, 1)
    assert ", ".join(settings(Attribution(1, 1, (both,)))) == "groups=2 and data in int8"
    assert ", ".join(settings(Attribution(1, 1, (both, alone)))) == "data in int8"
    # Where one of them cures it alone, both together say no more.
    enough = Condition((DTYPE,), CURED, 0)
    assert Attribution(1, 1, (both, enough)).blamed == (enough,)


def test_every_operator_is_left_out_once() -> None:
    inputs = tuple(Input(name, (2,), "float32") for name in "xy")
    nodes = (Node("a", "add", ("x", "y")), Node("m", "multiply", ("a", "y")))
    case = Case("none", Program((*inputs,), (*nodes, Node("z", "nn.relu", ("m",))), ("z",)))

    def comes(tried: Case) -> Outcome:
        names = [node.operator for node in tried.program.nodes]
        return WRONG if {"add", "nn.relu"} <= set(names) else PASS

    result, _ = attributed(case, comes)
    assert ", ".join(settings(result)) == "together with add, together with nn.relu"
    assert innocent_operators(result, case) == {"multiply"}


def test_an_operator_without_which_it_fails_all_the_same_is_not_at_fault() -> None:
    case = drawn(result="relu")
    relu = Difference(Aspect.NODE, "nn.relu", True, None)
    other = Difference(Aspect.NODE, "nn.conv2d_transpose", True, None)
    result = Attribution(1, 1, (Condition((relu,), SAME, 1), Condition((other,), CURED, 0)))
    assert innocent_operators(result, case) == {"nn.relu"}
    assert innocent_operators(None, case) == frozenset()
    program = case.program
    twice = replace(program.nodes[1], name="again")
    several = replace(case, program=replace(program, nodes=(*program.nodes, twice)))
    assert innocent_operators(result, several) == frozenset()


@pytest.mark.parametrize("turned", [False, True])
def test_present_settings_come_before_absent_ones(turned: bool) -> None:
    case = drawn(groups=2)
    differences = (
        Difference(Aspect.SYMBOL, "n", True, False),
        Difference(Aspect.NODE, "match_cast", True, False),
        Difference(Aspect.ATTRIBUTE, "groups", 2, None),
    )
    differences = differences[::-1] if turned else differences
    cured = Condition(differences, (Verdict.PASS,), 0)
    text = attribution_text(Attribution(1, 1, (cured,)), case, LEFT.stage)
    failing, passing = text.removesuffix(".").split("; passes ")
    assert passing.startswith("with n static and without ")
    assert set(passing.partition("without ")[2].split(" and ")) == {"match_cast", "groups"}
    assert failing.endswith(", together with match_cast")
    assert "with groups=2" in failing or "and groups=2" in failing

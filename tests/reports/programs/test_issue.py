"""The sentences of an issue: true of a wrong call, of a missing check, of each kind of error."""

import msgspec
import pytest

from relaxcheck.generators.core.case import Invalid, Mismatch
from relaxcheck.generators.core.fills.kinds import Literal, Misfit
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.families import every
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.outcomes.appearance import UNKNOWN
from relaxcheck.harness.outcomes.attribution import Aspect, Attribution, Condition, Difference
from relaxcheck.harness.outcomes.errors import WRITTEN
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.invalid.wrong_call import wrong_argument
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.reports.issue.template import on_release
from relaxcheck.reports.programs.issue import issue_text
from relaxcheck.reports.programs.missing_check import missing_check
from relaxcheck.reports.programs.titles import title_text
from relaxcheck.reports.rendering import Came
from tests.cli.test_export import failing

FAULT = ("dimension 0", "shape[0]")
ACCEPTED = Outcome(
    Verdict.ACCEPTS_INVALID, "run", "x", "called with x\nreturned float32 (3,)\nran, though invalid"
)


def called(
    fill: tuple[int, ...], sizes: tuple[int, ...], dim: int | str = "2*m", operator: str = "x"
) -> Case:
    """A call of relu with ``x``, which states ``dim``, of the shape ``fill``; m is 3."""
    inputs = (
        Input("x", (dim,), "float32", fill=Misfit(fill)),
        Input("z", ("m",), "float32"),
    )
    program = Program(inputs, (Node("y", "nn.relu", ("x",)),), ("y",))
    return Case("dynamic", program, ({"m": 3},), expect=Mismatch(operator, FAULT, sizes))


@pytest.mark.parametrize(
    ("case", "sentence", "brief"),
    [
        (called((7,), (6, 7)), "has to be 2*m = 6", "is 7, not 6"),
        (called((7,), (7,)), "has to be of the form 2*m", "is 7, not of the form 2*m"),
        (called((5,), (4, 5), 4), "has to be 4", "is 5, not 4"),
        # The shape is what it states; another size of the program contradicts it.
        (called((6,), (6, 9)), "has to be 9", "is 6, not 9"),
        (called((6,), (12, 9)), "does not fit (12 against 9)", "is 6"),
        (called((6,), (6,)), "does not fit", "is 6"),
    ],
)
def test_a_wrong_argument_is_stated_with_both_sizes(case: Case, sentence: str, brief: str) -> None:
    assert isinstance(case.expect, Mismatch)
    wrong = wrong_argument(case, case.expect)
    assert str(wrong) == f"x of shape ({wrong.size},), whose dimension 0 {sentence}"
    assert wrong.brief == f"dimension 0 of x {brief}"


def test_the_issue_about_a_wrong_call_names_operators_and_sizes() -> None:
    repro = reproduction(called((7,), (6, 7)), ACCEPTED)
    title = title_text(repro, None)
    wrong = "(dimension 0 of x is 7, not 6)"
    assert title == f"nn.relu accepts an argument of the wrong shape {wrong}"
    text = issue_text(repro, title, "", {})
    assert "names `x`, its dimension 0, and the sizes 6 and 7." in text
    assert (
        "\nA function of `relax.op.nn.relu`, called with x of shape (7,), whose dimension 0 has to "
        "be 2*m = 6, runs without an error:\n\n```\nreturned float32 (3,)\n```\n"
    ) in text
    assert "relax.op.x" not in text
    crash = Outcome(Verdict.OPAQUE_CRASH, "VMShapeLower", "x", "InternalError: m is not computed")
    repro = reproduction(called((7,), (7,)), crash)
    assert title_text(repro, None).startswith('nn.relu raises "m is not computed" in VMShapeLower')
    assert "does not even compile; an error is raised in VMShapeLower:" in issue_text(
        repro, "It", "", {}
    )


def invalid(kind: str, operator: str) -> Case:
    """A case of ``operator`` with the fault ``kind``."""
    family = next(each for each in every(tuple(PIPELINES)) if each.name == operator)
    fault = next(each for each in family.faults if each.kind == kind)
    point = {axis.name: axis.default for axis in family.axes} | dict(fault.pinned)
    case = family.build(point, 0)
    program = fault.breaking(case.program, point)
    expect = Invalid(family.operator, fault.names)
    return msgspec.structs.replace(case, program=program, expect=expect, at=msgspec.UNSET)


@pytest.mark.parametrize(
    ("operator", "kind", "clause"),
    [
        ("conv2d", "dilation-negative", "dilation is not negative"),
        ("conv2d", "strides-zero", "strides are not 0"),
        ("conv2d", "dilation-length", "the length of dilation is right"),
        ("conv2d", "channels-differ", "the channels agree"),
        ("prelu", "dtypes-differ", "the dtypes agree"),
        ("avg_pool2d", "pool_size-zero", "pool_size is not 0"),
        ("topk", "ret-type-unknown", "ret_type is a known one"),
        ("resize2d", "method-unknown", "method is a known one"),
        ("split", "sections-zero", "sections are not 0"),
    ],
)
def test_the_check_that_is_missing_is_named(operator: str, kind: str, clause: str) -> None:
    case = invalid(kind, operator)
    assert isinstance(case.expect, Invalid)
    assert missing_check(case, case.expect) == clause


def test_an_accepted_program_says_which_check_is_missing_and_shows_its_evidence() -> None:
    case = invalid("dilation-negative", "conv2d")
    repro = reproduction(case, msgspec.structs.replace(ACCEPTED, operator="nn.conv2d"))
    text = issue_text(repro, "It", "", {})
    assert "with an error that says what is wrong with its `dilation`." in text
    assert (
        "\nType inference of `relax.op.nn.conv2d` does not check that dilation is not negative: "
        "the program compiles and runs (dilation=["
    ) in text
    assert "```\nreturned float32 (3,)\n```" in text
    other = msgspec.structs.replace(case, expect=Invalid("nn.conv2d", ("strange",)))
    assert "does not check that its strange is valid" in issue_text(
        reproduction(other, repro.outcome), "It", "", {}
    )


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("InternalError: std::bad_alloc", "The error comes from the C++ library"),
        ("InternalError: basic_string::replace: __pos", "The error comes from the C++ library"),
        ("InternalError: Check failed: (a) is false: no", "No internal check of TVM should fail"),
        ("AttributeError: 'Div' has no value", "The `AttributeError` comes from TVM's own code"),
        ("AssertionError:", "If TVM does not support it, an error says so in words."),
        ("AssertionError", "If TVM does not support it, an error says so in words."),
        ("ValueError: no such layout", "the error names the operator and what is not supported."),
    ],
)
def test_what_is_expected_fits_the_error(message: str, sentence: str) -> None:
    crash = Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", message=message)
    text = issue_text(reproduction(failing(), crash), "It", "", {})
    assert f"compiles and runs: the program is valid. {sentence}" in text or sentence in text
    assert " raises an error in LegalizeOps:" in text


def test_a_pass_is_expected_to_take_what_is_valid() -> None:
    crash = Outcome(Verdict.OPAQUE_CRASH, "FuseOps", message="ValueError: no such layout")
    text = issue_text(reproduction(failing(), crash), "It", "", {})
    assert "the program is valid. `FuseOps` takes any valid program." in text


def test_no_words_of_workers_and_no_printed_module_are_in_an_issue() -> None:
    died = Outcome(Verdict.PROCESS_DEATH, "emit", message="worker ended with SIGSEGV in emit: !!")
    text = issue_text(reproduction(failing(), died), "It", "", {})
    assert "the process ended with SIGSEGV when the program is constructed: !!" in text
    assert "worker" not in text
    printed = "InternalError: no\n\nError in pass: FuseOps\nLocation (TVMScript):\n@I.ir_module"
    crash = Outcome(Verdict.OPAQUE_CRASH, "FuseOps", message=printed)
    text = issue_text(reproduction(failing(), crash), "It", "", {})
    assert "```\nInternalError: no\n```" in text


def test_an_issue_about_what_is_right_here_says_where_it_fails() -> None:
    right = Outcome(Verdict.PASS)
    releases = {"0.25": Came(Verdict.WRONG_VALUE, alike=False), "0.27": Came(Verdict.PASS)}
    repro = reproduction(failing(), right)
    text = issue_text(repro, "It", "", {"apache-tvm": "0.27.0"}, releases=releases)
    assert "is right with apache-tvm 0.27.0, and fails with 0.25.\n" in text
    assert on_release(releases["0.25"], right) == "fails: it gives wrong values"


def test_a_failure_of_one_cause_that_looks_otherwise_is_no_failure_in_this_way() -> None:
    accepted = Outcome(Verdict.ACCEPTS_INVALID)
    left = on_release(Came(Verdict.SILENT_BAIL, alike=True), accepted)
    assert left == "fails in another way: it leaves a call unlowered"
    assert on_release(Came(Verdict.ACCEPTS_INVALID, alike=True), accepted) == "fails in this way"


def test_a_release_that_is_right_by_chance_is_not_claimed_to_fail() -> None:
    undefined = Outcome(Verdict.WRONG_VALUE, "compare", message="off", details={UNDEFINED: True})
    failed, passed = Came(Verdict.WRONG_VALUE, alike=True), Came(Verdict.PASS)
    fails = "fails in this way where heap and stack are filled; else it may be right by chance"
    assert on_release(failed, undefined) == fails
    assert on_release(passed, undefined) == "passes, also where heap and stack are filled"
    # There alone another value than that of fresh memory shows here.
    here = Outcome(Verdict.WRONG_VALUE, "compare", message="off")
    assert on_release(Came(Verdict.WRONG_VALUE, alike=True, undefined=True), here) == fails
    assert on_release(failed, here) == "fails in this way"
    assert on_release(passed, here) == "passes"


def test_of_a_corrupted_heap_only_what_is_proven_is_said() -> None:
    words = "worker ended with SIGABRT in run: free(): invalid size"
    died = Outcome(Verdict.PROCESS_DEATH, "run", message=words)
    unknown = on_release(Came(Verdict.NO_ORACLE), died)
    assert unknown == "not known: it is chance if a corrupted heap is noticed"
    assert "corrupts the heap when it runs:" in issue_text(
        reproduction(failing(), died), "It", "", {}
    )
    shown = msgspec.structs.replace(died, details={WRITTEN: "f wrote out of bounds: …"})
    text = issue_text(reproduction(failing(), shown), "It", "", {})
    assert "writes out of bounds when it runs. Built by itself" in text
    assert "f wrote out of bounds: …. It is chance if that is noticed" in text


def test_nothing_that_only_this_project_knows_is_a_condition() -> None:
    attributes = {"function": "backwards", "of": ShapeValue((3,)), "shape": ShapeValue((3,))}
    nodes = (
        Node("y", "call_tir", ("x",), {**attributes, "dtype": "float32"}),
        Node("z", "split", ("y",), {"indices_or_sections": 3, "item": 1}),
    )
    case = Case("toy", Program((Input("x", (3,), "float32"),), nodes, ("z",)))
    hidden = tuple(
        Condition((Difference(Aspect.ATTRIBUTE, name, was, None),), (Verdict.PASS,), 0)
        for name, was in (("of", ShapeValue((3,))), ("item", 1), ("dtype", "float32"))
    )
    repro = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen", message="E: no"))
    attribution = Attribution(1, 1, hidden)
    text = issue_text(repro, title_text(repro, attribution), "", {}, attribution=attribution)
    assert "ShapeExpr" not in text
    assert "item" not in text
    assert "dtype=" not in text


def test_an_issue_names_the_fixes_that_cure_it_where_no_patch_does() -> None:
    crash = Outcome(Verdict.OPAQUE_CRASH, "FuseOps", message="ValueError: no")
    repro = reproduction(failing(), crash)
    sentence = "with `first` and `second` the program is right."
    cure = ("first", "second")
    assert sentence in issue_text(repro, "It", "", {}, cure=cure)
    assert sentence not in issue_text(repro, "It", "", {}, cure=cure, patched=True)
    unchecked = reproduction(invalid("dilation-negative", "conv2d"), ACCEPTED)
    text = issue_text(unchecked, "It", "", {}, cure=cure)
    assert "with `first` and `second` the program is refused, as it should be." in text
    assert "repair" not in issue_text(repro, "It", "", {})


def test_unusual_inputs_are_named_once() -> None:
    program = Program((Input("x", (500,), "float32"),), (Node("y", "exp", ("x",)),), ("y",))
    case = Case("exp", program, ({},), regime="special", seed=2)
    regime = Difference(Aspect.SETTING, "regime", "special", "normal")
    attribution = Attribution(1, 1, (Condition((regime,), (Verdict.PASS,), 0),))
    off = Outcome(Verdict.WRONG_VALUE, "compare", message="off")
    title = title_text(reproduction(case, off), attribution)
    assert title == "exp gives wrong values (inputs with NaN, inf, -inf)"


@pytest.mark.parametrize(
    ("drawn", "values", "words"),
    [
        ("boundary", [2.5e16, 1.0], "inputs as large as 2.5e+16"),
        ("moderate", [-114.25, 1.0], "inputs as low as -114"),
        ("boundary", [0.0, -1.25e-18], "inputs as small as 1.2e-18"),
        ("boundary", [2.5e16, 1.25e-18], "inputs as large as 2.5e+16 and as small as 1.2e-18"),
        ("boundary", [1.0, 1.5], "inputs of other magnitudes"),
        ("special", [float("-inf"), 1.0], "inputs with -inf"),
    ],
)
def test_an_issue_names_the_inputs_that_it_shows(
    drawn: str, values: list[float], words: str
) -> None:
    tensor = Input("x", (2,), "float32", fill=Literal(tuple(values)))
    program = Program((tensor,), (Node("y", "exp", ("x",)),), ("y",))
    case = Case("exp", program, ({},), regime=drawn)
    regime = Difference(Aspect.SETTING, "regime", drawn, "normal")
    attribution = Attribution(1, 1, (Condition((regime,), (Verdict.PASS,), 0),))
    repro = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", message="off"))
    title = title_text(repro, attribution)
    assert title == f"exp gives wrong values ({words})"
    text = issue_text(repro, title, "", {}, attribution=attribution)
    plain = "inputs that are multiples of 1/2048 from -2 to 2"
    assert f"Fails with {words}; passes with {plain}." in text


@pytest.mark.parametrize("unknown", [True, False])
def test_a_call_that_is_left_is_held_against_what_tvm_says(unknown: bool) -> None:
    case = Case("toy", Program((Input("x", (2,), "float32"),), (Node("y", "exp", ("x",)),), ("y",)))
    details = {UNKNOWN: "unknown shape of the result"} if unknown else {}
    left = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "exp", "left", details=details)
    text = issue_text(reproduction(case, left), "It", "pass\n", {})
    # TVM promises nothing of a call that it gives to no legalization.
    assert ("may *not* contain the original operator" in text) is not unknown
    assert ("can produce unexpected errors during CodeGenVM" in text) is unknown


def test_a_message_has_the_names_of_the_script_and_no_addresses() -> None:
    program = Program(
        (Input("x", (2,), "float32"),),
        (Node("n3_0", "exp", ("x",)), Node("n4_0", "abs", ("n3_0",))),
        ("n4_0",),
    )
    message = "InternalError: R.abs(n3_0) at ir.Range(0x556d8c3a10), filled with 0x55"
    crash = Outcome(Verdict.OPAQUE_CRASH, "codegen", message=message)
    text = issue_text(reproduction(Case("toy", program), crash), "It", "pass\n", {})
    assert "R.abs(lv) at ir.Range(0x…), filled with 0x55" in text

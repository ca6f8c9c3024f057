"""Titles of failures, and what an issue says around them."""

from typing import Any

import msgspec
import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.known.corpus import Culprit
from relaxcheck.harness.outcomes.attribution import Aspect, Attribution, Condition, Difference
from relaxcheck.harness.outcomes.errors import portable
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.harness.triage.bisection.search import Evidence
from relaxcheck.reports.issue.titles import Titles
from relaxcheck.reports.programs.issue import BUG, REQUEST, issue_text
from relaxcheck.reports.programs.titles import title_text
from relaxcheck.reports.rendering import Came
from tests.cli.test_export import BLAME, FAMILY, LEFT, failing

RELU = Node("y", "nn.relu", ("x",))


def test_a_title_without_attributes_names_what_is_not_as_usual() -> None:
    inputs = (Input("x", ("n", 0), "float16"), Input("y", ("n", 0), "float16"))
    case = Case("toy", Program(inputs, (Node("z", "add", ("x", "y")),), ("z",)), ({"n": 2},))
    title = title_text(reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen")), None)
    assert title.endswith(" in code generation (symbolic n, x of shape (n, 0), y of shape (n, 0))")


def test_a_title_names_no_operator_that_does_not_matter() -> None:
    case = FAMILY.build(complete(FAMILY.axes, {**BLAME, "result": "relu"}), 3)
    repro = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen", message="no"))
    relu = Difference(Aspect.NODE, "nn.relu", True, None)
    attribution = Attribution(1, 1, (Condition((relu,), (Verdict.OPAQUE_CRASH,), 1),))
    assert title_text(repro, None).startswith("nn.conv2d_transpose + nn.relu raises")
    assert title_text(repro, attribution).startswith("nn.conv2d_transpose raises")
    text = issue_text(repro, "It", "", {}, attribution=attribution)
    assert "\n`relax.op.nn.conv2d_transpose` raises an error" in text
    assert "nn.relu`" not in text


def test_a_title_names_the_passes_that_run_first() -> None:
    case = msgspec.structs.replace(failing(), pipeline="mixed-precision")
    title = title_text(reproduction(case, LEFT), None)
    assert title.endswith('(groups=2, data_layout="NHWC", ToMixedPrecision)')


@pytest.mark.parametrize("bound", [False, True])
def test_an_issue_names_no_pass_that_does_nothing(bound: bool) -> None:
    """BindParams binds constants: a program without them is what it was."""
    program = Program((Input("x", (2,), "float32", constant=bound),), (RELU,), ("y",))
    case = Case("toy", program, pipeline="fixes-folded")
    pipeline = Difference(Aspect.SETTING, "pipeline", "fixes-folded", "build")
    condition = Condition((pipeline,), (Verdict.PASS,), 0)
    repro = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen", message="ValueError: no"))
    passes = "BindParams, FoldConstant" if bound else "FoldConstant"
    target = f"{'parameters bound, ' * bound}FoldConstant before anything is lowered, then"
    for attribution in (None, Attribution(1, 1, (condition,))):
        assert title_text(repro, attribution).endswith(f" ({passes})")
        text = issue_text(repro, "It", "", {}, attribution=attribution)
        assert f"\n* target: llvm (CPU); {target} relax.build\n" in text
        assert ("BindParams" in text) is (bound and attribution is not None)
    assert f"\nFails with {passes}; passes with relax.build alone." in text


def test_a_title_names_what_a_campaign_blames_where_nothing_else_is_known() -> None:
    plain = family("attention", tuple(PIPELINES))
    case = plain.build(complete(plain.axes, {}), 0)
    repro = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", message="off"))
    title = title_text(repro, None, {"group": "2", "kv_len": "0"})
    assert title == (
        "nn.attention gives wrong values (2 query heads per key/value head, key/value length 0)"
    )
    assert "2 query heads" not in title_text(reproduction(failing(), LEFT), None, {"group": "2"})


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ("emit", "raises an error when the program is constructed"),
        ("codegen", "raises an error in code generation"),
        ("FuseOps", "raises an error in FuseOps"),
    ],
)
def test_a_title_says_where_in_words(stage: str, words: str) -> None:
    assert words in title_text(reproduction(failing(), Outcome(Verdict.OPAQUE_CRASH, stage)), None)


def test_a_title_names_what_was_found_to_be_to_blame() -> None:
    groups = Difference(Aspect.ATTRIBUTE, "groups", 2, 1)
    layout = Difference(Aspect.ATTRIBUTE, "data_layout", "NHWC", None)
    conditions = (
        Condition((groups,), (Verdict.PASS, Verdict.PASS), 0),
        Condition((layout,), (Verdict.PASS, Verdict.SILENT_BAIL), 1),
    )
    title = title_text(reproduction(failing(), LEFT), Attribution(2, 2, conditions))
    assert title.endswith("without an error (groups=2)")


def test_paths_of_this_machine_do_not_leave_it() -> None:
    line = 'File "/home/me/env/lib/python3.11/site-packages/tvm/relax/op.py", line 3, in /tmp/x.py'
    assert portable(line) == 'File "site-packages/tvm/relax/op.py", line 3, in /tmp/x.py'
    assert portable("  /usr/lib/python3.11/ast.py: no") == "  python3.11/ast.py: no"


def test_a_valid_program_that_is_refused_is_a_request_in_the_template_for_features() -> None:
    refused = Outcome(Verdict.UNSUPPORTED, "LegalizeOps", message="TypeError: no NHWC yet")
    repro = reproduction(failing(), refused)

    def first_line(**about: Any) -> str:
        return issue_text(repro, "It", "pass\n", {}, **about).partition("\n")[0]

    text = issue_text(repro, "It", "pass\n", {}, culprit=Culprit("X", Evidence.RAISED, "why"))
    assert text.startswith(f"{REQUEST} It\n")
    operator = "`relax.op.nn.conv2d_transpose`"
    assert f"\n### This issue is to track progress for support of {operator}\n" in text
    assert "\n- [ ] P1." in text
    assert text.endswith("* needs-triage\n* type:rfc-tracking\n")
    for words in ("Expected behavior", "Pass at fault", "bug"):
        assert words not in text
    # What works elsewhere is broken here.
    assert first_line(releases={"0.25": Came(Verdict.UNSUPPORTED)}) == f"{REQUEST} It"
    assert first_line(releases={"0.25": Came(Verdict.PASS)}) == f"{BUG} It"
    pipeline = Difference(Aspect.SETTING, "pipeline", "mixed-precision", "build")
    attribution = Attribution(1, 1, (Condition((pipeline,), (Verdict.PASS,), 0),))
    assert first_line(attribution=attribution) == f"{BUG} It"
    # Refused with another pipeline as well, in other words.
    attribution = Attribution(1, 1, (Condition((pipeline,), (Verdict.UNSUPPORTED,), 0),))
    assert first_line(attribution=attribution) == f"{REQUEST} It"
    invalid = msgspec.structs.replace(failing(), expect=Invalid("nn.conv2d_transpose", ("groups",)))
    assert issue_text(reproduction(invalid, refused), "It", "", {}).startswith(f"{BUG} It\n")


def test_an_issue_speaks_of_a_patch_only_where_there_is_one() -> None:
    repro = reproduction(failing(), LEFT)
    (own,) = {node.operator for node in repro.case.program.nodes}
    text = issue_text(repro, "It", "pass\n", {}, siblings=("asin", own))
    assert "\nFailures of `relax.op.asin` have the same cause, as far as" in text
    assert "fix.patch" not in issue_text(repro, "It", "pass\n", {})
    assert "so that this script exits with 0" in issue_text(repro, "It", "", {}, patched=True)


def test_no_pass_is_at_fault_for_an_invalid_program() -> None:
    fault = Invalid("nn.conv2d_transpose", ("groups",))
    case = msgspec.structs.replace(failing(), expect=fault)
    repro = reproduction(case, Outcome(Verdict.ACCEPTS_INVALID, "run", message="ran"))
    for name in ("LegalizeOps", None):
        text = issue_text(repro, "It", "", {}, culprit=Culprit(name, Evidence.DIRECT, "why"))
        assert "Pass at fault" not in text
    emitted = issue_text(repro, "It", "", {}, culprit=Culprit("emit", Evidence.EMIT, "TVM refuses"))
    assert "No pass has run: it fails when the program is constructed." in emitted


def test_the_title_of_an_invalid_program_has_the_value_that_is_invalid() -> None:
    fault = Invalid("nn.conv2d_transpose", ("strange", "groups", "data_layout", "stride"))
    accepted = Outcome(Verdict.ACCEPTS_INVALID, "run", message="ran")
    case = failing()
    (node,) = case.program.nodes
    for attributes, wanted in (
        (node.attributes | {"groups": -1}, "(groups=-1)"),
        (node.attributes | {"groups": (0, 0)}, "(groups=[0, 0])"),
        ({"strides": (0, 1)}, "(strides=[0, 1])"),
        ({}, "(strange)"),
    ):
        nodes = (msgspec.structs.replace(node, attributes=attributes),)
        program = msgspec.structs.replace(case.program, nodes=nodes)
        invalid = msgspec.structs.replace(case, program=program, expect=fault)
        title = title_text(reproduction(invalid, accepted), None)
        assert title == f"nn.conv2d_transpose is accepted though invalid {wanted}"
        text = issue_text(reproduction(invalid, accepted), "It", "", {})
        named = wanted.strip("()").partition("=")[0]
        assert f"what is wrong with its `{named}`" in text or named == "strange"


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("ValueError: list.remove(x): x not in list", 'raises "list.remove(x): x not in list"'),
        ("InternalError: Check failed: (v >= 0) is false: cannot be -1", 'raises "cannot be -1"'),
        ("ValueError: Check failed: v >= 0 (-1 vs. 0) : It is below", 'raises "It is below"'),
        ("InternalError: Check failed: (v >= 0) is false: ", 'fails the check "v >= 0"'),
        ("InternalError: Check failed: axis < n (-1 vs. 1) : ", 'fails the check "axis < n (-1'),
        (f"InternalError: Check failed: ({'long ' * 20}) is false:", "fails an internal check in"),
        ("AssertionError:", "raises an error in FuseOps"),
    ],
)
def test_a_title_quotes_an_opaque_error_that_has_words(message: str, wanted: str) -> None:
    crash = Outcome(Verdict.OPAQUE_CRASH, "FuseOps", message=message)
    title = title_text(reproduction(failing(), crash), None)
    assert title.startswith(f"nn.conv2d_transpose {wanted}")
    assert " in FuseOps (" in title


@pytest.mark.parametrize("generator", ["CodeGenVM", "CodeGenVMTIR"])
def test_a_title_says_of_a_call_that_nobody_lowered_that_it_is_not_lowered(generator: str) -> None:
    message = f"InternalError: {generator} cannot emit this Relax operator directly. Run a pass."
    crash = Outcome(Verdict.OPAQUE_CRASH, "codegen", message=message)
    title = title_text(reproduction(failing(), crash), None)
    assert "nn.conv2d_transpose is not lowered, and code generation cannot emit it" in title


def test_a_title_names_no_setting_that_does_not_matter() -> None:
    groups = Difference(Aspect.ATTRIBUTE, "groups", 2, 1)
    attribution = Attribution(1, 1, (Condition((groups,), (Verdict.SILENT_BAIL,), 1),))
    title = title_text(reproduction(failing(), LEFT), attribution)
    assert title.endswith('without an error (data_layout="NHWC")')


def test_a_title_names_no_shape_that_a_call_has_to_have() -> None:
    nodes = (
        Node("y", "call_tir", ("x",), {"function": "backwards", "dtype": "float32"}),
        Node("z", "broadcast_to", ("y",), {"shape": ShapeValue((3,))}),
    )
    case = Case("toy", Program((Input("x", (3,), "float32"),), nodes, ("z",)))
    title = title_text(reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen")), None)
    assert title.endswith(" in code generation")


def test_a_dtype_of_all_inputs_is_named_without_them() -> None:
    inputs = (Input("x0", (2,), "float64"), Input("x1", (2,), "float64"))
    case = Case("toy", Program(inputs, (Node("z", "add", ("x0", "x1")),), ("z",)))
    both = tuple(Difference(Aspect.DTYPE, name, "float64", "float32") for name in ("x0", "x1"))
    attribution = Attribution(1, 1, (Condition(both, (Verdict.PASS,), 0),))
    repro = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen", message="no"))
    assert title_text(repro, attribution).endswith(" in code generation (in float64)")
    single = Attribution(1, 1, (Condition(both[:1], (Verdict.PASS,), 0),))
    assert title_text(repro, single).endswith(" in code generation (x0 in float64)")
    # Nobody knows that it matters.
    assert title_text(repro, None).endswith(" in code generation")


def test_a_title_says_that_an_input_is_empty_beside_attributes() -> None:
    node = Node("z", "nn.pad", ("x",), {"pad_width": (1, 1), "pad_mode": "circular"})
    case = Case("toy", Program((Input("x", (0,), "float32"),), (node,), ("z",)))
    title = title_text(reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "emit")), None)
    assert title.endswith(', pad_mode="circular", empty input)')


def test_a_title_says_that_a_symbol_is_0() -> None:
    program = Program((Input("x", ("n",), "float32"),), (Node("z", "abs", ("x",)),), ("z",))
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", message="off")
    for size, ending in ((0, "(symbolic n, n = 0)"), (2, "(symbolic n)")):
        case = Case("toy", program, ({"n": size},))
        assert title_text(reproduction(case, wrong), None).endswith(ending)


def test_an_operator_is_not_named_as_a_condition_of_itself() -> None:
    inputs = (Input("x", (2, 2), "float32"),)
    nodes = (Node("y", "abs", ("x",)), Node("z", "exp", ("y",)))
    case = Case("toy", Program(inputs, nodes, ("z",)))
    exp = Difference(Aspect.NODE, "exp", True, None)
    attribution = Attribution(1, 1, (Condition((exp,), (Verdict.PASS,), 0),))
    repro = reproduction(case, Outcome(Verdict.OPAQUE_CRASH, "codegen", message="no"))
    assert "together with" not in title_text(repro, attribution)


def test_two_failures_with_one_title_are_distinguished_in_words() -> None:
    titles = Titles()
    first, second = failing(), FAMILY.build(complete(FAMILY.axes, BLAME), 4)
    assert titles.add("It breaks", first, LEFT) == "It breaks"
    assert titles.add("It leaks", first, LEFT) == "It leaks"
    half = tuple(
        msgspec.structs.replace(tensor, dtype="float16") for tensor in second.program.inputs
    )
    program = msgspec.structs.replace(second.program, inputs=half)
    second = msgspec.structs.replace(second, program=program)
    assert titles.add("It breaks", second, LEFT) == "It breaks, in float16"
    crash = Outcome(Verdict.OPAQUE_CRASH, "FuseOps", message="ValueError: no such thing")
    assert titles.add("It breaks", first, crash) == "It breaks, in FuseOps"
    # The next ones have nothing that none of the others has: still, no title comes twice.
    more = [titles.add("It breaks", first, crash) for _ in range(3)]
    assert len({"It breaks", "It breaks, in FuseOps", *more}) == 5


@pytest.mark.parametrize(
    ("oracles", "words"),
    [
        ((), "gives what a reference of higher precision gives, within"),
        (("pytorch",), "gives what PyTorch and a reference of higher precision agree on, within"),
        (("pytorch", "onnxruntime"), "gives what PyTorch, ONNX Runtime and a reference of"),
    ],
)
def test_an_issue_names_those_who_agree(oracles: tuple[str, ...], words: str) -> None:
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", message="off", oracles=oracles)
    assert words in issue_text(reproduction(failing(), wrong), "It", "", {})


def test_a_title_names_no_pass_twice_and_no_operator_as_tvm_prints_it() -> None:
    case = msgspec.structs.replace(failing(), pipeline="convert-layout")
    printed = (
        'unknown intrinsic ir.Op(span=None, ty=ir.Type(span=None), name="tirx.acos", level=10)'
    )
    outcome = Outcome(Verdict.OPAQUE_CRASH, "ConvertLayout", message=f"InternalError: {printed}")
    title = title_text(reproduction(case, outcome), None)
    assert 'raises "unknown intrinsic tirx.acos" in ConvertLayout (groups=2' in title
    assert title.count("ConvertLayout") == 1


def test_a_title_names_the_axes_that_a_campaign_blames_before_other_attributes() -> None:
    repro = reproduction(failing(), Outcome(Verdict.WRONG_VALUE, "compare", message="off"))
    title = title_text(repro, None, {"dtype": "float16", "groups": "2", "exec_mode": "compiled"})
    assert title.endswith("gives wrong values (float16, groups=2, compiled mode)")


def test_a_title_says_that_memory_is_undefined() -> None:
    details = {"undefined": True}
    off = Outcome(Verdict.WRONG_VALUE, "compare", message="off", details=details)
    title = title_text(reproduction(failing(), off), None)
    assert "nn.conv2d_transpose gives values that depend on undefined memory (" in title


def test_a_title_names_infinities_and_nan_among_the_inputs() -> None:
    program = Program((Input("x", (500,), "float32"),), (Node("y", "exp", ("x",)),), ("y",))
    off = Outcome(Verdict.WRONG_VALUE, "compare", message="off")

    def title(regime: str, seed: int) -> str:
        case = Case("exp", program, ({},), regime=regime, seed=seed)
        return title_text(reproduction(case, off), None)

    every = "exp gives wrong values (inputs with NaN, inf, -inf)"
    assert [title("special", 2), title("normal", 2)] == [every, "exp gives wrong values"]
    assert title("special", 10) == "exp gives wrong values (inputs with inf, -inf)"


@pytest.mark.parametrize(
    ("stage", "message", "predicate"),
    [
        (
            "run",
            "Check failed: groups < 2 (2 vs. 2) : Bad groups here",
            "is refused only when it runs",
        ),
        (
            "emit",
            "Check failed: attrs->groups >= 0 (-1 vs. 0) :",
            "is refused by a check without words,",
        ),
        (
            "run",
            "Check failed: n < 2 (2 vs. 2) : Bad",
            "is refused without saying what is invalid,",
        ),
        ("run", "std::bad_alloc", "is not refused, and fails when it runs"),
        ("emit", "Check failed: b != 0 (0 vs. 0) : Divide by zero", "is refused without saying"),
    ],
)
def test_a_refusal_that_names_the_fault_is_late_or_wordless(
    stage: str, message: str, predicate: str
) -> None:
    case = msgspec.structs.replace(failing(), expect=Invalid("nn.conv2d_transpose", ("groups",)))
    outcome = Outcome(Verdict.OPAQUE_CRASH, stage, message=f"InternalError: {message}")
    assert title_text(reproduction(case, outcome), None).startswith(
        f"nn.conv2d_transpose {predicate}"
    )


def test_another_error_shows_nothing_where_a_change_to_a_pass_does() -> None:
    axis = Condition((Difference(Aspect.ATTRIBUTE, "axis", -2, None),), (Verdict.PASS,), 0)
    dtype = Condition(
        (Difference(Aspect.DTYPE, "x", "int64", "float32"),), (Verdict.OPAQUE_CRASH,), 0
    )
    assert Attribution(1, 1, (axis, dtype)).blamed == (axis,)
    assert Attribution(1, 1, (dtype,)).blamed == (dtype,)


def test_a_title_names_no_axis_at_whose_default_it_fails_as_well() -> None:
    case = msgspec.structs.replace(failing(), exec_mode="compiled", regime="boundary")
    repro = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare", message="off"))
    mode = Difference(Aspect.SETTING, "exec_mode", "compiled", "bytecode")
    regime = Difference(Aspect.SETTING, "regime", "boundary", "normal")
    same = tuple(Condition((each,), (Verdict.WRONG_VALUE,), 1) for each in (mode, regime))
    blame = {"exec_mode": "compiled", "groups": "2"}
    assert "compiled mode" in title_text(repro, None, blame)
    title = title_text(repro, Attribution(1, 1, same), blame)
    assert title.endswith('wrong values (groups=2, data_layout="NHWC")')


def test_a_title_names_what_leads_to_another_failure_only_where_nothing_cures_it() -> None:
    groups = Difference(Aspect.ATTRIBUTE, "groups", 2, 1)
    layout = Difference(Aspect.ATTRIBUTE, "data_layout", "NHWC", None)
    other = Condition((groups,), (Verdict.OPAQUE_CRASH,), 0)
    cured = Condition((layout,), (Verdict.PASS,), 0)
    repro = reproduction(failing(), LEFT)
    both = title_text(repro, Attribution(1, 1, (other, cured)))
    assert both.endswith('without an error (data_layout="NHWC")')
    assert title_text(repro, Attribution(1, 1, (other,))).endswith("without an error (groups=2)")


def test_an_issue_names_a_layout_only_of_operators_that_have_one() -> None:
    case = msgspec.structs.replace(failing(), pipeline="convert-layout")
    assert "ConvertLayout to channels-last" in issue_text(reproduction(case, LEFT), "It", "", {})
    program = Program((Input("x", (1,), "float32"),), (Node("y", "exp", ("x",)),), ("y",))
    plain = Case("exp", program, pipeline="convert-layout")
    text = issue_text(reproduction(plain, Outcome(Verdict.OPAQUE_CRASH, "codegen")), "It", "", {})
    assert "llvm (CPU); ConvertLayout, then relax.build" in text

"""Cores of drawn programs, with stand-ins for TVM: what is left tells causes apart."""

from contextlib import suppress

import msgspec

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.outcomes.appearance import NAN
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.kind import KIND
from relaxcheck.harness.programs.reduction import graph_steps
from relaxcheck.harness.programs.reduction.steps import Knowledge
from relaxcheck.harness.programs.vetting import validate
from relaxcheck.harness.triage.finding import Reduced, finding_of
from relaxcheck.harness.triage.fingerprint import operators
from relaxcheck.harness.triage.reduction.core import MOST_TRIES, core, innermost_core
from tests.harness.triage.dynamic_programs import Fails, answer, chain, crash, has, wrong


def cored(case: Case, fails: Fails) -> Reduced:
    failed = fails(case)
    assert failed is not None
    trials = innermost_core(case, failed)
    ran = 0
    try:
        trial = next(trials)
        while True:
            outcome = answer(trial, fails)  # type: ignore[arg-type]
            ran += outcome.stage != "oracle"
            trial = trials.send(outcome)
    except StopIteration as end:
        assert ran <= 3 * MOST_TRIES
        reduced: Reduced = end.value
        return reduced


def test_programs_of_one_cause_have_one_fingerprint() -> None:
    """Whatever operators, dimensions and settings surround it."""

    def fails(case: Case) -> Outcome | None:
        return wrong() if has(case, "exp") and case.program.symbols else None

    cases = (
        chain("abs", "exp", "nn.relu", pipeline="fixes-pipeline"),
        chain("exp", "negative", dtype="float16", shape=(4, "m", 2)),
        chain("sigmoid", "sqrt", "exp", shape=("2*m",), regime="boundary"),
    )
    findings = [finding_of(cored(case, fails)) for case in cases]
    assert {finding.fingerprint for finding in findings} == {findings[0].fingerprint}
    assert (findings[0].operator, findings[0].blame) == ("exp", {"dimensions": "symbolic"})


def test_only_required_settings_are_blamed() -> None:
    def of_float16(case: Case) -> Outcome | None:
        half = case.program.inputs[0].dtype == "float16"
        return wrong() if half and case.pipeline == "fixes-folded" else None

    case = chain("abs", "exp", dtype="float16", pipeline="fixes-folded")
    reduced = cored(case, of_float16)
    assert reduced.blame == {"dtype": "float16", "pipeline": "fixes-folded"}
    empty = cored(chain("abs", "exp"), lambda case: wrong() if {"m": 0} in case.bindings else None)
    assert empty.blame == {"dimensions": "symbolic", "sizes": "0"}


def test_a_relation_is_blamed_only_if_it_takes_part() -> None:
    case = chain("abs", "exp")
    related = msgspec.structs.replace(case.program, size_parameters="shape")
    case = msgspec.structs.replace(case, program=related)
    without = cored(case, lambda case: wrong() if case.program.symbols else None)
    assert "relation" not in without.blame
    takes_part = cored(case, lambda case: wrong() if case.program.size_parameters else None)
    assert takes_part.blame["relation"] == "told a shape"


def test_an_error_is_followed_to_another_pass_but_not_to_another_place() -> None:
    """FoldConstant calls the lowering that LegalizeOps calls without it."""

    def fails(case: Case) -> Outcome | None:
        if has(case, "exp"):
            stage = "FoldConstant" if case.pipeline == "fixes-folded" else "LegalizeOps"
            return crash("math.py:_exp", stage=stage)
        return crash("math.py:_abs") if has(case, "abs") else None

    reduced = cored(chain("abs", "exp", pipeline="fixes-folded"), fails)
    assert operators(reduced.case) == "exp"
    assert (reduced.outcome.stage, reduced.blame) == ("LegalizeOps", {})


def test_an_expression_in_the_words_of_a_check_does_not_count() -> None:
    words = "InternalError: Check failed: (!computed) is false: PrimExpr {} is not computed"

    def fails(case: Case) -> Outcome | None:
        dim = case.program.inputs[0].shape[0]
        symbolic = bool(case.program.symbols)
        return crash("lower.cc:Make", words.format(dim), "VMShapeLower") if symbolic else None

    reduced = cored(chain("abs", "exp", shape=("2*m + 1",)), fails)
    assert reduced.case.program.inputs[0].shape == ("m",)


def test_other_wrong_values_of_a_part_are_the_cause_of_those_behind_it() -> None:
    """A comparison makes of undefined memory truth values that are wrong, but not undefined."""

    def fails(case: Case) -> Outcome | None:
        if not has(case, "sum"):
            return None
        undefined = case.program.nodes[-1].operator == "sum"
        return wrong(**{UNDEFINED: True}) if undefined else wrong()

    reduced = cored(chain("abs", "sum", "exp"), fails)
    assert operators(reduced.case) == "sum"
    assert KIND.appearance(reduced.outcome) == "undefined memory"


def test_a_program_that_is_left_behind_is_no_part() -> None:
    """It gives NaN by itself, and has nothing to do with the values that are off."""

    def fails(case: Case) -> Outcome | None:
        if has(case, "exp"):
            return wrong()
        return wrong(**{NAN: True}) if has(case, "abs") else None

    assert operators(cored(chain("abs", "exp", "sqrt"), fails).case) == "exp"


def test_a_core_is_found_within_its_tries() -> None:
    """Of a failure that hardly any simpler program has."""
    many = chain(*("abs", "exp", "negative", "sqrt") * 6, shape=(2, "m", "m", "m"))
    count, trials = 0, core(many, wrong())
    next(trials)
    with suppress(StopIteration):
        while True:
            trials.send(wrong() if count % 20 == 0 else Outcome(Verdict.PASS))
            count += 1
    assert 20 < count <= MOST_TRIES


def test_a_value_of_a_size_of_its_own_becomes_an_input_with_a_symbol_of_its_own() -> None:
    """Half of a dimension is none of an input's, and not half as large everywhere else."""
    inputs = (Input("x", ("n",), "float32"), Input("y", (1,), "float32"))
    half = Node("h", "split", ("x",), {"indices_or_sections": 2, "axis": 0, "item": 0})
    program = Program(inputs, (half, Node("z", "add", ("h", "y"))), ("z",))
    case = Case(family="dynamic", program=program, bindings=({"n": 4}, {"n": 6}))

    def fails(case: Case) -> Outcome | None:
        return wrong() if has(case, "add") and case.program.symbols else None

    reference, _ = validate(case, lambda stage: None)
    cut = [
        each
        for each in graph_steps.nodes(case, Knowledge(values=reference.values))
        if [node.operator for node in each.program.nodes] == ["add"]
    ]
    shapes = {tensor.name: tensor.shape for tensor in cut[0].program.inputs}
    assert (shapes["h"], shapes["y"]) == (("s0",), (1,))
    assert [row["s0"] for row in cut[0].bindings] == [2, 3]
    assert operators(cored(case, fails).case) == "add"


def test_a_size_that_a_symbol_happens_to_have_is_cut_as_a_number_too() -> None:
    """Of two dimensions that are equal where it runs, and that TVM does not know to be."""
    inputs = (Input("x", (4, 3), "float32"), Input("y", ("m", 3), "float32"))
    half = Node("h", "split", ("x",), {"indices_or_sections": 2, "axis": 0, "item": 0})
    program = Program(inputs, (half, Node("z", "add", ("h", "y"))), ("z",))
    case = Case(family="dynamic", program=program, bindings=({"m": 2},))

    def fails(case: Case) -> Outcome | None:
        if not has(case, "add"):
            return None
        if has(case, "split"):
            return wrong()
        (node,) = case.program.nodes
        first = {case.program.input(name).shape[0] for name in node.arguments}
        return wrong() if first == {2, "m"} else None

    assert operators(cored(case, fails).case) == "add"

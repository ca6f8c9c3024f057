"""Models imported, compiled, run and judged."""

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.case import CaseError, Invalid
from relaxcheck.generators.onnx.case import Importing, OnnxCase
from relaxcheck.harness.compiling import building
from relaxcheck.harness.onnx.execute import execute, execute_together
from relaxcheck.harness.outcomes.errors import UNNAMED
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.plain import does
from tests.harness.onnx.models import chain, of, softmax


def test_a_right_model_passes_by_several_oracles() -> None:
    outcome = execute(softmax())
    assert outcome.verdict is Verdict.PASS, outcome.message
    assert {"onnxruntime"} <= set(outcome.oracles)
    assert [check.output for check in outcome.checks] == ["y"]


def test_an_old_softmax_is_over_all_later_axes() -> None:
    """The evaluator knows one axis alone, so that it cannot be among those that agree."""
    outcome = execute(softmax(opset=11))
    assert outcome.verdict is Verdict.PASS, outcome.message
    assert "evaluator" not in outcome.oracles


@pytest.mark.parametrize(
    "importing",
    [
        Importing(keep_params=True),
        Importing(opset=True),
        Importing(sanitize=False),
        Importing(shapes=True),
    ],
    ids=["parameters", "opset", "names", "shapes"],
)
def test_arguments_of_the_importer(importing: Importing) -> None:
    case = chain(importing=importing)
    outcome = execute(replace(case, bindings=case.bindings[:1]) if importing.shapes else case)
    assert outcome.verdict is Verdict.PASS, outcome.message


def test_each_binding_and_regime_is_run() -> None:
    outcome = execute(chain(also=("exact", "boundary")))
    assert outcome.verdict is Verdict.PASS, outcome.message
    seen = [(check.binding["B"], check.regime) for check in outcome.checks]
    assert seen == [(2, "normal"), (1, "normal"), (1, "exact"), (2, "boundary")]


def test_a_wrong_result_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    run = building.run

    def off(*arguments: Any) -> tuple[np.ndarray[Any, Any], ...]:
        return tuple(array + array.dtype.type(1) for array in run(*arguments))

    monkeypatch.setattr(building, "run", off)
    outcome = execute(softmax())
    assert outcome.verdict is Verdict.WRONG_VALUE
    assert "12 of 12 elements" in outcome.message


def test_an_unknown_operator_is_refused_by_name() -> None:
    outcome = execute(of("Det"))
    assert (outcome.verdict, outcome.stage) == (Verdict.UNSUPPORTED, "import")
    assert outcome.operator == "Det"


def test_a_refusal_that_names_no_operator_says_so() -> None:
    case = of("IsInf", "bfloat16")
    outcome = execute(replace(case, model=replace(case.model, opset=20)))
    assert (outcome.verdict, outcome.operator) == (Verdict.UNSUPPORTED, "IsInf"), outcome.message
    assert outcome.details[UNNAMED] is True
    assert does(outcome).startswith("raises an error that says what is not supported, but names no")
    assert UNNAMED not in execute(of("Det")).details


def test_a_fault_of_the_importer_is_its_own_stage() -> None:
    outcome = execute(of("Elu", "float16"))
    assert outcome.stage == "import"
    assert outcome.verdict is Verdict.OPAQUE_CRASH, outcome.message


def test_an_invalid_model_that_runs_is_accepted() -> None:
    case = replace(softmax(), expect=Invalid("Softmax", ("axis",)))
    outcome = execute(case)
    assert outcome.verdict is Verdict.ACCEPTS_INVALID
    assert "invalid by its axis" in outcome.message


def test_a_pipeline_that_does_not_exist() -> None:
    with pytest.raises(CaseError, match="pipeline 'other' is unknown"):
        execute(softmax(pipeline="other"))


def test_cases_together_have_the_outcomes_of_each() -> None:
    cases: list[OnnxCase] = [softmax(), of("Det"), chain(), of("Abs"), softmax(opset=11)]
    together = list(execute_together(cases, lambda number, stage: None))
    for case, outcome in zip(cases, together, strict=True):
        alone = execute(case)
        assert (outcome.verdict, outcome.stage) == (alone.verdict, alone.stage)
        assert "relaxcheck" not in outcome.message


def test_a_case_whose_code_cannot_be_generated_leaves_the_others_alone() -> None:
    """TVM has no such intrinsic of float16."""
    cases = [of("Abs"), of("Asinh", "float16"), of("Neg")]
    stages: list[tuple[int | None, str]] = []
    outcomes = list(execute_together(cases, lambda number, stage: stages.append((number, stage))))
    assert [outcome.verdict for outcome in outcomes][::2] == [Verdict.PASS] * 2
    assert (outcomes[1].stage, outcomes[1].verdict.is_failure) == ("codegen", True)
    assert (1, "codegen") in stages

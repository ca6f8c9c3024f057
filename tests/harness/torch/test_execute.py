"""PyTorch programs exported, imported, compiled, run and judged."""

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.torch.case import (
    DYNAMO,
    EXPORT,
    FX,
    NAMED,
    Exporting,
    Importing,
    TorchCase,
)
from relaxcheck.generators.torch.program import Node, Program, Ref, Tensor
from relaxcheck.harness.compiling import building
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.torch import importing
from relaxcheck.harness.torch.execute import execute, execute_together
from relaxcheck.harness.torch.keeping import FOLDER
from tests.harness.torch.programs import chain, holding, of


@pytest.fixture(autouse=True)
def keep_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, "")


def test_each_binding_and_regime_is_run() -> None:
    outcome = execute(chain(also=("exact",)))
    assert outcome.verdict is Verdict.PASS, outcome.message
    seen = [(check.binding["B"], check.regime) for check in outcome.checks]
    assert seen == [(2, "normal"), (3, "normal"), (3, "exact")]
    assert outcome.oracles == ("pytorch",)


@pytest.mark.parametrize(
    "importing",
    [
        Importing(keep_params=True),
        Importing(unwrap=True),
        Importing(FX),
        Importing(FX, keep_params=True),
        Importing(DYNAMO),
    ],
    ids=["parameters", "unwrapped", "fx", "fx-parameters", "dynamo"],
)
def test_doors_and_arguments_of_the_importer(importing: Importing) -> None:
    case = chain(importing=importing)
    if importing.door != EXPORT:
        static = Tensor("x", (2, 3))
        case = replace(case, program=replace(case.program, tensors=(static,)), bindings=({},))
    outcome = execute(case)
    assert outcome.verdict is Verdict.PASS, outcome.message
    assert {check.output for check in outcome.checks} == {"y"}


def test_a_sequence_of_one_tensor_is_unpacked() -> None:
    program = Program(
        (Tensor("x", (3,)),),
        (Node("torch.Tensor.split", (Ref("x"), 3)), Node("torch.tanh", (Ref("y"),), {}, ("z",))),
        ("y", "z"),
    )
    outcome = execute(TorchCase("torch-graph", program, importing=Importing(FX)))
    assert outcome.verdict is Verdict.PASS, outcome.message


def test_programs_of_the_door_dynamo_run_with_their_own_fixes() -> None:
    """One that lacks a fix beside one that has it: neither is compiled with the other's."""
    program = Program(
        (Tensor("x", (3,)),), (Node("torch.nn.functional.mish", (Ref("x"),)),), ("y",)
    )
    cases = [
        TorchCase("torch-graph", program, importing=Importing(DYNAMO), fixes=fixes)
        for fixes in (True, False, True)
    ]
    verdicts = [each.verdict for each in execute_together(cases, lambda number, stage: None)]
    assert verdicts == [Verdict.PASS, Verdict.UNSUPPORTED, Verdict.PASS]


@pytest.mark.parametrize("decomposed", [True, False])
@pytest.mark.parametrize("keep_params", [True, False])
def test_what_a_module_holds(decomposed: bool, keep_params: bool) -> None:
    how = Exporting(NAMED, decomposed=decomposed)
    outcome = execute(holding(exporting=how, importing=Importing(keep_params=keep_params)))
    assert outcome.verdict in (Verdict.PASS, Verdict.WRONG_VALUE), outcome.message
    assert [check.output for check in outcome.checks] == ["y", "sorted"]


def test_a_size_that_pytorch_fixed_is_not_run_at_another() -> None:
    """A view of a number of rows fixes the batch at that of the example."""
    program = Program(
        (Tensor("x", ("B", 3)),), (Node("torch.Tensor.view", (Ref("x"), 2, 3)),), ("y",)
    )
    outcome = execute(TorchCase("torch-view", program, bindings=({"B": 2}, {"B": 3})))
    assert outcome.verdict is Verdict.PASS, outcome.message
    assert [check.binding for check in outcome.checks] == [{"B": 2}]


def test_a_wrong_result_is_held_to_the_exported_program_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = building.run

    def off(*arguments: Any) -> tuple[np.ndarray[Any, Any], ...]:
        return tuple(array + array.dtype.type(1) for array in run(*arguments))

    monkeypatch.setattr(building, "run", off)
    outcome = execute(of("torch.relu"))
    assert outcome.verdict is Verdict.WRONG_VALUE
    assert "6 of 6 elements" in outcome.message
    assert set(outcome.oracles) == {"pytorch", "exported"}


def test_an_output_that_is_no_tuple_is_of_another_structure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = importing.imported

    def unwrapped(case: TorchCase, program: Any) -> importing.Imported:
        return made(replace(case, importing=Importing(unwrap=True)), program)

    monkeypatch.setattr(importing, "imported", unwrapped)
    outcome = execute(of("torch.relu"))
    assert (outcome.verdict, outcome.stage) == (Verdict.WRONG_SHAPE, "import")
    assert outcome.message == "the imported function returns a tensor, not a tuple"


def test_all_that_the_importer_lacks_is_named() -> None:
    """Neither TVM 0.27 nor the releases before it convert the two."""
    program = Program(
        (Tensor("x", (2, 3)),),
        (
            Node("torch.erfinv", (Ref("x"),), outputs=("a",)),
            Node("torch.special.i0", (Ref("a"),)),
        ),
        ("y",),
    )
    outcome = execute(TorchCase("torch-lacking", program))
    assert (outcome.verdict, outcome.stage) == (Verdict.UNSUPPORTED, "import")
    assert outcome.operator == "erfinv.default + i0.default"
    assert "place" not in outcome.details


def test_an_error_of_the_importer_is_about_the_node_that_it_was_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tvm.relax.frontend.torch.base_fx_graph_translator import BaseFXGraphImporter

    def broken(self: Any, node: Any) -> Any:
        raise ValueError("no such luck")

    monkeypatch.setattr(BaseFXGraphImporter, "_softplus", broken)
    how = Exporting(decomposed=False)
    outcome = execute(of("torch.nn.functional.softplus", exporting=how))
    assert (outcome.verdict, outcome.stage) == (Verdict.OPAQUE_CRASH, "import")
    assert outcome.operator == "softplus.default"


def test_what_pytorch_does_not_export_is_not_tvms_fault() -> None:
    outcome = execute(of("torch.Tensor.view", 5))
    assert (outcome.verdict, outcome.stage) == (Verdict.NO_ORACLE, "export")
    assert "PyTorch does not export the program: RuntimeError: shape '[5]'" in outcome.message


@pytest.mark.parametrize("door", [FX, DYNAMO])
def test_what_pytorch_does_not_run_is_not_tvms_fault(door: str) -> None:
    outcome = execute(of("torch.Tensor.view", 5, importing=Importing(door)))
    assert outcome.verdict in (Verdict.NO_ORACLE, Verdict.OPAQUE_CRASH), outcome.message


def test_a_door_that_a_release_lacks_says_nothing_about_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importing, "has_door", lambda door: door != FX)
    outcome = execute(of("torch.relu", importing=Importing(FX)))
    assert outcome.verdict is Verdict.NO_ORACLE
    assert outcome.message == "this release of TVM has no door 'fx'"


def test_a_pipeline_that_there_is_not() -> None:
    with pytest.raises(CaseError, match="pipeline 'none' is unknown"):
        execute(of("torch.relu", pipeline="none"))


def together(cases: list[TorchCase]) -> list[Outcome]:
    return list(execute_together(cases, lambda number, stage: None))


def test_cases_run_together_end_as_they_do_alone() -> None:
    cases = [
        chain(),
        of("torch.erfinv"),
        of("torch.Tensor.view", 5),
        of("torch.relu", opt_level=3),
        holding(),
        of("torch.relu", importing=Importing(FX)),
        of("torch.relu", importing=Importing(DYNAMO)),
        of("torch.neg", exporting=Exporting(decomposed=False), pipeline="default-pipeline"),
    ]
    for case, outcome in zip(cases, together(cases), strict=True):
        alone = execute(case)
        assert (outcome.verdict, outcome.stage, outcome.operator) == (
            alone.verdict,
            alone.stage,
            alone.operator,
        )
        assert outcome.message == alone.message
        assert [(c.output, c.ratio, c.binding) for c in outcome.checks] == [
            (c.output, c.ratio, c.binding) for c in alone.checks
        ]

"""Failing programs made simpler."""

from typing import Any

import pytest

from relaxcheck.generators.torch.case import NAMED, Exporting, Importing, TorchCase
from relaxcheck.generators.torch.program import Node, Program, Ref, Tensor
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.torch.execute import execute
from relaxcheck.harness.torch.inferred import types_of
from relaxcheck.harness.torch.keeping import FOLDER
from relaxcheck.harness.torch.kind import KIND
from relaxcheck.harness.torch.reduction import endings, measure
from relaxcheck.harness.torch.vetting import validate
from relaxcheck.harness.torch.walk import functions_of
from tests.harness.torch.programs import chain, holding, of

FAILED = Outcome(Verdict.OPAQUE_CRASH, "import", None, "TypeError: …")


@pytest.fixture(autouse=True)
def keep_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, "")


def smaller(case: TorchCase) -> list[TorchCase]:
    return [each for step in KIND.steps for each in step(case, FAILED)]


@pytest.mark.parametrize(
    "case",
    [
        chain(
            exporting=Exporting(NAMED, decomposed=False, strict=True),
            importing=Importing(keep_params=True, no_bind=True),
            pipeline="default-pipeline",
            opt_level=3,
        ),
        holding(importing=Importing("fx", unwrap=True)),
        of("torch.sum", 1, True),
    ],
)
def test_every_candidate_is_simpler(case: TorchCase) -> None:
    candidates = smaller(case)
    assert candidates
    for each in candidates:
        assert measure(each) < measure(case), each


def test_the_one_node_at_fault_is_reached() -> None:
    """Whatever calls ``relu`` fails: it is left, with an input of the shape that it had."""
    case = chain(exporting=Exporting(decomposed=False))
    while True:
        failing = (each for each in smaller(case) if "relu" in functions_of(each.program))
        valid = (each for each in failing if not validate(each, lambda stage: None)[1])
        simpler = next(valid, None)
        if simpler is None:
            break
        case = simpler
    assert functions_of(case.program) == ("relu",)
    assert not case.program.symbols
    assert [tensor.shape for tensor in case.program.tensors] == [()]
    assert case.exporting == Exporting()


def test_a_wrong_converter_is_found_in_a_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """A converter planted wrong gives wrong values, and one node is left of the graph."""
    from tvm import relax
    from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

    table: Any = ExportedProgramImporter.create_convert_map

    def planted(self: Any) -> Any:
        def wrong(node: Any) -> Any:
            return self.block_builder.emit(relax.op.sin(self.env[node.args[0]]))

        return {**table(self), "cos.default": wrong}

    monkeypatch.setattr(ExportedProgramImporter, "create_convert_map", planted)
    program = Program(
        (Tensor("x", ("B", 3)), Tensor("z", (3,))),
        (
            Node("torch.add", (Ref("x"), Ref("z")), outputs=("a",)),
            Node("torch.cos", (Ref("a"),), outputs=("b",)),
            Node("torch.exp", (Ref("b"),), outputs=("c",)),
            Node("torch.mul", (Ref("c"), Ref("x"))),
        ),
        ("y", "c"),
    )
    case = TorchCase("torch-planted", program, ({"B": 2}, {"B": 3}))
    outcome = execute(case)
    assert outcome.verdict is Verdict.WRONG_VALUE
    while True:
        steps = (each for step in KIND.steps for each in step(case, outcome))
        failing = (
            (each, result)
            for each in steps
            if not validate(each, lambda stage: None)[1]
            and (result := execute(each)).verdict is Verdict.WRONG_VALUE
        )
        found = next(failing, None)
        if found is None:
            break
        case, outcome = found
    assert functions_of(case.program) == ("cos",)
    assert len(case.program.nodes) == len(case.program.outputs) == len(case.bindings) == 1


def test_types_of_values_are_those_of_eager_pytorch() -> None:
    types = types_of(chain())
    assert types["product"] == ("float32", (2, 2))
    assert types["y"] == ("float32", (2, 1))


def test_what_changes_a_value_in_place_stays_with_it() -> None:
    ends = {name: case for name, _, case in endings(holding())}
    assert list(ends) == ["counted", "scaled", "moved", "sorted", "y"]
    assert [node.target for node in ends["scaled"].program.nodes] == ["torch.mul"]
    assert "torch.Tensor.add_" in [node.target for node in ends["y"].program.nodes]


def test_an_invalid_program_is_seen() -> None:
    reference, contradiction = validate(of("torch.Tensor.view", 5), lambda stage: None)
    assert "shape '[5]' is invalid" in reference.refused
    assert contradiction.startswith("the program is invalid: ")


def test_a_program_that_export_refuses_is_seen() -> None:
    """The batch has a name, and the view fixes its size."""
    program = Program(
        (Tensor("x", ("B", 3)),), (Node("torch.Tensor.view", (Ref("x"), 2, 3)),), ("y",)
    )
    case = TorchCase("torch-view", program, ({"B": 2},), exporting=Exporting(NAMED))
    _, contradiction = validate(case, lambda stage: None)
    assert contradiction.startswith("the program is invalid: UserError: Constraints violated")

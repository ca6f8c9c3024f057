"""Calls for an effect: between dataflow blocks, and in the program's order."""

import pytest
from tvm import relax

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.emission.programs import emit
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs import compile as compiling
from relaxcheck.harness.programs.execute import execute


def _case(condition: int = 1, **settings: str) -> Case:
    inputs = (
        Input("x", ("m", 2), "int32", fill=Literal((1, 2, 3, 4))),
        Input("fine", (), "bool", fill=Literal((condition,))),
    )
    nodes = (
        Node("left", "split", ("x",), {"indices_or_sections": 2, "axis": 1, "item": 0}),
        Node("shown", "print", ("x", "left"), {"format": "of {} the left is {}"}),
        Node("right", "split", ("x",), {"indices_or_sections": 2, "axis": 1, "item": 1}),
        Node("held", "assert_op", ("fine", "left"), {"format": "left are {}"}),
        Node("same", "assert_op", ("fine",)),
        Node("sum", "add", ("shown", "right")),
        Node("both", "add", ("sum", "held")),
    )
    program = Program(inputs, nodes, ("both", "same", "left"))
    return Case("any", program, bindings=({"m": 2},), **settings)  # type: ignore[arg-type]


def test_no_dataflow_block_has_an_effect() -> None:
    module = emit(_case())
    assert relax.analysis.well_formed(module) is not False
    main = module["main"]
    assert not main.is_pure
    called = [
        [str(binding.value.op.name) for binding in block.bindings if hasattr(binding.value, "op")]
        for block in main.body.blocks
    ]
    effects = [names for names in called if {"relax.print", "relax.assert_op"} & {*names}]
    flowing = [isinstance(block, relax.expr.DataflowBlock) for block in main.body.blocks]
    assert effects == [["relax.print"], ["relax.assert_op", "relax.assert_op"]]
    assert flowing == [True, False, True, False, True]


def test_a_program_without_effects_is_pure_and_one_block() -> None:
    program = Program((Input("x", (2,), "float32"),), (Node("y", "exp", ("x",)),), ("y", "x"))
    main = emit(Case("any", program))["main"]
    assert main.is_pure
    assert len(main.body.blocks) == 1


@pytest.mark.parametrize("mode", ["bytecode", "compiled"])
@pytest.mark.parametrize("pipeline", ["build", "default-pipeline", "legalize-first"])
def test_the_computation_beside_is_right(
    mode: str, pipeline: str, capfd: pytest.CaptureFixture[str]
) -> None:
    outcome = execute(_case(exec_mode=mode, pipeline=pipeline))
    assert outcome.verdict is Verdict.PASS, outcome
    words = " ".join(capfd.readouterr().out.split())
    assert words == "of [[1 2] [3 4]] the left is [[1] [3]]"


@pytest.mark.parametrize("mode", ["bytecode", "compiled"])
@pytest.mark.parametrize("pipeline", ["build", "default-pipeline", "legalize-first"])
def test_a_false_condition_ends_the_run_with_the_formatted_message(
    mode: str, pipeline: str
) -> None:
    case = _case(0, exec_mode=mode, pipeline=pipeline)
    main = building.load(compiling.build(emit(case), case, lambda stage: None))
    values = arrays(case, 0)
    with pytest.raises(StageError) as raised:
        building.run(main, [values["x"], values["fine"]])
    assert isinstance(raised.value.cause, AssertionError)
    assert " ".join(str(raised.value.cause).split()) == "left are [[1] [3]]"

"""Checks of whole models: the verdict, the wrong nodes, and whom to blame."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import tvm
from onnx import helper
from torch import nn
from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator
from tvm.relax.frontend.onnx import onnx_frontend

from relaxcheck import fixes
from relaxcheck.fixes.tvm_api.functions import type_arguments
from relaxcheck.harness.models.checking import check
from relaxcheck.harness.models.job import Job, Known, Message, Progress
from relaxcheck.harness.models.report import Blame, Report, Verdict
from relaxcheck.harness.models.sources import ModelError
from tests.harness.models.small import Last, exported, making, model, perceptron, saved


@pytest.fixture(autouse=True)
def without_fixes() -> Iterator[None]:
    yield
    fixes.uninstall()


def checked(name: str, **options: Any) -> tuple[Report, list[Message]]:
    messages: list[Message] = []
    return check(Job(name, draws=1, **options), messages.append), messages


def test_a_right_model_is_right_at_every_size(tmp_path: Path) -> None:
    report, messages = checked(saved(perceptron(), tmp_path), sizes={"n": (2, 1, 7)})
    assert report.verdict is Verdict.RIGHT
    assert [trial.binding for trial in report.trials] == [{"n": 2}, {"n": 1}, {"n": 7}]
    assert all(output.factor < 4 for trial in report.trials for output in trial.outputs)
    stages = [each.stage for each in messages if isinstance(each, Progress)]
    assert [s for s in stages if s in ("load", "framework", "import", "compile")] == [
        *("load", "framework", "import", "compile")
    ]
    assert any(isinstance(each, Known) and each.report.trials for each in messages)


def test_a_wrong_conversion_is_named_and_the_importer_blamed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted = onnx_frontend.ONNXGraphImporter._convert_operator
    count = 0

    def planted(self: Any, operator: str, *arguments: Any) -> Any:
        nonlocal count
        value = converted(self, operator, *arguments)
        count += operator == "Tanh"
        if operator == "Tanh" and count == 2:
            return relax.op.multiply(value, relax.const(1.01, "float32"))
        return value

    monkeypatch.setattr(onnx_frontend.ONNXGraphImporter, "_convert_operator", planted)
    report, _ = checked(saved(perceptron(3), tmp_path))
    assert report.verdict is Verdict.WRONG
    assert [(node.name, node.operator) for node in report.wrong] == [("value1", "Tanh")]
    assert report.wrong[0].blame is Blame.IMPORTER
    assert "R.multiply" in report.wrong[0].relax
    assert report.checked == report.nodes


def test_the_last_token_of_a_pytorch_model_is_read_out_of_bounds(tmp_path: Path) -> None:
    path = tmp_path / "program.pt2"
    torch.export.save(exported(Last(), torch.randn(2, 5, 3), batch=True), path)
    report, _ = checked(str(path))
    assert report.verdict is Verdict.WRONG
    assert [node.operator for node in report.wrong] == ["aten.select.int"]
    assert report.wrong[0].blame is Blame.IMPORTER
    assert {size for trial in report.trials for size in trial.binding.values()} == {1, 2, 7}


def test_a_wrong_lowering_is_told_from_a_wrong_conversion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import relaxcheck.harness.models.compiling as compiling
    from relaxcheck.harness.compiling import building

    def lowered(builder: Any, call: Any) -> Any:
        from tvm import topi

        return builder.call_te(lambda x: topi.tanh(x * x), call.args[0])

    real = building.build
    wrong = relax.transform.LegalizeOps({"relax.tanh": lowered})

    def build(module: Any, recipe: Any, progress: Any, **options: Any) -> Any:
        return real(wrong(module), recipe, progress, **options)

    monkeypatch.setattr(compiling, "build", build)
    report, _ = checked(saved(perceptron(), tmp_path))
    assert report.verdict is Verdict.WRONG
    assert {node.operator for node in report.wrong} == {"Tanh"}
    assert {node.blame for node in report.wrong} == {Blame.LOWERING}


def test_a_wrong_pass_of_the_pipeline_is_told_from_a_wrong_lowering(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from relaxcheck.harness.compiling import building

    @tvm.transform.module_pass(opt_level=0, name="PlantedAlone")
    def planted(module: Any, context: Any) -> Any:
        @mutator
        class Wrong(PyExprMutator):  # type: ignore[misc]
            def visit_call_(self, call: Any) -> Any:
                call = self.visit_expr_post_order(call)
                is_tanh = call.op == tvm.ir.Op.get("relax.tanh")
                return relax.op.sigmoid(call.args[0]) if is_tanh else call

        module = module.clone()
        main = Wrong(module).visit_expr(module["main"])
        module.update_func(module.get_global_var("main"), main)
        return module

    passes = building._passes

    def pipeline(recipe: Any, where: Any) -> Any:
        real = passes(recipe, where)
        return tvm.transform.Sequential([planted, real]) if recipe.fused else real

    monkeypatch.setattr(building, "_passes", pipeline)
    report, _ = checked(saved(perceptron(1), tmp_path))
    assert report.verdict is Verdict.WRONG
    assert [(node.operator, node.blame) for node in report.wrong] == [("Tanh", Blame.COMPILER)]


def test_a_wrong_shape_and_a_wrong_dtype_are_the_importers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted = onnx_frontend.ONNXGraphImporter._convert_operator

    def planted(self: Any, operator: str, *arguments: Any) -> Any:
        value = converted(self, operator, *arguments)
        return relax.op.astype(value, "float64") if operator == "Exp" else value

    monkeypatch.setattr(onnx_frontend.ONNXGraphImporter, "_convert_operator", planted)
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("Exp", ["a"], ["b"]),
        helper.make_node("Neg", ["b"], ["y"]),
    ]
    report, _ = checked(saved(model(nodes, {"x": [3]}, {"y": [3]}, []), tmp_path))
    assert report.verdict is Verdict.WRONG
    # Neg is of the wrong dtype as well, because its operand is.
    assert [(node.name, node.blame) for node in report.wrong] == [("b", Blame.IMPORTER)]
    assert "float64 (3) instead of float32 (3,)" in report.wrong[0].figures.difference


def test_the_first_nan_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    converted = onnx_frontend.ONNXGraphImporter._convert_operator

    def planted(self: Any, operator: str, *arguments: Any) -> Any:
        value = converted(self, operator, *arguments)
        return relax.op.log(relax.op.negative(value)) if operator == "Abs" else value

    monkeypatch.setattr(onnx_frontend.ONNXGraphImporter, "_convert_operator", planted)
    nodes = [
        helper.make_node("Abs", ["x"], ["a"]),
        helper.make_node("Exp", ["a"], ["y"]),
    ]
    report, _ = checked(saved(model(nodes, {"x": [3]}, {"y": [3]}, []), tmp_path))
    assert report.special == "NaN first arises in a (Abs), in TVM alone"
    assert [node.name for node in report.wrong] == ["a"]


def test_every_node_of_a_right_model_is_run_on_request(tmp_path: Path) -> None:
    report, _ = checked(saved(perceptron(2), tmp_path), nodes=True)
    assert report.verdict is Verdict.RIGHT
    assert (report.checked, report.nodes, report.wrong) == (4, 4, ())


@tvm.transform.module_pass(opt_level=0, name="Planted")
def planted_fusion(module: Any, context: Any) -> Any:
    """Loses the activation of a sum, which it only finds where both are in one program."""

    @mutator
    class Losing(PyExprMutator):  # type: ignore[misc]
        def visit_call_(self, call: Any) -> Any:
            call = self.visit_expr_post_order(call)
            if call.op == tvm.ir.Op.get("relax.tanh"):
                bound = self.lookup_binding(call.args[0])
                if isinstance(bound, relax.Call) and bound.op == tvm.ir.Op.get("relax.add"):
                    return relax.op.negative(call.args[0])
            return call

    module = module.clone()
    losing = Losing(module)
    module.update_func(module.get_global_var("main"), losing.visit_expr(module["main"]))
    return module


def test_a_fault_of_two_steps_together_is_a_region_and_a_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from relaxcheck.harness.compiling import building

    passes = building._passes

    def planted(recipe: Any, where: Any) -> Any:
        real = passes(recipe, where)
        first = relax.get_pipeline("default") if real == "default" else real
        return tvm.transform.Sequential([planted_fusion, first])

    monkeypatch.setattr(building, "_passes", planted)
    report, _ = checked(saved(perceptron(5), tmp_path))
    assert report.verdict is Verdict.WRONG
    assert (report.wrong, report.checked) == ((), 10)
    assert report.region in [(f"product{n}", f"value{n}") for n in range(5)]
    assert report.passes == ("Planted",)
    assert report.piece is not None
    assert report.piece.nodes == report.region
    assert report.piece.case is not None
    assert [each.operator for each in report.piece.case.model.nodes] == ["Gemm", "Tanh"]


def test_a_fault_of_the_memory_planner_is_a_region_and_its_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planner = relax.transform.StaticPlanBlockMemory

    def planted() -> Any:
        right = planner()

        @tvm.transform.module_pass(opt_level=0, name="StaticPlanBlockMemory")
        def wrong(module: Any, context: Any) -> Any:
            """Puts all tensors of the plan into the first storage."""
            module = right(module).clone()
            if not any(str(each.name_hint) == "main" for each in module.get_global_vars()):
                return module
            first: list[Any] = []

            @mutator
            class Sharing(PyExprMutator):  # type: ignore[misc]
                def visit_call_(self, call: Any) -> Any:
                    call = self.visit_expr_post_order(call)
                    if str(getattr(call.op, "name", "")) != "relax.memory.alloc_tensor":
                        return call
                    first.append(call.args[0])
                    arguments = [first[0], *call.args[1:]]
                    return relax.Call(call.op, arguments, call.attrs, type_arguments(call))

            main = Sharing(module).visit_expr(module["main"])
            module.update_func(module.get_global_var("main"), main)
            return module

        return wrong

    # The first value is needed after two others are computed.
    proto = perceptron(3)
    proto.graph.node.append(helper.make_node("Add", ["value0", "value2"], ["sum"]))
    proto.graph.node.append(helper.make_node("MatMul", ["sum", "w0"], ["y"]))
    proto.graph.output[0].name = "y"
    monkeypatch.setattr(relax.transform, "StaticPlanBlockMemory", planted)
    report, _ = checked(saved(proto, tmp_path), sizes={"n": (2,)})
    assert report.verdict is Verdict.WRONG
    assert report.wrong == ()
    assert set(report.region) >= {"value0", "value2", "sum"}
    assert "StaticPlanBlockMemory" in report.passes


def test_operators_that_the_importer_lacks_are_listed_with_their_nodes(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Det", ["x"], ["first"], "first"),
        helper.make_node("Det", ["x"], ["second"], "second"),
        helper.make_node("Add", ["first", "second"], ["y"], "sum"),
    ]
    report, _ = checked(saved(model(nodes, {"x": [3, 2, 2]}, {"y": [3]}, []), tmp_path))
    assert (report.verdict, report.stage) == (Verdict.IMPORT, "import")
    (lacking,) = report.lacking
    assert (lacking.operator, lacking.count, lacking.nodes) == ("Det", 2, ("first", "second"))


def test_the_node_at_which_a_conversion_raises_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted = onnx_frontend.ONNXGraphImporter._convert_operator

    def raising(self: Any, operator: str, *arguments: Any) -> Any:
        if operator == "Tanh":
            raise ValueError("planted")
        return converted(self, operator, *arguments)

    monkeypatch.setattr(onnx_frontend.ONNXGraphImporter, "_convert_operator", raising)
    report, _ = checked(saved(perceptron(), tmp_path))
    assert report.verdict is Verdict.IMPORT
    assert report.place is not None
    assert (report.place.node, report.place.operator) == ("tanh0", "Tanh")
    assert report.place.operands == ("float32 (n, 4)",)


class Odd(nn.Module):
    """Has an operator that the importer of PyTorch's programs lacks."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nonzero(x)


def test_operators_of_pytorch_that_the_importer_lacks_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "program.pt2"
    torch.export.save(exported(Odd(), torch.ones(3)), path)
    report, _ = checked(str(path))
    assert report.verdict is Verdict.IMPORT
    assert [(each.operator, each.count) for each in report.lacking] == [("aten.nonzero.default", 1)]


def test_the_users_inputs_are_run_and_named(tmp_path: Path) -> None:
    data = tmp_path / "data.npz"
    np.savez(data, x=np.ones((5, 4), np.float32))
    report, _ = checked(saved(perceptron(1), tmp_path), data=str(data))
    assert report.trials[0].inputs == f"inputs of {data}"
    assert report.verdict is Verdict.RIGHT


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sizes": {"length": (3,)}}, "the model has no symbolic dimension length; it has n"),
        ({"data": "none.npz"}, "none.npz: no such file"),
        ({"target": "nonsense"}, "nonsense"),
    ],
)
def test_bad_options_are_refused_in_one_line(
    options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=words) as raised:
        checked(saved(perceptron(1), tmp_path), **options)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise KeyError('weights')", "raised KeyError: 'weights'"),
        ("return 3", "returned int; it has to return"),
        ("return nn.Linear(2, 2), (torch.ones(3),)", "torch.export cannot export"),
    ],
)
def test_a_function_that_makes_no_model_is_refused(
    body: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    name = making(tmp_path, body, f"refused_{abs(hash(body))}")
    with pytest.raises(ModelError, match=words):
        checked(name)

"""FuseOps goes on without fusing where what it made cannot be lowered, and only there."""

from collections.abc import Callable
from typing import Any

import pytest
import tvm
from tvm import relax

from fixes import fusion, tvm_api
from tests.fixes import compiled

OP = relax.op
Pass = Callable[[Any], Any]


def lowered() -> Any:
    module = compiled.module(lambda x: OP.tanh(OP.nn.relu(x)), ("M",))
    module = relax.transform.LegalizeOps()(module)
    return relax.transform.AnnotateTIROpPattern()(module)


def failing(message: str) -> Pass:
    def run(module: Any) -> Any:
        raise tvm.error.InternalError(f"Check failed: {message}")

    return run


def replaced(monkeypatch: pytest.MonkeyPatch, name: str, run: Pass) -> None:
    """TVM's pass ``name`` is ``run`` from now on."""
    monkeypatch.setattr(fusion._ffi_api, name, lambda *level: run, raising=False)


def test_what_can_be_fused_is() -> None:
    module = lowered()
    fused = fusion.FuseOps()(module)
    tvm.ir.assert_structural_equal(fused, fusion._ORIGINAL()(module))
    # What is fused is a function of Relax, which is called by its name.
    assert compiled.calls(fused) == []


def test_the_level_is_handed_on() -> None:
    """At 0 nothing is fused."""
    module = lowered()
    found = fusion.FuseOps(fuse_opt_level=0)(module)
    tvm.ir.assert_structural_equal(found, fusion._ORIGINAL(fuse_opt_level=0)(module))
    assert compiled.calls(found) == ["relax.call_tir"] * 2


@pytest.mark.parametrize("name", ["FuseOps", "FuseTIR"])
@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("(remap_.count(source)) is false: ", False),
        ("Do not have a default for tirx.Call", False),
        ("(depgroup != cur_group) is false: A cyclic dependency detected between", False),
        ("Cannot find the FInferType attribute registered to op: prim.if_then_else", False),
        ("(another) is false: ", True),
    ],
)
def test_a_module_that_cannot_be_fused_is_left_as_it_was(
    name: str, message: str, told: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = lowered()
    replaced(monkeypatch, name, failing(message))
    if told:
        with pytest.raises(tvm.error.InternalError, match="another"):
            fusion.FuseOps()(module)
    else:
        assert fusion.FuseOps()(module).same_as(module)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_a_module_whose_shapes_would_be_lost_is_left_as_it_was(
    known: bool, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What FuseTIR gives calls a function for one or two tensors, the last of a shape or none."""
    full = tvm_api.tensor_type((3,), "float32")
    types = [full] * (count - 1) + [full if known else tvm_api.unshaped_type(1, "float32")]
    tuple_type = getattr(relax, "TupleStructInfo", None) or relax.TupleType
    x = relax.Var("x", full)
    call = relax.Call(
        tvm.ir.Op.get("relax.call_tir"),
        [relax.ExternFunc("made"), relax.Tuple([x])],
        None,
        [types[0] if count == 1 else tuple_type(types)],
    )
    made = tvm.IRModule({"main": relax.Function([x], call, full)})
    replaced(monkeypatch, "FuseTIR", lambda module: made)
    module = lowered()
    assert fusion.FuseOps()(module).same_as(module) is not known


def test_the_pass_is_called_as_before() -> None:
    """By its name bisection finds it, and pipelines place others."""
    info = fusion.FuseOps().info
    assert (str(info.name), int(info.opt_level)) == ("FuseOps", 0)

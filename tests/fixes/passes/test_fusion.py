"""FuseOps skips fusion where the result could not be lowered, and only there."""

from collections.abc import Callable
from typing import Any

import pytest
import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.passes import fusion
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

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
    """Replace TVM's pass ``name`` by ``run``."""
    monkeypatch.setattr(fusion._ffi_api, name, lambda *level: run, raising=False)


def test_fusible_calls_are_fused() -> None:
    module = lowered()
    fused = fusion.FuseOps()(module)
    tvm.ir.assert_structural_equal(fused, fusion._ORIGINAL()(module))
    # A fused group is a Relax function, called by name.
    assert compiled.calls(fused) == []


def test_the_level_is_handed_on() -> None:
    """Level 0 fuses nothing."""
    module = lowered()
    result = fusion.FuseOps(fuse_opt_level=0)(module)
    tvm.ir.assert_structural_equal(result, fusion._ORIGINAL(fuse_opt_level=0)(module))
    assert compiled.calls(result) == ["relax.call_tir"] * 2


@pytest.mark.parametrize("name", ["FuseOps", "FuseTIR"])
@pytest.mark.parametrize(
    ("message", "raises"),
    [
        ("(remap_.count(source)) is false: ", False),
        ("(VarRemapGet(source) == nullptr) is false: ", False),
        ("Do not have a default for tirx.Call", False),
        ("(depgroup != cur_group) is false: A cyclic dependency detected between", False),
        ("Cannot find the FInferType attribute registered to op: prim.if_then_else", False),
        ("Inconsistent buffers y and x mapped to the same relax var: lv", False),
        ('(func_info_.global_name != "fused") is false: ', False),
        ("(another) is false: ", True),
    ],
)
def test_a_module_that_cannot_be_fused_is_left_as_it_was(
    name: str, message: str, raises: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = lowered()
    replaced(monkeypatch, name, failing(message))
    if raises:
        with pytest.raises(tvm.error.InternalError, match="another"):
            fusion.FuseOps()(module)
    else:
        assert fusion.FuseOps()(module).same_as(module)


def overwriting(*, read: bool) -> Any:
    """A module, lowered, that overwrites twice a tensor; with ``read`` that is read before."""
    m, n = map(tvm_api.shape_var, "mn")

    def make(builder: Any, x: Any) -> Any:
        before = builder.emit(OP.exp(x)) if read else None
        after = builder.emit(fusion.overwriting(builder, fusion._NEGATION, [x], [0], [(m, n)]))
        return OP.add(before, after) if read else after

    module = fusion._computed((m, n), make)
    return relax.transform.AnnotateTIROpPattern()(relax.transform.LegalizeOps()(module))


def test_a_module_that_reads_what_it_overwrites_is_left_as_it_was() -> None:
    module = overwriting(read=True)
    assert fusion.FuseOps()(module).same_as(module)
    module = overwriting(read=False)
    tvm.ir.assert_structural_equal(fusion.FuseOps()(module), fusion._ORIGINAL()(module))


@pytest.mark.parametrize("overwrites", [False, True])
def test_an_index_error_is_about_overwriting_alone(
    overwrites: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_bounds(module: Any) -> Any:
        raise IndexError("Index 1 out of bounds 1")

    replaced(monkeypatch, "FuseTIR", out_of_bounds)
    module = overwriting(read=False) if overwrites else lowered()
    if overwrites:
        assert fusion.FuseOps()(module).same_as(module)
    else:
        with pytest.raises(IndexError, match="out of bounds"):
            fusion.FuseOps()(module)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_a_module_whose_shapes_would_be_lost_is_left_as_it_was(
    known: bool, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result of FuseTIR calls a function for one or two tensors, the last with or without
    shape.
    """
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
    """Bisection finds it, and pipelines place others, by its name."""
    info = fusion.FuseOps().info
    assert (str(info.name), int(info.opt_level)) == ("FuseOps", 0)


PROGRAMS: whole.Programs = {
    "fusion": {
        "shapes of results": (whole.upstream("fusion", "a_strided_convolution"),),
        "fused repeats": (whole.upstream("fusion", "a_convolution_of_what_is_repeated"),),
        "conditional dimensions": (
            whole.upstream("fusion", "a_slice_whose_bound_may_be_negative"),
        ),
        "casts between": (whole.upstream("fusion", "a_cast_between_two_calls"),),
        "reads before overwriting": (
            whole.upstream("fusion", "a_value_is_read_before_it_is_overwritten"),
        ),
        "overwriting": (whole.upstream("fusion", "an_overwritten_tensor_of_equal_sizes"),),
        "tuples": (whole.upstream("fusion", "an_element_of_a_tuple_in_a_tuple"),),
    },
}

CURES: whole.Cures = {
    "read-fused-behind": (("fusion", "reads before overwriting"),),
    "two-results-fused": (("fusion", "overwriting"),),
    "nested-tuple-fused": (("fusion", "tuples"),),
    "slice-below-zero-fused": (("fusion", "conditional dimensions"),),
    "slice-to-multiple-fused": (("fusion", "conditional dimensions"),),
    "decoder-fused": (("fusion", "fused repeats"),),
    "fused-after-repeat": (("fusion", "fused repeats"),),
    "strided-conv1d-fused": (("fusion", "shapes of results"),),
}

"""A probe looks for every part of its fault: a TVM that still has one part of it is not cured."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax, te, topi

from fixes import probes, tvm_api


@contextmanager
def planted(operator: str, key: str, function: Any) -> Iterator[None]:
    registered = tvm_api.get_op(operator)
    original = registered.get_attr(key)
    registered.reset_attr(key)
    registered.set_attr(key, function, 10)
    try:
        yield
    finally:
        registered.reset_attr(key)
        registered.set_attr(key, original, 10)


Lack = Callable[[Any], bool]


def lowering(lacks: Lack) -> Any:
    """Lowers every call but those that ``lacks`` is true of, which it returns as they were."""

    def lower(builder: Any, call: Any) -> Any:
        return call if lacks(call) else builder.call_te(topi.identity, call.args[0])

    return lower


def numbers(call: Any, name: str) -> set[int]:
    return set(map(int, getattr(call.attrs, name)))


DILATION, LAYOUTS = probes.conv_transpose_takes_dilation, probes.conv_transpose_takes_layouts

PARTS: list[tuple[str, Callable[[], bool], str, Lack]] = [
    *(
        (f"relax.nn.conv{rank}d_transpose", partial(probe, rank), part, lacks)
        for rank in (1, 2, 3)
        for probe, part, lacks in (
            (DILATION, "dilation", lambda call: numbers(call, "dilation") != {1}),
            (DILATION, "dilated", lambda call: True),
            (LAYOUTS, "kernel", lambda call: not str(call.attrs.kernel_layout).startswith("IO")),
            (
                LAYOUTS,
                "out",
                lambda call: str(call.attrs.out_layout) != str(call.attrs.data_layout),
            ),
            (LAYOUTS, "all", lambda call: True),
        )
    ),
    (
        "relax.nn.attention",
        probes.attention_takes_symbols,
        "symbolic batch",
        lambda call: tvm_api.as_int(tvm_api.shape_of(call.args[0])[0]) is None,
    ),
    (
        "relax.nn.attention",
        probes.attention_takes_windows,
        "window",
        lambda call: call.attrs.window_size is not None,
    ),
    (
        "relax.nn.attention",
        probes.attention_takes_windows,
        "groups",
        lambda call: tvm_api.shape_of(call.args[0])[2] != tvm_api.shape_of(call.args[1])[2],
    ),
    ("relax.nn.attention_var_len", probes.attention_var_len_is_lowered, "all", lambda call: True),
]


@pytest.mark.parametrize(
    ("operator", "probe", "part", "lacks"),
    PARTS,
    ids=[f"{operator}-{part}" for operator, _, part, _ in PARTS],
)
def test_every_part_counts(
    operator: str, probe: Callable[[], bool], part: str, lacks: Lack
) -> None:
    with planted(operator, "FLegalize", lowering(lambda call: False)):
        assert probe()
    with planted(operator, "FLegalize", lowering(lacks)):
        assert not probe()


def test_an_error_in_a_legalization_means_no() -> None:
    def fail(builder: Any, call: Any) -> Any:
        raise KeyError("no")

    with planted("relax.nn.attention", "FLegalize", fail):
        assert not probes.attention_takes_symbols()


def refuse(builder: Any, call: Any) -> Any:
    raise tvm_api.OpNotImplemented(call.op.name)


def break_down(builder: Any, call: Any) -> Any:
    raise RuntimeError(call.op.name)


def test_a_refusal_is_as_good_as_a_lowering() -> None:
    name = "relax.nn.conv1d"
    with planted(name, "FLegalize", refuse):
        assert probes.unsupported_layout_is_refused()
    with planted(name, "FLegalize", lowering(lambda call: False)):
        assert probes.unsupported_layout_is_refused()
    with planted(name, "FLegalize", lowering(lambda call: str(call.attrs.out_layout) != "NCW")):
        assert not probes.unsupported_layout_is_refused()
    with (
        planted(name, "FLegalize", break_down),
        pytest.raises(RuntimeError, match=r"relax.nn.conv1d"),
    ):
        probes.unsupported_layout_is_refused()


def test_products_of_other_symbols_are_another_batch() -> None:
    def swapped(left: Any, right: Any) -> Any:
        return te.compute((right.shape[0], 2, 4), lambda b, i, j: left[b, i, 0] * right[b, j, 0])

    assert probes.batch_matmul_proves_equality(swapped)

    def doubled(left: Any, right: Any) -> Any:
        return te.compute((left.shape[0] * 2, 2, 4), lambda b, i, j: left[b, i, 0])

    assert not probes.batch_matmul_proves_equality(doubled)

    def refused(left: Any, right: Any) -> Any:
        assert left.shape[0] is right.shape[0], "not one object"

    assert not probes.batch_matmul_proves_equality(refused)

    def broken(left: Any, right: Any) -> Any:
        raise KeyError("no")

    with pytest.raises(KeyError):
        probes.batch_matmul_proves_equality(broken)


def test_an_operation_that_sums_nothing() -> None:
    def without_a_sum(left: Any, right: Any) -> Any:
        return left

    assert probes.batch_matmul_sums_nothing_to_zero(without_a_sum)

    def of_extent(extent: int) -> Callable[..., Any]:
        k = te.reduce_axis((0, extent), name="k")
        return lambda left, right: te.compute((2,), lambda i: te.sum(left[0, i, k], axis=k))

    assert probes.batch_matmul_sums_nothing_to_zero(of_extent(1))
    assert not probes.batch_matmul_sums_nothing_to_zero(of_extent(0))


@pytest.mark.parametrize("kept", [True, False])
def test_integers_in_mixed_precision(kept: bool) -> None:
    seen = []

    def infer(call: Any, out_dtype: Any) -> Any:
        seen.append([tvm_api.dtype_of(value) for value in (*call.args, call)])
        return call if kept else relax.op.astype(call.args[0], "float16")

    with planted("relax.nn.conv1d_transpose", "FInferMixedPrecision", infer):
        assert probes.mixed_precision_keeps_integers() is kept
    assert seen[0] == ["int8", "int8", "int32"]


@pytest.mark.parametrize("kept", [True, False])
def test_masks_in_mixed_precision(kept: bool) -> None:
    def infer(call: Any, out_dtype: Any) -> Any:
        return call if kept else relax.op.nn.attention(*call.args)

    with planted("relax.nn.attention", "FInferMixedPrecision", infer):
        assert probes.attention_keeps_attributes() is kept


def test_packed_layouts() -> None:
    seen: list[Any] = []

    def infer(call: Any, desired: Any, layouts: Any) -> Any:
        seen.append((str(call.attrs.data_layout), len(desired), len(layouts)))
        return tvm_api.unchanged_layouts(call)

    def fail(call: Any, desired: Any, layouts: Any) -> Any:
        raise ValueError("packed")

    with planted("relax.nn.conv1d_transpose", "FRelaxInferLayout", infer):
        assert probes.packed_layouts_pass_through()
    assert seen == [("NCW2c", 0, 0)]
    with planted("relax.nn.conv1d_transpose", "FRelaxInferLayout", fail):
        assert not probes.packed_layouts_pass_through()


def test_a_program_of_one_call() -> None:
    program = probes.program(relax.op.add, (2, 3), (2, 3), dtypes=("int8", "int8"))
    main = program["main"]
    assert [str(variable) for variable in main.params] == ["x0", "x1"]
    assert [tvm_api.dtype_of(variable) for variable in main.params] == ["int8", "int8"]
    assert "R.dataflow" in str(program)


def test_inputs_are_float32_and_as_many_as_dtypes() -> None:
    found = probes.inputs(((2, 3), (4,), ()))
    assert [tvm_api.dtype_of(variable) for variable in found] == ["float32"] * 3
    assert [tuple(map(int, tvm_api.shape_of(one))) for one in found] == [(2, 3), (4,), ()]
    for dtypes in (("int8",), ("int8",) * 3):
        with pytest.raises(ValueError, match="zip"):
            probes.inputs(((2, 3), (4,)), dtypes)


def test_one_call_has_its_type() -> None:
    call = probes.one_call(relax.op.multiply, (2, 3), (2, 3), dtypes=("int16", "int16"))
    assert call.op.name == "relax.multiply"
    assert tvm_api.dtype_of(call) == "int16"
    assert np.prod(list(map(int, tvm_api.shape_of(call)))) == 6

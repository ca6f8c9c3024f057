"""A probe looks for every part of its fault: a TVM with one remaining part still has it.

The fixes' own lowerings stand in for a TVM without faults.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax, te, topi

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.lowerings import unlowered
from relaxcheck.fixes.lowerings.attention import attention, var_len
from relaxcheck.fixes.lowerings.convolution import convert_layout, forward, transposed
from relaxcheck.fixes.passes.mixed_precision import attention as mixed_precision_attention
from relaxcheck.fixes.passes.mixed_precision import products

Lack = Callable[[Any], bool]


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


def lowering(operator: str, lacks: Lack) -> Any:
    """Lowers every call as the fix does, but returns those for which ``lacks`` is true."""
    lower = fixes.legalize_map()[operator]
    return lambda builder, call: call if lacks(call) else lower(builder, call)


def numbers(call: Any, name: str) -> set[int]:
    return set(map(int, getattr(call.attrs, name)))


def dims(call: Any, argument: int) -> list[int | None]:
    return [tvm_api.as_int(dim) for dim in tvm_api.shape_of(call.args[argument])]


def packed(call: Any, name: str) -> bool:
    return any(letter.islower() for letter in str(getattr(call.attrs, name)))


PARTS: list[tuple[str, Callable[[], bool], str, Lack]] = [
    *(
        (f"relax.nn.conv{rank}d_transpose", partial(probe, rank), part, lacks)
        for rank in (1, 2, 3)
        for probe, part, lacks in (
            (
                transposed.computes_dilation,
                "dilation",
                lambda call: numbers(call, "dilation") != {1},
            ),
            (
                transposed.computes_data_layouts,
                "data",
                lambda call: not str(call.attrs.data_layout).startswith("NC"),
            ),
            (
                transposed.computes_kernel_layouts,
                "kernel",
                lambda call: not str(call.attrs.kernel_layout).startswith("IO"),
            ),
            (
                transposed.computes_output_layouts,
                "output",
                lambda call: str(call.attrs.out_layout) != str(call.attrs.data_layout),
            ),
            *(
                (transposed.computes_packed_layouts, f"packed {name}", partial(packed, name=name))
                for name in ("data_layout", "kernel_layout")
            ),
            (
                transposed.computes_packed_layouts,
                "packed output",
                lambda call: packed(call, "out_layout") and not packed(call, "data_layout"),
            ),
            (
                transposed.computes_groups_of_symbols,
                "groups of symbols",
                lambda call: call.attrs.groups > 1 and dims(call, 0)[1] is None,
            ),
            (transposed.initializes_sums, "empty axes", lambda call: dims(call, 0)[1] == 0),
        )
    ),
    *(
        (f"relax.nn.conv{rank}d", partial(probe, rank), part, lacks)
        for rank in (1, 2, 3)
        for probe, part, lacks in (
            (
                forward.computes_output_layouts,
                "output",
                lambda call: str(call.attrs.out_layout) != str(call.attrs.data_layout),
            ),
            *(
                (forward.computes_packed_layouts, f"packed {name}", partial(packed, name=name))
                for name in ("data_layout", "kernel_layout")
            ),
            (
                forward.computes_packed_layouts,
                "packed output",
                lambda call: packed(call, "out_layout") and not packed(call, "data_layout"),
            ),
        )
    ),
    *(
        (
            f"relax.nn.conv{rank}d",
            partial(forward.computes_orders, rank),
            f"order of {name}",
            lambda call, name=name: str(getattr(call.attrs, name))[2:] in ("WH", "WHD"),
        )
        for rank in (2, 3)
        for name in ("data_layout", "kernel_layout")
    ),
    (
        "relax.nn.attention",
        attention.computes_symbolic_dimensions,
        "symbolic batch",
        lambda call: dims(call, 0)[0] is None,
    ),
    (
        "relax.nn.attention",
        attention.computes_symbolic_dimensions,
        "symbolic heads",
        lambda call: dims(call, 0)[2] is None,
    ),
    *(
        (
            "relax.nn.attention",
            attention.computes_windows,
            f"window with {causal}",
            lambda call, causal=causal: (
                call.attrs.window_size is not None and call.attrs.causal_mask == causal
            ),
        )
        for causal in (None, "TopLeft")
    ),
    (
        "relax.nn.attention",
        attention.computes_grouped_queries,
        "groups",
        lambda call: dims(call, 0)[2] != dims(call, 1)[2],
    ),
    *(
        (
            "relax.nn.attention",
            attention.computes_causal_masks,
            mask,
            lambda call, mask=mask: call.attrs.causal_mask == mask,
        )
        for mask in ("TopLeft", "BottomRight")
    ),
    *(
        (
            "relax.nn.attention",
            attention.computes_scales,
            dtype,
            lambda call, dtype=dtype: tvm_api.dtype_of(call) == dtype,
        )
        for dtype in ("float16", "float32")
    ),
    *(
        (
            "relax.nn.attention",
            attention.initializes_sums,
            f"axis {axis}",
            lambda call, axis=axis: dims(call, 1)[axis] == 0,
        )
        for axis in (1, 3)
    ),
    *(
        ("relax.nn.attention_bias", probe, "bias", lambda call: True)
        for probe in (
            attention.computes_windows,
            attention.computes_grouped_queries,
            attention.computes_causal_masks,
            attention.computes_scales,
            attention.computes_symbolic_dimensions,
        )
    ),
    ("relax.nn.attention_var_len", var_len.computes_sequences, "all", lambda call: True),
]


@pytest.mark.parametrize(
    ("operator", "probe", "part", "lacks"),
    PARTS,
    ids=[f"{operator}-{part}" for operator, _, part, _ in PARTS],
)
def test_every_part_counts(
    operator: str, probe: Callable[[], bool], part: str, lacks: Lack
) -> None:
    with fixes.install(), planted(operator, "FLegalize", lowering(operator, lacks)):
        assert not probe()


@pytest.mark.parametrize(
    ("operator", "probe"),
    [
        ("relax.nn.attention", attention.computes_windows),
        ("relax.nn.attention_var_len", var_len.computes_sequences),
        ("relax.nn.conv2d_transpose", partial(transposed.computes_data_layouts, 2)),
    ],
)
def test_a_lowering_to_something_else_is_not_cured(
    operator: str, probe: Callable[[], bool]
) -> None:
    def wrong(builder: Any, call: Any) -> Any:
        shape = tvm_api.shape_of(call)
        return builder.call_te(lambda x: topi.full(shape, x.dtype, 0.5), call.args[0])

    with planted(operator, "FLegalize", wrong):
        assert not probe()


def test_an_output_of_another_dtype_is_not_cured() -> None:
    def wide(builder: Any, call: Any) -> Any:
        return builder.call_te(topi.cast, call.args[0], "float32")

    with planted("relax.nn.attention", "FLegalize", wide):
        assert not attention.computes_scales()


def test_an_output_of_no_element_that_is_refused_is_none() -> None:
    def fail(builder: Any, call: Any) -> Any:
        raise ValueError("no")

    for rank in (1, 2, 3):
        assert not transposed.refuses_empty_outputs(rank)
        with planted(f"relax.nn.conv{rank}d_transpose", "FLegalize", fail):
            assert transposed.refuses_empty_outputs(rank)


def test_an_error_in_a_legalization_means_no() -> None:
    def fail(builder: Any, call: Any) -> Any:
        raise KeyError("no")

    with planted("relax.nn.attention", "FLegalize", fail):
        assert not attention.computes_symbolic_dimensions()
        assert not attention.initializes_sums()


def refuse(builder: Any, call: Any) -> Any:
    raise tvm_api.OpNotImplemented(call.op.name)


def break_down(builder: Any, call: Any) -> Any:
    raise RuntimeError(call.op.name)


UNLOWERED = [
    *(
        (f"relax.nn.{kind}_pool{rank}d", unlowered.refuses_pooling)
        for kind in ("max", "avg", "adaptive_avg")
        for rank in (1, 2, 3)
    ),
    *(
        (f"relax.grad.{kind}_pool2d_backward", unlowered.refuses_dilated_gradients)
        for kind in ("max", "avg")
    ),
]


@pytest.mark.parametrize(("operator", "probe"), UNLOWERED)
def test_every_operator_that_is_left_counts(operator: str, probe: Callable[[], bool]) -> None:
    with fixes.install():
        assert probe()
        with planted(operator, "FLegalize", lambda builder, call: call):
            assert not probe()
        with planted(operator, "FLegalize", refuse):
            assert probe()
        with (
            planted(operator, "FLegalize", break_down),
            pytest.raises(RuntimeError, match=operator),
        ):
            probe()


@pytest.mark.parametrize("operator", ["conv1d", "conv3d_transpose"])
def test_integers_in_mixed_precision(operator: str) -> None:
    seen = []

    def infer(call: Any, out_dtype: Any) -> Any:
        seen.append([tvm_api.dtype_of(value) for value in (*call.args, call)])
        return relax.op.astype(call.args[0], "float16")

    with fixes.install():
        assert products.leaves_products("int8", "int32")
        with planted(f"relax.nn.{operator}", "FInferMixedPrecision", infer):
            assert not products.leaves_products("int8", "int32")
    assert seen[0] == ["int8", "int8", "int32"]


@pytest.mark.parametrize("operator", ["attention", "attention_bias", "attention_var_len"])
def test_losses_of_attention_in_mixed_precision(operator: str) -> None:
    keep = mixed_precision_attention.keeps_attributes

    def plain(call: Any, out_dtype: Any) -> Any:
        return relax.op.nn.attention(*call.args[:3])

    def unmasked(call: Any, out_dtype: Any) -> Any:
        return relax.op.nn.attention(*call.args[:3], scale=0.25, window_size=2)

    with fixes.install():
        assert keep(operator)
        for infer in (plain, unmasked):
            with planted(f"relax.nn.{operator}", "FInferMixedPrecision", infer):
                assert not keep(operator)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_packed_layouts(rank: int) -> None:
    seen: list[Any] = []

    def fail(call: Any, desired: Any, layouts: Any) -> Any:
        seen.append((str(call.attrs.data_layout), len(desired), len(layouts)))
        raise ValueError("packed")

    with fixes.install(), planted(f"relax.nn.conv{rank}d_transpose", "FRelaxInferLayout", fail):
        assert not convert_layout.keeps_packed_calls(data_layout="NCS2c")
        assert not convert_layout.keeps_packed_calls(kernel_layout="IOS2i")
        assert not convert_layout.keeps_calls_of_packed_tensors()
        assert not convert_layout.keeps_calls_from_packed_layouts()
    spatial = "DHW"[-rank:]
    assert seen == [
        (f"NC{spatial}2c", 0, 0),
        (f"NC{spatial}", 0, 0),
        (f"NC{spatial}", 0, 2),
        (f"NC{spatial}", 1, 0),
    ]


def reducing(extent: int) -> Any:
    """A lowering to a sum of ``extent`` elements."""

    def lower(builder: Any, call: Any) -> Any:
        def compute(x: Any) -> Any:
            k = te.reduce_axis((0, extent), name="k")
            return te.compute((2,), lambda i: te.sum(x[i, k], axis=k))

        return builder.call_te(compute, call.args[0])

    return lower


@pytest.mark.parametrize("extent", [0, 1])
def test_sums_that_are_initialized(extent: int) -> None:
    call = probes.one_call(relax.op.abs, (2, extent))
    with planted("relax.abs", "FLegalize", reducing(extent)):
        assert probes.sums_are_initialized(call) is bool(extent)


def test_results_are_compared_element_by_element() -> None:
    call = probes.one_call(relax.op.add, (2, 3), (2, 3))
    x = np.arange(6, dtype="float32").reshape(2, 3)
    assert probes.computes(call, (x, x), 2 * x)
    wrong = 2 * x
    wrong[1, 2] += 1
    assert not probes.computes(call, (x, x), wrong)
    assert not probes.computes(call, (x, x), np.full((2, 3), np.nan))
    # Arrays that do not fit make the lowered function raise.
    assert not probes.computes(call, (x, x[:1]), 2 * x)

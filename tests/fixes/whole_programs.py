"""For each part of a fault, whole programs that fail where it is there: built, run, compared.

They look for a fault in another way than its probe does, which asks TVM's own functions.
"""

import re
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from tvm import relax, te, topi

from fixes import probes, tvm_api
from harness.errors import pattern, spelled
from tests.fixes import compiled, recurrent_models, reference, whole_dynamic_programs

Run = Callable[[], None]
"""Raises where the fault is there."""

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}
SHAPE = (2, 3, 2, 4)


def upstream(fix: str, name: str, *given: Any, **named: Any) -> Run:
    """A test in TVM's style."""
    module = import_module(f"tests.fixes.upstream.test_{fix}")
    return lambda: getattr(module, f"test_{name}")(*given, **named)


def is_refused(make: Any, *shapes: Any, names: tuple[str, ...], dtypes: Any = ()) -> None:
    """``make`` of tensors of ``shapes`` fails somewhere, and the error has all of ``names``."""
    with pytest.raises(Exception) as caught:  # noqa: PT011
        compiled.build(compiled.module(make, *shapes, dtypes=dtypes))
    said = str(caught.value)
    for name in names:
        assert re.search(pattern(spelled((name,))), said, re.IGNORECASE), (name, said)


def convolution(rank: int, **attributes: Any) -> Any:
    return lambda x, w: getattr(relax.op.nn, f"conv{rank}d_transpose")(x, w, **attributes)


def convolves(rank: int, groups: int = 1, symbol: bool = False, **layouts: str) -> None:
    """The output in ``layouts`` is that of the reference."""
    spatial = SPATIAL[rank]
    layout = layouts.get("data_layout", f"NC{spatial}")
    data = compiled.sample((1, 4, *(3,) * rank))
    kernel = compiled.sample((4, 2, *(2,) * rank), seed=1)
    want = reference.conv_transpose(
        data, kernel, (1,) * rank, (0,) * 2 * rank, (0,) * rank, (1,) * rank, groups
    )
    arrays = (
        reference.stored(data, layout, f"NC{spatial}"),
        reference.stored(kernel, layouts.get("kernel_layout", f"IO{spatial}"), f"IO{spatial}"),
    )
    shapes: list[tuple[Any, ...]] = [array.shape for array in arrays]
    if symbol:
        shapes = [(1, "C", *shapes[0][2:]), ("C", *shapes[1][1:])]
    run = compiled.build(compiled.module(convolution(rank, groups=groups, **layouts), *shapes))
    stored = reference.stored(want, layouts.get("out_layout", layout), f"NC{spatial}")
    np.testing.assert_allclose(run(*arrays), stored, atol=1e-4)


def leaves_no_output(rank: int) -> None:
    with pytest.raises(Exception, match=r"."):
        relax.transform.LegalizeOps()(
            compiled.module(
                convolution(rank, padding=[2] * rank), (1, 2, *(3,) * rank), (2, 2, *(2,) * rank)
            )
        )


def writes_zeros_without_channels(rank: int) -> None:
    """The lowered function, called with an output full of sevens."""
    module = compiled.module(convolution(rank), (1, 0, *(3,) * rank), (0, 2, *(2,) * rank))
    module = relax.transform.LegalizeOps()(module)
    (name,) = (one.name_hint for one in module.get_global_vars() if one.name_hint != "main")
    data, kernel = np.zeros((1, 0, *(3,) * rank), "f4"), np.zeros((0, 2, *(2,) * rank), "f4")
    output = np.full((1, 2, *(4,) * rank), 7, "f4")
    assert not tvm_api.compiled(module[name])(data, kernel, output).any()


def attends(
    *shapes: tuple[Any, ...], dtype: str = "float32", far: float = 0.0, **attributes: Any
) -> None:
    """The output is that of the reference; ``far`` is added to every score."""
    sizes = {"B": 2, "Q": 3, "K": 5, "H": 2}
    tensors = [
        compiled.sample(compiled.size(shape, sizes), dtype, n) for n, shape in enumerate(shapes)
    ]
    if far:
        tensors[3] = np.full_like(tensors[3], far)
    program = compiled.module(
        lambda *x: relax.op.nn.attention(*x, **attributes), *shapes, dtypes=(dtype,) * len(shapes)
    )
    found = compiled.build(program)(*tensors)
    assert found.dtype == np.dtype(dtype)
    want = reference.attention(*tensors, **attributes)
    np.testing.assert_allclose(found, want, atol=1e-2 if dtype == "float16" else 1e-4)


def reduces_over_something(*shapes: tuple[int, ...]) -> None:
    """No loop of the program is empty but over elements of which there are none."""
    module = relax.transform.LegalizeOps()(compiled.module(relax.op.nn.attention, *shapes))
    assert not re.search(r"T\.grid\([^\n]*T\.int64\(0\)\):\n[^\n]*\n[^\n]*\"S+R+\"", str(module))


def batch_product(*shapes: tuple[Any, ...]) -> Any:
    return topi.nn.batch_matmul(*(te.placeholder(shape, "float32") for shape in shapes))


def shows_dimensions() -> None:
    with pytest.raises(AssertionError, match="2 and 3"):
        batch_product((2, 2, 3), (3, 2, 3))


def mixes(operator: str, *more: Any, dtypes: tuple[str, ...]) -> None:
    """Every attribute and argument of attention is there after ToMixedPrecision."""
    make = partial(getattr(relax.op.nn, operator), scale=0.25, causal_mask="TopLeft")
    module = compiled.module(make, SHAPE, SHAPE, SHAPE, *more, dtypes=dtypes)
    text = str(relax.transform.ToMixedPrecision()(module))
    assert f"R.nn.{operator}(" in text
    assert "TopLeft" in text
    assert "0.25" in text


def keeps_layouts(rank: int, desired: str = "", **layouts: str) -> None:
    """ConvertLayout leaves a convolution that is packed, or is to be, as it is."""
    spatial = SPATIAL[rank]
    data = np.zeros((1, 2, *(3,) * rank))
    kernel = np.zeros((2, 2, *(2,) * rank))
    shapes = (
        reference.stored(data, layouts.get("data_layout", f"NC{spatial}"), f"NC{spatial}").shape,
        reference.stored(
            kernel, layouts.get("kernel_layout", f"IO{spatial}"), f"IO{spatial}"
        ).shape,
    )
    module = compiled.module(convolution(rank, **layouts), *shapes)
    wanted = [desired or f"N{spatial}C", f"IO{spatial}"]
    relax.transform.ConvertLayout({f"relax.nn.conv{rank}d_transpose": wanted})(module)


def keeps_packed_tensors() -> None:
    """Data that an earlier convolution gives packed are taken by a transposed one."""

    def make(x: Any, w: Any, v: Any) -> Any:
        return relax.op.nn.conv2d_transpose(relax.op.nn.conv2d(x, w), v)

    builder = relax.BlockBuilder()
    variables = probes.inputs(((1, 4, 5, 5), (4, 4, 2, 2), (4, 4, 2, 2)))
    with builder.function("main", variables):
        with builder.dataflow():
            packed = builder.emit(relax.op.nn.conv2d(*variables[:2]))
            result = builder.emit_output(relax.op.nn.conv2d_transpose(packed, variables[2]))
        builder.emit_func_output(result)
    wanted = {"relax.nn.conv2d": ["NCHW4c", "OIHW4o"]}
    relax.transform.ConvertLayout(wanted)(builder.get())


def is_lowered_or_refused(make: Any, *shapes: tuple[int, ...]) -> None:
    """LegalizeOps leaves nothing of the operator."""
    module = compiled.module(make, *shapes)
    (name,) = compiled.calls(module)
    try:
        after = relax.transform.LegalizeOps()(module)
    except NotImplementedError:
        return
    assert name not in compiled.calls(after)


def recurs(
    operator: str, *names: str, lengths: tuple[int, ...] = (), direction: str = "forward"
) -> None:
    """A model is imported, and gives what ONNX Runtime makes of it."""
    directions = 2 if direction == "bidirectional" else 1
    given = recurrent_models.arrays(operator, 4, 3, *names, directions=directions, lengths=lengths)
    recurrent_models.agrees_with_onnxruntime(operator, given, direction=direction)


def recurs_at_two_sizes() -> None:
    small, large = (recurrent_models.arrays("LSTM", *size) for size in ((2, 1), (5, 4)))
    recurrent_models.agrees_with_onnxruntime("LSTM", small, [{**small, "X": large["X"]}])


def _of_attention_arguments() -> dict[str, tuple[Run, ...]]:
    def refused(*shapes: Any, names: tuple[str, ...] = (), **attributes: Any) -> Run:
        dtypes = attributes.pop("dtypes", ())
        operator = attributes.pop("operator", relax.op.nn.attention.__name__)

        def make(*tensors: Any) -> Any:
            return getattr(relax.op.nn, operator)(*tensors, **attributes)

        return lambda: is_refused(make, *shapes, names=("attention", *names), dtypes=dtypes)

    def unknown() -> None:
        query = relax.Var("query", tvm_api.tensor_type(SHAPE, "float32"))
        key = relax.Var("key", tvm_api.unshaped_type(4, "float32"))
        with pytest.raises(Exception, match="attention"):
            relax.BlockBuilder().normalize(relax.op.nn.attention(query, key, query))

    def offsets(*tensors: Any) -> Any:
        query, starts, longest = tensors
        return relax.op.nn.attention_var_len(query, query, query, starts, longest)

    three = (SHAPE, SHAPE, SHAPE)
    none = (2, 3, 0, 4)
    return {
        "shapes": (
            refused(SHAPE, (3, 3, 2, 4), SHAPE, names=("batch",)),
            refused(SHAPE, SHAPE, (2, 5, 2, 4), names=("sequence",)),
        ),
        "biases": (refused(*three, (2, 1, 3, 4), names=("bias",), operator="attention_bias"),),
        "dtypes": (
            refused(*three, names=("dtype",), dtypes=("float32", "float16", "float16")),
            refused(*three, names=("dtype",), dtypes=("int32",) * 3),
        ),
        "masks and windows": (
            refused(*three, names=("causal_mask",), causal_mask="Middle"),
            refused(*three, names=("window",), window_size=0),
        ),
        "offsets": (
            lambda: is_refused(
                offsets,
                *((1, 3, 2, 4), (3,), ()),
                names=("attention", "dtype"),
                dtypes=("float32", "float32", "int32"),
            ),
        ),
        "no heads": (refused(SHAPE, none, none, names=("heads",)),),
        "unknown shapes": (unknown,),
    }


def _of_convolution_arguments() -> dict[str, tuple[Run, ...]]:
    def refused(rank: int, *names: str, channels: int = 4, taps: int = 3, **attributes: Any) -> Run:
        dtypes = attributes.pop("dtypes", ())
        shapes = (1, 4, *(5,) * rank), (channels, 2, *(taps,) * rank)
        wanted = (f"conv{rank}d_transpose", *names)
        make = convolution(rank, **attributes)
        return lambda: is_refused(make, *shapes, names=wanted, dtypes=dtypes)

    given = {
        "groups": {"groups": 0},
        "dilation": {"dilation": 0},
        "padding": {"padding": 4},
        "output_padding": {"output_padding": 1},
    }
    ranks = (1, 2, 3)
    return {
        **{
            name: tuple(refused(rank, name, **attributes) for rank in ranks)
            for name, attributes in given.items()
        },
        "strides": tuple(
            refused(rank, "strides", strides=strides) for rank in ranks for strides in (0, [1] * 4)
        ),
        "layouts": tuple(refused(rank, "data_layout", data_layout="NCQ") for rank in ranks),
        "shapes": tuple(
            refused(rank, word, **sizes)
            for rank in ranks
            for word, sizes in (("channel", {"channels": 6}), ("taps", {"taps": 0}))
        ),
        "dtypes": tuple(refused(rank, "dtype", dtypes=("float32", "float16")) for rank in ranks),
    }


def _of_a_convolution(rank: int) -> dict[str, tuple[Run, ...]]:
    name, spatial = f"conv{rank}d_transpose", SPATIAL[rank]
    dilation = "dilation_is_that_of_a_kernel_with_zeros_between"
    return {
        "data layouts": (partial(convolves, rank, data_layout=f"N{spatial}C"),),
        "kernel layouts": (partial(convolves, rank, kernel_layout=f"OI{spatial}"),),
        "output layouts": (upstream(name, "output_layout"),),
        "packed layouts": (
            partial(convolves, rank, data_layout=f"NC{spatial}4c"),
            partial(convolves, rank, kernel_layout=f"IO{spatial}2o"),
            partial(convolves, rank, out_layout=f"NC{spatial}2c"),
        ),
        "groups of symbols": (partial(convolves, rank, 2, True),),
        "outputs without elements": (partial(leaves_no_output, rank),),
        "empty axes": (partial(writes_zeros_without_channels, rank),),
        "dilation": (upstream(name, dilation),),
    }


BY_FIX: dict[str, dict[str, tuple[Run, ...]]] = {
    **whole_dynamic_programs.BY_FIX,
    "conv_transpose_arguments": _of_convolution_arguments(),
    **{f"conv{rank}d_transpose": _of_a_convolution(rank) for rank in (1, 2, 3)},
    "attention_arguments": _of_attention_arguments(),
    "attention": {
        "windows": (
            upstream("attention", "window_under_causal_mask"),
            partial(attends, *((1, 5, 2, 8),) * 3, window_size=2),
        ),
        "grouped queries": (upstream("attention", "grouped_queries"),),
        "causal masks": (
            upstream("attention", "bias_far_below_zero_under_causal_mask"),
            partial(attends, *((1, 3, 2, 4),) * 3, causal_mask="BottomRight"),
        ),
        "scales": tuple(
            partial(attends, *(SHAPE,) * 3, dtype=dtype, scale=0.5)
            for dtype in ("float16", "float32")
        ),
        "empty axes": (
            partial(reduces_over_something, (1, 2, 2, 3), (1, 0, 2, 3), (1, 0, 2, 3)),
            partial(reduces_over_something, (1, 2, 2, 0), (1, 4, 2, 0), (1, 4, 2, 3)),
        ),
        "symbolic dimensions": (
            upstream("attention", "symbolic_batch"),
            partial(attends, ("B", "Q", "H", 4), ("B", "K", "H", 4), ("B", "K", "H", 4)),
        ),
    },
    "attention_var_len": {
        "lowering": (upstream("attention_var_len", "two_sequences", causal_mask=None),)
    },
    "batch_matmul": {
        "equality of dimensions": (upstream("batch_matmul", "equal_products_of_symbols"),),
        "a symbolic batch": (upstream("batch_matmul", "symbol_is_bound"),),
        "messages": (shows_dimensions,),
        "sums of nothing": (upstream("batch_matmul", "sum_of_nothing_is_initialized"),),
    },
    "mixed_precision_attention": {
        "attributes": (partial(mixes, "attention", dtypes=()),),
        "biases": (partial(mixes, "attention_bias", (1, 1, 3, 3), dtypes=()),),
        "sequences": (
            partial(
                mixes,
                *("attention_var_len", (3,), ()),
                dtypes=("float32", "float32", "float32", "int32", "int32"),
            ),
        ),
    },
    "mixed_precision_products": {
        name: tuple(
            upstream(
                "mixed_precision_products",
                "nothing_is_cast",
                operator=operator,
                dtype=dtype,
                out_dtype=out_dtype,
            )
            for operator in (relax.op.nn.conv1d, relax.op.nn.conv1d_transpose)
        )
        for name, dtype, out_dtype in (
            ("integers", "int8", "int32"),
            ("float64", "float64", "float64"),
            ("bfloat16", "bfloat16", "bfloat16"),
        )
    },
    "convert_layout_packed": {
        "packed data": tuple(
            partial(keeps_layouts, rank, data_layout=f"NC{SPATIAL[rank]}2c") for rank in (1, 2, 3)
        ),
        "packed kernels": tuple(
            partial(keeps_layouts, rank, kernel_layout=f"IO{SPATIAL[rank]}2i") for rank in (1, 2, 3)
        ),
        "packed outputs": tuple(
            partial(keeps_layouts, rank, out_layout=f"NC{SPATIAL[rank]}2c") for rank in (1, 2, 3)
        ),
        "packed arguments": (keeps_packed_tensors,),
        "packed layouts desired": tuple(
            partial(keeps_layouts, rank, desired=f"NC{SPATIAL[rank]}2c") for rank in (1, 2, 3)
        ),
    },
    "empty_permute": {
        "a dimension 0": (upstream("empty_permute", "permutation_moves_the_empty_dimension"),)
    },
    "folding": {
        "unknown shapes": tuple(
            upstream("folding", what)
            for what in ("a_shape_that_a_call_gives", "a_call_on_an_unknown_shape")
        ),
        "several calls": (upstream("folding", "a_call_that_is_lowered_to_several"),),
        "symbols as tensors": (upstream("folding", "a_shape_with_a_symbol_as_a_tensor"),),
    },
    "fusion": {
        "shapes of results": (upstream("fusion", "a_strided_convolution"),),
        "fused repeats": (upstream("fusion", "a_convolution_of_what_is_repeated"),),
        "conditional dimensions": (upstream("fusion", "a_slice_whose_bound_may_be_negative"),),
        "casts between": (upstream("fusion", "a_cast_between_two_calls"),),
    },
    "dataflow_reshape": {
        "expressions of symbols": (upstream("dataflow_reshape", "reshape_over_expressions"),),
        "no elements": (upstream("dataflow_reshape", "tensors_without_elements"),),
        "repeats of expressions": (upstream("dataflow_reshape", "repeat_over_expressions"),),
    },
    "empty_tensors": {
        "means": (upstream("empty_tensors", "the_mean_of_nothing"),),
        "splits": (upstream("empty_tensors", "a_split_of_nothing"),),
        "indices": (upstream("empty_tensors", "no_indices"),),
        "circular pads": (upstream("empty_tensors", "nothing_around_nothing"),),
    },
    "symbolic_slices": {"bounds": (upstream("symbolic_slices", "fused"),)},
    "far_ends": {"backwards": (upstream("far_ends", "backwards"),)},
    "normalization": {
        "float64": tuple(
            upstream("normalization", f"{name}_of_float64") for name in ("layer_norm", "rms_norm")
        ),
        "all axes": (upstream("normalization", "rms_norm_over_all_axes"),),
        "groups": (upstream("normalization", "group_norm_over_expressions"),),
        "batches of float16": (upstream("normalization", "batch_norm_of_float16"),),
    },
    "resize": {
        "symbolic sizes": (upstream("resize", "nearest_to_a_number"),),
        "aligned corners": (upstream("resize", "aligned_corners"),),
        "one element": (upstream("resize", "one_element_of_aligned_corners"),),
        "float64": (upstream("resize", "float64"),),
        "integers": (upstream("resize", "nearest_of_large_integers"),),
        "other dtypes": (upstream("resize", "another_dtype"),),
    },
    "adaptive_pooling": {
        "windows of two kinds": (
            upstream("adaptive_pooling", "windows_of_two_kinds"),
            upstream("adaptive_pooling", "windows_of_symbolic_sizes"),
            upstream("adaptive_pooling", "three_dimensions"),
        ),
    },
    "broadcasting": {"symbols": (upstream("broadcasting", "broadcast_of_one_element"),)},
    "integer_division": {
        "divisors": tuple(
            upstream("integer_division", name)
            for name in ("division_by_zero", "remainders_by_zero", "lowest_by_minus_one")
        ),
    },
    "scans": {"empty axes": (upstream("scans", "rows_without_an_element"),)},
    "kept_dimensions": {
        "leading dimensions": (upstream("kept_dimensions", "split_behind_a_symbolic_dimension"),),
    },
    "shape_values": {
        "shapes of tensors": (upstream("shape_values", "reshape_to_the_shape_of_another"),),
    },
    "special_values": {
        "NaN": (upstream("special_values", "nan_is_unequal_to_itself"),),
        "fused NaN": (upstream("special_values", "nan_is_not_equal_to_itself"),),
        "fused infinities": (upstream("special_values", "infinity_less_itself_is_not_a_number"),),
        "ends of dtypes": (
            upstream("special_values", "the_first_of_infinities"),
            upstream("special_values", "the_first_of_the_largest_integers"),
        ),
    },
    "onnx_rnn": {
        **{
            operator: (
                upstream("onnx_rnn", "against_onnxruntime", operator),
                partial(recurs, operator, "B", "initial_h", direction="bidirectional"),
            )
            for operator in ("LSTM", "GRU", "RNN")
        },
        "sequence lengths": tuple(
            partial(recurs, operator, lengths=(2, 4, 1), direction="reverse")
            for operator in ("LSTM", "GRU", "RNN")
        ),
        "peepholes": (partial(recurs, "LSTM", "P", "initial_c"),),
        "symbolic dimensions": (upstream("onnx_rnn", "symbolic"), recurs_at_two_sizes),
    },
    "unlowered": {
        "convolutions": tuple(
            partial(
                is_lowered_or_refused,
                partial(operator, out_layout=f"N{SPATIAL[rank]}C"),
                *((1, 2, *(3,) * rank), (2, 2, *(2,) * rank)),
            )
            for rank, operator in (
                (1, relax.op.nn.conv1d),
                (2, relax.op.nn.conv2d),
                (3, relax.op.nn.conv3d),
            )
        ),
        "pooling": tuple(
            partial(is_lowered_or_refused, partial(operator, out_layout="NHWC"), (1, 2, 3, 3))
            for operator in (
                relax.op.nn.max_pool2d,
                relax.op.nn.avg_pool2d,
                relax.op.nn.adaptive_avg_pool2d,
            )
        ),
        "gradients of pooling": (
            partial(
                is_lowered_or_refused,
                partial(relax.op.grad.max_pool2d_backward, dilation=(2, 2)),
                *((1, 1, 3, 3), (1, 1, 3, 3)),
            ),
        ),
    },
}
"""By fix, then by part."""

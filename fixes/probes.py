"""Questions to the running TVM that a fix asks before it is put on: does the fault show?

A probe asks TVM's own function for one call, or runs one pass on a program of one call. No code is
generated; all probes together take some hundredths of a second.
"""

from collections.abc import Callable
from typing import Any

from tvm import relax, te

from fixes import tvm_api
from fixes.tvm_api import Call, Expr


def inputs(shapes: tuple[tuple[Any, ...], ...], dtypes: tuple[str, ...] = ()) -> list[Expr]:
    """Variables x0, x1, … of these shapes, float32 unless ``dtypes`` says otherwise."""
    names = dtypes or ("float32",) * len(shapes)
    return [
        relax.Var(f"x{number}", tvm_api.tensor_type(shape, dtype))
        for number, (shape, dtype) in enumerate(zip(shapes, names, strict=True))
    ]


def program(
    make: Callable[..., Expr], *shapes: tuple[Any, ...], dtypes: tuple[str, ...] = ()
) -> Any:
    """A module whose ``main`` takes tensors of ``shapes`` (float32 unless said) to ``make``."""
    builder = relax.BlockBuilder()
    variables = inputs(shapes, dtypes)
    with builder.function("main", variables):
        with builder.dataflow():
            result = builder.emit_output(builder.emit(make(*variables)))
        builder.emit_func_output(result)
    return builder.get()


def one_call(
    make: Callable[..., Expr], *shapes: tuple[Any, ...], dtypes: tuple[str, ...] = ()
) -> Call:
    """The call that ``make`` makes of tensors of ``shapes``, with its type."""
    return relax.BlockBuilder().normalize(make(*inputs(shapes, dtypes)))


def is_lowered(call: Call) -> bool:
    """Whether the operator's legalization turns ``call`` into that of a lowered function.

    The legalization is asked directly: an exception in the pass would leave warnings on stderr.
    An exception of any kind means no.
    """
    try:
        result = call.op.get_attr("FLegalize")(relax.BlockBuilder(), call)
    except Exception:
        return False
    return bool(result.op.name == "relax.call_tir")


def conv_transpose_takes_dilation(rank: int) -> bool:
    """Whether a dilated convolution in canonical layouts is lowered."""
    return _conv_transpose_is_lowered(rank, dilation=(2,) * rank)


def conv_transpose_takes_layouts(rank: int) -> bool:
    """Whether a channels-last output and a kernel in another order are lowered."""
    spatial = "DHW"[-rank:]
    return _conv_transpose_is_lowered(rank, kernel_layout=f"OI{spatial}", out_layout=f"N{spatial}C")


def _conv_transpose_is_lowered(rank: int, **attributes: object) -> bool:
    operator = getattr(relax.op.nn, f"conv{rank}d_transpose")
    call = one_call(
        lambda data, kernel: operator(data, kernel, **attributes),
        (1, 2, *(3,) * rank),
        (2, 2, *(2,) * rank),
    )
    return is_lowered(call)


def conv_transpose_names_itself() -> bool:
    """Whether the error for a convolution of no group names the operator."""
    data, kernel = inputs(((1, 2, 3), (2, 2, 2)))
    try:
        relax.op.nn.conv1d_transpose(data, kernel, groups=0)
    except Exception as error:
        return "conv1d_transpose" in str(error)
    return False


def attention_names_itself() -> bool:
    """Whether the error for a key of another batch size than the query's names the operator."""
    query, key = (2, 3, 1, 4), (3, 3, 1, 4)
    try:
        one_call(relax.op.nn.attention, query, key, query)
    except Exception as error:
        return "attention" in str(error)
    return False


def attention_takes_symbols() -> bool:
    """Whether attention with a symbolic batch is lowered."""
    shape = (tvm_api.shape_var("batch"), 2, 3, 4)
    return is_lowered(one_call(relax.op.nn.attention, shape, shape, shape))


def attention_takes_windows() -> bool:
    """Whether attention with a window and fewer key than query heads is lowered."""
    query, key = (1, 2, 4, 4), (1, 2, 2, 4)
    return is_lowered(
        one_call(lambda q, k, v: relax.op.nn.attention(q, k, v, window_size=1), query, key, key)
    )


def attention_var_len_is_lowered() -> bool:
    """Whether attention over two sequences laid end to end is lowered."""
    shape = (1, 5, 2, 4)
    return is_lowered(
        one_call(
            relax.op.nn.attention_var_len,
            *(shape, shape, shape, (3,), ()),
            dtypes=("float32", "float32", "float32", "int32", "int32"),
        )
    )


def batch_matmul_proves_equality(batch_matmul: Callable[..., Any]) -> bool:
    """Whether two products of the same symbols count as the same batch dimension."""
    batch, heads = tvm_api.shape_var("batch"), tvm_api.shape_var("heads")
    left, right = (te.placeholder((batch * heads, 2, 3), dtype="float32") for _ in range(2))
    try:
        found = batch_matmul(left, right).shape[0]
    except AssertionError:
        return False
    return bool(tvm_api.analyzer().can_prove_equal(found, batch * heads))


def batch_matmul_sums_nothing_to_zero(batch_matmul: Callable[..., Any]) -> bool:
    """Whether a product over no inner element is computed at all: a sum over an empty axis is not.

    A reduction of no iteration leaves in its output what memory held.
    """
    left, right = (te.placeholder((1, 2, 0), dtype="float32") for _ in range(2))
    operation = batch_matmul(left, right).op
    axes = getattr(operation, "reduce_axis", ())
    return all(tvm_api.analyzer().can_prove(axis.dom.extent >= 1) for axis in axes)


def attention_keeps_attributes() -> bool:
    """Whether mixed precision leaves a causal mask where it was."""
    shape = (1, 2, 3, 4)
    module = program(
        lambda q, k, v: relax.op.nn.attention(q, k, v, causal_mask="TopLeft"), shape, shape, shape
    )
    return "TopLeft" in str(relax.transform.ToMixedPrecision()(module))


def mixed_precision_keeps_integers() -> bool:
    """Whether mixed precision leaves an integer convolution without any float."""
    module = program(
        lambda data, kernel: relax.op.nn.conv1d_transpose(data, kernel, out_dtype="int32"),
        (1, 2, 3),
        (2, 2, 2),
        dtypes=("int8", "int8"),
    )
    return "float" not in str(relax.transform.ToMixedPrecision()(module))


def packed_layouts_pass_through() -> bool:
    """Whether ConvertLayout has an answer for a packed transposed convolution."""
    call = one_call(
        lambda data, kernel: relax.op.nn.conv1d_transpose(data, kernel, data_layout="NCW2c"),
        (1, 1, 3, 2),
        (2, 2, 2),
    )
    try:
        call.op.get_attr("FRelaxInferLayout")(call, {}, {})
    except Exception:
        return False
    return True


def unsupported_layout_is_refused() -> bool:
    """Whether a convolution with another output layout is lowered, or refused with an error."""
    call = one_call(
        lambda data, kernel: relax.op.nn.conv1d(data, kernel, out_layout="NWC"),
        (1, 2, 3),
        (2, 2, 2),
    )
    try:
        result = call.op.get_attr("FLegalize")(relax.BlockBuilder(), call)
    except NotImplementedError:
        return True
    return not result.same_as(call)

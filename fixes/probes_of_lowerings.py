"""What the running TVM makes of calls that it lowers: normalizations, images, divisions, …"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax

from fixes import tvm_api
from fixes.fix import LEGALIZE
from fixes.probes import Array, Make, Shape, computes, inputs, lowered, one_call, program
from fixes.probes_of_shapes import run
from fixes.tvm_api import Call, Expr

_LARGE = 1e100
"""Beyond float32, and its square is not beyond float64."""

_NORMALIZED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("layer_norm", {"axes": [-1]}),
    ("group_norm", {"num_groups": 1, "channel_axis": 1, "axes": [2]}),
    ("instance_norm", {"channel_axis": 1, "axes": [2]}),
)


def normalizes_float64() -> bool:
    """Whether all four normalizations have float64, and keep what float32 cannot hold."""
    pair = np.array([[[-_LARGE, _LARGE]]])
    found = []
    for name, attributes in _NORMALIZED:
        count = 2 if name == "layer_norm" else 1
        weights = [np.ones(count), np.zeros(count)]
        make = getattr(relax.op.nn, name)
        found.append(_computes64(make, attributes, [pair, *weights], np.sign(pair)))
    found.append(
        _computes64(relax.op.nn.rms_norm, {"axes": [-1]}, [pair, np.ones(2)], pair / _LARGE)
    )
    return all(found)


def _computes64(
    make: Callable[..., Expr], attributes: dict[str, Any], arrays: Sequence[Array], want: Array
) -> bool:
    shapes = [array.shape for array in arrays]
    call = one_call(
        lambda *given: make(*given, **attributes), *shapes, dtypes=("float64",) * len(arrays)
    )
    return computes(call, arrays, want)


def normalizes_all_axes() -> bool:
    """Whether the root mean square may be over every axis."""
    call = one_call(lambda x, w: relax.op.nn.rms_norm(x, w, axes=[0, 1]), (1, 2), (1, 2))
    array = np.array([[3, 4]], "float32")
    return computes(call, [array, np.ones_like(array)], array / 12.5**0.5)


def normalizes_float16_batches() -> bool:
    """Whether the results are lowered to the dtype that the call's type tells."""
    half = ("float16",) * 5
    call = one_call(
        lambda *given: relax.op.nn.batch_norm(*given, axis=1), (1, 2), *[(2,)] * 4, dtypes=half
    )
    builder = relax.BlockBuilder()
    with builder.function("main", list(call.args)):
        found = builder.normalize(call.op.get_attr(LEGALIZE)(builder, call))
        dtypes = {tvm_api.dtype_of(field) for field in tvm_api.type_of(found).fields}
        builder.emit_func_output(found)
    return dtypes == {"float16"}


def _resizing(size: Sequence[Any], dtype: str, *mode: str) -> Call:
    """The call that resizes an image of one symbolic size n, or of 2 by 2."""
    method, coordinates = mode
    n = tvm_api.shape_var("n") if dtype == "float32" else 2
    return one_call(
        lambda x: relax.op.image.resize2d(
            x,
            relax.ShapeExpr([n if one is None else one for one in size]),
            method=method,
            coordinate_transformation_mode=coordinates,
            rounding_method="floor",
            layout="NCHW",
        ),
        (1, 1, n, n),
        dtypes=(dtype,),
    )


_IMAGE = np.array([[[[1, 2], [3, 4]]]], "float32")


def resizes_symbols() -> bool:
    """Whether an image of symbolic size is resized to a size that is a number."""
    call = _resizing((1, 1), "float32", "nearest_neighbor", "asymmetric")
    return computes(call, [_IMAGE], _IMAGE[..., :1, :1])


def aligns_corners() -> bool:
    """Whether an image of symbolic size is resized with its corners aligned."""
    call = _resizing((None, None), "float32", "linear", "align_corners")
    return computes(call, [_IMAGE], _IMAGE)


def aligns_one_element() -> bool:
    """Whether an image is resized to one element with its corners aligned, which is its first."""
    call = _resizing((1, 1), "float64", "linear", "align_corners")
    return computes(call, [_IMAGE.astype("float64")], _IMAGE[..., :1, :1])


def resizes_float64() -> bool:
    """Whether what float32 cannot hold is kept."""
    image = _IMAGE.astype("float64") * _LARGE
    call = _resizing((2, 2), "float64", "nearest_neighbor", "asymmetric")
    return computes(call, [image], image)


def normalizes_groups_of_expressions() -> bool:
    """Whether groups are normalized over dimensions such as ``m - 1`` and m."""
    m = tvm_api.shape_var("m")
    shapes = (2, 1, m - 1, m), (1,), (1,)
    call = one_call(
        lambda *given: relax.op.nn.group_norm(*given, num_groups=1, channel_axis=1, axes=[2, 3]),
        *shapes,
    )
    weights = np.ones(1, "float32"), np.zeros(1, "float32")
    pair = np.array([[-1, 1], [2, 4]], "float32").reshape(2, 1, 1, 2)
    return computes(call, [pair, *weights], np.sign(pair - np.array([0, 3]).reshape(2, 1, 1, 1)))


def scans_nothing() -> bool:
    """Whether the scans of two rows that have no element compute nothing."""
    m, n = tvm_api.shape_var("m"), tvm_api.shape_var("n")
    module = program(lambda x: relax.op.cumsum(x, axis=1), (2, m, n))
    return run(module, np.zeros((2, 0, 1), "float32")).shape == (2, 0, 1)


def reshapes_to_values() -> bool:
    """Whether a tensor is reshaped to the shape of another."""
    builder = relax.BlockBuilder()
    x, y = inputs([(2, 3), (3, 2)])
    with builder.function("main", [x, y]):
        shape = builder.emit(relax.op.shape_of(y))
        call = builder.normalize(relax.op.reshape(x, shape))
        try:
            found = builder.emit(call.op.get_attr(LEGALIZE)(builder, call))
        except Exception:
            found = None
        builder.emit_func_output(x if found is None else found)
    return found is not None


def reshapes_behind_a_symbol() -> bool:
    """Whether the kernel of a reshape compiles that splits a dimension behind a symbolic one."""
    b, m = tvm_api.shape_var("b"), tvm_api.shape_var("m")
    split = (b, 2, 3, tvm_api.floordiv(m - 1, 3))
    module = program(lambda x, y: relax.op.reshape(y, split), (m,), (b, 2, m - 1))
    lowered = relax.transform.LegalizeOps()(module)
    kernels = {
        variable: function.with_attr("global_symbol", str(variable.name_hint))
        for variable, function in lowered.functions.items()
        if not isinstance(function, relax.Function)
    }
    try:
        tvm.compile(tvm.IRModule(kernels), "llvm")
    except tvm.error.InternalError:
        return False
    return bool(kernels)


def rewrites_expressions() -> bool:
    """Whether RewriteDataflowReshape takes a reshape over dimensions that are expressions."""
    m = tvm_api.shape_var("m")
    module = program(lambda x, y: relax.op.reshape(y, (2, 4, 3 * m - 3)), (m,), (2, 4, m - 1, 3))
    return _is_rewritten(module)


def rewrites_repeats() -> bool:
    """Whether RewriteDataflowReshape takes a repeat over a dimension that is an expression."""
    m = tvm_api.shape_var("m")
    return _is_rewritten(program(lambda x, y: relax.op.repeat(y, 2, 1), (m,), (4, 2 * m + 1)))


def rewrites_nothing() -> bool:
    """Whether RewriteDataflowReshape takes another axis of a tensor without elements."""
    return _is_rewritten(
        program(lambda x: relax.op.expand_dims(relax.op.nn.relu(x), 0), (3, 0))
    ) and _is_rewritten(program(lambda x: relax.op.squeeze(relax.op.nn.relu(x), 0), (1, 0, 3)))


def _is_rewritten(module: Any) -> bool:
    lowered = relax.transform.LegalizeOps()(module)
    return _goes_through(relax.transform.RewriteDataflowReshape(), lowered)


def lowers_means_of_nothing() -> bool:
    """Whether a mean, variance and deviation over a static dimension 0 are lowered."""
    return all(
        _is_lowered(lambda x, operator=operator: operator(x, 0), (0, 3))
        for operator in (relax.op.mean, relax.op.variance, relax.op.std)
    )


def splits_nothing() -> bool:
    """Whether a static dimension 0 is split."""
    return _is_lowered(lambda x: relax.op.split(x, 2, 0), (0, 3))


def gathers_nothing() -> bool:
    """Whether indices of which there are none are taken."""
    module = program(
        lambda x, at: relax.op.gather_elements(x, at, 1),
        (2, 3),
        (2, 0),
        dtypes=("float32", "int64"),
    )
    return _goes_through(relax.transform.LegalizeOps(), module)


def pads_nothing() -> bool:
    """Whether circular padding of a tensor with a static dimension 0 is lowered."""
    return _is_lowered(lambda x: relax.op.nn.pad(x, (0, 0, 0, 0), "circular"), (2, 0))


def _is_lowered(make: Make, shape: Shape) -> bool:
    return _goes_through(relax.transform.LegalizeOps(), program(make, shape))


def _goes_through(one_pass: Any, module: Any) -> bool:
    """Whether the pass does not fail on ``module``."""
    try:
        one_pass(module)
    except Exception:
        return False
    return True


def slices_to_the_end() -> bool:
    """Whether what is turned around is of the size that it was."""
    m = tvm_api.shape_var("m")
    call = one_call(lambda x: relax.op.strided_slice(x, [0], [-1], [1 - 2**31], [-1]), (m,))
    return tvm_api.has_shape(call) and tvm_api.proves_equal(tvm_api.shape_of(call)[0], m)


def broadcasts_symbols() -> bool:
    """Whether the one element of a symbolic dimension is what is broadcast to three."""
    n = tvm_api.shape_var("n")
    call = one_call(lambda x: relax.op.broadcast_to(x, (3,)), (n,))
    return computes(call, [np.array([2], "float32")], np.full(3, 2))


def divides_by_anything() -> bool:
    """Whether integers can be divided by 0, and the lowest by -1; whoever asks may die of it."""
    arrays = [np.array(values, "int32") for values in ([3, -(2**31)], [0, -1])]
    return all(
        computes(one_call(make, (2,), (2,), dtypes=("int32",) * 2), arrays, np.array(expected))
        for make, expected in (
            (relax.op.divide, [0, -(2**31)]),
            (relax.op.floor_divide, [0, -(2**31)]),
            (relax.op.mod, [0, 0]),
            (relax.op.floor_mod, [0, 0]),
        )
    )


def resizes_integers() -> bool:
    """Whether an integer that float32 does not have is left as it is by the nearest element."""
    call = _resizing((2, 2), "int32", "nearest_neighbor", "asymmetric")
    odd = 2**24 + 1
    found = lowered(call)
    if found is None:
        return False
    array = np.full((1, 1, 2, 2), odd, "int32")
    run = tvm_api.compiled(found[0])
    return bool((run(array, np.zeros((1, 1, 2, 2), found[1])) == odd).all())


def resizes_to_another_dtype() -> bool:
    """Whether the result has the dtype that is asked for, and that its type states."""
    x = _IMAGE
    module = program(
        lambda image: relax.op.image.resize2d(
            image, relax.ShapeExpr([4, 4]), method="linear", layout="NCHW", out_dtype="float16"
        ),
        x.shape,
    )
    return run(module, x).dtype == "float16"

"""Normalizations, lowered by the fix, agree with NumPy."""

from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.lowerings import (
    normalization,
)
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


def normalized(x: Any, axes: tuple[int, ...], *weights: Any) -> Any:
    bias = weights[1] if weights[1:] else 0
    apart = x - x.mean(axes, keepdims=True) if weights[1:] else x
    return apart / np.sqrt((apart**2).mean(axes, keepdims=True) + 1e-5) * weights[0] + bias


def grouped(x: Any, weight: Any, bias: Any) -> Any:
    apart = x.reshape(x.shape[0], 2, 2 * x.shape[2])
    result = normalized(apart, (2,), 1, 0).reshape(x.shape)
    return result * weight[:, None] + bias[:, None]


NORMS: list[tuple[Any, Any, tuple[Any, ...]]] = [
    (
        lambda *tensors: OP.nn.layer_norm(*tensors, axes=[-2, -1]),
        lambda x, w, b: normalized(x, (1, 2), w, b),
        (4, "M"),
    ),
    (
        lambda *tensors: OP.nn.group_norm(*tensors, num_groups=2, channel_axis=1, axes=[2]),
        grouped,
        (4,),
    ),
    (
        lambda *tensors: OP.nn.instance_norm(*tensors, channel_axis=-2, axes=[2]),
        lambda x, w, b: normalized(x, (2,), w[:, None], b[:, None]),
        (4,),
    ),
    (
        lambda x, w, _: OP.nn.rms_norm(x, w, axes=[2, 1]),
        lambda x, w, _: normalized(x, (1, 2), w.T),
        ("M", 4),
    ),
]


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(("make", "reference", "weights"), NORMS)
def test_normalizations_of_float64(make: Any, reference: Any, weights: Any, fused: bool) -> None:
    shapes = (("B", 4, "M"), weights, weights)
    run = compiled.run_with(normalization.FIX, make, *shapes, dtypes=("float64",) * 3, fused=fused)
    for binding in ({"B": 2, "M": 3}, {"B": 1, "M": 1}, {"B": 0, "M": 5}):
        arrays = [
            compiled.sample(compiled.size(shape, binding), "float64", seed)
            for seed, shape in enumerate(shapes)
        ]
        np.testing.assert_allclose(run(*arrays), reference(*arrays), rtol=1e-9, atol=1e-12)


AXES = [axes for count in (1, 2, 3) for axes in permutations(range(3), count)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("biased", [False, True])
def test_axes_in_any_place_and_order(biased: bool, dtype: str) -> None:
    shape = (2, 3, 4)
    make = OP.nn.layer_norm if biased else OP.nn.rms_norm
    tolerance = 5e-3 if dtype == "float16" else 1e-5
    for axes in AXES:
        for counted in (axes, tuple(axis - 3 for axis in axes)):
            sizes = tuple(shape[axis] for axis in axes)
            arrays = [
                compiled.sample(taken, dtype, seed)
                for seed, taken in enumerate([shape, sizes, sizes][: 2 + biased])
            ]
            run = compiled.run_with(
                normalization.FIX,
                partial(make, axes=list(counted)),
                *(array.shape for array in arrays),
                dtypes=(dtype,) * len(arrays),
                fused=False,
            )
            wide = [array.astype("float64") for array in arrays]
            rising = np.argsort(axes)
            along = [size if axis in axes else 1 for axis, size in enumerate(shape)]
            weights = [weight.transpose(rising).reshape(along) for weight in wide[1:]]
            np.testing.assert_allclose(
                run(*arrays),
                normalized(wide[0], axes, *weights),
                rtol=tolerance,
                atol=tolerance,
                err_msg=f"{counted}",
            )


def test_float16_is_normalized_over_all_axes_in_float32() -> None:
    def make(x: Any, w: Any) -> Any:
        return OP.nn.rms_norm(x, w, axes=[0])

    half = ("float16", "float16")
    run = compiled.run_with(normalization.FIX, make, ("M",), ("M",), dtypes=half, fused=False)
    # Its square is outside float16.
    array = np.full(3, 300, "float16")
    result = run(array, np.ones(3, "float16"))
    assert result.dtype == "float16"
    np.testing.assert_allclose(result, 1, rtol=1e-3)


def test_operands_that_tvm_normalizes_are_lowered_as_before() -> None:
    shapes = (("B", 4, "M"), (4, "M"), (4, "M"))
    program = compiled.module(NORMS[0][0], *shapes)
    want = str(relax.transform.LegalizeOps()(program))
    with installation.install([normalization.FIX]):
        assert str(relax.transform.LegalizeOps()(program)) == want


PROGRAMS: whole.Programs = {
    "normalization": {
        "float64": tuple(
            whole.upstream("normalization", f"{name}_of_float64")
            for name in ("layer_norm", "rms_norm")
        ),
        "all axes": (whole.upstream("normalization", "rms_norm_over_all_axes"),),
        "leading axes": tuple(
            whole.upstream("normalization", "rms_norm_over_leading_axes", axes)
            for axes in ([0], [1], [0, 1], [0, 2])
        ),
        "order of axes": tuple(
            whole.upstream("normalization", f"{name}_over_axes_that_do_not_rise")
            for name in ("layer_norm", "rms_norm")
        ),
        "groups": (whole.upstream("normalization", "group_norm_over_expressions"),),
        "small deviations": tuple(
            whole.upstream("normalization", f"{name}_norm_of_small_deviations")
            for name in ("group", "instance")
        ),
        "batches of float16": (whole.upstream("normalization", "batch_norm_of_float16"),),
    },
}

CURES: whole.Cures = {
    "batch-norm-float16": (("normalization", "batches of float16"),),
    "layer-norm-float64": (("normalization", "float64"),),
    "batch-norm-float16-dtype": (("normalization", "batches of float16"),),
    "group-norm-float64": (("normalization", "float64"),),
    "instance-norm-float64": (("normalization", "float64"),),
    "rms-norm-all-axes": (("normalization", "all axes"),),
    "rms-norm-float64": (("normalization", "float64"),),
}


@pytest.mark.parametrize("shape", [(2, 4, 0), (0, 4, 3)])
@pytest.mark.parametrize(("make", "reference", "weights"), NORMS[1:3])
def test_groups_and_instances_over_nothing(
    make: Any, reference: Any, weights: Any, shape: tuple[int, ...]
) -> None:
    """TVM divides by the constant 0, which does not compile."""
    tensors = [np.ones(size, "float32") for size in (shape, weights, weights)]
    with installation.install([normalization.FIX]):
        lowered = probes.program(make, *(tensor.shape for tensor in tensors))
        assert probes.run(lowered, *tensors).shape == shape

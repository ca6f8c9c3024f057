"""What is lowered otherwise while the fixes are on gives what NumPy gives."""

import re
from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax, te

import fixes
from fixes import (
    adaptive_pooling,
    broadcasting,
    dataflow_reshape,
    empty_tensors,
    far_ends,
    folding,
    fusion,
    integer_division,
    kept_dimensions,
    normalization,
    prover,
    resize,
    scans,
    shape_values,
    special_values,
    symbolic_slices,
    tvm_api,
    tvm_api_shapes,
)
from fixes.fix import Fix
from fixes.probes import one_call, program
from tests.fixes import compiled
from tests.fixes.upstream import test_adaptive_pooling as pooling_tests
from tests.fixes.upstream import test_broadcasting as broadcast_tests
from tests.fixes.upstream import test_dataflow_reshape as dataflow_tests
from tests.fixes.upstream import test_empty_tensors as empty_tests
from tests.fixes.upstream import test_far_ends as far_tests
from tests.fixes.upstream import test_folding as folding_tests
from tests.fixes.upstream import test_fusion as fusion_tests
from tests.fixes.upstream import test_integer_division as division_tests
from tests.fixes.upstream import test_kept_dimensions as kept_tests
from tests.fixes.upstream import test_normalization as normalization_tests
from tests.fixes.upstream import test_resize as resize_tests
from tests.fixes.upstream import test_scans as scan_tests
from tests.fixes.upstream import test_shape_values as shape_tests
from tests.fixes.upstream import test_special_values as special_tests
from tests.fixes.upstream import test_symbolic_slices as slice_tests

OP = relax.op
FIXES = {
    adaptive_pooling.FIX: pooling_tests,
    broadcasting.FIX: broadcast_tests,
    dataflow_reshape.FIX: dataflow_tests,
    empty_tensors.FIX: empty_tests,
    far_ends.FIX: far_tests,
    folding.FIX: folding_tests,
    fusion.FIX: fusion_tests,
    integer_division.FIX: division_tests,
    kept_dimensions.FIX: kept_tests,
    normalization.FIX: normalization_tests,
    resize.FIX: resize_tests,
    scans.FIX: scan_tests,
    shape_values.FIX: shape_tests,
    special_values.FIX: special_tests,
    symbolic_slices.FIX: slice_tests,
}


def lowered_run(fix: Fix, make: Any, *shapes: Any, dtypes: tuple[str, ...], fused: bool) -> Any:
    """The program, compiled with the fix alone."""
    pipeline = relax.get_default_pipeline(compiled.TARGET) if fused else "default"
    with fixes.installation.install([fix]):
        return compiled.build(compiled.module(make, *shapes, dtypes=dtypes), pipeline=pipeline)


@pytest.mark.parametrize("fix", FIXES, ids=lambda fix: fix.name)
def test_what_fails_in_tvm_does_not_with_the_fix(fix: Fix) -> None:
    tests = [test for name, test in vars(FIXES[fix]).items() if name.startswith("test_")]
    with fixes.installation.install([fix]):
        for test in tests:
            test()
        assert not fix.needed()


def normalized(x: Any, axes: tuple[int, ...], *weights: Any) -> Any:
    bias = weights[1] if weights[1:] else 0
    apart = x - x.mean(axes, keepdims=True) if weights[1:] else x
    return apart / np.sqrt((apart**2).mean(axes, keepdims=True) + 1e-5) * weights[0] + bias


def grouped(x: Any, weight: Any, bias: Any) -> Any:
    apart = x.reshape(x.shape[0], 2, 2 * x.shape[2])
    found = normalized(apart, (2,), 1, 0).reshape(x.shape)
    return found * weight[:, None] + bias[:, None]


NORMS: list[tuple[Any, Any, tuple[Any, ...]]] = [
    (
        lambda *given: OP.nn.layer_norm(*given, axes=[-2, -1]),
        lambda x, w, b: normalized(x, (1, 2), w, b),
        (4, "M"),
    ),
    (
        lambda *given: OP.nn.group_norm(*given, num_groups=2, channel_axis=1, axes=[2]),
        grouped,
        (4,),
    ),
    (
        lambda *given: OP.nn.instance_norm(*given, channel_axis=-2, axes=[2]),
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
    run = lowered_run(normalization.FIX, make, *shapes, dtypes=("float64",) * 3, fused=fused)
    for binding in ({"B": 2, "M": 3}, {"B": 1, "M": 1}, {"B": 0, "M": 5}):
        arrays = [
            compiled.sample(compiled.size(shape, binding), "float64", seed)
            for seed, shape in enumerate(shapes)
        ]
        np.testing.assert_allclose(run(*arrays), reference(*arrays), rtol=1e-9, atol=1e-12)


def test_float16_is_normalized_over_all_axes_in_float32() -> None:
    def make(x: Any, w: Any) -> Any:
        return OP.nn.rms_norm(x, w, axes=[0])

    half = ("float16", "float16")
    run = lowered_run(normalization.FIX, make, ("M",), ("M",), dtypes=half, fused=False)
    # The square of it is not a float16.
    array = np.full(3, 300, "float16")
    found = run(array, np.ones(3, "float16"))
    assert found.dtype == "float16"
    np.testing.assert_allclose(found, 1, rtol=1e-3)


def test_what_tvm_can_normalize_is_lowered_as_before() -> None:
    shapes = (("B", 4, "M"), (4,), (4,))
    program = compiled.module(NORMS[1][0], *shapes)
    want = str(relax.transform.LegalizeOps()(program))
    with fixes.installation.install([normalization.FIX]):
        assert str(relax.transform.LegalizeOps()(program)) == want


def resized(x: Any, out: tuple[int, int], mode: str) -> Any:
    """Linear interpolation, one axis after the other."""
    for axis, places in zip((2, 3), out, strict=True):
        size = x.shape[axis]
        at = np.arange(places)
        if mode == "align_corners":
            where = at * ((size - 1) / max(places - 1, 1))
        else:
            where = np.clip((at + 0.5) * size / places - 0.5, 0, size - 1)
        low = where.astype(int)
        share = (where - low).reshape([-1 if one == axis else 1 for one in range(4)])
        high = np.minimum(low + 1, size - 1)
        x = x.take(low, axis) * (1 - share) + x.take(high, axis) * share
    return x


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("mode", ["align_corners", "half_pixel", "asymmetric"])
def test_resized_images(mode: str, dtype: str) -> None:
    nearest = mode == "asymmetric"

    def make(x: Any) -> Any:
        height = tvm_api.shape_of(x)[2]
        return OP.image.resize2d(
            x,
            relax.ShapeExpr([height * 3, tvm_api.integer(5)]),
            layout="NCHW",
            method="nearest_neighbor" if nearest else "linear",
            coordinate_transformation_mode=mode,
            rounding_method="floor",
        )

    run = lowered_run(resize.FIX, make, ("B", 2, "M", "N"), dtypes=(dtype,), fused=True)
    for shape in ((1, 2, 3, 4), (2, 2, 1, 7), (1, 2, 5, 1)):
        array = compiled.sample(shape, dtype)
        out = (shape[2] * 3, 5)
        if nearest:
            rows, columns = (
                np.arange(n) * size // n for n, size in zip(out, shape[2:], strict=True)
            )
            want = array[:, :, rows][..., columns]
        else:
            want = resized(array.astype("float64"), out, mode)
        # A coordinate of float32 is off by some units in its last place.
        slack = {"float64": 1e-12, "float32": 1e-5, "float16": 4e-3}[dtype]
        np.testing.assert_allclose(run(array), want, rtol=slack, atol=slack)


SCANS: list[tuple[str, int | None, bool, str | None]] = [
    ("cumsum", 1, False, None),
    ("cumsum", -1, True, "float64"),
    ("cumsum", None, True, None),
    ("cumprod", 0, False, None),
    ("cumprod", 2, True, None),
]


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(("name", "axis", "exclusive", "dtype"), SCANS)
def test_scans(
    name: str, axis: int | None, exclusive: bool, dtype: str | None, fused: bool
) -> None:
    def make(x: Any) -> Any:
        # What is fused with others writes to their tensors.
        found = getattr(OP, name)(OP.negative(x), axis=axis, exclusive=exclusive, dtype=dtype)
        return OP.negative(found)

    shape = ("B", "M", 1, "N")
    run = lowered_run(scans.FIX, make, shape, dtypes=("float32",), fused=fused)
    first = 0 if name == "cumsum" else 1
    for size in ((2, 3, 1, 4), (1, 1, 1, 1), (0, 3, 1, 2), (2, 0, 1, 3), (2, 3, 1, 0)):
        array = compiled.sample(size)
        row = -array.ravel() if axis is None else -array
        along = 0 if axis is None else axis
        if exclusive:
            # The first of each row, and the others but the last.
            start = np.full_like(row.take(range(min(row.shape[along], 1)), along), first)
            row = np.concatenate([start, row.take(range(row.shape[along] - 1), along)], along)
        want = -getattr(np, name)(row, along)
        found = run(array)
        assert found.dtype == np.dtype(dtype or "float32")
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)


def test_a_scan_writes_its_output_and_no_more() -> None:
    """The rows are scanned in parallel; an axis of one row is none."""
    data = te.placeholder((1, 2, 3), "float32", name="data")
    scanned = scans.scanop(data, lambda x, y: x + y, 0, "cumsum", axis=2)
    function = te.create_prim_func([data, scanned])
    assert re.findall(r"T\.parallel\((?:T\.int64\()?(\d+)", str(function)) == ["2"]
    memory = np.full(64, 7, "float32")
    aligned = memory[(-memory.ctypes.data % 64) // 4 :]
    output = tvm.runtime.from_dlpack(aligned[:6].reshape(1, 2, 3))
    array = compiled.sample((1, 2, 3))
    run = tvm.compile(function.with_attr("global_symbol", "scan"), compiled.TARGET)
    run["scan"](tvm.runtime.tensor(array), output)
    np.testing.assert_allclose(aligned[:6].reshape(1, 2, 3), array.cumsum(2), rtol=1e-5)
    assert (aligned[6:] == 7).all()


def test_a_scan_of_fixed_sizes() -> None:
    run = lowered_run(
        scans.FIX, lambda x: OP.cumsum(x, axis=0), (3, 1, 2), dtypes=("int32",), fused=True
    )
    array = compiled.sample((3, 1, 2), "int32")
    np.testing.assert_array_equal(run(array), array.cumsum(0))


def test_one_element_of_aligned_corners() -> None:
    def make(x: Any) -> Any:
        return OP.image.resize2d(
            x,
            relax.ShapeExpr([1, 3]),
            layout="NCHW",
            method="linear",
            coordinate_transformation_mode="align_corners",
        )

    run = lowered_run(resize.FIX, make, (1, 2, 2, 2), dtypes=("float32",), fused=False)
    array = compiled.sample((1, 2, 2, 2))
    np.testing.assert_allclose(run(array), resized(array, (1, 3), "align_corners"), rtol=1e-6)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    ("name", "axis", "keep", "dtype"),
    [
        ("argmax", 1, False, "float32"),
        ("argmin", None, False, "float16"),
        ("argmax", -1, True, "float64"),
        ("argmin", None, True, "int32"),
        ("argmax", 0, False, "int8"),
    ],
)
def test_places(name: str, axis: int | None, keep: bool, dtype: str, fused: bool) -> None:
    def make(x: Any) -> Any:
        return getattr(OP, name)(x, axis=axis, keepdims=keep)

    run = lowered_run(special_values.FIX, make, ("M", 3, "N"), dtypes=(dtype,), fused=fused)
    ends = np.iinfo(dtype) if "int" in dtype else None
    low, high = (ends.min, ends.max) if ends else (-np.inf, np.inf)
    arrays = [np.full((2, 3, 2), one).astype(dtype) for one in (low, high)]
    for array in (compiled.sample((2, 3, 4), dtype), *arrays):
        want = getattr(np, name)(array, axis=axis, keepdims=keep)
        np.testing.assert_array_equal(run(array), want)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32"])
def test_unequal(dtype: str) -> None:
    run = lowered_run(
        special_values.FIX, OP.not_equal, ("M", 1), (3,), dtypes=(dtype,) * 2, fused=True
    )
    values = [1, 2, np.nan] if dtype != "int32" else [1, 2, 3]
    column, row = np.array(values, dtype)[:, None], np.array([1, *values[1:]], dtype)
    np.testing.assert_array_equal(run(column, row), column != row)
    run = lowered_run(special_values.FIX, OP.equal, ("M", 1), (3,), dtypes=(dtype,) * 2, fused=True)
    np.testing.assert_array_equal(run(column, row), column == row)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int32"])
def test_less_itself(dtype: str) -> None:
    def make(x: Any) -> Any:
        return OP.abs(OP.subtract(x, x))

    run = lowered_run(special_values.FIX, make, ("M",), dtypes=(dtype,), fused=True)
    values = np.array([1, 2, 3] if dtype == "int32" else [np.inf, -np.inf, np.nan, -2], dtype)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(run(values), np.abs(values - values))


def test_floats_that_have_no_isnan_are_lowered_as_before() -> None:
    for operator in (OP.equal, OP.not_equal, OP.subtract):
        program = compiled.module(operator, ("M",), ("M",), dtypes=("bfloat16",) * 2)
        with fixes.installation.install([special_values.FIX]):
            lowered = relax.transform.LegalizeOps()(program)
        assert compiled.calls(lowered) == ["relax.call_tir"]


def test_a_bound_that_is_no_dimension_may_be_negative() -> None:
    """k may be an input, and -1 leaves the last element out; of m nothing is asked."""
    m, k = tvm_api.shape_var("m"), tvm_api.shape_var("k")
    for bound, value, want in ((k, -1, 4), (k, 2, 2), (k, -7, 0), (k, 9, 5), (m, 0, 5)):
        call = one_call(lambda x, end=bound: OP.strided_slice(x, [0], [0], [end]), (m,))
        spans = symbolic_slices.spans(call)
        assert spans is not None
        size = tvm_api_shapes.substitute(
            spans[0].size, {m: tvm_api.integer(5), k: tvm_api.integer(value)}
        )
        assert tvm_api.as_int(tvm_api.analyzer().simplify(size)) == want
        assert ("Select" in str(spans[0].size)) == bound.same_as(k)


def test_another_step_backwards_is_left_alone() -> None:
    def make(x: Any) -> Any:
        return OP.strided_slice(x, [0], [-1], [1 - 2**31], [-2])

    with fixes.installation.install([far_ends.FIX]):
        assert compiled.calls(compiled.module(make, ("M",))) == ["relax.strided_slice"]


def test_another_check_of_the_reshape_pass_that_fails_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(module: Any) -> Any:
        raise tvm.error.InternalError("Check failed: (another) is false")

    monkeypatch.setattr(
        dataflow_reshape._ffi_api, "RewriteDataflowReshape", lambda: failing, raising=False
    )
    with pytest.raises(tvm.error.InternalError, match="another"):
        dataflow_reshape.RewriteDataflowReshape()(tvm.IRModule({}))


BROADCAST: list[tuple[tuple[Any, ...], tuple[Any, ...], list[dict[str, int]]]] = [
    (("N",), (3,), [{"N": 1}, {"N": 3}]),
    (("M", "N"), (2, 4, 3), [{"M": 4, "N": 3}, {"M": 1, "N": 3}, {"M": 4, "N": 1}]),
    ((1, "N"), (4, 3), [{"N": 1}, {"N": 3}]),
]


@pytest.mark.parametrize(("shape", "wanted", "bindings"), BROADCAST)
@pytest.mark.parametrize("fused", [False, True])
def test_broadcasting(shape: Any, wanted: Any, bindings: Any, fused: bool) -> None:
    def make(x: Any) -> Any:
        return OP.broadcast_to(x, wanted)

    run = lowered_run(broadcasting.FIX, make, shape, dtypes=("float32",), fused=fused)
    for binding in bindings:
        array = compiled.sample(compiled.size(shape, binding))
        np.testing.assert_array_equal(run(array), np.broadcast_to(array, wanted))


def test_what_more_than_topi_proves_is_broadcast() -> None:
    """That the quotient is 1 the prover knows; TOPI takes it for what the shape should be."""
    m = tvm_api.shape_var("m")
    whole = tvm_api.floordiv(m - 2, 5) * 6 + 6
    one = tvm_api.floordiv(whole, tvm_api.floordiv(m + 3, 5) * 6)
    assert prover.equal(one, tvm_api.integer(1))
    with fixes.installation.install([broadcasting.FIX]):
        module = program(lambda x, y: OP.broadcast_to(x, (1, 2, 3)), (one, 2, 1), (m,))
        run = compiled.build(module)
    for size in (2, 13):
        x, y = compiled.sample((1, 2, 1)), compiled.sample((size,))
        np.testing.assert_array_equal(run(x, y), np.broadcast_to(x, (1, 2, 3)))


def test_what_needs_no_question_is_left_to_tvm() -> None:
    module = compiled.module(lambda x: OP.broadcast_to(x, (3, 4)), (1, 4))
    with fixes.installation.install([broadcasting.FIX]):
        assert "T_broadcast_to" in str(relax.transform.LegalizeOps()(module))


ENDS = (0, 1, -1, 2, -3, 7)
DIVISIONS = {
    "divide": lambda x, y: np.trunc(x / y),
    "floor_divide": np.floor_divide,
    "mod": np.fmod,
    "floor_mod": np.mod,
}


@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", ["int8", "int32", "uint8"])
def test_integers_are_divided_by_anything(name: str, dtype: str) -> None:
    """Of a column by a row, each with the ends of the dtype."""
    limits = np.iinfo(dtype)
    values = sorted({v for v in (*ENDS, limits.min, limits.max) if limits.min <= v <= limits.max})
    row = np.array(values, dtype)
    shapes = [("M", 1), ("N",)]
    make = getattr(OP, name)
    fix = integer_division.FIX
    run = lowered_run(fix, make, *shapes, dtypes=(dtype,) * 2, fused=True)
    found = run(row[:, None], row)
    assert found.dtype == dtype
    for number, x in enumerate(values):
        for other, y in enumerate(values):
            # By 0, and of the lowest by -1 in the dtype's own arithmetic, as NumPy says.
            exact = DIVISIONS[name](float(x), float(y)) if y else 0
            assert found[number, other] == np.array(exact).astype("int64").astype(dtype), (x, y)


def test_the_lowest_integer_of_64_bits() -> None:
    lowest = np.iinfo("int64").min
    fix = integer_division.FIX
    run = lowered_run(fix, OP.floor_divide, (2,), (2,), dtypes=("int64",) * 2, fused=False)
    found = run(np.array([lowest, lowest + 1], "int64"), np.array([-1, -1], "int64"))
    np.testing.assert_array_equal(found, [lowest, -(lowest + 1)])


def test_the_reshape_pass_is_called_as_before() -> None:
    """By its name bisection finds it, and pipelines place others."""
    with fixes.installation.install([dataflow_reshape.FIX]):
        info = relax.transform.RewriteDataflowReshape().info
    assert (str(info.name), int(info.opt_level)) == ("RewriteDataflowReshape", 0)

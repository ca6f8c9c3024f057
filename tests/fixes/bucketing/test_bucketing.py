"""Static programs for a few sizes compute the same at every size as the program over the symbol.

Values are small integers, so both results are exact and agree to the bit.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tvm
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.bucketing import masked_program
from tests.fixes import compiled
from tests.fixes.bucketed_programs import OP, N, agrees, flat, inputs, program, refused

ONE = relax.const(1, "float32")


def windows(emit: Any, x: Any, w: Any, v: Any) -> Any:
    """Elements past an end are no longer zero: 1 was added, or the sign changed."""
    x = emit(OP.add(emit(OP.nn.conv1d(x, w, padding=1)), ONE))
    y = emit(OP.nn.conv1d(x, w, strides=2, dilation=2, padding=(1, 3)))
    up = emit(OP.nn.conv1d_transpose(emit(OP.add(y, ONE)), v, strides=2, padding=1))
    peak = emit(OP.nn.max_pool1d(emit(OP.negative(up)), 3, 2, (1, 1), ceil_mode=True))
    mean = emit(OP.nn.avg_pool1d(emit(OP.add(x, ONE)), 4, 1, (2, 1)))
    padded = emit(OP.nn.pad(mean, (0, 0, 0, 0, 2, 1), "constant", 5))
    up = emit(OP.strided_slice(up, [2], [1], [-2], [2]))
    return emit(relax.Tuple([up, peak, emit(relax.Tuple([mean])), emit(OP.nn.conv1d(padded, w))]))


def images(emit: Any, x: Any, w: Any) -> Any:
    """Two axes with the symbol, channels last, and further outputs at the end."""
    x = emit(OP.add(emit(OP.nn.conv2d(x, w, padding=1, data_layout="NHWC")), ONE))
    up = emit(
        OP.nn.conv2d_transpose(
            x, w, strides=2, padding=(0, 1), output_padding=1, data_layout="NHWC"
        )
    )
    return emit(OP.nn.max_pool2d(emit(OP.negative(up)), 2, 1, (1, 0, 1, 1), layout="NHWC"))


def movements(emit: Any, x: Any, table: Any, indices: Any, weights: Any) -> Any:
    n, shape = N, relax.ShapeExpr
    rows = emit(OP.permute_dims(x, [0, 2, 1]))
    rows = emit(OP.add(emit(OP.matmul(rows, weights)), emit(OP.take(table, indices, 0))))
    merged = emit(OP.reshape(rows, shape([n * 2, 2])))
    back = emit(OP.reshape(merged, shape([1, n, 2, 2])))
    sums = emit(OP.cumsum(back, axis=1))
    twice = emit(OP.flatten(emit(OP.repeat(sums, 2, 1))))
    longer = emit(OP.concat([emit(OP.ones(shape([1, 3, 4]), "float32")), rows], 1))
    cut = emit(OP.strided_slice(longer, [1, 2], [1, 0], [n, 4], [2, 1]))
    counts = emit(OP.arange(2, n + 2, 1, "float32"))
    grid = emit(OP.multiply(counts, emit(OP.expand_dims(counts, 1))))
    grid = emit(OP.tril(emit(OP.broadcast_to(grid, shape([2, n, n])))))
    part = emit(emit(OP.split(rows, 2, 2))[1])
    least = emit(OP.min(emit(OP.permute_dims(back, [0, 2, 1, 3])), axis=[1, 3]))
    return emit(
        relax.Tuple([merged, twice, cut, grid, least, x, emit(OP.tile(weights, (2,))), part])
    )


def whole_numbers(emit: Any, x: Any, y: Any, table: Any) -> Any:
    """Zeros past the end are divisors, then a far index: without the fix the process would die."""
    quotients = emit(OP.add(emit(OP.floor_divide(x, y)), emit(OP.floor_mod(x, y))))
    past = emit(OP.astype(emit(OP.equal(x, relax.const(0, "int32"))), "int32"))
    far = emit(OP.multiply(past, relax.const(1 << 29, "int32")))
    index = emit(OP.add(emit(OP.subtract(relax.const(3, "int32"), x)), far))
    return emit(relax.Tuple([quotients, emit(OP.take(table, index, 0))]))


def infinite(emit: Any, x: Any, w: Any) -> Any:
    """Elements past the end are infinite, and NaN where multiplied by zero."""
    x = emit(OP.divide(ONE, emit(OP.multiply(x, emit(OP.divide(x, x))))))
    x = emit(OP.floor(emit(OP.multiply(x, relax.const(8, "float32")))))
    return emit(OP.nn.conv1d(x, w, padding=2))


def derived(emit: Any, x: Any, y: Any, w: Any) -> Any:
    """No input has the plain symbol as a dimension."""
    return emit(OP.nn.conv1d(emit(OP.concat([y, emit(OP.add(x, ONE))], 2)), w, padding=1))


def decoder(emit: Any, x: Any, w: Any, v: Any) -> Any:
    """2048 samples for each frame, a convolution of stride 5, and its transpose."""
    x = emit(OP.nn.relu(emit(OP.subtract(emit(OP.nn.conv1d(x, w, padding=1)), ONE))))
    apart = emit(OP.expand_dims(x, 2))
    nearest = {"method": "nearest_neighbor", "coordinate_transformation_mode": "asymmetric"}
    wide = emit(
        OP.image.resize2d(
            apart, relax.ShapeExpr([1, N * 2048]), layout="NCHW", rounding_method="floor", **nearest
        )
    )
    x = emit(OP.nn.conv1d(emit(OP.squeeze(wide, [2])), w, strides=5))
    return emit(OP.nn.conv1d_transpose(emit(OP.nn.relu(x)), v, strides=3))


PROGRAMS = {
    "decoder": (decoder, [(1, 2, N), (2, 2, 3), (2, 2, 4)], (), range(1, 4)),
    "windows": (windows, [(1, 2, N), (2, 2, 3), (2, 2, 4)], (), range(3, 12)),
    "images": (images, [(1, N, N + 1, 2), (2, 2, 3, 3)], (), range(1, 8)),
    "movements": (
        movements,
        [(1, 4, N), (5, 4), (1, N), (4, 4)],
        ("float32", "float32", "int32"),
        range(12),
    ),
    "whole numbers": (whole_numbers, [(N,), (N,), (3, 2)], ("int32", "int32"), range(1, 8)),
    "infinite": (infinite, [(1, 2, N), (2, 2, 3)], (), range(1, 8)),
    "derived": (derived, [(1, 2, N * 2 + 1), (1, 2, 3), (2, 2, 3)], (), range(8)),
}


@pytest.mark.usefixtures("fixes_on")
@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name: str) -> None:
    body, shapes, dtypes, sizes = PROGRAMS[name]
    module = program(body, *shapes, dtypes=dtypes)
    agrees(module, [sizes[-1] // 2, sizes[-1]], sizes)


@pytest.mark.usefixtures("fixes_on")
def test_values_of_fused_programs() -> None:
    body, shapes, _, sizes = PROGRAMS["windows"]
    agrees(program(body, *shapes), [sizes[-1]], sizes, fixes.pipeline(compiled.TARGET))


@pytest.mark.usefixtures("fixes_on")
def test_values_that_are_rounded() -> None:
    """Sums along axes other than the padded ones, whose steps may be rounded differently."""

    def body(emit: Any, x: Any, key: Any, scale: Any) -> Any:
        query = emit(OP.expand_dims(emit(OP.nn.layer_norm(x, scale, scale, axes=[-1])), 2))
        seen = emit(OP.nn.attention(query, key, key, causal_mask="TopLeft"))
        soft = emit(OP.nn.softmax(emit(OP.squeeze(seen, [2])), axis=-1))
        return emit(relax.Tuple([soft, emit(OP.mean(soft, axis=[2], keepdims=True))]))

    module = program(body, (1, N, 4), (1, 3, 1, 4), (4,))
    dynamic = compiled.machine(module)["main"]
    static = fixes.bucketed(module, "n", [6], compiled.TARGET)
    for size in range(7):
        arrays = inputs(module, size)
        result = flat(static(*arrays))
        want = flat(dynamic(*map(tvm.runtime.tensor, arrays)))
        for actual, expected in zip(result, want, strict=True):
            np.testing.assert_allclose(actual, expected, rtol=4e-7, err_msg=f"n = {size}")


def two_sizes(emit: Any, x: Any, y: Any, w: Any) -> Any:
    return emit(relax.Tuple([emit(OP.nn.conv1d(x, w)), emit(OP.exp(y))]))


def test_calls_that_are_refused() -> None:
    module = program(two_sizes, (1, 1, N * 2), (N + 1, 3), (1, 1, 4))
    static = fixes.bucketed(module, "n", [5, 3], compiled.TARGET)
    assert [array.shape for array in flat(static(*inputs(module, 2)))] == [(1, 1, 1), (3, 3)]
    window = "main: nn.conv1d: window of 4 must fit into the dimension n * 2, got 4 and 2"
    with refused(f"{window} (n * 2 is dimension 2 of input 'x0')"):
        static(*inputs(module, 1))
    with refused("main: n = 6 is above the largest size, 5"):
        static(*inputs(module, 6))
    x, y, w = inputs(module, 2)
    with refused("main: dimension 2 of input 'x0' must be 4, got 6"):
        static(np.zeros((1, 1, 6), "f4"), y, w)
    with refused("main: dimension 1 of input 'x1' must be 3, got 2"):
        static(x, y[:, :2], w)
    with refused("main: dimension 0 of input 'x1' must be n + 1 for an integer n >= 0, got 0"):
        static(x, y[:0], w)
    with refused("main: input 'x1' must have 2 dimensions, got 1"):
        static(x, y[0], w)
    with refused("main: there must be 3 inputs, got 2"):
        static(x, y)


def test_a_derived_dimension_tells_the_symbol() -> None:
    module = program(lambda emit, x: emit(OP.exp(x)), (N * 2,))
    static = fixes.bucketed(module, N, [4], compiled.TARGET)
    assert static(np.zeros(6, "f4")).shape == (6,)
    with refused("main: dimension 0 of input 'x0' must be n * 2 for an integer n >= 0, got 5"):
        static(np.zeros(5, "f4"))


def test_sizes_that_are_refused() -> None:
    module = program(two_sizes, (1, 1, N * 2), (N + 1, 3), (1, 1, 4))
    window = "main: nn.conv1d: window of 4 must fit into the dimension n * 2, got 4 and 2"
    with refused(f"{window} (n * 2 is dimension 2 of input 'x0'), for the size 1"):
        fixes.bucketed(module, "n", [8, 1])
    for wrong in ([0, 3], []):
        with refused(f"there must be sizes, of 1 or more each, got {wrong}"):
            fixes.bucketed(module, "n", wrong)
    with refused("main: m must be the only symbol of the inputs, got n"):
        fixes.bucketed(module, "m", [8])


def test_a_dimension_that_becomes_smaller() -> None:
    module = program(lambda emit, x, y: emit(OP.exp(x)), (9 - N,), (N,))
    static = fixes.bucketed(module, "n", [4], compiled.TARGET)
    assert static(*inputs(module, 4)).shape == (5,)
    with refused(
        "main: the dimension 9 - n is 6 for n = 3, and 5 for the size 4:"
        " it must not be negative, nor become smaller"
    ):
        static(*inputs(module, 3))


def test_one_program_is_compiled_for_each_size(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    original = relax.build

    def build(module: Any, *arguments: Any, **named: Any) -> Any:
        built.append(compiled_shape(module))
        return original(module, *arguments, **named)

    monkeypatch.setattr(relax, "build", build)
    module = program(lambda emit, x: emit(OP.add(x, ONE)), (N, 2))
    static = fixes.bucketed(module, "n", [8, 2, 5, 2], compiled.TARGET)
    assert built == [[2, 2], [5, 2], [8, 2]]
    assert static.sizes == (2, 5, 8)
    assert len(static.executables) == 3
    run = [static.size_for(size) for size in (0, 2, 3, 5, 6, 8)]
    assert run == [2, 2, 5, 5, 8, 8]
    ran = []
    for size, executable in zip(static.sizes, static.executables, strict=True):
        machine = relax.VirtualMachine(executable, tvm.cpu())["main"]
        ran.append(machine(tvm.runtime.tensor(np.zeros((size, 2), "f4"))).shape)
    assert ran == [(2, 2), (5, 2), (8, 2)]
    for size in range(9):
        assert static(*inputs(module, size)).shape == (size, 2)
    assert len(built) == 3


def compiled_shape(module: Any) -> list[int]:
    return [int(dim) for dim in tvm_api.shape_of(module["main"].params[0])]


def test_no_mask_where_no_window_reaches_past_the_end() -> None:
    """Nor for inputs, which are padded with zeros. Two windows past the same end share one."""

    def masks(body: Any) -> int:
        module = program(body, (1, 2, N), (2, 2, 3), (2, 2, 4))
        return len(masked_program.masked_program(module, "n").masks)

    assert masks(lambda emit, x, w, v: emit(OP.nn.conv1d(emit(OP.add(x, ONE)), w))) == 0
    assert masks(lambda emit, x, w, v: emit(OP.nn.conv1d(x, w, padding=1))) == 0
    assert masks(lambda emit, x, w, v: emit(OP.nn.conv1d_transpose(emit(OP.add(x, ONE)), v))) == 1
    assert (
        masks(lambda emit, x, w, v: emit(OP.nn.conv1d_transpose(emit(OP.add(x, ONE)), v, 4))) == 0
    )
    assert masks(lambda emit, x, w, v: emit(OP.nn.max_pool1d(x, 3, 1, 1))) == 1

    def twice(emit: Any, x: Any, w: Any, v: Any) -> Any:
        x = emit(OP.nn.conv1d(emit(OP.add(x, ONE)), w, padding=1))
        return emit(OP.nn.conv1d(x, w, padding=1))

    assert masks(twice) == 1


STEPS = ("convolve", "transpose", "peak", "mean", "multiply", "pad", "concat", "slice", "repeat")


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[str, tuple[int, ...]]]:
    """Names, and for windows (taps, stride, dilation, before, after); all fit into 40 elements."""
    results = []
    for _ in range(draw(st.integers(1, 3))):
        taps, stride = draw(st.integers(1, 3)), draw(st.integers(1, 2))
        window = (taps, stride, draw(st.integers(1, 2)))
        span = (taps - 1) * window[2] + 1
        # TVM's max_pool gets no window that lies entirely in the padding.
        widths = (draw(st.integers(0, span // 2)), draw(st.integers(0, span // 2)))
        results.append((draw(st.sampled_from(STEPS)), (*window, *widths)))
    return results


def chained(drawn: list[tuple[str, tuple[int, ...]]]) -> Callable[..., Any]:
    def body(emit: Any, x: Any, w1: Any, w2: Any, w3: Any) -> Any:
        for name, (taps, stride, dilation, before, after) in drawn:
            weight = (w1, w2, w3)[taps - 1]
            how: dict[str, Any] = {
                "strides": stride,
                "dilation": dilation,
                "padding": (before, after),
            }
            if name == "convolve":
                x = emit(OP.nn.conv1d(x, weight, **how))
            elif name == "transpose":
                # No more is cut off than a single element contributes.
                least = (taps - 1) * dilation + stride - 1
                how["padding"] = (min(before, least), min(after, max(0, least - before)))
                x = emit(OP.nn.conv1d_transpose(x, weight, output_padding=stride - 1, **how))
            elif name == "peak":
                x = emit(OP.nn.max_pool1d(x, taps, ceil_mode=True, **how))
            elif name == "mean":
                x = emit(OP.nn.avg_pool1d(x, 1 << (taps - 1), stride, (before, after)))
            elif name == "multiply":
                x = emit(OP.permute_dims(x, [0, 2, 1]))
                x = emit(OP.permute_dims(emit(OP.matmul(x, emit(OP.squeeze(w1, [2])))), [0, 2, 1]))
            elif name == "pad":
                x = emit(OP.nn.pad(x, (0, 0, 0, 0, before, after), "constant", taps))
            elif name == "concat":
                x = emit(
                    OP.concat([w3, emit(OP.broadcast_to(x, [2, 2, tvm_api.shape_of(x)[2]]))], 2)
                )
                x = emit(OP.strided_slice(x, [0], [1], [2]))
            elif name == "slice":
                x = emit(OP.strided_slice(x, [2], [0], [1000], [stride]))
            else:
                x = emit(OP.repeat(x, stride, 2))
            x = emit(OP.add(emit(OP.negative(x)), ONE))
        return x

    return body


@settings(max_examples=6, deadline=None)
@given(steps())
def test_random_chains(drawn: list[tuple[str, tuple[int, ...]]]) -> None:
    with fixes.install():
        module = program(chained(drawn), (1, 2, N), *((2, 2, taps) for taps in (1, 2, 3)))
        agrees(module, [40, 47], [1, 2, 3, 5, 8, 17, 33, 39, 40, 41, 46, 47])

"""ConvertLayout on stacks, dropout and negative axes with the fix."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op
CONV = {"relax.nn.conv2d": ["NHWC", "OHWI"]}
SHAPES = (1, 2, 4, 4), (2, 2, 1, 1)
Make = Callable[[Any], Any]

AFTER: dict[str, tuple[Make, Callable[[np.ndarray], np.ndarray]]] = {
    "stacked first": (lambda y: OP.stack([y, y], axis=0), lambda y: np.stack([y, y])),
    "stacked last": (lambda y: OP.stack([y, y], axis=-1), lambda y: np.stack([y, y], -1)),
    "permuted": (
        lambda y: OP.permute_dims(y, (0, -1, 1, 2)),
        lambda y: y.transpose(0, 3, 1, 2),
    ),
    "reversed": (OP.permute_dims, lambda y: y.transpose()),
    "squeezed": (lambda y: OP.squeeze(y, [-4]), lambda y: y[0]),
    "squeezed of all": (OP.squeeze, np.squeeze),
}


def convolved(after: Make) -> Any:
    """A program of a convolution of one pixel, and ``after`` of it."""
    builder = relax.BlockBuilder()
    variables = probes.inputs(SHAPES)
    with builder.function("main", variables):
        with builder.dataflow():
            y = builder.emit(OP.nn.conv2d(*variables))
            result = builder.emit_output(OP.negative(builder.emit(after(y))))
        builder.emit_func_output(result)
    return builder.get()


@pytest.mark.parametrize("name", AFTER)
def test_values_stay_behind_a_converted_convolution(fixes_on: None, name: str) -> None:
    make, expected = AFTER[name]
    converted = relax.transform.ConvertLayout(CONV)(convolved(make))
    assert "NHWC" in converted.script()
    data, kernel = (compiled.sample(shape, "int8", n) for n, shape in enumerate(SHAPES))
    out = compiled.build(converted)(data.astype("float32"), kernel.astype("float32"))
    y = np.einsum("nchw,oc->nohw", data.astype("float32"), kernel[:, :, 0, 0].astype("float32"))
    np.testing.assert_array_equal(out, -expected(y))


def test_axes_from_the_first_are_converted_as_without_the_fix() -> None:
    def convert(after: Make) -> str:
        return str(relax.transform.ConvertLayout(CONV)(convolved(after)))

    calls = [lambda y: OP.squeeze(y, [0]), lambda y: OP.permute_dims(y, (0, 2, 3, 1))]
    without = list(map(convert, calls))
    with fixes.install():
        assert list(map(convert, calls)) == without


def test_both_results_of_dropout_have_the_layout_of_its_operand(fixes_on: None) -> None:
    module = convolved(lambda y: relax.TupleGetItem(OP.nn.dropout(y, 0.5), 0))
    converted = relax.transform.ConvertLayout(CONV)(module).script()
    assert 'R.Tensor((1, 4, 4, 2), dtype="float32")) = R.nn.dropout' in converted
    assert converted.index("nn.dropout") < converted.rindex("permute_dims")


def test_a_squeeze_of_an_unknown_shape_stays(fixes_on: None) -> None:
    x = relax.Var("x", tvm_api.unshaped_type(3, "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(OP.squeeze(x, [-1]))
        builder.emit_func_output(result)
    module = builder.get()
    assert str(relax.transform.ConvertLayout({})(module)) == str(module)


def keeps(make: Make, want: Callable[[np.ndarray], np.ndarray], *shape: int) -> None:
    """A program without a convolution has the values of ``want`` behind ConvertLayout."""
    data = compiled.sample(shape, "int8").astype("float32")
    module = relax.transform.ConvertLayout({})(compiled.module(make, shape))
    np.testing.assert_array_equal(compiled.build(module)(data), want(data))


PROGRAMS: whole.Programs = {
    "inferred_layouts": {
        "permuted axes": (
            partial(
                keeps,
                lambda x: OP.permute_dims(x, (0, -1, 1)),
                lambda x: x.transpose(0, 2, 1),
                *(2, 3, 4),
            ),
        ),
        "squeezed axes": (
            partial(keeps, lambda x: OP.squeeze(x, [-1]), lambda x: x[..., 0], *(2, 3, 1)),
        ),
        "stacks": (
            partial(
                keeps, lambda x: OP.stack([x, x], axis=1), lambda x: np.stack([x, x], 1), *(2, 3)
            ),
            partial(keeps, lambda x: OP.stack([x, x], axis=0), lambda x: np.stack([x, x])),
            whole.upstream("inferred_layouts", "stack"),
        ),
        "two results": (whole.upstream("inferred_layouts", "dropout"),),
    },
}

CURES: whole.Cures = {
    "dropout-convert-layout": (("inferred_layouts", "two results"),),
    "permute-dims-negative-convert-layout": (("inferred_layouts", "permuted axes"),),
    "squeeze-negative-convert-layout": (("inferred_layouts", "squeezed axes"),),
    "stack-convert-layout": (("inferred_layouts", "stacks"),),
    "stack-of-numbers-convert-layout": (("inferred_layouts", "stacks"),),
    "stack-negative-convert-layout": (("inferred_layouts", "stacks"),),
}

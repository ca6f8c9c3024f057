"""The complete error messages of invalid transposed convolutions."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

NAME = "relax.nn.conv1d_transpose"


def conv(rank: int = 1, **attributes: Any) -> Any:
    """Looked up at the call: the fixes replace the function."""
    name = f"conv{rank}d_transpose"
    return lambda data, kernel: getattr(relax.op.nn, name)(data, kernel, **attributes)


@compiled.WHEN
@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        (
            {"padding": (3, 3)},
            "padding=[3, 3], stride=1, output_padding=0:"
            " the output dimension W would be -1, not at least 1",
        ),
        (
            {"padding": (5, 6), "strides": 2, "output_padding": 1, "dilation": 2},
            "padding=[5, 6], stride=2, output_padding=1:"
            " the output dimension W would be -1, not at least 1",
        ),
        ({"dilation": (0,)}, "dilation=[0]: a number is less than 1"),
        ({"padding": (-1, 0)}, "padding=[-1, 0]: a number is less than 0"),
        ({"padding": (0, -1)}, "padding=[0, -1]: a number is less than 0"),
        ({"output_padding": -1}, "output_padding=[-1]: a number is less than 0"),
        ({"out_layout": "NCW4c"}, "out_layout='NCW4c': the factor 4 does not divide C = 3"),
        ({"out_layout": "NCW3w"}, "out_layout='NCW3w': the factor 3 does not divide W = 5"),
    ],
)
def test_parameters(attributes: dict[str, Any], reason: str, when: str) -> None:
    with pytest.raises(ValueError, match=compiled.whole(f"{NAME} is invalid with {reason}")):
        compiled.refused_when(when, conv(**attributes), (1, 2, 4), (2, 3, 2))


AXES_2D = "must have each of the axes"


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"strides": (1, 1, 1)}, "strides=[1, 1, 1]: 2 spatial axes need 2 numbers"),
        ({"strides": (0, 1)}, "strides=[0, 1]: a number is less than 1"),
        ({"dilation": ()}, "dilation=[]: 2 spatial axes need 2 numbers"),
        ({"padding": (0, 0, 0)}, "padding=[0, 0, 0]: 2 spatial axes need 4 numbers"),
        (
            {"output_padding": (0, 3), "strides": (2, 3)},
            "output_padding=[0, 3], strides=[2, 3]: output padding is not less than the stride",
        ),
        ({"groups": 0}, "groups=0: there are fewer groups than one"),
        ({"groups": 3}, "groups=3: 2 input channels are not divisible"),
        ({"data_layout": "NXHW"}, f"data_layout='NXHW': 'NXHW' {AXES_2D} N, C, H, W once"),
        ({"kernel_layout": "NCHW"}, f"kernel_layout='NCHW': 'NCHW' {AXES_2D} I, O, H, W once"),
        ({"out_layout": "NHW"}, f"out_layout='NHW': 'NHW' {AXES_2D} N, C, H, W once"),
        ({"data_layout": "NCHWc"}, "data_layout='NCHWc': 'NCHWc' cannot be read from 'c' on"),
        ({"data_layout": "N-CHW"}, "data_layout='N-CHW': 'N-CHW' cannot be read from '-CHW' on"),
        (
            {"out_layout": "NCHW0c"},
            "out_layout='NCHW0c': the factor of 'c' in 'NCHW0c' is not positive",
        ),
        (
            {"out_layout": "NCHW2c2c"},
            "out_layout='NCHW2c2c': 'NCHW2c2c' splits an axis twice, or one that it does not have",
        ),
        ({"data_layout": "NCHW2c"}, "data_layout='NCHW2c': the tensor's shape is (1, 2, 4, 4)"),
        (
            {"kernel_layout": "IOHW2i"},
            "kernel_layout='IOHW2i': the tensor's shape is (2, 3, 2, 2)",
        ),
        (
            {"kernel_layout": "OIHW"},
            "data_layout='NCHW', kernel_layout='OIHW': data has 2 channels, the kernel 3",
        ),
    ],
)
def test_parameters_that_tvm_refuses_too(
    fixes_on: None, attributes: dict[str, Any], reason: str
) -> None:
    tensors = probes.inputs(((1, 2, 4, 4), (2, 3, 2, 2)))
    with pytest.raises(
        ValueError, match=compiled.whole(f"relax.nn.conv2d_transpose is invalid with {reason}")
    ):
        relax.op.nn.conv2d_transpose(*tensors, **attributes)


@pytest.mark.parametrize(
    ("shapes", "attributes", "reason"),
    [
        (
            ((1, 1, 4, 3), (2, 3, 2)),
            {"data_layout": "NCW2c"},
            "data_layout='NCW2c': axis c has extent 3",
        ),
        (
            ((1, 2, 4), (1, 1, 2, 3, 5)),
            {"kernel_layout": "IOW2i4o"},
            "kernel_layout='IOW2i4o': axis i has extent 3",
        ),
        (
            ((1, 2, -4), (2, 3, 2)),
            {},
            "data_layout='NCW': a dimension is negative in shape (1, 2, -4)",
        ),
        (
            ((1, 2, 4), (2, 3, -1)),
            {},
            "kernel_layout='IOW': a dimension is negative in shape (2, 3, -1)",
        ),
        (
            (("N", 2, 4), (2, 3, 0)),
            {},
            "kernel_layout='IOW': the kernel has 0 taps along W, not at least 1",
        ),
    ],
)
def test_shapes(fixes_on: None, shapes: Any, attributes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=compiled.whole(f"{NAME} is invalid with {reason}")):
        compiled.module(conv(**attributes), *shapes)


@compiled.WHEN
@pytest.mark.parametrize("dtypes", [("float32", "float64"), ("int8", "float32")])
def test_dtypes_that_differ(dtypes: tuple[str, str], when: str) -> None:
    shown = "data={!r}, weight={!r}".format(*dtypes)
    with pytest.raises(
        ValueError, match=compiled.whole(f"{NAME} is invalid with {shown}: the dtypes differ")
    ):
        compiled.refused_when(when, conv(out_dtype="float64"), (1, 2, 4), (2, 3, 2), dtypes=dtypes)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_every_rank_names_itself(fixes_on: None, rank: int) -> None:
    data = relax.Var("x", tvm_api.unshaped_type(rank + 2, "float32"))
    name = f"conv{rank}d_transpose"
    text = f"relax.nn.{name} is invalid with groups=0: there are fewer groups than one"
    with pytest.raises(ValueError, match=compiled.whole(text)):
        getattr(relax.op.nn, name)(data, data, groups=0)


def test_symbols_when_run(fixes_on: None) -> None:
    shapes = ("N", "C", "W"), ("A", "O", "K")
    attributes = {"groups": 2, "strides": 3, "output_padding": 1, "padding": (2, 1)}
    function = compiled.build(compiled.module(conv(**attributes, out_layout="NCW4c"), *shapes))
    fitting = {"N": 1, "C": 2, "W": 4, "A": 2, "O": 2, "K": 2}

    def run(**binding: int) -> Any:
        return function(
            *(compiled.sample(compiled.size(shape, fitting | binding)) for shape in shapes)
        )

    # (4 - 1)*3 - 2 - 1 + 1*(2 - 1) + 1 + 1
    assert run().shape == (1, 1, 9, 4)

    def refused(reason: str, **binding: int) -> None:
        with pytest.raises(ValueError, match=compiled.whole(f"{NAME} is invalid with {reason}")):
            run(**binding)

    refused("groups=2: A input channels are not divisible", C=3, A=3)
    refused("data_layout='NCW', kernel_layout='IOW': data has C channels, the kernel A", C=4)
    refused("kernel_layout='IOW': the kernel has K taps along W, not at least 1", K=0)
    refused(
        "padding=[2, 1], stride=3, output_padding=1:"
        " the output dimension W would be W * 3 + K - 5, not at least 1",
        W=1,
    )
    refused("out_layout='NCW4c': the factor 4 does not divide C = O * 2", O=3)


@pytest.mark.parametrize("outs", [0, "O"])
@pytest.mark.parametrize("groups", [1, 2])
def test_no_output_channel(fixes_on: None, outs: Any, groups: int) -> None:
    shapes = (1, 2, 3), (2, outs, 2)
    function = compiled.build(compiled.module(conv(groups=groups), *shapes))
    arrays = [compiled.sample(compiled.size(shape, {"O": 0})) for shape in shapes]
    assert function(*arrays).shape == (1, 0, 4)


def test_a_shape_that_is_not_known(fixes_on: None) -> None:
    data = relax.Var("x", tvm_api.unshaped_type(3, "float32"))
    kernel = relax.Var("w", tvm_api.tensor_type((2, 3, 2), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [data, kernel]):
        builder.emit_func_output(builder.emit(relax.op.nn.conv1d_transpose(data, kernel)))
    text = f"{NAME} cannot be lowered with data='float32 of rank 3', shape=None"
    with pytest.raises(tvm_api.OpNotImplemented, match=compiled.whole(text)):
        relax.transform.LegalizeOps()(builder.get())


def test_numbers_are_read_as_such(fixes_on: None) -> None:
    data, kernel = compiled.sample((1, 2, 4), "int8"), compiled.sample((2, 3, 2), "int8", 1)
    made = [
        compiled.build(compiled.module(conv(**attributes), data.shape, kernel.shape))(
            data.astype("float32"), kernel.astype("float32")
        )
        for attributes in ({"strides": 2, "padding": 1}, {"strides": [2], "padding": [1, 1]})
    ]
    np.testing.assert_array_equal(*made)


def _of_convolution_arguments() -> dict[str, tuple[whole.Run, ...]]:
    def refused(
        rank: int, *names: str, channels: int = 4, taps: int = 3, **attributes: Any
    ) -> whole.Run:
        dtypes = attributes.pop("dtypes", ())
        shapes = (1, 4, *(5,) * rank), (channels, 2, *(taps,) * rank)
        wanted = (f"conv{rank}d_transpose", *names)
        make = whole.convolution(rank, **attributes)
        return lambda: whole.is_refused(make, *shapes, names=wanted, dtypes=dtypes)

    values = {
        "groups": {"groups": 0},
        "dilation": {"dilation": 0},
        "padding": {"padding": 4},
        "output_padding": {"output_padding": 1},
    }
    ranks = (1, 2, 3)
    return {
        **{
            name: tuple(refused(rank, name, **attributes) for rank in ranks)
            for name, attributes in values.items()
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


PROGRAMS: whole.Programs = {"conv_transpose_arguments": _of_convolution_arguments()}


INVALID = [
    ({"padding": (3, 3)}, "padding=.*output dimension W would be -"),
    ({"padding": (2, 3)}, "padding=.*output dimension W would be 0"),
    ({"dilation": (0,)}, r"dilation=\[0\]"),
    ({"dilation": (-1,)}, r"dilation=\[-1\]"),
    ({"strides": (-1,), "output_padding": (-2,)}, r"strides=\[-1\]"),
    ({"padding": (-1, 0)}, r"padding=\[-1, 0\]"),
    ({"output_padding": (-1,)}, r"output_padding=\[-1\]"),
    ({"out_layout": "NCW4c"}, "out_layout='NCW4c'.* does not divide C = 3"),
]


@pytest.mark.parametrize("when", ["made", "lowered"])
@pytest.mark.parametrize(("attributes", "message"), INVALID)
def test_invalid_parameters_are_named(attributes: dict[str, Any], message: str, when: str) -> None:
    with pytest.raises(ValueError, match=f"conv1d_transpose is invalid with .*{message}"):
        compiled.refused_when(
            when,
            lambda x, w: relax.op.nn.conv1d_transpose(x, w, **attributes),
            (1, 2, 4),
            (2, 3, 2),
        )


REFUSED_WITHOUT_A_NAME = [
    ({"strides": (1, 1, 1)}, r"strides=\[1, 1, 1\]: 2 spatial axes need 2 numbers"),
    ({"strides": (0, 1)}, r"strides=\[0, 1\]"),
    ({"dilation": ()}, r"dilation=\[\]: 2 spatial axes need 2"),
    ({"padding": (0, 0, 0)}, r"padding=\[0, 0, 0\]: 2 spatial axes need 4"),
    ({"output_padding": (0,) * 4}, r"output_padding=\[0, 0, 0, 0\]"),
    ({"output_padding": 1}, r"output_padding=\[1, 1\], strides=\[1, 1\]"),
    ({"groups": 0}, "groups=0: there are fewer groups than one"),
    ({"groups": -1}, "groups=-1"),
    ({"groups": 3}, "groups=3: 2 input channels"),
    ({"data_layout": "NXHW"}, "data_layout='NXHW': 'NXHW' must have each of the axes N, C, H, W"),
    ({"data_layout": "NCHWc"}, "data_layout='NCHWc': 'NCHWc' cannot be read from 'c' on"),
    ({"data_layout": "NCHW2c"}, "data_layout='NCHW2c'.*shape is"),
    ({"kernel_layout": "OIHH"}, "kernel_layout='OIHH'"),
    (
        {"kernel_layout": "OIHW"},
        "data_layout='NCHW', kernel_layout='OIHW': data has 2 channels, the kernel 3",
    ),
    ({"out_layout": "NWW8c"}, "out_layout='NWW8c'"),
]


@pytest.mark.parametrize(("attributes", "message"), REFUSED_WITHOUT_A_NAME)
def test_refusals_of_tvm_without_a_name_get_one(
    fixes_on: None, attributes: dict[str, Any], message: str
) -> None:
    tensors = probes.inputs(((1, 2, 4, 4), (2, 3, 2, 2)))
    with pytest.raises(ValueError, match=f"relax.nn.conv2d_transpose is invalid with .*{message}"):
        relax.op.nn.conv2d_transpose(*tensors, **attributes)


@pytest.mark.parametrize(
    ("shape", "layout", "message"),
    [
        ((1, 1, 4, 4, 3), "NCHW2c", "data_layout='NCHW2c': axis c has extent 3"),
        ((1, 2, -4, 4), "NCHW", r"data_layout='NCHW': a dimension is negative in shape \(1, 2, -4"),
    ],
)
def test_shapes_that_no_layout_has_are_named(
    fixes_on: None, shape: tuple[int, ...], layout: str, message: str
) -> None:
    tensors = probes.inputs((shape, (2, 3, 2, 2)))
    with pytest.raises(ValueError, match=f"relax.nn.conv2d_transpose is invalid with {message}"):
        relax.op.nn.conv2d_transpose(*tensors, data_layout=layout)


@pytest.mark.parametrize("when", ["made", "lowered"])
def test_floats_that_differ_are_named(when: str) -> None:
    message = r"relax.nn.conv1d_transpose is invalid with data='float32', weight='float64': the dty"
    with pytest.raises(ValueError, match=message):
        compiled.refused_when(
            when,
            lambda x, w: relax.op.nn.conv1d_transpose(x, w, out_dtype="float64"),
            (1, 2, 4),
            (2, 3, 2),
            dtypes=("float32", "float64"),
        )

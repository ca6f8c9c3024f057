"""ONNX's Conv and ConvTranspose agree with ONNX Runtime."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.windows.convolution import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


SPATIAL = [(7,), (5, 6), (4, 3, 5)]


def data(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def conv(
    operator: str, sizes: tuple[int, ...], symbolic: bool = False, **settings: object
) -> NodeCase:
    rank = len(sizes)
    groups = settings.get("group", 1)
    assert isinstance(groups, int)
    weight = data(4, 4 // groups, *[3, 2, 3][:rank])
    inputs = {"X": data(2, 4, *sizes), "W": weight, "B": data(4)}
    if operator == "ConvTranspose" and groups == 2:
        inputs["W"] = data(4, 2, *weight.shape[2:])
    shapes = {"X": ("N", 4, *"DHW"[:rank])} if symbolic else {}
    return NodeCase(operator, 11, inputs, settings, shapes=shapes)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "output shapes": programs(conv("ConvTranspose", (5, 6), output_shape=[6, 6])),
        "symbolic sizes": programs(
            conv("Conv", (5, 6), True, auto_pad="SAME_UPPER", strides=[2, 2])
        ),
    }
}

CURES: whole.Cures = {
    "onnx-conv-transpose-output-shape": ((FIX.name, "output shapes"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("operator", ["Conv", "ConvTranspose"])
@pytest.mark.parametrize("sizes", SPATIAL)
@pytest.mark.parametrize("symbolic", [False, True])
def test_padding_and_strides(operator: str, sizes: tuple[int, ...], symbolic: bool) -> None:
    rank = len(sizes)
    check(conv(operator, sizes, symbolic))
    check(conv(operator, sizes, symbolic, pads=[1] * rank + [0] * rank, strides=[2] * rank))
    check(conv(operator, sizes, symbolic, group=2))
    for mode in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        check(conv(operator, sizes, symbolic, auto_pad=mode, strides=[2] * rank))


def test_dilations() -> None:
    check(conv("Conv", (9, 8), dilations=[2, 3]))
    check(conv("ConvTranspose", (5, 6), dilations=[2, 1], strides=[1, 2]))


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("shape", [[5, 6], [7, 9], [2, 4, 9, 11]])
def test_output_shapes(shape: list[int], symbolic: bool) -> None:
    if not symbolic:
        check(conv("ConvTranspose", (5, 6), strides=[2, 2], output_shape=shape[-2:]))
    for mode in ("SAME_UPPER", "SAME_LOWER"):
        settings = {"strides": [2, 2], "output_shape": shape[-2:], "auto_pad": mode}
        check(conv("ConvTranspose", (5, 6), symbolic, **settings))


def test_output_padding() -> None:
    check(conv("ConvTranspose", (5, 6), strides=[2, 3], output_padding=[1, 2]))


def test_four_spatial_axes() -> None:
    inputs = {"X": data(1, 2, 3, 3, 3, 3), "W": data(2, 2, 1, 1, 1, 1)}
    expected = np.einsum("nc...,oc->no...", inputs["X"], inputs["W"].reshape(2, 2))
    check(NodeCase("Conv", 11, inputs, expected=(expected,)))


def test_errors_name_operator_and_attribute() -> None:
    with pytest.raises(ValueError, match=r"Conv is invalid with group=3"):
        check(conv("Conv", (7,), group=3))
    with pytest.raises(ValueError, match=r"ConvTranspose is invalid with output_padding=\[-1\]"):
        check(conv("ConvTranspose", (7,), output_padding=[-1]))
    with pytest.raises(ValueError, match=r"Conv is invalid with kernel_shape=\[2\]"):
        check(conv("Conv", (7,), kernel_shape=[2]))

"""ONNX's MaxUnpool, Col2Im and DeformConv agree with ONNX Runtime and its evaluator."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.windows.unfolding import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


def data(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def unpool(stated: bool = False, held: tuple[str, ...] = ()) -> NodeCase:
    """Two planes of 2 by 2 windows, each element in the second place of its own."""
    values = data(1, 2, 2, 2)
    full = np.zeros((1, 2, 4, 4), np.float32)
    full[:, :, ::2, 1::2] = values
    places = np.arange(32, dtype=np.int64).reshape(1, 2, 4, 4)[:, :, ::2, 1::2]
    inputs = {"X": values, "I": np.ascontiguousarray(places)}
    if stated:
        inputs["output_shape"] = integers(1, 2, 5, 6)
        full = np.pad(full, [(0, 0), (0, 0), (0, 1), (0, 2)])
    settings = {"kernel_shape": [2, 2], "strides": [2, 2]}
    return NodeCase("MaxUnpool", 11, inputs, settings, held=held, expected=(full,))


def blocks(held: tuple[str, ...] = (), **settings: list[int]) -> NodeCase:
    inputs = {
        "input": data(2, 3 * 4, 4 * 5),
        "image_shape": integers(5, 6),
        "block_shape": integers(2, 2),
    }
    return NodeCase("Col2Im", 18, inputs, settings, held=held)


def deformed(mask: bool, **settings: list[int] | int) -> NodeCase:
    groups = settings.get("offset_group", 1)
    assert isinstance(groups, int)
    inputs = {
        "X": data(1, 2, 4, 5),
        "W": data(2, 2, 2, 2),
        "offset": data(1, groups * 8, 3, 4),
        "B": data(2),
    }
    if mask:
        inputs["mask"] = data(1, groups * 4, 3, 4)
    return NodeCase("DeformConv", 19, inputs, settings)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "places": programs(unpool(True)),
        "blocks": programs(blocks()),
        "deformation": programs(deformed(False)),
    }
}

CURES: whole.Cures = {
    "onnx-max-unpool-output-shape": ((FIX.name, "places"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


def test_unpooling() -> None:
    check(unpool())
    check(unpool(True))
    check(unpool(True, ("output_shape",)))


def test_unpooling_of_symbolic_sizes() -> None:
    case = unpool()
    shapes = dict.fromkeys(("X", "I"), ("N", 2, "H", "W"))
    check(NodeCase("MaxUnpool", 11, case.inputs, case.attributes, shapes=shapes))


@pytest.mark.parametrize("held", [(), ("image_shape", "block_shape"), ("block_shape",)])
def test_blocks(held: tuple[str, ...]) -> None:
    check(blocks(held))


def test_blocks_apart() -> None:
    inputs = {
        "input": data(1, 4, 9),
        "image_shape": integers(5, 5),
        "block_shape": integers(2, 2),
    }
    settings = {"dilations": [2, 2]}
    check(NodeCase("Col2Im", 18, inputs, settings))
    wide = {**inputs, "input": data(1, 4, 9)}
    check(NodeCase("Col2Im", 18, wide, {"strides": [2, 2], "pads": [0, 0, 1, 1]}))


@pytest.mark.parametrize("mask", [False, True])
def test_deformation(mask: bool) -> None:
    check(deformed(mask))
    check(deformed(mask, offset_group=2))


def test_errors_name_operator_and_attribute() -> None:
    case = deformed(False)
    with pytest.raises(ValueError, match=r"DeformConv is invalid with shape of offset="):
        check(NodeCase("DeformConv", 19, case.inputs, {"offset_group": 2}))
    with pytest.raises(ValueError, match=r"MaxUnpool is invalid with kernel_shape=\[2\]"):
        check(NodeCase("MaxUnpool", 11, unpool().inputs, {"kernel_shape": [2]}))

"""Attention of com.microsoft agrees with ONNX Runtime."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.attention import attention
from tests.fixes.onnx_nodes import Array, NodeCase, check

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

B, LENGTH, HIDDEN, HEADS, PAST = 2, 3, 4, 2, 2
TOTAL = LENGTH + PAST
RANDOM = np.random.default_rng(0)
MASKS = {
    "matrix": np.array([[1, 1, 0], [0, 1, 1]], np.int32),
    "cube": RANDOM.integers(0, 2, (B, LENGTH, LENGTH)).astype(np.int32),
    "ends": np.array([3, 2], np.int32),
    "ends and beginnings": np.array([3, 2, 1, 0], np.int32),
}


@pytest.fixture(autouse=True)
def alone(fixes_off: None) -> Iterator[None]:
    with installation.install([attention.FIX]):
        yield


def sample(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(np.float32)


def case(
    sizes: tuple[int, int, int] = (8, 8, 8),
    *,
    symbolic: bool = False,
    outputs: int = 1,
    further: dict[str, Array | None] | None = None,
    **attributes: Any,
) -> NodeCase:
    columns = sum(sizes)
    inputs: dict[str, Array | None] = {
        "input": sample(B, LENGTH, HIDDEN),
        "weights": sample(HIDDEN, columns),
        "bias": sample(columns),
        **(further or {}),
    }
    how = {"num_heads": HEADS, "domain": "com.microsoft", **attributes}
    if sizes[2] != sizes[0]:
        how["qkv_hidden_sizes"] = list(sizes)
    shapes: dict[str, tuple[int | str, ...]] = {"input": ("B", "S", HIDDEN)} if symbolic else {}
    return NodeCase("Attention", 17, inputs, how, shapes=shapes, outputs=outputs)


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("sizes", [(8, 8, 8), (8, 8, 4), (4, 4, 12)])
def test_sizes(sizes: tuple[int, int, int], symbolic: bool) -> None:
    check(case(sizes, symbolic=symbolic))
    check(case(sizes, symbolic=symbolic, unidirectional=1, scale=0.25))


@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("mask", MASKS)
def test_masks(mask: str, causal: int) -> None:
    further: dict[str, Array | None] = {"mask_index": MASKS[mask]}
    check(case(further=further, unidirectional=causal))
    check(case(further=further, unidirectional=causal, mask_filter_value=-1.0))


@pytest.mark.parametrize("causal", [0, 1])
def test_past(causal: int) -> None:
    past = sample(2, B, HEADS, PAST, 4)
    further: dict[str, Array | None] = {"mask_index": None, "past": past}
    check(case(further=further, outputs=2, unidirectional=causal))
    mask = RANDOM.integers(0, 2, (B, TOTAL)).astype(np.int32)
    check(case(further={"mask_index": mask, "past": past}, outputs=2, unidirectional=causal))


@pytest.mark.parametrize("rows", [1, B])
def test_bias_of_scores(rows: int) -> None:
    bias = sample(rows, HEADS, LENGTH, LENGTH)
    check(case(further={"mask_index": MASKS["matrix"], "past": None, "attention_bias": bias}))


@pytest.mark.parametrize("name", ["do_rotary", "past_present_share_buffer"])
def test_refusals_name_the_attribute(name: str) -> None:
    with pytest.raises(Exception, match=f"Attention cannot be lowered with {name}=1"):
        check(case(**{name: 1}))


def test_a_mask_of_four_axes_is_refused() -> None:
    mask = np.ones((B, 1, 3, 3), np.int32)
    with pytest.raises(Exception, match="Attention cannot be lowered with shape of mask_index"):
        check(case(further={"mask_index": mask}))


def test_sizes_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"qkv_hidden_sizes=\[8, 8, 9\]: the weights have 24"):
        check(case(qkv_hidden_sizes=[8, 8, 9]))

"""Tensors and modules of programs."""

import ml_dtypes
import numpy as np
import pytest
import torch

from relaxcheck.generators.torch.module import laid_out, module_of, tensor_of
from relaxcheck.generators.torch.program import (
    EXPANDED,
    STEPPED,
    TRANSPOSED,
    Layer,
    Node,
    Program,
    Ref,
    Tensor,
)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (3, 0), (0, 3), (2, 0, 4)])
def test_a_tensor_has_the_memory_of_one_that_pytorch_makes(
    shape: tuple[int, ...], dtype: type
) -> None:
    array = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    tensor = tensor_of(array)
    assert tensor.stride() == torch.zeros(shape).stride()
    assert tensor.data_ptr() % 64 == 0
    np.testing.assert_array_equal(tensor.double().numpy(), array.astype(np.float64))


@pytest.mark.parametrize("layout", [TRANSPOSED, STEPPED])
def test_a_layout_changes_no_element(layout: str) -> None:
    tensor = torch.arange(6.0).reshape(2, 3)
    laid = laid_out(tensor, layout)
    assert not laid.is_contiguous()
    assert torch.equal(laid, tensor)


def test_an_expanded_tensor_repeats_its_first_row() -> None:
    laid = laid_out(torch.arange(6.0).reshape(2, 3), EXPANDED)
    assert laid.stride() == (0, 1)
    assert laid.tolist() == [[0, 1, 2], [0, 1, 2]]


def test_weights_follow_from_the_seed_and_the_regime() -> None:
    program = Program(
        (Tensor("x", (2, 3)),),
        (Node("norm", (Ref("x"),)),),
        ("y",),
        {"norm": Layer("torch.nn.BatchNorm1d", (3,))},
    )
    first, again, other, exact = (
        module_of(program, {}, seed, regime).state_dict()
        for seed, regime in ((1, "normal"), (1, "normal"), (2, "normal"), (1, "exact"))
    )
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert not torch.equal(first["norm.weight"], other["norm.weight"])
    assert (first["norm.running_var"] >= 1).all()
    assert torch.equal(exact["norm.weight"], exact["norm.weight"].round())

"""Tensors whose sizes are equal at run time are joined."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
import tvm
from torch.nn import functional as F
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.movement.joining import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, exported, floats, integers, programs

pytestmark = pytest.mark.filterwarnings("ignore")


def _halved_and_doubled(x: torch.Tensor) -> torch.Tensor:
    """Two planes of the same size, by different ways; their join is used further."""
    small = F.max_pool2d(F.max_pool2d(x, 2), 2)
    return torch.relu(torch.cat([F.interpolate(small, scale_factor=2), F.max_pool2d(x, 2)], 1))


PROGRAMS: whole.Programs = {
    FIX.name: {
        "no shape": programs(
            _halved_and_doubled, floats(1, 2, 8, 12), dynamic=[(2, 3)], again=[[floats(1, 2, 4, 8)]]
        )
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def test_sizes_by_different_ways() -> None:
    check(
        _halved_and_doubled,
        floats(2, 2, 8, 12),
        dynamic=[(0, 2, 3)],
        again=[[floats(1, 2, 4, 8)], [floats(3, 2, 16, 4)]],
    )


def test_sizes_that_turn_out_to_differ_are_refused() -> None:
    program = exported(_halved_and_doubled, [floats(1, 2, 8, 12)], dynamic=[(2, 3)])
    executable = relax.build(from_exported_program(program), "llvm")
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    (result,) = main(tvm.runtime.tensor(np.ones((1, 2, 4, 8), "f4")))
    assert result.shape == (1, 4, 2, 4)
    with pytest.raises((RuntimeError, ValueError, tvm.error.InternalError), match="shape"):
        main(tvm.runtime.tensor(np.ones((1, 2, 6, 8), "f4")))


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_known_sizes(dim: int) -> None:
    check(lambda x, y: torch.cat([x, y, x], dim), floats(2, 3), floats(2, 3))


def test_dtypes_are_promoted_and_vectors_without_elements_left_out() -> None:
    check(lambda x, y: torch.cat([x, y]), floats(2, 3), integers(1, 3))
    check(lambda x, y: torch.cat([x.bool(), y]), integers(2), integers(3, dtype=torch.int8))
    check(lambda x, y: torch.cat([y, x], 1), floats(2, 3), torch.zeros(0))

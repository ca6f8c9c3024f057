"""Tensors that a program holds are its constants, of bfloat16 and without elements, too."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
import tvm
from torch import nn
from tvm.relax.frontend.torch import dynamo, from_fx

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.graph.constants import FIX, plain
from relaxcheck.fixes.frontends.torch.probing import outputs_of
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, floats

pytestmark = pytest.mark.filterwarnings("ignore")


class Holding(nn.Module):
    """Adds a buffer."""

    def __init__(self, held: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("held", held)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x.to(self.held.dtype) + self.held).float()


class Joining(nn.Module):
    """A product with a parameter that has no elements."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(3, 0, 2), requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.reshape(3, 2, 0) @ self.weight


COLUMNS = floats(3, 2).bfloat16().T


def _held_in_order() -> None:
    check(Holding(COLUMNS), floats(2, 3))


def _of_graphs() -> None:
    module = Holding(floats(2).bfloat16())
    imported = from_fx(torch.fx.symbolic_trace(module), [((3, 2), "float32")])
    data = floats(3, 2)
    (actual,) = outputs_of(tvm.compile(imported, "llvm"), [data.numpy()])
    np.testing.assert_array_equal(actual, module(data).numpy())


def _without_elements() -> None:
    check(Joining(), torch.zeros(3, 0))


def _inputs_of_dynamo() -> None:
    function = lambda x, y: x @ y + 1  # noqa: E731
    inputs = torch.zeros(5, 0), torch.zeros(0, 4)
    with torch.no_grad():
        torch._dynamo.reset()
        actual = torch.compile(function, backend=dynamo.relax_dynamo())(*inputs)
    assert torch.equal(actual, function(*inputs))


PROGRAMS: whole.Programs = {
    FIX.name: {
        "order": (_held_in_order,),
        "graphs": (_of_graphs,),
        "no elements": (_without_elements,),
        "inputs": (_inputs_of_dynamo,),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("program", [run for (run,) in PROGRAMS[FIX.name].values()])
def test_programs(program: whole.Run) -> None:
    program()


@pytest.mark.parametrize("shape", [(2, 0), (0, 2), (3, 0, 2), (0,), (1, 0)])
def test_strides_without_elements_are_those_of_tvm(shape: tuple[int, ...]) -> None:
    held = tvm.runtime.from_dlpack(plain(torch.zeros(shape)))
    assert tuple(held.strides) == tuple(tvm.runtime.empty(shape).strides)


def test_a_constant_of_a_graph_is_a_copy() -> None:
    module = Holding(floats(2))
    imported = from_fx(torch.fx.symbolic_trace(module), [((2,), "float32")])
    expected = module(torch.zeros(2)).clone()
    module.held.fill_(7)
    (actual,) = outputs_of(tvm.compile(imported, "llvm"), [np.zeros(2, np.float32)])
    np.testing.assert_array_equal(actual, expected.numpy())

"""Functions that the importer lacks are refused all at once, with their nodes."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from tvm.relax.frontend.torch import from_exported_program

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.graph.unsupported import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, exported, floats

pytestmark = pytest.mark.filterwarnings("ignore")

PROGRAMS: whole.Programs = {
    FIX.name: {"no names of nodes": (whole.upstream(FIX.name, "each_with_its_nodes"),)}
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def message_of(function: Callable[..., Any]) -> str:
    with pytest.raises(tvm_api.OpNotImplemented) as caught:
        from_exported_program(exported(function, [floats(4)]))
    return str(caught.value)


def test_all_are_named_with_their_nodes() -> None:
    message = message_of(lambda x: torch.i0(torch.special.i1(torch.i0(x))))
    assert message.endswith("i0.default (i0, i0_1), special_i1.default (special_i1)")


def test_of_many_nodes_some_are_named() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        for _ in range(5):
            x = torch.i0(x)
        return x

    assert "i0.default (5 nodes: i0, i0_1, i0_2, …)" in message_of(function)


def test_branches_are_searched() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: torch.i0(x), lambda x: x + 1, (x,))

    assert "i0.default" in message_of(function)


def test_functions_come_before_inputs() -> None:
    # A check of values makes a token an input, which the importer lacks as well.
    message = message_of(lambda x: torch.linalg.solve(torch.diag(x), torch.i0(x)))
    assert "_linalg_solve_ex.default" in message
    assert "i0.default" in message

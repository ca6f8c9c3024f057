"""A tensor that is changed in place has its new elements under each of its names."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.graph.aliases import FIX, functional
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, exported, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")


def change_row(x: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x[0].add_(1)
    return x


def change_base(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    x = x * 2
    row, flat = x[0], x.view(-1)
    x.mul_(3)
    flat[1:3] = 7
    return row, x


def read_again(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    x = x + 1
    return torch.nn.functional.relu(x, inplace=True), x


PROGRAMS: whole.Programs = {FIX.name: {"views": programs(change_row, floats(2, 3))}}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


@pytest.mark.parametrize("function", [change_row, change_base, read_again])
def test_views(function: Callable[..., Any]) -> None:
    check(function, floats(2, 3))
    check(function, floats(2, 3), dynamic=[(0,)], again=[[floats(4, 3)]], decomposed=(False,))


def test_changes_that_nothing_else_sees_stay() -> None:
    importer = ExportedProgramImporter()
    program = exported(lambda x: torch.nn.functional.relu(x + 1, inplace=True), [floats(4)])
    assert functional(importer, program) is program
    changed = functional(importer, exported(change_row, [floats(2, 3)]))
    assert "select_scatter.default" in [
        node.target.__name__ for node in changed.graph.nodes if node.op == "call_function"
    ]

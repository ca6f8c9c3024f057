"""Functions that the importer lacks are decomposed by PyTorch, the others are not."""

from collections.abc import Iterator

import pytest
import torch
from torch.nn.functional import cross_entropy
from tvm.relax.frontend.torch import from_exported_program
from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.torch.graph.decomposing import FIX, decomposed
from tests.fixes import whole_programs as whole
from tests.fixes.torch_programs import TORCH, check, exported, floats, programs

pytestmark = pytest.mark.filterwarnings("ignore")

TARGETS = torch.tensor([1, 0])

PROGRAMS: whole.Programs = {
    FIX.name: {
        "missing": programs(torch.frac, floats(2, 3)),
        "reduction": programs(lambda x: cross_entropy(x, TARGETS, reduction="sum"), floats(2, 3)),
        "grids": programs(lambda x: torch.meshgrid(x, indexing="ij"), torch.tensor(2.5)),
    }
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install(TORCH):
        yield


def test_functions_that_the_importer_lacks() -> None:
    functions = (
        lambda x: (torch.addcmul(x, x, x, value=2), x.aminmax(dim=1), torch.logit(x, 0.1)),
        lambda x: (torch.nn.functional.huber_loss(x, x * 2), torch.lerp(x, x * 2, 0.3)),
        lambda x: (torch.hsplit(x, 2), torch.positive(x), torch.cartesian_prod(x[0], x[1])),
        lambda x: (torch.diag_embed(x), torch.logsumexp(x, 0), torch.rot90(x), torch.trace(x)),
    )
    for function in functions:
        check(function, floats(3, 4), decomposed=(False,))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses(reduction: str) -> None:
    weight = torch.tensor([0.5, 1, 2])
    for settings in ({}, {"weight": weight}, {"ignore_index": 1}, {"label_smoothing": 0.2}):
        check(
            lambda x, s=settings: cross_entropy(x, TARGETS, reduction=reduction, **s),
            floats(2, 3),
        )
    check(lambda x, y: cross_entropy(x, y.softmax(1), reduction=reduction), *[floats(2, 3)] * 2)


def test_grids() -> None:
    for indexing in ("ij", "xy"):
        check(
            lambda x, y, i=indexing: torch.meshgrid(x, y, indexing=i), floats(2), torch.tensor(2.5)
        )


def test_symbolic_sizes() -> None:
    check(
        lambda x: (torch.frac(x), torch.nn.functional.glu(x, -1)),
        floats(3, 4),
        dynamic=[(0,)],
        again=[[floats(5, 4)]],
        decomposed=(False,),
    )


def test_parameters_and_buffers() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 3)
            self.register_buffer("shift", floats(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.frac(self.layer(x) + self.shift)

    model = Model().eval()
    check(model, floats(2, 4), decomposed=(False,))


def test_branches() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: torch.frac(x), lambda x: x + 1, (x,))

    check(function, floats(4), decomposed=(False,))


def test_other_functions_stay() -> None:
    importer = ExportedProgramImporter()
    program = exported(lambda x: torch.frac(torch.nn.functional.gelu(x)), [floats(4)])
    nodes = list(decomposed(importer, program).graph.nodes)[1:-1]
    names = [node.target.__name__ for node in nodes]
    assert names == ["gelu.default", "trunc.default", "sub.Tensor"]
    plain = exported(torch.nn.functional.gelu, [floats(4)])
    assert decomposed(importer, plain) is plain


def test_a_converter_of_the_users_counts() -> None:
    def convert(node: torch.fx.Node, importer: object) -> object:
        return importer.env[node.args[0]]  # type: ignore[attr-defined]

    program = exported(torch.frac, [floats(4)])
    module = from_exported_program(
        program, custom_convert_map={"frac.default": convert}, run_ep_decomposition=False
    )
    assert "trunc" not in str(module)


def test_a_decomposition_that_is_wrong_is_not_taken() -> None:
    targets = torch.tensor([[1, 0, -1], [-1, 0, 0]])
    program = exported(
        lambda x: torch.nn.functional.multilabel_margin_loss(x, targets), [floats(2, 3)], False
    )
    with pytest.raises(Exception, match="multilabel_margin_loss_forward"):
        from_exported_program(program, run_ep_decomposition=False)

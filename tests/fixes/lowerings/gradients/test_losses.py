"""The gradient of nll_loss agrees with PyTorch; operands that do not fit are refused by name."""

from typing import Any

import numpy as np
import pytest
import torch
from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.gradients import losses
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

KINDS = ("float32", "float32", "int64", "float32")


def _wanted(gradient: Any, x: Any, targets: Any, *weights: Any, **options: Any) -> Any:
    at = torch.tensor(x, requires_grad=True)
    weight = torch.tensor(weights[0]) if weights else None
    loss = torch.nn.functional.nll_loss(at, torch.tensor(targets), weight, **options)
    return torch.autograd.grad(loss, at, torch.tensor(gradient))[0]


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize(
    ("index", "targets"), [(-100, [0, -100, 2, 2]), (3, [3, 1, 3, 0]), (1, [1, 1, 0, 2])]
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [("N", 3), (2, 3, "N")])
def test_targets_to_ignore(
    shape: Any, weighted: bool, index: int, targets: list[int], reduction: str
) -> None:
    others = (shape[0], *shape[2:])
    gradient = others if reduction == "none" else ()
    shapes = (gradient, shape, others, *[(3,)] * weighted)
    with installation.install([losses.FIX]):
        run = compiled.build(
            compiled.module(
                lambda *tensors: relax.op.grad.nll_loss_backward(
                    *tensors, reduction=reduction, ignore_index=index
                ),
                *shapes,
                dtypes=KINDS[: len(shapes)],
            )
        )
    binding = {"N": 4 if len(shape) == 2 else 2}
    g, x = (compiled.sample(compiled.size(each, binding)) for each in (gradient, shape))
    places = np.array(targets).reshape(compiled.size(others, binding))
    weights = [np.array([0.5, 2, 4], "float32")] * weighted
    want = _wanted(g, x, places, *weights, reduction=reduction, ignore_index=index)
    np.testing.assert_allclose(run(g, x, places, *weights), want, rtol=1e-6)


def test_one_target() -> None:
    with installation.install([losses.FIX]):
        run = compiled.build(
            compiled.module(
                relax.op.grad.nll_loss_backward,
                (),
                (3,),
                (),
                dtypes=("float32", "float32", "int32"),
            )
        )
    two, x = np.array(2, "float32"), np.zeros(3, "float32")
    np.testing.assert_array_equal(run(two, x, np.array(1, "int32")), [0, -2, 0])


@pytest.mark.parametrize(
    ("shapes", "dtypes", "reduction", "message"),
    [
        (((2,), (2, 3), (2,)), KINDS, "mean", r"output_grad='\(2\)': the shape is not \(\)"),
        (((), (2, 3), (2,)), KINDS, "none", r"output_grad='\(\)': the shape is not \(2\)"),
        (((), (2, 3), (3,)), KINDS, "mean", r"targets='\(3\)': the shape is not \(2\)"),
        (((), (2, 3), (2,), (2,)), KINDS, "mean", r"weights='\(2\)': the shape is not \(3\)"),
        (((), (2, 3), (2,)), ("float32",) * 3, "mean", "targets='float32': the dtype"),
        (
            ((), (2, 3), (2,), (3,)),
            (*KINDS[:3], "float16"),
            "mean",
            "weights='float16': the dtypes differ",
        ),
        (((), (2, 3), (2,)), KINDS, "average", "reduction='average': it is none of"),
    ],
)
def test_operands_that_do_not_fit(
    fixes_on: None, shapes: Any, dtypes: Any, reduction: str, message: str
) -> None:
    module = compiled.module(
        lambda *tensors: relax.op.grad.nll_loss_backward(*tensors, reduction=reduction),
        *shapes,
        dtypes=dtypes[: len(shapes)],
    )
    with pytest.raises(ValueError, match=f"nll_loss_backward is invalid with .*{message}"):
        relax.transform.LegalizeOps()(module)


def test_symbolic_operands_are_checked_when_they_run() -> None:
    with installation.install([losses.FIX]):
        run = compiled.build(
            compiled.module(relax.op.grad.nll_loss_backward, (), ("N", 3), ("M",), dtypes=KINDS[:3])
        )
    x = np.zeros((2, 3), "float32")
    with pytest.raises(ValueError, match="nll_loss_backward is invalid with targets"):
        run(np.array(1, "float32"), x, np.zeros(3, "int64"))


PROGRAMS: whole.Programs = {
    "losses": {
        "ignored targets": (whole.upstream("losses", "ignored_targets"),),
        "operands of a loss": (whole.upstream("losses", "operands_of_a_loss"),),
        "no rows": (whole.upstream("losses", "no_rows"),),
    },
}

CURES: whole.Cures = {
    "cross-entropy-no-rows": (("losses", "no rows"),),
}

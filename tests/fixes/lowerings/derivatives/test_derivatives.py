"""Gradients that TVM lacks or gets wrong agree with PyTorch; with the fix off they do not."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.derivatives import shared
from tests.fixes import compiled
from tests.fixes import whole_programs as whole
from tests.fixes.presence import needed

R = relax.op


def _convolved(x: Any, w: Any, strides: Any, dilation: Any, groups: int) -> Any:
    return torch.nn.functional.conv2d(
        x, w, stride=strides, dilation=dilation, groups=groups, padding=1
    )


def _running(x: Any, axis: int | None, exclusive: bool) -> Any:
    flat = x.double().flatten() if axis is None else x.double()
    sums = torch.cumsum(flat, axis or 0)
    return sums - flat if exclusive else sums


IN_PYTORCH: dict[str, Any] = {
    "where": torch.where,
    "cumsum": _running,
    "triu": lambda x, k: torch.triu(x, k),
    "mean": lambda x, axis, keepdims: torch.mean(x, axis, keepdim=keepdims),
    "variance": lambda x, axis, keepdims: torch.var(x, axis, correction=0, keepdim=keepdims),
    "cross": lambda x, y: -(x * y).sum() / len(x),
    "concat": lambda *each, axis: torch.cat(each, axis),
    "matmul": lambda x, y: x.double() @ y.double(),
    "conv2d": _convolved,
}

IN_RELAX: dict[str, Any] = {
    "where": R.where,
    "cumsum": lambda x, axis, exclusive: R.cumsum(x, axis, "float64", exclusive=exclusive),
    "triu": R.triu,
    "mean": R.mean,
    "variance": R.variance,
    "cross": R.nn.cross_entropy_with_logits,
    "concat": lambda *each, axis: R.concat(list(each), axis),
    "matmul": lambda x, y: R.matmul(x, y, "float64"),
    "conv2d": lambda x, w, **options: R.nn.conv2d(x, w, padding=1, **options),
}


@dataclass(frozen=True)
class Call:
    """A call to differentiate: of operands of ``shapes``, where "n" is a symbol.

    ``was_right``: TVM has it right without the fix.
    """

    fix: str
    operator: str
    shapes: Sequence[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    was_right: bool = False


_STRIDES = {"strides": (2, 1), "dilation": (2, 1), "groups": 1}
_GROUPS = {"strides": (3, 2), "dilation": (1, 2), "groups": 2}
_NOTHING = {"strides": (1, 1), "dilation": (1, 1), "groups": 2}

CALLS = [
    Call("where_gradient", "where", [(2, 3), (3,), (2, 1)]),
    Call("where_gradient", "where", [("n", 3), ("n", 3), ()]),
    *(
        Call("cumsum_gradient", "cumsum", [(2, 3)], {"axis": axis, "exclusive": exclusive},
             was_right=not exclusive)
        for axis in (0, -1, None)
        for exclusive in (True, False)
    ),
    *(Call("triu_gradient", "triu", [("n", 4)], {"k": k}) for k in (0, 1, -2)),
    *(
        Call("mean_gradients", operator, [("n", 3)], {"axis": axis, "keepdims": keep})
        for operator in ("mean", "variance")
        for axis in ([0], [-1, 0], None)
        for keep in (False, True)
    ),
    Call("mean_gradients", "variance", [(0, 3)], {"axis": [0], "keepdims": False}),
    Call("mean_gradients", "cross", [("n", 3), ("n", 3)]),
    Call("concat_gradient", "concat", [("n", 3), (2, 3), ("n", 3)], {"axis": 0}),
    Call("concat_gradient", "concat", [(2, 3)], {"axis": -1}),
    Call("concat_gradient", "concat", [(2, 3), (2, 0), (2, 1)], {"axis": 1}, was_right=True),
    Call("matmul_gradient", "matmul", [("n", 3), (3, 2)]),
    Call("matmul_gradient", "matmul", [(3,), (2, 3, 4)]),
    Call("conv2d_gradient", "conv2d", [(2, 1, 6, 4), (2, 1, 2, 2)], _STRIDES),
    Call("conv2d_gradient", "conv2d", [(2, 4, "n", 5), (2, 2, 2, 2)], _GROUPS),
    Call("conv2d_gradient", "conv2d", [(0, 2, 3, 3), (2, 1, 3, 3)], _NOTHING),
]  # fmt: skip

EVERY = pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.operator}{call.shapes}")


def _arrays(call: Call) -> list[Any]:
    sizes = [compiled.size(shape, {"n": 5}) for shape in call.shapes]
    arrays = [compiled.sample(size, seed=at) for at, size in enumerate(sizes)]
    if call.operator == "where":
        arrays[0] = arrays[0] > 0
    return arrays


def _module(call: Call) -> Any:
    """The sum of the squares of the result, so that its elements do not all count the same."""
    n = tvm_api.shape_var("n")
    shapes = [tuple(n if dim == "n" else dim for dim in shape) for shape in call.shapes]
    dtypes = tuple(str(each.dtype) for each in _arrays(call))

    def squares(*operands: Any) -> Any:
        # Two uses of one variable.
        result = IN_RELAX[call.operator](*operands, **call.attributes)
        return R.power(result, relax.const(2, call_dtype))

    call_dtype = "float64" if call.operator in ("cumsum", "matmul") else "float32"
    return shared.program(squares, *shapes, dtypes=dtypes)


def _wanted(call: Call) -> list[Any]:
    tensors = [torch.tensor(each) for each in _arrays(call)]
    floats = [each.requires_grad_() for each in tensors if each.is_floating_point()]
    result = IN_PYTORCH[call.operator](*tensors, **call.attributes)
    return [each.numpy() for each in torch.autograd.grad((result**2).sum(), floats)]


@EVERY
def test_with_the_fixes_it_agrees_with_pytorch(call: Call) -> None:
    with fixes.install():
        made = shared.gradients(_module(call), *_arrays(call))
    for actual, wanted in zip(made, _wanted(call), strict=True):
        assert actual.shape == wanted.shape
        assert actual.dtype == wanted.dtype
        np.testing.assert_allclose(actual, wanted, rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize(
    "call",
    [call for call in CALLS if not call.was_right],
    ids=lambda call: f"{call.operator}{call.shapes}",
)
def test_without_its_fix_it_does_not(call: Call) -> None:
    (fix,) = (each for each in fixes.ALL if each.name == call.fix)
    others = [each for each in fixes.ALL if each.name != call.fix]
    if not needed(fix):
        pytest.skip("this TVM is right without the fix")
    wanted_ones, arrays = _wanted(call), _arrays(call)
    with installation.install(others):
        module = _module(call)
        try:
            made = shared.gradients(module, *arrays)
        except Exception:
            # Gradient refuses the program, or its result does not compile or run.
            return
    pairs = list(zip(made, wanted_ones, strict=True))
    assert any(
        actual.shape != wanted.shape or not np.allclose(actual, wanted, rtol=1e-3, atol=1e-3)
        for actual, wanted in pairs
    )


PROGRAMS: whole.Programs = {
    "where_gradient": {
        "broadcast operands": (whole.upstream("where_gradient", "broadcast_operands"),),
    },
    "cumsum_gradient": {"exclusive": (whole.upstream("cumsum_gradient", "exclusive"),)},
    "triu_gradient": {"arguments": (whole.upstream("triu_gradient", "triangle"),)},
    "mean_gradients": {
        "means": (whole.upstream("mean_gradients", "mean"),),
        "variances": (whole.upstream("mean_gradients", "variance"),),
        "nothing": (whole.upstream("mean_gradients", "variance_of_nothing"),),
        "cross entropies": (whole.upstream("mean_gradients", "cross_entropy"),),
    },
    "concat_gradient": {
        "symbolic sizes": (whole.upstream("concat_gradient", "symbolic_sizes"),),
        "one tensor": (whole.upstream("concat_gradient", "one_tensor"),),
    },
    "matmul_gradient": {"out_dtype": (whole.upstream("matmul_gradient", "out_dtype"),)},
    "conv2d_gradient": {
        "dilation": (whole.upstream("conv2d_gradient", "dilation_gives_the_shape_of_the_data"),),
        "symbolic sizes": (whole.upstream("conv2d_gradient", "a_symbolic_size"),),
    },
}

CURES: whole.Cures = {
    "gradient-where-broadcast": (("where_gradient", "broadcast operands"),),
    "gradient-cumsum-exclusive": (("cumsum_gradient", "exclusive"),),
    "gradient-conv2d-dilation": (("conv2d_gradient", "dilation"),),
}

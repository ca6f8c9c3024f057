"""Functions of FX graphs whose attributes, dtypes or indices the importer drops.

They are right by way of ATen where the importer of exported programs is: its other functions see
to it.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import tvm

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, MethodRebinding
from relaxcheck.fixes.framework.patch import Guard, NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.torch.fx.tracing import Tracer, Wanted
from relaxcheck.fixes.frontends.torch.probing import agrees, outputs_of

UPSTREAM = NewFile("relax/frontend/torch/fx_functions.py")

_FILE, _OWNER, _METHOD = "relax/frontend/torch/fx_translator.py", "TorchFXImporter", "from_fx"


def _always(importer: Any, node: Any) -> bool:
    return True


def _is_plain(importer: Any, node: Any) -> bool:
    """True if ``node`` adds or multiplies tensors of floats, without a factor."""
    return "alpha" not in node.kwargs and all(
        "float" in tvm_api.dtype_of(importer.env[each]) for each in node.all_input_nodes
    )


def _promotes(importer: Any, node: Any) -> bool:
    return not _is_plain(importer, node)


def _has_dtype(importer: Any, node: Any) -> bool:
    return "dtype" in node.kwargs


def _counts_from_the_end(importer: Any, node: Any) -> bool:
    """True if an index of ``node`` is a tensor or a negative number, or it is a single number."""
    index = node.args[1]
    if not isinstance(index, list | tuple):
        return not isinstance(index, slice) and index is not None
    return any((isinstance(each, int) and each < 0) or hasattr(each, "op") for each in index)


FUNCTIONS: Mapping[str, Wanted] = {
    **dict.fromkeys(("add", "sub", "mul", "truediv", "div", "rsub"), _promotes),
    **dict.fromkeys(
        (
            *("exp", "log", "sqrt", "rsqrt", "sin", "cos", "tan", "sigmoid", "erf"),
            *("tanh", "acos", "asin", "atan", "acosh", "asinh", "atanh", "cosh", "sinh"),
        ),
        _promotes,
    ),
    **dict.fromkeys(("softmax", "log_softmax"), _has_dtype),
    "getitem": _counts_from_the_end,
    **dict.fromkeys(
        (
            *("celu", "elu", "log1p", "expm1", "softshrink", "threshold", "_threshold"),
            *("where", "clamp", "maximum", "minimum", "lerp", "reciprocal"),
            *("std", "var", "prod", "cumsum", "any", "logsumexp", "max", "min"),
            *("interpolate", "grid_sample", "avg_pool2d", "avg_pool3d"),
            *("scaled_dot_product_attention", "group_norm", "embedding"),
        ),
        _always,
    ),
}
"""The functions and methods that go by way of ATen, each with when it does."""

LAYERS: Mapping[str, Wanted] = dict.fromkeys(
    ("CELU", "ELU", "AvgPool2d", "AvgPool3d", "Upsample", "Softshrink", "Threshold"), _always
)
"""The layers of ``torch.nn`` that do; they have no weights."""


def add_entries(importer: Any) -> None:
    """Let ``importer`` convert ``FUNCTIONS`` and ``LAYERS`` by way of ATen."""
    from torch import nn

    table = importer.convert_map
    for name, wanted in FUNCTIONS.items():
        table[name] = Tracer(importer, wanted, table.get(name))
    for name, wanted in LAYERS.items():
        kind = getattr(nn, name)
        table[kind] = Tracer(importer, wanted, table.get(kind))


def _rebindings() -> tuple[MethodRebinding, ...]:
    from tvm.relax.frontend.torch.fx_translator import TorchFXImporter

    before = getattr(TorchFXImporter, _METHOD)

    def from_fx(importer: Any, *arguments: Any, **keywords: Any) -> Any:
        add_entries(importer)
        return before(importer, *arguments, **keywords)

    return (MethodRebinding(TorchFXImporter, _METHOD, from_fx),)


_TARGET = tvm.target.Target({"kind": "llvm", "opt-level": 0})


def _misreads(function: Any, *inputs: Array) -> bool:
    """True if TVM does not compute what PyTorch does of the FX graph of ``function``."""
    import torch
    from tvm.relax.frontend.torch import from_fx

    class Model(torch.nn.Module):  # type: ignore[misc]
        def forward(self, data: Any) -> Any:
            return function(torch, data)

    graph = torch.fx.symbolic_trace(Model())
    try:
        types = [(array.shape, str(array.dtype)) for array in inputs]
        actual = outputs_of(tvm.compile(from_fx(graph, types), _TARGET), inputs)
    except Exception:
        # The importer refuses the call, or TVM dies of it: either way it does not compute it.
        return True
    expected = Model()(*map(torch.from_numpy, inputs)).numpy()
    return len(actual) != 1 or not agrees(actual[0], expected)


_DATA = np.array([[1.5, -2.25, 3], [0.5, 4, -1]], np.float32)


def _part(name: str, function: Any, *inputs: Array) -> FaultPart:
    return FaultPart(name, partial(_misreads, function, *(inputs or (_DATA,))))


FIX = Fix(
    name="torch_fx_functions",
    operators=(),
    fault="from_fx and relax_dynamo drop alpha, dtypes, corrections and negative indices",
    issue=None,
    parts=(
        # Those that TVM's importer of exported programs gets right by itself.
        _part("corrections", lambda torch, data: data.var(1)),
        _part("dtypes", lambda torch, data: torch.softmax(data, 1, dtype=torch.float64)),
        _part("missing", lambda torch, data: torch.expm1(data)),
    ),
    rebindings=_rebindings,
    after="torch_striding",
    patch=(Guard(_FILE, f"{_OWNER}.{_METHOD}", add_entries, "self"),),
)

"""Functions, methods and layers of FX graphs, of which the importer drops attributes and dtypes.

They are right by way of ATen where the importer of exported programs is: its other fixes see to it.
Those that the importer of FX graphs lacks go that way, too.
"""

import functools
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import tvm

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, MethodRebinding
from relaxcheck.fixes.framework.patch import Guard, NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.torch.fx.tracing import Importer, Kept, Tracer, never
from relaxcheck.fixes.frontends.torch.probing import agrees, outputs_of

UPSTREAM = NewFile("relax/frontend/torch/fx_functions.py")

_FILE, _OWNER, _METHOD = "relax/frontend/torch/fx_translator.py", "TorchFXImporter", "from_fx"


def _always(importer: Any, node: Any) -> bool:
    return True


def _is_plain(importer: Any, node: Any) -> bool:
    """True if ``node`` computes floats of floats of one dtype, without a factor."""
    dtypes = {tvm_api.dtype_of(importer.env[each]) for each in node.all_input_nodes}
    return "alpha" not in node.kwargs and len(dtypes) == 1 and "float" in dtypes.pop()


def _counts_from_the_start(importer: Any, node: Any) -> bool:
    """True if no index of ``node`` is a tensor or a negative number, and it is no single number."""
    index = node.args[1]
    if not isinstance(index, list | tuple):
        return isinstance(index, slice) or index is None
    return not any((isinstance(each, int) and each < 0) or hasattr(each, "op") for each in index)


KEPT: Mapping[str, Kept] = {
    **dict.fromkeys(
        (
            *("add", "sub", "mul", "truediv", "exp", "log", "sqrt", "rsqrt", "sin", "cos"),
            *("sigmoid", "tanh", "neg", "abs"),
        ),
        _is_plain,
    ),
    "getitem": _counts_from_the_start,
    **dict.fromkeys(
        (
            *("getattr", "size", "sym_size.int", "item", "numel", "is_floating_point"),
            *("view", "reshape", "flatten", "permute", "transpose", "unsqueeze"),
            *("contiguous", "clone", "chunk", "split", "cat", "concat", "stack", "dropout"),
        ),
        _always,
    ),
}
"""The functions and methods of which the importer's own entry is right, each with when it is."""

KEPT_LAYERS = ("Dropout", "Identity", "Flatten")
"""The layers of ``torch.nn`` of which it is."""


def prepared(importer: Any, model: Any, keep_params_as_input: bool) -> Any:
    """``model``, of which ``importer`` converts all but ``KEPT`` and ``KEPT_LAYERS`` by ATen.

    So go also the functions and layers that it calls and that the importer lacks.
    """
    from torch import nn

    table, aten = importer.convert_map, Importer(importer)
    kept: dict[Any, Kept] = {
        **KEPT,
        **{getattr(nn, name): _always for name in KEPT_LAYERS},
    }
    for key in {*table, *_called(model)}:
        table[key] = Tracer(importer, aten, kept.get(key, never), table.get(key))
    return model if keep_params_as_input else _Model(model)


class _Model:
    """A graph's ``model`` that names the parameters alone of dtypes that the importer takes.

    It refuses all others at its start; the calls that read them convert them.
    """

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """The names and the parameters."""
        for name, parameter in self._model.named_parameters():
            if str(parameter.dtype) in ("torch.float32", "torch.float16"):
                yield name, parameter


def _called(model: Any) -> Iterator[Any]:
    """The names of functions and methods that the graph ``model`` calls; its types of layers."""
    layers = dict(model.named_modules())
    for node in model.graph.nodes:
        if node.op == "call_module":
            yield type(layers[node.target])
        elif node.op == "call_method":
            yield node.target
        elif node.op == "call_function":
            yield node.target.__name__


def _rebindings() -> tuple[MethodRebinding, ...]:
    from tvm.relax.frontend.torch.fx_translator import TorchFXImporter

    before = getattr(TorchFXImporter, _METHOD)

    @functools.wraps(before)
    def from_fx(
        importer: Any,
        model: Any,
        input_info: Any,
        keep_params_as_input: bool,
        *arguments: Any,
        **keywords: Any,
    ) -> Any:
        model = prepared(importer, model, keep_params_as_input)
        return before(importer, model, input_info, keep_params_as_input, *arguments, **keywords)

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
    patch=(
        Guard(
            _FILE,
            f"{_OWNER}.{_METHOD}",
            prepared,
            "self, model, keep_params_as_input",
            result="model",
        ),
    ),
)

"""Tensors that a program holds: of bfloat16, in any layout, and without elements."""

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import tvm
from tvm import relax

from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, MethodRebinding, Rebinding
from relaxcheck.fixes.framework.patch import Guard, Method, NewFile
from relaxcheck.fixes.frontends.torch.converting import IMPORTER, OWNER
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/constants.py")

_BASE, _BASE_OWNER = "relax/frontend/torch/base_fx_graph_translator.py", "BaseFXGraphImporter"
_DYNAMO = "relax/frontend/torch/dynamo.py"
_CONVERT = "_convert_pytorch_tensor_to_tvm"
_CONSTANT = "_convert_torch_tensor_to_relax"


def plain(tensor: Any) -> Any:
    """``tensor`` of PyTorch in the memory that TVM takes: in row order, with no other strides.

    Strides of a tensor without elements mean nothing, but compiled functions check them.
    """
    import torch

    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    tensor = tensor.detach().contiguous()
    if tensor.numel():
        return tensor
    strides = [1]
    for size in reversed(tensor.shape[1:]):
        strides.insert(0, strides[0] * size)
    return tensor.as_strided(tensor.shape, strides[: tensor.dim()])


def constant(tensor: Any) -> Expr:
    """A copy of ``tensor`` of PyTorch as a constant of Relax.

    Raises:
        NotImplementedError: TVM has no such dtype.
    """
    from tvm.relax.frontend.torch.base_fx_graph_translator import BaseFXGraphImporter

    BaseFXGraphImporter._convert_data_type(str(tensor.dtype))
    return relax.const(tvm.runtime.from_dlpack(plain(tensor.detach().cpu().clone())))


def all_plain(values: Sequence[Any]) -> list[Any]:
    """``values`` with each tensor of PyTorch as ``plain`` has it."""
    import torch

    return [plain(each) if isinstance(each, torch.Tensor) else each for each in values]


def _rebindings() -> tuple[Rebinding | MethodRebinding, ...]:
    from tvm.relax.frontend.torch import (
        base_fx_graph_translator,
        dynamo,
        exported_program_translator,
    )

    owner = getattr(exported_program_translator, OWNER)
    convert, backend = getattr(owner, _CONVERT), dynamo.relax_dynamo

    @functools.wraps(backend)
    def relax_dynamo(*settings: Any, **named: Any) -> Any:
        compiled = backend(*settings, **named)

        @functools.wraps(compiled)
        def compile_module(module: Any, examples: Any) -> Any:
            run = compiled(module, examples)
            return lambda *inputs: run(*all_plain(inputs))

        return compile_module

    return (
        MethodRebinding(owner, _CONVERT, staticmethod(lambda tensor: convert(plain(tensor)))),
        MethodRebinding(
            getattr(base_fx_graph_translator, _BASE_OWNER), _CONSTANT, staticmethod(constant)
        ),
        Rebinding(backend, relax_dynamo),
    )


def _refuses(convert: Callable[[], Any]) -> bool:
    try:
        convert()
    except Exception:
        # Of any kind: it is no constant, or its function does not run.
        return True
    return False


def _in_columns() -> Any:
    import torch
    from tvm.relax.frontend.torch import exported_program_translator

    owner = getattr(exported_program_translator, OWNER)
    return getattr(owner, _CONVERT)(torch.ones(2, 3, dtype=torch.bfloat16).T)


def _of_graphs() -> Any:
    import torch
    from tvm.relax.frontend.torch import base_fx_graph_translator

    owner = getattr(base_fx_graph_translator, _BASE_OWNER)
    return getattr(owner, _CONSTANT)(torch.ones(2, dtype=torch.bfloat16))


def _without_elements() -> Any:
    import torch
    from tvm.relax.frontend.torch import exported_program_translator

    owner = getattr(exported_program_translator, OWNER)
    module = probes.program(lambda x: relax.op.sum(x, [0]), (2, 0))
    main = relax.VirtualMachine(tvm.compile(module, _TARGET), tvm.cpu())["main"]
    return main(getattr(owner, _CONVERT)(torch.zeros(2, 0)))


def _inputs_of_dynamo() -> Any:
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from tvm.relax.frontend.torch import dynamo

    graph = torch.fx.Graph()
    data = graph.placeholder("data")
    graph.output((graph.call_method("sum", (data, 0)),))
    with FakeTensorMode():
        example = torch.empty(2, 0)
    run = dynamo.relax_dynamo()(torch.fx.GraphModule({}, graph), [example])
    return run(torch.zeros(2, 0))


_TARGET = tvm.target.Target({"kind": "llvm", "opt-level": 0})

FIX = Fix(
    name="torch_constants",
    operators=(),
    fault=(
        "tensors of bfloat16 that PyTorch programs hold are refused in FX graphs and in any order"
        " but that of rows; those without elements are refused as the program runs"
    ),
    issue=None,
    parts=(
        FaultPart("order", partial(_refuses, _in_columns)),
        FaultPart("graphs", partial(_refuses, _of_graphs)),
        FaultPart("no elements", partial(_refuses, _without_elements)),
        FaultPart("inputs", partial(_refuses, _inputs_of_dynamo)),
    ),
    rebindings=_rebindings,
    after="torch_fx_functions",
    patch=(
        Guard(IMPORTER, f"{OWNER}.{_CONVERT}", plain, "tensor_value", result="tensor_value"),
        Method(_BASE, _BASE_OWNER, _CONSTANT, constant),
        Guard(_DYNAMO, "relax_dynamo.exec_tvm", all_plain, "i_args", result="i_args"),
    ),
)

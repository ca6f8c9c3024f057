"""The functions of a program that the importer lacks, all of them, with their nodes."""

from collections.abc import Collection, Iterable
from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, MethodRebinding
from relaxcheck.fixes.framework.patch import Guard, Method, NewFile
from relaxcheck.fixes.frontends.torch.converting import IMPORTER, OWNER
from relaxcheck.fixes.frontends.torch.graph.decomposing import (
    ARGUMENTS,
    METHOD,
    function_calls,
    preparing,
)

UPSTREAM = NewFile("relax/frontend/torch/unsupported.py")

_BASE = "relax/frontend/torch/base_fx_graph_translator.py"


def check_unsupported(importer: Any, nodes: Iterable[Any]) -> None:
    """Refuse a program if its graph, or a branch within it, calls functions without a converter.

    Raises:
        OpNotImplemented: names all of them, each with the number of its nodes and their names.
    """
    _refuse(nodes, importer.convert_map)


def checked(importer: Any, program: Any, custom: Any = None) -> Any:
    """``program``, if ``importer`` or ``custom`` has a converter for each function that it calls.

    The importer itself looks at the inputs first, and refuses some without a word of functions.

    Raises:
        OpNotImplemented: as ``check_unsupported`` does.
    """
    _refuse(program.graph.nodes, {*importer.convert_map, *(custom or {})})
    return program


def _refuse(nodes: Iterable[Any], known: Collection[str]) -> None:
    lacking: dict[str, list[str]] = {}
    for node in function_calls(nodes):
        if node.target.__name__ not in known:
            lacking.setdefault(node.target.__name__, []).append(node.name)
    if lacking:
        listed = ", ".join(f"{name} ({_some(calls)})" for name, calls in sorted(lacking.items()))
        raise tvm_api.OpNotImplemented(f"Unsupported function types: {listed}")


_SHOWN = 3


def _some(names: list[str]) -> str:
    """The number of nodes, and the names of the first."""
    shown = ", ".join(names[:_SHOWN])
    return f"{len(names)} nodes: {shown}, …" if len(names) > _SHOWN else shown


def _rebindings() -> tuple[MethodRebinding, ...]:
    from tvm.relax.frontend.torch.base_fx_graph_translator import BaseFXGraphImporter

    return (
        MethodRebinding(BaseFXGraphImporter, "_check_unsupported_func_type", check_unsupported),
        *preparing(checked)(),
    )


def _message() -> str:
    """The text of the error for a graph with two nodes that no importer converts."""
    import torch
    from tvm.relax.frontend.torch.exported_program_translator import ExportedProgramImporter

    graph = torch.fx.Graph()
    data = graph.placeholder("data")
    for _ in range(2):
        data = graph.call_function(torch.ops.aten._fft_c2c.default, (data, [0], 0, True))
    try:
        ExportedProgramImporter()._check_unsupported_func_type(list(graph.nodes))
    except Exception as error:
        # Of any kind: its text is what counts.
        return str(error)
    return ""


def _names_no_node() -> bool:
    return "_fft_c2c_default_1" not in _message()


FIX = Fix(
    name="torch_unsupported",
    operators=(),
    fault="functions that the importer of PyTorch programs lacks are refused without their nodes",
    issue=None,
    parts=(FaultPart("no names of nodes", _names_no_node),),
    rebindings=_rebindings,
    after="torch_scans",
    patch=(
        Method(_BASE, "BaseFXGraphImporter", "_check_unsupported_func_type", check_unsupported),
        Guard(IMPORTER, f"{OWNER}.{METHOD}", checked, ARGUMENTS, result="exported_program"),
    ),
)

"""Functions that the importer lacks, decomposed by PyTorch into those that it has."""

import functools
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from relaxcheck.fixes.framework.fix import FaultPart, Fix, MethodRebinding
from relaxcheck.fixes.framework.patch import Guard, NewFile
from relaxcheck.fixes.frontends.torch.converting import IMPORTER, OWNER
from relaxcheck.fixes.frontends.torch.probing import call_differs

UPSTREAM = NewFile("relax/frontend/torch/decomposing.py")

Program = Any
"""An exported program of PyTorch."""

METHOD = "from_exported_program"


def function_calls(nodes: Iterable[Any]) -> Iterator[Any]:
    """The calls of functions among ``nodes``, and in the branches that these name."""
    import torch

    for node in nodes:
        if node.op == "call_function":
            yield node
        elif node.op == "get_attr":
            branch = getattr(node.graph.owning_module, node.target, None)
            if isinstance(branch, torch.fx.GraphModule):
                yield from function_calls(branch.graph.nodes)


MISREAD = ("cross_entropy_loss.default", "meshgrid.default", "meshgrid.indexing")
"""Functions that the importer has, but of whose arguments it ignores some or takes few forms."""


WRONG = ("multilabel_margin_loss_forward.default",)
"""Functions that PyTorch's own decomposition computes another result of: refused by name.

It takes the rows that have fewer targets than classes for rows of more.
"""


def decomposed(importer: Any, program: Program, custom: Any = None) -> Program:
    """``program`` with functions that ``importer`` has for the others, as PyTorch decomposes them.

    ``custom`` has the user's own entries of the importer's table, if any. The program stays as it
    is if there are no others in it.
    """
    known = known_names(importer, custom)
    called = (node.target.__name__ for node in function_calls(program.graph.nodes))
    if all(name in known for name in called) or is_sparse(program):
        return program
    # Whatever the table, PyTorch decomposes those of which it keeps none in an export, as hsplit.
    return program.run_decompositions(decompositions(known))


def known_names(importer: Any, custom: Any) -> set[str]:
    """The names of the functions that ``importer`` reads right, or ``custom`` has entries for."""
    return {*importer.convert_map}.difference(MISREAD).union(custom or ())


def decompositions(known: Collection[str]) -> dict[Any, Any]:
    """The decompositions of all functions of ATen other than those of ``known`` names."""
    import torch
    from torch._decomp import decomposition_table

    # PyTorch's references, other than those that export takes, end in functions outside of ATen.
    others = {
        function: decomposition
        for function, decomposition in decomposition_table.items()
        if not decomposition.__module__.startswith("torch._refs")
    }
    table: dict[Any, Any] = {**others, **torch.export.default_decompositions()}
    return {
        function: decomposition
        for function, decomposition in table.items()
        if isinstance(function, torch._ops.OpOverload) and function.__name__ not in {*known, *WRONG}
    }


def is_sparse(program: Program) -> bool:
    """True if ``program`` holds a sparse tensor, of which PyTorch decomposes nothing."""
    import torch

    held = [*program.named_parameters(), *program.named_buffers(), *program.constants.items()]
    return any(
        isinstance(value, torch.Tensor) and value.layout is not torch.strided for _, value in held
    )


def preparing(prepare: Callable[[Any, Program, Any], Program]) -> Callable[[], Any]:
    """The rebindings of a fix that lets the importer begin with what ``prepare`` makes.

    ``prepare`` is passed the importer, the program and the user's own entries of its table.
    """

    def rebindings() -> tuple[MethodRebinding, ...]:
        from tvm.relax.frontend.torch import exported_program_translator

        owner = getattr(exported_program_translator, OWNER)
        before = getattr(owner, METHOD)

        @functools.wraps(before)
        def from_exported_program(
            importer: Any,
            exported_program: Program,
            keep_params_as_input: bool,
            unwrap_unit_return_tuple: bool,
            no_bind_return_tuple: bool,
            custom_convert_map: Any = None,
        ) -> Any:
            return before(
                importer,
                prepare(importer, exported_program, custom_convert_map),
                keep_params_as_input,
                unwrap_unit_return_tuple,
                no_bind_return_tuple,
                custom_convert_map,
            )

        return (MethodRebinding(owner, METHOD, from_exported_program),)

    return rebindings


ARGUMENTS = "self, exported_program, custom_convert_map"
"""The text of the arguments of ``prepare`` in patches."""


_DATA = np.array([[1.5, -2.25], [0.5, 3]], np.float32)
_TARGETS = np.array([1, 0])
_SUM = 2
"""ATen's number of the reduction of losses to a sum."""

FIX = Fix(
    name="torch_decomposing",
    operators=(),
    fault="functions that PyTorch decomposes are refused if the importer lacks them, or misread",
    issue=None,
    parts=(
        FaultPart("missing", partial(call_differs, "frac.default", _DATA)),
        FaultPart(
            "reduction",
            partial(call_differs, "cross_entropy_loss.default", _DATA, _TARGETS, None, _SUM),
        ),
        FaultPart("grids", partial(call_differs, "meshgrid.default", [np.array(1.5, np.float32)])),
    ),
    rebindings=preparing(decomposed),
    after="torch_padding",
    patch=(
        Guard(
            IMPORTER,
            f"{OWNER}.{METHOD}",
            decomposed,
            ARGUMENTS,
            result="exported_program",
        ),
    ),
)

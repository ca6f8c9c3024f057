"""Entries of the importer's table of ATen functions that a fix replaces.

The table maps the name of a function to a method of the importer that reads the arguments of an FX
node one by one, where each call site of PyTorch may leave them out, pass them by position or by
name. An entry of ours is a function of a ``Node``, whose arguments are those of ATen's schema. It
may leave nodes to TVM's own entry.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relaxcheck.fixes.framework.fix import MethodRebinding
from relaxcheck.fixes.framework.patch import AtenConversion, NewFile
from relaxcheck.fixes.tvm_api import BlockBuilder, Expr

UPSTREAM = NewFile(
    "relax/frontend/torch/converting.py",
    """Entries of the importer's table of ATen functions that are functions of a node.

Such a function is passed the arguments by the names of ATen's schema, and the dtype that PyTorch
gives the result. It may leave nodes to the method that served them before.
""",
)

IMPORTER = "relax/frontend/torch/exported_program_translator.py"
OWNER = "ExportedProgramImporter"
TABLE = "create_convert_map"
"""The method of the importer that returns the table."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node to convert: ``call`` is the FX node, ``importer`` that of its program.

    ``original`` is the entry that served the function before, None if it had none.
    """

    importer: Any
    call: Any
    original: Any = None

    @property
    def operator(self) -> str:
        """The name of the function and of its overload, as in ``"select.int"``."""
        return str(self.call.target.__name__)

    @property
    def builder(self) -> BlockBuilder:
        """The builder of the Relax program."""
        return self.importer.block_builder

    def argument(self, name: str) -> Any:
        """The argument ``name`` of ATen's schema, the schema's default if it is left out.

        Tensors are Relax expressions, symbolic integers expressions of TIR, all else is as in FX.
        """
        return self.importer._retrieve_args(self.written(name))

    def written(self, name: str) -> Any:
        """The argument ``name`` as FX has it: nodes stand for tensors."""
        for position, argument in enumerate(self.call.target._schema.arguments):
            if argument.name != name:
                continue
            if not argument.kwarg_only and position < len(self.call.args):
                return self.call.args[position]
            return self.call.kwargs.get(name, argument.default_value)
        raise KeyError(name)

    @property
    def dtype(self) -> str:
        """The dtype of the result, or of the first of several results, in PyTorch."""
        value = self.call.meta["val"]
        first = value[0] if isinstance(value, list | tuple) else value
        return dtype_name(first.dtype)

    def emit(self, value: Expr) -> Expr:
        """A variable bound to ``value``, whose type is known."""
        return self.builder.emit(value)

    def converted(self) -> Any:
        """The result as TVM's own entry makes it.

        Raises:
            Exception: as that entry does.
        """
        return self.original(self.call)


def dtype_name(dtype: Any) -> str:
    """TVM's name of the dtype ``dtype`` of PyTorch."""
    return str(dtype).removeprefix("torch.")


Convert = Callable[[Node], Any]
"""Converts a node to its result, or to a tuple of them. It raises where it cannot."""


@dataclass(frozen=True, slots=True)
class Converter:
    """An entry of the table of ``importer``: calls ``function``; ``original`` served before."""

    importer: Any
    function: Convert
    original: Any = None

    def __call__(self, call: Any) -> Any:
        """The result of the FX node ``call``."""
        return self.function(Node(self.importer, call, self.original))


def rebindings(functions: Mapping[str, Convert]) -> Callable[[], tuple[MethodRebinding, ...]]:
    """The rebindings of a fix that converts each function of ATen by its one of ``functions``."""

    def table() -> tuple[MethodRebinding, ...]:
        from tvm.relax.frontend.torch import exported_program_translator

        owner = getattr(exported_program_translator, OWNER)
        before = getattr(owner, TABLE)

        @functools.wraps(before)
        def create_convert_map(importer: Any) -> dict[str, Any]:
            entries: dict[str, Any] = before(importer)
            for name, function in functions.items():
                entries[name] = Converter(importer, function, entries.get(name))
            return entries

        return (MethodRebinding(owner, TABLE, create_convert_map),)

    return table


def patch(functions: Mapping[str, Convert]) -> tuple[AtenConversion, ...]:
    """The recipe of the upstream patch for ``functions``."""
    return tuple(AtenConversion(name, function) for name, function in functions.items())


def named(names: Sequence[str], function: Convert) -> dict[str, Convert]:
    """Entries that convert each function of ``names`` by ``function``."""
    return dict.fromkeys(names, function)

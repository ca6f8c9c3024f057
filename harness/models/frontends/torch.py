"""Import an exported PyTorch program, and record the variable that each node became."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from tvm.relax.frontend.torch import exported_program_translator as translator

from relaxcheck.harness.models.frontends.recording import (
    Held,
    conversions,
    quiet,
    recorded,
    replaced,
    shown,
)
from relaxcheck.harness.models.imported import Imported, ImportFault, Unsupported

_IMPORTER = "ExportedProgramImporter"
_TEXT = 160

_EXECUTING = re.compile(r"While executing %(\w+) : .*?target=torch\.ops\.([\w.]+)\]")
"""The node that an error of PyTorch's names."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An imported program, and the program that the importer saw: ``exported``, decomposed."""

    imported: Imported
    exported: torch.export.ExportedProgram


def imported(program: torch.export.ExportedProgram) -> Recorded:
    """The Relax module of ``program``, by ``from_exported_program`` with its defaults.

    Raises:
        ImportFault: TVM raised.
    """
    seen: list[Any] = []
    base: Any = getattr(translator, _IMPORTER)

    class Recording(base):  # type: ignore[misc]
        """TVM's importer, which keeps what it holds."""

        program: Any = None
        lacking: tuple[Unsupported, ...] = ()

        def from_exported_program(
            self, exported_program: Any, *arguments: Any, **named: Any
        ) -> Any:
            seen.append(self)
            self.program = exported_program
            return super().from_exported_program(exported_program, *arguments, **named)

        def create_input_vars(self, exported_program: Any) -> Any:
            # A fix may have it begin with another program: functions decomposed, say.
            self.program = exported_program
            return super().create_input_vars(exported_program)

        def _check_unsupported_func_type(self, nodes: Any) -> None:
            self.lacking = _lacking(nodes, self.convert_map)
            super()._check_unsupported_func_type(nodes)

    try:
        with quiet(), replaced(translator, _IMPORTER, Recording):
            module = translator.from_exported_program(program)
    except Exception as error:
        raise _fault(error, seen[0] if seen else None) from error
    importer = seen[0]
    names = _user_inputs(importer.program)
    return Recorded(recorded(module, _held(importer.env), names), importer.program)


def _held(env: Any) -> list[Held]:
    """What the importer holds for the nodes that it has converted."""
    return [
        Held(
            node.name,
            _operator(node),
            _text(node),
            tuple(each.name for each in node.all_input_nodes),
            value,
        )
        for node, value in env.items()
        if node.op == "call_function"
    ]


def _user_inputs(program: torch.export.ExportedProgram) -> tuple[str, ...]:
    kind = torch.export.graph_signature.InputKind.USER_INPUT
    return tuple(spec.arg.name for spec in program.graph_signature.input_specs if spec.kind is kind)


def _lacking(nodes: Any, table: Any) -> tuple[Unsupported, ...]:
    found: dict[str, list[str]] = {}
    for node in nodes:
        if node.op == "call_function" and node.target.__name__ not in table:
            found.setdefault(_operator(node), []).append(node.name)
    return tuple(Unsupported(operator, tuple(names)) for operator, names in found.items())


def _fault(error: Exception, importer: Any) -> ImportFault:
    if importer is None:
        # TVM lets PyTorch decompose the program before its importer begins.
        at = _EXECUTING.search(str(error))
        node, operator = at.groups() if at else ("", "")
        return ImportFault(error, node, operator, before="PyTorch's run_decompositions")
    if importer.lacking:
        return ImportFault(error, unsupported=importer.lacking)
    env = importer.env
    for node in importer.program.graph.nodes if env else ():
        if node.op == "call_function" and node not in env:
            operands = tuple(
                shown(env.get(each, each) if isinstance(each, torch.fx.Node) else each)
                for each in node.args
            )
            return ImportFault(
                error,
                node.name,
                _operator(node),
                operands,
                conversions=conversions(_held(env), {}, {}),
                exported=importer.program,
            )
    return ImportFault(error)


def _text(node: Any) -> str:
    parts: Sequence[str] = [repr(each) for each in node.args]
    parts = [*parts, *(f"{name}={value!r}" for name, value in node.kwargs.items())]
    return f"{_operator(node)}({', '.join(parts)})"[:_TEXT]


def _operator(node: Any) -> str:
    """``aten.select.int``; the name of a function of Python's, such as ``getitem``."""
    target = node.target
    return str(target) if isinstance(target, torch._ops.OpOverload) else str(target.__name__)

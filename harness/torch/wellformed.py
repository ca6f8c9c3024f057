"""Check a program that was decoded, beyond its types: names, sizes, settings."""

import re
from collections.abc import Iterator

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.program import Branch, Layer, Many, Named, Node
from relaxcheck.harness.compiling.wellformed import check_settings, check_shapes
from relaxcheck.harness.torch.walk import nodes_of

MOST_NODES = 1000
MOST_BINDINGS = 100
DEEPEST = 8

_NAME = re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)
_TARGET = re.compile(r"[A-Za-z_][\w.]{0,199}", re.ASCII)


def check(case: TorchCase) -> None:
    """Check names, sizes and settings of ``case``, and that PyTorch has what it names.

    Raises:
        CaseError: one of them makes no sense, in one line.
    """
    check_settings(case, MOST_BINDINGS)
    nodes = list(nodes_of(case.program))
    if len(nodes) > MOST_NODES:
        raise CaseError(f"{len(nodes)} nodes; at most {MOST_NODES} run")
    if len(case.program.tensors) > MOST_NODES or len(case.program.layers) > MOST_NODES:
        raise CaseError(f"more than {MOST_NODES} tensors or layers")
    check_shapes(case)
    _check_names(case)


def _check_names(case: TorchCase) -> None:
    # It imports PyTorch, which reading a command line does without.
    from relaxcheck.generators.torch import targets

    program = case.program
    for name in (*program.layers, *(tensor.name for tensor in program.tensors)):
        if not _NAME.fullmatch(name) or _is_taken(name):
            raise CaseError(f"{name!r} is no name of a tensor or a layer")
    try:
        for layer in program.layers.values():
            targets.layer(layer.kind)
        for node in nodes_of(program):
            if not _TARGET.fullmatch(node.target):
                raise CaseError(f"target {node.target!r} is no path")
            if node.target not in program.layers:
                targets.function(node.target)
            _check_keywords(node)
            for argument in _arguments((*node.args, *node.keywords.values())):
                match argument:
                    case Named(name=name):
                        targets.thing(name)
                    case Layer(kind=kind):
                        targets.layer(kind)
                        _check_keywords(argument)
                    case Branch(inputs=inputs):
                        _check_inputs(inputs)
        for layer in program.layers.values():
            _check_keywords(layer)
            for argument in _arguments((*layer.args, *layer.keywords.values())):
                match argument:
                    case Named(name=name):
                        targets.thing(name)
                    case Layer(kind=kind):
                        targets.layer(kind)
                        _check_keywords(argument)
                    case Branch():
                        raise CaseError("a layer takes no branch")
    except targets.UnknownTarget as error:
        raise CaseError(str(error)) from error


def _check_keywords(called: Node | Layer) -> None:
    # Scripts write them as they are.
    for name in called.keywords:
        if not _NAME.fullmatch(name):
            raise CaseError(f"{name!r} is no name of an argument")


def _check_inputs(names: tuple[str, ...]) -> None:
    for name in names:
        if not _NAME.fullmatch(name) or names.count(name) > 1:
            raise CaseError(f"{name!r} is no name of a branch's input, or that of two")


def _is_taken(name: str) -> bool:
    """True of a name that a module has for something else, or that Python keeps to itself."""
    import keyword

    from torch import nn

    return keyword.iskeyword(name) or name.startswith("__") or hasattr(nn.Module(), name)


def _arguments(given: tuple[object, ...], depth: int = 0) -> Iterator[object]:
    """All arguments, those within others too; a branch's are those of its own nodes."""
    if depth > DEEPEST:
        raise CaseError(f"arguments within arguments, more than {DEEPEST} deep")
    for argument in given:
        yield argument
        match argument:
            case Many(items=items):
                yield from _arguments(items, depth + 1)
            case Layer(args=args, keywords=keywords):
                yield from _arguments((*args, *keywords.values()), depth + 1)

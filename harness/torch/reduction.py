"""Steps that make a failing program simpler, off the axes of its family."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import UNSET
from msgspec.structs import replace

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.fills.kinds import Literal, Random
from relaxcheck.generators.torch.case import EXPORT, Exporting, Importing, TorchCase
from relaxcheck.generators.torch.program import (
    CONTIGUOUS,
    INPUT,
    Many,
    Node,
    Program,
    Tensor,
    names_in,
    uses,
)
from relaxcheck.harness.kind import Step
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.torch.walk import nodes_of


def _bindings(case: TorchCase, outcome: Outcome) -> Iterator[TorchCase]:
    """One binding in place of several, that of the first wrong check first."""
    if len(case.bindings) == 1:
        return
    wrong = [each.binding for each in outcome.checks if each.ratio is None or each.ratio > 1]
    for binding in (*wrong, *case.bindings):
        if binding in case.bindings:
            yield replace(case, bindings=(dict(binding),))
    if len(case.bindings) > 2:
        # The failure may be of other sizes than those that the program was exported with.
        for binding in wrong or case.bindings[1:]:
            if binding in case.bindings[1:]:
                yield replace(case, bindings=(case.bindings[0], dict(binding)))


def _settings(case: TorchCase, outcome: Outcome) -> Iterator[TorchCase]:
    """The plainest settings, one by one."""
    how = case.importing
    if how != Importing(door=how.door):
        yield replace(case, importing=Importing(door=how.door), at=UNSET)
        for name in ("keep_params", "unwrap", "no_bind"):
            if getattr(how, name):
                yield replace(case, importing=replace(how, **{name: False}), at=UNSET)
    if how.door != EXPORT:
        yield replace(case, importing=replace(how, door=EXPORT), at=UNSET)
    for name in ("dynamic", "strict", "decomposed"):
        plain = getattr(Exporting(), name)
        if getattr(case.exporting, name) != plain:
            yield replace(case, exporting=replace(case.exporting, **{name: plain}), at=UNSET)
    if case.target is not UNSET:
        yield replace(case, target=UNSET)
    if case.pipeline != "build":
        yield replace(case, pipeline="build")
    if case.opt_level:
        yield replace(case, opt_level=0)


def _nodes(case: TorchCase, outcome: Outcome) -> Iterator[TorchCase]:
    """The program cut off after each node, and one input in place of each node."""
    for node in case.program.nodes[:-1]:
        yield ending_with(case, node)
    yield from _without_a_node(case)


def _without_a_node(case: TorchCase) -> Iterator[TorchCase]:
    """The program with an input of the shape that eager PyTorch computes in place of a node.

    Other symbols than those of the first binding are lost: the sizes of the input are numbers.
    """
    from relaxcheck.harness.torch.inferred import types_of

    program = case.program
    if len(program.nodes) < 2:
        return
    static = _static(case) if program.symbols else case
    known = types_of(static)
    for node in static.program.nodes[:-1]:
        types = [known.get(name) for name in node.outputs if name]
        if not types or None in types:
            continue
        made = tuple(
            Tensor(name, shape, dtype)
            for name, (dtype, shape) in zip(
                filter(None, node.outputs), filter(None, types), strict=True
            )
        )
        rest = tuple(each for each in static.program.nodes if each is not node)
        tensors = (*static.program.tensors, *made)
        yield _with(static, replace(static.program, tensors=tensors, nodes=rest))


def _outputs(case: TorchCase, outcome: Outcome) -> Iterator[TorchCase]:
    """A single output in place of several, no tuple of one, and fewer values of a node."""
    program = case.program
    if len(program.outputs) > 1:
        for name in program.outputs:
            yield _with(case, replace(program, outputs=(name,)))
    if program.tuple_of_one:
        yield _with(case, replace(program, tuple_of_one=False))


def _arguments(case: TorchCase, outcome: Outcome) -> Iterator[TorchCase]:
    """A node, or a layer, without one of its keywords, or without its last argument."""
    program = case.program
    for at, node in enumerate(program.nodes):
        for name in node.keywords:
            rest = {key: value for key, value in node.keywords.items() if key != name}
            yield _with_node(case, at, replace(node, keywords=rest))
        if len(node.args) > 1:
            yield _with_node(case, at, replace(node, args=node.args[:-1]))
    for name, layer in program.layers.items():
        for keyword in layer.keywords:
            rest = {key: value for key, value in layer.keywords.items() if key != keyword}
            layers = {**program.layers, name: replace(layer, keywords=rest)}
            yield _with(case, replace(program, layers=layers))
        if layer.args:
            layers = {**program.layers, name: replace(layer, args=layer.args[:-1])}
            yield _with(case, replace(program, layers=layers))
        if layer.train:
            layers = {**program.layers, name: replace(layer, train=False)}
            yield _with(case, replace(program, layers=layers))


def _tensors(case: TorchCase, outcome: Outcome) -> Iterator[TorchCase]:
    """Plain tensors: inputs, contiguous, with random values; then sizes in place of symbols."""
    program = case.program
    plainer = (
        tuple(replace(each, layout=CONTIGUOUS) for each in program.tensors),
        tuple(replace(each, held=INPUT) for each in program.tensors),
        tuple(replace(each, fill=Random()) for each in program.tensors),
    )
    for tensors in plainer:
        if tensors != program.tensors:
            yield _with(case, replace(program, tensors=tensors))
    for at, each in enumerate(program.tensors):
        for single in (replace(each, layout=CONTIGUOUS), replace(each, held=INPUT)):
            if single != each:
                rest = (*program.tensors[:at], single, *program.tensors[at + 1 :])
                yield _with(case, replace(program, tensors=rest))
    if program.symbols:
        yield _static(case)


def _static(case: TorchCase) -> TorchCase:
    """``case`` with the sizes of its first binding in place of symbols."""
    binding = case.bindings[0]
    static = tuple(
        replace(tensor, shape=tuple(dims.evaluate(dim, binding) for dim in tensor.shape))
        for tensor in case.program.tensors
    )
    return replace(case, program=replace(case.program, tensors=static), bindings=({},), at=UNSET)


def _sizes(case: TorchCase, outcome: Outcome) -> Iterator[TorchCase]:
    """A smaller size wherever a size stands among the dimensions of tensors."""
    program = case.program
    free = [each for each in program.tensors if not isinstance(each.fill, Literal)]
    sizes = sorted({d for each in free for d in each.shape if isinstance(d, int) and d > 1})
    for size, smaller in [(each, 1) for each in sizes] + [(b, a) for a, b in pairwise(sizes)]:
        changed = tuple(
            each
            if isinstance(each.fill, Literal)
            else replace(each, shape=tuple(smaller if d == size else d for d in each.shape))
            for each in program.tensors
        )
        yield _with(case, replace(program, tensors=changed))
    for at, each in enumerate(program.tensors):
        # Fewer dimensions, the first ones left out.
        if each.shape and not isinstance(each.fill, Literal):
            shorter = replace(each, shape=each.shape[1:])
            rest = (*program.tensors[:at], shorter, *program.tensors[at + 1 :])
            yield _with(case, replace(program, tensors=rest))


def _numbers(case: TorchCase, outcome: Outcome) -> Iterator[TorchCase]:
    """A number of an argument nearer to 0: half of it, or one less."""
    for at, node in enumerate(case.program.nodes):
        for place, argument in enumerate(node.args):
            for simpler in _simpler(argument):
                args = (*node.args[:place], simpler, *node.args[place + 1 :])
                yield _with_node(case, at, replace(node, args=args))
        for name, argument in node.keywords.items():
            for simpler in _simpler(argument):
                keywords = {**node.keywords, name: simpler}
                yield _with_node(case, at, replace(node, keywords=keywords))


def _simpler(argument: object) -> Iterator[int]:
    if isinstance(argument, int) and not isinstance(argument, bool) and abs(argument) > 1:
        sign = 1 if argument > 0 else -1
        yield sign
        if abs(argument) > 2:
            yield sign * (abs(argument) // 2)


STEPS: Sequence[Step[TorchCase]] = (
    _bindings,
    _settings,
    _nodes,
    _outputs,
    _tensors,
    _arguments,
    _sizes,
    _numbers,
)


def measure(case: TorchCase) -> tuple[float, ...]:
    """A measure of the effort to read ``case``, that every step makes less."""
    program = case.program
    nodes = list(nodes_of(program))
    layers = program.layers.values()
    how, made = case.importing, case.exporting
    return (
        len(nodes),
        len(program.outputs) + program.tuple_of_one,
        len(case.bindings),
        (made.dynamic != Exporting().dynamic) + made.strict + (not made.decomposed),
        (how.door != EXPORT) + how.keep_params + how.unwrap + how.no_bind,
        (case.pipeline != "build") + case.opt_level,
        case.target is not UNSET,
        len(program.symbols),
        sum(_extent(node.args) + len(node.keywords) for node in nodes)
        + sum(_extent(layer.args) + len(layer.keywords) + layer.train for layer in layers),
        sum(
            (tensor.held != INPUT) + (tensor.layout != CONTIGUOUS) + (tensor.fill != Random())
            for tensor in program.tensors
        )
        + len(program.tensors),
        sum(dim for tensor in program.tensors for dim in tensor.shape if isinstance(dim, int))
        + sum(len(tensor.shape) for tensor in program.tensors),
        sum(_magnitude(each) for node in nodes for each in (*node.args, *node.keywords.values())),
    )


def _extent(args: Sequence[object]) -> int:
    return sum(1 + (len(each.items) if isinstance(each, Many) else 0) for each in args)


def _magnitude(argument: object) -> int:
    whole = isinstance(argument, int) and not isinstance(argument, bool)
    return abs(argument) if whole and isinstance(argument, int) else 0


def endings(case: TorchCase) -> list[tuple[str, str, TorchCase]]:
    """``case`` with the outputs of each node in turn as its own: name, function, case."""
    program = case.program
    return [
        (
            next(filter(None, node.outputs), ""),
            program.layers[node.target].kind if node.target in program.layers else node.target,
            ending_with(case, node),
        )
        for node in program.nodes
        if any(node.outputs)
    ]


def ending_with(case: TorchCase, node: Node) -> TorchCase:
    """``case`` with the outputs of ``node`` as its own, without what these do not need."""
    outputs = tuple(filter(None, node.outputs))
    if not outputs:
        return case
    return _with(case, replace(case.program, outputs=outputs))


def _with_node(case: TorchCase, at: int, node: Node) -> TorchCase:
    nodes = (*case.program.nodes[:at], node, *case.program.nodes[at + 1 :])
    return _with(case, replace(case.program, nodes=nodes))


def _with(case: TorchCase, program: Program) -> TorchCase:
    """``case`` about ``program``, of which only what its outputs need is kept.

    A node that changes a value in place is kept with that value.
    """
    wanted = set(program.outputs)
    kept: list[Node] = []
    for node in reversed(program.nodes):
        if wanted.intersection(node.outputs) or _changes(node, wanted):
            kept.insert(0, node)
            wanted.update(uses(node))
    called = {node.target for node in nodes_of(replace(program, nodes=tuple(kept)))}
    program = replace(
        program,
        nodes=tuple(kept),
        tensors=tuple(tensor for tensor in program.tensors if tensor.name in wanted),
        layers={name: layer for name, layer in program.layers.items() if name in called},
    )
    bindings = [{name: row[name] for name in program.symbols} for row in case.bindings]
    distinct = tuple(row for at, row in enumerate(bindings) if row not in bindings[:at])
    return replace(case, program=program, bindings=distinct, at=UNSET)


def _changes(node: Node, wanted: set[str]) -> bool:
    """True if ``node`` is named as PyTorch names what changes its first operand, a wanted value."""
    name = node.target.rpartition(".")[2]
    in_place = (name.endswith("_") and not name.endswith("__")) or name.startswith("__i")
    first = names_in(node.args[0]) if node.args else ()
    return in_place and bool(wanted.intersection(first))

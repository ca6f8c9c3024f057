"""Steps that make a failing model simpler, off the axes of its family."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import UNSET
from msgspec.structs import replace

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.onnx.case import Importing, OnnxCase
from relaxcheck.generators.onnx.model import INPUT, STATED, Model, Node, Tensor
from relaxcheck.generators.onnx.walk import nodes_of
from relaxcheck.harness.kind import Step
from relaxcheck.harness.outcomes.outcome import Outcome


def _bindings(case: OnnxCase, outcome: Outcome) -> Iterator[OnnxCase]:
    """One binding in place of several, that of the first wrong check first."""
    if len(case.bindings) == 1:
        return
    wrong = [each.binding for each in outcome.checks if each.ratio is None or each.ratio > 1]
    for binding in (*wrong, *case.bindings):
        if binding in case.bindings:
            yield replace(case, bindings=(dict(binding),))


def _settings(case: OnnxCase, outcome: Outcome) -> Iterator[OnnxCase]:
    """The plainest settings, one by one."""
    if case.importing != Importing():
        yield replace(case, importing=Importing(), at=UNSET)
    if case.target is not UNSET:
        yield replace(case, target=UNSET)
    if case.pipeline != "build":
        yield replace(case, pipeline="build")
    if case.opt_level:
        yield replace(case, opt_level=0)


def _nodes(case: OnnxCase, outcome: Outcome) -> Iterator[OnnxCase]:
    """The model cut off after each node, and each node replaced by an input of its output.

    Only nodes of one output whose shape inference tells can be replaced.
    """
    for node in case.model.nodes[:-1]:
        yield ending_with(case, node)
    for model in _starting_later(case):
        yield _with(case, model)


def _starting_later(case: OnnxCase) -> Iterator[Model]:
    """The model with inputs in place of the first nodes, where inference knows their types."""
    from relaxcheck.harness.onnx.inferred import types_of

    known = types_of(case)
    for node in case.model.nodes[:-1]:
        types = [known.get(name) for name in node.outputs if name]
        if None in types:
            continue
        made = tuple(
            Tensor(name, shape, dtype)
            for name, (dtype, shape) in zip(
                filter(None, node.outputs), filter(None, types), strict=True
            )
        )
        rest = tuple(each for each in case.model.nodes if each is not node)
        yield replace(case.model, tensors=(*case.model.tensors, *made), nodes=rest)


def _outputs(case: OnnxCase, outcome: Outcome) -> Iterator[OnnxCase]:
    """A single output in place of several."""
    if len(case.model.outputs) > 1:
        for name in case.model.outputs:
            yield _with(case, replace(case.model, outputs=(name,)))


def _attributes(case: OnnxCase, outcome: Outcome) -> Iterator[OnnxCase]:
    """A node without one of its attributes."""
    for at, node in enumerate(case.model.nodes):
        for name in node.attributes:
            rest = {key: value for key, value in node.attributes.items() if key != name}
            yield _with_node(case, at, replace(node, attributes=rest))


def _inputs(case: OnnxCase, outcome: Outcome) -> Iterator[OnnxCase]:
    """A node without its last input."""
    for at, node in enumerate(case.model.nodes):
        if len(node.inputs) > 1:
            yield _with_node(case, at, replace(node, inputs=node.inputs[:-1]))


def _tensors(case: OnnxCase, outcome: Outcome) -> Iterator[OnnxCase]:
    """Dimensions stated in full, symbols replaced by their sizes."""
    if any(tensor.states != STATED for tensor in case.model.tensors):
        plain = tuple(replace(tensor, states=STATED) for tensor in case.model.tensors)
        yield _with(case, replace(case.model, tensors=plain))
    if case.model.symbols and len(case.bindings) == 1:
        binding = case.bindings[0]
        static = tuple(
            replace(tensor, shape=tuple(dims.evaluate(dim, binding) for dim in tensor.shape))
            for tensor in case.model.tensors
        )
        yield replace(_with(case, replace(case.model, tensors=static)), bindings=({},))


def _sizes(case: OnnxCase, outcome: Outcome) -> Iterator[OnnxCase]:
    """A smaller size wherever a size stands among the dimensions of inputs."""
    free = [each for each in case.model.tensors if not isinstance(each.fill, Literal)]
    sizes = sorted({d for each in free for d in each.shape if isinstance(d, int) and d > 1})
    for size, smaller in [(each, 1) for each in sizes] + [(b, a) for a, b in pairwise(sizes)]:
        changed = tuple(
            each
            if isinstance(each.fill, Literal)
            else replace(each, shape=tuple(smaller if d == size else d for d in each.shape))
            for each in case.model.tensors
        )
        yield _with(case, replace(case.model, tensors=changed))


STEPS: Sequence[Step[OnnxCase]] = (
    _bindings,
    _settings,
    _nodes,
    _outputs,
    _tensors,
    _inputs,
    _attributes,
    _sizes,
)


def measure(case: OnnxCase) -> tuple[float, ...]:
    """A measure of the effort to read ``case``, that every step makes less."""
    model = case.model
    nodes = list(nodes_of(model))
    return (
        len(nodes),
        len(model.outputs),
        len(case.bindings),
        sum(len(node.inputs) + len(node.attributes) for node in nodes),
        len(model.symbols) + sum(tensor.states != STATED for tensor in model.tensors),
        (case.importing != Importing()) + (case.pipeline != "build") + case.opt_level,
        case.target is not UNSET,
        sum(tensor.held != INPUT for tensor in model.tensors) + len(model.tensors),
        sum(dim for tensor in model.tensors for dim in tensor.shape if isinstance(dim, int)),
    )


def ending_with(case: OnnxCase, node: Node) -> OnnxCase:
    """``case`` with the outputs of ``node`` as its own, without what these do not need."""
    outputs = tuple(filter(None, node.outputs))
    return _with(case, replace(case.model, outputs=outputs))


def _with_node(case: OnnxCase, at: int, node: Node) -> OnnxCase:
    nodes = (*case.model.nodes[:at], node, *case.model.nodes[at + 1 :])
    return _with(case, replace(case.model, nodes=nodes))


def _with(case: OnnxCase, model: Model) -> OnnxCase:
    """``case`` about ``model``, of which only what its outputs need is kept."""
    wanted = set(model.outputs)
    kept: list[Node] = []
    for node in reversed(model.nodes):
        if wanted.intersection(node.outputs):
            kept.insert(0, node)
            wanted.update(node.inputs)
            wanted.update(_captured(node))
    tensors = tuple(tensor for tensor in model.tensors if tensor.name in wanted)
    model = replace(model, nodes=tuple(kept), tensors=tensors)
    bindings = [{name: row[name] for name in model.symbols} for row in case.bindings]
    distinct = tuple(row for at, row in enumerate(bindings) if row not in bindings[:at])
    return replace(case, model=model, bindings=distinct, at=UNSET)


def _captured(node: Node) -> Iterator[str]:
    """The names that subgraphs of ``node`` use; some are their own."""
    alone = Model(1, (), (replace(node, inputs=()),), tuple(filter(None, node.outputs))[:1])
    for inner in nodes_of(alone):
        yield from inner.inputs
    for value in node.attributes.values():
        yield from getattr(value, "outputs", ())

"""Structure around a graph: private functions, conditionals, tuples, blocks.

Each rewrites a program without changing what it computes, but for a conditional, whose other branch
computes something else. A program that it does not fit stays as it is.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec

from relaxcheck.generators.calls import form, has_effect, is_pure
from relaxcheck.generators.core.dims import symbols
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.program import (
    CALL,
    ITEM,
    Attribute,
    Input,
    Node,
    Program,
    ShapeValue,
)
from relaxcheck.generators.core.structure import (
    AS_TUPLE,
    AT,
    BRANCH,
    ELEMENT,
    LOCAL,
    PASSING,
    TUPLE,
)
from relaxcheck.generators.graphs.choices import Choices

PLAIN = "plain"

_LONGEST = 6
"""Nodes of a function at most."""

_TRIES = 4


@dataclass(slots=True)
class _Work:
    """A program, its tensors by name, those that may be passed on, and the choices."""

    program: Program
    values: dict[str, Value]
    barred: frozenset[str]
    choices: Choices
    made: int = field(default=0)

    def name(self, word: str) -> str:
        """A name that nothing has."""
        self.made += 1
        taken = {*self.values, *(node.name for node in self.program.nodes)}
        name = f"{word}{self.made}"
        while name in taken:
            name += "_"
        return name


Structure = Callable[[_Work], None]


@dataclass(frozen=True, slots=True)
class _Window:
    """Neighbouring nodes from ``first`` to before ``last``, that a function may have."""

    first: int
    last: int
    function: Program
    arguments: tuple[str, ...]


def structured(name: str, draft: Draft, program: Program, choices: Choices) -> Program:
    """``program``, of ``draft``, with the structure ``name`` around it."""
    values = {value.name: value for value in draft.values}
    values |= {each.name: Value(each.name, each.shape, each.dtype) for each in draft.inputs}
    shapes = {node.name for node in program.nodes if node.operator == "shape_of"}
    barred = shapes | {value.name for value in draft.unsettled}
    barred |= {
        value.name
        for value in values.values()
        if any(symbols(dim).intersection(draft.counted) for dim in value.shape)
    }
    work = _Work(program, values, frozenset(barred), choices)
    for each in _EVERY[name]:
        each(work)
    return work.program


def _functions(work: _Work, more: int = 3) -> None:
    """Make a window a private function; it may take and give more than anything uses.

    One in ``more`` takes a tensor that it does not use, one in three gives such.
    """
    window = _window(work)
    if window is None:
        return
    function, choices = window.function, work.choices
    arguments = window.arguments
    if choices.rarely(more):
        # Of the function's own symbols: any other would be undefined there.
        known = set(function.symbols)
        before = _before(work, window.first)
        fitting = [
            name
            for name in before
            if name not in arguments
            and all(symbols(dim) <= known for dim in work.values[name].shape)
        ]
        if fitting:
            unused = choices.choice(fitting)
            function = msgspec.structs.replace(
                function, inputs=(*function.inputs, _input(work.values[unused]))
            )
            arguments = (*arguments, unused)
    used = len(function.outputs)
    inner = [node.name for node in function.nodes if node.name not in function.outputs]
    if inner and choices.rarely(3):
        extra = choices.choice(inner)
        function = msgspec.structs.replace(function, outputs=(*function.outputs, extra))
    name = work.name("block")
    calls = _calls(name, function, arguments, used)
    _replace(work, window, {name: function}, calls)


def _with_another_input(work: _Work) -> None:
    """Give the program a further tensor, which none of its calls uses."""
    name = work.name("unused")
    further = Input(name, (2,), work.program.inputs[0].dtype if work.program.inputs else "float32")
    work.values[name] = Value(name, further.shape, further.dtype)
    work.program = msgspec.structs.replace(work.program, inputs=(*work.program.inputs, further))


def _passing(how: str) -> Structure:
    """Say of all calls of functions how these, or their arguments, are passed."""

    def structure(work: _Work) -> None:
        nodes = tuple(
            msgspec.structs.replace(node, attributes={**node.attributes, PASSING: how})
            if node.operator == CALL
            else node
            for node in work.program.nodes
        )
        work.program = msgspec.structs.replace(work.program, nodes=nodes)

    return structure


def _conditional(work: _Work) -> None:
    """Make a window the first branch of a conditional, whose other one gives the opposite."""
    window = _window(work)
    if window is None:
        return
    choices = work.choices
    added: list[Node] = []
    inputs: tuple[Input, ...]
    if choices.rarely(3):
        count = Input(work.name("count"), (), "int32")
        zero = Input(work.name("zero"), (), "int32")
        inputs, condition = (count, zero), work.name("positive")
        added.append(Node(condition, "greater", (count.name, zero.name)))
    else:
        flag = Input(work.name("flag"), (), "bool")
        inputs, condition = (flag,), flag.name
        if choices.rarely(3):
            condition = work.name("opposite")
            added.append(Node(condition, "logical_not", (flag.name,)))
    name, other = work.name("then"), work.name("otherwise")
    function = window.function
    arguments = (condition, *window.arguments)
    calls = [
        Node(call.name, BRANCH, call.arguments, {**call.attributes, "otherwise": other})
        for call in _calls(name, function, arguments, len(function.outputs))
    ]
    opposite = _opposite(work, function)
    program = work.program
    work.program = msgspec.structs.replace(program, inputs=(*program.inputs, *inputs))
    _replace(work, window, {name: function, other: opposite}, [*added, *calls])


def _opposite(work: _Work, function: Program) -> Program:
    nodes, outputs = list(function.nodes), []
    for output in function.outputs:
        dtype = work.values[output].dtype
        operator = "logical_not" if dtype == "bool" else "negative"
        if dtype.startswith("uint"):
            operator = "square"
        outputs.append(work.name("opposite"))
        nodes.append(Node(outputs[-1], operator, (output,)))
    return msgspec.structs.replace(function, nodes=tuple(nodes), outputs=tuple(outputs))


def _tuples(work: _Work) -> None:
    """Pass values through a tuple, or a tuple in a tuple, between two nodes."""
    nodes, choices = work.program.nodes, work.choices
    at = choices.below(len(nodes) + 1)
    before = _before(work, at)
    later = {name for node in nodes[at:] for name in node.arguments} | set(work.program.outputs)
    used = [name for name in before if name in later] or list(before)
    if not used:
        return
    first, second, third = (choices.choice(used) for _ in range(3))
    inner, outer = work.name("pair"), work.name("nested")
    made = [Node(inner, TUPLE, (first, second))]
    renamed: dict[str, str] = {}
    if choices.rarely(2):
        back = work.name("back")
        made += [
            Node(outer, TUPLE, (inner, third)),
            Node(back, ELEMENT, (outer,), {AT: 0}),
        ]
        renamed[third] = _element(work, made, outer, 1, third)
        inner = back
    renamed[first] = _element(work, made, inner, 0, first)
    renamed[second] = _element(work, made, inner, 1, second)
    inputs = {tensor.name for tensor in work.program.inputs}
    changed = [
        msgspec.structs.replace(
            node, arguments=tuple(renamed.get(name, name) for name in node.arguments)
        )
        for node in nodes[at:]
    ]
    outputs = tuple(
        renamed.get(name, name) if name not in inputs else name for name in work.program.outputs
    )
    work.program = msgspec.structs.replace(
        work.program, nodes=(*nodes[:at], *made, *changed), outputs=outputs
    )


def _element(work: _Work, made: list[Node], of: str, at: int, same: str) -> str:
    name = work.name("part")
    made.append(Node(name, ELEMENT, (of,), {AT: at}))
    value = work.values[same]
    work.values[name] = Value(name, value.shape, value.dtype)
    return name


def _blocks(work: _Work) -> None:
    """Let some nodes stand outside of dataflow blocks."""
    apart = tuple(node.name for node in work.program.nodes if work.choices.rarely(3))
    work.program = msgspec.structs.replace(work.program, apart=apart)


STRUCTURES: dict[str, Sequence[Structure]] = {
    PLAIN: (),
    "function": (_functions,),
    "tuple of arguments": (_functions, _passing(AS_TUPLE)),
    "if": (_conditional,),
    "tuple": (_tuples,),
    "blocks": (_blocks,),
    "mixed": (_tuples, _functions, _conditional, _blocks),
}
"""By name the rewritings, one after the other."""

LOCAL_FUNCTION = "local function"
"""The structure that only LambdaLift takes: the virtual machine has no local functions."""

UNUSED_PARAMETER = "unused parameter"
"""The structure of functions that take a tensor which they do not use, where there is one."""

_EVERY = {
    **STRUCTURES,
    LOCAL_FUNCTION: (_functions, _passing(LOCAL)),
    UNUSED_PARAMETER: (_with_another_input, partial(_functions, more=1)),
}


def _before(work: _Work, at: int) -> list[str]:
    """The tensors that exist before the node number ``at`` and may be passed on."""
    made = [node.name for node in work.program.nodes[:at]]
    every = [*(tensor.name for tensor in work.program.inputs), *made]
    return [name for name in every if name in work.values and name not in work.barred]


def _window(work: _Work) -> _Window | None:
    """A few neighbouring nodes that a function may have, or None after a few tries."""
    count = len(work.program.nodes)
    for _ in range(_TRIES):
        first = work.choices.below(count)
        last = min(count, first + 1 + work.choices.below(_LONGEST))
        window = _outlined(work, first, last)
        if window is not None:
            return window
    return None


def _outlined(work: _Work, first: int, last: int) -> _Window | None:
    program = work.program
    nodes = program.nodes[first:last]
    inside = {node.name for node in nodes}
    outside = {name for node in program.nodes[last:] for name in node.arguments}
    outputs = tuple(
        node.name for node in nodes if node.name in outside or node.name in program.outputs
    )
    taken = dict.fromkeys(name for node in nodes for name in node.arguments if name not in inside)
    passed = {*taken, *outputs}
    if not outputs or not taken or not all(map(_is_plain, nodes)):
        return None
    if passed & work.barred or not passed <= work.values.keys():
        return None
    inputs = tuple(_input(work.values[name]) for name in taken)
    defined = {dim for tensor in inputs for dim in tensor.shape}
    # TVM has to know the types of what is given in terms of the symbols of what is taken.
    shapes = [tensor.shape for tensor in inputs]
    shapes += [work.values[name].shape for name in inside if name in work.values]
    named = {name for shape in shapes for dim in shape for name in symbols(dim)}
    try:
        function = Program(inputs, nodes, outputs)
    except ValueError:
        return None
    if not (named | set(function.symbols)) <= defined or not is_pure(function):
        return None
    return _Window(first, last, function, tuple(taken))


def _is_plain(node: Node) -> bool:
    plain = form(node.operator) in ("call", "bare") and not has_effect(node.operator)
    return plain and node.operator not in (CALL, BRANCH, TUPLE, ELEMENT, "shape_of")


def _input(value: Value) -> Input:
    return Input(value.name, value.shape, value.dtype)


def _calls(name: str, function: Program, arguments: tuple[str, ...], used: int) -> Iterator[Node]:
    """Yield the calls of ``function`` that stand for the first ``used`` outputs, by their names."""
    attributes: dict[str, Attribute] = {"function": name, "sizes": ShapeValue(function.symbols)}
    for item, output in enumerate(function.outputs[:used]):
        items = {ITEM: item} if len(function.outputs) > 1 else {}
        yield Node(output, CALL, arguments, {**attributes, **items})


def _replace(
    work: _Work, window: _Window, functions: Mapping[str, Program], nodes: Iterable[Node]
) -> None:
    """Put ``nodes`` in the place of the window."""
    program = work.program
    work.program = msgspec.structs.replace(
        program,
        nodes=(*program.nodes[: window.first], *nodes, *program.nodes[window.last :]),
        functions={**program.functions, **functions},
    )

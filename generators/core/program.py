"""Relax programs as data, and the kind of case that is about one of them.

A program names Relax operators and attributes, no TVMScript, so that the same file runs on every
supported release.
"""

import typing
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.attributes import Attribute as Attribute
from relaxcheck.generators.core.attributes import ShapeValue as ShapeValue
from relaxcheck.generators.core.case import (
    Data,
    Expectation,
    Valid,
    Value,
    check_target,
    content,
    decoded,
)
from relaxcheck.generators.core.compiled import CompiledCase, check_bindings
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import (
    Below,
    Fill,
    LongestSegment,
    Misfit,
    Offsets,
    Random,
)
from relaxcheck.generators.core.pass_calls import Option, PassCall
from relaxcheck.generators.core.structure import BRANCH, check_results, tuple_values

FORMAT = 1
"""The format number of a case that is a program; it changes when an older reader would misread."""


EXEC_MODES = ("bytecode", "compiled")
"""The modes of the Relax virtual machine."""

USUAL_REGIMES = ("normal", "exact", "moderate", "boundary")
"""The regimes of finite values that every family has."""

WHOLE_RANGE = "range"
"""The regime of finite values of the whole range of a dtype, which elementary functions have."""

ORDINARY_REGIMES = (*USUAL_REGIMES, WHOLE_RANGE)
"""The regimes of finite values; verdicts of ``special`` are counted apart."""

REGIMES = (*ORDINARY_REGIMES, "special")
"""Distributions of input values, the plainest first (see ``relaxcheck.generators.core.values``)."""

RUN_TOGETHER = ("normal", "exact", "boundary")
"""The ordinary regimes that a drawn case runs in besides its own.

Of ``moderate``, little is seen that none of the three shows: it is there to reduce to.
"""

DTYPES = (
    *("float16", "float32", "float64", "bfloat16", "float8_e4m3fn", "float8_e5m2", "bool"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)
"""The dtypes, by TVM's names, that an input may have."""


class Input(Data, frozen=True):
    """A tensor that the program is given: shape, dtype name (TVM's), run-time or constant."""

    name: str
    shape: tuple[Dim, ...]
    dtype: str
    constant: bool = False
    fill: Fill = Random()


ITEM = "item"
"""The attribute that says which item of a tuple a node is, where its operator gives a tuple."""


class Node(Data, frozen=True):
    """One call of the Relax operator ``relax.op.<operator>`` on earlier values, by name.

    Where the operator gives a tuple (``split``, ``nn.batch_norm``) a node is one item of it, the
    one that the attribute ``item`` numbers; nodes that differ in that alone are one call.
    ``match_cast`` is a binding rather than an operator: its ``shape`` may name symbols that no
    input has, and it gives them their values.
    """

    name: str
    operator: str
    arguments: tuple[str, ...]
    attributes: dict[str, Attribute] = msgspec.field(default_factory=dict)


MATCH_CAST = "match_cast"
"""The operator that checks a shape, and binds the symbols in it that nothing bound before."""


CALL = "call"
"""The operator of a node that calls one of the program's own functions, named by ``function``.

``sizes`` are what the function's symbols are there, in the order of their names. Of a function of
several outputs a node is one ``item``.
"""

CLOSURES = ("invoke_closure", "invoke_pure_closure")
"""The operators of nodes that call such a function as a closure, also made by the node.

Of the arguments, the last ``captured`` ones are bound when the closure is made. The result has the
type of the attributes ``shape`` and ``dtype``.
"""


GRADIENT = "gradient"
"""The operator of a node that is the gradient of a scalar in a run-time input.

Its arguments are the two names. It is no operator of Relax: ``relax.transform.Gradient`` makes it.
"""


SIZES = "sizes"
"""The parameter that tells the sizes of a program's symbols as a shape, in their order."""


class Program(Data, frozen=True, omit_defaults=True):
    """A graph in evaluation order: each node uses inputs and earlier nodes only.

    ``functions`` are other programs, by name, that nodes may call: of run-time inputs and symbols
    of their own, without functions in turn. No output is a tuple. Nodes that are ``apart`` stand
    outside of dataflow blocks.

    ``size_parameters`` (in JSON ``told``) are the parameters, before all inputs, by which a caller
    passes the sizes of the symbols: one shape, scalars, or none, so that the sizes follow from the
    inputs' shapes.

    ``counted`` are symbols whose sizes only the data decide, such as the number of elements that
    are not zero: no case binds them, and a ``match_cast`` gives them their values.
    """

    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    functions: dict[str, "Program"] = msgspec.field(default_factory=dict)
    size_parameters: typing.Literal["", "shape", "scalars"] = msgspec.field(default="", name="told")
    counted: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.size_parameters not in ("", "shape", "scalars"):
            raise ValueError(
                f"told {self.size_parameters!r} is unknown; known are 'shape' and 'scalars'"
            )
        defined: set[str] = set()
        for tensor in self.inputs:
            _define(tensor.name, defined)
            for dim in tensor.shape:
                if dims.canonical(dim) != dim:
                    raise ValueError(
                        f"input {tensor.name}: dimension {dim!r} is to be written "
                        f"{dims.canonical(dim)!r}"
                    )
            if tensor.constant and any(map(dims.symbols, tensor.shape)):
                raise ValueError(f"input {tensor.name}: a constant has a static shape")
            limit = tensor.fill.limit if isinstance(tensor.fill, Below) else 0
            if tensor.constant and dims.symbols(limit):
                raise ValueError(f"input {tensor.name}: a constant is below a static limit")
            if isinstance(tensor.fill, LongestSegment):
                if tensor.fill.of not in defined:
                    raise ValueError(f"input {tensor.name}: no earlier input {tensor.fill.of!r}")
                if tensor.constant and not self.input(tensor.fill.of).constant:
                    raise ValueError(f"input {tensor.name}: a constant is computed from constants")
        for node in self.nodes:
            for argument in node.arguments:
                if argument not in defined:
                    raise ValueError(f"node {node.name}: argument {argument!r} is not defined yet")
            _define(node.name, defined)
            if node.operator in (CALL, BRANCH, *CLOSURES):
                _check_call(node, self.functions)
        tuples = tuple_values(self.nodes)
        for output in self.outputs:
            if output not in defined or output in tuples:
                raise ValueError(f"output {output!r} is not defined, or a tuple")
        if unknown := set(self.apart) - {node.name for node in self.nodes}:
            raise ValueError(f"no node {min(unknown)!r}, which is to stand apart")
        if not self.outputs:
            raise ValueError("a program has at least one output")
        if self.counted:
            _check_counted(self)
        for name, function in self.functions.items():
            _check_function(name, function)
        if any(node.operator == GRADIENT for node in self.nodes):
            _check_gradients(self)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The names of all symbolic dimensions that a case binds, sorted."""
        names: set[str] = set()
        for dim in self._all_dims():
            # Most are integers.
            if isinstance(dim, str):
                names |= dims.symbols(dim)
        return tuple(sorted(names.difference(self.counted)))

    def _all_dims(self) -> Iterator[Dim]:
        for tensor in self.inputs:
            yield from tensor.shape
            if isinstance(tensor.fill, Offsets):
                yield tensor.fill.total
            if isinstance(tensor.fill, Below):
                yield tensor.fill.limit
            if isinstance(tensor.fill, Misfit):
                yield from tensor.fill.shape
        for node in self.nodes:
            for value in node.attributes.values():
                if isinstance(value, ShapeValue):
                    yield from value.dims

    def size_arguments(self, binding: Mapping[str, int]) -> tuple[int | tuple[int, ...], ...]:
        """The arguments before the inputs where the symbols are as in ``binding``."""
        sizes = tuple(binding[name] for name in self.symbols)
        if not self.size_parameters or not sizes:
            return ()
        return (sizes,) if self.size_parameters == "shape" else sizes

    def input(self, name: str) -> Input:
        """The input called ``name``. Raises ``KeyError`` if there is none."""
        for tensor in self.inputs:
            if tensor.name == name:
                return tensor
        raise KeyError(name)


def called(node: Node, functions: Mapping[str, Program]) -> tuple[Program, tuple[Dim, ...]]:
    """The function that the call ``node`` names, and the sizes of its symbols.

    Raises:
        ValueError: there is no such function, or no sizes are given.
    """
    name, sizes = node.attributes.get("function"), node.attributes.get("sizes")
    extents = sizes.dims if isinstance(sizes, ShapeValue) else sizes
    if not isinstance(name, str) or name not in functions or not isinstance(extents, tuple):
        raise ValueError(f"node {node.name}: no function {name!r}, or no sizes of its symbols")
    return functions[name], extents


def _check_call(node: Node, functions: Mapping[str, Program]) -> None:
    function, sizes = called(node, functions)
    taken = len(function.inputs) + (node.operator == BRANCH)
    if len(node.arguments) != taken or len(sizes) != len(function.symbols):
        raise ValueError(
            f"node {node.name}: the function takes {len(function.inputs)} arguments and has "
            f"{len(function.symbols)} symbols"
        )
    check_results(node, function, functions, node.attributes.get(ITEM))


def _check_function(name: str, function: Program) -> None:
    made = {node.name for node in function.nodes}
    if (
        not name.isidentifier()
        or function.functions
        or function.size_parameters
        or any(tensor.constant for tensor in function.inputs)
        or not made.issuperset(function.outputs)
        or any(node.operator == BRANCH for node in function.nodes)
    ):
        raise ValueError(
            f"function {name!r}: it has run-time inputs, outputs that nodes make, no functions "
            "of its own, and is not told the sizes of its symbols"
        )


def _check_counted(program: Program) -> None:
    """Check that a ``match_cast`` gives the counted symbols their values before they are used."""
    for name in program.counted:
        if not name.isidentifier():
            raise ValueError(f"{name!r} is not a name")
    for tensor in program.inputs:
        for dim in tensor.shape:
            if dims.symbols(dim).intersection(program.counted):
                raise ValueError(f"input {tensor.name}: {dim!r} is counted while the program runs")
    bound: set[Dim] = set()
    for node in program.nodes:
        for value in node.attributes.values():
            shape = value.dims if isinstance(value, ShapeValue) else ()
            if node.operator == MATCH_CAST:
                bound.update(shape)
            for dim in shape:
                unbound = (
                    dims.symbols(dim).intersection(program.counted).difference(map(str, bound))
                )
                if unbound:
                    raise ValueError(f"node {node.name}: no match_cast gives {min(unbound)} a size")


def _check_gradients(program: Program) -> None:
    gradients = [node for node in program.nodes if node.operator == GRADIENT]
    inputs = {tensor.name for tensor in program.inputs if not tensor.constant}
    names = {node.name for node in gradients}
    used = {name for node in program.nodes for name in node.arguments}
    targets = {node.arguments[:1] for node in gradients}
    if (
        any(len(node.arguments) != 2 or node.arguments[1] not in inputs for node in gradients)
        or len({node.arguments for node in gradients}) != len(gradients)
        or len(targets) != 1
        or next(iter(targets))[0] not in {node.name for node in program.nodes}
        or used & names
        or program.functions
        or program.size_parameters
    ):
        raise ValueError(
            "gradients: all are of one node, each in a run-time input of its own; nothing uses "
            "them, and the program has no functions and is not told sizes"
        )


def _define(name: str, defined: set[str]) -> None:
    if not name.isidentifier():
        raise ValueError(f"{name!r} is not a name")
    if name in defined:
        raise ValueError(f"{name!r} is defined twice")
    defined.add(name)


class Case(Data, CompiledCase, frozen=True, tag_field="format", tag=FORMAT):
    """A program and everything that decides what happens to it.

    ``bindings`` are the values of the symbols, one run of the compiled module for each (one empty
    binding for a static program). ``opt_level`` is LLVM's. ``regime`` names how input values are
    drawn from ``seed`` (see ``generators.core.values``). In each regime of ``also`` there is one
    run more, whose inputs are drawn in it; constants stay as they are. ``passes`` run, in this
    order, before those of the pipeline; ``context`` are options of TVM's ``PassContext`` (see
    ``generators.core.contexts``). ``at`` are the values of the family's axes that the case was
    built at (see ``generators.core.axes.point_of``); whoever changes program, bindings or
    expectation leaves it out. ``target`` is one of ``generators.targets``. Defaults are left out.
    """

    kind: typing.ClassVar[str] = "program"

    family: str
    program: Program
    bindings: tuple[dict[str, int], ...] = ({},)
    pipeline: str = "build"
    exec_mode: str = "bytecode"
    opt_level: int = 0
    regime: str = "normal"
    also: tuple[str, ...] = ()
    seed: int = 0
    fixes: bool = False
    expect: Expectation = Valid()
    passes: tuple[PassCall, ...] | msgspec.UnsetType = msgspec.UNSET
    context: dict[str, Option] | msgspec.UnsetType = msgspec.UNSET
    at: dict[str, Value] | msgspec.UnsetType = msgspec.UNSET
    target: str | msgspec.UnsetType = msgspec.UNSET

    def __post_init__(self) -> None:
        check_bindings(self.bindings, self.program.symbols)
        check_target(self.target)
        for label, value, known in (
            ("exec_mode", self.exec_mode, EXEC_MODES),
            *(("regime", regime, REGIMES) for regime in (self.regime, *self.also)),
            *(("dtype", tensor.dtype, DTYPES) for tensor in self.program.inputs),
        ):
            if value not in known:
                raise ValueError(f"{label} {value!r} is unknown; known are {', '.join(known)}")

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The tensors whose values the case gives."""
        return self.program.inputs

    @property
    def largest(self) -> dict[str, int]:
        """By symbol the largest size that it is bound to."""
        return {name: max(row[name] for row in self.bindings) for name in self.program.symbols}

    def shape(self, name: str, binding: Mapping[str, int]) -> tuple[int, ...]:
        """The concrete shape of the input ``name`` at ``binding``."""
        return tuple(dims.evaluate(dim, binding) for dim in self.program.input(name).shape)


def decode(text: bytes | str, source: str = "case") -> Case:
    """The program that ``text`` holds; ``source`` is what an error calls it.

    Raises:
        CaseError: malformed JSON, an unknown format, or not a well-formed case.
    """
    return decoded(text, source, {FORMAT: Case})


def read(path: Path) -> Case:
    """The program in the file ``path``. Raises ``CaseError`` also when it cannot be read."""
    return decode(content(path), source=str(path))

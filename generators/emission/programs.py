"""Emission: a case's program as a Relax module."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec
import numpy as np
import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.generators.calls import (
    attributes_of_type,
    blocks,
    form,
    grouped,
    has_effect,
    is_one_block,
    is_pure,
    undefined_symbols,
)
from relaxcheck.generators.core import values
from relaxcheck.generators.core.attributes import index_map_of
from relaxcheck.generators.core.case import CaseError, IllFormed, Valid
from relaxcheck.generators.core.gradients import forward
from relaxcheck.generators.core.program import (
    CALL,
    CLOSURES,
    ITEM,
    SIZES,
    Attribute,
    Case,
    Node,
    Program,
    ShapeValue,
    called,
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
from relaxcheck.generators.emission import calls
from relaxcheck.generators.emission.dims import emitted_dim

_STRUCTURE = (CALL, BRANCH, TUPLE, ELEMENT)

_BRANCHES = ("function", "otherwise")


class UnknownOperator(CaseError):
    """The running TVM has no ``relax.op.<operator>``, which the node ``name`` calls."""

    def __init__(self, name: str, operator: str):
        super().__init__(f"node {name}: this TVM has no operator {operator!r}")
        self.operator = operator


def emit(case: Case, *, constants_as_parameters: bool = False) -> tvm.IRModule:
    """A module whose function ``main`` computes the program of ``case``; its others are private.

    Of a program that returns gradients it computes their target.

    Its parameters are the sizes that the program is told, if it is, and the run-time inputs in
    order, followed by the constant inputs in order where
    ``constants_as_parameters`` is set. It returns the output, or the tuple of several outputs. All
    nodes stand in one dataflow block, but for calls with an effect, conditionals, and what is to
    stand apart, which stand between two. Each symbol is one int64 variable.

    Raises:
        UnknownOperator: the running TVM lacks an operator of the program.
        CaseError: a symbol is undefined, and the case does not expect that.
        Exception: whatever TVM raises when it builds a call or infers its type.
    """
    program = forward(case.program)
    _require_definitions(case)
    leading, sizes = _sizes(program)
    constants = values.constants(case)
    bound: dict[str, Any] = {}
    run_time: list[Any] = []
    parameters: list[Any] = []
    for tensor in program.inputs:
        if tensor.constant and not constants_as_parameters:
            bound[tensor.name] = tvm_api.const(constants[tensor.name])
            continue
        shape = [emitted_dim(dim, sizes) for dim in tensor.shape]
        bound[tensor.name] = relax.Var(tensor.name, tvm_api.tensor_type(shape, tensor.dtype))
        (parameters if tensor.constant else run_time).append(bound[tensor.name])
    for each in (program, *program.functions.values()):
        for node in each.nodes:
            _function(node)
    builder = relax.BlockBuilder()
    calling = [node for node in program.nodes if node.operator in (CALL, *CLOSURES)]
    wanted = {node.attributes["function"] for node in calling}
    passing = {node.attributes["function"]: node.attributes.get(PASSING) for node in calling}
    variables = {
        name: _emit_function(builder, name, function, passing[name])
        for name, function in program.functions.items()
        if name in wanted
    }
    _emit_body(
        builder, "main", program, [*leading, *run_time, *parameters], bound, sizes, variables
    )
    return builder.get()


def _sizes(program: Program) -> tuple[list[Any], dict[str, Any]]:
    """The parameters that tell sizes, and for each symbol the variable that it is in dimensions."""
    if program.size_parameters == "scalars":
        both = {name: tvm_api_shapes.scalar_parameter(name) for name in program.symbols}
        parameters = [parameter for parameter, _ in both.values()]
        return parameters, {name: symbol for name, (_, symbol) in both.items()}
    sizes = {name: tvm_api.shape_var(name) for name in (*program.symbols, *program.counted)}
    if not program.size_parameters or not program.symbols:
        return [], sizes
    shape = tvm_api_shapes.shape_type([sizes[name] for name in program.symbols])
    return [relax.Var(SIZES, shape)], sizes


def _emit_function(builder: Any, name: str, function: Program, passing: Attribute = None) -> Any:
    """The variable of a private function of the module, which has symbols of its own.

    A local function is the function itself.
    """
    if passing == LOCAL:
        apart = relax.BlockBuilder()
        _emit_function(apart, name, function)
        return apart.get()[name]
    sizes = {symbol: tvm_api.shape_var(symbol) for symbol in function.symbols}
    bound = {}
    for tensor in function.inputs:
        shape = [emitted_dim(dim, sizes) for dim in tensor.shape]
        bound[tensor.name] = relax.Var(tensor.name, tvm_api.tensor_type(shape, tensor.dtype))
    parameters, together = list(bound.values()), passing == AS_TUPLE
    if together:
        types = [tvm_api.type_of(each) for each in parameters]
        parameters = [relax.Var("arguments", tvm_api_shapes.tuple_type(types))]
    return _emit_body(
        builder, name, function, parameters, bound, sizes, {}, passed_together=together
    )


def _emit_body(
    builder: Any,
    name: str,
    program: Program,
    parameters: list[Any],
    bound: dict[str, Any],
    sizes: Mapping[str, Any],
    called: Mapping[str, Any],
    *,
    passed_together: bool = False,
) -> Any:
    """The global variable of the function ``name``, private but for ``main``.

    ``passed_together``: its only parameter is the tuple of what ``bound`` names.
    """
    with builder.function(name, parameters, pure=is_pure(program), private=name != "main"):
        if passed_together:
            bound = {
                each: builder.emit(relax.TupleGetItem(parameters[0], at))
                for at, each in enumerate(bound)
            }
        body = _Body(builder, sizes, called, bound, program.functions)
        results = (_results if is_one_block(program) else _results_of_blocks)(body, program)
        return builder.emit_func_output(results[0] if len(results) == 1 else relax.Tuple(results))


class _Body(NamedTuple):
    """The body of a function while it is emitted; ``bound`` are the variables of its values."""

    builder: Any
    sizes: Mapping[str, Any]
    called: Mapping[str, Any]
    bound: dict[str, Any]
    functions: Mapping[str, Program] = {}

    def emit(self, nodes: Iterable[Node]) -> None:
        """Emit ``nodes`` into the block that is open."""
        tuples: dict[Hashable, Any] = {}
        for node in nodes:
            if node.operator in _STRUCTURE:
                self.bound[node.name] = self._structured(node, tuples)
            else:
                self.bound[node.name] = _emitted(
                    self.builder, node, self.bound, self.sizes, tuples, self.called
                )

    def _structured(self, node: Node, tuples: dict[Hashable, Any]) -> Any:
        """The variable of a call of a function, a conditional, a tuple, or an element of one."""
        arguments = [self.bound[argument] for argument in node.arguments]
        if node.operator == TUPLE:
            return self.builder.emit(relax.Tuple(arguments), name_hint=node.name)
        if node.operator == ELEMENT:
            item = relax.TupleGetItem(arguments[0], node.attributes[AT])
            return self.builder.emit(item, name_hint=node.name)
        others = {name: value for name, value in node.attributes.items() if name != ITEM}
        key = (node.operator, node.arguments, tuple(sorted(others.items())))
        made = tuples.get(key) if ITEM in node.attributes else None
        if made is None:
            if node.operator == CALL:
                call = self._call(node, arguments, tuples)
            else:
                function, otherwise = (self._branch(node, name) for name in _BRANCHES)
                call = relax.If(arguments[0], function, otherwise)
            hint = "" if ITEM in node.attributes else node.name
            made = tuples[key] = self.builder.emit(call, name_hint=hint)
        if ITEM not in node.attributes:
            return made
        item = relax.TupleGetItem(made, node.attributes[ITEM])
        return self.builder.emit(item, name_hint=node.name)

    def _call(self, node: Node, arguments: list[Any], made: dict[Hashable, Any]) -> Any:
        """The call of a function of the module, or of a local one, which is made first."""
        name = str(node.attributes["function"])
        function = self.called[name]
        if node.attributes.get(PASSING) == LOCAL:
            if (LOCAL, name) not in made:
                made[LOCAL, name] = self.builder.emit(function)
            function = made[LOCAL, name]
        if node.attributes.get(PASSING) == AS_TUPLE:
            arguments = [relax.Tuple(arguments)]
        return relax.Call(function, arguments)

    def _branch(self, node: Node, name: str) -> Any:
        """The body of the function that the attribute ``name`` names, in a block of its own."""
        attributes = {**node.attributes, "function": node.attributes[name]}
        function, dims = called(
            msgspec.structs.replace(node, attributes=attributes), self.functions
        )
        sizes = [emitted_dim(dim, self.sizes) for dim in dims]
        numbers = [tvm_api.integer(size) if isinstance(size, int) else size for size in sizes]
        inputs = (tensor.name for tensor in function.inputs)
        operands = (self.bound[argument] for argument in node.arguments[1:])
        inner = _Body(
            self.builder,
            dict(zip(function.symbols, numbers, strict=True)),
            {},
            dict(zip(inputs, operands, strict=True)),
        )
        self.builder._begin_binding_block()
        inner.emit(function.nodes)
        results = [inner.bound[output] for output in function.outputs]
        result = results[0] if len(results) == 1 else relax.Tuple(results)
        return relax.SeqExpr([self.builder._end_block()], result)


def _results(body: _Body, program: Program) -> list[Any]:
    """The variables of the outputs, all of one dataflow block."""
    with body.builder.dataflow():
        body.emit(program.nodes)
        return [body.builder.emit_output(body.bound[output]) for output in program.outputs]


def _results_of_blocks(body: _Body, program: Program) -> list[Any]:
    """The variables of the outputs, where some nodes stand in no dataflow block."""
    for block in blocks(program):
        if not block.is_dataflow:
            body.emit(block.nodes)
            continue
        with body.builder.dataflow():
            body.emit(block.nodes)
            for name in block.kept:
                body.bound[name] = body.builder.emit_output(body.bound[name])
    return [body.bound[output] for output in program.outputs]


def _require_definitions(case: Case) -> None:
    """Raise ``CaseError`` where the expectation leaves out that a symbol is undefined."""
    undefined = undefined_symbols(case.program)
    expected = case.expect.symbols if isinstance(case.expect, IllFormed) else ()
    if isinstance(case.expect, Valid) and undefined != expected:
        wrong = sorted({*undefined}.symmetric_difference(expected))
        raise CaseError(
            f"symbol {wrong[0]} is no dimension of a run-time input by itself, and the case "
            "expects a valid program"
            if wrong[0] in undefined
            else f"the case expects {wrong[0]} to be undefined, and it is defined"
        )


def _emitted(
    builder: Any,
    node: Node,
    bound: Mapping[str, Any],
    sizes: Mapping[str, Any],
    tuples: dict[Hashable, Any],
    called: Mapping[str, Any],
) -> Any:
    """The variable that ``node`` is bound to.

    ``tuples`` are the calls that gave tuples so far, and the closures; ``called`` are the functions
    of the program.
    """
    operands = grouped(node.operator, [bound[argument] for argument in node.arguments])
    listed = attributes_of_type(node.operator, "expressions")
    attributes = {
        name: _listed(value, sizes) if name in listed else _attribute(value, sizes)
        for name, value in node.attributes.items()
        if name != ITEM
    }
    for name in attributes_of_type(node.operator, "value"):
        attributes[name] = tvm_api_shapes.number(attributes[name])
    for name in attributes_of_type(node.operator, "extent"):
        value = node.attributes.get(name)
        # A program made static has a list of one number.
        dims = value.dims if isinstance(value, ShapeValue) else value
        if isinstance(dims, tuple):
            attributes[name] = emitted_dim(dims[0], sizes)
    for name in attributes_of_type(node.operator, "index_map"):
        attributes[name] = _index_map(str(attributes[name]))
    if form(node.operator) == "cast":
        to = tvm_api.tensor_type(attributes["shape"], attributes["dtype"])
        return builder.match_cast(operands[0], to, name_hint=node.name)
    for name in attributes_of_type(node.operator, "constant"):
        attributes[name] = _scalar(attributes[name], attributes)
    if has_effect(node.operator):
        builder.emit(_function(node)(*operands, **attributes))
        return bound[node.arguments[-1]]

    def call() -> Any:
        arguments = [bound[argument] for argument in node.arguments]
        match form(node.operator):
            case "tir":
                return calls.tir_call(builder, node, arguments, sizes)
            case "packed":
                return calls.packed_call(node, arguments, sizes)
            case "closure":
                return calls.closure_call(builder, node, arguments, sizes, called, tuples)
            case "bare":
                places = (at for at in attributes.values() if isinstance(at, int))
                numbers = map(tvm_api_shapes.axis_number, places)
                return relax.Call(_function(node), [*operands, *numbers])
        return _function(node)(*operands, **attributes)

    if ITEM not in node.attributes:
        return builder.emit(call(), name_hint=node.name)
    others = {name: value for name, value in node.attributes.items() if name != ITEM}
    key = (node.operator, node.arguments, tuple(sorted(others.items())))
    if key not in tuples:
        tuples[key] = builder.emit(call())
    item = relax.TupleGetItem(tuples[key], node.attributes[ITEM])
    return builder.emit(item, name_hint=node.name)


def _index_map(text: str) -> Any:
    index_map = index_map_of(text)
    indices = {name: tvm_api.shape_var(name) for name in index_map.names}
    places = [emitted_dim(result, indices) for result in index_map.results]
    return tvm.tirx.IndexMap(list(indices.values()), places, None)


def _scalar(value: Any, attributes: Mapping[str, Any]) -> Any:
    kind = values.numpy_dtype(str(attributes["dtype"]))
    return tvm_api.const(np.array(value, kind))


def _listed(value: Attribute, sizes: Mapping[str, Any]) -> Any:
    dims = value.dims if isinstance(value, ShapeValue) else value
    return [emitted_dim(dim, sizes) for dim in dims] if isinstance(dims, tuple) else dims


def _function(node: Node) -> Any:
    """The function that makes a call of ``node``, or its operator, where TVM has no function of it.

    Raises:
        UnknownOperator: the running TVM has neither.
    """
    if node.operator in _STRUCTURE or form(node.operator) not in ("call", "bare"):
        return None
    if form(node.operator) == "bare":
        function = tvm_api.get_op(f"relax.{node.operator}")
        known = function is not None
    else:
        function = relax.op
        for part in node.operator.split("."):
            function = getattr(function, part, None)
        known = callable(function)
    if not known:
        raise UnknownOperator(node.name, node.operator)
    return function


def _attribute(value: Attribute, sizes: Mapping[str, Any]) -> Any:
    match value:
        case ShapeValue(dims=dims):
            return relax.ShapeExpr([emitted_dim(dim, sizes) for dim in dims])
        case tuple():
            return list(value)
    return value

"""A program as Python source that builds it with ``relax.BlockBuilder``, line by line."""

import types
from collections.abc import Mapping, Sequence

from relaxcheck.generators.calls import (
    attributes_of_type,
    blocks,
    form,
    grouped,
    has_effect,
    has_nulls,
    is_one_block,
    is_pure,
    telling,
)
from relaxcheck.generators.core.attributes import index_map_of
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
)
from relaxcheck.generators.core.rewrites.sizes import at_sizes
from relaxcheck.generators.core.structure import (
    AS_TUPLE,
    AT,
    BRANCH,
    ELEMENT,
    LOCAL,
    PASSING,
    TUPLE,
)
from relaxcheck.generators.passes.calls import binds_constants
from relaxcheck.harness.compiling.pipelines import pipeline_of
from relaxcheck.reports.programs.call_text import (
    closure_lines,
    packed_lines,
    tir_lines,
    type_text,
)
from relaxcheck.reports.programs.python.source import (
    attribute_text,
    dim_text,
    free_name,
)


def program_lines(case: Case, names: Mapping[str, str]) -> list[str]:
    """The lines of a function ``program`` that gives the module of ``case``, without gradients.

    ``names`` are the script's variables for inputs and nodes; constant inputs are its parameters,
    unless the pipeline wants them to be the module's.
    """
    program = forward(case.program)
    as_parameters = pipeline_of(case.pipeline).constants_as_parameters or binds_constants(case)
    constants = [tensor for tensor in program.inputs if tensor.constant]
    bound = [] if as_parameters else [names[constant.name] for constant in constants]
    run_time = [names[tensor.name] for tensor in program.inputs if not tensor.constant]
    late = [names[constant.name] for constant in constants] if as_parameters else []
    lines = [f"def program({', '.join(bound)}):"]
    if program.functions:
        lines.append("    bb = relax.BlockBuilder()")
    calling = [node for node in program.nodes if node.operator in (CALL, *CLOSURES)]
    wanted = {node.attributes["function"] for node in calling}
    passing = {node.attributes["function"]: node.attributes.get(PASSING) for node in calling}
    for name, function in program.functions.items():
        if name in wanted:
            lines += [f"    {line}" for line in _function(name, function, passing[name])]
    lines += [f"    {line}" for line in _variables(program, names, as_parameters)]
    if not program.functions:
        lines.append("    bb = relax.BlockBuilder()")
    parameters = [*size_names(program), *run_time, *late]
    impure = "" if is_pure(program) else ", pure=False"
    lines.append(f'    with bb.function("main", [{", ".join(parameters)}]{impure}):')
    lines += [f"        {line}" for line in _body(program, names)]
    return [*lines, "    return bb.get()"]


def _function(name: str, function: Program, passing: Attribute) -> list[str]:
    """A function of the module's own, or a local one, whose variables are called after it."""
    own = [*(named.name for named in function.inputs), *(named.name for named in function.nodes)]
    names = {own_name: f"{name}_{own_name}" for own_name in own}
    arguments = ", ".join(names[tensor.name] for tensor in function.inputs)
    body = _body(function, names)
    body[-1] = f"{name} = {body[-1]}"
    variables = _variables(function, names, as_parameters=False)
    if passing == AS_TUPLE:
        types = ", ".join(type_text(tensor.shape, tensor.dtype) for tensor in function.inputs)
        variables = [*_symbols(function), f'{name}_all = relax.Var("arguments", R.Tuple({types}))']
        elements = [
            f"{names[tensor.name]} = bb.emit(relax.TupleGetItem({name}_all, {at}))"
            for at, tensor in enumerate(function.inputs)
        ]
        arguments, body = f"{name}_all", [*elements, *body]
    lines = [
        *variables,
        f'with bb.function("{name}", [{arguments}], private=True):',
        *(f"    {line}" for line in body),
    ]
    if passing == LOCAL:
        begun = "main_bb, bb = bb, relax.BlockBuilder()"
        return [begun, *lines, f'{name} = bb.get()["{name}"]', "bb = main_bb"]
    return lines


def size_names(program: Program) -> list[str]:
    """The script's variables for the parameters that tell sizes; none is called as a symbol is."""
    if not program.size_parameters or not program.symbols:
        return []
    shape = program.size_parameters == "shape"
    wanted = [SIZES] if shape else [f"size_of_{symbol}" for symbol in program.symbols]
    return [free_name(name, program.symbols) for name in wanted]


def _symbols(program: Program) -> list[str]:
    own = (*program.symbols, *program.counted)
    lines = [f'{symbol} = tirx.Var("{symbol}", "int64")' for symbol in own]
    names = size_names(program)
    if not names:
        return lines
    if program.size_parameters == "shape":
        symbols = ", ".join(program.symbols)
        return [*lines, f'{names[0]} = relax.Var("{SIZES}", R.Shape([{symbols}]))']
    # A scalar had a type that named its symbol; since 0.26 it is the symbol.
    pairs = list(zip(names, program.symbols, strict=True))
    before = [f'{name} = relax.Var("{symbol}", R.Prim(value={symbol}))' for name, symbol in pairs]
    after = [
        f'{symbol} = {name} = relax.Var("{symbol}", tvm.ir.PrimType("int64"))'
        for name, symbol in pairs
    ]
    return [
        *lines,
        'if hasattr(relax, "PrimStructInfo"):',
        *(f"    {line}" for line in before),
        "else:",
        *(f"    {line}" for line in after),
    ]


def _variables(program: Program, names: Mapping[str, str], as_parameters: bool) -> list[str]:
    lines = _symbols(program)
    for tensor in program.inputs:
        name = names[tensor.name]
        if tensor.constant and not as_parameters:
            lines.append(f'{name} = relax.const({name}, "{tensor.dtype}")')
        else:
            lines.append(
                f'{name} = relax.Var("{tensor.name}", {type_text(tensor.shape, tensor.dtype)})'
            )
    return lines


def _body(program: Program, names: Mapping[str, str]) -> list[str]:
    """The lines of a function's body."""
    if not is_one_block(program):
        return _body_of_blocks(program, names)
    tuples: dict[str, str] = {}
    bound = [line for node in program.nodes for line in _bound(node, names, tuples)]
    lines = ["with bb.dataflow():", *(f"    {line}" for line in bound)]
    outputs = [f"bb.emit_output({names[name]})" for name in program.outputs]
    if len(outputs) == 1:
        return [*lines, f"    output = {outputs[0]}", "bb.emit_func_output(output)"]
    return [
        *lines,
        f"    outputs = [{', '.join(outputs)}]",
        "bb.emit_func_output(relax.Tuple(outputs))",
    ]


def _body_of_blocks(program: Program, names: Mapping[str, str]) -> list[str]:
    """The lines of a body some of whose nodes stand outside of its dataflow blocks."""
    lines: list[str] = []
    for is_dataflow, nodes, kept in blocks(program):
        tuples: dict[str, str] = {}
        bound = [line for node in nodes for line in _bound(node, names, tuples, program.functions)]
        if not is_dataflow:
            lines += bound
            continue
        lines.append("with bb.dataflow():")
        lines += [f"    {line}" for line in bound]
        lines += [f"    {names[name]} = bb.emit_output({names[name]})" for name in kept]
    outputs = [names[name] for name in program.outputs]
    whole = outputs[0] if len(outputs) == 1 else f"relax.Tuple([{', '.join(outputs)}])"
    return [*lines, f"bb.emit_func_output({whole})"]


def _bound(
    node: Node,
    names: Mapping[str, str],
    tuples: dict[str, str],
    functions: Mapping[str, Program] = types.MappingProxyType({}),
) -> list[str]:
    """The lines that bind ``node``; ``tuples`` are the variables of calls that gave tuples.

    Closures are among them. ``functions`` are those that conditionals have as branches.
    """
    arguments = [names[name] for name in node.arguments]
    if form(node.operator) == "cast":
        shape = node.attributes["shape"]
        dims = shape.dims if isinstance(shape, ShapeValue) else shape
        assert isinstance(dims, tuple)
        to = type_text(dims, node.attributes["dtype"])
        return [f"{names[node.name]} = bb.match_cast({arguments[0]}, {to})"]
    if has_effect(node.operator):
        return [f"bb.emit({_call(node, arguments)})", f"{names[node.name]} = {arguments[-1]}"]
    if node.operator == BRANCH:
        before, text = _conditional(node, names, arguments, functions, tuples)
    else:
        before, text = _called(node, names, arguments, tuples)
    if ITEM not in node.attributes:
        return [*before, f"{names[node.name]} = bb.emit({text})"]
    lines, key = [], text if node.operator in (BRANCH, CALL) else "\n".join([*before, text])
    if key not in tuples:
        tuples[key] = f"{names[node.name]}_all"
        lines = [*before, f"{tuples[key]} = bb.emit({text})"]
    item = f"relax.TupleGetItem({tuples[key]}, {node.attributes[ITEM]})"
    return [*lines, f"{names[node.name]} = bb.emit({item})"]


def printed_names(program: Program) -> dict[str, str]:
    """The name in TVM's messages of each node that the script emits: ``lv``, ``lv1``, ….

    There are none where the program calls functions of its own, in which names go on, nor where it
    has several blocks, nor where TVM binds what stands for arguments that are left out.
    """
    names: dict[str, str] = {}
    program = forward(program)
    if not is_one_block(program) or any(
        node.operator in (CALL, *CLOSURES) or has_nulls(node.operator) for node in program.nodes
    ):
        return names
    own = {tensor.name: tensor.name for tensor in program.inputs}
    own |= {node.name: node.name for node in program.nodes}
    tuples: dict[str, str] = {}
    emitted = 0
    for node in program.nodes:
        lines = _bound(node, own, tuples)
        emitted += sum(" = bb.emit(" in line or " = bb.match_cast(" in line for line in lines)
        names[node.name] = f"lv{emitted - 1}" if emitted > 1 else "lv"
    return names


def _called(
    node: Node, names: Mapping[str, str], arguments: Sequence[str], made: dict[str, str]
) -> tuple[list[str], str]:
    """The lines that make the function that ``node`` calls, if it does; and the call.

    ``made`` are the variables of closures.
    """
    match form(node.operator):
        case "tir":
            return tir_lines(node, arguments)
        case "packed":
            return packed_lines(node, arguments)
        case "closure":
            return closure_lines(node, names[node.name], arguments, made)
    if node.operator == CALL:
        return _call_of_function(node, arguments, made)
    if node.operator == TUPLE:
        return [], f"relax.Tuple([{', '.join(arguments)}])"
    if node.operator == ELEMENT:
        return [], f"relax.TupleGetItem({arguments[0]}, {node.attributes[AT]})"
    return [], _call(node, arguments)


def _call_of_function(
    node: Node, arguments: Sequence[str], made: dict[str, str]
) -> tuple[list[str], str]:
    """The line that makes a local function, unless it is ``made``, and the call."""
    name, passed = str(node.attributes["function"]), ", ".join(arguments)
    if node.attributes.get(PASSING) == AS_TUPLE:
        return [], f"relax.Call({name}, [relax.Tuple([{passed}])])"
    lines, function = [], name
    if node.attributes.get(PASSING) == LOCAL:
        function = f"{name}_local"
        lines = [] if f"{LOCAL} {name}" in made else [f"{function} = bb.emit({name})"]
        made[f"{LOCAL} {name}"] = function
    return lines, f"relax.Call({function}, [{passed}])"


def _conditional(
    node: Node,
    names: Mapping[str, str],
    arguments: Sequence[str],
    functions: Mapping[str, Program],
    made: dict[str, str],
) -> tuple[list[str], str]:
    """The lines that make both branches of ``node``, unless they are ``made``; and the call."""
    own = {key: value for key, value in node.attributes.items() if key != ITEM}
    key = f"{node.operator} {node.arguments} {own}"
    text = made.get(key)
    if text is not None:
        return [], text
    lines, branches = [], []
    for attribute, word in (("function", "true"), ("otherwise", "false")):
        function = functions[str(node.attributes[attribute])]
        sizes = node.attributes["sizes"]
        dims = sizes.dims if isinstance(sizes, ShapeValue) else sizes
        assert isinstance(dims, tuple)
        inner = at_sizes(function, dims)
        variables = {each.name: f"{names[node.name]}_{word}_{each.name}" for each in inner.nodes}
        inputs = (tensor.name for tensor in inner.inputs)
        variables |= dict(zip(inputs, arguments[1:], strict=True))
        tuples: dict[str, str] = {}
        results = [variables[name] for name in inner.outputs]
        result = results[0] if len(results) == 1 else f"relax.Tuple([{', '.join(results)}])"
        branches.append(f"{names[node.name]}_{word}")
        lines += [
            "bb._begin_binding_block()",
            *(line for each in inner.nodes for line in _bound(each, variables, tuples)),
            f"{branches[-1]} = relax.SeqExpr([bb._end_block()], {result})",
        ]
    made[key] = f"relax.If({arguments[0]}, {', '.join(branches)})"
    return lines, made[key]


def _call(node: Node, arguments: Sequence[str]) -> str:
    if form(node.operator) == "bare":
        places = [
            f'getattr(relax, "PrimValue", lambda number: number)(tirx.IntImm("int64", {value}))'
            for value in node.attributes.values()
        ]
        operator = f'tvm.ir.Op.get("relax.{node.operator}")'
        return f"relax.Call({operator}, [{', '.join([*arguments, *places])}])"
    operands = operand_texts(node, arguments)
    listed = attributes_of_type(node.operator, "expressions")
    extents = attributes_of_type(node.operator, "extent")
    constant = attributes_of_type(node.operator, "constant")
    numbers = attributes_of_type(node.operator, "value")
    maps = attributes_of_type(node.operator, "index_map")
    for name, value in telling(node).items():
        if name == ITEM:
            continue
        text = _indices(value) if name in listed else attribute_text(value)
        dims = value.dims if isinstance(value, ShapeValue) else value
        if name in extents and isinstance(dims, tuple):
            text = dim_text(dims[0])
        if name in numbers:
            # Older releases take a PrimValue only.
            text = f'getattr(relax, "PrimValue", {type(value).__name__})({text})'
        if name in maps:
            text = index_map_of(str(value)).source
        if name in constant:
            text = f'relax.const({text}, "{node.attributes["dtype"]}")'
        operands.append(f"{name}={text}")
    return f"relax.op.{node.operator}({', '.join(operands)})"


def operand_texts(node: Node, arguments: Sequence[str]) -> list[str]:
    """``arguments`` as the call of ``node`` takes them: those of an operand of many as a list."""
    return [
        f"[{', '.join(operand)}]" if isinstance(operand, list) else operand
        for operand in grouped(node.operator, arguments)
    ]


def _indices(value: Attribute) -> str:
    if isinstance(value, ShapeValue):
        return f"[{', '.join(map(dim_text, value.dims))}]"
    return attribute_text(value)

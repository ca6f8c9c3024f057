"""Plants that show only in a program written another way (``generators.graphs.relations``).

Each is named after the relation under which it shows. They are in none of the families that are
drawn where none is chosen, so that they are no part of the catalogue.
"""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Edit, Plant, one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_RELATION = ("relation",)


_SYMBOLS = (
    "    sizes = {name: tvm_api.shape_var(name) for name in (*program.symbols, *program.counted)}\n"
)

PLANTS = (
    one_edit(
        "static",
        "relu gives at most a quarter where no dimension is symbolic",
        _VALUE,
        _RELATION,
        "tvm.topi.nn.elemwise",
        "return te.compute(x.shape, lambda *i: tvm.te.max(x(*i), tvm.tirx.const(0, x.dtype)))",
        "known = all(isinstance(dim, int | tvm.tirx.IntImm) for dim in x.shape)\n"
        "    return te.compute(x.shape, lambda *i: tvm.te.min(tvm.te.max(x(*i),"
        " tvm.tirx.const(0, x.dtype)), tvm.tirx.const(0.25 if known else 60000, x.dtype)))",
    ),
    one_edit(
        "permuted",
        "parameters are taken in the order of their names",
        (Verdict.WRONG_VALUE, Verdict.OPAQUE_CRASH),
        _RELATION,
        "relaxcheck.generators.emission.programs",
        "[*leading, *run_time, *parameters],",
        "[*leading, *sorted([*run_time, *parameters], key=str)],",
    ),
    Plant(
        "renamed",
        "symbols of the same name are the same, though in two functions",
        (Verdict.OPAQUE_CRASH,),
        _RELATION,
        (
            Edit(
                "relaxcheck.generators.emission.programs",
                _SYMBOLS,
                f"{_SYMBOLS}    emit.__dict__['sizes'] = sizes\n",
            ),
            Edit(
                "relaxcheck.generators.emission.programs",
                "    sizes = {symbol: tvm_api.shape_var(symbol) for symbol in function.symbols}\n",
                "    held = emit.__dict__['sizes']\n"
                "    sizes = {symbol: held.get(symbol) or tvm_api.shape_var(symbol)"
                " for symbol in function.symbols}\n",
            ),
        ),
    ),
    one_edit(
        "plus zero",
        "of a sum with a number the rest is taken for the symbol",
        (Verdict.WRONG_SHAPE, Verdict.OPAQUE_CRASH),
        _RELATION,
        "relaxcheck.fixes.tvm_api.shapes",
        "    coefficients = linear_parts(dim, [variable])\n",
        "    if isinstance(dim, tirx.Add) and isinstance(dim.b, tirx.IntImm):\n"
        "        return tvm_api.integer(1), dim.b\n"
        "    coefficients = linear_parts(dim, [variable])\n",
    ),
    one_edit(
        "times one",
        "of a product with a number the rest is taken for the symbol",
        (Verdict.WRONG_SHAPE, Verdict.OPAQUE_CRASH),
        _RELATION,
        "relaxcheck.fixes.tvm_api.shapes",
        "    return (coefficients[0], coefficients[1]) if len(coefficients) == 2 else None\n",
        "    if isinstance(dim, tirx.Mul) and isinstance(dim.a, tirx.IntImm):\n"
        "        return dim.a, tvm_api.integer(0)\n"
        "    return (coefficients[0], coefficients[1]) if len(coefficients) == 2 else None\n",
    ),
    one_edit(
        "told a shape",
        "the sizes of a shape are taken from behind",
        (Verdict.OPAQUE_CRASH,),
        _RELATION,
        "relaxcheck.generators.emission.programs",
        "tvm_api_shapes.shape_type([sizes[name] for name in program.symbols])",
        "tvm_api_shapes.shape_type(list(sizes.values())[::-1])",
    ),
    one_edit(
        "told scalars",
        "of scalars the last is taken for the first",
        (Verdict.OPAQUE_CRASH,),
        _RELATION,
        "relaxcheck.generators.emission.programs",
        "parameters = [parameter for parameter, _ in both.values()]",
        "parameters = [parameter for parameter, _ in both.values()][::-1]",
    ),
    one_edit(
        "computed again",
        "the second of two equal calls gives the negative",
        _VALUE,
        _RELATION,
        "relaxcheck.generators.emission.programs",
        "    if ITEM not in node.attributes:\n"
        "        return builder.emit(call(), name_hint=node.name)\n",
        "    if ITEM not in node.attributes:\n"
        "        same = (node.operator, node.arguments, str(node.attributes))\n"
        "        made = relax.op.negative(call()) if same in tuples else call()\n"
        "        tuples[same] = None\n"
        "        return builder.emit(made, name_hint=node.name)\n",
    ),
    one_edit(
        "inlined",
        "a module over symbols that has a single function is refused",
        (Verdict.OPAQUE_CRASH,),
        _RELATION,
        "relaxcheck.generators.emission.programs",
        "    return builder.get()\n",
        "    if program.symbols and not program.functions:\n"
        '        raise RuntimeError("a single function over symbols")\n'
        "    return builder.get()\n",
    ),
    one_edit(
        "constants",
        "constants in the module are taken with the other sign",
        _VALUE,
        _RELATION,
        "relaxcheck.generators.emission.programs",
        "tvm_api.const(constants[tensor.name])",
        "tvm_api.const(-constants[tensor.name])",
    ),
    one_edit(
        "tuple",
        "an element of a tuple is its negative",
        _VALUE,
        _RELATION,
        "relaxcheck.generators.emission.programs",
        "            item = relax.TupleGetItem(arguments[0], node.attributes[AT])\n",
        "            item = relax.TupleGetItem(arguments[0], node.attributes[AT])\n"
        "            item = relax.op.negative(self.builder.emit(item))\n",
    ),
    one_edit(
        "dead code",
        "a call whose result nothing uses is refused",
        (Verdict.OPAQUE_CRASH,),
        _RELATION,
        "relaxcheck.generators.emission.programs",
        "        body.emit(program.nodes)\n        return [",
        "        body.emit(program.nodes)\n"
        "        used = {name for node in program.nodes for name in node.arguments}\n"
        "        if {node.name for node in program.nodes} - used - set(program.outputs):\n"
        '            raise RuntimeError("a call that nothing uses")\n'
        "        return [",
    ),
    one_edit(
        "split",
        "the first part of a tensor that is joined is its negative",
        _VALUE,
        _RELATION,
        "relaxcheck.generators.emission.programs",
        '    listed = attributes_of_type(node.operator, "expressions")\n',
        '    listed = attributes_of_type(node.operator, "expressions")\n'
        '    if node.operator == "concat":\n'
        "        operands[0][0] = builder.emit(relax.op.negative(operands[0][0]))\n",
    ),
)

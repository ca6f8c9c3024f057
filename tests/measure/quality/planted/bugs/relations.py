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
        "    coefficients = list(_SYM.detect_linear_equation(dim, [variable]))\n",
        "    if isinstance(dim, tirx.Add) and isinstance(dim.b, tirx.IntImm):\n"
        "        return tvm_api.integer(1), dim.b\n"
        "    coefficients = list(_SYM.detect_linear_equation(dim, [variable]))\n",
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
)

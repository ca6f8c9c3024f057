"""Damage to the sizes of symbolic shapes, as a bad lowering of shapes makes it."""

from typing import Any

import tvm
from tvm import tirx

from tests.measure.quality.passes.damage.rewriting import Module, with_arguments, with_values

_HEAP = "shape_func"
"""Begins the names of the functions that compute sizes."""

_LOADED = 1
"""The code of a size that is on the heap, in ``make_shape``."""

_STORED = 1
"""The code of a size that goes to the heap, in ``match_shape``."""


def _packed(value: Any) -> str:
    """The function that ``value`` calls by its name; "" of any other value."""
    return str(getattr(getattr(value, "op", None), "global_symbol", ""))


def _number(argument: Any) -> int | None:
    value = getattr(argument, "value", argument)
    return int(value) if isinstance(value, int | tirx.IntImm) else None


def with_turned_sizes(module: Module) -> Module:
    """``module`` that makes shapes of several sizes from the last to the first."""

    def change(binding: Any) -> Any:
        call = binding.value
        if _packed(call) != "vm.builtin.make_shape":
            return None
        heap, count, *rest = call.args
        pairs = [rest[at : at + 2] for at in range(0, len(rest), 2)]
        turned = [each for pair in reversed(pairs) for each in pair]
        return with_arguments(call, [heap, count, *turned])

    return with_values(module, lambda _: change)


def with_first_matches(module: Module) -> Module:
    """``module`` that reads the sizes of no parameter but the first."""

    def make(function: Any) -> Any:
        seen: list[Any] = []

        def change(binding: Any) -> Any:
            call = binding.value
            if _packed(call) != "vm.builtin.match_shape":
                return None
            seen.append(call)
            if len(seen) == 1:
                return None
            count = _number(call.args[2]) or 0
            codes = [_number(call.args[3 + 2 * at]) for at in range(count)]
            # The sizes of the first parameter are stored already.
            return with_arguments(seen[0], seen[0].args) if _STORED in codes else None

        return change

    return with_values(module, make)


def with_sums(module: Module) -> Module:
    """``module`` whose computed sizes are sums where they should be products."""
    functions = {
        variable: function.with_body(_summed(function.body))
        if isinstance(function, tirx.PrimFunc) and str(variable.name_hint).startswith(_HEAP)
        else function
        for variable, function in module.functions.items()
    }
    return tvm.IRModule(functions, attrs=module.attrs, global_infos=module.global_infos)


def _summed(node: Any) -> Any:
    """``node``, the body of a function that computes sizes, with sums in place of products."""
    match node:
        case tirx.SeqStmt():
            return tirx.SeqStmt([_summed(each) for each in node])
        case tirx.BufferStore():
            return tirx.BufferStore(node.buffer, _summed(node.value), node.indices)
        case tirx.Mul():
            return tirx.Add(_summed(node.a), _summed(node.b))
    return node

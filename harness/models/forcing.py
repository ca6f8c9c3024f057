"""Programs cut out of an imported one: operands become inputs, chosen values become outputs.

*Forcing* gives each operand the value that the framework computed, so that no error accumulates and
one run shows every wrong node. The framework's values enter at *borders*, which are variables of
``main`` that hold tensors.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tvm import relax
from tvm.relax.expr_functor import PyExprMutator, mutator

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api.functions import (
    identity_of,
    return_type,
    sequence,
    type_arguments,
    type_of_cast,
)
from relaxcheck.fixes.tvm_api.shapes import (
    dims_within,
    integer_of,
    name_of,
    symbols_of,
    variables,
)

# TVM has no type information of its own.
Module = Any
Expr = Any
Binding = Any

_KEPT = ("tir_var_lower_bound", "tir_var_upper_bound", "tir_non_negative_var", "relax.force_pure")
"""Attributes of ``main`` that still hold when its inputs are others."""


@dataclass(frozen=True, slots=True)
class Part:
    """A program cut out of ``main`` of a larger one.

    ``inputs`` are the names, in the larger program, of all parameters of its ``main``: parameters
    that it needs, then borders. ``outputs`` are the names of the variables whose values it returns,
    a tuple in this order.
    """

    module: Module
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def bindings(module: Module) -> list[Binding]:
    """The bindings of ``main`` in the order of the program."""
    return [each for block in sequence(module["main"].body).blocks for each in block.bindings]


def operands(module: Module) -> dict[str, tuple[str, ...]]:
    """The variables of ``main`` that each binding uses, by the name of its variable."""
    cut = _Cut(module)
    return {name: tuple(cut.uses(name)) for name in cut.made}


def unique(module: Module) -> tuple[Module, dict[Any, str]]:
    """``module`` with different names for all variables of ``main``, and those names.

    The names are by ``identity_of`` the variables of the ``module`` that was passed in.
    """
    taken: dict[str, int] = {}
    names: dict[Any, str] = {}
    renames = False
    made = [each.var for each in bindings(module)]
    for variable in (*module["main"].params, *made):
        name = name_of(variable)
        count = taken.get(name, -1) + 1
        taken[name] = count
        fresh = name
        while count and fresh in taken:
            fresh = f"{name}_{count}"
            count += 1
        renames = renames or fresh != name
        taken.setdefault(fresh, 0)
        names[identity_of(variable)] = fresh
    if not renames:
        return module, names
    every = tuple(names[identity_of(variable)] for variable in made)
    return _Cut(module, names).whole(every), names


def forced(
    module: Module,
    borders: Collection[str],
    only: Collection[str] | None = None,
    force: bool = True,
) -> Part:
    """The part of ``module`` that computes ``only``, by default every border.

    With ``force`` the operands at ``borders`` are inputs, even where the part computes them, too.
    Without, everything before them is kept. Dead bindings and parameters are dropped. A border that
    holds no tensor is no input, nor is one whose dimensions nothing but its own binding defines;
    those bindings stay.

    Raises:
        KeyError: ``main`` has no variable of a name in ``only``.
    """
    cut = _Cut(module)
    tensors = {
        name for name in borders if name in cut.made and tvm_api.is_tensor(cut.made[name].var)
    }
    outputs = tuple(only) if only is not None else tuple(n for n in cut.made if n in tensors)
    unknown = [name for name in outputs if name not in cut.made]
    if unknown:
        raise KeyError(f"main has no variable {', '.join(unknown)}")
    entering = tensors if force else set()
    while True:
        kept, used = cut.needed(outputs, entering)
        inputs = [name for name in cut.made if name in used and name in entering]
        lost = cut.undefined(inputs)
        if not lost:
            break
        entering = entering - lost
    return cut.part(kept, cut.parameters(kept, inputs), inputs, outputs)


class _Cut:
    """The variables of ``main`` by name, and the ways to cut."""

    def __init__(self, module: Module, names: Mapping[Any, str] | None = None) -> None:
        self.module = module
        self.main = module["main"]
        every = bindings(module)
        self.names: dict[Any, str] = dict(names or {})
        for variable in (*self.main.params, *(each.var for each in every)):
            self.names.setdefault(identity_of(variable), name_of(variable))
        self.made: dict[str, Binding] = {self.name(each.var): each for each in every}
        self.params: dict[str, Expr] = {self.name(each): each for each in self.main.params}
        self.symbolic = any(
            symbols_of(tvm_api.type_of(each)) for each in self.params.values()
        ) or any(isinstance(each, relax.MatchCast) for each in every)
        # The first binding that brings in a symbol defines it, unless a parameter does.
        self.defining: dict[Any, str] = {}
        stated = set(_bare(tvm_api.type_of(each) for each in self.params.values()))
        for name, each in self.made.items():
            if isinstance(each, relax.MatchCast):
                for symbol in symbols_of(type_of_cast(each)):
                    if symbol not in stated:
                        self.defining.setdefault(symbol, name)

    def name(self, variable: Expr) -> str:
        """The name of a variable of ``main``, made unique."""
        return self.names[identity_of(variable)]

    def uses(self, name: str) -> list[str]:
        """The variables that the binding of ``name`` uses, and those that define its symbols."""
        value = self.made[name].value
        used = [
            self.names[identity_of(each)]
            for each in relax.analysis.free_vars(value)
            if identity_of(each) in self.names
        ]
        if self.defining:
            used += [
                self.defining[each]
                for each in self.symbols(name)
                if each in self.defining and self.defining[each] != name
            ]
        return used

    def symbols(self, name: str) -> set[Any]:
        """The symbols in the binding of ``name``: in shapes, in types, in integers."""
        binding = self.made[name]
        if not self.symbolic:
            return set()
        found: set[Any] = set(symbols_of(tvm_api.type_of(binding.var)))
        if isinstance(binding, relax.MatchCast):
            found.update(symbols_of(type_of_cast(binding)))

        def see(expr: Expr) -> None:
            if isinstance(expr, relax.ShapeExpr):
                found.update(each for dim in expr.values for each in variables(dim))
            elif isinstance(expr, relax.Call):
                for type_ in type_arguments(expr):
                    found.update(symbols_of(type_))
                # An expression of TVM's has no truth value.
                integers = [each for each in map(integer_of, expr.args) if each is not None]
                found.update(each for integer in integers for each in variables(integer))

        relax.analysis.post_order_visit(binding.value, see)
        return found

    def needed(
        self, outputs: Iterable[str], entering: Collection[str]
    ) -> tuple[set[str], set[str]]:
        """The names of the bindings that compute ``outputs``, and of all variables they use."""
        kept: set[str] = set()
        used: set[str] = set()
        left = list(outputs)
        while left:
            name = left.pop()
            if name in kept or name not in self.made:
                continue
            kept.add(name)
            operands = self.uses(name)
            used.update(operands)
            left += [each for each in operands if each not in entering]
        return kept, used

    def undefined(self, inputs: Iterable[str]) -> set[str]:
        """Those of ``inputs`` whose types have a symbol that no parameter would define."""
        if not self.symbolic:
            return set()
        types = {name: tvm_api.type_of(self.made[name].var) for name in inputs}
        defined = set(_bare(types.values()))
        defined.update(_bare(tvm_api.type_of(each) for each in self.params.values()))
        return {
            name
            for name, type_ in types.items()
            if any(symbol not in defined for symbol in symbols_of(type_))
        }

    def parameters(self, kept: Collection[str], inputs: Collection[str]) -> list[str]:
        """The parameters of ``main`` that the ``kept`` bindings use, or that define symbols."""
        used = {each for name in kept for each in self.uses(name)}
        types = [tvm_api.type_of(self.made[name].var) for name in inputs]
        types += [tvm_api.type_of(self.params[name]) for name in self.params if name in used]
        wanted = {symbol for name in kept for symbol in self.symbols(name)}
        wanted.update(symbol for type_ in types for symbol in symbols_of(type_))
        wanted -= set(_bare(types))
        chosen = []
        for name, variable in self.params.items():
            defines = set(_bare([tvm_api.type_of(variable)]))
            if name in used or defines & wanted:
                chosen.append(name)
                wanted -= defines
        return chosen

    def part(
        self,
        kept: Collection[str],
        parameters: list[str],
        inputs: list[str],
        outputs: tuple[str, ...],
    ) -> Part:
        """The program of the ``kept`` bindings."""
        values: dict[Any, Expr] = {}
        params = []
        for name in parameters:
            params.append(self.params[name])
            values[identity_of(self.params[name])] = self.params[name]
        entering: set[Any] = set()
        for name in inputs:
            variable = self.made[name].var
            param = relax.Var(name, tvm_api.type_of(variable))
            params.append(param)
            values[identity_of(variable)] = param
            entering.add(identity_of(variable))
        results: dict[str, Expr] = {}
        builder = relax.BlockBuilder()
        replace = _replacing(values)
        is_pure = bool(self.main.is_pure)
        blocks = sequence(self.main.body).blocks
        flows = bool(blocks) and all(isinstance(each, relax.DataflowBlock) for each in blocks)

        def emit_all() -> Expr:
            for name, binding in self.made.items():
                if name not in kept:
                    continue
                key = identity_of(binding.var)
                value = replace.visit_expr(binding.value)
                if isinstance(binding, relax.MatchCast):
                    variable = builder.match_cast(value, type_of_cast(binding))
                else:
                    variable = builder.emit(value, name if key not in entering else f"{name}_own")
                if key not in entering:
                    values[key] = variable
                results[name] = variable
            return relax.Tuple([results[name] for name in outputs])

        attributes = {
            key: value for key, value in (self.main.attrs or {}).items() if str(key) in _KEPT
        }
        with builder.function("main", params, attrs=attributes or None, pure=is_pure):
            if flows:
                with builder.dataflow():
                    result = builder.emit_output(emit_all())
            else:
                result = builder.emit(emit_all())
            builder.emit_func_output(result)
        return Part(self.within(builder.get()["main"]), (*parameters, *inputs), outputs)

    def within(self, main: Expr) -> Module:
        """The module with another ``main``, without functions that it does not reach."""
        module = self.module.clone()
        module.update_func(module.get_global_var("main"), main)
        if len(module.functions) == 1:
            return module
        return relax.transform.DeadCodeElimination(["main"])(module)

    def whole(self, every: tuple[str, ...]) -> Module:
        """The module with its variables renamed to ``names``, and the result that it had."""
        body = sequence(self.main.body)
        values: dict[Any, Expr] = {}
        params = []
        for variable in self.main.params:
            renamed = relax.Var(self.name(variable), tvm_api.type_of(variable))
            values[identity_of(variable)] = renamed
            params.append(renamed)
        replace = _replacing(values)
        blocks = []
        for block in body.blocks:
            new = []
            for binding in block.bindings:
                value = replace.visit_expr(binding.value)
                variable = type(binding.var)(self.name(binding.var), tvm_api.type_of(binding.var))
                values[identity_of(binding.var)] = variable
                if isinstance(binding, relax.MatchCast):
                    new.append(relax.MatchCast(variable, value, type_of_cast(binding)))
                else:
                    new.append(relax.VarBinding(variable, value))
            blocks.append(type(block)(new))
        result = replace.visit_expr(body.body)
        function = relax.Function(
            params,
            relax.SeqExpr(blocks, result),
            return_type(self.main),
            bool(self.main.is_pure),
        )
        if self.main.attrs:
            function = function.with_attrs(self.main.attrs)
        module = self.module.clone()
        module.update_func(module.get_global_var("main"), function)
        return relax.transform.Normalize()(module)


def _bare(types: Iterable[Any]) -> Iterator[Any]:
    """The symbols that are a dimension by themselves, which a parameter of the type defines."""
    for type_ in types:
        for _, _, dim in dims_within(type_):
            if tvm_api.is_variable(dim):
                yield dim


def _replacing(values: Mapping[Any, Expr]) -> Any:
    """A mutator that replaces variables by ``values``, which may grow."""

    @mutator
    class Replacing(PyExprMutator):  # type: ignore[misc]
        def visit_var_(self, variable: Any) -> Any:
            return values.get(identity_of(variable), variable)

        def visit_dataflow_var_(self, variable: Any) -> Any:
            return values.get(identity_of(variable), variable)

    return Replacing()

"""Adds masks to a program over one symbol, for the elements past the ends of padded tensors.

Where the rule of an operator (``padded/axes.py``) requires certain values there, a ``where`` sets
them. Its condition is an additional input: True up to the end that the axis has without padding.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tvm import relax, te
from tvm.relax.expr_functor import PyExprMutator, mutator

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.bucketing.padded.axes import refills
from relaxcheck.fixes.bucketing.padded.means import with_own_counts
from relaxcheck.fixes.bucketing.padding import End, Leak, Refill, dims_in, has_symbol, is_operator
from relaxcheck.fixes.proving import guards, prover
from relaxcheck.fixes.proving import needs as shape_needs
from relaxcheck.fixes.proving.checks import Check, undecided
from relaxcheck.fixes.tvm_api import Call, Expr, PrimExpr, as_int
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.fixes.tvm_api.functions import Binding, Function, Module
from relaxcheck.fixes.tvm_api.shapes import Type, dims_of, fields_of, name_of, substitute

NAME = "main"
"""The name of the function to pad."""


@dataclass(frozen=True, slots=True)
class Mask:
    """True where an axis of ``dim`` elements is valid; ``after`` axes follow it."""

    parameter: Expr
    dim: PrimExpr
    after: int


@dataclass(frozen=True, slots=True)
class MaskedProgram:
    """``main`` over ``symbol``, with ``masks`` as additional inputs.

    ``sizes`` are all dimensions with the symbol. ``source`` is where the symbol comes from: input,
    axis, and (a, b) such that the dimension is a*symbol + b. ``checks`` are requirements on the
    symbol.
    """

    module: Module
    symbol: PrimExpr
    inputs: tuple[Expr, ...]
    result: Type
    masks: tuple[Mask, ...]
    sizes: tuple[PrimExpr, ...]
    source: tuple[int, int, int, int]
    checks: tuple[Check, ...]

    def at(self, dim: PrimExpr, size: int) -> int:
        """The dimension ``dim`` with the symbol at ``size``."""
        number = as_int(substitute(dim, {self.symbol: tvm_api.integer(size)}))
        assert number is not None, f"{dim} has other symbols"
        return number

    def shape(self, type_: Type, size: int) -> tuple[int, ...]:
        """The shape of a tensor of type ``type_`` with the symbol at ``size``."""
        return tuple(self.at(dim, size) for dim in dims_of(type_) or [])

    def static(self, size: int) -> Module:
        """The module with ``size`` in place of the symbol."""
        function = self.module[NAME]
        # TVM substitutes only symbols that are a plain dimension of an input.
        alone = relax.Var("alone", tvm_api.tensor_type([self.symbol], "bool"))
        module = _with_parameters(self.module, function, [*function.params, alone])
        module = relax.transform.BindSymbolicVars({name_of(self.symbol): size}, NAME)(module)
        return _with_parameters(module, module[NAME], module[NAME].params[:-1])

    def check(self, size: int) -> None:
        """Raise ValueError if a need of an operator is not met with the symbol at ``size``."""
        values = {self.symbol: tvm_api.integer(size)}
        for check in self.checks:
            if not prover.proves(substitute(check.condition, values)):
                got = [self.at(value, size) for value in check.values]
                raise ValueError(check.message.format(*got))


@mutator
class _Masking(PyExprMutator):  # type: ignore[misc]
    """Sets the elements past the ends of arguments, where operators' rules require it."""

    def __init__(self, module: Module, function: Function, symbol: PrimExpr) -> None:
        super().__init__(module)
        self.symbol = symbol
        self.inputs = list(function.params)
        self.masks: list[Mask] = []

    def visit_call_(self, call: Call) -> Expr:
        new = self.visit_expr_post_order(call)
        if not is_operator(call):
            return new
        needed = refills(call, self.symbol)
        operands = list(new.args)
        for refill in needed:
            number = refill.argument
            operands[number] = self._refilled(operands[number], call.args[number], refill)
        return relax.Call(new.op, operands, new.attrs, tvm_api_functions.type_arguments(new))

    def _refilled(self, operand: Expr, before: Expr, refill: Refill) -> Expr:
        """``operand``, which stands for ``before``, with the value of ``refill`` past its end."""
        # Inputs are padded with zeros.
        if refill.value == 0 and any(before.same_as(parameter) for parameter in self.inputs):
            return operand
        type_ = tvm_api.type_of(before)
        dims, dtype = dims_of(type_) or [], tvm_api.dtype_of(type_)
        mask = self._mask(dims[refill.axis], len(dims) - refill.axis - 1)
        value = relax.const(_number(refill.value, dtype), dtype)
        return self.builder_.emit(relax.op.where(mask.parameter, operand, value))

    def _mask(self, dim: PrimExpr, after: int) -> Mask:
        for mask in self.masks:
            if mask.after == after and prover.equal(mask.dim, dim):
                return mask
        shape = [dim, *(1,) * after]
        parameter = relax.Var(f"valid_{len(self.masks)}", tvm_api.tensor_type(shape, "bool"))
        self.masks.append(Mask(parameter, dim, after))
        return self.masks[-1]


def _number(value: float | End, dtype: str) -> float:
    """``value`` as a number of ``dtype``."""
    if not isinstance(value, End):
        return value
    if value is not End.LEAST_FINITE and "float" in dtype:
        return -math.inf if value is End.LEAST else math.inf
    ends = te.max_value if value is End.GREATEST else te.min_value
    number: float = ends(dtype).value
    return number


def masked_program(module: Module, name: str) -> MaskedProgram:
    """``main`` of ``module`` over the symbol ``name``, with masks where needed.

    Raises:
        ValueError: as for ``bucketed``.
    """
    module = relax.transform.Normalize()(module)
    function = module[NAME]
    symbol = _symbol(function, name)
    source = _source(function, symbol)
    bindings = [binding for block in _sequence(function).blocks for binding in block.bindings]
    try:
        module = with_own_counts(module, NAME, symbol)
        written = module[NAME]
        _admit(
            [binding for block in _sequence(written).blocks for binding in block.bindings],
            symbol,
        )
        masking = _Masking(module, written, symbol)
        new = masking.visit_expr(written)
    except Leak as leak:
        raise ValueError(f"{NAME}: {leak}") from None
    parameters = [*new.params, *(mask.parameter for mask in masking.masks)]
    module = _with_parameters(masking.builder_.get(), new, parameters)
    types = [
        tvm_api.type_of(variable) for variable in (*function.params, *(b.var for b in bindings))
    ]
    sizes: dict[str, PrimExpr] = {}
    for type_ in types:
        for _, _, dim in tvm_api_shapes.dims_within(type_):
            if has_symbol(dim, symbol):
                sizes.setdefault(str(dim), dim)
    return MaskedProgram(
        module,
        symbol,
        tuple(function.params),
        _result(function),
        tuple(masking.masks),
        tuple(sizes.values()),
        source,
        tuple(_checks(function, bindings)),
    )


def _with_parameters(module: Module, function: Function, parameters: Iterable[Expr]) -> Module:
    """``module`` with ``function``, given other ``parameters``, as its ``main``."""
    new = relax.Function(list(parameters), function.body, None, bool(function.is_pure))
    module = module.clone()
    variable = module.get_global_var(NAME)
    module.update_func(variable, new.with_attrs(function.attrs) if function.attrs else new)
    return module


def _sequence(function: Function) -> Any:
    return tvm_api_functions.sequence(function.body)


def _symbol(function: Function, name: str) -> PrimExpr:
    """The symbol ``name`` of the inputs, which must be the only one."""
    symbols: list[PrimExpr] = []
    for parameter in function.params:
        type_ = tvm_api.type_of(parameter)
        if not tvm_api_shapes.is_tensor_type(type_) or dims_of(type_) is None:
            requirement = f"input {name_of(parameter)!r} must be a tensor of known shape"
            raise ValueError(f"{NAME}: {requirement}, is {type_}")
        for symbol in tvm_api_shapes.symbols_of(type_):
            if not any(symbol.same_as(other) for other in symbols):
                symbols.append(symbol)
    names = ", ".join(map(name_of, symbols)) or "none"
    if len(symbols) != 1 or name_of(symbols[0]) != name:
        raise ValueError(f"{NAME}: {name} must be the only symbol of the inputs, got {names}")
    return symbols[0]


def _source(function: Function, symbol: PrimExpr) -> tuple[int, int, int, int]:
    """The dimension that determines ``symbol``: input, axis, factor, offset."""
    sources = []
    for number, parameter in enumerate(function.params):
        for axis, dim in enumerate(dims_of(tvm_api.type_of(parameter)) or []):
            form = tvm_api_shapes.linear(dim, symbol) if has_symbol(dim, symbol) else None
            factor, offset = map(as_int, form or (tvm_api.integer(0),) * 2)
            if factor and offset is not None:
                sources.append((abs(factor) != 1, number, axis, factor, offset))
    if not sources:
        raise ValueError(f"{NAME}: no dimension of the inputs tells {name_of(symbol)}")
    return min(sources)[1:]


def _admit(bindings: Iterable[Binding], symbol: PrimExpr) -> None:
    """Raise ``Leak`` for bindings that may read past the end of a padded tensor."""
    for binding in bindings:
        value = binding.value
        if isinstance(binding, relax.MatchCast):
            name = "match_cast"
        elif isinstance(value, relax.If | relax.Function):
            raise Leak("there is no rule for functions and branches within the function")
        elif isinstance(value, relax.Call) and not is_operator(value):
            name = f"the call of {getattr(value.op, 'name_hint', value.op)}"
            if not any(has_symbol(dim, symbol) for arg in value.args for dim in dims_in(arg)):
                continue
        else:
            # Ask in advance: an error while the call is rewritten would leave unrelated warnings.
            if is_operator(value):
                refills(value, symbol)
            continue
        raise Leak(f"{name}: there is no rule that tells how to pad it")


def _checks(function: Function, bindings: Iterable[Binding]) -> list[Check]:
    """The operators' requirements on the symbol."""
    symbols = guards.inputs_symbols(function)
    checks = []
    for binding in bindings:
        call = binding.value
        if is_operator(call):
            subject = f"{NAME}: {str(call.op.name).removeprefix('relax.')}"
            checks += [guards.check_of(need, subject, symbols) for need in shape_needs.of(call)]
    return undecided(checks)


def _result(function: Function) -> Type:
    """The result type of the function: tensors of known shape, or tuples of these."""
    type_ = tvm_api.type_of(_sequence(function).body)

    def known(kind: Type) -> bool:
        fields = fields_of(kind)
        if fields:
            return all(map(known, fields))
        return tvm_api_shapes.is_tensor_type(kind) and dims_of(kind) is not None

    if not known(type_):
        raise ValueError(f"{NAME}: the outputs must be tensors of known shape, are {type_}")
    return type_

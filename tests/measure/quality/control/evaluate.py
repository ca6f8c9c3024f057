"""The control: an implementation right by construction, which takes TVM's place.

It derives what the operators mean (see ``oracles/MEANINGS.md``) on its own, in NumPy, in the case's
own dtypes: results are gathered by index arithmetic, sums are taken in a drawn order. It shares
nothing with the oracles. Where a correct implementation has a choice, the case's seed chooses: the
order of each sum, the formula of a function, the dtype that intermediate results are kept in, and
what a mixed-precision pipeline keeps in float16. Gradients alone are PyTorch's (``gradients``).
"""

import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from relaxcheck.generators.core.program import GRADIENT, Case, Node, Program
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.core.values import constants, numpy_dtype
from relaxcheck.harness.compiling.pipelines import is_mixed
from tests.measure.quality.control import gradients, operators, overwriting
from tests.measure.quality.control.operator import (
    OPERATORS,
    Operator,
    Refused,
    Type,
    UnknownShape,
)
from tests.measure.quality.control.summation import Freedom

for _module in pkgutil.walk_packages(operators.__path__, f"{operators.__name__}."):
    import_module(_module.name)

Array = np.ndarray[Any, Any]

_VALUES = 16
"""Integer vectors of so many elements at most may be a shape."""


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor at run time: its type's dtype, and its value, which mixed precision may narrow."""

    array: Array
    dtype: str
    constant: bool = False

    @property
    def half(self) -> bool:
        """True if it is kept in float16 though the program says float32."""
        return self.dtype == "float32" and self.array.dtype == np.float16

    @property
    def type(self) -> Type:
        """Its type, with the values of what may be a shape."""
        vector = self.array.ndim == 1 and self.array.dtype.kind in "iu"
        known = vector and self.array.size <= _VALUES
        values = tuple(self.array.tolist()) if known else None
        return Type(self.array.shape, self.dtype, values)


def check(case: Case) -> None:
    """Infer the type of every node at every binding, as far as it follows from the inputs' types.

    Raises:
        Refused: a node is not allowed by its operator's definition, which the message names.
        NotImplementedError: the control lacks an operator.
    """
    for node in case.program.nodes:
        overwriting.check(node)
    for binding in case.bindings:
        program = static(case.program, binding)
        types = {
            tensor.name: Type(case.shape(tensor.name, binding), tensor.dtype)
            for tensor in program.inputs
        }
        for node in program.nodes:
            if node.operator != GRADIENT and all(name in types for name in node.arguments):
                try:
                    types[node.name] = _operator(node).infer(
                        node, [types[name] for name in node.arguments]
                    )
                except UnknownShape:
                    continue


def evaluate(case: Case, arguments: Sequence[Any]) -> tuple[Array, ...]:
    """The outputs of ``case`` for the arguments of its main function, in their order.

    Raises:
        Refused: an argument has a shape that the program does not state.
    """
    freedom = Freedom(case.seed)
    mixed = is_mixed(case)
    binding = _bound(case, arguments)
    fixed, variable = constants(case), _tensors(case, arguments)
    program = static(case.program, binding)
    held = {
        tensor.name: Held(
            fixed[tensor.name] if tensor.constant else next(variable), tensor.dtype, tensor.constant
        )
        for tensor in program.inputs
    }
    if gradients.made(program):
        arrays = {name: each.array for name, each in held.items()}
        return gradients.differentiated(program, arrays, freedom)
    _run(program, held, mixed, freedom)
    outputs = (held[name] for name in program.outputs)
    with np.errstate(all="ignore"):
        return tuple(each.array.astype(numpy_dtype(each.dtype)) for each in outputs)


def _tensors(case: Case, arguments: Sequence[Any]) -> Iterator[Array]:
    """The arguments that are tensors: the sizes of symbols, where they are told, go before."""
    return iter(arguments[len(case.program.size_arguments(case.bindings[0])) :])


def _bound(case: Case, arguments: Sequence[Any]) -> Mapping[str, int]:
    """The binding of ``case`` that the shapes of its arguments agree with.

    Raises:
        Refused: there is none; the message names a parameter and its dimension.
    """
    run_time = [tensor.name for tensor in case.program.inputs if not tensor.constant]
    shapes = dict(zip(run_time, (each.shape for each in _tensors(case, arguments)), strict=True))
    wrong = ""
    for binding in case.bindings:
        differing = [name for name in run_time if shapes[name] != case.shape(name, binding)]
        sizes = case.program.size_arguments(binding)
        if not differing and tuple(arguments[: len(sizes)]) == sizes:
            return binding
        for name in differing:
            stated = case.shape(name, binding)
            for axis, (size, wanted) in enumerate(zip(shapes[name], stated, strict=True)):
                if size != wanted:
                    where = f"{name}: shape[{axis}], dimension {axis}"
                    wrong = wrong or f"{where}, is {size} and has to be {wanted}"
    raise Refused(wrong or "no binding has these sizes")


def _run(program: Program, held: dict[str, Held], mixed: bool, freedom: Freedom) -> None:
    """Compute every node of ``program``, adding it to ``held``."""
    for node in program.nodes:
        held[node.name] = _apply(node, [held[name] for name in node.arguments], mixed, freedom)


def _apply(node: Node, operands: Sequence[Held], mixed: bool, freedom: Freedom) -> Held:
    operator = _operator(node)
    try:
        result = operator.infer(node, [each.type for each in operands])
    except UnknownShape:
        # The data decide, and mixed precision leaves them.
        value = operator.compute(node, [each.array for each in operands], freedom)
        return Held(value, value.dtype.name)
    mixed = mixed and any(each.dtype == "float32" for each in operands)
    may_narrow = mixed and (
        operator.narrows or all(each.half or each.constant for each in operands)
    )
    narrow = may_narrow and (operator.narrows or freedom.choice(("half", "single")) == "half")
    own = operands[0].dtype if operands else result.dtype
    dtype = "float16" if narrow and not operator.accumulates else own
    if operator.accumulates:
        dtype = result.dtype
    arrays = []
    with np.errstate(all="ignore"):
        for each in operands:
            array = each.array
            if narrow and each.dtype == "float32":
                array = array.astype(np.float16)
            arrays.append(array.astype(numpy_dtype(dtype)) if each.dtype == own else array)
        value = operator.compute(node, arrays, freedom)
        if narrow and result.dtype == "float32" and freedom.choice(("half", "single")) == "half":
            value = value.astype(np.float16)
    if value.shape != result.shape and not result.most:
        raise AssertionError(f"{node.operator} gives shape {value.shape}, not {result.shape}")
    return Held(value, result.dtype)


def _operator(node: Node) -> Operator:
    if node.operator not in OPERATORS:
        raise NotImplementedError(f"the control lacks the operator {node.operator}")
    return OPERATORS[node.operator]

"""Compiles a program over one symbol as static programs, one for each of a few sizes.

``bucketed(module, "m", [64, 128, 256])`` compiles ``main`` with m = 64, 128 and 256. A call with
inputs of size n runs the smallest program that is large enough: it pads inputs with zeros at the
end of axes with the symbol, and cuts outputs to their dimensions at n.

Padding alone is not enough. A convolution that pads its end expects zeros past it, but after the
first bias or convolution the values past the end of padded inputs are no longer zero, and no margin
of further zeros helps. So where an operator reads past the end (by its receptive field), a mask
sets these elements to the values that it expects. Where no such values make the result right,
``bucketed`` refuses (``padded/axes.py``).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import tvm
from numpy.typing import NDArray
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.bucketing.masked_program import NAME, MaskedProgram, masked_program
from relaxcheck.fixes.proving.checks import place
from relaxcheck.fixes.tvm_api import show
from relaxcheck.fixes.tvm_api.functions import Module
from relaxcheck.fixes.tvm_api.shapes import Type, dims_of, fields_of, name_of


@dataclass(frozen=True, slots=True)
class _Plan:
    """The sizes with which the program for ``size`` computes inputs at a value of the symbol.

    ``shapes`` and ``padded`` are the inputs' shapes; ``masks`` hold for each mask the number of
    valid elements, of all elements, and of the axes behind; ``cut`` are the outputs' shapes.
    """

    size: int
    shapes: tuple[tuple[int, ...], ...]
    padded: tuple[tuple[int, ...], ...]
    masks: tuple[tuple[int, int, int], ...]
    cut: Any


@dataclass(frozen=True, eq=False)
class Bucketed:
    """``main`` of a program over one symbol, compiled for ``sizes`` of it, in ascending order.

    A call takes the arguments of ``main``, as TVM tensors or NumPy arrays, and returns its results
    as TVM tensors; a tuple for a tuple.

    Raises (when called):
        ValueError: the inputs do not go together, exceed the largest size, or make the program
            invalid. The message names input, dimension and values.
    """

    sizes: tuple[int, ...]
    executables: tuple[Any, ...]
    _program: MaskedProgram = field(repr=False)
    _machines: tuple[Any, ...] = field(repr=False)
    _plans: dict[int, _Plan] = field(default_factory=dict, repr=False)

    def __call__(self, *inputs: Any) -> Any:
        """The results of ``main`` for ``inputs``; raises as described at the class."""
        plan = self._plan_for(inputs)
        arguments = [
            _padded(value, shape) for value, shape in zip(inputs, plan.padded, strict=True)
        ]
        for valid, length, after in plan.masks:
            mask = (np.arange(length) < valid).reshape(-1, *(1,) * after)
            arguments.append(tvm.runtime.tensor(mask))
        machine = self._machines[self.sizes.index(plan.size)]
        return _cut(machine[NAME](*arguments), plan.cut)

    def size_for(self, size: int) -> int:
        """The smallest of ``sizes`` that is at least ``size``.

        Raises:
            ValueError: there is none.
        """
        for bucket in self.sizes:
            if bucket >= size:
                return bucket
        symbol = name_of(self._program.symbol)
        raise ValueError(f"{NAME}: {symbol} = {size} is above the largest size, {self.sizes[-1]}")

    def _plan_for(self, inputs: Sequence[Any]) -> _Plan:
        program = self._program
        if len(inputs) != len(program.inputs):
            count = len(program.inputs)
            raise ValueError(f"{NAME}: there must be {count} inputs, got {len(inputs)}")
        for value, parameter in zip(inputs, program.inputs, strict=True):
            rank = len(dims_of(tvm_api.type_of(parameter)) or [])
            if len(value.shape) != rank:
                requirement = f"input {name_of(parameter)!r} must have {rank} dimensions"
                raise ValueError(f"{NAME}: {requirement}, got {len(value.shape)}")
        size = self._symbol_of(inputs)
        if size not in self._plans:
            self._plans[size] = _plan(program, size, self.size_for(size))
        plan = self._plans[size]
        for value, shape, parameter in zip(inputs, plan.shapes, program.inputs, strict=True):
            for axis, (actual, wanted) in enumerate(zip(value.shape, shape, strict=True)):
                if int(actual) != wanted:
                    where = place((), axis, parameter)
                    raise ValueError(f"{NAME}: {where} must be {wanted}, got {actual}")
        return plan

    def _symbol_of(self, inputs: Sequence[Any]) -> int:
        """The value of the symbol."""
        number, axis, factor, offset = self._program.source
        extent = int(inputs[number].shape[axis])
        size, rest = divmod(extent - offset, factor)
        if rest or size < 0:
            parameter, symbol = self._program.inputs[number], name_of(self._program.symbol)
            dim = show((dims_of(tvm_api.type_of(parameter)) or [])[axis])
            wanted = f"{place((), axis, parameter)} must be {dim} for an integer {symbol} >= 0"
            raise ValueError(f"{NAME}: {wanted}, got {extent}")
        return size


def bucketed(
    module: Module,
    symbol: Any,
    sizes: Iterable[int],
    target: Any = "llvm",
    pipeline: Any = "default",
) -> Bucketed:
    """Compile ``main`` of ``module`` once for each of ``sizes`` of ``symbol``.

    ``symbol``, a name or variable, is the only one in the inputs' shapes. ``pipeline`` is the
    ``relax_pipeline`` of ``relax.build``.

    Raises:
        ValueError: padding would change the result of an operator, or there is no rule for the
            operator (the message names it and the axis); there are other symbols, inputs that are
            not tensors, or none that determines the symbol; or the program is invalid at one of
            ``sizes``.
    """
    chosen = tuple(sorted({int(size) for size in sizes}))
    if not chosen or chosen[0] < 1:
        raise ValueError(f"there must be sizes, of 1 or more each, got {list(chosen)}")
    program = masked_program(module, symbol if isinstance(symbol, str) else name_of(symbol))
    for size in chosen:
        try:
            program.check(size)
        except ValueError as error:
            raise ValueError(f"{error}, for the size {size}") from None
    target = target if isinstance(target, tvm.target.Target) else tvm.target.Target(target)
    executables = [
        relax.build(program.static(size), target, relax_pipeline=pipeline) for size in chosen
    ]
    machines = tuple(relax.VirtualMachine(executable, tvm.cpu()) for executable in executables)
    return Bucketed(chosen, tuple(executables), program, machines)


def _plan(program: MaskedProgram, wanted: int, size: int) -> _Plan:
    """The plan to compute ``main`` with the symbol at ``wanted`` by the program for ``size``.

    Raises:
        ValueError: the program is invalid there, or a dimension does not grow with the symbol.
    """
    program.check(wanted)
    for dim in program.sizes:
        small, large = program.at(dim, wanted), program.at(dim, size)
        if not 0 <= small <= large:
            symbol = name_of(program.symbol)
            raise ValueError(
                f"{NAME}: the dimension {show(dim)} is {small} for {symbol} = {wanted}, and"
                f" {large} for the size {size}: it must not be negative, nor become smaller"
            )
    types = [tvm_api.type_of(parameter) for parameter in program.inputs]

    def cut(type_: Type) -> Any:
        fields = fields_of(type_)
        return tuple(map(cut, fields)) if fields else list(program.shape(type_, wanted))

    return _Plan(
        size,
        tuple(program.shape(type_, wanted) for type_ in types),
        tuple(program.shape(type_, size) for type_ in types),
        tuple((program.at(m.dim, wanted), program.at(m.dim, size), m.after) for m in program.masks),
        cut(program.result),
    )


def _padded(value: Any, shape: tuple[int, ...]) -> Any:
    """``value`` as a tensor of ``shape``, with zeros past its end."""
    fits = tuple(map(int, value.shape)) == shape
    if fits and not isinstance(value, np.ndarray):
        return value
    array: NDArray[Any] = value if isinstance(value, np.ndarray) else value.numpy()
    if fits:
        return _tensor(array)
    padded = np.zeros(shape, array.dtype)
    padded[tuple(map(slice, array.shape))] = array
    return _tensor(padded)


def _cut(value: Any, shape: Any) -> Any:
    """``value`` cut to ``shape``, a list; fields of a tuple each to its own."""
    if isinstance(shape, tuple):
        return tuple(_cut(piece, wanted) for piece, wanted in zip(value, shape, strict=True))
    if [int(dim) for dim in value.shape] == shape:
        return value
    return _tensor(value.numpy()[tuple(map(slice, shape))])


def _tensor(array: NDArray[Any]) -> Any:
    """A TVM tensor, which requires contiguous arrays."""
    return tvm.runtime.tensor(np.ascontiguousarray(array).reshape(array.shape))

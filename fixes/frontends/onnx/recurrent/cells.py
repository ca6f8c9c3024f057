"""One step of LSTM, GRU and RNN, in TIR.

The step at time t (ONNX's specification), with x the projection of the input and h, c the state. W
are the weights of the input, R those of the state, Wb and Rb their biases, P the peepholes; f, g
and h are the activation functions, and * is elementwise::

    RNN   h = f(x + h R + Wb + Rb)
    GRU   z, r = f(x + h R + Wb + Rb)
          n = g(x + (r * h) R + Wb + Rb), or g(x + r * (h R + Rb) + Wb) with linear_before_reset
          h = (1 - z) * n + z * h
    LSTM  i, f = f(x + h R + P * c + Wb + Rb), u = g(x + h R + Wb + Rb)
          c = f * c + i * u
          o = f(x + h R + P * c + Wb + Rb)
          h = o * h(c)
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import tirx

from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.recurrent.activations import Activation, clipped
from relaxcheck.fixes.tvm_api import PrimExpr, dtype_of, integer

UPSTREAM = NewFile("relax/frontend/onnx/recurrent_cells.py")

Statement = Any
Buffer = Any

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
"""The number of gates with weights, by operator: i, o, f, c of LSTM; z, r, h of GRU."""


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The computation of a node.

    ``activations`` and ``reverse`` have an element for each direction. ``batch_first`` is the
    attribute layout. Attributes that the operator does not have are False or None.
    """

    operator: str
    hidden: int
    activations: tuple[tuple[Activation, ...], ...]
    reverse: tuple[bool, ...]
    batch_first: bool = False
    clip: float | None = None
    input_forget: bool = False
    linear_before_reset: bool = False

    @property
    def gates(self) -> int:
        """The number of gates with weights."""
        return GATES[self.operator]

    def at(self, time: Any, direction: Any, batch: Any) -> list[Any]:
        """The leading indices of the output at ``time``."""
        return [batch, time, direction] if self.batch_first else [time, direction, batch]

    def state_at(self, direction: Any, batch: Any) -> list[Any]:
        """The leading indices of a state."""
        return [batch, direction] if self.batch_first else [direction, batch]


@dataclass(frozen=True, slots=True)
class Step:
    """A step of one direction of one sequence.

    ``tensors`` holds the tensors by ONNX name, and ``projected``, the product of X and W; the last
    two axes of ``R`` are swapped. ``gates`` and ``reset`` in ``outputs`` are scratch memory.
    """

    recurrence: Recurrence
    tensors: Mapping[str, Buffer]
    outputs: Mapping[str, Buffer]
    direction: int
    batch: PrimExpr

    @property
    def number(self) -> PrimExpr:
        """The direction as an index."""
        return integer(self.direction)

    def state(self, name: str, unit: PrimExpr) -> PrimExpr:
        """The element ``unit`` of the current state."""
        return self.outputs[name][(*self.recurrence.state_at(self.number, self.batch), unit)]

    def set_state(self, name: str, unit: PrimExpr, value: PrimExpr) -> Statement:
        """Store ``value`` into the element ``unit`` of a state."""
        return store(
            self.outputs[name], value, [*self.recurrence.state_at(self.number, self.batch), unit]
        )

    def gate(self, number: int, unit: PrimExpr) -> PrimExpr:
        """The scratch value of a gate."""
        return self.outputs["gates"][self.row(number, unit)]

    def set_gate(self, number: int, unit: PrimExpr, value: PrimExpr) -> Statement:
        """Store ``value`` as the scratch value of a gate."""
        return store(self.outputs["gates"], value, [self.row(number, unit)])

    def row(self, gate: int, unit: PrimExpr) -> PrimExpr:
        """The row of ``gate`` in the weights."""
        return unit + integer(gate * self.recurrence.hidden)

    def bias(self, row: PrimExpr, *, recurrent: bool) -> PrimExpr | None:
        """The bias of a row of W, or of R; None without biases."""
        if "B" not in self.tensors:
            return None
        first = self.recurrence.gates * self.recurrence.hidden if recurrent else 0
        return self.tensors["B"][self.number, row + integer(first)]

    def projected(self, time: PrimExpr, row: PrimExpr) -> PrimExpr:
        """A row of the product of the input at ``time`` and W."""
        axes = [self.batch, time] if self.recurrence.batch_first else [time, self.batch]
        first = self.direction * self.recurrence.gates * self.recurrence.hidden
        return self.tensors["projected"][(*axes, row + integer(first))]

    def active(self, which: int, x: PrimExpr) -> PrimExpr:
        """The activation function number ``which`` at the clipped ``x``."""
        return self.recurrence.activations[self.direction][which](clipped(x, self.recurrence.clip))

    def each_unit(self, body: Callable[[PrimExpr], Statement]) -> Statement:
        """A loop of ``body`` over the hidden units."""
        return loop("i", integer(self.recurrence.hidden), body)

    def add_products(
        self,
        target: Buffer,
        vector: Callable[[PrimExpr], PrimExpr],
        gates: range,
        first: int = 0,
    ) -> Statement:
        """Add the product of ``vector`` and the rows of R of ``gates`` to ``target``.

        ``target`` starts with gate ``first``. The inner loop runs over adjacent memory.
        """
        hidden = self.recurrence.hidden
        start = integer(hidden * gates.start)

        def add(k: PrimExpr, j: PrimExpr) -> Statement:
            place = j + integer(hidden * (gates.start - first))
            product = self.tensors["R"][self.number, k, j + start] * vector(k)
            return store(target, target[place] + product, [place])

        return self.each_unit(
            lambda k: loop("j", integer(hidden * len(gates)), lambda j: add(k, j))
        )

    def add_states(self, gates: range) -> Statement:
        """Add the products of the state and the rows of R of ``gates`` to these gates."""
        return self.add_products(self.outputs["gates"], lambda unit: self.state("Y_h", unit), gates)


def zero(buffer: Buffer) -> PrimExpr:
    """0 in the dtype of ``buffer``."""
    return tirx.FloatImm(dtype_of(buffer), 0)


def store(buffer: Buffer, value: PrimExpr, place: Sequence[PrimExpr]) -> Statement:
    """Store ``value`` at ``place`` of ``buffer``."""
    return tirx.BufferStore(buffer, value, list(place))


def loop(
    name: str,
    extent: PrimExpr,
    body: Callable[[PrimExpr], Statement],
    start: PrimExpr | None = None,
) -> Statement:
    """A loop of ``extent`` iterations from ``start``, by default 0."""
    variable = tirx.Var(name, "int64")
    first = integer(0) if start is None else start
    return tirx.For(variable, first, extent, tirx.ForKind.SERIAL, body(variable))


def _sum(*terms: PrimExpr | None) -> PrimExpr:
    """The sum of the terms that are present."""
    first, *rest = (term for term in terms if term is not None)
    for term in rest:
        first = first + term
    return first


def _start(step: Step, time: PrimExpr, gates: range, *, recurrent: bool = True) -> Statement:
    """Store the projections of the input, with biases, into ``gates``."""
    hidden = step.recurrence.hidden
    start = integer(gates.start * hidden)

    def set_row(j: PrimExpr) -> Statement:
        row = j + start
        of_state = step.bias(row, recurrent=True) if recurrent else None
        value = _sum(step.projected(time, row), step.bias(row, recurrent=False), of_state)
        return store(step.outputs["gates"], value, [row])

    return loop("j", integer(len(gates) * hidden), set_row)


def _rnn(step: Step, time: PrimExpr) -> list[Statement]:
    return [
        _start(step, time, range(1)),
        step.add_states(range(1)),
        step.each_unit(lambda i: step.set_state("Y_h", i, step.active(0, step.gate(0, i)))),
    ]


def _gru(step: Step, time: PrimExpr) -> list[Statement]:
    linear, update, reset, new = step.recurrence.linear_before_reset, 0, 1, 2
    kept = step.outputs["reset"]

    def reset_of(i: PrimExpr) -> PrimExpr:
        return step.active(0, step.gate(reset, i))

    def reset_state(i: PrimExpr) -> Statement:
        return store(kept, reset_of(i) * step.state("Y_h", i), [i])

    def state_bias(i: PrimExpr) -> Statement:
        bias = step.bias(step.row(new, i), recurrent=True)
        return store(kept, zero(kept) if bias is None else bias, [i])

    def finish(i: PrimExpr) -> Statement:
        candidate = step.gate(new, i)
        if linear:
            candidate = candidate + reset_of(i) * kept[i]
        z, unit = step.gate(update, i), tirx.FloatImm(dtype_of(candidate), 1)
        state = (unit - z) * step.active(1, candidate) + z * step.state("Y_h", i)
        return tirx.SeqStmt(
            [
                step.set_gate(update, i, step.active(0, z)),
                step.set_state("Y_h", i, state),
            ]
        )

    both = range(update, new)
    last = range(new, new + 1)
    if linear:
        product = [
            step.each_unit(state_bias),
            step.add_products(kept, lambda k: step.state("Y_h", k), last, first=new),
        ]
    else:
        product = [
            step.each_unit(reset_state),
            step.add_products(step.outputs["gates"], lambda k: kept[k], last),
        ]
    return [
        _start(step, time, both),
        _start(step, time, last, recurrent=not linear),
        step.add_states(both),
        *product,
        step.each_unit(finish),
    ]


def _lstm(step: Step, time: PrimExpr) -> list[Statement]:
    # P has its rows in the order of the gates, without c.
    entry, output, forget, cell = range(4)

    def peeping(gate: int, i: PrimExpr) -> PrimExpr:
        if "P" not in step.tensors:
            return step.gate(gate, i)
        return step.gate(gate, i) + step.tensors["P"][step.number, step.row(gate, i)] * step.state(
            "Y_c", i
        )

    def finish(i: PrimExpr) -> Statement:
        taken, unit = step.gate(entry, i), tirx.FloatImm(dtype_of(step.gate(entry, i)), 1)
        kept = unit - taken if step.recurrence.input_forget else step.active(0, peeping(forget, i))
        state = kept * step.state("Y_c", i) + taken * step.active(1, step.gate(cell, i))
        # Not clipped: clipping applies to the input of the gates' functions.
        shown = step.recurrence.activations[step.direction][2](step.state("Y_c", i))
        return tirx.SeqStmt(
            [
                step.set_gate(entry, i, step.active(0, peeping(entry, i))),
                step.set_state("Y_c", i, state),
                step.set_state("Y_h", i, step.active(0, peeping(output, i)) * shown),
            ]
        )

    return [
        _start(step, time, range(4)),
        step.add_states(range(4)),
        step.each_unit(finish),
    ]


STEPS: dict[str, Callable[[Step, PrimExpr], list[Statement]]] = {
    "LSTM": _lstm,
    "GRU": _gru,
    "RNN": _rnn,
}
"""The statements of a step at a given time, by operator."""

"""LSTM, GRU and RNN in float64 and wider, with a bound of float32's error.

The bound comes from running error analysis, by the rules of ``oracles.reference.bounds``: the sum
of products of each step may be added up in any order in the dtype; an activation function is at
most two functions of the C library (4 unit roundoffs each, ``bounds.LIBM``) with 4 more absolutely
for cancellation; every other operation is rounded once; and the error of the state enters the next
step. Nothing in it was fitted to TVM's results.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.reference import bounds
from relaxcheck.oracles.reference.estimate import Estimate, exact, finished

Array = NDArray[Any]
Function = Callable[[Array], Array]

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def _elu(alpha: float) -> Function:
    return lambda x: np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0)))


FUNCTIONS: dict[str, Callable[..., Function]] = {
    "Affine": lambda alpha, beta: lambda x: alpha * x + beta,
    "Elu": lambda alpha=1.0: _elu(alpha),
    "HardSigmoid": lambda alpha=0.2, beta=0.5: lambda x: np.clip(alpha * x + beta, 0, 1),
    "LeakyRelu": lambda alpha=0.01: lambda x: np.where(x >= 0, x, alpha * x),
    "Relu": lambda: lambda x: np.maximum(x, 0),
    "ScaledTanh": lambda alpha, beta: lambda x: alpha * np.tanh(beta * x),
    "Sigmoid": lambda: lambda x: 1 / (1 + np.exp(-x)),
    "Softplus": lambda: lambda x: np.logaddexp(0, x),
    "Softsign": lambda: lambda x: x / (1 + np.abs(x)),
    "Tanh": lambda: np.tanh,
    "ThresholdedRelu": lambda alpha=1.0: lambda x: np.where(x >= alpha, x, 0),
}
"""By ONNX name, functions of alpha and beta; all of them rise if alpha is positive."""

SIGMOID, TANH = FUNCTIONS["Sigmoid"](), FUNCTIONS["Tanh"]()
DEFAULTS = {"LSTM": (SIGMOID, TANH, TANH), "GRU": (SIGMOID, TANH), "RNN": (TANH,)}


@dataclass(frozen=True)
class Node:
    """An ONNX node; ``functions`` are those of one direction after the other."""

    operator: str
    arrays: Mapping[str, Array]
    direction: str = "forward"
    functions: tuple[Function, ...] = ()
    clip: float | None = None
    input_forget: bool = False
    linear_before_reset: bool = False
    dtype: str = "float32"

    def outputs(self) -> list[Bounded]:
        """Y, Y_h and, for LSTM, Y_c, in layout 0."""
        length, batch, _ = self.arrays["X"].shape
        hidden = self.arrays["R"].shape[2]
        reverse = {"forward": [False], "reverse": [True]}.get(self.direction, [False, True])
        lengths = self.arrays.get("sequence_lens", np.full(batch, length))
        shapes = [(length, len(reverse), batch, hidden), *[(len(reverse), batch, hidden)] * 2]
        values = [np.zeros(shape, np.longdouble) for shape in shapes]
        errors = [np.zeros(shape) for shape in shapes]
        for d, back in enumerate(reverse):
            for b, steps in enumerate(map(int, lengths)):
                order = range(steps - 1, -1, -1) if back else range(steps)
                state = self._initial("initial_h", d, b, hidden)
                cell = self._initial("initial_c", d, b, hidden)
                for t in order:
                    state, cell = self._step(d, self._exact(self.arrays["X"][t, b]), state, cell)
                    values[0][t, d, b], errors[0][t, d, b] = state.value, state.error
                if steps:
                    for at, last in ((1, state), (2, cell)):
                        values[at][d, b], errors[at][d, b] = last.value, last.error
        count = 3 if self.operator == "LSTM" else 2
        return [
            finished(Estimate(value, error, self.dtype))
            for value, error in zip(values[:count], errors[:count], strict=True)
        ]

    def _exact(self, array: Array) -> Estimate:
        return exact(array, self.dtype)

    def _initial(self, name: str, d: int, b: int, hidden: int) -> Estimate:
        return self._exact(self.arrays[name][d, b] if name in self.arrays else np.zeros(hidden))

    def _rows(self, name: str, d: int, gate: int, hidden: int) -> Array:
        """The rows of ``gate`` in W, R, Wb, Rb or P."""
        rows = slice(gate * hidden, (gate + 1) * hidden)
        if name in ("W", "R", "P"):
            return self.arrays[name][d, rows]
        if "B" not in self.arrays:
            return np.zeros(hidden)
        half = self.arrays["B"].shape[1] // 2
        return (
            self.arrays["B"][d, :half][rows] if name == "Wb" else self.arrays["B"][d, half:][rows]
        )

    def _sum(self, *terms: tuple[Array, Estimate]) -> Estimate:
        """The sum of the products of matrices, or of vectors elementwise, with vectors."""
        matrices = [np.diag(a) if a.ndim == 1 else a for a, _ in terms]
        vector = Estimate(
            np.concatenate([v.value for _, v in terms]),
            np.concatenate([v.error for _, v in terms]),
            self.dtype,
        )
        weights = self._exact(np.concatenate(matrices, axis=1))
        return bounds.sum_of_products(weights, vector, lambda w, v: w @ v, self.dtype)

    def _active(self, d: int, which: int, x: Estimate, *, clipped: bool = True) -> Estimate:
        functions = self.functions or DEFAULTS[self.operator] * 2
        function = functions[d * len(DEFAULTS[self.operator]) + which]

        def whole(value: Array) -> Array:
            limit = self.clip if clipped and self.clip is not None else np.inf
            return function(np.clip(value, -limit, limit))

        middle = whole(x.value)
        moved = np.maximum(whole(x.value + x.error) - middle, middle - whole(x.value - x.error))
        return bounds.computed(self.dtype, middle, moved.astype("f8"), 8, slack=4)

    def _times(self, a: Estimate, b: Estimate) -> Estimate:
        return bounds.multiplied(a, b, self.dtype)

    def _plus(self, a: Estimate, b: Estimate) -> Estimate:
        return bounds.added(a, b, self.dtype)

    def _step(
        self, d: int, x: Estimate, state: Estimate, cell: Estimate
    ) -> tuple[Estimate, Estimate]:
        hidden = state.value.size
        ones = self._exact(np.ones(hidden))

        def gate(number: int, *more: tuple[Array, Estimate], seen: Estimate = state) -> Estimate:
            return self._sum(
                (self._rows("W", d, number, hidden), x),
                (self._rows("R", d, number, hidden), seen),
                (self._rows("Wb", d, number, hidden), ones),
                (self._rows("Rb", d, number, hidden), ones),
                *more,
            )

        if self.operator == "RNN":
            return self._active(d, 0, gate(0)), cell
        if self.operator == "GRU":
            update, reset = (self._active(d, 0, gate(number)) for number in (0, 1))
            if self.linear_before_reset:
                of_state = self._sum(
                    (self._rows("R", d, 2, hidden), state), (self._rows("Rb", d, 2, hidden), ones)
                )
                new = self._sum(
                    (self._rows("W", d, 2, hidden), x),
                    (self._rows("Wb", d, 2, hidden), ones),
                    (np.ones(hidden), self._times(reset, of_state)),
                )
            else:
                new = gate(2, seen=self._times(reset, state))
            new = self._active(d, 1, new)
            rest = self._plus(ones, bounds.negated(update))
            return self._plus(self._times(rest, new), self._times(update, state)), cell

        def peeping(number: int, seen: Estimate) -> list[tuple[Array, Estimate]]:
            return [(self._rows("P", d, number, hidden), seen)] if "P" in self.arrays else []

        entry = self._active(d, 0, gate(0, *peeping(0, cell)))
        if self.input_forget:
            forget = self._plus(ones, bounds.negated(entry))
        else:
            forget = self._active(d, 0, gate(2, *peeping(2, cell)))
        taken = self._times(entry, self._active(d, 1, gate(3)))
        cell = self._plus(self._times(forget, cell), taken)
        output = self._active(d, 0, gate(1, *peeping(1, cell)))
        return self._times(output, self._active(d, 2, cell, clipped=False)), cell


def within(results: Sequence[Array], expected: Sequence[Bounded]) -> None:
    """Assert that every element is within its bound, with the shape and dtype of the output."""
    assert len(results) == len(expected)
    for actual, bounded in zip(results, expected, strict=True):
        assert actual.shape == bounded.value.shape
        assert actual.dtype == np.dtype(bounded.dtype)
        off = np.abs(actual.astype("f8") - bounded.value) - bounded.bound
        assert not (off > 0).any(), (
            f"off by {np.max(off + bounded.bound)}, bound {bounded.bound.max()}"
        )
        assert np.isfinite(actual).all()

"""Families of gradients: the program of one operator, its outputs weighted and summed up.

The case returns the gradient of that sum, the *target*, in each run-time operand of floats. Weights
are drawn, so that no two elements of an output need count the same.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import RUN, Axis, Point, meant_for, without_run
from relaxcheck.generators.core.case import Value as AxisValue
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.faults import Fault
from relaxcheck.generators.core.operand import DTYPE
from relaxcheck.generators.core.points import narrowed
from relaxcheck.generators.core.preconditions import with_run_axes
from relaxcheck.generators.core.program import GRADIENT, Case, Node, Program
from relaxcheck.generators.gradients.table import DIFFERENTIABLE
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import bindings_of, draft_of
from relaxcheck.generators.operators.record import Operator

PREFIX = "gradient"
"""The families are called ``gradient-OPERATOR``."""

DTYPES = ("float32", "float64")

PIPELINES = ("build", "legalize-first", "default-pipeline")
"""The pipelines that a function of another name than ``main`` goes through as it is."""

_REGIMES = ("normal", "exact", "moderate", "boundary")
"""The regimes of finite values: a gradient of infinities is whatever its formula makes of them."""

_WIDER = f"->{DTYPES[1]}"


@dataclass(frozen=True)
class GradientFamily:
    """The gradients of one operator, on the axes of its record, compiled by ``pipelines``."""

    record: Operator
    pipelines: tuple[str, ...]

    @property
    def name(self) -> str:
        """``gradient-`` and the operator's name without its namespace."""
        return f"{PREFIX}-{self.record.name.rpartition('.')[2]}"

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The record's axes, then how a program is compiled and fed."""
        only = DIFFERENTIABLE[self.record.name].only
        own = self.record.family_axes
        kept: dict[str, Sequence[AxisValue]] = {
            axis.name: [value for value in axis.values if value in only[axis.name]]
            for axis in own
            if axis.name in only
        }
        kept |= {axis.name: DTYPES for axis in own if axis.name == DTYPE}
        every = with_run_axes(narrowed(own, kept), self.pipelines)
        return narrowed(every, {"regime": _REGIMES})

    def build(self, point: Point, seed: int) -> Case:
        """The case at ``point``; its first binding gives every symbol the point's own size."""
        draft = draft_of(self.record, point)
        bindings = bindings_of(self.record, point, draft)
        return Case(
            family=self.name,
            program=differentiated(draft, self.record),
            bindings=bindings,
            seed=seed,
            at=without_run(point),
            **{name: point[name] for name in RUN},  # type: ignore[arg-type]
        )

    @property
    def faults(self) -> tuple[Fault, ...]:
        """None: those of the operator are its own family's."""
        return ()

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        """None, as for ``faults``."""
        return ()


def differentiated(draft: Draft, record: Operator) -> Program:
    """The program of ``draft``, made to return gradients of a scalar, and it where sizes allow."""
    plain = draft.program()
    made = {value.name: value for value in draft.values}
    outputs = [made[name] for name in plain.outputs]
    operands = _operands(plain, record)
    draft.step += 1
    target = _target(draft, outputs)
    program = draft.program()
    nodes = [Node(f"{name}_gradient", GRADIENT, (target.name, name)) for name in operands]
    # A sum of no elements is for the family of sums.
    sizes = [dim for tensor in program.inputs for dim in tensor.shape]
    returned = [target.name] if all(isinstance(size, int) and size for size in sizes) else []
    return msgspec.structs.replace(
        program,
        nodes=(*program.nodes, *nodes),
        outputs=(*returned, *(node.name for node in nodes)),
    )


def _operands(program: Program, record: Operator) -> list[str]:
    """The run-time inputs of floats that the operator is differentiated in."""
    constants = DIFFERENTIABLE[record.name].constants
    fixed = {
        name
        for node in program.nodes
        if node.operator == record.name
        for operand, name in zip(record.operands, node.arguments, strict=False)
        if operand.name in constants
    }
    return [
        tensor.name
        for tensor in program.inputs
        if not tensor.constant and tensor.dtype in DTYPES and tensor.name not in fixed
    ]


def _target(draft: Draft, outputs: Sequence[Value]) -> Value:
    """The sum of all elements of ``outputs``, each times a weight; in the first one's dtype."""
    first, *rest = _sums(draft, outputs)
    for each in rest:
        first = draft.call("add", [first, each], ())
    return first


def _sums(draft: Draft, outputs: Sequence[Value]) -> Iterator[Value]:
    for at, output in enumerate(outputs):
        weights = draft.input(
            output.shape, output.dtype, name="w" if len(outputs) == 1 else f"w{at}"
        )
        weighted = draft.call("multiply", [output, weights], output.shape)
        yield draft.call("sum", [weighted], ()) if output.rank else weighted


def families(pipelines: Sequence[str]) -> tuple[GradientFamily, ...]:
    """The families of all operators that have a gradient; none where none of ``pipelines`` fits."""
    usual = meant_for(PIPELINES, pipelines)
    if not usual:
        return ()
    return tuple(GradientFamily(OPERATORS[name], usual) for name in DIFFERENTIABLE)

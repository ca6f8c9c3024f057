"""Families of PyTorch programs of one call: one for each entry of PyTorch's own samples."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import AnyCase, Value
from relaxcheck.generators.torch.case import AUTO, TorchCase
from relaxcheck.generators.torch.program import BUFFER, CONSTANT, INPUT, LAYOUTS, PARAMETER
from relaxcheck.generators.torch.running import (
    DIMS,
    EXPORT,
    EXPORTING,
    PREFIX,
    STATIC,
    case_at,
    running_axes,
    served,
)
from relaxcheck.generators.torch.samples import varying
from relaxcheck.generators.torch.samples.record import MIXED, Entry, Sample, drawn, samples

SAMPLE, DTYPE, OPERAND, INDICES, VALUES = "sample", "dtype", "operand", "indices", "values"
FORM, MODE, SIZE, LAYOUT, HELD = "form", "mode", "size", "layout", "held"

TENSOR, NUMBER = "tensor", "number"
"""The values of the axis ``operand``, besides dtypes: the last operand of the call is a tensor of
the dtype of the others, or a number of Python's."""

Allows = Callable[[Sample, Point, Value], bool]


@dataclass(frozen=True)
class TorchFamily:
    """The programs of one call of ``entry``, compiled by ``pipelines``.

    None is ``invalid``: a call that PyTorch refuses is refused as it is exported, before TVM sees
    it.
    """

    entry: Entry
    pipelines: tuple[str, ...]

    @property
    def name(self) -> str:
        """``torch-`` and the entry's name."""
        return f"{PREFIX}-{self.entry.name}"

    @cached_property
    def samples(self) -> Mapping[str, Sample]:
        """The samples by label, the simplest first."""
        return {sample.label: sample for sample in samples(self.entry)}

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """The sample, its dtype, the changes that some sample takes, and how it is run."""
        every = tuple(self.samples.values())
        labels = tuple(self.samples)
        mixed = tuple(dict.fromkeys(dtype for sample in every for dtype in self._mixed(sample)))
        operands = (TENSOR, *([NUMBER] if any(s.number for s in every) else []), *mixed)
        layouts = [
            way for way in LAYOUTS if way == LAYOUTS[0] or any(way not in s.laid for s in every)
        ]
        own = (
            Axis(SAMPLE, labels, labels[0], default_weight=2),
            self._axis(DTYPE, self.entry.dtypes, _has_dtype, 5),
            self._axis(OPERAND, operands, self._operand, 6),
            self._axis(INDICES, ("sample", "negative"), _counts, 2, any(s.places for s in every)),
            self._axis(VALUES, ("domain", "any"), _is_any, 3, any(s.any for s in every)),
            self._axis(FORM, ("call", "in-place"), self._form, 6, any(s.inplace for s in every)),
            self._axis(MODE, ("eval", "train"), _trains, 3, any(s.trains for s in every)),
            self._axis(SIZE, ("full", "empty"), _empties, 12, any(s.empty for s in every)),
            self._axis(LAYOUT, layouts, _lies, 6),
            self._axis(
                HELD, (INPUT, PARAMETER, BUFFER, CONSTANT), _holds, 5, any(map(_can_hold, every))
            ),
            self._axis(DIMS, (STATIC, *varying.WAYS), _varies, 3),
        )
        kept = (axis for axis in own if axis.name == SAMPLE or len(axis.values) > 1)
        return (*kept, *map(self._named, running_axes(self.pipelines)))

    def _named(self, axis: Axis) -> Axis:
        """``axis``; that of export names dimensions where PyTorch takes the names."""
        if axis.name != EXPORT:
            return axis
        general = axis.allowed

        def allowed(point: Point, value: Value) -> bool:
            sample = self.samples.get(str(point.get(SAMPLE)))
            free = EXPORTING[str(value)].dynamic == AUTO
            names = sample is None or (
                point.get(DIMS) in sample.named and point.get(HELD, INPUT) == INPUT
            )
            return general(point, value) and (free or names)

        return replace(axis, allowed=allowed)

    def _axis(
        self, name: str, values: Sequence[Value], allows: Allows, weight: int, there: bool = True
    ) -> Axis:
        """An axis whose values besides the first, the default, are allowed where ``allows`` holds.

        Where the first is not, as a dtype may be, ``allows`` says so, too.
        """

        def allowed(point: Point, value: Value) -> bool:
            sample = self.samples.get(str(point.get(SAMPLE)))
            return sample is None or allows(sample, point, value)

        chosen = tuple(values) if there else tuple(values[:1])
        return Axis(name, chosen, chosen[0], allowed, default_weight=weight)

    def _operand(self, sample: Sample, point: Point, value: Value) -> bool:
        if value in (TENSOR, NUMBER):
            return value == TENSOR or bool(sample.number)
        return value in self._mixed(sample) and point.get(DTYPE, self._own) == self._own

    def _mixed(self, sample: Sample) -> tuple[str, ...]:
        """The other dtypes that the last operand of ``sample`` may have."""
        if not varying.second(sample.program, self._own):
            return ()
        return tuple(d for d in MIXED if d != self._own and d not in sample.unmixed)

    def _form(self, sample: Sample, point: Point, value: Value) -> bool:
        return value == "call" or (
            sample.inplace
            and point.get(DTYPE, self._own) in self.entry.inplace_dtypes
            and point.get(OPERAND, TENSOR) == TENSOR
        )

    @property
    def _own(self) -> str:
        return self.entry.dtypes[0]

    def build(self, point: Point, seed: int) -> TorchCase:
        """The one case at ``point``, its input values drawn from ``seed``."""
        sample = self.samples[str(point[SAMPLE])]
        dtype = str(point.get(DTYPE, self._own))
        program = varying.in_dtype(sample, self._own, dtype)
        if point.get(VALUES) == "any":
            program = varying.freely_drawn(program, dtype)
        operand = str(point.get(OPERAND, TENSOR))
        if operand == NUMBER:
            program = varying.with_number(program, sample.number)
        elif operand != TENSOR:
            program = varying.mixed(program, varying.second(program, dtype), operand)
        if point.get(INDICES) == "negative":
            program = varying.counted_from_the_end(program, sample.places)
        if point.get(MODE) == "train":
            program = varying.training(program)
        if point.get(SIZE) == "empty":
            program = varying.emptied(program)
        if point.get(FORM) == "in-place":
            program = varying.in_place(program, self.entry.inplace)
        if (layout := str(point.get(LAYOUT, LAYOUTS[0]))) != LAYOUTS[0]:
            program = varying.laid_out(program, layout)
        if (held := str(point.get(HELD, INPUT))) != INPUT:
            program = varying.held(program, held)
        bindings: list[dict[str, int]] = [{}]
        if (way := str(point.get(DIMS, STATIC))) != STATIC:
            program, sizes = varying.symbolic(program, way)
            bindings = _bindings(sizes, sample.unsized.get(way, ()))
        return case_at(self.name, point, seed, program, bindings)

    @property
    def invalid(self) -> tuple[st.SearchStrategy[AnyCase], ...]:
        """None: PyTorch refuses them."""
        return ()


def _bindings(sizes: dict[str, int], refused: Sequence[str]) -> list[dict[str, int]]:
    """The sample's ``sizes``, larger ones, and the smallest; the program may take but the first."""
    later = varying.resized(sizes) if sizes else {}
    return [sizes, *(row for name, row in later.items() if name not in refused)]


def _has_dtype(sample: Sample, point: Point, value: Value) -> bool:
    return value not in sample.refused


def _counts(sample: Sample, point: Point, value: Value) -> bool:
    return value == "sample" or bool(sample.places)


def _is_any(sample: Sample, point: Point, value: Value) -> bool:
    return value == "domain" or sample.any


def _trains(sample: Sample, point: Point, value: Value) -> bool:
    return value == "eval" or sample.trains


def _empties(sample: Sample, point: Point, value: Value) -> bool:
    return value == "full" or (sample.empty and point.get(INDICES) != "negative")


def _lies(sample: Sample, point: Point, value: Value) -> bool:
    return value == LAYOUTS[0] or (value not in sample.laid and point.get(SIZE, "full") == "full")


def _can_hold(sample: Sample) -> bool:
    return len(sample.program.tensors) > 1


def _holds(sample: Sample, point: Point, value: Value) -> bool:
    rest = 2 if point.get(OPERAND) == NUMBER else 1
    return value == INPUT or len(sample.program.tensors) > rest


def _varies(sample: Sample, point: Point, value: Value) -> bool:
    full = point.get(SIZE, "full") == "full"
    return value == STATIC or (full and varying.can_be_symbolic(sample.program))


@cache
def families(pipelines: Sequence[str]) -> tuple[TorchFamily, ...]:
    """The family of each entry that has samples, compiled by those of ``pipelines`` that serve."""
    own = served(pipelines)
    return tuple(TorchFamily(entry, own) for entry in drawn())

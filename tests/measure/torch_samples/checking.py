"""The facts of a sample: the changes that eager PyTorch takes."""

from collections.abc import Iterable, Mapping
from math import prod

from msgspec.structs import replace

from relaxcheck.generators.core.fills.kinds import Below, Literal
from relaxcheck.generators.torch.case import BOUNDED, NAMED, Exporting
from relaxcheck.generators.torch.program import EXPANDED, LAYOUTS, Program
from relaxcheck.generators.torch.samples import varying
from relaxcheck.generators.torch.samples.record import MIXED, Sample
from relaxcheck.generators.torch.samples.varying import FLOATING
from tests.measure.torch_samples.filling import DEGREES, SORTED
from tests.measure.torch_samples.running import (
    Results,
    alike,
    refusal_of_export,
    run,
    runs,
)

DIES = ("_segment_reduce",)
"""The entries that read beside their operands where those do not fit each other."""

STRIDED = ("as_strided", "empty_strided", "new_empty_strided", "resize", "is_contiguous")
"""The entries whose meaning is the layout of their operands."""


def checked(
    entry: str, label: str, program: Program, dtypes: Iterable[str], inplace: str, typed: bool
) -> Sample | None:
    """The sample ``program`` with its facts; None where eager PyTorch refuses it.

    ``dtypes`` are those of its entry, the one that it is written in first.
    """
    own, *others = dtypes
    base = runs(program)
    if base is None or not _repeats(program, base):
        return None
    sample = _with_dtypes(Sample(entry, label, program, typed=typed), own, others)
    if not _serves(varying.in_dtype(sample, own, own)):
        return None
    operand = varying.second(program, own)
    free = varying.freely_drawn(program, own)
    return replace(
        sample,
        laid=LAYOUTS[1:] if entry.startswith(STRIDED) else _laid(program),
        places=_places(program, own),
        number=operand if operand and _takes_number(program, operand) else "",
        unmixed=tuple(
            dtype
            for dtype in (MIXED if operand else ())
            if dtype != own and runs(varying.mixed(program, operand, dtype)) is None
        ),
        empty=_may_be_empty(program),
        inplace=bool(inplace)
        and varying.can_be_in_place(program)
        and runs(varying.in_place(program, inplace)) is not None,
        any=not entry.startswith((*DEGREES, *SORTED)) and free != program and _serves(free),
        trains=_trains(program, base),
    )


def _with_dtypes(sample: Sample, own: str, others: Iterable[str]) -> Sample:
    """``sample`` with the dtypes that PyTorch refuses, and a divisor that makes them fewer."""

    def refused(tried: Sample) -> tuple[str, ...]:
        every = (own, *others)
        return tuple(d for d in every if not _takes(varying.in_dtype(tried, own, d), d))

    best, left = sample, refused(sample)
    # Drawn values are in no order.
    may_divide = bool(set(left) - set(FLOATING)) and not sample.entry.startswith(SORTED)
    for tensor in sample.program.tensors if may_divide else ():
        tried = replace(sample, divisor=tensor.name)
        if varying.is_data(tensor, own) and len(fewer := refused(tried)) < len(left):
            best, left = tried, fewer
    return replace(best, refused=left)


def _takes(program: Program, dtype: str) -> bool:
    """True if PyTorch takes values of ``dtype``; integers may raise for a few of them only."""
    return runs(program) is not None if dtype in FLOATING else _serves(program)


def _serves(program: Program) -> bool:
    """True if PyTorch takes values of several regimes."""
    tried = (("normal", 0), ("exact", 1), ("boundary", 2))
    return all(runs(program, regime, seed) is not None for regime, seed in tried)


def with_named(sample: Sample) -> Sample:
    """``sample`` with the ways of symbolic dimensions that may have names and bounds."""
    program = sample.program
    if not varying.can_be_symbolic(program):
        return sample
    found = []
    for way in varying.WAYS:
        symbolic, sizes = varying.symbolic(program, way)
        settings = (Exporting(BOUNDED, decomposed=False), Exporting(NAMED, decomposed=False))
        if not any(refusal_of_export(symbolic, how, sizes) for how in settings):
            found.append(way)
    return replace(sample, named=tuple(found))


def with_sizes(sample: Sample) -> Sample:
    """``sample`` with the sizes of symbolic dimensions that eager PyTorch refuses."""
    program = sample.program
    if not varying.can_be_symbolic(program):
        return sample
    unsized: dict[str, tuple[str, ...]] = {}
    for way in varying.WAYS:
        symbolic, sizes = varying.symbolic(program, way)
        rows = varying.resized(sizes)
        # Sizes that do not fit end the process.
        dies = sample.entry.startswith(DIES)
        refused = tuple(n for n, row in rows.items() if dies or not _sized(symbolic, row))
        if refused:
            unsized[way] = refused
    return replace(sample, unsized=unsized)


def _sized(program: Program, sizes: Mapping[str, int]) -> bool:
    """True if eager PyTorch takes ``program`` with its symbols of ``sizes``."""
    try:
        run(program, binding=sizes)
    except Exception:
        return False
    return True


def _repeats(program: Program, base: Results) -> bool:
    """True if a second run gives the same: nothing is random or uninitialised."""
    return all((again := runs(program)) is not None and alike(base, again) for _ in range(2))


def _laid(program: Program) -> tuple[str, ...]:
    """The layouts that PyTorch refuses, or that change the meaning of ``program``."""
    base = runs(program) or []
    found = []
    for layout in LAYOUTS[1:]:
        own = runs(varying.laid_out(program, layout))
        # An expanded tensor has other values.
        if own is None or not (layout == EXPANDED or alike(own, base)):
            found.append(layout)
    return tuple(found)


def _places(program: Program, own: str) -> dict[str, int]:
    """The tensors of indices that may count from the end, with the size that they count within."""
    base = runs(program)
    found: dict[str, int] = {}
    for tensor in program.tensors:
        fill = tensor.fill
        whole = tensor.dtype in ("int64", "int32") and isinstance(fill, Literal | Below)
        if not whole or base is None or (isinstance(fill, Literal) and not fill.values):
            continue
        least = fill.limit if isinstance(fill, Below) else max(fill.values) + 1
        others = [tuple(map(int, t.shape)) for t in program.tensors if t is not tensor]
        # Some functions count within a dimension, others within all elements.
        sizes = {size for shape in others for size in (*shape, prod(shape))}
        for size in sorted(size for size in sizes if size >= int(least)):
            if _same_from_the_end(program, tensor.name, size):
                found[tensor.name] = size
                break
    return found


def _same_from_the_end(program: Program, name: str, size: int) -> bool:
    """True if indices of the tensor ``name`` mean the same when ``size`` is taken from them."""
    fixed = replace(
        program,
        tensors=tuple(
            replace(t, fill=_written_out(t.fill, t.shape)) if t.name == name else t
            for t in program.tensors
        ),
    )
    base = runs(fixed)
    changed = runs(varying.counted_from_the_end(fixed, {name: size}))
    return base is not None and changed is not None and alike(base, changed)


def _written_out(fill: object, shape: tuple[object, ...]) -> Literal:
    if isinstance(fill, Literal):
        return fill
    assert isinstance(fill, Below)
    count = prod(int(str(size)) for size in shape)
    return Literal(tuple(at % int(str(fill.limit)) for at in range(count)))


def _takes_number(program: Program, operand: str) -> bool:
    return runs(varying.with_number(program, operand)) is not None


def _may_be_empty(program: Program) -> bool:
    first = program.tensors[0]
    if not first.shape or int(first.shape[0]) == 0:
        return False
    return runs(varying.emptied(program)) is not None


def _trains(program: Program, base: Results) -> bool:
    """True if the layers in training mode give something else, and the same each time."""
    if not program.layers:
        return False
    changed = varying.training(program)
    results = runs(changed)
    return results is not None and not alike(base, results) and _repeats(changed, results)

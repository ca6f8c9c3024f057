"""Changes of a sample's program that keep it valid, where its record says so."""

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Below, Literal, Positive, Random, Steps, Within
from relaxcheck.generators.torch.program import (
    INPUT,
    Argument,
    Many,
    Named,
    Node,
    Program,
    Ref,
    Tensor,
)
from relaxcheck.generators.torch.samples.record import Sample

FIRST, ALL = "first", "all"
WAYS = (FIRST, ALL)
"""The ways of symbolic dimensions: the first one; each size above 1."""

LARGER, ONES = "larger", "ones"
"""The later sizes of symbolic dimensions: larger ones than the sample's, and 1."""

_MORE = 2
"""Larger sizes are larger by so much."""

NUMBER = 2
"""The number that takes an operand's place."""

SYMBOLS = ("n", "m", "k", "h", "w", "d")
"""The names of symbolic dimensions, in the order of their first occurrence."""

FLOATING = ("float32", "float64", "float16", "bfloat16")
"""The floating-point dtypes."""

_LAYER_DTYPE = "dtype"
"""The argument by which a layer is made with weights of another dtype."""

_COPY = "c"
"""The name of the copy that a form in place writes into."""


def is_data(tensor: Tensor, dtype: str) -> bool:
    """True if ``tensor`` holds what a program of ``dtype`` computes with: no index, no mask."""
    indexes = isinstance(tensor.fill, Below) or (
        isinstance(tensor.fill, Literal) and dtype not in FLOATING
    )
    return tensor.dtype == dtype and not indexes


def second(program: Program, dtype: str) -> str:
    """The name of the last operand besides the first, "" where there is none."""
    direct = [arg.name for arg in program.nodes[0].args if isinstance(arg, Ref)]
    named = [t.name for t in program.tensors if is_data(t, dtype) and t.name in direct]
    return named[-1] if len(named) > 1 and not program.layers else ""


def in_dtype(sample: Sample, own: str, dtype: str) -> Program:
    """The program of ``sample``, which is written in the dtype ``own``, in ``dtype``."""
    program = sample.program
    if own != dtype:
        program = _tensors(program, lambda t: replace(t, dtype=dtype) if is_data(t, own) else t)
    if sample.divisor and dtype not in FLOATING:
        program = _tensors(
            program, lambda t: replace(t, fill=Positive(1)) if t.name == sample.divisor else t
        )
    if own == dtype or not sample.typed:
        return program
    made = Named(dtype)
    layers = {
        name: replace(layer, keywords={**layer.keywords, _LAYER_DTYPE: made})
        for name, layer in program.layers.items()
    }
    return replace(program, layers=layers)


def laid_out(program: Program, layout: str) -> Program:
    """``program`` with all its tensors in ``layout``."""
    return _tensors(program, lambda tensor: replace(tensor, layout=layout))


def held(program: Program, how: str) -> Program:
    """``program`` whose module holds all tensors but the first, as ``how`` says."""
    first = program.tensors[0].name if program.tensors else ""
    return _tensors(program, lambda t: t if t.name == first else replace(t, held=how))


def with_number(program: Program, name: str) -> Program:
    """``program`` with ``NUMBER`` in place of the operand ``name``."""
    nodes = tuple(
        replace(
            node,
            args=tuple(_swapped(arg, name) for arg in node.args),
            keywords={key: _swapped(arg, name) for key, arg in node.keywords.items()},
        )
        for node in program.nodes
    )
    tensors = tuple(tensor for tensor in program.tensors if tensor.name != name)
    return replace(program, nodes=nodes, tensors=tensors)


def _swapped(argument: Argument, name: str) -> Argument:
    if isinstance(argument, Many):
        return Many(tuple(_swapped(item, name) for item in argument.items))
    return NUMBER if argument == Ref(name) else argument


def mixed(program: Program, name: str, dtype: str) -> Program:
    """``program`` with the operand ``name`` of ``dtype``."""
    return _tensors(program, lambda t: replace(t, dtype=dtype) if t.name == name else t)


def emptied(program: Program) -> Program:
    """``program`` with no element along the first dimension of its first tensor.

    Other tensors of the same first size lose theirs, too.
    """
    size = _first_size(program)

    def without(tensor: Tensor) -> Tensor:
        if not tensor.shape or tensor.shape[0] != size:
            return tensor
        fill = Literal(()) if isinstance(tensor.fill, Literal) else tensor.fill
        return replace(tensor, shape=(0, *tensor.shape[1:]), fill=fill)

    return _tensors(program, without)


def counted_from_the_end(program: Program, places: Mapping[str, int]) -> Program:
    """``program`` with negative indices in the tensors ``places``; each has its limit there."""

    def negative(tensor: Tensor) -> Tensor:
        limit = places.get(tensor.name)
        if limit is None:
            return tensor
        if isinstance(tensor.fill, Literal):
            return replace(tensor, fill=Literal(_negative(tensor.fill.values, limit)))
        return replace(tensor, fill=Within(limit))

    return _tensors(program, negative)


def _negative(values: tuple[int | float, ...], limit: int) -> tuple[int | float, ...]:
    """Every second of ``values``, from the first on, as a place from the end of ``limit``."""
    return tuple(
        value - limit if at % 2 == 0 and value >= 0 else value for at, value in enumerate(values)
    )


def freely_drawn(program: Program, dtype: str) -> Program:
    """``program`` whose operands of ``dtype`` have values of the whole line."""
    limited = (Positive, Steps, Literal)
    return _tensors(
        program,
        lambda t: (
            replace(t, fill=Random()) if is_data(t, dtype) and isinstance(t.fill, limited) else t
        ),
    )


def in_place(program: Program, target: str) -> Program:
    """``program`` with a call of ``target`` that writes into a copy of its first operand."""
    *before, last = program.nodes
    (first,) = (arg.name for arg in last.args[:1] if isinstance(arg, Ref))
    copied = Node("torch.Tensor.clone", (Ref(first),), outputs=(_COPY,))
    args: tuple[Argument, ...] = (Ref(_COPY), *last.args[1:])
    return replace(program, nodes=(*before, copied, replace(last, target=target, args=args)))


def can_be_in_place(program: Program) -> bool:
    """True if ``program`` is a call whose first argument is a tensor."""
    return len(program.nodes) == 1 and isinstance((*program.nodes[0].args, None)[0], Ref)


def training(program: Program) -> Program:
    """``program`` with its layers in training mode."""
    layers = {name: replace(layer, train=True) for name, layer in program.layers.items()}
    return replace(program, layers=layers)


def can_be_symbolic(program: Program) -> bool:
    """True if the first tensor of ``program`` has a first dimension of more than one element."""
    tensor = program.tensors[0]
    return _first_size(program) > 1 and not isinstance(tensor.fill, Literal)


def symbolic(program: Program, way: str) -> tuple[Program, dict[str, int]]:
    """``program`` with symbolic dimensions, and the sizes that they had.

    ``FIRST``: the first dimension of the first tensor, and of all others of the same first size;
    ``ALL``: each size above 1 is a symbol wherever it stands. Tensors whose values are written
    out, or that the module holds, keep their shapes.
    """
    first = _first_size(program)
    names: dict[int, str] = {}
    free = [t for t in program.tensors if t.held == INPUT and not isinstance(t.fill, Literal)]
    for size in _sizes(free) if way == ALL else ((first,) if first > 1 else ()):
        if len(names) < len(SYMBOLS):
            names.setdefault(size, SYMBOLS[len(names)])

    def named(tensor: Tensor) -> Tensor:
        if tensor not in free:
            return tensor
        shape: tuple[Dim, ...] = tuple(
            names.get(_size(dim), dim) if way == ALL or at == 0 else dim
            for at, dim in enumerate(tensor.shape)
        )
        return replace(tensor, shape=shape)

    changed = _tensors(program, named)
    used = set(changed.symbols)
    return changed, {name: size for size, name in names.items() if name in used}


def resized(sizes: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """The later sizes of the symbols that have ``sizes`` in a sample, by what they are called."""
    larger = {name: size + _MORE for name, size in sizes.items()}
    return {LARGER: larger, ONES: dict.fromkeys(sizes, 1)}


def _sizes(tensors: list[Tensor]) -> Iterator[int]:
    return (_size(dim) for tensor in tensors for dim in tensor.shape if _size(dim) > 1)


def _size(dim: Dim) -> int:
    assert isinstance(dim, int)
    return dim


def _first_size(program: Program) -> int:
    shapes = (tensor.shape for tensor in program.tensors[:1])
    return next((_size(shape[0]) for shape in shapes if shape), 0)


def _tensors(program: Program, change: Callable[[Tensor], Tensor]) -> Program:
    return replace(program, tensors=tuple(change(tensor) for tensor in program.tensors))

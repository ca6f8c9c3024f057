"""The operand at hand: axes that span its shape and dtype, and constraints over them.

In a single-operator family the axes ``rank``, ``sizes``, ``symbolic`` and ``dtype`` make the
operand. In a graph the operand is there already, and ``facts`` describes it by a point with the
same names plus ``shape``. Whoever reads the point through ``sizes`` and ``Fits`` need not know
which of the two it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.points import Given, integer, text

RANK, SIZES, SYMBOLIC, DTYPE, SHAPE = "rank", "sizes", "symbolic", "dtype", "shape"

# Sizes differ from axis to axis, so that swapped axes show.
_PLAIN: dict[int, tuple[int, ...]] = {
    0: (),
    1: (4,),
    2: (3, 4),
    3: (2, 3, 4),
    4: (2, 3, 4, 5),
    5: (2, 3, 2, 4, 5),
}

_PATTERNS: dict[str, Callable[[tuple[int, ...]], tuple[int, ...]]] = {
    "plain": lambda sizes: sizes,
    "ones": lambda sizes: (1,) * len(sizes),
    "one first": lambda sizes: (1, *sizes[1:]),
    "one last": lambda sizes: (*sizes[:-1], 1),
    "alike": lambda sizes: (3,) * len(sizes),
    "even": lambda sizes: tuple(2 * size for size in sizes),
    # One more than a vector register of float32 holds.
    "long last": lambda sizes: (*sizes[:-1], 17),
    "zero first": lambda sizes: (0, *sizes[1:]),
    "zero last": lambda sizes: (*sizes[:-1], 0),
}

PATTERNS = tuple(_PATTERNS)
"""Values of the axis ``sizes``."""

_RANK_ONE = ("plain", "ones", "even", "long last", "zero first")
"""On a single axis the other patterns repeat one of these."""

_NAMES = ("m", "n", "k", "b", "d")

_SYMBOLS: dict[str, Callable[[tuple[int, ...]], tuple[Dim, ...]]] = {
    "none": lambda sizes: sizes,
    "first": lambda sizes: ("m", *sizes[1:]),
    "last": lambda sizes: (*sizes[:-1], "m"),
    "all": lambda sizes: _NAMES[: len(sizes)],
    "alike": lambda sizes: ("m",) * len(sizes),
}


def sized(rank: int, pattern: str) -> tuple[int, ...]:
    """The sizes of an operand with ``rank`` axes in the pattern ``pattern``."""
    return _PATTERNS[pattern](_PLAIN[rank])


def sizes(point: Point) -> tuple[Dim, ...] | None:
    """The operand's shape for a constraint: numbers in a family; in a graph also expressions.

    None while ``point`` does not decide it yet.
    """
    shape = point.get(SHAPE)
    if isinstance(shape, str):
        return tuple(int(dim) if dim.isdecimal() else dim for dim in shape.split(", ") if dim)
    if RANK not in point or SIZES not in point:
        return None
    return sized(integer(point, RANK), text(point, SIZES))


def shape(point: Point) -> tuple[Dim, ...]:
    """The operand's shape at ``point`` of a family, with its symbols."""
    return _SYMBOLS[text(point, SYMBOLIC)](sized(integer(point, RANK), text(point, SIZES)))


def dims(point: Point) -> tuple[Dim, ...] | None:
    """The operand's shape with its symbols, in a family and in a graph; None while it is open."""
    if SHAPE in point:
        return sizes(point)
    return shape(point) if {RANK, SIZES, SYMBOLIC} <= set(point) else None


def own_sizes(point: Point) -> dict[str, int]:
    """The binding that gives each symbol of ``shape(point)`` the size that ``point`` says."""
    whole = sized(integer(point, RANK), text(point, SIZES))
    return {
        dim: size for dim, size in zip(shape(point), whole, strict=True) if isinstance(dim, str)
    }


def facts(dims: Sequence[Dim], dtype: str) -> Point:
    """The part of a point that describes an operand that is there already."""
    return {RANK: len(dims), SHAPE: ", ".join(map(str, dims)), DTYPE: dtype}


@dataclass(frozen=True, slots=True)
class Fits:
    """An ``allowed`` predicate over the operand's shape: ``holds(shape, *values, value)``.

    ``values`` are those of the axes ``names``. It holds while the shape or one of ``names`` is
    open. Use ``at_least`` and ``divides`` on dimensions: in a graph they may be symbolic.
    """

    holds: Callable[..., bool]
    names: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The axes that it depends on."""
        return (*self.names, RANK, SIZES, SHAPE)

    def __call__(self, point: Point, value: Value) -> bool:
        """Return True if ``value`` is allowed at ``point``."""
        whole = sizes(point)
        if whole is None or any(name not in point for name in self.names):
            return True
        return self.holds(whole, *(point[name] for name in self.names), value)


@dataclass(frozen=True, slots=True)
class FitsDims:
    """As ``Fits``, but ``holds`` is given symbols where the operand has them, in a family too."""

    holds: Callable[..., bool]
    names: tuple[str, ...] = ()

    @property
    def reads(self) -> tuple[str, ...]:
        """The axes that it depends on."""
        return (*self.names, RANK, SIZES, SYMBOLIC, SHAPE)

    def __call__(self, point: Point, value: Value) -> bool:
        """Return True if ``value`` is allowed at ``point``."""
        whole = dims(point)
        if whole is None or any(name not in point for name in self.names):
            return True
        return self.holds(whole, *(point[name] for name in self.names), value)


def at_least(dim: Dim, least: int) -> bool:
    """Return True if ``dim`` can be ``least`` or more; a symbolic one can."""
    return bool(symbols(dim)) or int(dim) >= least


def divides(divisor: int, dim: Dim) -> bool:
    """Return True if ``dim`` can be a multiple of ``divisor``; a symbolic one can."""
    return bool(symbols(dim)) or int(dim) % divisor == 0


def operand_axes(
    ranks: Sequence[int],
    dtypes: Sequence[str],
    fits: Callable[[tuple[Dim, ...]], bool] | None = None,
) -> tuple[Axis, ...]:
    """The axes of an operand of one of ``ranks`` and ``dtypes``, of shapes that ``fits`` accepts.

    The default is rank 2 and float32 where that is possible.
    """

    def sizes_fit(rank: int, pattern: str) -> bool:
        if (rank == 0 and pattern != "plain") or (rank == 1 and pattern not in _RANK_ONE):
            return False
        return fits is None or fits(sized(rank, pattern))

    def symbols_fit(rank: int, pattern: str, value: str) -> bool:
        match value:
            case "first":
                return rank > 0
            case "last" | "all":
                return rank > 1
            case "alike":
                return rank > 1 and len(set(sized(rank, pattern))) == 1
        return True

    # A scalar has none of the loops that a single element has.
    least = min((rank for rank in ranks if rank), default=0)
    patterns = [
        candidate for candidate in PATTERNS if any(sizes_fit(rank, candidate) for rank in ranks)
    ]
    symbolic = [
        symbol
        for symbol in _SYMBOLS
        if any(
            sizes_fit(rank, pattern) and symbols_fit(rank, pattern, symbol)
            for rank in ranks
            for pattern in patterns
        )
    ]
    return (
        Axis(RANK, tuple(ranks), 2 if 2 in ranks else ranks[0], least=(least,)),
        Axis(
            SIZES,
            tuple(patterns),
            "plain",
            Given((RANK,), sizes_fit),
            default_weight=4,
            least=tuple(pattern for pattern in ("ones", "plain") if pattern in patterns),
        ),
        Axis(
            SYMBOLIC,
            tuple(symbolic),
            "none",
            Given((RANK, SIZES), symbols_fit),
            default_weight=2,
            least=("none",),
        ),
        Axis(DTYPE, tuple(dtypes), dtypes[0], default_weight=4),
    )

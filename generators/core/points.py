"""Reading values from points, and constraints between axes that say what they depend on."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.case import Value


@dataclass(frozen=True, slots=True)
class Given:
    """An ``allowed`` predicate over the axes ``names`` and the value: ``holds(*values, value)``.

    It holds while one of ``names`` has no value yet, so that it also judges partial points.
    """

    names: tuple[str, ...]
    holds: Callable[..., bool]

    def __call__(self, point: Point, value: Value) -> bool:
        """Return True if ``value`` is allowed at ``point``."""
        try:
            others = [point[name] for name in self.names]
        except KeyError:
            return True
        return self.holds(*others, value)


@dataclass(frozen=True, slots=True)
class Every:
    """An ``allowed`` predicate that holds where each of ``parts`` does."""

    parts: tuple[Given, ...]

    def __call__(self, point: Point, value: Value) -> bool:
        """Return True if ``value`` is allowed at ``point``."""
        return all(part(point, value) for part in self.parts)


class _Watched(Mapping[str, Value]):
    """A point that notes the names of the axes that somebody asks it for, in ``asked``."""

    def __init__(self, point: Point):
        self._point = point
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Value:
        self.asked.add(name)
        return self._point[name]

    def __iter__(self) -> Iterator[str]:
        self.asked.update(self._point)
        return iter(self._point)

    def __len__(self) -> int:
        self.asked.update(self._point)
        return len(self._point)


def to_blame(axis: Axis, earlier: Sequence[str], point: Point, value: Value) -> tuple[str, ...]:
    """The names among ``earlier`` whose values at ``point`` may be why ``value`` is not allowed.

    They spare a search all other axes, without which it takes exponential time. A predicate may
    say which axes it ``reads``; of any other, those count that it asks the point for.
    """
    match axis.allowed:
        case Given(names=names):
            return names
        case Every(parts=parts):
            return next(part.names for part in parts if not part(point, value))
    reads: Collection[str] | None = getattr(axis.allowed, "reads", None)
    if reads is None:
        watched = _Watched(point)
        axis.allowed(watched, value)
        reads = watched.asked
    return tuple(name for name in earlier if name in reads)


def integer(point: Point, name: str) -> int:
    """The integer at axis ``name``.

    Raises:
        ValueError: the value is not an integer.
    """
    value = point[name]
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"axis {name}: {value!r} is not an integer")
    return value


def text(point: Point, name: str) -> str:
    """The text at axis ``name``.

    Raises:
        ValueError: the value is not text.
    """
    value = point[name]
    if not isinstance(value, str):
        raise ValueError(f"axis {name}: {value!r} is not text")
    return value


def toggle(name: str, allowed: Given | None = None) -> Axis:
    """An axis that is off (the default) or on, on only where ``allowed`` holds."""
    if allowed is None:
        return Axis(name, (False, True), False, least=(False,))
    return Axis(
        name,
        (False, True),
        False,
        Given(allowed.names, lambda *values: not values[-1] or allowed.holds(*values)),
        least=(False,),
    )


def bindings(columns: Mapping[str, Sequence[int]]) -> tuple[dict[str, int], ...]:
    """One binding for each row of ``columns`` (symbol to its values), the first of equal ones."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return tuple(row for at, row in enumerate(rows) if row not in rows[:at]) or ({},)


def first_then(value: int, others: Iterable[int]) -> tuple[int, ...]:
    """``value``, then the ``others`` without it."""
    return (value, *(other for other in others if other != value))


def narrowed(axes: Sequence[Axis], kept: Mapping[str, Sequence[Value]]) -> tuple[Axis, ...]:
    """``axes`` where each axis that ``kept`` names has only those values.

    The default stays where it is kept; else the first kept value is the default. Whether some value
    is still allowed at every point is for the caller to see.

    Raises:
        KeyError: ``kept`` names an axis that is not there.
        ValueError: ``kept`` gives an axis a value that it does not have.
    """
    unknown = set(kept) - {axis.name for axis in axes}
    if unknown:
        raise KeyError(f"no axis {', '.join(sorted(unknown))}")
    result = []
    for axis in axes:
        if axis.name not in kept:
            result.append(axis)
            continue
        values = tuple(kept[axis.name])
        if not set(map(repr, values)) <= set(map(repr, axis.values)):
            raise ValueError(f"axis {axis.name}: {values!r} are not all values of it")
        default = axis.default if axis.default in values else values[0]
        familiar = tuple(value for value in axis.familiar if value in values)
        result.append(replace(axis, values=values, default=default, familiar=familiar))
    return tuple(result)

"""Read the attributes of a node, checking their types."""

from relaxcheck.generators.core.program import Node


def integer(node: Node, name: str, default: int | None = None) -> int:
    """The integer ``name``. Raises ``ValueError`` where it is something else."""
    value = node.attributes.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{node.operator}: {name} {value!r} is not an integer")
    return value


def integers(node: Node, name: str, default: int | None = None) -> tuple[int, ...]:
    """The list of integers ``name``; an integer is a list of one."""
    value = node.attributes.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | tuple):
        raise ValueError(f"{node.operator}: {name} {value!r} is not a list of integers")
    return (value,) if isinstance(value, int) else value


def several(node: Node, name: str, default: int, rank: int) -> tuple[int, ...]:
    """The list of ``rank`` integers ``name``; one stands for all."""
    values = integers(node, name, default)
    if len(values) not in (1, rank):
        raise ValueError(f"{node.operator}: {name} {values} over {rank} axes")
    return values * rank if len(values) == 1 else values


def number(node: Node, name: str, default: float | None = None) -> float:
    """The number ``name``. Raises ``ValueError`` where it is something else."""
    value = node.attributes.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{node.operator}: {name} {value!r} is not a number")
    return float(value)


def text(node: Node, name: str, default: str | None = None) -> str:
    """The text ``name``. Raises ``ValueError`` where it is something else."""
    value = node.attributes.get(name)
    value = default if value is None else value
    if not isinstance(value, str):
        raise ValueError(f"{node.operator}: {name} {value!r} is not text")
    return value


def flag(node: Node, name: str, default: bool) -> bool:
    """The boolean ``name``. Raises ``ValueError`` where it is something else."""
    value = node.attributes.get(name, default)
    if not isinstance(value, bool):
        raise ValueError(f"{node.operator}: {name} {value!r} is neither true nor false")
    return value


def axis_of(node: Node, name: str, rank: int, default: int | None = None) -> int:
    """The axis ``name`` of ``rank``, not negative. Raises ``ValueError`` where there is none."""
    return _within(node, name, integer(node, name, default), rank)


def axes_of(node: Node, name: str, rank: int) -> tuple[int, ...]:
    """The axes ``name`` of ``rank``, none negative; all of them where it is left out.

    Raises ``ValueError`` where there is none of that number.
    """
    if node.attributes.get(name) is None:
        return tuple(range(rank))
    return tuple(_within(node, name, axis, rank) for axis in integers(node, name))


def _within(node: Node, name: str, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ValueError(f"{node.operator}: {name} {axis} of a tensor of {rank}")
    return axis % rank

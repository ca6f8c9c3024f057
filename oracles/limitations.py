"""Limitations: calls that an oracle cannot answer, declared as data.

Each oracle declares its limitations beside the operator they concern. A declaration filters (the
oracle is not asked where it holds), documents (``docs/operators.md`` lists it), and is checked: a
test fails when the oracle could answer such a call correctly after all.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from relaxcheck.generators.core.program import Attribute, Node
from relaxcheck.oracles.answer import Unsupported

ANY = "*"
"""Stands for every operator: the limitation concerns the inputs of a program."""

_RESULT_DTYPES = ("dtype", "out_dtype")


class Operand(NamedTuple):
    """An operand's shape and dtype; ``computed`` where it is the result of another node."""

    shape: tuple[int, ...]
    dtype: str
    computed: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """An operator call as far as it is known before it is evaluated."""

    operator: str
    attributes: Mapping[str, Attribute]
    operands: Sequence[Operand]


@dataclass(frozen=True, slots=True)
class When:
    """A condition on a call: ``text`` for people, ``holds`` for the filter."""

    text: str
    holds: Callable[[Call], bool]


def always() -> When:
    """Every call."""
    return When("always", lambda call: True)


def dtype(*names: str) -> When:
    """Some operand has one of these dtypes, or an attribute asks for a result of one."""

    def holds(call: Call) -> bool:
        asked = (call.attributes.get(name) for name in _RESULT_DTYPES)
        return any(each.dtype in names for each in call.operands) or any(
            each in names for each in asked
        )

    return When(f"dtype {' or '.join(names)}", holds)


def attribute(name: str, *values: Attribute) -> When:
    """The attribute ``name`` has one of ``values``."""
    listed = " or ".join(map(str, values))
    return When(f"{name} {listed}", lambda call: call.attributes.get(name) in values)


def not_default(name: str, *defaults: Attribute) -> When:
    """The attribute ``name`` is present and none of ``defaults``."""

    def holds(call: Call) -> bool:
        value = call.attributes.get(name)
        return value is not None and value not in defaults

    others = " or ".join(str(each) for each in defaults if each)
    return When(f"{name} other than {others}" if others else f"{name} is given", holds)


@dataclass(frozen=True, slots=True)
class Limitation:
    """``oracle`` cannot answer calls of ``operator`` ``when`` the condition holds, and ``why``."""

    operator: str
    oracle: str
    when: When
    why: str


TABLE: dict[tuple[str, str], tuple[Limitation, ...]] = {}
"""Limitations by oracle and operator."""


def limit(oracle: str, operator: str, when: When, why: str) -> None:
    """Declare a limitation."""
    key = (oracle, operator)
    TABLE[key] = (*TABLE.get(key, ()), Limitation(operator, oracle, when, why))


def limiting(oracle: str) -> Callable[[str, When, str], None]:
    """Return ``limit`` for one oracle: a function of operator, condition and reason."""

    def declared(operator: str, when: When, why: str) -> None:
        limit(oracle, operator, when, why)

    return declared


def limitations() -> Iterator[Limitation]:
    """All limitations of the oracles imported so far, in the order of their declaration."""
    for each in TABLE.values():
        yield from each


def check(oracle: str, node: Node, operands: Iterable[Operand]) -> None:
    """Refuse a call that a limitation of ``oracle`` covers.

    ``operands`` are looked at only where the oracle has a limitation of the operator.

    Raises:
        Unsupported: a limitation holds; the message is the oracle and its reason.
    """
    declared = TABLE.get((oracle, node.operator))
    if declared:
        _refuse(declared, Call(node.operator, node.attributes, tuple(operands)))


def check_input(oracle: str, shape: tuple[int, ...], dtype: str) -> None:
    """Refuse a program's input that a limitation of ``oracle`` covers, whatever uses the input.

    Raises:
        Unsupported: as ``check``.
    """
    _refuse(TABLE.get((oracle, ANY), ()), Call(ANY, {}, (Operand(shape, dtype),)))


def _refuse(declared: Sequence[Limitation], call: Call) -> None:
    for limitation in declared:
        if limitation.when.holds(call):
            raise Unsupported(f"{limitation.oracle}: {limitation.why}")

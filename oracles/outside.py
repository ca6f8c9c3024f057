"""The answer of several oracles, one of which bounds the outputs that the others are held to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.compare import within


@dataclass(frozen=True, slots=True)
class Answer:
    """The outputs and their bounds; oracles within them, outside of them, and without an answer.

    All three are by the name of the oracle. ``weak``: a single oracle answered, and nothing else
    supports it.
    """

    outputs: tuple[Bounded, ...]
    agreeing: tuple[str, ...]
    splits: Mapping[str, str]
    unsupported: Mapping[str, str]
    weak: bool = False


class NoAnswer(Exception):
    """No oracle can answer; the message has each one's reason."""


def held(
    names: Sequence[str],
    bounded: tuple[Bounded, ...],
    answers: Mapping[str, tuple[Array, ...]],
    unsupported: Mapping[str, str],
    agreeing: tuple[str, ...],
    *,
    weak: bool = False,
) -> Answer:
    """The answer ``bounded``, and which of the others' ``answers`` lie within it.

    ``names`` are those of the outputs; ``agreeing`` are oracles that the bounds come from.
    """
    splits = {}
    for oracle, values in answers.items():
        differences = [
            f"output {name}: {why}"
            for name, value, wanted in zip(names, values, bounded, strict=True)
            if (why := difference(value, wanted))
        ]
        if differences:
            splits[oracle] = "; ".join(differences)
        else:
            agreeing = (*agreeing, oracle)
    return Answer(bounded, agreeing, splits, unsupported, weak)


def difference(value: Array, wanted: Bounded) -> str:
    """The way in which ``value`` lies outside of ``wanted``; "" if it does not."""
    if value.shape != wanted.value.shape:
        return f"shape {value.shape}, not {wanted.value.shape}"
    if value.dtype != numpy_dtype(wanted.dtype):
        return f"dtype {value.dtype}, not {wanted.dtype}"
    compared = within(value, wanted)
    return "" if compared.ok else f"{compared.outside} of {value.size} elements outside the bound"

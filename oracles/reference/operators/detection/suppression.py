"""The reference's boxes that stay where better ones of their class remove those they overlap."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from relaxcheck.generators.core.program import ITEM, Node
from relaxcheck.oracles.answer import Array
from relaxcheck.oracles.reference.attribute_values import flag, integer, number
from relaxcheck.oracles.reference.bounds import LIBM, unconstrain
from relaxcheck.oracles.reference.estimate import FORMATS, Errors, Estimate, Flags
from relaxcheck.oracles.reference.evaluation import operator
from relaxcheck.oracles.reference.operators.detection.overlaps import is_exact, overlaps


class _OpenError(Exception):
    """Rounding decides, or nothing that is defined."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """The attributes of a call; counts below 1 are no limit, an identity of -1 no class."""

    most: int
    best: int
    limit: float
    least: float
    sigma: float
    corners: int
    score: int
    identity: int

    @property
    def is_soft(self) -> bool:
        """True if scores fall where boxes overlap."""
        return self.sigma > 0


@dataclass(slots=True)
class _Kept:
    """The rows of a batch that stay, in order; the rank of each, with all; its score."""

    places: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    scores: list[tuple[float, float]] = field(default_factory=list)


def _rules(node: Node) -> _Rules:
    sigma = number(node, "soft_nms_sigma", 0.0)
    return _Rules(
        integer(node, "max_output_size", -1),
        integer(node, "top_k", -1),
        number(node, "iou_threshold", 0.5),
        number(node, "score_threshold", 0.0) if sigma > 0 else 0.0,
        sigma,
        integer(node, "coord_start", 2),
        integer(node, "score_index", 1),
        -1 if flag(node, "force_suppress", False) else integer(node, "id_index", 0),
    )


def _check(operands: list[Estimate], rules: _Rules, identity: int) -> None:
    data, counts, places = operands
    if data.value.ndim != 3 or counts.value.shape != data.value.shape[:1]:
        raise ValueError("a number of valid rows for each batch of rows")
    if places.value.shape != data.value.shape[:2]:
        raise ValueError("a place for each row of each batch")
    if {counts.dtype, places.dtype} != {"int32"}:
        raise ValueError("counts and places are int32")
    length = data.value.shape[2]
    if not 0 <= rules.score < length or not -1 <= identity < length:
        raise ValueError(f"a row of {length} has no place {rules.score} or {identity}")
    if not 0 <= rules.corners <= length - 4:
        raise ValueError(f"a row of {length} has no box at {rules.corners}")
    if 0 in (rules.most, rules.best):
        raise ValueError("a limit of 0 boxes is not defined")


@operator("vision.non_max_suppression")
def _suppressed(node: Node, operands: list[Estimate]) -> Estimate:
    """A batch where rounding decides which rows stay is open."""
    data, counts, places = operands
    rules = _rules(node)
    _check(operands, rules, integer(node, "id_index", 0))
    batches = [
        _batch(Estimate(data.value[at], data.error[at], data.dtype), rows, at_places, rules)
        for at, (rows, at_places) in enumerate(_pairs(counts, places))
    ]
    if not flag(node, "return_indices", True):
        on_top = rules.is_soft or flag(node, "invalid_to_bottom", False)
        return _rows(data, batches, rules, on_top=on_top)
    item = integer(node, ITEM) + (0 if rules.is_soft else 1)
    if item == 0:
        return _rows(data, batches, rules, on_top=True)
    open_batches = np.array([kept is None for kept in batches], bool)[:, None]
    if item == 2:
        numbers = [[len(kept.places) if kept else 0] for kept in batches]
        return _integers(np.array(numbers).reshape(-1, 1), open_batches)
    result = np.full(places.value.shape, -1)
    unsure = np.broadcast_to(open_batches, result.shape).copy()
    for at, kept in enumerate(batches):
        if kept is not None:
            result[at, : len(kept.places)] = places.value[at, kept.places]
            unsure[at, : len(kept.places)] = places.error[at, kept.places] > 0
    return _integers(result, unsure)


def _pairs(counts: Estimate, places: Estimate) -> list[tuple[int | None, Array]]:
    """The number of rows of each batch, None where it is open, and their places."""
    known = [
        None if error else int(value)
        for value, error in zip(counts.value, counts.error, strict=True)
    ]
    return list(zip(known, places.value, strict=True))


def _integers(value: Array, unsure: Flags) -> Estimate:
    return unconstrain(Estimate(value, np.zeros(value.shape), "int32"), unsure)


def _rows(data: Estimate, batches: list[_Kept | None], rules: _Rules, *, on_top: bool) -> Estimate:
    value, error = np.full_like(data.value, -1), np.zeros(data.value.shape)
    unsure = np.zeros(data.value.shape, bool)
    for at, kept in enumerate(batches):
        if kept is None:
            unsure[at] = True
            continue
        ranks = range(len(kept.places)) if on_top else kept.ranks
        for rank, place, (score, off) in zip(ranks, kept.places, kept.scores, strict=True):
            value[at, rank], error[at, rank] = data.value[at, place], data.error[at, place]
            value[at, rank, rules.score], error[at, rank, rules.score] = score, off
    return unconstrain(Estimate(value, error, data.dtype), unsure)


def _batch(data: Estimate, count: int | None, places: Array, rules: _Rules) -> _Kept | None:
    """The rows that stay; None where that is open."""
    if count is None:
        return None
    if not 0 <= count <= len(data.value):
        raise ValueError(f"{count} of {len(data.value)} rows cannot be valid")
    rows = Estimate(data.value[:count], data.error[:count], data.dtype)
    if not is_exact(rows):
        return None
    try:
        return _soft(rows, rules) if rules.is_soft else _hard(rows, rules)
    except _OpenError:
        return None


def _ranked(rows: Estimate, rules: _Rules) -> list[int]:
    """The best rows in order; ties have none, and a score of 0 or less may be no box."""
    scores = rows.value[:, rules.score]
    if len(set(scores.tolist())) != len(scores) or (scores <= 0).any():
        raise _OpenError
    order: list[int] = np.argsort(-scores).tolist()
    return order[: rules.best] if rules.best > 0 else order


def _alike(rows: Estimate, rules: _Rules) -> Callable[[int, int], bool]:
    """Return the test that is true of two rows one of which may remove the other."""
    if rules.identity < 0:
        return lambda at, other: True
    classes = rows.value[:, rules.identity]
    return lambda at, other: bool(classes[at] == classes[other])


def _over(rows: Estimate, rules: _Rules) -> tuple[Callable[[int, int], bool], Array, Errors]:
    """A test whether two boxes overlap too much; the quotients, and their errors."""
    shared = overlaps(rows.value[:, rules.corners : rules.corners + 4], rows.dtype)
    over, unsure = shared.over(rules.limit, rows.dtype, strictly=False)

    def reaches(at: int, other: int) -> bool:
        if unsure[at, other]:
            raise _OpenError
        return bool(over[at, other])

    return reaches, shared.quotient, shared.error


def _hard(rows: Estimate, rules: _Rules) -> _Kept:
    kept, alike = _Kept(), _alike(rows, rules)
    over, _, _ = _over(rows, rules)
    for rank, at in enumerate(_ranked(rows, rules)):
        if len(kept.places) == rules.most:
            break
        if not any(alike(better, at) and over(better, at) for better in kept.places):
            kept.places.append(at)
            kept.ranks.append(rank)
            kept.scores.append((rows.value[at, rules.score], 0.0))
    return kept


def _soft(rows: Estimate, rules: _Rules) -> _Kept:
    """Scores fall as each better row is chosen; a score that is near another, or near the least,
    leaves the batch open.
    """
    kept, alike, unit = _Kept(), _alike(rows, rules), FORMATS[rows.dtype].unit
    over, quotient, off = _over(rows, rules)
    left = {at: (rows.value[at, rules.score], 0.0) for at in _ranked(rows, rules)}

    def stays(score: float, error: float) -> bool:
        if abs(score - rules.least) <= error + unit * rules.least:
            raise _OpenError
        return score > rules.least

    left = {at: score for at, score in left.items() if stays(*score)}
    while left and len(kept.places) != rules.most:
        at = max(left, key=lambda each: left[each][0])
        score, error = left.pop(at)
        if any(score - other <= error + more for other, more in left.values()):
            raise _OpenError
        kept.places.append(at)
        kept.ranks.append(len(kept.ranks))
        kept.scores.append((score, error))
        for other, (value, more) in list(left.items()):
            if not alike(at, other):
                continue
            if over(at, other):
                del left[other]
                continue
            shared, wrong = float(quotient[at, other]), float(off[at, other])
            power = shared**2 / (2 * rules.sigma)
            # The quotient counts twice; the factor, two products and the exponential round.
            bend = 2 * shared * wrong / (2 * rules.sigma) + 4 * unit * power
            factor = np.exp(-power)
            fall = np.expm1(bend) + (2 * LIBM + 1) * unit
            less = float(value * factor), float(more * factor + (value + more) * factor * fall)
            if stays(*less):
                left[other] = less
            else:
                del left[other]
    return kept

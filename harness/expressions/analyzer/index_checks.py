"""The checks of what the analyzer makes of indices: maps of iterators, and what they promise."""

from collections.abc import Iterator

import numpy as np

from relaxcheck.generators.expressions.language import apply
from relaxcheck.generators.expressions.subject import is_index
from relaxcheck.harness.expressions.analyzer.answers import fault, same
from relaxcheck.harness.expressions.analyzer.observed import Observed
from relaxcheck.harness.expressions.analyzer.session import Handle, Session
from relaxcheck.harness.expressions.fault import Fault


def iterators(session: Session, seen: Observed, handle: Handle) -> Iterator[Fault]:
    """iter_map_simplify and detect_iter_map keep an index, and what they promise of it is so."""
    if not is_index(seen.case):
        return
    assumed = [session.emit(each) for each in seen.case.constraints]
    predicate = assumed[0] if assumed else None
    if len(assumed) > 1:
        predicate = session.emit(apply("and", *seen.case.constraints[:2]))
    result = session.index(handle, predicate)
    if result != seen.case.expression:
        yield from same("iter_map_simplify", seen, result)
    for level in ("NoCheck", "Surjective", "Bijective"):
        mapped = session.iterators(handle, predicate, level)
        if mapped is None:
            continue
        yield from same("detect_iter_map", seen, mapped[0])
        # A map is said to meet all values of the iterators: also those that overflow here.
        if level != "NoCheck" and not seen.partial:
            yield from _promised(seen, mapped[1], level)


def _promised(seen: Observed, iterator: tuple[int, int, int] | None, level: str) -> Iterator[Fault]:
    """Surjective: every value of the iterator is met. Bijective: each is met once."""
    distinct = np.unique(seen.inside)
    if level == "Bijective" and distinct.size != seen.inside.size:
        repeated = distinct[
            np.argmax([np.count_nonzero(seen.inside == value) > 1 for value in distinct])
        ]
        point = seen.where(np.equal(seen.values.values, repeated))
        yield fault("detect_iter_map-bijective", "says that no value occurs twice", seen, point)
    if iterator is not None:
        base, scale, extent = iterator
        # The extent may be whatever TVM says, and is compared before as many values are made.
        if extent != distinct.size or not np.array_equal(
            np.sort(base + scale * np.arange(extent)), distinct
        ):
            text = f"says that it is {base} + {scale}*k for each k below {extent}"
            yield fault("detect_iter_map-surjective", text, seen, None)

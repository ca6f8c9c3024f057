"""The checks of what the analyzer makes of indices: maps of iterators, and what they promise."""

from collections.abc import Iterator

import numpy as np

from generators.algebra_case import is_index
from generators.expressions import apply
from harness.algebra.answers import fault, same
from harness.algebra.observed import Observed
from harness.algebra.session import Handle, Session
from harness.fault import Fault


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
        found = session.iterators(handle, predicate, level)
        if found is None:
            continue
        yield from same("detect_iter_map", seen, found[0])
        if level != "NoCheck":
            yield from _promised(seen, found[1], level)


def _promised(seen: Observed, iterator: tuple[int, int, int] | None, level: str) -> Iterator[Fault]:
    """Surjective: every value of the iterator is met. Bijective: each is met once."""
    met = np.unique(seen.inside)
    if level == "Bijective" and met.size != seen.inside.size:
        repeated = met[np.argmax([np.count_nonzero(seen.inside == value) > 1 for value in met])]
        point = seen.where(np.equal(seen.values.values, repeated))
        yield fault("detect_iter_map-bijective", "says that no value occurs twice", seen, point)
    if iterator is not None:
        base, scale, extent = iterator
        # The extent may be whatever TVM says, and is compared before as many values are made.
        if extent != met.size or not np.array_equal(np.sort(base + scale * np.arange(extent)), met):
            text = f"says that it is {base} + {scale}*k for each k below {extent}"
            yield fault("detect_iter_map-surjective", text, seen, None)

"""Choice of the values that the tensors of a sample take."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from relaxcheck.generators.core.fills.kinds import (
    Below,
    Fill,
    Literal,
    Positive,
    Random,
    Steps,
)
from relaxcheck.generators.torch.program import Program, Tensor
from relaxcheck.generators.torch.samples.varying import FLOATING
from tests.measure.torch_samples.running import Results, odd, runs

MORE_ODD = 0.2
"""The share of results that are not finite may grow by so much where values are drawn."""

WHOLE = (
    *("linalg.", "cholesky", "lu", "triangular_solve", "ormqr", "geqrf", "pinverse", "svd"),
    *("qr", "logdet", "lobpcg", "matrix_exp", "det", "inverse", "lstsq", "symeig", "eig"),
    *("searchsorted", "bucketize", "nn.functional.ctc_loss", "quantile", "nanquantile"),
    *("histogram", "histc", "segment_reduce", "sparse"),
)
"""The entries whose samples keep their values: matrices that can be inverted, sorted bounds."""

SORTED = ("searchsorted", "bucketize")
"""The entries with an operand that must be sorted, whatever its dtype."""

DEGREES = tuple(
    f"special.{name}"
    for name in (
        *("chebyshev_polynomial", "hermite_polynomial", "laguerre_polynomial"),
        *("legendre_polynomial", "shifted_chebyshev_polynomial"),
    )
)
"""The polynomials: PyTorch takes as many steps as the last operand, their degree, says."""

KEPT = (
    "linalg.cross",
    "linalg.vecdot",
    "linalg.vector_norm",
    "linalg.norm",
    "linalg.diagonal",
    "linalg.multi_dot",
    "linalg.vander",
    "linalg.matrix_norm",
)
"""Entries of linear algebra that take any matrix."""

ORDERED = (
    "scatter",
    "index_put",
    "put",
    "index_copy",
    "_unsafe_masked_index",
    "take_along",
    "nn.functional.embedding_bag",
)
"""The entries whose meaning needs indices that are all different, or in order."""


def filled(program: Program, entry: str, domain: tuple[float | None, float | None]) -> Program:
    """``program``, whose tensors have literal values, with drawn values where it takes them."""
    base = runs(program)
    if base is None:
        return program
    if entry.startswith(DEGREES):
        first, *rest = program.tensors
        degree = {tensor.name: Steps(1, 6) for tensor in rest[-1:]}
        return _with(program, {first.name: Steps(16, 15), **degree})
    whole = entry.startswith(WHOLE) and not entry.startswith(KEPT)
    now = program
    for fills in () if whole else _float_fills(program.tensors, domain):
        tried = _with(program, fills)
        if _serves(tried, base):
            now = tried
            break
    if not entry.startswith((*ORDERED, *WHOLE)) or entry.startswith(KEPT):
        for tensor in now.tensors:
            now = _drawn_integers(now, tensor, base)
    return now


def _drawn_integers(program: Program, tensor: Tensor, base: Results) -> Program:
    """``program`` with drawn values of the tensor of integers or truth values ``tensor``."""
    if not isinstance(tensor.fill, Literal) or tensor.dtype in FLOATING:
        return program
    numbers = [int(value) for value in tensor.fill.values]
    fills: list[Fill] = []
    if tensor.dtype == "bool":
        fills = [Random()]
    elif numbers and min(numbers) >= 0 and len(numbers) > 1:
        fills = [Below(max(numbers) + 1)]
    for fill in fills:
        tried = _with(program, {tensor.name: fill})
        if _serves(tried, base):
            return tried
    return program


def drawn_integers_of(program: Program, dtype: str) -> Program:
    """``program`` with all operands of ``dtype``, of integers or truth values, drawn if it may."""
    base = runs(program)
    names = [t.name for t in program.tensors if t.dtype == dtype and dtype not in FLOATING]
    tried = _with(program, dict.fromkeys(names, Random()))
    return tried if names and base is not None and _serves(tried, base) else program


def _float_fills(
    tensors: Sequence[Tensor], domain: tuple[float | None, float | None]
) -> Iterator[dict[str, Fill]]:
    floats = [tensor for tensor in tensors if tensor.dtype in FLOATING and tensor.fill != Random()]
    low, high = domain
    if (low, high) == (None, None):
        yield {tensor.name: Random() for tensor in floats}
    if low is not None and high is not None and -low == high == 1:
        yield {tensor.name: Steps(16, 15) for tensor in floats}
    if low is not None and low >= 0:
        yield {tensor.name: Positive(max(low, 0.125)) for tensor in floats}
    yield {
        tensor.name: Positive(0.125) if _above(tensor) else Random()
        for tensor in floats
        if not _between(tensor)
    }
    for tensor in floats:
        yield {other.name: Random() for other in floats if other is not tensor}
    if floats:
        yield {floats[0].name: Random()}


def _above(tensor: Tensor) -> bool:
    assert isinstance(tensor.fill, Literal)
    return len(tensor.fill.values) > 1 and min(tensor.fill.values) >= 0


def _between(tensor: Tensor) -> bool:
    """True if all values lie between 0 and 1, as probabilities do."""
    assert isinstance(tensor.fill, Literal)
    values = tensor.fill.values
    return len(values) > 1 and min(values) >= 0 and max(values) <= 1


def _with(program: Program, fills: dict[str, Fill]) -> Program:
    tensors = tuple(
        replace(tensor, fill=fills[tensor.name]) if tensor.name in fills else tensor
        for tensor in program.tensors
    )
    return replace(program, tensors=tensors)


def _serves(program: Program, base: Results) -> bool:
    """True if PyTorch computes results of the shapes of ``base``, as many of them finite."""
    for regime, seed in (("normal", 0), ("exact", 1), ("normal", 2)):
        results = runs(program, regime, seed)
        if results is None or [r.shape for r in results] != [r.shape for r in base]:
            return False
        if odd(results) > odd(base) + MORE_ODD:
            return False
    return True

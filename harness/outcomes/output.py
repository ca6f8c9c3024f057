"""The outputs of a run, element by element, for a page that shows them."""

import msgspec


class Output(msgspec.Struct, frozen=True):
    """An output of one run: every element, its expected value and its bound, in row-major order.

    The elements are text that ``float`` reads, so that infinities and NaN survive JSON. ``dtype``
    is the expected one, by TVM's name; ``shape`` is that of both.
    """

    name: str
    binding: dict[str, int]
    regime: str
    dtype: str
    shape: tuple[int, ...]
    actual: tuple[str, ...]
    expected: tuple[str, ...]
    bound: tuple[str, ...]

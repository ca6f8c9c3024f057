"""How far past the end of an axis a sliding window reads: integers alone, no TVM.

An axis of n elements that is padded to a longer one has n valid elements, and then others. What an
operator computes of the valid ones is the same as without the padding if it reads none of the
others, or finds there what it would find past an end: zeros, for a convolution.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """A window that moves along an axis, as that of a convolution or a pooling.

    It takes every ``dilation``-th of ``(taps - 1) * dilation + 1`` elements, and moves by
    ``stride``. ``after`` is the operator's own padding at the end. ``ceil``: the last window may
    begin where not all of it fits.
    """

    taps: int
    stride: int
    dilation: int
    after: int
    ceil: bool = False

    def reach(self) -> int:
        """The largest number of positions past the end that any output reads, over all lengths.

        Of floor((n + before + after - span) / stride) + 1 windows the last ends at most at
        n + after; with the ceiling instead, up to stride - 1 further.
        """
        return max(0, self.after + (self.stride - 1 if self.ceil else 0))


@dataclass(frozen=True, slots=True)
class TransposedWindow:
    """The window of a transposed convolution: input i is added to i*stride + t*dilation - before.

    ``after`` is cut off at the end, and ``output_padding`` added.
    """

    taps: int
    stride: int
    dilation: int
    after: int
    output_padding: int

    def reach(self) -> int:
        """How many inputs past the end would be added to an output.

        The last output is (n - 1)*stride + (taps - 1)*dilation + output_padding - before - after;
        input i is added to none before i*stride - before.
        """
        beyond = (self.taps - 1) * self.dilation + self.output_padding - self.after
        return max(0, beyond // self.stride)

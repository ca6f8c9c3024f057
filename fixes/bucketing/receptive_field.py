"""The reach of a sliding window past the end of an axis, in plain integers.

A padded axis has n valid elements, then others. The results for the valid ones are the same as
without padding if they depend on none of the others, or if the others have the values that the
operator expects past an end: zeros, for a convolution.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Window:
    """A window that slides along an axis, as in convolution or pooling.

    It reads every ``dilation``-th of ``(taps - 1) * dilation + 1`` elements, and moves by
    ``stride``. ``after`` is the operator's own padding at the end. ``ceil``: the last window may
    begin where it does not fit completely.
    """

    taps: int
    stride: int
    dilation: int
    after: int
    ceil: bool = False

    def reach(self) -> int:
        """The number of positions past the end that outputs may read, over all lengths.

        The last of floor((n + before + after - span) / stride) + 1 windows ends at n + after at
        most; with the ceiling instead, up to stride - 1 further.
        """
        return max(0, self.after + (self.stride - 1 if self.ceil else 0))


@dataclass(frozen=True, slots=True)
class TransposedWindow:
    """The window of a transposed convolution: input i contributes at i*stride + t*dilation -
    before.

    ``after`` is cut off at the end, and ``output_padding`` added.
    """

    taps: int
    stride: int
    dilation: int
    after: int
    output_padding: int

    def reach(self) -> int:
        """The number of inputs past the end that would contribute to an output.

        The last output is (n - 1)*stride + (taps - 1)*dilation + output_padding - before - after;
        input i contributes to none before i*stride - before.
        """
        beyond = (self.taps - 1) * self.dilation + self.output_padding - self.after
        return max(0, beyond // self.stride)

"""The reach of windows past an end agrees with enumerating every window of every length."""

import itertools

from relaxcheck.fixes.bucketing.receptive_field import TransposedWindow, Window

LENGTHS = range(1, 40)


def test_windows() -> None:
    for taps, stride, dilation, before, after, ceil in itertools.product(
        (1, 2, 3, 5), (1, 2, 3), (1, 2, 3), (0, 1, 2), (0, 1, 4), (False, True)
    ):
        span = (taps - 1) * dilation + 1
        furthest = 0
        for length in LENGTHS:
            room = length + before + after - span
            if room < 0:
                continue
            last = -(-room // stride) if ceil else room // stride
            furthest = max(furthest, last * stride - before + span - length)
        window = Window(taps, stride, dilation, after, ceil)
        assert window.reach() == furthest, window


def test_transposed_windows() -> None:
    for taps, stride, dilation, before, after in itertools.product(
        (1, 2, 3, 5), (1, 2, 3), (1, 2, 3), (0, 1), (0, 1, 4)
    ):
        for more in range(stride):
            window = TransposedWindow(taps, stride, dilation, after, more)
            length = 20
            outputs = (length - 1) * stride + (taps - 1) * dilation + 1 - before - after + more
            furthest = 0
            for beyond, tap in itertools.product(range(1, 20), range(taps)):
                if (length - 1 + beyond) * stride + tap * dilation - before < outputs:
                    furthest = max(furthest, beyond)
            assert window.reach() == furthest, window

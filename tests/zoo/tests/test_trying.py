"""The time of a model's run."""

from collections.abc import Iterator

from tests.zoo.children import in_child
from tests.zoo.trying import _timed


def _computes() -> None:
    # To look at the clock of this thread would bring that of the process up to date.
    for number in range(20_000):
        number**2


def _timed_run() -> Iterator[float]:
    yield _timed({"off": _computes}, [])["off"]


def test_a_limit_of_the_processor_s_time_leaves_short_times_true() -> None:
    (seconds,) = in_child(_timed_run, 60.0)
    assert 1e-4 < seconds < 0.1

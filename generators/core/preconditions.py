"""Preconditions: what a pass demands of a program, by TVM's own documentation.

A program that a precondition excludes is not drawn: whatever a pass does to it is no bug.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from relaxcheck.generators.core.axes import Axis, run_axes
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.points import Given, narrowed


@dataclass(frozen=True, slots=True)
class Precondition:
    """A pipeline that takes programs of some dtypes alone.

    TVM says so in ``words`` of the docstring of ``function``. They begin in ``file`` of TVM's
    repository on the line that ``lines`` has for each release.
    """

    pipeline: str
    dtypes: tuple[str, ...]
    words: str
    function: str
    file: str
    lines: Mapping[str, int]

    @property
    def source(self) -> str:
        """The docstring with its file and line: ``docstring of F, FILE, line N in RELEASE``."""
        places = ", ".join(f"{line} in {release}" for release, line in self.lines.items())
        return f"docstring of {self.function}, {self.file}, line {places}"


PRECONDITIONS = (
    Precondition(
        "mixed-precision",
        ("float32",),
        "Currently the pass assumes the input module to be fp32 only",
        "tvm.relax.transform.ToMixedPrecision",
        "python/tvm/relax/transform/transform.py",
        {"0.25": 1409, "0.26": 1396, "0.27": 1397},
    ),
)

_DTYPE = "dtype"
"""The axis of a program's dtypes."""

_OUT_DTYPE = "out_dtype"
"""The axis of the dtype of results; None: that of what they are made of."""


def takes(pipeline: Value, dtype: Value) -> bool:
    """True if no precondition of ``pipeline`` excludes programs of ``dtype``."""
    return all(
        dtype in condition.dtypes for condition in PRECONDITIONS if condition.pipeline == pipeline
    )


def _is_taken(*values: Value) -> bool:
    """True if the last of ``values``, a pipeline, takes programs of the dtypes before it."""
    dtype, *made, pipeline = values
    limits = any(condition.pipeline == pipeline for condition in PRECONDITIONS)
    return takes(pipeline, dtype) and not (limits and any(each is not None for each in made))


def with_run_axes(
    axes: Sequence[Axis], pipelines: Sequence[str], *, whole_range: bool = False
) -> tuple[Axis, ...]:
    """``axes`` and those of how a program is compiled and fed; preconditions hold at every point.

    The dtypes are those that at least one of ``pipelines`` takes; ``whole_range`` as for
    ``run_axes``.
    """
    taken = {
        axis.name: [value for value in axis.values if any(takes(name, value) for name in pipelines)]
        for axis in axes
        if axis.name == _DTYPE
    }
    pipeline, *others = run_axes(pipelines, whole_range=whole_range)
    # A result of another dtype is part of the module, too.
    names = [_DTYPE, *(axis.name for axis in axes if axis.name == _OUT_DTYPE)]
    limited = replace(pipeline, allowed=Given(tuple(names), _is_taken))
    return (*narrowed(axes, taken), limited, *others)

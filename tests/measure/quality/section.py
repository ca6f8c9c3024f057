"""A section of the quality report: a measurement, its Markdown and its targets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Show = Callable[[str, float], None]
"""Is told what is being measured, and which share of the section, from 0 to 1, is done."""

Figures = Mapping[str, Any]
"""The measured figures, as JSON."""


@dataclass(frozen=True, slots=True)
class Section:
    """One measurement of how good the harness is.

    ``measure(share, workers, show)`` measures ``share`` (0 to 1) of the whole size on ``workers``
    processes. ``markdown`` renders the figures, without a heading. ``missed`` names each target
    that the figures do not meet, one line each; targets that hold at full size only are not
    judged at a smaller one.
    """

    name: str
    title: str
    measure: Callable[[float, int, Show], Figures]
    markdown: Callable[[Figures], str]
    missed: Callable[[Figures], list[str]]

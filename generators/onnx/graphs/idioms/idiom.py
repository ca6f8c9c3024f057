"""One idiom: a template with variants."""

from collections.abc import Callable
from dataclasses import dataclass

from relaxcheck.generators.onnx.graphs.drafting import Drafting

PLAIN = "plain"

Build = Callable[[Drafting, str], None]


@dataclass(frozen=True, slots=True)
class Idiom:
    """A template: ``build`` adds its nodes and outputs to a draft, in one of its ``variants``.

    ``since`` is the first opset that has all its operators.
    """

    name: str
    build: Build
    variants: tuple[str, ...] = (PLAIN,)
    since: int = 11

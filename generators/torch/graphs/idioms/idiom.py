"""One idiom: a template with variants."""

from collections.abc import Callable
from dataclasses import dataclass

from relaxcheck.generators.torch.graphs.drafting import Drafting
from relaxcheck.generators.torch.graphs.wire import Wire

PLAIN = "plain"

Build = Callable[[Drafting, str], None]

WIDTH = 8
"""The size of what a token holds."""


@dataclass(frozen=True, slots=True)
class Idiom:
    """A template: ``build`` adds its nodes and outputs to a draft, in one of its ``variants``."""

    name: str
    build: Build
    variants: tuple[str, ...] = (PLAIN,)


def tokens(draft: Drafting, name: str = "x") -> Wire:
    """An input: a batch of sequences."""
    return draft.data((draft.batch, draft.length, WIDTH), name=name)

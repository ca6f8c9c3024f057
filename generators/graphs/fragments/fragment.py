"""The form of a fragment: a pattern that a pass looks for, whole, or with one thing off."""

from collections.abc import Callable
from dataclasses import dataclass

from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.graphs.choices import Choices

Build = Callable[[Draft, Choices, str], None]
"""``build(draft, choices, off)`` appends the pattern; ``off`` names what is off, "" for whole."""


@dataclass(frozen=True, slots=True)
class Fragment:
    """A pattern of a few calls. ``near`` names each thing that may be off."""

    build: Build
    near: tuple[str, ...]

    def __call__(self, draft: Draft, choices: Choices) -> None:
        """Append the pattern, nearly whole in half of all cases."""
        self.build(draft, choices, choices.choice(self.near) if choices.rarely(2) else "")

    def whole(self, draft: Draft, choices: Choices) -> None:
        """Append the whole pattern."""
        self.build(draft, choices, "")

    def nearly(self, draft: Draft, choices: Choices, off: str = "") -> None:
        """Append the pattern with ``off`` off, or any of ``near``."""
        self.build(draft, choices, off or choices.choice(self.near))


def fragment(*near: str) -> Callable[[Build], Fragment]:
    """Declare the fragment that the decorated function builds."""

    def declared(build: Build) -> Fragment:
        return Fragment(build, near)

    return declared

"""Checks by the names that outcomes show."""

from relaxcheck.generators.expressions.language import Variable
from relaxcheck.harness.expressions.fault import Asked


def asked(name: str, *first: Variable, iterations: int | None = None) -> Asked:
    """The check called ``name``: ``simplify-validity-after-range``."""
    plain, _, after = name.partition("-after-")
    question, validity = plain.removesuffix("-validity"), plain.endswith("-validity")
    result = Asked(question, validity, after, first, iterations)
    assert result.check == name
    return result

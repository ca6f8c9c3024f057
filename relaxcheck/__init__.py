"""Differential fuzzing and conformance testing of Apache TVM Relax.

Everything that a user imports::

    from relaxcheck import fixes, strategies
    from relaxcheck import Case, Node, Outcome, Program, Verdict

``fixes`` repairs what is broken in the running TVM. ``strategies`` draws programs with Hypothesis.
The classes are programs and results as plain data. Importing ``relaxcheck`` alone imports no other
package: each name is loaded at its first use.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relaxcheck import fixes, strategies
    from relaxcheck.generators.core.case import CaseError, IllFormed, Invalid, Mismatch, Valid
    from relaxcheck.generators.core.program import Case, Input, Node, Program
    from relaxcheck.generators.expressions.cases import ExpressionCase
    from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
    from relaxcheck.harness.outcomes.severity import Severity
    from relaxcheck.harness.triage.finding import Finding

__all__ = [
    "Case",
    "CaseError",
    "ExpressionCase",
    "Finding",
    "IllFormed",
    "Input",
    "Invalid",
    "Mismatch",
    "Node",
    "Outcome",
    "Program",
    "Severity",
    "Valid",
    "Verdict",
    "__version__",
    "fixes",
    "strategies",
]

__version__ = "0.1.0"

_MODULES = {
    "relaxcheck.generators.core.case": ("CaseError", "IllFormed", "Invalid", "Mismatch", "Valid"),
    "relaxcheck.generators.core.program": ("Case", "Input", "Node", "Program"),
    "relaxcheck.generators.expressions.cases": ("ExpressionCase",),
    "relaxcheck.harness.outcomes.outcome": ("Outcome", "Verdict"),
    "relaxcheck.harness.outcomes.severity": ("Severity",),
    "relaxcheck.harness.triage.finding": ("Finding",),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""Checks of a decoded case that every kind has whose cases are compiled: settings and sizes.

A case that no tensor or pass pipeline can stand for is bad input. TVM would fail on it, and the
failure would look like a finding.
"""

import re
from math import prod

from relaxcheck.generators.core.case import CaseError, target_of
from relaxcheck.generators.core.compiled import CompiledCase
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.targets import TARGETS
from relaxcheck.harness.compiling.pipelines import check_pipeline, pipeline_of

LARGEST_SIZE = 2**31 - 1
"""The largest size of a dimension."""

_MOST_ELEMENTS = 2**24
_HIGHEST_RANK = 16
_FAMILY = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)


def check_settings(case: CompiledCase, most_bindings: int) -> None:
    """Check family, pipeline, level, seed and the number of bindings of ``case``.

    Raises:
        CaseError: one of them makes no sense, in one line.
    """
    check_family_name(case.family)
    check_pipeline(case.pipeline)
    targeted = pipeline_of(case.pipeline).relax_pipeline == "target"
    if targeted and not TARGETS[target_of(case)].fuses:
        raise CaseError(f"TVM has no default pipeline for target {target_of(case)}")
    if case.opt_level not in range(4):
        raise CaseError(f"opt_level {case.opt_level}: LLVM has levels 0 to 3")
    if not 0 <= case.seed < 2**64:
        raise CaseError(f"seed {case.seed}: give a number from 0 to 2**64 - 1")
    if len(case.bindings) > most_bindings:
        raise CaseError(f"{len(case.bindings)} bindings; at most {most_bindings} run")


def check_family_name(name: str) -> None:
    """Check that ``name`` can name a folder. Raises ``CaseError``."""
    if not _FAMILY.fullmatch(name):
        raise CaseError(f"family {name[:100]!r}: a name has letters, digits, _ . and - only")


def check_shapes(case: CompiledCase) -> None:
    """Check rank and sizes of each input of ``case`` at each binding, and its literal values.

    Raises:
        CaseError: one of them is out of range, in one line.
    """
    for tensor in case.inputs:
        if len(tensor.shape) > _HIGHEST_RANK:
            raise CaseError(f"tensor {tensor.name}: {len(tensor.shape)} dimensions")
        for binding in case.bindings:
            try:
                shape = case.shape(tensor.name, binding)
            except ZeroDivisionError as error:
                raise CaseError(f"tensor {tensor.name}: a dimension divides by zero") from error
            if any(not 0 <= size <= LARGEST_SIZE for size in shape) or prod(shape) > _MOST_ELEMENTS:
                raise CaseError(f"tensor {tensor.name}: shape {shape} is out of range")
            if isinstance(tensor.fill, Literal) and len(tensor.fill.values) != prod(shape):
                raise CaseError(
                    f"tensor {tensor.name}: {len(tensor.fill.values)} values for shape {shape}"
                )

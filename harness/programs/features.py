"""Features of a failing program that a reduction could not take away."""

from collections.abc import Iterator
from dataclasses import replace

from relaxcheck.generators.calls import telling
from relaxcheck.generators.core.axes import PIPELINE
from relaxcheck.generators.core.contexts import context_of, text_of
from relaxcheck.generators.core.fills.kinds import Random
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.passes.calls import judged
from relaxcheck.harness.compiling.pipelines import PIPELINES, Pipeline
from relaxcheck.harness.programs.reduction.setting_steps import PLAIN
from relaxcheck.harness.programs.reduction.simplicity import PLAIN_DTYPE, Defaults, sizes

_CALLS = {"shape": "told a shape", "scalars": "told scalars"}
"""Names of the ways to pass the sizes of symbols, as on the axis ``relation``."""


def features(case: Case, operator: str | None, defaults: Defaults) -> dict[str, str]:
    """The settings of ``case`` off the plainest: name to value.

    Names are those of fields of a case, of the axis ``relation``, of attributes; ``dimensions`` are
    ``symbolic``, ``sizes`` are ``0``. ``defaults`` are those of attributes: one without a default
    is no feature, nor is one that shapes decide. Of a failure of one ``operator`` only its own
    attributes count.
    """
    return dict(_features(case, operator, defaults))


def _pipeline(case: Case) -> str:
    """The passes of ``case``, else its pipeline: of several that are alike, the first."""
    if own_passes := [call.name for call in judged(case)]:
        return " + ".join(own_passes)
    own = PIPELINES.get(case.pipeline)
    if own is None or case.fixes:
        return case.pipeline
    return next(name for name, each in PIPELINES.items() if _steps(each) == _steps(own))


def _steps(pipeline: Pipeline) -> Pipeline:
    return replace(pipeline, description="", passes_of_fixes=False)


def _features(case: Case, operator: str | None, defaults: Defaults) -> Iterator[tuple[str, str]]:
    for name, plain in PLAIN.items():
        value = _pipeline(case) if name == PIPELINE else getattr(case, name)
        if name == "context":
            value = text_of(context_of(case)) or plain
        if name != "also" and value != plain:
            yield name, str(value)
    program = case.program
    # Only drawn values: the dtype of indices is the operator's choice.
    dtypes = {tensor.dtype for tensor in program.inputs if isinstance(tensor.fill, Random)}
    if others := sorted(dtypes - {PLAIN_DTYPE}):
        yield "dtype", ", ".join(others)
    if program.size_parameters:
        yield "relation", _CALLS[program.size_parameters]
    if program.symbols:
        yield "dimensions", "symbolic"
    if 0 in sizes(case):
        yield "sizes", "0"
    for node in program.nodes:
        if operator not in (None, node.operator):
            continue
        known = defaults.get(node.operator, {})
        for name, value in telling(node).items():
            plain = name not in known or known[name] == value
            if not plain and isinstance(value, bool | str | int | float):
                yield name, str(value)

"""Scripts that show a failure with TVM, PyTorch and NumPy alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.values import Array, arrays
from relaxcheck.generators.torch.case import DYNAMO, EXPORT, FX, TorchCase
from relaxcheck.harness.compiling.pipelines import pipeline_of
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.outside import NoAnswer
from relaxcheck.oracles.torch.answers import Question, answer
from relaxcheck.oracles.torch.fast_path import OFF as FAST_PATH_OFF
from relaxcheck.oracles.torch.fast_path import has_fast_path
from relaxcheck.reports.imported import run_to_show, seen
from relaxcheck.reports.issue.template import TEMPLATES
from relaxcheck.reports.target_text import (
    device_text,
    is_fused,
    own_pipeline_lines,
    target_text,
    tensor_text,
)
from relaxcheck.reports.templating import docstring_text
from relaxcheck.reports.torch.calls import safe
from relaxcheck.reports.torch.module_text import ModuleText, dynamic_shapes
from relaxcheck.reports.torch.tolerances import comparison
from relaxcheck.reports.torch.values import example_source, tensor_source

_COMPARED = (Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.PASS)
_DIES = (Verdict.PROCESS_DEATH, Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY)
_IMPORTERS = {EXPORT: "from_exported_program", FX: "from_fx", DYNAMO: "relax_dynamo"}

_USUAL = 1e-3
"""The absolute tolerance where PyTorch bounds nothing."""


def script_text(
    case: TorchCase,
    outcome: Outcome,
    title: str,
    environment: Mapping[str, str],
    name: str = "",
    *,
    passes: bool = False,
) -> str:
    """The script ``repro.py``: exits with 1 while the failure is there, with 0 once it is gone.

    With a ``name`` it is the test of that name, an expected failure unless it ``passes``.

    Raises:
        CaseError: the outcome says nothing about TVM, or the case runs with the fixes.
    """
    if not outcome.verdict.is_failure and outcome.verdict is not Verdict.PASS:
        raise CaseError(f"case {case.identifier}: {outcome.verdict} is nothing to be shown")
    if case.fixes:
        raise CaseError(f"case {case.identifier} has the fixes on, which a script does not have")
    index, regime = run_to_show(case, outcome)
    values = arrays(case, index, regime)
    module = ModuleText(case, values)
    inputs = [
        (tensor_source(values[tensor.name], tensor.layout), safe(tensor.name))
        for tensor in case.program.inputs
    ]
    init, forward = module.init(), module.forward()
    compares = outcome.verdict in _COMPARED
    bounds = _bounds(case, values) if compares else ()
    made_dims, shapes = dynamic_shapes(case)
    source = "\n".join((*init, *forward, *(text for text, _ in inputs)))
    examples = _examples(case) if index and case.program.symbols else []
    text = TEMPLATES.get_template(f"torch/{'test' if name else 'repro'}.py.j2").render(
        name=name,
        reason="" if passes else repr(docstring_text(title)),
        title=docstring_text(title),
        seen=seen(outcome, environment),
        dies=outcome.verdict in _DIES,
        door=case.importing.door,
        importer=_IMPORTERS[case.importing.door],
        bfloat16="bfloat16" in source,
        expanded="expanded(" in source or any("expanded(" in each for each in examples),
        draws=module.draws,
        seed=case.seed,
        exact=module.exact,
        init=init,
        parameters=module.parameters,
        forward=forward,
        trained=module.trained,
        settings=[FAST_PATH_OFF] if has_fast_path(case.program) else [],
        inputs=inputs,
        examples=examples,
        dims=_variables(case) if case.importing.door == FX else made_dims,
        signature=_signature(case),
        exporting=(f", dynamic_shapes={shapes}" if shapes else "")
        + (", strict=True" if case.exporting.strict else ""),
        arguments="".join(f", {each}" for each in _arguments(case)),
        keep_params=case.importing.keep_params,
        target=target_text(case),
        device=device_text(case),
        tensor=tensor_text(case),
        own=own_pipeline_lines(pipeline_of(case.pipeline).own),
        fused=pipeline_of(case.pipeline).relax_pipeline == "target" or is_fused(case),
        structure=_structure(case, outcome),
        compares=compares,
        comparison=comparison(bounds) if compares else (),
    )
    return text.lstrip("\n")


def _bounds(case: TorchCase, values: Mapping[str, Array]) -> tuple[Bounded, ...]:
    try:
        return answer(Question(case.program, values, case.seed, case.regime)).outputs
    except NoAnswer:
        zeros = np.zeros(())
        return tuple(Bounded(zeros, zeros + _USUAL, "float32") for _ in case.program.outputs)


def _examples(case: TorchCase) -> list[str]:
    """The inputs that the program is exported with, where it is run with others."""
    first = case.bindings[0]
    return [
        example_source(case.shape(tensor.name, first), tensor.dtype, tensor.layout)
        for tensor in case.program.inputs
    ]


def _arguments(case: TorchCase) -> list[str]:
    """The arguments of the importer behind the program."""
    how = case.importing
    parts = []
    if how.door == EXPORT and not case.exporting.decomposed:
        parts.append("run_ep_decomposition=False")
    if how.keep_params:
        parts.append("keep_params_as_input=True")
    if how.unwrap:
        parts.append("unwrap_unit_return_tuple=True")
    if how.no_bind:
        parts.append("no_bind_return_tuple=True")
    return parts


def _structure(case: TorchCase, outcome: Outcome) -> str:
    """The structure that the result is to have, where it has another: ``tuple`` or ``tensor``."""
    if outcome.verdict is not Verdict.WRONG_SHAPE or outcome.stage != "import":
        return ""
    return "tensor" if ", not a tensor" in outcome.message else "tuple"


def _signature(case: TorchCase) -> str:
    """The shapes and dtypes of the inputs, as ``from_fx`` takes them."""
    rows: list[Any] = []
    for tensor in case.program.inputs:
        sizes = ", ".join(map(str, tensor.shape))
        rows.append(f'(({sizes}{"," if len(tensor.shape) == 1 else ""}), "{tensor.dtype}")')
    return f"[{', '.join(rows)}]"


def _variables(case: TorchCase) -> list[str]:
    """Statements that make the symbols of the shapes."""
    symbols = sorted(
        {name for each in case.program.inputs for dim in each.shape for name in dims.symbols(dim)}
    )
    if not symbols:
        return []
    made = [f'{name} = tir.Var("{name}", "int64")' for name in symbols]
    return ['tir = getattr(tvm, "tirx", None) or tvm.tir', *made]

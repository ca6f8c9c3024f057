"""ONNX models as text, failures as scripts and issues."""

from collections.abc import Iterator, Mapping, Sequence

from relaxcheck.generators.core.case import CaseError, Invalid
from relaxcheck.generators.core.values import Array, arrays, constants, numpy_dtype
from relaxcheck.generators.onnx.case import Importing, OnnxCase
from relaxcheck.generators.onnx.proto import ir_version
from relaxcheck.generators.onnx.walk import nodes_of
from relaxcheck.harness.compiling.pipelines import pipeline_of
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.plain import does
from relaxcheck.harness.wording import plural, series
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.onnx.answers import Question, answer
from relaxcheck.oracles.outside import NoAnswer
from relaxcheck.reports.imported import (
    ImportedRendering,
    Words,
    issue_text,
    run_to_show,
    seen,
    with_bindings,
)
from relaxcheck.reports.issue.template import PACKAGES, TEMPLATES
from relaxcheck.reports.onnx import model_text
from relaxcheck.reports.onnx.titles import title_text
from relaxcheck.reports.rendering import About
from relaxcheck.reports.target_text import (
    device_text,
    is_fused,
    own_pipeline_lines,
    target_text,
    tensor_text,
)
from relaxcheck.reports.templating import docstring_text

_COMPARED = (Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.WRONG_DTYPE, Verdict.PASS)


class OnnxRendering(ImportedRendering[OnnxCase]):
    """Models in lines; failures as scripts of ``onnx.helper`` and as issues."""

    def text(self, case: OnnxCase) -> str:
        """A line for each tensor and node, and how the model is run."""
        return "\n".join((*model_text.model_lines(case.model), _conditions(case)))

    def extent(self, case: OnnxCase) -> str:
        """Counts of nodes and tensors."""
        nodes = len(list(nodes_of(case.model)))
        return f"{plural(nodes, 'node')}, {plural(len(case.model.tensors), 'tensor')}"

    def title(
        self,
        case: OnnxCase,
        outcome: Outcome,
        attribution: Attribution | None,
        blame: Mapping[str, str],
        limits: Limits | None = None,
    ) -> str:
        """The operator, what happens, and with which settings."""
        return title_text(case, does(outcome), blame)

    def pasted(
        self,
        case: OnnxCase,
        outcome: Outcome,
        title: str,
        about: About,
        limits: Limits | None = None,
    ) -> tuple[str, str]:
        """A script that needs TVM and ONNX, and the issue with it."""
        script = script_text(case, outcome, title, about.environment)
        return script, issue_text(case, outcome, title, script, about, _words(case, outcome))

    def pytest(
        self,
        case: OnnxCase,
        outcome: Outcome,
        title: str,
        environment: Mapping[str, str],
        name: str,
        limits: Limits | None = None,
        *,
        passes: bool = False,
    ) -> str:
        """A test that fails while the bug is there."""
        reason = f"[Bug][Frontend][ONNX] {title}"
        return script_text(case, outcome, reason, environment, name, passes=passes)

    def conditions(self, case: OnnxCase) -> tuple[tuple[str, str], ...]:
        """The opset, the importer's arguments, the pipeline."""
        return (
            ("opset", str(case.model.opset)),
            ("from_onnx", _arguments(case) or "as it is"),
            ("pipeline", pipeline_of(case.pipeline).description),
        )

    def distinctions(self, case: OnnxCase, outcome: Outcome) -> Iterator[str]:
        """The opset, attributes and dtypes, then as the base."""
        yield f"in opset {case.model.opset}"
        for node in case.model.nodes:
            for name, value in node.attributes.items():
                yield f"with {name}={value}"
        yield from super().distinctions(case, outcome)


def script_text(
    case: OnnxCase,
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
        CaseError: the outcome says nothing about TVM, the case runs with the fixes, or its model
            has functions, which no script has.
    """
    if not outcome.verdict.is_failure and outcome.verdict is not Verdict.PASS:
        raise CaseError(f"case {case.identifier}: {outcome.verdict} is nothing to be shown")
    if case.fixes:
        raise CaseError(f"case {case.identifier} has the fixes on, which a script does not have")
    if case.model.functions:
        raise CaseError(f"case {case.identifier} has functions, which a script does not have")
    index, regime = run_to_show(case, outcome)
    values = arrays(case, index, regime)
    sources = model_text.tensor_sources(case, constants(case))
    inputs = [
        (repr(tensor.name), model_text.array_source(values[tensor.name]))
        for tensor in case.model.inputs
    ]
    compares = outcome.verdict in _COMPARED and not isinstance(case.expect, Invalid)
    text = "".join((*(each for row in sources.values() for each in row), *dict(inputs).values()))
    answered = _answered(case, values) if compares else ()
    oracle = _oracle(outcome, answered) if compares else ""
    # No package computes them.
    written = [] if oracle else list(map(_written, answered))
    text += "".join(written)
    rtol, atol = _tolerances(answered) if compares else (0.0, 0.0)
    return TEMPLATES.get_template(f"onnx/{'test' if name else 'repro'}.py.j2").render(
        name=name,
        reason="" if passes else repr(docstring_text(title)),
        title=docstring_text(title),
        seen=seen(outcome, environment),
        oracle=oracle,
        written=written,
        ml_dtypes="ml_dtypes." in text,
        numpy_helper="numpy_helper." in text,
        sources=sources,
        outputs=[repr(name) for name in case.model.outputs],
        outputs_source=repr(list(case.model.outputs)),
        imports=", ".join(
            (
                f'helper.make_opsetid("", {case.model.opset})',
                *(
                    f'helper.make_opsetid("{domain}", 1)'
                    for domain in dict.fromkeys(n.domain for n in nodes_of(case.model) if n.domain)
                ),
            )
        ),
        ir_version=ir_version(case.model.opset),
        inputs=inputs,
        compares=compares,
        arguments=", ".join(filter(None, ("model", _arguments(case)))),
        keep_params=case.importing.keep_params,
        target=target_text(case),
        device=device_text(case),
        tensor=tensor_text(case),
        own=own_pipeline_lines(pipeline_of(case.pipeline).own),
        fused=pipeline_of(case.pipeline).relax_pipeline == "target" or is_fused(case),
        rtol=f"{rtol:.3g}",
        atol=f"{atol:.3g}",
        invalid=isinstance(case.expect, Invalid),
        opaque=outcome.verdict is Verdict.OPAQUE_CRASH,
    )


def _oracle(outcome: Outcome, answered: Sequence[Bounded]) -> str:
    """The package that computes the expected outputs; "" if only the reference ``answered`` them.

    An oracle that has no part in ``outcome`` has a fault there, or cannot run the model.
    """
    if "onnxruntime" in outcome.oracles or not outcome.oracles:
        return "onnxruntime"
    return "onnx.reference" if "evaluator" in outcome.oracles or not answered else ""


def _answered(case: OnnxCase, values: Mapping[str, Array]) -> tuple[Bounded, ...]:
    """The outputs for ``values`` with their bounds; none if no oracle can answer."""
    try:
        return answer(Question(case.model, values)).outputs
    except NoAnswer:
        return ()


def _written(output: Bounded) -> str:
    """The value of ``output`` as source."""
    return model_text.array_source(output.value.astype(numpy_dtype(output.dtype)))


def _tolerances(outputs: Sequence[Bounded]) -> tuple[float, float]:
    """Relative and absolute tolerances as wide as the widest bound of the ``outputs``."""
    if not outputs:
        return 1e-3, 1e-3
    finite = [
        float(output.bound[(output.bound < float("inf"))].max(initial=0.0)) for output in outputs
    ]
    return 0.0, 2 * max(finite)


def _arguments(case: OnnxCase) -> str:
    """The arguments of ``from_onnx`` behind the model, as source."""
    how = case.importing
    parts = []
    if how.shapes:
        first = case.bindings[0]
        shapes = {each.name: list(case.shape(each.name, first)) for each in case.model.inputs}
        parts.append(f"shape_dict={shapes}")
    if how.opset:
        parts.append(f"opset={case.model.opset}")
    if how.keep_params:
        parts.append("keep_params_in_input=True")
    if not how.sanitize:
        parts.append("sanitize_input_names=False")
    return ", ".join(parts)


def _conditions(case: OnnxCase) -> str:
    imported = f"; from_onnx({_arguments(case)})" if case.importing != Importing() else ""
    run = f"pipeline {case.pipeline}, LLVM level {case.opt_level}{imported}"
    return with_bindings(run, case)


_ORACLES = {
    "reference": "a float64 reference",
    "onnxruntime": "ONNX Runtime",
    "evaluator": "the evaluator of onnx",
}


def _words(case: OnnxCase, outcome: Outcome) -> Words:
    judged = series([_ORACLES.get(name, name) for name in outcome.oracles])
    do = "do" if len(outcome.oracles) > 1 else "does"
    invalid = isinstance(case.expect, Invalid)
    return Words(
        frontend="ONNX",
        expected="The importer refuses the model, and says what is wrong."
        if invalid
        else "The model is imported, compiles, and computes what ONNX defines"
        + (f", as {judged} {do}." if judged else "."),
        subject="model",
        packages=(*PACKAGES[:2], "onnx", "onnxruntime", *PACKAGES[3:]),
        valid=not invalid,
    )


RENDERING = OnnxRendering()

"""A failure as a script that stands alone, and as a test in the style of TVM's own."""

import keyword
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from relaxcheck.generators.core.case import IllFormed, Invalid, Mismatch
from relaxcheck.generators.core.contexts import arguments_text, context_of
from relaxcheck.generators.core.gradients import gradients, places
from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.generators.passes.calls import binds_constants, not_again
from relaxcheck.generators.passes.text import binding_text, layouts_text
from relaxcheck.harness.compiling.pipelines import GRADIENTS, pipeline_of, steps_before
from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.native.memory import USUAL
from relaxcheck.harness.outcomes import errors
from relaxcheck.harness.outcomes.errors import corrupts_heap, last_part, spelled
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.invalid.rejection import subject_of
from relaxcheck.harness.programs.reproduction import Reproduction, Run, Way, run_of
from relaxcheck.harness.releases.environment import tvm_version
from relaxcheck.harness.triage.fingerprint import operators
from relaxcheck.reports.programs.expected import Expected, expected_of, number_outputs
from relaxcheck.reports.programs.imports import imports_of, packages_of
from relaxcheck.reports.programs.pass_text import lines_without, pass_lines
from relaxcheck.reports.programs.program_text import program_lines, size_names
from relaxcheck.reports.programs.python.inputs import helper_lines, input_lines
from relaxcheck.reports.programs.python.names import TAKEN
from relaxcheck.reports.programs.python.source import (
    WIDTH,
    fitted,
    free_name,
    shape_text,
    string_text,
)
from relaxcheck.reports.target_text import (
    compiling_lines,
    device_text,
    is_fused,
    own_pipeline_lines,
    target_text,
    tensor_text,
)
from relaxcheck.reports.templating import docstring_text

_TEMPLATES = Environment(
    loader=PackageLoader("relaxcheck.reports"),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    trim_blocks=True,
    lstrip_blocks=True,
)

_UNDECIDED = ",\nand with 2 where it is ended by a signal that says nothing of it"
"""A clause on the exit code of a script whose process is to be ended."""


_NEEDS = "#NEEDS"
"""Stands for what a script imports, until that is known."""


@dataclass(frozen=True, slots=True)
class _Refusal:
    """The names of which an error on an invalid program or ``call`` has to use one, as arguments.

    ``parts`` are the operands and attributes that a check of type inference may name instead of the
    ``fault``.
    """

    call: bool
    operator: str
    fault: str
    parts: str


@dataclass(frozen=True, slots=True)
class Script:
    """The parts of a script, each as logical lines of Python.

    ``constants`` are the constant inputs, ``build`` what compiles the module ``mod``, ``calls``
    for each run its binding as text, the lines of its inputs, and the call. Some outputs are
    ``numbers``, and no tensors.
    """

    program: Sequence[str]
    constants: Sequence[str]
    build: Sequence[str]
    calls: Sequence[tuple[str, Sequence[str], str]]
    expected: Expected | None
    numbers: bool


def repro_text(repro: Reproduction, title: str, environment: Mapping[str, str]) -> str:
    """The script ``repro.py``: exits with 1 while the failure is there, with 0 once it is gone.

    ``title`` is its first line; ``environment`` the versions that the failure was seen with. One
    output is held against its bound: that which failed, the first one of a case that passes.
    """
    return _rendered("programs/repro.py.j2", repro, title, environment)


def pytest_text(
    repro: Reproduction,
    title: str,
    environment: Mapping[str, str],
    name: str,
    *,
    passes: bool = False,
) -> str:
    """The same as the test ``name``, marked as an expected failure with ``title`` as its reason.

    It has no such mark if it ``passes``, on a TVM with a patch.
    """
    return _rendered("programs/test.py.j2", repro, title, environment, name, passes=passes)


def _rendered(
    template: str,
    repro: Reproduction,
    title: str,
    environment: Mapping[str, str],
    name: str = "",
    *,
    passes: bool = False,
) -> str:
    ill_formed = isinstance(repro.case.expect, IllFormed)
    rendered = _TEMPLATES.get_template(template).render(
        way=repro.way.value,
        limits=repro.limits,
        timed_out=repro.outcome.verdict is Verdict.TIMEOUT,
        out_of_memory=repro.outcome.verdict is Verdict.OUT_OF_MEMORY,
        ended_by=repro.signal,
        corrupted=corrupts_heap(repro.outcome.message),
        undecided=_UNDECIDED if repro.way is Way.ENDS else "",
        multiple=len(repro.case.program.outputs) > 1,
        compared=_compared(repro),
        subject=_subject(repro),
        refusals=_arguments(errors.NOT_DEFINED if ill_formed else errors.REFUSALS),
        about="what is undefined" if ill_formed else "what is not supported",
        title=_docstring(title),
        reason="" if passes else _reason(title),
        seen=_seen(repro.outcome.verdict, tvm_version(environment)),
        name=name,
        needs=_NEEDS,
        refusal=_refusal(repro),
        wanted=_types(repro),
        script=_script(repro),
    )
    # The last one: a title is text of anybody.
    head, body = rendered.rsplit("#BODY\n", 1)
    lines = [part for line in body.splitlines() for part in _fitted(line)]
    imports = imports_of(body)
    body = "\n".join([*imports, *helper_lines(body), *lines]) + "\n"
    head = head.replace(_NEEDS, packages_of(imports, repro.case.pipeline))
    return head + re.sub(r"\n{4,}", "\n\n\n", body)


def _seen(verdict: Verdict, version: str) -> str:
    """The release of TVM on which the bug was seen, or was not."""
    if not version:
        return ""
    word = "Seen" if verdict.is_failure else "Gone"
    return f" {word} with apache-tvm {docstring_text(version)}."


def _subject(repro: Reproduction) -> str:
    """The operators that an error may say are not supported, and then the bug is gone.

    They are arguments of a call. That is so where the bug was that nothing was said. Of an
    ill-formed program they are the symbols that an error may say are undefined.
    """
    if repro.outcome.verdict not in (Verdict.OPAQUE_CRASH, Verdict.SILENT_BAIL):
        return ""
    if isinstance(repro.case.expect, IllFormed):
        return _arguments(repro.case.expect.symbols)
    return _arguments(map(last_part, operators(repro.case).split(" + ")))


def _compared(repro: Reproduction) -> str:
    """A sentence on the output that is compared, where there are several."""
    outputs = repro.case.program.outputs
    if len(outputs) == 1:
        return ""
    others = sum(name != repro.output for name in repro.wrong)
    more = f"; {others} more of them {'is' if others == 1 else 'are'} wrong" if others else ""
    return f"Compared is output {outputs.index(repro.output)} of {len(outputs)}{more}."


def _docstring(title: str) -> str:
    """``title`` as the first lines of a docstring."""
    return "\n".join(textwrap.wrap(docstring_text(title), WIDTH - 3))


def _reason(title: str) -> str:
    """``title`` as a string over as many lines as it takes."""
    text = string_text(title)
    if len(f"    reason={text},") <= WIDTH:
        return text
    parts = textwrap.wrap(title, WIDTH - 10, drop_whitespace=False)
    return "\n".join(["(", *(f"        {string_text(part)}" for part in parts), "    )"])


def _fitted(line: str) -> list[str]:
    stripped = line.lstrip()
    if stripped.startswith(("#", '"""')):
        return [line]
    return fitted(stripped, len(line) - len(stripped))


def _script(repro: Reproduction) -> Script:
    case = repro.case
    names = _names(case)
    constants = [tensor for tensor in case.program.inputs if tensor.constant]
    first = repro.runs[0] if repro.runs else None
    expected = expected_of(repro, names) if repro.way is Way.VALUES else None
    return Script(
        program=program_lines(case, names),
        constants=_constants(case, constants, first, names),
        build=_build(repro, names),
        calls=[_call(case, run, names) for run in repro.runs],
        expected=expected,
        numbers=bool(number_outputs(case.program)),
    )


def _names(case: Case) -> dict[str, str]:
    """The script's variables for inputs and nodes."""
    own = [*(tensor.name for tensor in case.program.inputs), *(n.name for n in case.program.nodes)]
    sizes = size_names(case.program)
    taken = {*TAKEN, *case.program.symbols, *case.program.counted, *sizes, *keyword.kwlist}
    names = {name: name for name in own if name not in taken}
    for name in own:
        if name in taken:
            names[name] = free_name(name, {*taken, *names.values()})
    return names


def _constants(
    case: Case, constants: Sequence[Input], run: Run | None, names: Mapping[str, str]
) -> list[str]:
    if not constants:
        return []
    run = run or run_of(case, 0, case.regime)
    return [
        line
        for constant in constants
        for line in input_lines(case, constant, run, names[constant.name])
    ]


def _build(repro: Reproduction, names: Mapping[str, str]) -> list[str]:
    case = repro.case
    pipeline = pipeline_of(case.pipeline)
    constants = [names[tensor.name] for tensor in case.program.inputs if tensor.constant]
    as_parameters = pipeline.constants_as_parameters or binds_constants(case)
    bound = [] if as_parameters else constants
    lines = [f"mod = program({', '.join(bound)})"]
    lines.append(f"target = {target_text(case)}")
    steps = pass_lines(repro, names)
    context = arguments_text(context_of(case))
    if context:
        lines.append(f"context = dict({context})")
    scope = "with target, tvm.transform.PassContext(**context):" if context else "with target:"
    if repro.outcome.verdict is Verdict.BROKEN_MODULE:
        return [*lines, scope, *steps]
    for step in steps_before(case.pipeline, case.program):
        if repro.way is Way.LEFT and step == "LegalizeOps":
            break
        steps.append(f"    mod = {_step(step, case, names)}(mod)")
    if repro.way is Way.LEFT:
        steps.append("    mod = relax.transform.LegalizeOps()(mod)")
    if steps:
        lines += [scope, *steps]
    if repro.way is Way.LEFT:
        return lines
    options = ["mod", "target"]
    if pipeline.own:
        lines += own_pipeline_lines(pipeline.own)
        options.append("relax_pipeline=passes")
    elif pipeline.relax_pipeline == "target" or is_fused(case):
        options.append("relax_pipeline=relax.get_default_pipeline(target)")
    if case.exec_mode != "bytecode":
        options.append(f'exec_mode="{case.exec_mode}"')
    build = f"relax.build({', '.join(options)})"
    if once := not_again(case):
        lines += [*lines_without(once, in_context=bool(context)), f"    built = {build}"]
        build = "built"
    elif context:
        lines += ["with tvm.transform.PassContext(**context):", f"    built = {build}"]
        build = "built"
    if repro.loads and UNDEFINED in repro.outcome.details:
        return [
            *lines,
            "# Have glibc fill fresh memory, so that elements that nothing writes show.",
            'if hasattr(ctypes.CDLL(None), "mallopt"):',
            f"    ctypes.CDLL(None).mallopt(-6, {USUAL ^ 0xFF})",
            f'vm = relax.VirtualMachine({build}, tvm.cpu(), memory_cfg="naive")',
        ]
    if repro.loads and corrupts_heap(repro.outcome.message):
        own = "# Each result has memory of its own, which is looked at when it is freed."
        return [*lines, own, f'vm = relax.VirtualMachine({build}, tvm.cpu(), memory_cfg="naive")']
    if repro.loads:
        return [*lines, f"vm = relax.VirtualMachine({build}, {device_text(case)})"]
    return [*lines, *compiling_lines(case, build, repro.outcome)]


def _step(step: str, case: Case, names: Mapping[str, str]) -> str:
    if step == "ConvertLayout":
        return layouts_text(case)
    if step == GRADIENTS:
        run_time = [tensor.name for tensor in case.program.inputs if not tensor.constant]
        at = (run_time.index(node.arguments[1]) for node in gradients(case.program))
        variables = ", ".join(f'mod["main"].params[{number}]' for number in at)
        return f'relax.transform.Gradient("main", [{variables}])'
    if step == "UpperBounds":
        bounds = ", ".join(f'"{name}": {size}' for name, size in case.largest.items())
        bounded = f'm["main"].with_attr("tir_var_upper_bound", {{{bounds}}})'
        return f'(lambda m: m.update_func(m.get_global_var("main"), {bounded}) or m)'
    if step == "BindParams":
        return binding_text(case, names)
    return f"relax.transform.{step}()"


def _call(case: Case, run: Run, names: Mapping[str, str]) -> tuple[str, list[str], str]:
    run_time = [tensor for tensor in case.program.inputs if not tensor.constant]
    lines = [
        line for tensor in run_time for line in input_lines(case, tensor, run, names[tensor.name])
    ]
    arguments = ", ".join(names[tensor.name] for tensor in run_time)
    passed = f"*map({tensor_text(case)}, ({arguments}))"
    if len(run_time) == 1:
        passed = f"{tensor_text(case)}({arguments})"
    for size in case.program.size_arguments(run.binding)[::-1]:
        text = f"tvm.runtime.ShapeTuple({list(size)})" if isinstance(size, tuple) else str(size)
        passed = f"{text}, {passed}"
    binding = ", ".join(f"{symbol} = {value}" for symbol, value in run.binding.items())
    return binding, lines, _results(case.program, passed)


def _results(program: Program, passed: str) -> str:
    """The call on the arguments ``passed``, as an expression of the outputs."""
    if not gradients(program):
        return f'vm["main"]({passed})'
    call, at = f'vm["main_adjoint"]({passed})', places(program)
    # It returns the target, and a tuple of gradients.
    if at == tuple(range(1, len(gradients(program)) + 1)):
        return f"{call}[1]{'[0]' * (len(at) == 1)}"
    return f"(lambda value, made: [[value, *made][at] for at in {list(at)}])(*{call})"


def _refusal(repro: Reproduction) -> _Refusal | None:
    """The names that an error has to use if the program or the call is invalid."""
    expected = repro.case.expect
    if repro.way is not Way.UNCLEAR or not isinstance(expected, Invalid):
        return None
    subject = subject_of(repro.case, expected)
    return _Refusal(
        isinstance(expected, Mismatch),
        _arguments((last_part(expected.operator),)),
        _arguments(spelled(subject.fault)),
        _arguments(subject.named),
    )


def _arguments(texts: Iterable[str]) -> str:
    """``texts`` as the arguments of a call."""
    return ", ".join(map(string_text, dict.fromkeys(texts)))


def _types(repro: Reproduction) -> str:
    """The shapes and dtypes of all outputs, as text of a list."""
    outputs = [repro.values[name] for name in repro.case.program.outputs] if repro.values else []
    return ", ".join(f'({shape_text(output.value.shape)}, "{output.dtype}")' for output in outputs)

"""The expected value of an output and its bound, as lines of Python."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from relaxcheck.generators.calls import form
from relaxcheck.generators.core.case import target_of
from relaxcheck.generators.core.gradients import gradients
from relaxcheck.generators.core.program import Program
from relaxcheck.harness.compiling.pipelines import is_mixed
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.reproduction import Reproduction, one_bound
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.pytorch.source import reference_source
from relaxcheck.oracles.reference.accuracy import TARGETS as LESS_ACCURATE
from relaxcheck.oracles.reference.estimate import FORMATS
from relaxcheck.reports.programs.python.source import array_text, rounded_up, shape_text

_TWICE = 2
"""Bounds that PyTorch's own rounding adds to, in float64, are taken so many times."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The output ``output`` (its position) of a run: what it should be and how it is compared.

    ``reference`` are the lines of a function that computes it, empty where it is written out;
    ``value`` the expression of it and ``bound`` that of its bound, ``remark`` where that comes
    from; ``single``, whether it is one number for all elements. ``dtype`` is what both are
    compared in, ``type`` the shape and dtype that the output has, as text. ``finite`` says whether
    all of it is finite with a finite bound; ``signed``, whether the signs of zeros count. Where the
    output is a ``number``, it is no tensor.
    """

    output: int
    reference: Sequence[str]
    value: str
    bound: str
    remark: str
    single: bool
    dtype: str
    type: str
    finite: bool
    signed: bool
    number: bool


def expected_of(repro: Reproduction, names: Mapping[str, str]) -> Expected:
    """The expected output of ``repro``; ``names`` are the script's variables."""
    wanted = repro.values[repro.output]
    integer = wanted.dtype not in FORMATS
    lines = _reference(repro, names)
    used = [
        names[tensor.name]
        for tensor in repro.case.program.inputs
        if re.search(rf"\b{names[tensor.name]}\b", "\n".join(lines))
    ]
    value = f"reference({', '.join(used)})" if lines else array_text(wanted.value)
    if lines:
        lines = [
            f"def reference({', '.join(used)}):",
            f'    """PyTorch, in {"int64" if integer else "float64"}."""',
            *(f"    {line}" for line in [*_tensors(repro.case.program, names, used), *lines]),
            f"    return {names[repro.output]}{_numpy(repro)}{_wrapping(wanted, integer)}",
        ]
    bound, remark, single = _bound(repro, wanted, computed=bool(lines))
    return Expected(
        output=repro.case.program.outputs.index(repro.output),
        reference=lines,
        value=value,
        bound=bound,
        remark=remark,
        single=single,
        dtype="int64" if integer else "float64",
        type=f'({shape_text(wanted.value.shape)}, "{wanted.dtype}")',
        finite=bool(np.isfinite(wanted.value).all() and np.isfinite(wanted.bound).all()),
        signed=wanted.signed_zeros and repro.runs[0].regime == "special",
        number=repro.output in number_outputs(repro.case.program),
    )


def _numpy(repro: Reproduction) -> str:
    """The text that makes an array of the output; PyTorch asks for more of what it may derive."""
    program = repro.case.program
    is_target = repro.output in {node.arguments[0] for node in gradients(program)}
    return ".detach().numpy()" if is_target else ".numpy()"


def number_outputs(program: Program) -> frozenset[str]:
    """The outputs of ``program`` that are numbers: fields of tensors, which bare calls give."""
    bare = frozenset(node.name for node in program.nodes if form(node.operator) == "bare")
    return bare & frozenset(program.outputs)


def _wrapping(wanted: Bounded, integer: bool) -> str:
    return f'.astype("{wanted.dtype}").astype("int64")' if integer else ""


def _reference(repro: Reproduction, names: Mapping[str, str]) -> list[str]:
    """The lines that compute the output in PyTorch; none where it is better written out.

    That is where PyTorch refuses (empty tensors, unsigned 64 bits), would not do what narrower
    arithmetic does (overflow, and wrap around between operators), or is not exact enough.
    """
    program, (run,) = repro.case.program, repro.runs
    dtypes = {tensor.name: tensor.dtype for tensor in program.inputs}
    dtypes |= {node.name: repro.values[node.name].dtype for node in program.nodes}
    shapes = {name: array.shape for name, array in run.inputs.items()}
    shapes |= {node.name: repro.values[node.name].value.shape for node in program.nodes}
    integers = any(repro.values[node.name].dtype not in FORMATS for node in program.nodes)
    if (
        any(0 in shape for shape in shapes.values())
        or (_is_doubled(repro) and repro.ratio is not None and repro.ratio < 1.01 * _TWICE)
        or "uint64" in dtypes.values()
        or (integers and len(program.nodes) > 1)
        or not all(_is_plain(repro.values[node.name]) for node in program.nodes)
        or not all(np.isfinite(array.astype(np.float64)).all() for array in run.inputs.values())
    ):
        return []
    others = [node.name for node in gradients(program) if node.name != repro.output]
    nodes = tuple(node for node in program.nodes if node.name not in others)
    wanted = msgspec.structs.replace(program, nodes=nodes, outputs=(repro.output,))
    return reference_source(wanted, names, shapes, dtypes) or []


def _is_doubled(repro: Reproduction) -> bool:
    """True if PyTorch rounds no less than what it is compared with."""
    return repro.values[repro.output].dtype == "float64"


def _is_plain(value: Bounded) -> bool:
    return bool(np.isfinite(value.value).all() and np.isfinite(value.bound).all())


def _tensors(program: Program, names: Mapping[str, str], used: Sequence[str]) -> list[str]:
    """Lines that make tensors of the arrays ``used``."""
    lines = []
    for wide in ("float64", "int64"):
        chosen = [
            names[tensor.name]
            for tensor in program.inputs
            if names[tensor.name] in used and (tensor.dtype in FORMATS) is (wide == "float64")
        ]
        if len(chosen) == 1:
            lines.append(f'{chosen[0]} = torch.tensor({chosen[0]}.astype("{wide}"))')
        elif chosen:
            both = ", ".join(chosen)
            made = f'torch.tensor(each.astype("{wide}"))'
            lines.append(f"{both} = ({made} for each in ({both}))")
    variables = dict.fromkeys(node.arguments[1] for node in gradients(program))
    return [*lines, *(f"{names[name]}.requires_grad_()" for name in variables)]


def _bound(repro: Reproduction, wanted: Bounded, *, computed: bool) -> tuple[str, str, bool]:
    """The bound as an expression, a remark on where it comes from, whether it is one number."""
    if wanted.dtype not in FORMATS:
        if not wanted.bound.any():
            return "0", "Integers are exact.", True
        remark = "Integers are exact; nothing says what elements of an infinite bound are."
        return array_text(wanted.bound), remark, False
    if not wanted.bound.any():
        return "0", "All of it can be represented exactly, so that nothing is rounded.", True
    where = "float16 (ToMixedPrecision)" if is_mixed(repro.case) else "the program's own dtypes"
    if (target := target_of(repro.case)) in LESS_ACCURATE:
        where += f" as {target} grants it"
    twice = computed and _is_doubled(repro)
    factor = _TWICE if twice else 1
    single = one_bound(wanted, repro.ratio and repro.ratio / factor)
    if repro.outcome.verdict is Verdict.PASS and np.isfinite(wanted.bound).all():
        single = float(wanted.bound.max())
    whose = "the largest of all elements" if single is not None else "element by element"
    remark = f"Bound on the rounding in {where}, {whose}."
    if twice:
        remark = f"Bound on the rounding in {where} and in PyTorch, {whose}."
    # To round up takes at most a hundredth: more than some errors are above their bound.
    rounded = float if repro.ratio is not None and repro.ratio <= 1.01 * factor else rounded_up
    if single is not None:
        return repr(rounded(factor * single)), remark, True
    each = np.vectorize(lambda x: rounded(x) if np.isfinite(x) else x, otypes=[float])
    return array_text(each(factor * wanted.bound)), remark, False

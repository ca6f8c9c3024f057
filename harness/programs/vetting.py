"""Vetting: check that a program is valid or invalid as its case says, before TVM sees it.

A drawn case is valid or invalid by construction; one that somebody wrote, or that a reduction made,
need not be. The reference holds its program to the definition of each operator
(``oracles/MEANINGS.md``).
"""

from collections.abc import Sequence

import msgspec

from relaxcheck.generators.core.called import arguments, overwriting
from relaxcheck.generators.core.called.arguments import Actual
from relaxcheck.generators.core.case import Invalid, Mismatch, Valid
from relaxcheck.generators.core.program import ITEM, Case, Program
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.core.structure import BRANCH, tuple_values
from relaxcheck.generators.core.values import arrays
from relaxcheck.harness.kind import Progress
from relaxcheck.harness.outcomes.outcome import Computed, Reference
from relaxcheck.oracles.answer import Bounded, Unsupported
from relaxcheck.oracles.reference.evaluate import evaluate

_BRANCHES = ("function", "otherwise")


def validate(case: Case, progress: Progress) -> tuple[Reference, str]:
    """The reference's view of ``case``, and how that contradicts the case ("": it does not).

    It contradicts a case that is marked valid if it refuses it, and a case that is marked invalid
    if it accepts it. It has no view on an operator that it does not know.
    """
    progress("oracle")
    verdict = reference(case)
    contradiction = ""
    if not verdict.unknown:
        if isinstance(case.expect, Valid) and verdict.refused:
            contradiction = f"marked valid, but the reference refuses it: {verdict.refused}"
        elif isinstance(case.expect, Invalid) and not verdict.refused and not _is_call(case):
            contradiction = "marked invalid, but the reference accepts it"
    return verdict, contradiction


def _is_call(case: Case) -> bool:
    """True if the call is wrong, not the program, which is all that the reference sees."""
    return isinstance(case.expect, Mismatch)


def reference(case: Case) -> Reference:
    """The reference's view of the program of ``case``, at every binding.

    It refuses by ``ValueError``, as NumPy does where shapes do not fit. A failed lookup stands for
    a missing argument, or for a dtype that the operator has no bounds for.

    Raises:
        MemoryError: it is too big to say.
        Exception: anything else, which is a fault of the reference's.
    """
    names = tensors(case.program)
    every, pairs = _with_branches(case.program)
    every = msgspec.structs.replace(every, outputs=names or case.program.outputs)
    computed = []
    try:
        overwriting.check(case.program)
        for at in range(len(case.bindings)):
            plain = static(every, case.bindings[at])
            ends = [f"{name}__{branch}" for name in pairs for branch in _BRANCHES]
            plain = msgspec.structs.replace(plain, outputs=(*plain.outputs, *ends))
            results = evaluate(plain, arrays(case, at))
            given = len(every.outputs)
            _check_branches(results[given:])
            results = results[:given]
            computed.append(results)
            actual = {
                name: Actual(result.value.shape, result.dtype)
                for name, result in zip(names, results, strict=False)
            }
            arguments.check(case.program, case.bindings[at], _inputs(case, at) | actual)
    except Unsupported as reason:
        return Reference(str(reason), unknown=True)
    except (ValueError, LookupError, ArithmeticError) as error:
        return Reference(f"{type(error).__name__}: {error}")
    return Reference(
        values={
            name: Computed(results[0].dtype, tuple(result.value.shape for result in results))
            for name, results in zip(names, zip(*computed, strict=True), strict=False)
        }
    )


def _with_branches(program: Program) -> tuple[Program, list[str]]:
    """``program`` with all items of its conditionals, and the names of these items."""
    nodes, names = list(program.nodes), []
    for node in program.nodes:
        if node.operator == BRANCH:
            count = len(program.functions[str(node.attributes["function"])].outputs)
            for item in range(count):
                name = f"{node.name}__item{item}"
                attributes = {**node.attributes, ITEM: item} if count > 1 else node.attributes
                nodes.append(msgspec.structs.replace(node, name=name, attributes=attributes))
                names.append(name)
    return msgspec.structs.replace(program, nodes=tuple(nodes)), names


def _check_branches(results: Sequence[Bounded]) -> None:
    """Check that neighbours, the results of both branches, are of one type."""
    for first, second in zip(results[::2], results[1::2], strict=True):
        if (first.value.shape, first.dtype) != (second.value.shape, second.dtype):
            raise ValueError("the branches of a conditional give tensors of different types")


def tensors(program: Program) -> tuple[str, ...]:
    """The names of the nodes whose value is no tuple."""
    tuples = tuple_values(program.nodes)
    return tuple(node.name for node in program.nodes if node.name not in tuples)


def _inputs(case: Case, at: int) -> dict[str, Actual]:
    binding = case.bindings[at]
    return {
        tensor.name: Actual(case.shape(tensor.name, binding), tensor.dtype)
        for tensor in case.program.inputs
    }

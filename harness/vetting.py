"""Vetting: whether a program is what its case says, valid or invalid, before TVM sees it.

A case that is drawn is valid or invalid by construction. One that somebody else wrote, or that a
reduction made, is not: there the reference is asked, which holds a program to the definition of
each of its operators (``oracles/MEANINGS.md``). Where it disagrees with the case, TVM is not run:
that it refuses an invalid program, in whatever words, is no failure.
"""

from collections.abc import Callable

import msgspec

from generators.cases import AnyCase
from generators.program import Case, Invalid, Mismatch, Valid
from generators.static import static
from generators.values import arrays
from harness.outcome import Computed, Outcome, Reference, Verdict
from oracles.answer import Unsupported
from oracles.reference import evaluate


def vetted(case: AnyCase, progress: Callable[[str], None], run: Callable[[], Outcome]) -> Outcome:
    """The outcome of ``run()``, with what the reference says; ``harness-error`` if they disagree.

    A case that is marked valid and that the reference refuses does not run; nor does one that is
    marked invalid and that it accepts. Where it says nothing, the case runs. An expression has
    nothing that could be invalid.
    """
    if not isinstance(case, Case):
        return msgspec.structs.replace(run(), reference=Reference())
    progress("oracle")
    found = reference(case)
    message = ""
    if not found.unknown:
        if isinstance(case.expect, Valid) and found.refused:
            message = f"marked valid, but the reference refuses it: {found.refused}"
        elif isinstance(case.expect, Invalid) and not found.refused and not _is_call(case):
            message = "marked invalid, but the reference accepts it"
    if message:
        return Outcome(Verdict.HARNESS_ERROR, "oracle", None, message, reference=found)
    return msgspec.structs.replace(run(), reference=found)


def _is_call(case: Case) -> bool:
    """Whether what is wrong is the call: of the program itself the reference sees nothing wrong."""
    return isinstance(case.expect, Mismatch)


def reference(case: Case) -> Reference:
    """What the reference makes of the program of ``case``, at every binding.

    It refuses by ``ValueError``, and so does NumPy where shapes do not go together. What is looked
    up in vain is an argument that is missing, or a dtype that the operator has no bounds for.

    Raises:
        MemoryError: it is too big to say.
        Exception: anything else, which is a fault of the reference's.
    """
    names = tuple(node.name for node in case.program.nodes)
    every = msgspec.structs.replace(case.program, outputs=names or case.program.outputs)
    computed = []
    try:
        for at in range(len(case.bindings)):
            plain = static(every, case.bindings[at])
            computed.append(evaluate(plain, arrays(case, at)))
    except Unsupported as reason:
        return Reference(str(reason), unknown=True)
    except (ValueError, LookupError, ArithmeticError) as error:
        return Reference(f"{type(error).__name__}: {error}")
    return Reference(
        values={
            name: Computed(results[0].dtype, tuple(one.value.shape for one in results))
            for name, results in zip(names, zip(*computed, strict=True), strict=False)
        }
    )

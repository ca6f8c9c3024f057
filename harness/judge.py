"""From what TVM gave and what the oracles say to a verdict."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from generators.program import Program
from generators.values import Array, numpy_dtype
from harness.outcome import Check, Verdict
from oracles.answer import Bounded, Unsupported
from oracles.compare import within
from oracles.independent import ORACLES
from oracles.reference import Numerics, evaluate


@dataclass(frozen=True, slots=True)
class Expected:
    """The reference's outputs at one binding, and what each oracle made of them.

    ``agreeing`` oracles lie within the reference's bounds; ``splits`` maps the others to how they
    differ; ``unsupported`` maps those that could not run to their reason.
    """

    outputs: tuple[Bounded, ...]
    agreeing: tuple[str, ...]
    splits: Mapping[str, str]
    unsupported: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict at one binding, with the checks made and what differs."""

    verdict: Verdict
    checks: tuple[Check, ...]
    message: str = ""


def expected(program: Program, arrays: Mapping[str, Array], *, mixed_precision: bool) -> Expected:
    """What ``program`` gives on ``arrays``, by the reference and every oracle.

    The oracles compute in the program's own dtypes, so they are held to its own bounds; with
    ``mixed_precision`` the outputs returned have the wider bounds of the pipeline's numerics.
    """
    own = evaluate(program, arrays)
    agreeing, splits, unsupported = [], {}, {}
    for name, oracle in ORACLES.items():
        try:
            answers = oracle(program, arrays)
        except Unsupported as reason:
            unsupported[name] = str(reason)
            continue
        differences = [
            f"output {output}: {difference}"
            for output, answer, reference in zip(program.outputs, answers, own, strict=True)
            if (difference := _difference(answer, reference)) is not None
        ]
        if differences:
            splits[name] = "; ".join(differences)
        else:
            agreeing.append(name)
    outputs = evaluate(program, arrays, Numerics.MIXED_FLOAT16) if mixed_precision else own
    return Expected(outputs, tuple(agreeing), splits, unsupported)


def judge(
    program: Program,
    binding: Mapping[str, int],
    actual: tuple[Array, ...],
    wanted: Expected,
    regime: str = "normal",
) -> Judgement:
    """The verdict on TVM's outputs ``actual`` at ``binding``, for inputs drawn in ``regime``."""
    if len(actual) != len(wanted.outputs):
        return Judgement(
            Verdict.WRONG_SHAPE,
            (),
            f"{len(actual)} outputs where the program has {len(wanted.outputs)}",
        )
    checks: list[Check] = []
    worst = (Verdict.PASS, "")
    for name, array, reference in zip(program.outputs, actual, wanted.outputs, strict=True):
        verdict, message, ratio, room = _hold(array, reference)
        checks.append(Check(dict(binding), name, ratio, wanted.agreeing, array.size, room, regime))
        if verdict is not Verdict.PASS and worst[0] is Verdict.PASS:
            where = f"{name} at {dict(binding)}" if binding else name
            worst = (verdict, f"output {where}: {message}")
    if not wanted.agreeing and not wanted.splits:
        reasons = "; ".join(wanted.unsupported.values())
        return Judgement(Verdict.NO_ORACLE, tuple(checks), f"no oracle ran: {reasons}")
    if wanted.splits:
        # Oracles that differ from the reference say nothing certain about TVM, right or wrong.
        told = "; ".join(f"{name}: {how}" for name, how in wanted.splits.items())
        return Judgement(Verdict.ORACLE_SPLIT, tuple(checks), told)
    return Judgement(worst[0], tuple(checks), worst[1])


def _hold(array: Array, reference: Bounded) -> tuple[Verdict, str, float | None, int]:
    """Verdict, message, largest error by bound, and how many elements have room."""
    if array.shape != reference.value.shape:
        return Verdict.WRONG_SHAPE, f"shape {array.shape}, not {reference.value.shape}", None, 0
    if array.dtype != numpy_dtype(reference.dtype):
        return Verdict.WRONG_DTYPE, f"dtype {array.dtype}, not {reference.dtype}", None, 0
    compared = within(array, reference)
    ratio = float(compared.ratio) if np.isfinite(compared.ratio) else None
    if compared.ok:
        return Verdict.PASS, "", ratio, compared.room
    assert compared.worst is not None
    found, wanted = array[compared.worst], reference.value[compared.worst]
    return (
        Verdict.WRONG_VALUE,
        f"{compared.outside} of {array.size} elements outside their bound; worst at "
        f"{list(compared.worst)}: {found} for {wanted:g} ± {reference.bound[compared.worst]:.3g}",
        ratio,
        compared.room,
    )


def _difference(answer: Array, reference: Bounded) -> str | None:
    verdict, message, *_ = _hold(answer, reference)
    return None if verdict is Verdict.PASS else message

"""The part of TVM that makes a step wrong: the importer, the lowering, or the compiler."""

from collections.abc import Collection

import numpy as np

from relaxcheck.fixes.tvm_api.shapes import name_of
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.compiling.passes.stages import SilentBail, StageError
from relaxcheck.harness.models.compiling import Way
from relaxcheck.harness.models.converting import Wrong
from relaxcheck.harness.models.forcing import bindings, forced
from relaxcheck.harness.models.judging import STEP_LIMIT, measured
from relaxcheck.harness.models.meaning import Forbidden, NoMeaning, meaning
from relaxcheck.harness.models.report import Blame, Node, ratio
from relaxcheck.harness.models.stepping import Setting, Stepped, ran

_TEXT = 400


def blamed(wrong: Wrong, setting: Setting, checked: Stepped, way: Way) -> Node:
    """``wrong`` as a node of a report, with the part of TVM to blame.

    The step's own Relax bindings are evaluated by an oracle, or, where it has no answer, compiled
    alone without optimisation.
    """
    if wrong.reason:
        return misconverted(wrong, setting, checked.borders)
    blame, reason = _blame(wrong, setting, checked, way)
    return _node(wrong, _relax(wrong, setting, checked.borders), blame, reason)


def misconverted(
    wrong: Wrong, setting: Setting | None = None, borders: Collection[str] = ()
) -> Node:
    """``wrong``, which is so as soon as it is imported, as a node of a report.

    Without a ``setting`` there is no module: the import ended early.
    """
    text = wrong.relax
    if not text and setting is not None:
        text = _relax(wrong, setting, borders)
    return _node(wrong, text, Blame.IMPORTER, wrong.reason)


def _node(wrong: Wrong, relax: str, blame: Blame | None, reason: str) -> Node:
    step, figures = wrong.step, ratio(wrong.step.name, wrong.measured)
    return Node(
        *(step.name, step.operator, step.text, relax[:_TEXT], figures, blame, reason),
        differs=wrong.differs,
    )


def _relax(wrong: Wrong, setting: Setting, borders: Collection[str]) -> str:
    """The Relax bindings of the step."""
    part = forced(setting.imported.module, borders, only=(wrong.step.variable,))
    every = bindings(part.module)[:-1]
    return " ".join(f"{name_of(each.var)} = {_printed(each.value)}" for each in every)


def _printed(value: object) -> str:
    return " ".join(line for line in str(value).splitlines() if not line.startswith("#"))


def _blame(wrong: Wrong, setting: Setting, checked: Stepped, way: Way) -> tuple[Blame | None, str]:
    step = wrong.step
    part = forced(setting.imported.module, checked.borders, only=(step.variable,))
    held = setting.held()
    try:
        (value,) = meaning(part, [held[name] for name in part.inputs])
    except NoMeaning as error:
        why = str(error)
    except Forbidden as error:
        return Blame.IMPORTER, f"the Relax expression is undefined for these operands: {error}"
    else:
        open_ = int(np.isinf(value.bound).sum())
        if open_:
            return Blame.IMPORTER, (
                f"by the rules of Relax, {open_} of {value.bound.size} elements are undefined here"
            )
        own = setting.values.own[step.name]
        if _off(value.value.astype(own.dtype), setting, wrong) > STEP_LIMIT:
            return Blame.IMPORTER, "the Relax expression means something else, as an oracle has it"
        return _compiled(wrong, setting, checked, way, known=True)
    blame, reason = _compiled(wrong, setting, checked, way, known=False)
    return blame, f"{reason}; no oracle: {why}" if blame is Blame.EITHER else reason


def _compiled(
    wrong: Wrong, setting: Setting, checked: Stepped, way: Way, *, known: bool
) -> tuple[Blame | None, str]:
    """The blame where the oracle is ``known`` to agree with the framework, or has no answer."""
    part = forced(setting.imported.module, checked.borders, only=(wrong.step.variable,))
    plain = Way("build", fixes=way.fixes, plain=True)
    try:
        (value,) = ran(part, setting, plain)
    except (StageError, SilentBail) as error:
        return (Blame.LOWERING if known else Blame.EITHER), f"alone it fails: {error}"[:200]
    if _off(value, setting, wrong) <= STEP_LIMIT:
        return Blame.COMPILER, "compiled alone without optimisation it is right"
    if known:
        reason = "the oracle of Relax agrees with the framework, and compiled alone it is wrong"
        return Blame.LOWERING, reason
    return Blame.EITHER, "compiled alone without optimisation it is wrong, too"


def _off(value: Array, setting: Setting, wrong: Wrong) -> float:
    own = setting.values.own[wrong.step.name]
    return measured(value, own, setting.values.double.get(wrong.step.name)).ratio

"""All families of programs, by name."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Family, UnknownFamily, meant_for
from relaxcheck.generators.gradients import family as gradients
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.generators.graphs.whole import family as whole
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import OperatorFamily
from relaxcheck.generators.passes import family as passes


def families(pipelines: Sequence[str]) -> tuple[OperatorFamily, ...]:
    """The families that a campaign draws from where none is named: one for each operator.

    Each draws its pipeline from ``pipelines``, the first being the default. Pipelines with the
    passes of the fixes, which are about shapes, are left to graphs unless there are no others. An
    operator none of whose dtypes any pipeline takes is left out.
    """
    usual = tuple(name for name in pipelines if name not in dynamic.PIPELINES) or tuple(pipelines)
    every_operator = (OperatorFamily(record, usual) for record in OPERATORS.values())
    return tuple(family for family in every_operator if family.is_compilable)


def every(pipelines: Sequence[str]) -> tuple[Family, ...]:
    """Every family, also those that have to be asked for by name.

    The family ``dynamic`` draws from those of ``pipelines`` that have the passes of the fixes, and
    ``graphs`` from those that keep dtypes and layouts; from others only where there is none.
    """
    served = meant_for(dynamic.PIPELINES, pipelines) or tuple(pipelines)
    meant = meant_for(whole.PIPELINES, pipelines) or tuple(pipelines)
    return (
        *families(pipelines),
        dynamic.family(served),
        whole.family(meant),
        *gradients.families(pipelines),
        *passes.families(pipelines),
    )


def family(name: str, pipelines: Sequence[str]) -> Family:
    """The family called ``name``.

    Raises:
        UnknownFamily: there is none; the message has the closest names.
    """
    known = {each.name: each for each in every(pipelines)}
    if name not in known:
        raise UnknownFamily(name, known)
    return known[name]

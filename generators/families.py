"""All families, by name."""

from collections.abc import Sequence

from generators import algebra_family, attention, attention_var_len, dynamic, transposed_conv
from generators.axes import Family
from generators.program import Program


class UnknownFamily(KeyError):
    """No family has this name."""

    def __str__(self) -> str:
        return str(self.args[0])


def families(pipelines: Sequence[str]) -> tuple[Family, ...]:
    """Those that a campaign draws from where none is chosen.

    Each draws its pipeline from ``pipelines``, the first being the default; from those that the
    passes of the fixes are in, which are about shapes, only where there is no other.
    """
    usual = tuple(name for name in pipelines if name not in dynamic.PIPELINES) or tuple(pipelines)
    return (
        *(transposed_conv.family(spatial, usual) for spatial in transposed_conv.SPATIAL),
        attention.family(usual),
        attention_var_len.family(usual),
    )


def every(pipelines: Sequence[str]) -> tuple[Family, ...]:
    """Every family that there is, also those that have to be asked for by name.

    The dynamic one draws from those of ``pipelines`` that the passes of the fixes are in, from
    others only where there is none of these.
    """
    served = tuple(name for name in pipelines if name in dynamic.PIPELINES) or tuple(pipelines)
    return (*families(pipelines), dynamic.family(served), algebra_family.family())


def family(name: str, pipelines: Sequence[str]) -> Family:
    """The family called ``name``.

    Raises:
        UnknownFamily: there is none; the message lists those that there are.
    """
    known = {each.name: each for each in every(pipelines)}
    if name not in known:
        raise UnknownFamily(f"no family {name!r}; the families are {', '.join(known)}")
    return known[name]


def desired_layouts(program: Program) -> dict[str, list[str]]:
    """For Relax's ConvertLayout: channels last, for each operator of ``program`` with a layout."""
    used = {node.operator for node in program.nodes}
    return {
        f"relax.{operator}": list(layouts)
        for operator, layouts in transposed_conv.CHANNELS_LAST.items()
        if operator in used
    }

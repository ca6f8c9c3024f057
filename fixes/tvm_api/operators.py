"""The operators of Relax in TVM's registry."""

from tvm.ir import Op

_PREFIX = "relax."

_LOWERINGS = (
    ("FLegalize", "LegalizeOps"),
    ("FCallPacked", "packed"),
    ("FLowerBuiltin", "builtin"),
)


def registered() -> tuple[str, ...]:
    """The names of all operators of Relax that the running TVM registers, without ``relax.``."""
    names = sorted(str(name) for name in Op.list_op_names())
    return tuple(name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX))


def lowering(name: str) -> str:
    """The mechanism by which ``relax.build`` lowers ``name``; empty if nothing is registered.

    ``LegalizeOps`` for operators with a legalization of their own, ``packed`` for those that become
    a call of a packed function, ``builtin`` for those that become a builtin of the VM.
    """
    operator = Op.get(_PREFIX + name)
    return next(
        (how for attribute, how in _LOWERINGS if operator.get_attr(attribute) is not None), ""
    )

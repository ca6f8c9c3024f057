"""The operators of Relax in TVM's registry."""

from tvm.ir import Op

_PREFIX = "relax."


def registered() -> tuple[str, ...]:
    """The names of all operators of Relax that the running TVM registers, without ``relax.``."""
    names = sorted(str(name) for name in Op.list_op_names())
    return tuple(name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX))

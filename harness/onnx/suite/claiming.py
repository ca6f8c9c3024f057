"""The claims of TVM's importer: the operators that its map has."""

Claims = dict[str, tuple[int, ...]]
"""The opsets from which the importer has a converter of its own, by name of an operator.

The names have no domain. Those in its map for which it has none are left out.
"""


_EVERY = (1,)


def claims() -> Claims:
    """The claims of the importer in this process."""
    # Who reads claims need not have TVM.
    from tvm.relax.frontend.onnx import onnx_frontend

    prefix = "_impl_v"
    found = {
        name: tuple(
            sorted(int(each[len(prefix) :]) for each in dir(converter) if each.startswith(prefix))
        )
        for name, converter in onnx_frontend._get_convert_map().items()
        if converter is not None
    }
    # A converter of a fix is one for all versions; it has no method of TVM's own kind.
    found = {name: versions or _EVERY for name, versions in found.items()}
    # The importer takes branches by itself, without an entry.
    return found | {"If": _EVERY}

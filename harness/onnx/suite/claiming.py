"""The claims of TVM's importer: the operators that its map has."""

from tvm.relax.frontend.onnx import onnx_frontend

from relaxcheck.harness.onnx.suite.worker import Claims


def claims() -> Claims:
    """The claims of the importer in this process."""
    prefix = "_impl_v"
    return {
        name: tuple(
            sorted(int(each[len(prefix) :]) for each in dir(converter) if each.startswith(prefix))
        )
        for name, converter in onnx_frontend._get_convert_map().items()
        if converter is not None
    }

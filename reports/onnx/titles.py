"""Titles of failures of ONNX models, in the words of ONNX: inputs, attributes, dtypes."""

from collections.abc import Iterator, Mapping

from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.model import DTYPES, Node
from relaxcheck.generators.onnx.schemas import Schema, schema
from relaxcheck.generators.onnx.walk import operators_of
from relaxcheck.reports.imported import behind, of_dtypes

_PHRASES = {
    ("size", "none"): "a dimension of size 0",
    ("size", "one"): "a dimension of size 1",
    ("held", "input"): "parameters as inputs of the model",
    ("held", "node"): "parameters from Constant nodes",
    ("held", "computed"): "parameters from other nodes",
    ("data", "initializer"): "data in initializers",
    ("data", "computed"): "data from other nodes",
    ("dims", "batch"): "a symbolic first dimension",
    ("dims", "all"): "symbolic dimensions",
    ("import", "keep-params"): "keep_params_in_input",
    ("import", "shapes"): "shape_dict",
    ("import", "opset"): "opset as an argument",
    ("import", "unsanitized"): "names that are not sanitized",
    ("regime", "special"): "NaN, infinities and zeros with signs",
}
"""The words for values of axes that are no attributes."""


def title_text(case: OnnxCase, happens: str, blame: Mapping[str, str]) -> str:
    """The operators with blamed dtypes, what ``happens``, and the blamed settings."""
    (dtypes, settings) = _sorted(case, blame)
    operator = " + ".join(operators_of(case.model))
    return f"ONNX {operator}{of_dtypes(dtypes)} {happens}{behind(settings, _PHRASES)}"


def _sorted(case: OnnxCase, blame: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """The dtypes of the data and of results, and all other settings of ``blame``.

    A type parameter stands for the inputs that have it; without such an input it is left out.
    """
    node, version = _subject(case)
    dtypes, settings = [], {}
    for name, value in blame.items():
        if value not in DTYPES:
            settings[name] = value
        elif node is None or version is None or name not in version.types:
            dtypes.append(value)
        elif taken := list(_inputs(node, version, name)):
            if version.inputs[0].name in taken:
                dtypes.append(value)
            else:
                settings[f"{' and '.join(taken)} of"] = value
        elif any(each.type == name for each in version.outputs):
            dtypes.append(value)
    return dtypes, settings


def _subject(case: OnnxCase) -> tuple[Node | None, Schema | None]:
    """The node of ONNX's own domain that the family is about, and its schema's version."""
    for node in reversed(case.model.nodes):
        if case.family.endswith(f"-{node.operator}") and not node.domain:
            return node, schema(node.operator, case.model.opset)
    return None, None


def _inputs(node: Node, version: Schema, parameter: str) -> Iterator[str]:
    """The names, in the schema, of the inputs of ``node`` that have the type ``parameter``."""
    for at, name in enumerate(node.inputs):
        declared = version.inputs[min(at, len(version.inputs) - 1)]
        if name and declared.type == parameter:
            yield declared.name

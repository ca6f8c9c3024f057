"""Check a model that was decoded, beyond its types: names, sizes, settings."""

import re

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.schemas import NEWEST_OPSET
from relaxcheck.generators.onnx.walk import nodes_of
from relaxcheck.harness.compiling.wellformed import check_settings, check_shapes

MOST_NODES = 1000
MOST_BINDINGS = 100

_OPERATOR = re.compile(r"[A-Za-z]\w{0,99}", re.ASCII)
_NAME = re.compile(r"[\w.:/-]{1,200}", re.ASCII)
_DOMAIN = re.compile(r"[\w.]{0,100}", re.ASCII)


def check(case: OnnxCase) -> None:
    """Check names, sizes and settings of ``case``.

    Raises:
        CaseError: one of them makes no sense, in one line.
    """
    check_settings(case, MOST_BINDINGS)
    if not 1 <= case.model.opset <= NEWEST_OPSET:
        raise CaseError(f"opset {case.model.opset}: this ONNX has opsets 1 to {NEWEST_OPSET}")
    if case.importing.shapes and len(case.bindings) > 1:
        raise CaseError("shapes are passed to the importer: give one binding")
    _check_nodes(case)
    for tensor in case.model.tensors:
        if not _NAME.fullmatch(tensor.name):
            raise CaseError(f"{tensor.name!r} is no name of a tensor")
    check_shapes(case)


def _check_nodes(case: OnnxCase) -> None:
    nodes = list(nodes_of(case.model))
    if len(nodes) > MOST_NODES:
        raise CaseError(f"{len(nodes)} nodes; at most {MOST_NODES} run")
    for node in nodes:
        if not _OPERATOR.fullmatch(node.operator) or not _DOMAIN.fullmatch(node.domain):
            raise CaseError(f"node {node.operator!r} of domain {node.domain!r}: no operator")
        for name in (*node.inputs, *node.outputs, *node.attributes):
            if name and not _NAME.fullmatch(name):
                raise CaseError(f"node {node.operator}: {name!r} is no name")

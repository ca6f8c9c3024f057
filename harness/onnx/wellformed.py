"""Check a model that was decoded, beyond its types: names, sizes, settings."""

import re
from math import prod

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.schemas import NEWEST_OPSET
from relaxcheck.generators.onnx.walk import nodes_of
from relaxcheck.harness.compiling.pipelines import PIPELINES

MOST_ELEMENTS = 2**24
MOST_NODES = 1000
MOST_BINDINGS = 100
HIGHEST_RANK = 16
LARGEST_SIZE = 2**31 - 1

_FAMILY = re.compile(r"[A-Za-z0-9][\w.-]{0,99}", re.ASCII)
_OPERATOR = re.compile(r"[A-Za-z]\w{0,99}", re.ASCII)
_NAME = re.compile(r"[\w.:/-]{1,200}", re.ASCII)
_DOMAIN = re.compile(r"[\w.]{0,100}", re.ASCII)


def check(case: OnnxCase) -> None:
    """Check names, sizes and settings of ``case``.

    Raises:
        CaseError: one of them makes no sense, in one line.
    """
    if not _FAMILY.fullmatch(case.family):
        raise CaseError(f"family {case.family!r} is no name")
    if case.pipeline not in PIPELINES:
        raise CaseError(f"pipeline {case.pipeline!r} is unknown; known are {', '.join(PIPELINES)}")
    if case.opt_level not in range(4):
        raise CaseError(f"opt_level {case.opt_level}: LLVM has levels 0 to 3")
    if not 0 <= case.seed < 2**64:
        raise CaseError(f"seed {case.seed}: give a number from 0 to 2**64 - 1")
    if len(case.bindings) > MOST_BINDINGS:
        raise CaseError(f"{len(case.bindings)} bindings; at most {MOST_BINDINGS} run")
    if not 1 <= case.model.opset <= NEWEST_OPSET:
        raise CaseError(f"opset {case.model.opset}: this ONNX has opsets 1 to {NEWEST_OPSET}")
    if case.importing.shapes and len(case.bindings) > 1:
        raise CaseError("shapes are passed to the importer: give one binding")
    _check_nodes(case)
    _check_sizes(case)


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


def _check_sizes(case: OnnxCase) -> None:
    for tensor in case.model.tensors:
        if not _NAME.fullmatch(tensor.name):
            raise CaseError(f"{tensor.name!r} is no name of a tensor")
        if len(tensor.shape) > HIGHEST_RANK:
            raise CaseError(f"tensor {tensor.name}: {len(tensor.shape)} dimensions")
        for binding in case.bindings:
            try:
                shape = case.shape(tensor.name, binding)
            except ZeroDivisionError as error:
                raise CaseError(f"tensor {tensor.name}: a dimension divides by zero") from error
            if any(not 0 <= size <= LARGEST_SIZE for size in shape) or prod(shape) > MOST_ELEMENTS:
                raise CaseError(f"tensor {tensor.name}: shape {shape} is out of range")
            if isinstance(tensor.fill, Literal) and len(tensor.fill.values) != prod(shape):
                raise CaseError(
                    f"tensor {tensor.name}: {len(tensor.fill.values)} values for shape {shape}"
                )

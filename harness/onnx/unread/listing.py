"""The list: what each version of a schema has, and the converter that TVM chooses never reads."""

from collections.abc import Iterator

import msgspec

from relaxcheck.generators.onnx.schemas import Schema, operators, versions
from relaxcheck.harness.onnx.unread.reads import ALL, Reads, reads
from relaxcheck.harness.onnx.unread.source import Importer

ATTRIBUTE, INPUT = "attribute", "input"


class Unread(msgspec.Struct, frozen=True):
    """An attribute or input of ``operator`` in the version ``since``, which ``converter`` ignores.

    ``kind`` is ``ATTRIBUTE`` or ``INPUT``; ``opset`` the one in which the version is drawn.
    """

    operator: str
    since: int
    opset: int
    kind: str
    name: str
    converter: str


def unread(importer: Importer) -> tuple[Unread, ...]:
    """All that ``importer`` does not read, by operator and version; of those that it converts."""
    return tuple(
        each
        for operator in operators()
        if operator in importer.converters
        for version in versions(operator)
        for each in _of(importer, version)
    )


def _of(importer: Importer, version: Schema) -> Iterator[Unread]:
    owner = importer.converters[version.operator]
    method = importer.chosen(owner, version.opset)
    if method is None:
        return
    found = reads(importer, owner, method)
    for kind, name in (*_attributes(version, found), *_inputs(version, found)):
        yield Unread(
            version.operator, version.since, version.opset, kind, name, f"{owner}.{method}"
        )


def _attributes(version: Schema, found: Reads) -> Iterator[tuple[str, str]]:
    if ALL not in found.attributes:
        for name in version.attributes:
            if name not in found.attributes:
                yield ATTRIBUTE, name


def _inputs(version: Schema, found: Reads) -> Iterator[tuple[str, str]]:
    if ALL not in found.inputs:
        for number, parameter in enumerate(version.inputs):
            if number not in found.inputs and not parameter.variadic:
                yield INPUT, parameter.name

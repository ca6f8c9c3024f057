"""``relaxcheck onnx unread``: lists what TVM's converters of ONNX never read."""

import sys

import msgspec

from relaxcheck.cli.options import ResultFormat
from relaxcheck.harness.onnx.unread.listing import unread as listed
from relaxcheck.harness.onnx.unread.source import importer
from relaxcheck.harness.releases.releases import own, release
from relaxcheck.reports.onnx.unread import text


def unread(tvm: str | None, form: ResultFormat) -> None:
    """Print the list for the release ``tvm``, or for this one.

    Raises:
        ReleaseError: the release is not installed, or its importer has changed beyond reading.
    """
    chosen = own() if tvm is None else release(tvm)
    rows = listed(importer(chosen))
    if form is ResultFormat.JSON:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(rows)).decode() + "\n")
    else:
        sys.stdout.write(text(rows, chosen.name))

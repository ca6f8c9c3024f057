"""Finds out which operators a release's importer maps, in a process of its environment.

``python -m relaxcheck.harness.onnx.suite.claimed on`` is that process, with the fixes on; it writes
one JSON object.
"""

import sys

import msgspec

from relaxcheck.harness.releases.releases import Release
from relaxcheck.harness.releases.surveying import query, result_stream

Claims = dict[str, tuple[int, ...]]
"""The opsets from which the importer has a converter of its own, by name of an operator.

The map has names without domains, and may hold None for an operator without a converter.
"""


def claimed(release: Release, *, fixes: bool) -> Claims:
    """The claims of ``release``.

    Raises:
        ReleaseError: its process does not start, or ends early.
    """
    side = "on" if fixes else "off"
    return query(release, "relaxcheck.harness.onnx.suite.claimed", side, type=Claims)


def here() -> Claims:
    """The claims of the importer in this process."""
    from tvm.relax.frontend.onnx import onnx_frontend

    prefix = "_impl_v"
    return {
        name: tuple(
            sorted(int(each[len(prefix) :]) for each in dir(converter) if each.startswith(prefix))
        )
        for name, converter in onnx_frontend._get_convert_map().items()
        if converter is not None
    }


def main() -> None:
    """Write the claims with the fixes ``on`` or ``off``, as the argument says."""
    from relaxcheck.harness.workers.switching import switch_fixes

    switch_fixes(sys.argv[1] == "on")
    with result_stream() as out:
        out.write(msgspec.json.encode(here()))


if __name__ == "__main__":
    main()

"""A zygote whose workers have the plants in their importer that its second argument names."""

import importlib
import sys
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from tests.measure.quality.planted.bugs.onnx.catalogue import named
from tests.measure.quality.planted.conversion import Misconversion


def put_in_place(plants: Sequence[Misconversion]) -> None:
    """Have every import of a model in this process meet ``plants``, whatever fixes are on."""
    importing = importlib.import_module("relaxcheck.harness.onnx.importing")
    importer: Any = importlib.import_module("tvm.relax.frontend.onnx.onnx_frontend")
    right_import = importing.quietly

    def quietly(model: Any, **arguments: Any) -> Any:
        # Only now: switching the fixes replaces the table.
        right = importer._get_convert_map
        importer._get_convert_map = lambda: reduce(_with, plants, right())
        try:
            return right_import(model, **arguments)
        finally:
            importer._get_convert_map = right

    importing.quietly = quietly  # type: ignore[attr-defined]


def _with(table: Mapping[str, Any], plant: Misconversion) -> Mapping[str, Any]:
    return plant.planted(table)


def main() -> None:
    """Serve as ``relaxcheck.harness.workers.zygote`` does, with the plants in place."""
    put_in_place([named(name) for name in sys.argv.pop().split(",")])
    importlib.import_module("relaxcheck.harness.workers.zygote").main()


if __name__ == "__main__":
    main()

"""A zygote in whose modules the plants are that its second argument names, with commas between."""

import importlib
import sys

from tests.measure.quality.planted.catalogue import named
from tests.measure.quality.planted.plant import by_module, sow


def main() -> None:
    """Serve as ``relaxcheck.harness.workers.zygote`` does, with the plants in place."""
    plants = [named(name) for name in sys.argv.pop().split(",")]
    sow(plants)
    # Only now, so that the modules come with the edits.
    zygote = importlib.import_module("relaxcheck.harness.workers.zygote")
    for module in by_module(plants):
        importlib.import_module(module)
    zygote.main()


if __name__ == "__main__":
    main()

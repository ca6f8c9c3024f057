"""A zygote in whose modules the plants are that its second argument names, with commas between."""

import importlib
import sys

from tests.quality.planted.catalogue import named
from tests.quality.planted.plant import by_module, sow


def main() -> None:
    """Serve as ``harness.zygote`` does, with the plants in place."""
    plants = [named(name) for name in sys.argv.pop().split(",")]
    sow(plants)
    # Only now, so that the modules come with the edits.
    zygote = importlib.import_module("harness.zygote")
    for module in by_module(plants):
        importlib.import_module(module)
    zygote.main()


if __name__ == "__main__":
    main()

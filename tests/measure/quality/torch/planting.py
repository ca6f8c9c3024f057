"""A zygote whose workers have a plant in their importer of PyTorch programs.

The name of the plant is in the file that the second argument names, and may change between cases:
to start a zygote takes longer than most hunts do.
"""

import importlib
import sys
from pathlib import Path
from typing import Any

from tests.measure.quality.planted.bugs.torch.catalogue import named


def put_in_place(active: Path) -> None:
    """Have every import of a program in this process meet the plant that ``active`` names."""
    importing: Any = importlib.import_module("relaxcheck.harness.torch.importing")
    translator: Any = importlib.import_module(
        "tvm.relax.frontend.torch.exported_program_translator"
    )
    right = importing.imported

    def imported(case: Any, program: Any) -> Any:
        plant = named(active.read_text(encoding="utf-8"))
        # Only now: switching the fixes replaces methods of the importer.
        with plant.placed(translator.ExportedProgramImporter):
            return right(case, program)

    importing.imported = imported


def main() -> None:
    """Serve as ``relaxcheck.harness.workers.zygote`` does, with the plants in place."""
    put_in_place(Path(sys.argv.pop()))
    importlib.import_module("relaxcheck.harness.workers.zygote").main()


if __name__ == "__main__":
    main()

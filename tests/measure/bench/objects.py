"""Object files of generated code, with debug information and without: time and size of both.

    python -m tests.measure.bench.objects

Groups of drawn programs are lowered as the engine lowers them. Both ways take turns on each group.
Prints the CPU milliseconds a program, the size, and the ratios.
"""

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import family
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.compiling import late_linking
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.native.debug_info import without_debug_info
from relaxcheck.harness.programs.execute import execute_together

_GROUP = 16
_TURNS = 5

Way = Callable[[Any, Path], Any]


def generated(cases: Sequence[Case]) -> list[Any]:
    """The LLVM module of each group of ``cases``."""
    modules: list[Any] = []
    link = late_linking.shared_library

    def kept(module: Any) -> Any:
        modules.append(module)
        return link(module)

    late_linking.shared_library = kept
    try:
        for first in range(0, len(cases), _GROUP):
            list(execute_together(cases[first : first + _GROUP], lambda number, stage: None))
    finally:
        late_linking.shared_library = link
    return modules


def written(module: Any, way: Way) -> tuple[float, int]:
    """CPU seconds to write the object file of ``module`` one ``way``, and its bytes."""
    with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
        began = time.process_time()
        file = Path(folder, "case.o")
        way(module, Path(folder)).write_to_file(str(file), "o")
        return time.process_time() - began, file.stat().st_size


def main() -> None:
    """Measure both ways, and print a line for each kind of program."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=64, help="programs of each kind")
    count = parser.parse_args().cases
    for name in ("add", "conv2d_transpose", "attention"):
        drawn = stream((family(name, tuple(PIPELINES)),), 1)
        valid = (case for case in drawn if not isinstance(case.expect, Invalid))
        # With the fixes, so that nearly all get as far as that.
        repaired = (msgspec.structs.replace(case, opt_level=0, fixes=True) for case in valid)
        modules = generated(list(islice(repaired, count)))
        ways: tuple[Way, ...] = (lambda module, folder: module, without_debug_info)
        turns = [
            [written(module, way) for way in ways] for _ in range(_TURNS) for module in modules
        ]
        seconds = [sum(turn[way][0] for turn in turns) / _TURNS / count for way in (0, 1)]
        sizes = [sum(turn[way][1] for turn in turns) / _TURNS / count for way in (0, 1)]
        ratio = median(without[0] / usual[0] for usual, without in turns)
        print(
            f"{name}: {1000 * seconds[0]:.1f} ms a program, {1000 * seconds[1]:.1f} without debug "
            f"information ({ratio:.2f} times); {sizes[0] / 1024:.0f} KiB, {sizes[1] / 1024:.0f}"
        )


if __name__ == "__main__":
    main()

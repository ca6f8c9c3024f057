"""The cost of the passes over symbolic shapes, as ratios within one run.

    python -m tests.measure.bench.guards               # writes reports/bench/GUARDS.md
    python -m tests.measure.bench.guards --rounds 9

Each program is compiled, and called, with and without the passes in turn, and the ratio is that of
the medians: what else the machine does meets both alike.
"""

import argparse
import datetime
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.passes import pipeline
from relaxcheck.harness.releases.environment import versions
from tests.measure.quality.record import commit

PAGE = Path(__file__).resolve().parents[3] / "reports" / "bench" / "GUARDS.md"

FIXES = tuple(fix for fix in fixes.ALL if fix.passes)
"""The fixes that are passes, in their order."""

B, C, D, K, M, N = map(tvm_api.shape_var, "bcdkmn")
OP = relax.op


@dataclass(frozen=True, slots=True)
class Subject:
    """A program, and the sizes of its inputs."""

    name: str
    make: Callable[..., Any]
    shapes: Sequence[Sequence[Any]]
    sizes: Sequence[Sequence[int]]


def _layers(x: Any, *weights: Any) -> Any:
    for weight in weights:
        x = OP.nn.relu(OP.matmul(x, weight))
    return x


SUBJECTS = (
    # Nothing to check: what is left is what it takes to find that out.
    Subject("relu of (m, n)", OP.nn.relu, [(M, N)], [(8, 8)]),
    Subject("product, proved", OP.matmul, [(M, K), (K, N)], [(8, 8), (8, 8)]),
    Subject("product, checked", OP.matmul, [(M, K), (D, N)], [(8, 8), (8, 8)]),
    Subject("large product, checked", OP.matmul, [(M, K), (D, N)], [(128, 128), (128, 128)]),
    Subject(
        "4 layers, checked",
        _layers,
        [(B, K), *((d, 16) for d in (C, D, M, N))],
        [(8, 16), *((16, 16),) * 4],
    ),
    Subject(
        "conv1d of (b, c, n), checked",
        lambda x, w: OP.nn.conv1d(x, w, padding=1),
        [(B, C, N), (8, D, 3)],
        [(2, 8, 64), (8, 8, 3)],
    ),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds to compile, and for a call, without the passes and with them; medians."""

    compiling: tuple[float, float]
    calling: tuple[float, float]


def measured(subject: Subject, fused: bool, rounds: int, calls: int) -> Cost:
    """The cost of ``subject``: ``rounds`` compilations each way, ``calls`` calls of each."""
    target = tvm.target.Target("llvm")
    module = probes.program(subject.make, *subject.shapes)
    arrays = [tvm.runtime.tensor(np.ones(size, "float32")) for size in subject.sizes]
    compiling: tuple[list[float], list[float]] = ([], [])
    calling: tuple[list[float], list[float]] = ([], [])
    for turn in range(2 * rounds):
        # Which comes first changes from round to round.
        way = (turn + turn // 2) % 2
        passes = pipeline(FIXES[: len(FIXES) * way], target if fused else None)
        start = time.perf_counter()
        executable = relax.build(module, target, relax_pipeline=passes)
        compiling[way].append(time.perf_counter() - start)
        main = relax.VirtualMachine(executable, tvm.cpu())["main"]
        main(*arrays)
        for _ in range(calls):
            start = time.perf_counter()
            main(*arrays)
            calling[way].append(time.perf_counter() - start)
    return Cost(
        (median(compiling[0]), median(compiling[1])), (median(calling[0]), median(calling[1]))
    )


def table(costs: dict[tuple[str, bool], Cost]) -> str:
    """Markdown: by program and pipeline, both ratios, and what a call takes more, in µs."""
    lines = [
        "| program | pipeline | compiling, with : without | a call, with : without | more a call |",
        "|---|---|---:|---:|---:|",
    ]
    for (name, fused), cost in costs.items():
        compiling, calling = (after / before for before, after in (cost.compiling, cost.calling))
        more = (cost.calling[1] - cost.calling[0]) * 1e6
        lines.append(
            f"| {name} | {'fused' if fused else 'default'} | {compiling:.2f} | {calling:.2f} |"
            f" {more:.1f} µs |"
        )
    return "\n".join(lines)


def page(costs: dict[tuple[str, bool], Cost], rounds: int, calls: int) -> str:
    """The table, with what was measured, and when, of which commit and with which versions."""
    installed = versions()
    ran = ", ".join(f"{name} {installed[name]}" for name in ("apache-tvm", "numpy", "python"))
    today = datetime.datetime.now(datetime.UTC).date()
    return (
        "\n\n".join(
            [
                "# Cost of the passes over symbolic shapes",
                f"Written by `python -m tests.measure.bench.guards` on {today}, commit {commit()}, "
                f"{ran}. Medians of {rounds} compilations each way and of {calls} calls of each, "
                "with and without the passes in turn. *proved*: there is nothing to check; "
                "*checked*: a call asserts what could not be proved.",
                table(costs),
            ]
        )
        + "\n"
    )


def main() -> None:
    """Measure, write the page and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=200)
    options = parser.parse_args()
    costs = {
        (subject.name, fused): measured(subject, fused, options.rounds, options.calls)
        for fused in (False, True)
        for subject in SUBJECTS
    }
    PAGE.write_text(page(costs, options.rounds, options.calls))
    print(table(costs))
    print(f"Written to {PAGE}")


if __name__ == "__main__":
    main()

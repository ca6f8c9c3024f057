"""A zygote whose workers record the outputs that they judge, for a page that shows them.

``python -m relaxcheck.harness.programs.outputs DESCRIPTOR FOLDER``: each case that runs alone
writes a file into FOLDER, named after it, with TVM's and the expected outputs. Otherwise it is like
``harness.workers.zygote``: the same workers, limits and releases.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.program import Case
from relaxcheck.harness.kind import Progress, Tracing
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.outcomes.output import Output
from relaxcheck.harness.releases.releases import Release
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.oracles.answer import Array, Bounded

if TYPE_CHECKING:
    from relaxcheck.harness.compiling.judgement import Expected, Judgement

MOST_ELEMENTS = 1 << 16
"""The most elements of an output that is written: nobody reads more of them."""


class RanAgain(msgspec.Struct, frozen=True):
    """A case that ran again: its outcome, and its outputs, if there were any."""

    outcome: Outcome
    outputs: tuple[Output, ...] = ()


class Again(msgspec.Struct, frozen=True):
    """Cases that ran again, by identifier, and the versions of their environment."""

    environment: dict[str, str]
    ended: dict[str, RanAgain]


def run_again(
    cases: Sequence[AnyCase],
    folder: Path,
    release: Release,
    limits: Limits,
    show: Callable[[str, RanAgain], None] = lambda identifier, ended: None,
) -> Again:
    """Run ``cases`` on ``release``, and keep their outputs.

    ``show`` is called with each as it ends, so that an interrupted caller keeps them. Workers write
    into the existing ``folder``.

    Raises:
        PoolError: the workers cannot start.
    """
    ended: dict[str, RanAgain] = {}
    with Pool(1, limits, __name__, [str(folder)], release) as pool:
        pool.submit(*(Job(case, alone=True) for case in cases))
        for job, outcome in pool.drain():
            file = folder / job.case.identifier
            outputs: tuple[Output, ...] = ()
            if file.exists():
                outputs = msgspec.json.decode(file.read_bytes(), type=tuple[Output, ...])
            ended[job.case.identifier] = RanAgain(outcome, outputs)
            show(job.case.identifier, ended[job.case.identifier])
        return Again(pool.environment, ended)


def output_of(
    name: str, binding: Mapping[str, int], regime: str, actual: Array, wanted: Bounded
) -> Output | None:
    """The output to write; None if its shape is wrong, or it is too large."""
    if actual.shape != wanted.value.shape or actual.size > MOST_ELEMENTS:
        return None
    return Output(
        name,
        dict(binding),
        regime,
        wanted.dtype,
        actual.shape,
        _text(actual),
        _text(wanted.value),
        _text(wanted.bound),
    )


def _text(array: Array) -> tuple[str, ...]:
    # Convert to a type that Python has: NumPy has no bfloat16, and an integer stays exact.
    wide = "int64" if array.dtype.kind in "iub" else "float64"
    return tuple(map(repr, array.astype(wide).ravel().tolist()))


def main() -> None:
    """Serve as ``relaxcheck.harness.workers.zygote`` does; the last argument is the folder."""
    folder = Path(sys.argv.pop())
    # These import TVM, which only the zygote should do.
    from relaxcheck.harness.compiling import running
    from relaxcheck.harness.compiling.judgement import judge
    from relaxcheck.harness.programs import execute as executing
    from relaxcheck.harness.workers import zygote

    execute_only = executing.execute

    def execute(
        case: Case,
        progress: Progress = lambda stage: None,
        *,
        plain: bool = False,
        tracing: Tracing | None = None,
    ) -> Outcome:
        seen: list[Output] = []

        def judge_and_keep(
            outputs: Sequence[str],
            binding: Mapping[str, int],
            actual: tuple[Array, ...],
            wanted: Expected,
            regime: str = "normal",
        ) -> Judgement:
            for name, array, bounded in zip(outputs, actual, wanted.outputs, strict=False):
                output = output_of(name, binding, regime, array, bounded)
                if output is not None:
                    seen.append(output)
            return judge(outputs, binding, actual, wanted, regime)

        running.judge = judge_and_keep  # type: ignore[attr-defined]
        outcome = execute_only(case, progress, plain=plain, tracing=tracing)
        # Write the whole file or none, also if there is no room or this process ends.
        unfinished = folder / f"{case.identifier}.new"
        unfinished.write_bytes(msgspec.json.encode(seen))
        unfinished.replace(folder / case.identifier)
        return outcome

    executing.execute = execute
    zygote.main()


if __name__ == "__main__":
    main()

"""A zygote whose workers write down the outputs that they judge, for a page that shows them.

``python -m harness.outputs DESCRIPTOR FOLDER``: each case that runs alone leaves a file in FOLDER,
named after it, with what TVM gave and what was expected. In everything else it is
``harness.zygote``: the same workers, the same limits, the release that the engine wants.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from generators.cases import AnyCase
from generators.program import Case, Program
from harness.jobs import Job, Limits
from harness.outcome import Outcome
from harness.pool import Pool
from harness.releases import Release
from oracles.answer import Array, Bounded

if TYPE_CHECKING:
    from harness.conduct import Progress
    from harness.judge import Expected, Judgement
    from harness.protocol import Tracing

MOST_ELEMENTS = 1 << 16
"""Larger outputs are not written: nobody reads them element by element."""


class Output(msgspec.Struct, frozen=True):
    """An output of one run: every element, its expected value and its bound, in row-major order.

    They are text, so that infinities and NaN survive JSON; ``float`` reads it. ``dtype`` is what
    was expected, by TVM's name; ``shape`` is that of both.
    """

    name: str
    binding: dict[str, int]
    regime: str
    dtype: str
    shape: tuple[int, ...]
    actual: tuple[str, ...]
    expected: tuple[str, ...]
    bound: tuple[str, ...]


class Ended(msgspec.Struct, frozen=True):
    """A case that ran again: what came of it, and the outputs that were judged, if any."""

    outcome: Outcome
    outputs: tuple[Output, ...] = ()


class Again(msgspec.Struct, frozen=True):
    """Cases that ran again, by identifier, and the versions that they ran with."""

    environment: dict[str, str]
    ended: dict[str, Ended]


def run_again(
    cases: Sequence[AnyCase],
    folder: Path,
    release: Release,
    limits: Limits,
    told: Callable[[str, Ended], None] = lambda identifier, ended: None,
) -> Again:
    """Run ``cases`` on ``release``, and keep their outputs.

    ``told`` hears of each as it ends: whoever interrupts the rest has what there is. What workers
    write goes to ``folder``, which is there.

    Raises:
        PoolError: the workers cannot start.
    """
    ended: dict[str, Ended] = {}
    with Pool(1, limits, __name__, [str(folder)], release) as pool:
        pool.submit(*(Job(case, alone=True) for case in cases))
        for job, outcome in pool.drain():
            file = folder / job.case.identifier
            outputs: tuple[Output, ...] = ()
            if file.exists():
                outputs = msgspec.json.decode(file.read_bytes(), type=tuple[Output, ...])
            ended[job.case.identifier] = Ended(outcome, outputs)
            told(job.case.identifier, ended[job.case.identifier])
        return Again(pool.environment, ended)


def output_of(
    name: str, binding: Mapping[str, int], regime: str, actual: Array, wanted: Bounded
) -> Output | None:
    """The output as it is written; None where its shape is wrong, or it is too large."""
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
    # To a type that Python has: NumPy knows nothing of bfloat16, and an integer stays exact.
    wide = "int64" if array.dtype.kind in "iub" else "float64"
    return tuple(map(repr, array.astype(wide).ravel().tolist()))


def main() -> None:
    """Serve as ``harness.zygote`` does; the last argument is the folder."""
    folder = Path(sys.argv.pop())
    # They import TVM, which only the zygote is to do.
    from harness import conduct as conducting
    from harness import worker, zygote
    from harness.judge import judge

    def conduct(
        case: Case,
        progress: Progress = lambda stage: None,
        *,
        plain: bool = False,
        tracing: Tracing | None = None,
    ) -> Outcome:
        seen: list[Output] = []

        def judge_and_keep(
            program: Program,
            binding: Mapping[str, int],
            actual: tuple[Array, ...],
            wanted: Expected,
            regime: str = "normal",
        ) -> Judgement:
            for name, array, bounded in zip(program.outputs, actual, wanted.outputs, strict=False):
                output = output_of(name, binding, regime, array, bounded)
                if output is not None:
                    seen.append(output)
            return judge(program, binding, actual, wanted, regime)

        conducting.judge = judge_and_keep  # type: ignore[attr-defined]
        outcome = conducting.conduct(case, progress, plain=plain, tracing=tracing)
        # Whole or not at all, where there is no room or this process is ended.
        unfinished = folder / f"{case.identifier}.new"
        unfinished.write_bytes(msgspec.json.encode(seen))
        unfinished.replace(folder / case.identifier)
        return outcome

    worker.conduct = conduct  # type: ignore[attr-defined,assignment]
    zygote.main()


if __name__ == "__main__":
    main()

"""Resident memory of a campaign's processes over time."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import msgspec

_FEWEST = 20
"""Samples of a process that it takes to say whether it grows."""

_ROLES = ("engine", "zygote", "worker")


class Sample(msgspec.Struct, frozen=True):
    """Bytes of resident memory of one process, ``seconds`` after the start and ``cases`` ended.

    ``process`` is its role and number: a worker is a child of the zygote, that of the engine.
    """

    seconds: float
    cases: int
    pid: int
    process: str
    resident: int


def sampled(engine: int, seconds: float, cases: int) -> Iterator[Sample]:
    """The engine's process, its children and theirs, as they are now."""
    generation = [engine]
    for role in _ROLES:
        following = []
        for pid in generation:
            try:
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
                children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            following += map(int, children)
            resident = pages * os.sysconf("SC_PAGE_SIZE")
            yield Sample(seconds, cases, pid, f"{role} {pid}", resident)
        generation = following


def drift(samples: Sequence[Sample]) -> dict[str, float]:
    """The growth of each process after its first quarter, as a share of what it was then.

    Medians of the second eighth and of the last one are compared; processes that were seen only a
    few times are left out.
    """
    growths = {}
    for process in dict.fromkeys(sample.process for sample in samples):
        own = [sample.resident for sample in samples if sample.process == process]
        if len(own) >= _FEWEST:
            eighth = len(own) // 8
            early, late = median(own[eighth : 2 * eighth]), median(own[-eighth:])
            growths[process] = late / early - 1
    return growths


def plot(samples: Sequence[Sample], path: Path) -> None:
    """Draw the resident memory of each process over the cases that ended to ``path``, as SVG."""
    figure, axes = plt.subplots(figsize=(9, 4.5), layout="constrained")
    for process in drift(samples):
        own = [sample for sample in samples if sample.process == process]
        cases = [sample.cases for sample in own]
        axes.plot(cases, [sample.resident / 2**20 for sample in own], label=process)
    axes.set_xlabel("cases that have ended")
    axes.set_ylabel("resident memory, MiB")
    axes.set_ylim(bottom=0)
    axes.legend()
    figure.savefig(path)
    plt.close(figure)

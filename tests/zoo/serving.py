"""Serves trials on one release of TVM: ``python -m tests.zoo.serving``, requests in, results out.

A request is a line of JSON, a ``Request``; the answer to it are lines of JSON, a ``Result`` each,
and an empty line. Each request runs in a forked process: TVM and the probes of the fixes are loaded
once.
"""

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from relaxcheck import fixes
from tests.zoo.children import Ended, in_child
from tests.zoo.exporting import warm
from tests.zoo.records import Result, Trial, Verdict
from tests.zoo.trying import tried


class Request(msgspec.Struct, frozen=True):
    """A trial, the folder of the exported model, its number of runs, and the ``fixes`` to try.

    Each verdict may take ``seconds`` of the processor's time.
    """

    trial: Trial
    where: str
    runs: int
    fixes: tuple[str, ...]
    seconds: float


def answered(request: Request, release: str) -> list[Result]:
    """The results of ``request``; where a process dies, another tries the other state of fixes."""
    left = list(request.fixes)
    results: dict[str, Result] = {}
    while left:
        job = partial(tried, request.trial, Path(request.where), request.runs, tuple(left), release)
        for each in in_child(job, request.seconds * len(left)):
            if isinstance(each, Ended):
                if left:
                    state = left.pop(0)
                    results[state] = _ended(request.trial, release, state, each)
                continue
            if each.fixes in left:
                left.remove(each.fixes)
                results[each.fixes] = each
            else:
                before = results[each.fixes]
                results[each.fixes] = msgspec.structs.replace(before, seconds=each.seconds)
    return list(results.values())


def _ended(trial: Trial, release: str, state: str, ended: Ended) -> Result:
    verdict = Verdict.TIMEOUT if ended.late else Verdict.DIED
    return Result(trial=trial, release=release, fixes=state, verdict=verdict, message=ended.cause)


def serve(lines: Iterable[str], release: str) -> Iterator[Any]:
    """The answers to the requests in ``lines``: a list of results each."""
    for line in lines:
        yield answered(msgspec.json.decode(line, type=Request), release)


if __name__ == "__main__":
    warm()
    # The probes run here, once: forked processes know which fixes are needed.
    with fixes.install():
        pass
    for answer in serve(sys.stdin, sys.argv[1]):
        for result in answer:
            print(msgspec.json.encode(result).decode(), flush=True)
        print(flush=True)

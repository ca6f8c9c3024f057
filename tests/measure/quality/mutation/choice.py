"""The choice of the tests that a mutant has to survive."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.measure.quality.mutation.mutants import Mutant
from tests.measure.quality.mutation.mutation_scopes import Scope
from tests.measure.quality.mutation.mutation_server import Job

QUICK = 0.06
"""CPU seconds of a test that compiles nothing."""


@dataclass(frozen=True, slots=True)
class Trial:
    """The tests without a mutant: the functions that each calls, its CPU seconds.

    ``imported`` are the functions that ran while the mutated rooms were imported.
    """

    called: Mapping[str, Sequence[str]]
    took: Mapping[str, float]
    imported: frozenset[str] = frozenset()


def job_of(mutant: Mutant, trial: Trial, scope: Scope) -> Job:
    """The tests that call the function: all of its own file's, then others as many as fit.

    A test reads what a function built at import without a call of it. So one that ran then has all
    of the scope's readers too. Of all these first the quick ones, then in turns one of each
    parametrized test, so that they differ.
    """
    function = f"{mutant.file}:{mutant.function}"
    names = (scope.own.get(mutant.file, Path(mutant.file).stem), *scope.common)
    begins = tuple(f"test_{name}" for name in names)
    owns = tuple(test for test in scope.tests if Path(test).stem.startswith(begins))
    readers = scope.readers if function in trial.imported else ()
    # With the fixes off an entry of the corpus is about TVM alone.
    calling = {
        test
        for test, called in trial.called.items()
        if function in called and not test.endswith("-fixes-off]")
    }
    # A function that no test calls ran at import.
    calling = calling or {test for test in trial.called if test.startswith(owns)}
    quickest = [test for test in trial.called if test in calling or test.startswith(readers)]
    quickest.sort(key=trial.took.__getitem__)
    turns: Counter[str] = Counter()
    turn = {}
    for test in quickest:
        name = test.partition("[")[0]
        turn[test] = turns[name]
        turns[name] += 1
    quickest.sort(
        key=lambda test: (not test.startswith(owns), trial.took[test] > QUICK, turn[test])
    )
    tests, seconds, others = [], 0.0, 0.0
    for test in quickest:
        if not test.startswith((*owns, *readers)):
            if others + trial.took[test] > scope.seconds:
                continue
            others += trial.took[test]
        tests.append(test)
        seconds += trial.took[test]
    return Job(
        mutant.key, tuple(tests), 60 + 6 * seconds, mutant.file, mutant.function, mutant.source
    )

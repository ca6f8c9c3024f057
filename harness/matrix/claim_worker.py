"""Runs checks of claims in this process.

Call it as ``python -m relaxcheck.harness.matrix.claim_worker on FILE…``.

A FILE has a function ``check(fixes_on)``, which returns a ``Result``, and a name ``OPERATOR``. An
exception is a verdict as well: ``unsupported`` if the message names that operator and says that it
is not supported, ``opaque-crash`` otherwise. Each result is one line of standard output.
"""

import importlib.util
import sys
import traceback
import warnings
from pathlib import Path
from types import ModuleType

import msgspec

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.matrix.claim_check import RESULT, Result
from relaxcheck.harness.outcomes.errors import disowns
from relaxcheck.harness.outcomes.outcome import Verdict


def loaded(path: Path) -> ModuleType:
    """The check in the file ``path``. Raises ``CaseError`` if it is none."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise CaseError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # Checks share modules beside them.
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    for name in ("OPERATOR", "check"):
        if not hasattr(module, name):
            raise CaseError(f"{path} has no {name!r}")
    return module


def result(module: ModuleType, *, fixes_on: bool) -> Result:
    """The result of the check ``module``."""
    try:
        answer = module.check(fixes_on)
    except Exception as error:
        traceback.print_exc()
        summary = f"{type(error).__name__}: {error}"
        clear = disowns(summary, module.OPERATOR)
        return Result(Verdict.UNSUPPORTED if clear else Verdict.OPAQUE_CRASH, summary)
    assert isinstance(answer, Result)
    return answer


def main() -> None:
    """Run the checks that the arguments name, with the fixes ``on`` or ``off``."""
    side, *paths = sys.argv[1:]
    warnings.simplefilter("ignore")
    for path in paths:
        answer = result(loaded(Path(path)), fixes_on=side == "on")
        print(RESULT + msgspec.json.encode(answer).decode(), flush=True)


if __name__ == "__main__":
    main()

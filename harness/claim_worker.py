"""Runs checks of claims in this process: ``python -m harness.claim_worker on FILE…``.

A FILE has a function ``check(fixes_on)``, which returns a ``Result``, and a name ``OPERATOR``. What
it raises is a verdict as well: ``unsupported`` where the message names that operator and says that
it is not supported, ``opaque-crash`` otherwise. A line of standard output is the result.
"""

import importlib.util
import sys
import traceback
import warnings
from pathlib import Path
from types import ModuleType

import msgspec

from generators.program import CaseError
from harness.claim_check import TOLD, Result
from harness.errors import disowns
from harness.outcome import Verdict


def loaded(path: Path) -> ModuleType:
    """The check in the file ``path``. Raises ``CaseError`` where that is no check."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise CaseError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # Checks share what is beside them.
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    for name in ("OPERATOR", "check"):
        if not hasattr(module, name):
            raise CaseError(f"{path} has no {name!r}")
    return module


def result(module: ModuleType, *, fixes_on: bool) -> Result:
    """What the check ``module`` gives."""
    try:
        given = module.check(fixes_on)
    except Exception as error:
        traceback.print_exc()
        said = f"{type(error).__name__}: {error}"
        clear = disowns(said, module.OPERATOR)
        return Result(Verdict.UNSUPPORTED if clear else Verdict.OPAQUE_CRASH, said)
    assert isinstance(given, Result)
    return given


def main() -> None:
    """Run the checks that the arguments name, with the fixes ``on`` or ``off``."""
    side, *paths = sys.argv[1:]
    warnings.simplefilter("ignore")
    for path in paths:
        given = result(loaded(Path(path)), fixes_on=side == "on")
        print(TOLD + msgspec.json.encode(given).decode(), flush=True)


if __name__ == "__main__":
    main()

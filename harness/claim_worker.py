"""Runs one check of a claim in this process: ``python -m harness.claim_worker FILE on``.

FILE has a function ``check(fixes_on)``, which returns a ``Result``, and a name ``OPERATOR``. What
it raises is a verdict as well: ``unsupported`` where the message names that operator and says that
it is not supported, ``opaque-crash`` otherwise. The last line of standard output is the result.
"""

import importlib.util
import sys
import traceback
import warnings
from pathlib import Path
from types import ModuleType

import msgspec

from generators.program import CaseError
from harness.claim_check import Result
from harness.errors import disowns
from harness.outcome import Verdict


def loaded(path: Path) -> ModuleType:
    """The check in the file ``path``. Raises ``CaseError`` where that is no check."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise CaseError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    # Checks share what is beside them.
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
    """Run the check that the arguments name, with the fixes ``on`` or ``off``."""
    path, side = sys.argv[1:]
    warnings.simplefilter("ignore")
    module = loaded(Path(path))
    print(msgspec.json.encode(result(module, fixes_on=side == "on")).decode())


if __name__ == "__main__":
    main()

"""Native code of the functions that FoldConstant runs while a module is compiled.

The pass generates and runs code for each call of constants, at LLVM's default level: for a model
with a few weights that takes as long as all other passes. The same few functions come again and
again, over other constants, which are their arguments.
"""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import tvm_ffi

Module = Any

_KEPT = 128
"""Modules of which code is kept: as much as a worker needs in a hundred cases."""

_CODE: OrderedDict[tuple[int, str], tuple[Module, Any]] = OrderedDict()
"""Lowered modules and their code, by hash and target, the longest unused first."""


def folded_code(module: Module, target: Any, generate: Callable[[Module, Any], Any]) -> Any:
    """The code that ``generate`` gives for ``module``, lowered functions, and ``target``.

    A module that is equal to one of the last has that one's code. Every pass has run on both.

    Raises:
        Exception: any that ``generate`` raises.
    """
    key = (tvm_ffi.structural_hash(module), str(target))
    known = _CODE.get(key)
    if known is not None and tvm_ffi.structural_equal(known[0], module):
        _CODE.move_to_end(key)
        return known[1]
    code = generate(module, target)
    _CODE[key] = (module, code)
    _CODE.move_to_end(key)
    if len(_CODE) > _KEPT:
        _CODE.popitem(last=False)
    return code

"""Pixel shuffle, whose TOPI function is not imported, and whose type inference dies.

The legalization calls ``topi.nn.pixel_shuffle``; no module imports the file that defines it. Type
inference reads the number of channels as a constant without asking whether it is one.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from tvm import relax, topi

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import (
    FaultPart,
    Fix,
    checked,
    legalization,
    refuse,
    require_shapes,
)
from relaxcheck.fixes.framework.patch import Checking, Import, NewFile
from relaxcheck.fixes.tvm_api import BlockBuilder, Call, Expr, Tensor

UPSTREAM = NewFile(
    "relax/op/pixel_shuffle.py", "Arguments of pixel shuffle that type inference cannot read."
)

OPERATOR = "relax.nn.pixel_shuffle"
_ORIGINAL = relax.op.nn.pixel_shuffle
_CHANNELS = -3


def _constant_channels(arguments: Mapping[str, Any]) -> None:
    """Check that the number of channels is a constant, where type inference reads it."""
    data = arguments["data"]
    if not tvm_api.is_tensor(data):
        # The operand of a nested call has no type yet.
        return
    if not tvm_api.has_shape(data):
        raise refuse(OPERATOR, data=tvm_api.show_type(tvm_api.type_of(data)), shape=None)
    shape = tvm_api.shape_of(data)
    if len(shape) >= -_CHANNELS and tvm_api.as_int(shape[_CHANNELS]) is None:
        raise refuse(OPERATOR, data=tvm_api.show(shape), channels=tvm_api.show(shape[_CHANNELS]))


def _lower(builder: BlockBuilder, call: Call) -> Expr:
    require_shapes(call)
    factor = int(call.attrs.upscale_factor)
    return builder.call_te(_of_topi(), call.args[0], upscale_factor=factor)


def _of_topi() -> Callable[..., Tensor]:
    """The function that ``topi.nn`` does not import."""
    module = import_module("tvm.topi.nn.pixel_shuffle")
    # The import of a submodule names it in its package. Without the fix there must be no such name.
    if vars(topi.nn).get("pixel_shuffle") is module:
        del topi.nn.pixel_shuffle
    function: Callable[..., Tensor] = module.pixel_shuffle
    return function


def shuffles() -> bool:
    """True if four channels of one element become a square of four."""
    call = probes.one_call(lambda x: relax.op.nn.pixel_shuffle(x, 2), (1, 4, 1, 1))
    array = np.arange(4, dtype="float32")
    return probes.computes(call, [array.reshape(1, 4, 1, 1)], array.reshape(1, 1, 2, 2))


def types_symbolic_channels() -> bool:
    """True if a symbolic number of channels is typed, or refused by name."""

    def make() -> Call:
        return probes.one_call(_shuffled, (tvm_api.shape_var("n"), 1, 1))

    return probes.is_refused(make, "pixel_shuffle", "channels") or tvm_api.has_shape(make())


def _shuffled(data: Expr) -> Expr:
    return relax.op.nn.pixel_shuffle(data, 1)


FIX = Fix(
    name="pixel_shuffle",
    operators=(OPERATOR,),
    fault=(
        "pixel_shuffle is not lowered: topi.nn does not import its function; a symbolic number of"
        " channels ends the process when the call is typed"
    ),
    issue=None,
    parts=(
        FaultPart("the missing function", lambda: not shuffles()),
        FaultPart("symbolic channels", lambda: not types_symbolic_channels(), deadly=True),
    ),
    attributes=legalization(OPERATOR, _lower),
    rebindings=lambda: (checked(_ORIGINAL, _constant_channels),),
    after="invalid_arguments",
    patch=(
        Import("topi/nn/__init__.py", "from .pixel_shuffle import *"),
        Checking("pixel_shuffle", _constant_channels),
    ),
)

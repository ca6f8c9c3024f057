"""A step that calls a function of TIR."""

from generators.dynamic_draft import Draft, shape_value
from generators.dynamic_movement import Step, tensor
from generators.tir_functions import CALL_TIR, FUNCTIONS

_REDUCING, _CIRCULAR = "row_sum", "backwards"


def _call_tir(draft: Draft) -> None:
    value = tensor(draft)
    function = draft.draw.choice(tuple(FUNCTIONS))
    shape = {"turned": value.shape[::-1], _REDUCING: value.shape[:-1]}.get(function, value.shape)
    if function == _REDUCING:
        # What begins a sum stands in its first iteration: where there is none, nobody does.
        draft.require(value.shape[-1], 1)
    if function == _CIRCULAR:
        # It is a remainder by the size: where that is the number 0 there is no function.
        draft.require(value.shape[0], 1)
    draft.call(
        CALL_TIR,
        [value],
        shape,
        function=function,
        of=shape_value(value.shape),
        shape=shape_value(shape),
        dtype=value.dtype,
    )


STEPS: dict[str, Step] = {CALL_TIR: _call_tir}

MEANINGS = frozenset(function.operator for function in FUNCTIONS.values())
"""The operators that the functions are written out as."""

"""The recurrences of LSTM, GRU and RNN as loops over time, in TIR.

A sequence of length n has steps 0 … n - 1, or n - 1 … 0 in reverse; outputs after its end are zero.
A sequence of length 0 has a final state of zero, as in ONNX Runtime.
"""

from collections.abc import Mapping

from tvm import tirx

from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.recurrent.cells import (
    STEPS,
    Buffer,
    Recurrence,
    Statement,
    Step,
    loop,
    store,
    zero,
)
from relaxcheck.fixes.tvm_api import PrimExpr, assertion, integer

UPSTREAM = NewFile("relax/frontend/onnx/recurrent_loops.py")

_STATES = {"Y_h": "initial_h", "Y_c": "initial_c"}


def _sequence(step: Step, longest: PrimExpr) -> Statement:
    """One direction of one sequence: initial state, steps, and zeros after its end."""
    recurrence, output = step.recurrence, step.outputs["Y"]
    length = longest
    if "sequence_lens" in step.tensors:
        length = step.tensors["sequence_lens"][step.batch].astype("int64")

    def begin(i: PrimExpr) -> Statement:
        stores = []
        for name in (name for name in _STATES if name in step.outputs):
            value = blank = zero(step.outputs[name])
            if _STATES[name] in step.tensors:
                initial = step.tensors[_STATES[name]]
                there = initial[(*recurrence.state_at(step.number, step.batch), i)]
                value = tirx.Select(length > integer(0), there, blank)
            stores.append(step.set_state(name, i, value))
        return stores[0] if len(stores) == 1 else tirx.SeqStmt(stores)

    def place(time: PrimExpr, i: PrimExpr) -> list[PrimExpr]:
        return [*recurrence.at(time, step.number, step.batch), i]

    def run(t: PrimExpr) -> Statement:
        time = length - integer(1) - t if recurrence.reverse[step.direction] else t
        shown = step.each_unit(lambda i: store(output, step.state("Y_h", i), place(time, i)))
        return tirx.SeqStmt([*STEPS[recurrence.operator](step, time), shown])

    def blank(t: PrimExpr) -> Statement:
        return step.each_unit(lambda i: store(output, zero(output), place(t, i)))

    statements = [step.each_unit(begin), loop("t", length, run)]
    if "sequence_lens" in step.tensors:
        statements.append(loop("t", longest - length, blank, start=length))
    return tirx.SeqStmt(statements)


def loops(
    recurrence: Recurrence, tensors: Mapping[str, Buffer], outputs: Mapping[str, Buffer]
) -> Statement:
    """The whole recurrence.

    ``tensors`` holds the inputs by ONNX name (B, sequence_lens, initial_h, initial_c and P, if
    present); R with its last two axes swapped, (directions, hidden, gates * hidden); and
    ``projected``, the product of X and W, (time, batch, directions * gates * hidden). All but
    sequence_lens have one floating dtype. ``outputs`` are Y, Y_h, Y_c for LSTM, and scratch memory:
    gates, (gates * hidden,), and reset, (hidden,), for GRU.

    A sequence length that is negative or exceeds the input is a ``ValueError`` at run time.
    """
    axes = tensors["projected"].shape
    longest, batch = (axes[1], axes[0]) if recurrence.batch_first else (axes[0], axes[1])

    def check(b: PrimExpr) -> Statement:
        length = tensors["sequence_lens"][b].astype("int64")
        message = f"{recurrence.operator}: sequence_lens must be within 0 and the length of X"
        return assertion(tirx.all(length >= integer(0), length <= longest), message)

    def directions(b: PrimExpr) -> Statement:
        return tirx.SeqStmt(
            [
                _sequence(Step(recurrence, tensors, outputs, number, b), longest)
                for number in range(len(recurrence.reverse))
            ]
        )

    statements = [loop("b", batch, directions)]
    if "sequence_lens" in tensors:
        statements.insert(0, loop("b", batch, check))
    return statements[0] if len(statements) == 1 else tirx.SeqStmt(statements)

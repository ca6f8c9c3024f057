"""The recurrences of LSTM, GRU and RNN as loops over time, in TIR.

A sequence of length n has its steps at 0 … n - 1, in reverse order at n - 1 … 0; the outputs after
that are zero. One of length 0 has a final state of zero, as ONNX Runtime has it.
"""

from collections.abc import Mapping

from tvm import tirx

from fixes.onnx_rnn_cells import STEPS, Buffer, Recurrence, Statement, Step, loop, store, zero
from fixes.tvm_api import PrimExpr, assertion, integer

_STATES = {"Y_h": "initial_h", "Y_c": "initial_c"}


def _sequence(step: Step, longest: PrimExpr) -> Statement:
    """One direction of one sequence: its state, its steps, and zeros after its end."""
    what, output = step.what, step.outputs["Y"]
    length = longest
    if "sequence_lens" in step.given:
        length = step.given["sequence_lens"][step.batch].astype("int64")

    def begin(i: PrimExpr) -> Statement:
        stores = []
        for name in (name for name in _STATES if name in step.outputs):
            value = blank = zero(step.outputs[name])
            if _STATES[name] in step.given:
                initial = step.given[_STATES[name]]
                there = initial[(*what.state_at(step.number, step.batch), i)]
                value = tirx.Select(length > integer(0), there, blank)
            stores.append(step.set_state(name, i, value))
        return stores[0] if len(stores) == 1 else tirx.SeqStmt(stores)

    def place(time: PrimExpr, i: PrimExpr) -> list[PrimExpr]:
        return [*what.at(time, step.number, step.batch), i]

    def run(t: PrimExpr) -> Statement:
        time = length - integer(1) - t if what.reverse[step.direction] else t
        shown = step.each_unit(lambda i: store(output, step.state("Y_h", i), place(time, i)))
        return tirx.SeqStmt([*STEPS[what.operator](step, time), shown])

    def blank(t: PrimExpr) -> Statement:
        return step.each_unit(lambda i: store(output, zero(output), place(t, i)))

    statements = [step.each_unit(begin), loop("t", length, run)]
    if "sequence_lens" in step.given:
        statements.append(loop("t", longest - length, blank, start=length))
    return tirx.SeqStmt(statements)


def loops(
    what: Recurrence, given: Mapping[str, Buffer], outputs: Mapping[str, Buffer]
) -> Statement:
    """The whole of ``what``.

    ``given`` are the buffers of the inputs by ONNX's names (B, sequence_lens, initial_h, initial_c
    and P where there are any), R with its last two axes exchanged, (directions, hidden, gates *
    hidden), and ``projected``, (time, batch, directions * gates * hidden), the product of X and W;
    all but sequence_lens in one floating dtype. ``outputs`` are Y, Y_h, of LSTM Y_c, and to work in
    gates, (gates * hidden,), and of GRU reset, (hidden,).

    A length that is negative or greater than that of the input is a ``ValueError`` at run time.
    """
    axes = given["projected"].shape
    longest, batch = (axes[1], axes[0]) if what.batch_first else (axes[0], axes[1])

    def check(b: PrimExpr) -> Statement:
        length = given["sequence_lens"][b].astype("int64")
        message = f"{what.operator}: sequence_lens must be within 0 and the length of X"
        return assertion(tirx.all(length >= integer(0), length <= longest), message)

    def directions(b: PrimExpr) -> Statement:
        return tirx.SeqStmt(
            [
                _sequence(Step(what, given, outputs, number, b), longest)
                for number in range(len(what.reverse))
            ]
        )

    statements = [loop("b", batch, directions)]
    if "sequence_lens" in given:
        statements.insert(0, loop("b", batch, check))
    return statements[0] if len(statements) == 1 else tirx.SeqStmt(statements)

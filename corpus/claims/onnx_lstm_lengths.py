"""ONNX's bidirectional LSTM with sequence_lens, symbolic batch and length, against a packed one."""

import numpy as np
import onnx
import torch
from built import compiled, switched
from relaxcheck.harness.matrix.claim_check import Result, compared
from relaxcheck.harness.outcomes.outcome import Verdict
from onnx import TensorProto, helper, numpy_helper
from recurrent import FEATURES, HIDDEN, LENGTHS, Packed, bound, sequences
from tvm.relax.frontend.onnx import from_onnx

OPERATOR = "LSTM"


def parameters(lstm, kind):
    """ONNX has the gates in another order than PyTorch: i, o, f, c for i, f, c, o."""
    both = []
    for end in ("", "_reverse"):
        gates = np.split(getattr(lstm, f"{kind}_l0{end}").detach().numpy(), 4)
        both.append(np.concatenate([gates[0], gates[3], gates[1], gates[2]]))
    return np.stack(both)


def model(lstm):
    w, r = parameters(lstm, "weight_ih"), parameters(lstm, "weight_hh")
    b = np.concatenate([parameters(lstm, "bias_ih"), parameters(lstm, "bias_hh")], 1)
    node = helper.make_node(
        "LSTM",
        ["X", "W", "R", "B", "lengths"],
        ["Y"],
        hidden_size=HIDDEN,
        direction="bidirectional",
    )
    graph = helper.make_graph(
        [node],
        "lstm",
        [
            helper.make_tensor_value_info("X", TensorProto.FLOAT, ["length", "batch", FEATURES]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"]),
        ],
        [helper.make_tensor_value_info("Y", TensorProto.FLOAT, ["length", 2, "batch", HIDDEN])],
        [numpy_helper.from_array(one, name) for name, one in zip("WRB", (w, r, b))],
    )
    found = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    onnx.checker.check_model(found)
    return found


def check(fixes_on):
    torch_model, x, lengths = Packed(), sequences(), np.array(LENGTHS, "int32")
    exact = Packed().double()
    wanted = exact(torch.tensor(x).double(), torch.tensor(LENGTHS)).detach().numpy()
    limit = bound(exact.lstm)
    padded = exact.lstm(torch.tensor(x).double())[0].detach().numpy() * (wanted != 0)
    # Otherwise nothing would tell one that goes over the padding, even with a mask after it.
    assert compared(padded, wanted, limit).verdict is Verdict.WRONG_VALUE
    with switched(fixes_on):
        run = compiled(from_onnx(model(torch_model.lstm)), fixes_on)
    found = run(np.ascontiguousarray(x.transpose(1, 0, 2)), lengths)
    if found.ndim != 4:
        return Result(Verdict.WRONG_SHAPE, f"shape {found.shape}")
    length, _, batch, _ = found.shape
    return compared(found.transpose(2, 0, 1, 3).reshape(batch, length, 2 * HIDDEN), wanted, limit)

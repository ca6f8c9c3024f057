"""Suppression of boxes for each class of its own, as ONNX defines it."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm import relax
from tvm.script import relax as R

# The first two are the same box.
BOXES = np.array([[[0, 0, 4, 4], [0, 0, 4, 4], [5, 5, 6, 6]]], "float32")
SCORES = np.array([[[0.25, 0.5, 0.75]]], "float32")
KINDS = ("int64", "float32", "float32")


def _module(boxes, scores, limits):
    """A program that selects boxes; limits that are arrays are parameters, others constants."""
    builder = relax.BlockBuilder()
    names = ("boxes", "scores", "most", "overlap", "least")
    operands = dict(zip(names, (boxes, scores, *limits), strict=True))
    parameters = {
        name: relax.Var(name, R.Tensor(each.shape, str(each.dtype)))
        for name, each in operands.items()
        if isinstance(each, np.ndarray)
    }
    arguments = [parameters.get(name, operands[name]) for name in names]
    with builder.function("main", list(parameters.values())):
        with builder.dataflow():
            call = relax.op.vision.all_class_non_max_suppression(*arguments)
            rows = builder.emit_output(relax.TupleGetItem(builder.emit(call), 0))
        builder.emit_func_output(rows)
    return builder.get()


def _selected(limits=(9, 0.5, 0.0), boxes=BOXES, scores=SCORES, shape=(), known=True):
    arrays = [np.full(shape, value, kind) for value, kind in zip(limits, KINDS, strict=True)]
    operands = [relax.const(array, array.dtype.name) for array in arrays] if known else arrays
    executable = relax.build(_module(boxes, scores, operands), tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    inputs = [boxes, scores, *([] if known else arrays)]
    return vm["main"](*map(tvm.runtime.tensor, inputs)).numpy()[:, 2].tolist()


def test_limits_of_one_axis():
    assert _selected(shape=(1,)) == [2, 1]


def test_limits_at_run_time():
    assert _selected((1, 0.5, 0.0), known=False) == [2]


def test_no_overlap_at_all():
    assert _selected((9, 0.0, 0.0)) == [2, 1]


def test_complete_overlap():
    assert _selected((9, 1.0, 0.0)) == [2, 1, 0]


def test_scores_below_0():
    assert _selected((9, 0.5, -9.0), scores=SCORES - 3) == [2, 1]


def test_float64():
    assert _selected(boxes=BOXES.astype("float64"), scores=SCORES.astype("float64")) == [2, 1]


def test_no_boxes():
    assert _selected(boxes=BOXES[:, :0], scores=SCORES[..., :0]) == []


def test_scores_of_other_boxes():
    with pytest.raises(ValueError, match="all_class_non_max_suppression is invalid with boxes="):
        _selected(boxes=BOXES[:, :2])


if __name__ == "__main__":
    tvm.testing.main()

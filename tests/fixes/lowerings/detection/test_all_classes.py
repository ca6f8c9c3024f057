"""Boxes that stay for each class, as ONNX Runtime selects them, in both formats."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.lowerings.detection import all_classes
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import arrays
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.fixes import compiled
from tests.fixes import whole_programs as whole
from tests.oracles.detections import detected

OP = relax.op.vision.all_class_non_max_suppression


def _selected(values: Any, form: str, item: int) -> Any:
    with installation.install([all_classes.FIX]):
        module = probes.program(
            lambda *tensors: relax.TupleGetItem(
                relax.op.vision.all_class_non_max_suppression(*tensors, form), item
            ),
            *(each.shape for each in values),
            dtypes=tuple(each.dtype.name for each in values),
        )
        return compiled.build(module)(*values)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("limits", [(9, 0.5, 0.0), (2, 0.2, 0.25), (9, 0.0, 0.0), (9, 1.0, 0.5)])
@pytest.mark.parametrize("form", ["onnx", "tensorflow"])
def test_it_selects_the_boxes_of_the_reference(
    form: str, limits: tuple[int, float, float], dtype: str
) -> None:
    for item in range(2 if form == "onnx" else 3):
        program = detected(dtype, limits=limits, item=item, output_format=form)
        values = arrays(Case("drawn", program), 0)
        (wanted,) = evaluate(program, values)
        actual = _selected(list(values.values()), form, item)
        defined = np.isfinite(wanted.bound)
        assert defined.any()
        np.testing.assert_array_equal(actual[defined], wanted.value[defined])


def test_results_without_a_row() -> None:
    program = detected(limits=(0, 0.5, 0.0))
    values = list(arrays(Case("drawn", program), 0).values())
    assert _selected(values, "onnx", 0).shape == (0, 3)
    assert _selected(values, "onnx", 1).tolist() == [0]


@compiled.WHEN
def test_scores_of_other_boxes_are_refused(when: str) -> None:
    kinds = ("float32", "float32", "int64", "float32", "float32")
    shapes = ((1, 2, 4), (1, 1, 3), (), (), ())
    why = r"invalid with boxes='\(1, 2, 4\)', scores='\(1, 1, 3\)'"
    module = probes.program(OP, *shapes, dtypes=kinds)
    if when == "lowered":
        with installation.install([all_classes.FIX]), pytest.raises(ValueError, match=why):
            relax.transform.LegalizeOps()(module)
        return
    with installation.install([all_classes.FIX]), pytest.raises(ValueError, match=why):
        relax.op.vision.all_class_non_max_suppression(*probes.inputs(shapes, kinds))


def test_a_rank_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="the rank of boxes is 2 and has to be 3"):
        all_classes.check_boxes(*probes.inputs([(2, 4), (1, 1, 2)]))


def test_symbolic_shapes_are_left_to_the_run() -> None:
    n, m = tvm_api.shape_var("n"), tvm_api.shape_var("m")
    all_classes.check_boxes(*probes.inputs([(1, n, 4), (1, 1, m)]))


NAMES = (
    *("limits of one axis", "limits at run time", "no overlap at all", "complete overlap"),
    *("scores below 0", "float64", "no boxes", "scores of other boxes"),
)

PROGRAMS: whole.Programs = {
    "all_class_nms": {
        name: (whole.upstream("all_class_nms", name.replace(" ", "_")),) for name in NAMES
    },
}

CURES: whole.Cures = {
    "all-class-nms-limits-of-one-axis": (("all_class_nms", "limits of one axis"),),
    "all-class-nms-limit-at-run-time": (("all_class_nms", "limits at run time"),),
    "all-class-nms-no-overlap": (("all_class_nms", "no overlap at all"),),
}

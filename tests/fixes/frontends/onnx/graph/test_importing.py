"""Models that compute with shapes and branch, against ONNX Runtime."""

from functools import partial

import numpy as np
import pytest

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx import probing
from relaxcheck.fixes.frontends.onnx.graph import importing
from relaxcheck.fixes.tvm_api import functions, shapes
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import agrees, floats

HEAD = "f (float[n, m, 4] x) => (float[p, q] y)"

FLATTENED = """ <int64[1] c = {0}, int64[1] r = {-1}> {
    shape = Shape (x)
    batch = Gather (shape, c)
    wanted = Concat <axis = 0> (batch, r)
    y = Reshape (x, wanted)
}"""
HALVED = """ <int64[1] i = {1}, int64[1] half = {2}, int64[1] r = {-1}> {
    shape = Shape (x)
    size = Gather (shape, i)
    part = Div (size, half)
    parts = Mul (part, half)
    wanted = Concat <axis = 0> (r, parts)
    y = Reshape (x, wanted)
}"""
EXPANDED = """ <int64 i = {1}, int64[1] f = {0}, float[1, 1] one = {1}> {
    shape = Shape (x)
    size = Gather (shape, i)
    row = Unsqueeze (size, f)
    both = Concat <axis = 0> (row, row)
    y = Expand (one, both)
}"""
MASKED = """
    <int64[2] minus = {-1, 4}, int64[1] r = {-1}, int64[1] zero = {0}, int64[1] end = {1}>
{
    part = Shape <start = 1> (x)
    unknown = Equal (minus, r)
    wanted = Where (unknown, part, minus)
    flat = Reshape (x, r)
    cut = Slice (flat, zero, end)
    y = Expand (cut, wanted)
}"""
IN_FLOATS = """ <float[1] half = {0.5}, int64[1] i = {1}, int64[1] r = {-1}> {
    shape = Shape (x)
    size = Gather (shape, i)
    number = Cast <to = 1> (size)
    part = Mul (number, half)
    down = Floor (part)
    count = Cast <to = 7> (down)
    wanted = Concat <axis = 0> (r, count)
    y = Reshape (x, wanted)
}"""
COUNTED = """ <int64 i = {0}, int64 zero = {0}, int64 one = {1}, int64[1] last = {1}> {
    shape = Shape (x)
    size = Gather (shape, i)
    numbers = Range (zero, size, one)
    column = Unsqueeze (numbers, last)
    reals = Cast <to = 1> (column)
    y = Add (reals, reals)
}"""


@pytest.mark.parametrize("body", [FLATTENED, HALVED, EXPANDED, MASKED, IN_FLOATS, COUNTED])
def test_idioms(body: str, fixes_on: None) -> None:
    """At sizes that differ from run to run, and at fixed ones."""
    agrees(HEAD + body, [floats(2, 4, 4)], [floats(3, 2, 4)])
    agrees(HEAD.replace("n, m", "3, 2") + body, [floats(3, 2, 4)])


def test_comparisons_of_numbers_and_symbols(fixes_on: None) -> None:
    text = """f (float[n, 4] x) => (int64[2] y) <int64[2] numbers = {-1, 4}> {
        shape = Shape (x)
        same = Equal (shape, numbers)
        y = Where (same, numbers, shape)
    }"""
    agrees(text, [floats(3, 4)])


def test_quotients_of_symbols(fixes_on: None) -> None:
    """The divisor may be 0, or the dividend negative: then nothing is known."""
    text = """f (float[n, m] x) => (int64[1] y, int64[1] z)
        <int64[1] five = {5}, int64[1] two = {2}>
    {
        first = Shape <end = 1> (x)
        second = Shape <start = 1> (x)
        y = Div (first, second)
        less = Sub (first, five)
        z = Div (less, two)
    }"""
    agrees(text, [floats(7, 2)], [floats(2, 3)])


@pytest.mark.parametrize("keep", [True, False])
def test_shapes_that_stay_symbolic(keep: bool, fixes_on: None) -> None:
    """Numbers that models compute shapes with may be parameters, but do not change."""
    model = onnx_texts.model_of(HEAD + EXPANDED)
    module = onnx_texts.imported(model, keep_params_in_input=keep)
    dims = shapes.dims_of(functions.return_type(module["main"]))
    assert dims is not None
    assert [str(symbol) for symbol in shapes.variables(dims[0])] == ["m"]


def test_a_shape_and_a_size_are_outputs(fixes_on: None) -> None:
    text = """f (float[n, 3] x) => (int64[2] s, int64 c, int64[1] e) {
        s = Shape (x)
        c = Size (x)
        e = Shape <start = -1, end = 9> (x)
    }"""
    agrees(text, [floats(2, 3)], [floats(0, 3)])


@pytest.mark.parametrize("dtype", ["int64", "int32", "float", "double"])
def test_arithmetic_of_constants_is_that_of_their_dtype(dtype: str, fixes_on: None) -> None:
    """Integers wrap around, and quotients round towards 0."""
    large = "2147483647" if dtype == "int32" else "7"
    constants = f"<{dtype}[2] a = {{{large}, -7}}, {dtype}[2] b = {{2, 2}}>"
    text = f"""f () => ({dtype}[2] s, {dtype}[2] d) {constants} {{
        s = Add (a, b)
        d = Div (a, b)
    }}"""
    agrees(text)


def test_weights_that_are_parameters_are_not_folded(fixes_on: None) -> None:
    text = "f (int64[2] x) => (int64[2] y) <int64[2] w = {1, 2}> { v = Add (w, w) y = Add (x, v) }"
    module = onnx_texts.imported(onnx_texts.model_of(text), keep_params_in_input=True)
    run = onnx_texts.compiled(module)
    changed = [np.array(pair, "int64") for pair in ([1, 1], [5, 6])]
    assert run(*changed)[0].tolist() == [11, 13]


def test_a_value_is_computed_once(fixes_on: None) -> None:
    text = """f (float[2] x) => (float[2] y) {
        a = Exp (x)
        b = Add (a, a)
        y = Mul (b, a)
    }"""
    module = onnx_texts.imported(onnx_texts.model_of(text))
    assert str(module).count("R.exp") == 1


BRANCHES = """f (bool c, float[n] x) => (float[m] y) {
    joined = If (c) <
        then_branch = g () => (float[p] t) { t = Concat <axis = 0> (x, x) },
        else_branch = h () => (float[q] e) { e = THEN (x) }
    >
    y = Add (joined, joined)
}"""


@pytest.mark.parametrize("then", ["Neg", "Identity"])
def test_branches_of_different_sizes(then: str, fixes_on: None) -> None:
    feeds = [[np.array(taken), floats(3)] for taken in (True, False)]
    agrees(BRANCHES.replace("THEN", then), *feeds)


def test_only_the_branch_that_is_taken_runs(fixes_on: None) -> None:
    """The other one would cut 3 elements into parts of 2."""
    text = """f (bool c, float[n] x) => (float[n] y) <int64[2] s = {2, -1}, int64[1] f = {-1}> {
        y = If (c) <
            then_branch = g () => (float[n] t) { r = Reshape (x, s) t = Reshape (r, f) },
            else_branch = h () => (float[n] e) { e = Neg (x) }
        >
    }"""
    agrees(text, [np.array(True), floats(4)], [np.array(False), floats(3)])


def test_branches_after_each_other(fixes_on: None) -> None:
    """TVM would give memory of one branch to another, which dies of it."""
    node = """JOINED = If (c) <
        then_branch = gAT () => (float[2] tAT) { aAT = Add (LAST, x) tAT = Mul (aAT, x) },
        else_branch = hAT () => (float[2] eAT) { bAT = Neg (LAST) eAT = Neg (bAT) }
    >"""
    nodes = [
        node.replace("JOINED", f"y{at + 1}").replace("LAST", f"y{at}").replace("AT", str(at))
        for at in range(3)
    ]
    text = f"f (bool c, float[2] x) => (float[2] y3) {{ y0 = Exp (x) {' '.join(nodes)} }}"
    agrees(text, *([np.array(taken), floats(2)] for taken in (True, False)))


def test_a_branch_of_sizes_alone(fixes_on: None) -> None:
    text = """f (bool c, float[n, 2] x) => (float[m, 2] y) {
        s = Shape (x)
        z = If (c) <
            then_branch = g () => (float[p, q] t) { t = ConstantOfShape (s) },
            else_branch = h () => (float[n, 2] e) { e = Identity (x) }
        >
        y = Neg (z)
    }"""
    agrees(text, *([np.array(taken), floats(3, 2)] for taken in (True, False)))


def test_nested_branches_see_outer_names(fixes_on: None) -> None:
    text = """f (bool c, bool d, float[2] x) => (float[2] y, float[2] z) {
        w = Exp (x)
        y, z = If (c) <
            then_branch = g () => (float[2] t, float[2] u) {
                u = Identity (w)
                t = If (d) <
                    then_branch = a () => (float[2] i) { i = Add (w, x) },
                    else_branch = b () => (float[2] j) { j = Sub (w, x) }
                >
            },
            else_branch = h () => (float[2] o, float[2] e) { o = Identity (x) e = Neg (w) }
        >
    }"""
    choices = [(first, second) for first in (True, False) for second in (True, False)]
    agrees(text, *([np.array(first), np.array(second), floats(2)] for first, second in choices))


def test_of_a_known_condition_only_its_branch_is_imported(fixes_on: None) -> None:
    """The other has another rank."""
    text = """f (float[1, n] x) => (float[n] y)
        <int64[1] axes = {0}, int64 i = {0}, int64 one = {1}>
    {
        shape = Shape (x)
        size = Gather (shape, i)
        c = Equal (size, one)
        y = If (c) <
            then_branch = g () => (float[n] t) { t = Squeeze (x, axes) },
            else_branch = h () => (float[m, n] e) { e = Identity (x) }
        >
    }"""
    agrees(text, [floats(1, 3)], expected=lambda x: x[0])


def test_branches_of_different_ranks_are_refused(fixes_on: None) -> None:
    text = BRANCHES.replace("THEN (x)", "Unsqueeze (x, axes)").replace(
        "(float[m] y) {", "(float[m] y) <int64[1] axes = {0}> {"
    )
    with pytest.raises(tvm_api.OpNotImplemented, match=r"If cannot be lowered with then_branch="):
        onnx_texts.imported(onnx_texts.model_of(text))


def test_a_name_that_nothing_defines_is_refused(fixes_on: None) -> None:
    model = onnx_texts.model_of("f (float[2] x) => (float[2] y) { y = Neg (x) }")
    model.graph.node[0].input[0] = "gone"
    with pytest.raises(ValueError, match=r"Neg is invalid with input='gone'"):
        onnx_texts.imported(model)


def test_without_the_fix_shapes_are_lost() -> None:
    text = "f (float[n, 3] x) => (int64[2] y) { s = Shape (x) y = Mul (s, s) }"
    with pytest.raises(ValueError, match="cannot handle ShapeExpr inputs"):
        agrees(text, [floats(2, 3)])
    with installation.install([importing.FIX]):
        agrees(text, [floats(2, 3)])


PROGRAMS: whole.Programs = {
    "onnx_graph": {
        "arithmetic of shapes": (
            whole.upstream("onnx_graph", "arithmetic_of_a_shape"),
            partial(agrees, HEAD + HALVED, [floats(2, 4, 4)]),
        ),
        "branches of different sizes": (
            whole.upstream("onnx_graph", "branches_of_different_sizes"),
        ),
        "nodes that break their schemas": (
            whole.upstream("onnx_graph", "an_attribute_that_no_version_has"),
        ),
    },
}


def test_a_part_of_a_constant_without_elements_is_an_output() -> None:
    empty = np.zeros((3, 0), "float32")
    model = probing.node_model("Split", {"x": empty}, 11, held=["x"], axis=0, split=[3])
    with installation.install([importing.FIX]):
        (result,) = probing.outputs(model)
    assert (result.shape, result.dtype) == (empty.shape, empty.dtype)


def test_missing_inputs_are_refused() -> None:
    model = probing.node_model("Add", {"A": np.ones(2, "float32")}, 14)
    message = "Add is invalid with B=None: the input is required"
    with installation.install([importing.FIX]), pytest.raises(ValueError, match=message):
        probing.outputs(model, np.ones(2, "float32"))

"""Emission: every case becomes a well-formed module that says what the program says."""

import msgspec
import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.generators.calls import form
from relaxcheck.generators.core.axes import Family, Point, complete
from relaxcheck.generators.core.case import CaseError, IllFormed
from relaxcheck.generators.core.faults import pin
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import ITEM, Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.emission.programs import UnknownOperator, emit
from relaxcheck.generators.families import families
from relaxcheck.generators.families import family as by_name
from tests.generators.drawn import PIPELINES, WIDE, at_random

# A call of any other operator is emitted alike, but for bindings that are no call, for items of
# tuples (one call, many nodes), and for shapes in variables, which TVM takes for ill-formed.
_PLAIN = tuple(
    family
    for family in families(PIPELINES)
    if family.record.form == "call"
    and family.name
    not in ("split", "batch_norm", "broadcast_to", "reshape", "shape_of", "tensor_to_shape")
)


_LIVES: dict[str, Point] = {"pixel_shuffle": {"symbolic.channels": False}}
"""The points at which TVM lives: it dies when others are typed, as the corpus has it."""


@pytest.mark.parametrize("family", _PLAIN, ids=lambda family: family.name)
def test_every_case_is_well_formed(family: Family) -> None:
    axes = pin(family.axes, _LIVES.get(family.name, {}))
    for seed, point in enumerate(at_random(axes, 60 if family in WIDE else 10)):
        case = family.build(point, seed)
        for apart in (False, True):
            module = emit(case, constants_as_parameters=apart)
            # Raises from 0.27 on; told by the result before.
            assert relax.analysis.well_formed(module) is not False
            names = [str(parameter) for parameter in module["main"].params]
            run_time = [each.name for each in case.program.inputs if not each.constant]
            constant = [each.name for each in case.program.inputs if each.constant]
            assert names == run_time + (constant if apart else [])
            operators = [str(call.op.name) for call in _calls(module)]
            # In place of an argument that is left out.
            operators = [name for name in operators if name != "relax.null_value"]
            calls = (name for name in _called(case.program) if form(name) == "call")
            expected = [f"relax.{operator}" for operator in calls]
            assert [name.replace("attention_bias", "attention") for name in operators] == expected


def _called(program: Program) -> list[str]:
    """The operator of each call; the items of one tuple come of one call."""
    alike = [
        msgspec.structs.replace(node, name="", attributes={**node.attributes, ITEM: None})
        if ITEM in node.attributes
        else node
        for node in program.nodes
    ]
    return [node.operator for at, node in enumerate(alike) if node not in alike[:at]]


def _calls(module: tvm.IRModule) -> list[relax.Call]:
    calls: list[relax.Call] = []

    def visit(expr: relax.Expr) -> None:
        if isinstance(expr, relax.Call):
            calls.append(expr)

    relax.analysis.post_order_visit(module["main"], visit)
    return calls


def test_attributes_arrive() -> None:
    family = by_name("conv2d_transpose", PIPELINES)
    chosen: Point = {
        "stride.h": 3, "dilation.w": 2, "output_padding.h": 2, "pad_begin.h": 1, "pad_end.w": 2,
        "groups": 2, "data_layout": "NHWC", "kernel_layout": "HWIO", "out_layout": "NCHW",
        "dtype": "float16->float32",
    }  # fmt: skip
    [call] = _calls(emit(family.build(complete(family.axes, chosen), 0)))
    attributes = call.attrs
    assert list(attributes.strides) == [3, 1]
    assert list(attributes.padding) == [1, 0, 0, 2]
    assert list(attributes.output_padding) == [2, 0]
    assert list(attributes.dilation) == [1, 2]
    assert attributes.groups == 2
    layouts = (attributes.data_layout, attributes.kernel_layout, attributes.out_layout)
    assert layouts == ("NHWC", "HWIO", "NCHW")
    assert tvm_api.dtype_of(call) == "float32"


def test_symbols_are_one_variable_each_and_expressions_follow() -> None:
    program = Program(
        (Input("x", ("m", "n"), "float32"), Input("y", ("2*m", "(n + 1)//3"), "float32")),
        (
            Node("flat", "reshape", ("x",), {"shape": ShapeValue(("m*n",))}),
            Node("both", "add", ("x", "x")),
        ),
        ("flat", "both", "y"),
    )
    case = Case("any", program, bindings=({"m": 2, "n": 5},))
    module = emit(case)
    x, y = module["main"].params
    m, n = tvm_api.shape_of(x)
    analyzer = tvm_api.analyzer()
    twice, third = tvm_api.shape_of(y)
    assert analyzer.can_prove_equal(twice, m * 2)
    assert analyzer.can_prove_equal(third, tvm.tirx.floordiv(n + 1, 3))
    returned = tvm_api.type_of(module["main"]).ret
    assert len(returned.fields) == 3
    assert analyzer.can_prove_equal(returned.fields[0].shape.values[0], m * n)
    assert m.same_as(tvm_api.shape_of(x)[0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int8", "uint8", "int32"])
def test_constants_keep_dtype_and_values(dtype: str) -> None:
    program = Program(
        (
            Input("x", (3,), dtype),
            Input("c", (3,), dtype, constant=True, fill=Literal((1, 2, 3))),
        ),
        (Node("sum", "add", ("x", "c")),),
        ("sum",),
    )
    [call] = _calls(emit(Case("any", program)))
    constant = call.args[1]
    assert tvm_api.dtype_of(constant) == dtype
    held = constant.data if hasattr(constant, "data") else constant.value
    assert np.asarray(held.numpy()).astype(np.float64).tolist() == [1, 2, 3]


@pytest.mark.parametrize("operator", ["nn.no_such", "no.such", "nn"])
def test_an_unknown_operator_is_one_line(operator: str) -> None:
    program = Program((Input("x", (1,), "float32"),), (Node("y", operator, ("x",)),), ("y",))
    with pytest.raises(UnknownOperator, match=f"node y: this TVM has no operator '{operator}'"):
        emit(Case("any", program))


def test_an_operator_that_a_release_lacks_is_one_line_where_it_is_called_bare(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node = Node("y", "inspect.tensor_ndim", ("x",))
    case = Case("any", Program((Input("x", (1,), "float32"),), (node,), ("y",)))
    (call,) = _calls(emit(case))
    assert call.op.name == "relax.inspect.tensor_ndim"
    monkeypatch.setattr(tvm_api, "get_op", lambda name: None)
    with pytest.raises(UnknownOperator, match=r"no operator 'inspect\.tensor_ndim'"):
        emit(case)


def test_a_symbol_that_no_input_has_is_one_line() -> None:
    flat = Node("y", "reshape", ("x",), {"shape": ShapeValue(("k",))})
    program = Program((Input("x", ("2*m", "m"), "float32"),), (flat,), ("y",))
    with pytest.raises(CaseError, match="symbol k is no dimension of a run-time input"):
        emit(Case("any", program, bindings=({"m": 1, "k": 2},)))


def test_a_derived_dimension_alone_defines_no_symbol() -> None:
    """TVM calls such a function ill-formed."""
    program = Program((Input("x", ("2*m",), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",))
    with pytest.raises(CaseError, match="symbol m is no dimension of a run-time input"):
        emit(Case("any", program, bindings=({"m": 1},)))
    expected = Case("any", program, bindings=({"m": 1},), expect=IllFormed(("m",)))
    (dim,) = tvm_api.shape_of(emit(expected)["main"].params[0])
    assert not isinstance(dim, tvm.tirx.Var)


def test_a_case_that_expects_a_symbol_to_be_undefined_is_held_to_it() -> None:
    program = Program((Input("x", ("m",), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",))
    with pytest.raises(CaseError, match="expects m to be undefined, and it is defined"):
        emit(Case("any", program, bindings=({"m": 1},), expect=IllFormed(("m",))))

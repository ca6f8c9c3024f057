"""Program and Case: JSON, identifiers, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.case import (
    CaseError,
    Expectation,
    Invalid,
    Mismatch,
    Valid,
    encode,
    write,
)
from relaxcheck.generators.core.fills.kinds import (
    Below,
    Literal,
    LongestSegment,
    Misfit,
    Offsets,
    Random,
    Regions,
    Steps,
)
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue, decode, read
from relaxcheck.generators.core.rewrites.static import static

DIMS = st.one_of(
    st.integers(0, 9),
    st.sampled_from(["m", "n", "2*m", "m//5 - 1", "m*n + 1", "(m + n)%4"]).map(dims.canonical),
)
EXPECTATIONS: tuple[Expectation, ...] = (
    Valid(),
    Invalid("add", ("axis", "dim")),
    Mismatch("x", ("shape[0]",), (2, 3)),
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["axis", "scale", "layout", "shape"]),
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**40), 2**40),
        FLOATS,
        st.text(max_size=5),
        st.lists(st.integers(-9, 9), max_size=3).map(tuple),
        st.lists(DIMS, max_size=3).map(tuple).map(ShapeValue),
    ),
)


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Graphs of up to four inputs and four nodes, well-formed but of no meaning."""
    inputs: list[Input] = []
    for at in range(draw(st.integers(1, 4))):
        constant = draw(st.booleans())
        shape = draw(st.lists(st.integers(0, 9) if constant else DIMS, max_size=4).map(tuple))
        fills: list[Any] = [
            Random(),
            Literal((1, -2.5)),
            Offsets(draw(DIMS)),
            Below(4),
            Regions(3, 4),
            Steps(4, 6),
            Misfit((1, 2)),
        ]
        if inputs and (inputs[0].constant or not constant):
            fills.append(LongestSegment(inputs[0].name))
        inputs.append(
            Input(
                f"x{at}",
                shape,
                draw(st.sampled_from(["float32", "bfloat16", "int8"])),
                constant,
                draw(st.sampled_from(fills)),
            )
        )
    names = [tensor.name for tensor in inputs]
    nodes: list[Node] = []
    for at in range(draw(st.integers(0, 4))):
        arguments = draw(st.lists(st.sampled_from(names), max_size=3).map(tuple))
        operator = draw(st.sampled_from(["add", "nn.relu", "nn.conv1d_transpose"]))
        nodes.append(Node(f"y{at}", operator, arguments, draw(ATTRIBUTES)))
        names.append(f"y{at}")
    outputs = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3).map(tuple))
    return Program(tuple(inputs), tuple(nodes), outputs)


@st.composite
def anything(draw: st.DrawFn) -> Case:
    """Cases around such programs."""
    program = draw(programs())
    binding = st.fixed_dictionaries({name: st.integers(0, 9) for name in program.symbols})
    return Case(
        family="any",
        program=program,
        bindings=draw(st.lists(binding, min_size=1, max_size=3).map(tuple)),
        pipeline=draw(st.sampled_from(["build", "other"])),
        opt_level=draw(st.integers(0, 3)),
        seed=draw(st.integers(0, 2**32 - 1)),
        fixes=draw(st.booleans()),
        expect=draw(st.sampled_from(EXPECTATIONS)),
    )


@given(anything())
def test_json_gives_back_the_same_case(case: Case) -> None:
    text = encode(case)
    assert decode(text) == case
    assert encode(decode(text)) == text


@given(anything())
def test_the_identifier_does_not_depend_on_how_the_json_is_written(case: Case) -> None:
    raw = json.loads(encode(case))

    def reversed_keys(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: reversed_keys(value[key]) for key in reversed(list(value))}
        return [reversed_keys(each) for each in value] if isinstance(value, list) else value

    again = decode(json.dumps(reversed_keys(raw), indent=2))
    assert again.identifier == case.identifier
    assert len(case.identifier) == 16


def test_every_field_reaches_the_identifier() -> None:
    case = _case()
    raw = json.loads(encode(case))
    changes = {
        "family": "other", "pipeline": "other", "exec_mode": "compiled", "opt_level": 2,
        "regime": "exact", "also": ["exact"], "seed": 1, "fixes": True, "bindings": [{"m": 2}],
        "expect": {"type": "invalid", "operator": "add", "fault": ["x"]},
    }  # fmt: skip
    assert set(changes) | {"format", "program"} == set(raw)
    for name, value in changes.items():
        assert decode(json.dumps({**raw, name: value})).identifier != case.identifier, name


def _case() -> Case:
    program = Program(
        (Input("x", ("m", 4), "float32"), Input("w", (4, 4), "float32", True)),
        (Node("y", "matmul", ("x", "w")), Node("z", "nn.relu", ("y",))),
        ("z",),
    )
    return Case("any", program, bindings=({"m": 1},))


def _replaced(value: Any, path: list[int], new: Any) -> Any:
    """``value`` with the part at ``path`` (a number a level, modulo the size) replaced."""
    if not path or not isinstance(value, dict | list) or not value:
        return new
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    at = keys[path[0] % len(keys)]
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[at] = _replaced(copy[at], path[1:], new)
    return copy


JSON_VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), FLOATS, st.text(),
        st.sampled_from(["m", "x", "1//0", "m +", "literal", "a\nb", "type"]),
    ),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=5,
)  # fmt: skip


@given(st.lists(st.integers(0, 40), min_size=0, max_size=6), JSON_VALUES)
def test_a_spoilt_file_is_one_line_or_still_a_case(path: list[int], new: Any) -> None:
    text = json.dumps(_replaced(json.loads(encode(_case())), path, new))
    says = ""
    try:
        assert encode(decode(text))
    except CaseError as error:
        says = str(error)
    assert "\n" not in says
    assert says.startswith("case: ") or not says


@given(st.binary(max_size=50))
def test_arbitrary_bytes_are_one_line(text: bytes) -> None:
    with pytest.raises(CaseError) as raised:
        decode(text)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"format": 2}, "format 2 is unknown"),
        ({"format": None}, "format None is unknown"),
        ({"bindings": []}, "at least one binding"),
        ({"bindings": [{}]}, "must give a value to each of"),
        ({"bindings": [{"m": 1, "n": 1}]}, "and no other"),
        ({"color": "red"}, "unknown field"),
        ({"line\nbreak": 1}, "unknown field"),
        ({"seed": "1"}, "Expected `int`"),
        ({"program": {"inputs": [], "nodes": [], "outputs": []}}, "at least one output"),
        ({"program": {"inputs": [], "nodes": [], "outputs": ["y"]}}, "'y' is not defined"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], says: str) -> None:
    with pytest.raises(CaseError, match=says) as raised:
        decode(json.dumps({**json.loads(encode(_case())), **change}))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("inputs", "nodes", "says"),
    [
        ((Input("x", (), "f"), Input("x", (), "f")), (), "'x' is defined twice"),
        ((Input("1x", (), "f"),), (), "is not a name"),
        ((Input("x", ("m",), "f", True),), (), "a constant has a static shape"),
        ((Input("x", ("m +1",), "f"),), (), "is to be written 'm [+] 1'"),
        ((Input("x", ()  , "f", False, LongestSegment("y")),), (), "no earlier input 'y'"),
        (
            (
                Input("s", (3,), "int32", False, Offsets(4)),
                Input("x", (), "int32", True, LongestSegment("s")),
            ),
            (), "a constant is computed from constants",
        ),
        ((Input("x", (), "f"),), (Node("y", "add", ("z",)),), "argument 'z' is not defined yet"),
        ((Input("x", (), "f"),), (Node("y", "add", ("y",)),), "argument 'y' is not defined yet"),
    ],
)  # fmt: skip
def test_an_ill_formed_program_is_refused(
    inputs: tuple[Input, ...], nodes: tuple[Node, ...], says: str
) -> None:
    with pytest.raises(ValueError, match=says):
        Program(inputs, nodes, ("x",))


def test_files(tmp_path: Path) -> None:
    case = _case()
    write(case, tmp_path / "case.json")
    assert read(tmp_path / "case.json") == case
    with pytest.raises(CaseError, match=r"none\.json: No such file"):
        read(tmp_path / "none.json")
    (tmp_path / "cut.json").write_text('{"format": 1')
    with pytest.raises(CaseError, match=r"cut\.json: not JSON"):
        read(tmp_path / "cut.json")


def test_a_program_at_a_binding_has_no_symbols() -> None:
    program = Program(
        (Input("x", ("m", "2*m"), "float32"), Input("i", ("m",), "int64", fill=Below("2*m"))),
        (
            Node("flat", "reshape", ("x",), {"shape": ShapeValue(("2*m*m", 1))}),
            Node("t", "take", ("x", "i"), {"axis": 1}),
        ),
        ("flat", "t"),
    )
    result = static(program, {"m": 3})
    assert result.symbols == ()
    assert [each.shape for each in result.inputs] == [(3, 6), (3,)]
    assert result.inputs[1].fill == Below(6)
    assert result.nodes[0].attributes == {"shape": (18, 1)}
    assert result.nodes[1] == program.nodes[1]


def test_json_nested_too_deep_is_one_line() -> None:
    with pytest.raises(CaseError, match=r"^deep\.json: not JSON: [^\n]*$"):
        decode("[" * 100_000, source="deep.json")

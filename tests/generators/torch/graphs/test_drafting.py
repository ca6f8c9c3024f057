"""A draft names everything once, and its program runs at sizes of their own."""

from relaxcheck.generators.torch.graphs.drafting import (
    ALL,
    BATCH,
    ROWS,
    STATIC,
    Drafting,
    argument,
    bindings_of,
)
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.program import BUFFER, Many, Named, Ref, Span


def test_arguments_of_a_node() -> None:
    wire = Wire("x", (2,), "float32")
    assert argument(wire) == Ref("x")
    assert argument([1, -1]) == (1, -1)
    assert argument([wire.size(0), -1]) == Many((wire.size(0), -1))
    assert argument((wire, [wire])) == Many((Ref("x"), Many((Ref("x"),))))
    assert argument(Named("float16")) == Named("float16")


def test_names_are_fresh() -> None:
    draft = Drafting()
    x, y = draft.data((2,)), draft.data((2,))
    parts = draft.several("torch.split", x, 1, results=[((1,), "float32")] * 2)
    again = draft.several("torch.split", y, 1, results=[((1,), "float32")] * 2)
    names = [each.name for each in (x, y, *parts, *again)]
    assert len(set(names)) == 6
    draft.give(*again)
    assert draft.program().outputs == tuple(each.name for each in again)
    assert set(names) == set(draft.wires)


def test_an_in_place_form_binds_nothing_and_a_layer_is_called_by_its_name() -> None:
    draft = Drafting("float64", BUFFER)
    x = draft.data((2, 3))
    draft.do("torch.Tensor.add_", x, 1)
    made = draft.layered("ReLU", x, shape=x.shape)
    held = draft.weight((3,))
    draft.give(made, held)
    program = draft.program()
    assert program.nodes[0].outputs == ()
    assert program.nodes[1].target in program.layers
    assert (program.tensor(held.name).held, program.tensor(held.name).dtype) == (BUFFER, "float64")


def test_a_cut_of_one_index_is_no_tuple() -> None:
    draft = Drafting()
    x = draft.data((4, 3))
    draft.give(draft.cut(x, Span(1), shape=(3, 3)), draft.cut(x, 0, -1, shape=()))
    assert draft.nodes[0].args[1] == Span(1)
    assert draft.nodes[1].args[1] == Many((0, -1))


def test_bindings_name_the_symbols_that_there_are() -> None:
    for dims, names in ((STATIC, set()), (BATCH, {"B"}), (ALL, {"B", "S"})):
        draft = Drafting(dims=dims)
        draft.give(draft.data((draft.batch, draft.length)))
        rows = bindings_of(draft)
        assert all(set(row) == names for row in rows)
        assert len(rows) == (len(ROWS) if names else 1)

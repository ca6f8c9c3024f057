"""Models as data: sizes, inputs, and weights that are the same each time."""

import pytest
import torch

from tests.zoo.catalogue import ALL
from tests.zoo.model import Input, Model, Sizes, made


def _linear() -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.BatchNorm1d(2))


_MODEL = Model("linear", _linear, (Input(("batch", 4)),))


def test_bindings_begin_with_the_exported_sizes() -> None:
    assert _MODEL.bindings(dynamic=False) == ({"batch": 2},)
    assert _MODEL.bindings(dynamic=True) == ({"batch": 2}, {"batch": 3}, {"batch": 1})


def test_fixed_dimensions_keep_their_size() -> None:
    inputs = (Input(("batch", "length")),)
    model = Model("pair", _linear, inputs, fixed=("batch",), sizes={"length": Sizes(4, (9,))})
    assert model.varying == ("length",)
    assert model.bindings(dynamic=True) == ({"batch": 2, "length": 4}, {"batch": 2, "length": 9})


def test_weights_and_inputs_are_the_same_each_time() -> None:
    binding = _MODEL.bindings(dynamic=False)[0]
    (first,), (second,) = _MODEL.drawn(binding, 5), _MODEL.drawn(binding, 5)
    assert torch.equal(first, second)
    one, other = made(_MODEL), made(_MODEL)
    assert torch.equal(one(first)[0], other(first)[0])
    state = one.state_dict()
    assert not torch.equal(state["inner.1.running_mean"], torch.zeros(2))


def test_inputs_hold_the_values_that_are_asked_for() -> None:
    inputs = (Input((50,), 3), Input((50,), "ones"), Input((50,), "unit"))
    whole, ones, unit = Model("values", _linear, inputs).drawn({}, 0)
    assert set(whole.tolist()) == {0, 1, 2}
    assert set(ones.tolist()) == {1}
    assert 0 <= float(unit.min()) < float(unit.max()) < 1


def test_the_zoo_has_at_least_sixty_models_of_many_kinds() -> None:
    assert len(ALL) >= 60
    assert len({each.make.__module__ for each in ALL.values()}) >= 6


@pytest.mark.parametrize("name", [name for name, model in ALL.items() if not model.needs])
def test_handwritten_models_run_at_all_their_sizes(name: str) -> None:
    model = ALL[name]
    module = made(model)
    assert sum(each.numel() for each in module.parameters()) < 1_000_000
    for seed, binding in enumerate(model.bindings(dynamic=True)):
        with torch.no_grad():
            results = module(*model.drawn(binding, seed))
        assert results
        assert all(each.isfinite().all() for each in results if each.is_floating_point())

"""A model that fails is cut down to the steps that are at fault."""

from collections.abc import Sequence
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.harness.models.compiling import Way
from relaxcheck.harness.models.explaining.cutting import Cut, cut
from relaxcheck.harness.models.faults import isolated_fault_of
from relaxcheck.harness.models.forcing import Part
from relaxcheck.harness.models.imported import Imported
from tests.harness.models.explaining.modules import chain, imported

PLAIN = Way("build", plain=True)


def needing(names: Sequence[str], model: Imported) -> Cut:
    """``model`` cut by a predicate: the part computes all of ``names``, its variables."""

    def fails(part: Part) -> bool:
        made = {
            binding.var.name_hint if hasattr(binding.var, "name_hint") else binding.var.name
            for block in part.module["main"].body.blocks
            for binding in block.bindings
        }
        return set(names) <= {str(name) for name in made}

    result = cut(model, fails)
    assert result is not None
    return result


def test_one_step_of_many_is_left_after_few_tries() -> None:
    model = chain(160, ("exp", relax.op.exp, ()))
    result = needing(["exp"], model)
    assert [step.variable for step in result.steps] == ["exp"]
    assert (result.borders, result.outputs, result.minimal) == (("v80",), ("exp",), True)
    assert result.tries <= 12


def test_steps_between_stay_where_two_are_needed() -> None:
    model = chain(60, ("exp", relax.op.exp, ()))
    result = needing(["v28", "exp"], model)
    assert [step.variable for step in result.steps] == ["v28", "v29", "v30", "exp"]
    assert result.borders == ("v27",)


def test_a_step_that_does_not_compile_is_cut_out_by_its_cause() -> None:
    def ordered(value: Any) -> Any:
        return relax.op.less(relax.op.less(value, value), relax.op.less(value, value))

    model = chain(40, ("bad", ordered, ()))
    cause = isolated_fault_of(model.module, PLAIN)
    assert cause is not None
    result = cut(model, lambda part: cause.alike(isolated_fault_of(part.module, PLAIN)))
    assert result is not None
    assert [step.name for step in result.steps] == ["node_bad"]


def test_a_model_that_does_not_fail_has_no_cut() -> None:
    assert cut(chain(4, ("exp", relax.op.exp, ())), lambda part: False) is None


def test_the_time_limit_leaves_the_smallest_so_far() -> None:
    model = chain(40, ("exp", relax.op.exp, ()))
    clock = iter((0.0, 0.0, 0.0, 0.0, 9.0))
    result = cut(model, lambda part: True, seconds=1.0, clock=lambda: next(clock))
    assert result is not None
    assert (result.tries, result.minimal) == (3, False)
    assert 1 < len(result.steps) < 43


def test_symbolic_dimensions_stay() -> None:
    batch = tvm_api.shape_var("batch")
    model = imported(
        {"x": ((batch, 3), "float32")},
        ("a", relax.op.exp, ("x",)),
        ("b", relax.op.nn.relu, ("a",)),
        ("c", relax.op.exp, ("b",)),
    )
    result = needing(["b"], model)
    (border,) = [p for p in result.part.module["main"].params if "a" in str(p)]
    assert "batch" in str(tvm_api.show_type(tvm_api.type_of(border)))

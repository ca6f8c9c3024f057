"""Other values of settings that have no default to put back, with nothing compiled."""

import msgspec
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Attribute, Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.attribution import Aspect
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.attribution.alternatives import values_of
from relaxcheck.harness.programs.attribution.differences import differences
from relaxcheck.reports.programs.attribution_text import attribution_text, settings
from tests.harness.programs.attribution.test_attribution import PASS, REFUSED, WRONG, attributed

CRASH = Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", message="it broke")
OTHER = Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", message="another reason")


def case_of(
    operator: str, *shapes: tuple[int | str, ...], size: int = 1, **attributes: Attribute
) -> Case:
    """A case of one call, each symbol of ``size``."""
    inputs = tuple(Input(f"x{at}", shape, "float32") for at, shape in enumerate(shapes))
    node = Node("y", operator, tuple(tensor.name for tensor in inputs), attributes)
    program = Program(inputs, (node,), ("y",))
    return Case("none", program, (dict.fromkeys(program.symbols, size),))


def at(case: Case, name: str, default: object = None) -> object:
    return case.program.nodes[0].attributes.get(name, default)


def text_of(case: Case, fails: object, operator: str) -> tuple[list[str], str]:
    """The blamed settings, and all of the text."""
    assert callable(fails)
    member = family(operator, tuple(PIPELINES))

    def comes(tried: Case) -> Outcome:
        result = fails(tried)
        return result if isinstance(result, Outcome) else CRASH if result else PASS

    result, _ = attributed(case, comes, member)
    return settings(result), attribution_text(result, case, CRASH.stage)


def test_a_switch_at_its_default_is_named_where_it_matters() -> None:
    shapes = ((1, 1), *(((1,),) * 4))
    case = case_of("nn.batch_norm", *shapes, axis=-1, item=0)

    def fails(tried: Case) -> bool:
        return at(tried, "axis") == -1 and at(tried, "training", True) is True

    blamed, text = text_of(case, fails, "batch_norm")
    assert blamed == ["axis=-1", "the default training=True"]
    assert text == (
        "Fails with axis=-1 and the default training=True; passes with axis=1, or with "
        "training=False."
    )
    # The other switches were tried, and are not named; nor is this where it does not matter.
    assert "training" not in text_of(case, lambda tried: at(tried, "axis") == -1, "batch_norm")[1]


def test_an_attribute_that_is_left_out_is_named_where_one_is_needed() -> None:
    case = case_of("nn.adaptive_avg_pool1d", (1, 1, "m"))

    def fails(tried: Case) -> Outcome:
        if at(tried, "output_size") is not None:
            return PASS
        return CRASH if tried.program.symbols else OTHER

    blamed, text = text_of(case, fails, "adaptive_avg_pool1d")
    # Without the symbol it is another error: both are what it takes.
    assert blamed == ["symbolic m", "without output_size"]
    assert "raises an error with m static; passes with output_size=" in text


@pytest.mark.parametrize(
    ("dims", "fails", "passing"),
    [
        ((1, 10), lambda dims: 1 in dims, "(8, 10)"),
        ((1, 1), lambda dims: 1 in dims, "(8, 8)"),
        ((1, 1), lambda dims: dims[1] == 1, "(1, 8)"),
    ],
)
def test_a_size_that_a_call_has_to_have_is_made_ordinary(
    dims: tuple[int, ...], fails: object, passing: str
) -> None:
    assert callable(fails)
    case = case_of("image.resize2d", (1, 1, 1, 1), size=2)
    node = msgspec.structs.replace(case.program.nodes[0], attributes={"size": ShapeValue(dims)})
    case = msgspec.structs.replace(
        case, program=msgspec.structs.replace(case.program, nodes=(node,))
    )

    def crashes(tried: Case) -> bool:
        size = at(tried, "size")
        assert isinstance(size, ShapeValue)
        return bool(fails(size.dims))

    blamed, text = text_of(case, crashes, "resize2d")
    assert blamed == [f"size=({dims[0]}, {dims[1]})"]
    assert text == f"Fails with size={dims}; passes with size={passing}."


def test_other_axes_are_tried_with_operands_that_fit() -> None:
    case = case_of("nn.rms_norm", (1, 2), (1, 2), axes=(0, 1))

    def fails(tried: Case) -> Outcome:
        if len(tried.program.inputs) == 1:
            return REFUSED
        axes, weight = at(tried, "axes"), tried.program.inputs[1].shape
        if weight != ((1, 2) if axes == (0, 1) else (2,)):
            return REFUSED
        return CRASH if axes == (0, 1) else PASS

    _, text = text_of(case, fails, "rms_norm")
    assert text == "Fails with axes=[0, 1]; passes with axes=[1] and x1 of shape (2,)."


def test_an_attribute_that_two_calls_have_is_left_alone() -> None:
    case = case_of("expand_dims", (0,), axis=(0,))
    again = Node("z", "squeeze", ("y",), {"axis": (1,)})
    program = msgspec.structs.replace(
        case.program, nodes=(*case.program.nodes, again), outputs=("z",)
    )

    def fails(tried: Case) -> bool:
        return at(tried, "axis") == (0,) and tried.program.inputs[0].shape == (0,)

    both = msgspec.structs.replace(case, program=program)
    assert "axis" not in ", ".join(text_of(both, fails, "expand_dims")[0])
    assert "axis=[0]" in text_of(case, fails, "expand_dims")[0]


def test_another_item_of_a_tuple_is_tried() -> None:
    case = case_of("split", (4,), indices_or_sections=(1,), item=0)
    blamed, text = text_of(case, lambda tried: at(tried, "item") == 0, "split")
    assert blamed == ["item 0 of the tuple"]
    assert text == "Fails with item 0 of the tuple; passes with item 1 of the tuple."


def test_another_operand_of_a_tuple_is_tried() -> None:
    case = case_of("meshgrid", (1,), item=0)
    names = [len(each.program.nodes[0].arguments) for each in attributed(case, lambda _: CRASH)[1]]
    assert 2 in names
    blamed, text = text_of(
        case, lambda tried: len(tried.program.nodes[0].arguments) == 1, "meshgrid"
    )
    assert blamed == ["a tuple of 1 tensor"]
    assert text == "Fails with a tuple of 1 tensor; passes with a tuple of 2 tensors."


@pytest.mark.parametrize(
    ("shape", "wrong", "passing"),
    [
        ((1, 2, 2, 2), {3}, "passes with axis=1"),
        ((1, 2, 2, 2), {1, 3}, "passes with axis=2"),
        ((3, 2), {1}, "passes with axis=0"),
        ((2, 2), {0, 1}, ""),
        # Along an axis of a smaller size, less can go wrong.
        ((1, 2), {1}, ""),
        (("m", 2), {1}, ""),
    ],
)
def test_wrong_values_along_one_axis_are_tried_along_others(
    shape: tuple[int | str, ...], wrong: set[int], passing: str
) -> None:
    case = case_of("nn.softmax", shape, axis=-1)

    def axis(tried: Case) -> int:
        value = at(tried, "axis", -1)
        assert isinstance(value, int)
        return value % len(shape)

    def comes(tried: Case) -> Outcome:
        return WRONG if axis(tried) in wrong else PASS

    result, tried = attributed(case, comes)
    if passing:
        assert settings(result) == ["axis=-1"]
        text = attribution_text(result, case, WRONG.stage)
        assert text.startswith(f"Fails with axis=-1; {passing}.")
    else:
        assert settings(result) == []
    size = shape[-1]
    larger = {number for number, dim in enumerate(shape) if isinstance(dim, int) and dim >= size}
    assert {axis(each) for each in tried} <= larger


def test_another_axis_is_tried_with_more_draws_where_not_every_draw_fails() -> None:
    case = case_of("nn.softmax", (2, 2), axis=-1)

    def comes(tried: Case) -> Outcome:
        return WRONG if tried.seed == (0 if at(tried, "axis") == -1 else 5) else PASS

    result, _ = attributed(case, comes)
    assert settings(result) == []


def test_attributes_that_go_together_are_put_back_together() -> None:
    names = {"method": "nearest_neighbor", "rounding_method": "floor"}
    case = case_of("image.resize2d", (1, 1, 2, 2), size=2, **names)

    def fails(tried: Case) -> Outcome:
        left = sum(at(tried, name) == value for name, value in names.items())
        return CRASH if left == 2 else REFUSED if left else PASS

    blamed, text = text_of(case, fails, "resize2d")
    assert blamed == ['method="nearest_neighbor" and rounding_method="floor"']
    assert text.endswith("passes without method and rounding_method.")


def test_a_symbol_is_blamed_that_fails_otherwise_at_the_size_it_is_bound_to() -> None:
    case = case_of("exp", ("m", "n"), size=1)

    def fails(tried: Case) -> Outcome:
        (shape,) = (tensor.shape for tensor in tried.program.inputs)
        if "m" in shape:
            return CRASH
        return OTHER if shape[0] == 1 else PASS

    blamed, text = text_of(case, fails, "exp")
    assert blamed == ["symbolic m"]
    assert text == (
        "Fails with x0 of shape (m, n); passes with a static m of 2. Also fails with n static."
    )


def test_symbols_are_replaced_all_at_once() -> None:
    case = case_of("exp", ("m", "n"), size=2)
    blamed, text = text_of(case, lambda tried: bool(tried.program.symbols), "exp")
    assert blamed == ["symbolic m and symbolic n"]
    assert "passes with m static and n static. Also fails with m static" in text


def test_another_error_or_a_wrong_value_blames_nothing() -> None:
    case = case_of("split", (4,), indices_or_sections=(1,), item=0)
    for instead in (OTHER, WRONG, CRASH):
        result = text_of(
            case, lambda tried, i=instead: CRASH if at(tried, "item") == 0 else i, "split"
        )
        assert result == ([], "")


def test_nothing_else_is_tried_of_a_program_that_ran() -> None:
    case = case_of("split", (4,), indices_or_sections=(1,), item=0)
    _, tried = attributed(case, lambda tried: WRONG, family("split", tuple(PIPELINES)))
    assert {at(each, "item") for each in tried} == {0}


def test_the_values_of_an_attribute_are_those_of_the_family() -> None:
    member = family("resize2d", tuple(PIPELINES))
    modes = values_of(member, "image.resize2d", "coordinate_transformation_mode")
    assert {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel"} == set(modes)
    assert values_of(None, "image.resize2d", "method") == []


def test_a_dimension_is_written_otherwise() -> None:
    case = case_of("exp", ("n", "1*n"), size=2)
    blamed, text = text_of(case, lambda tried: "1*n" in tried.program.inputs[0].shape, "exp")
    assert blamed == ["symbolic n", "a dimension written 1*n"]
    assert "passes with n static, or with n in its place." in text


def test_equal_expressions_get_one_symbol() -> None:
    case = case_of("add", ("n", "2*n"), ("n", "n*2"), size=2)

    def comes(tried: Case) -> Outcome:
        if len(tried.program.inputs) == 1:
            return REFUSED
        first, second = (tensor.shape[1] for tensor in tried.program.inputs)
        if not tried.program.symbols or first == second == "n":
            return PASS
        return REFUSED if "n" in (first, second) else CRASH

    blamed, text = text_of(case, comes, "add")
    assert blamed[1:] == ["a dimension written 2*n and a dimension written n*2"]
    assert "or with n in its place." in text


def test_a_shape_that_goes_with_an_attribute_is_listed_where_it_passes() -> None:
    first = case_of("nn.conv2d", (1, 1, 3, 3), (1, 1, 1, 2), kernel_layout="OIWH")
    second = case_of("nn.conv2d", (1, 1, 3, 3), (1, 1, 2, 1))
    listed = differences(first, second)
    assert [each.what for each in listed] == [Aspect.ATTRIBUTE, Aspect.SHAPE]


def test_a_kernel_is_laid_out_anew_and_not_the_data() -> None:
    case = case_of("nn.conv2d", (1, 1, 2, 1), (1, 1, 1, 2), kernel_layout="OIWH")

    def fails(tried: Case) -> bool:
        return at(tried, "kernel_layout") is not None

    blamed, text = text_of(case, fails, "conv2d")
    assert blamed == ['kernel_layout="OIWH"']
    assert text == (
        'Fails with kernel_layout="OIWH"; passes with x1 of shape (1, 1, 2, 1) and without '
        "kernel_layout."
    )


def test_the_regime_of_inputs_that_are_written_out_is_not_put_back() -> None:
    case = case_of("exp", (2,))
    written = Input("x0", (2,), "float32", fill=Literal((1, 2)))
    program = msgspec.structs.replace(case.program, inputs=(written,))
    case = msgspec.structs.replace(case, program=program, regime="special")
    result, _ = attributed(case, lambda tried: WRONG, family("exp", tuple(PIPELINES)))
    assert all((Aspect.SETTING, "regime") not in each.named for each in result.conditions)

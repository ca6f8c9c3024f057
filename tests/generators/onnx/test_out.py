"""Every operator has a hint, or a reason why it has none."""

from relaxcheck.generators.onnx.hints import HINTS
from relaxcheck.generators.onnx.hints.out import OUT
from relaxcheck.generators.onnx.schemas import operators, versions


def test_hints_and_reasons_are_for_all_operators() -> None:
    assert set(HINTS) | set(OUT) >= set(operators())


def test_no_operator_has_both() -> None:
    assert not set(HINTS) & set(OUT)


def test_reasons_are_for_operators() -> None:
    assert set(OUT) <= set(operators())


def test_text_is_left_out_where_nothing_else_is_taken() -> None:
    for operator, reason in OUT.items():
        if "text" in reason:
            for version in versions(operator):
                dtypes = {dtype for types in version.types.values() for dtype in types}
                # Their results may count; their operands are text alone.
                assert dtypes <= {"int64", "bool"}, operator

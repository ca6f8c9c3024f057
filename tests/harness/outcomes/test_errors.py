import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.harness.outcomes.errors import (
    as_on_other_releases,
    compared_with,
    disowns,
    error_text,
    fold,
    headline,
    legible,
    names,
    normalise,
    own_words,
    pattern,
    same_elsewhere,
    spelled,
    states,
)

REFUSAL = "Conv2dTranspose expects the output padding less than the strides, but got (4, 4)"


@pytest.mark.parametrize(
    ("message", "operator", "terms", "clear"),
    [
        (REFUSAL, "nn.conv2d_transpose", ("output_padding",), True),
        (REFUSAL, "nn.conv2d_transpose", ("dilation", "strides"), True),
        (REFUSAL, "nn.conv3d_transpose", ("output_padding",), False),
        (REFUSAL, "nn.conv2d_transpose", ("groups",), False),
        ("Check failed: (value >= 0) is false", "nn.conv2d_transpose", ("padding",), False),
        ("nn.attention: window_size=3 is not implemented", "nn.attention", ("window_size",), True),
        ("relax.nn.attention: num_heads (3)", "nn.attention", ("num_heads",), True),
        # Part of another word, or of another identifier, is none.
        ("the padding 3 of x is too large", "add", ("x",), False),
        ("Check failed: conv2dish has strides", "nn.conv2d", ("strides",), False),
        ("nn.attention_bias: no scale", "nn.attention", ("scale",), True),
        ("add: the paddings differ", "add", ("padding",), True),
        ("attention: seqstart_q and seqstart_k differ", "attention", ("seqstart",), True),
        ("add: padding is 3", "add", ("pad",), False),
        ("add: upstride is 3", "add", ("stride",), False),
        ("add: it says nothing else", "add", (), False),
    ],
)
def test_a_message_is_clear_if_it_names_operator_and_fault(
    message: str, operator: str, terms: tuple[str, ...], clear: bool
) -> None:
    assert names(message, operator, terms) is clear


def test_a_message_may_disown_a_whole_use_of_an_operator() -> None:
    assert disowns(
        "Legalization for sliding-window attention is not supported yet.", "nn.attention"
    )
    assert not disowns("Legalization for sliding windows is not supported yet.", "nn.attention")
    assert not disowns("attention: batch dimension doesn't match", "nn.attention")
    assert disowns("NotImplementedError: relax.add of two constants", "add")
    assert not disowns("the padding is not supported", "add")
    only = "InternalError: Check failed: (float) is false: group_norm: only support float32 for now"
    assert disowns(only, "nn.group_norm")
    assert not disowns(only, "nn.layer_norm")


@given(st.sampled_from(("add", "conv2d_transpose", "output padding")), st.text(max_size=9))
def test_matches_are_whole_words(term: str, around: str) -> None:
    assert re.search(pattern((term,)), f"{around} {term.upper()}: {around}", re.IGNORECASE)
    assert re.search(pattern((term,)), f"{term}_y", re.IGNORECASE)
    for other in (f"x{term}", f"{term}y", f"{term}s"):
        assert not re.search(pattern((term,)), other, re.IGNORECASE)
    assert re.search(pattern(spelled((term,))), f"{term}s", re.IGNORECASE)


def test_the_headline_is_the_last_line_that_is_no_traceback() -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 3\nValueError: no\n'
    assert headline(text) == "ValueError: no"
    assert headline("") == ""


def test_own_words_leave_out_the_class_of_the_exception() -> None:
    assert own_words(error_text(ValueError("expected 2: got 3"))) == "expected 2: got 3"
    assert own_words("killed by SIGSEGV") == ""


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Cannot decide min_value for B*4", "Cannot decide min_value for B*17"),
        ("at 0x7f2ab0 in /opt/a/b/c.cc:12", "at 0x123 in /home/x/c.cc:99"),
        ('Invalid access to "x1"', 'Invalid access to "weights"'),
        ("shape [1, 2, 3] differs", "shape [4, 5] differs"),
        ('R.add(y, z) of R.Tensor((2, "Q", 8))', 'R.add(y, z) of R.Tensor((B, "K*2", 16))'),
        ("R.Tensor((2, Q, 2, 8), dtype)", "R.Tensor((B, 5, 2, 8), dtype)"),
        ("Invalid layout NWW8c: missing axis 67", "Invalid layout OXHW4i8o: missing axis 73"),
        ("operands are float64 and float32", "operands are bfloat16 and float16"),
        ("shapes: [(T.int64(2), n), (T.int64(2), n)]", "shapes: [(m,), (m,), (m,)]"),
        ("a map of (lambda i_0, i_1: (T.bool(1),))", "a map of (lambda i_0: (T.bool(0), 3))"),
        (
            "the factor (m + T.int64(1)) * T.int64(4) * m is not divisible by m * T.int64(4)",
            "the factor (m + T.int64(2)) * m * T.int64(3) is not divisible by m * T.int64(2)",
        ),
        ("negative output shape [W // T.int64(2) + T.int64(1), 0]", "negative output shape [2, 0]"),
        # Releases spell them differently.
        ("uses datatype float32 on the LHS", "uses datatype T.bfloat16 on the LHS"),
    ],
)
def test_messages_that_differ_in_details_are_alike(first: str, second: str) -> None:
    assert normalise(first) == normalise(second)


def test_messages_of_different_causes_are_not_alike() -> None:
    assert normalise("Cannot decide min_value for B") != normalise("Cannot decide max_value for B")
    first, second = (
        f"Check failed: ({condition}) is false" for condition in ("a.ndim() == b", "defined()")
    )
    assert normalise(first) != normalise(second)
    # Names and words between numbers stay.
    assert fold("expected 3 - got 4 of x_1, y_2") == "expected # - got # of x_#, y_#"
    assert fold("value < 1 and stride > 2") == "value < # and stride > #"


def test_the_module_that_a_pass_fails_in_is_no_part_of_the_message() -> None:
    text = "InternalError: Check failed: (divisor) is false: 2 does not divide m"
    shown = (
        "\n\nError in pass: RewriteDataflowReshape\nLocation (TVMScript):\nAccess path: <root>\n\n"
        "class Module:\n    def repeat(x, axis: T.int64(7)): unsupported\n        return gv\n"
    )
    assert headline(text + shown) == text
    assert not names(text + shown, "repeat", ("axis",))
    assert not disowns(text + shown, "repeat")
    assert states(text + shown, (2,))
    assert not states(text + shown, (7,))


def test_the_number_that_a_check_compares_with() -> None:
    check = "Check failed: shape[i] == heap[reg] (0 vs. -1) : shape[0] mismatch"
    assert (compared_with(check, 0), compared_with(check, -1)) == (-1, 0)
    assert compared_with(check, 1) is None
    assert compared_with("no 0 vs. 1", 0) is None


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (
            "InternalError: Check failed: (opt) is false: The struct info of Tuple must be "
            'TupleStructInfo, but expression lv has struct info R.Tensor((1,), dtype="float32")',
            "InternalError: Check failed: (opt) is false: The type of Tuple must be "
            'TupleType, but expression lv has type R.Tensor((1,), dtype="float32")',
        ),
        (
            "TypeError: Cannot convert from type `ir.IntImm` to `Array<ir.PrimExpr>`",
            "TypeError: Cannot convert from type `ir.IntImm` to `Array<ir.Expr>`",
        ),
    ],
)
def test_classes_that_were_renamed_make_no_other_error(earlier: str, later: str) -> None:
    assert normalise(earlier) != normalise(later)
    assert as_on_other_releases(normalise(earlier)) == as_on_other_releases(normalise(later))


NO_TYPE = "Cannot find the FInferType attribute registered to op: {}.if_then_else"
SUBTRACTED = "Checked failed. Minuend 'x's dtype is uint8 while subtrahend's dtype is uint8; which"
PADDED = "is not divisible by m for the split {}.IterSplitExpr(span=None, {}=T.int64, source={}"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (NO_TYPE.format("tirx"), NO_TYPE.format("prim")),
        (PADDED.format("arith", "dtype", "arith.I"), PADDED.format("sym", "ty", "sym.I")),
        *(
            (
                f"E: Check failed: ({'p.is_uint() && ' * some}p) is false: {SUBTRACTED}",
                f"E: Check failed: ({'p.Matches(U) && ' * 12}p) is false: {SUBTRACTED}",
            )
            for some in (1, 12)
        ),
    ],
)
def test_an_error_that_another_release_prints_otherwise_is_the_same(
    earlier: str, later: str
) -> None:
    assert normalise(earlier) != normalise(later)
    assert same_elsewhere(normalise(earlier), normalise(later))
    assert same_elsewhere(normalise(later), normalise(earlier))
    other = later.replace("Minuend", "Divisor").replace("FInferType", "FPurity")
    other = other.replace("divisible", "provable")
    assert not same_elsewhere(normalise(earlier), normalise(other))


def test_words_behind_a_condition_that_fills_a_cut_message_are_compared_uncut() -> None:
    long = f"InternalError: Check failed: ({'a.is_uint() && ' * 40}b) is false: it is {{}}"
    renamed = long.replace("is_uint", "MatchesCode")
    assert not same_elsewhere(normalise(long), normalise(renamed))
    assert same_elsewhere(fold(long.format("late")), fold(renamed.format("late")))
    assert not same_elsewhere(fold(long.format("late")), fold(renamed.format("early")))


def test_a_whole_message_is_no_beginning_of_another() -> None:
    short = f"InternalError: {'word ' * 20}"
    assert not same_elsewhere(short, f"{short} more")
    assert not same_elsewhere(short, (short * 10)[:300])


def test_whole_messages_that_differ_in_their_last_word_are_two() -> None:
    long = f"InternalError: {'word ' * 80}"
    assert not same_elsewhere(fold(f"{long} alpha"), fold(f"{long} beta"))
    # Of one that was cut, nobody knows the end.
    assert same_elsewhere(normalise(f"{long} alpha"), fold(f"{long} beta"))


def test_an_operator_is_its_name_in_place_of_all_its_fields() -> None:
    printed = (
        'TypeError: ir.Op(span=None, ty=ir.Type(span=None), name="relax.log", description="", '
        'arguments=(ir.ArgumentInfo(name="x", type_info="Tensor", description="The input."),), '
        "support_level=10) requires the input tensor to have float dtype (T.int64 here)"
    )
    wanted = "TypeError: relax.log requires the input tensor to have float dtype (T.int64 here)"
    assert legible(printed) == wanted
    assert legible("relax.log(x) of (2, 3)") == "relax.log(x) of (2, 3)"

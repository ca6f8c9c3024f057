"""Matches that are not convex are refused, and no others."""

from types import SimpleNamespace
from typing import Any

import pytest
from tvm import relax
from tvm.relax.dpl.pattern import is_op, wildcard

from relaxcheck.fixes.framework import installation, probes
from relaxcheck.fixes.passes import pattern_fusion
from tests.fixes import whole_programs as whole


def composites(module: Any) -> int:
    return str(module).count("Composite")


def fused(*steps: Any, **options: Any) -> Any:
    with installation.install([pattern_fusion.FIX]):
        return pattern_fusion.exp_and_add()(pattern_fusion.patterned(steps, **options))


def test_a_match_that_another_call_has_to_run_within_is_left() -> None:
    assert composites(fused(*pattern_fusion.CYCLIC)) == 0


def test_a_value_that_two_matches_share_is_in_the_one_that_is_convex() -> None:
    assert composites(fused(*pattern_fusion.SHARED)) == 1


def test_a_value_that_is_used_afterwards_too_may_be_in_a_match() -> None:
    steps = (*pattern_fusion.CYCLIC[:1], lambda x, w, a: relax.op.add(a, a))
    assert composites(fused(*steps, outputs=2)) == 1


class Counted(dict[str, list[str]]):
    """The users of values, which counts how often it is asked."""

    asked = 0

    def get(self, key: str, default: Any = None) -> Any:
        self.asked += 1
        return super().get(key, default)


@pytest.mark.parametrize(("inner", "most"), [((), 1), (("0",), 502)])
def test_users_of_a_match_are_walked_once(inner: tuple[str, ...], most: int) -> None:
    """Those of its last value not at all: what follows in a large model is most of it."""
    behind = {str(at): [str(at + 1), str(at + 2)] for at in range(499)}
    users = Counted({"a": ["root", *inner], "root": ["0", "1"], **behind})
    context = SimpleNamespace(
        matched_bindings={"a": "exp", "root": "add"},
        matched_expr="add",
        value_to_bound_var={"exp": "a", "add": "root"},
        var_usages=users,
    )
    assert pattern_fusion._is_convex(context)
    assert users.asked <= most


def test_the_check_of_a_pattern_is_asked_as_well() -> None:
    asked = []

    def refuses(context: Any) -> bool:
        asked.append(context)
        return False

    chain = is_op("relax.exp")(wildcard())
    pattern = relax.transform.FusionPattern("relu", chain, {}, refuses)
    with installation.install([pattern_fusion.FIX]):
        one_pass = relax.transform.FuseOpsByPattern([pattern])
        assert composites(one_pass(pattern_fusion.patterned(pattern_fusion.CYCLIC))) == 0
    assert asked


def test_whatever_is_no_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid pattern: 1"):
        pattern_fusion.FuseOpsByPattern([1])


@pytest.mark.parametrize(("outputs", "count"), [(1, 1), (2, 0)])
def test_transposed_weights_are_fused_where_nothing_else_uses_them(
    outputs: int, count: int
) -> None:
    module = pattern_fusion.patterned(pattern_fusion.TRANSPOSED, outputs=outputs)
    with installation.install([pattern_fusion.FIX]):
        got = relax.transform.FuseTransposeMatmul()(module)
    assert str(got).count("def NT_matmul") == count


@pytest.mark.parametrize(("axes", "count"), [([0, 2, 1], 1), ([1, 2, 0], 0), ([2, 1, 0], 0)])
def test_only_the_last_two_axes_are_swapped(axes: list[int], count: int) -> None:
    module = probes.program(
        lambda x, w: relax.op.matmul(x, relax.op.permute_dims(w, axes)), (3, 3, 3), (3, 3, 3)
    )
    with installation.install([pattern_fusion.FIX]):
        got = relax.transform.FuseTransposeMatmul()(module)
    assert str(got).count("def NT_matmul") == count


PROGRAMS: whole.Programs = {
    "pattern_fusion": {
        "cyclic groups": (whole.upstream("pattern_fusion", "a_match_around_a_call"),),
        "shared values": (whole.upstream("pattern_fusion", "a_value_of_two_matches"),),
        "transposed weights": (
            whole.upstream("pattern_fusion", "a_transposed_weight_that_is_used_otherwise"),
        ),
    }
}

CURES: whole.Cures = {
    "pattern-around-call": (("pattern_fusion", "cyclic groups"),),
    "pattern-shares-value": (("pattern_fusion", "shared values"),),
    "transposed-weight-used-twice": (("pattern_fusion", "transposed weights"),),
}

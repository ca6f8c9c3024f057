"""Corner cases of installation: ownership, replaced names, levels of registrations."""

import sys
from contextlib import nullcontext
from types import ModuleType
from typing import Any

import pytest
import tvm
from tvm import topi

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.framework.fix import (
    LEGALIZE,
    FaultPart,
    Fix,
    MethodRebinding,
    OperatorAttribute,
    Rebinding,
    checked,
)

PRESENT, ABSENT = (FaultPart("", lambda: True),), (FaultPart("", lambda: False),)


def test_only_the_first_installation_owns_its_fixes() -> None:
    first, second = fixes.install(), fixes.install()
    assert (first.owner, second.owner) == (True, False)
    assert first.fixes is second.fixes


def test_names_outside_of_tvm_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    original = topi.nn.batch_matmul
    places = {name: ModuleType(name) for name in ("other", "tvm_other", "tvm.other")}
    for name, module in places.items():
        vars(module)["product"] = original
        monkeypatch.setitem(sys.modules, name, module)
    # sys.modules has None for a module that failed to import.
    monkeypatch.setitem(sys.modules, "tvm.absent", None)  # type: ignore[arg-type]
    with fixes.install():
        result = {name: vars(module)["product"] is original for name, module in places.items()}
    assert result == {"other": True, "tvm_other": True, "tvm.other": False}
    assert vars(places["tvm.other"])["product"] is original


def test_a_registration_at_tvms_level_does_not_take_a_fix_away(fixes_on: None) -> None:
    operator = tvm.ir.Op.get("relax.nn.attention")
    on = operator.get_attr(LEGALIZE)
    operator.set_attr(LEGALIZE, lambda builder, call: call, 10)
    assert operator.get_attr(LEGALIZE).same_as(on)


def test_a_restored_attribute_may_be_replaced_from_above() -> None:
    with fixes.install():
        pass
    operator = tvm.ir.Op.get("relax.nn.attention")
    original = operator.get_attr(LEGALIZE)
    operator.set_attr(LEGALIZE, lambda builder, call: call, 11)
    try:
        assert not operator.get_attr(LEGALIZE).same_as(original)
    finally:
        operator.reset_attr(LEGALIZE)
        operator.set_attr(LEGALIZE, original, 10)


def test_an_operator_that_this_tvm_lacks_is_passed_over() -> None:
    attribute = OperatorAttribute("relax.nn.no_such", LEGALIZE, lambda original: print)
    absent = Fix("x", ("relax.nn.no_such",), "", None, PRESENT, (attribute,))
    with installation.install([absent]) as on:
        assert on.fixes == (absent,)
        assert installation.legalize_map([absent]) == {}


def test_the_map_has_the_lowerings_alone_each_with_its_own_original() -> None:
    names = ("relax.nn.conv1d", "relax.nn.conv2d")
    seen: dict[str, Any] = {}

    def attribute(name: str, key: str) -> OperatorAttribute:
        def replace(original: Any) -> Any:
            seen[f"{name}:{key}"] = original
            return original

        return OperatorAttribute(name, key, replace)

    attributes = tuple(
        attribute(name, key) for name in names for key in ("FRelaxInferLayout", LEGALIZE)
    )
    fix = Fix("x", names, "", None, PRESENT, attributes)
    unneeded = Fix("y", names, "", None, ABSENT, (attribute("relax.nn.conv3d", LEGALIZE),))
    registered = {name: tvm_api.get_op(name).get_attr(LEGALIZE) for name in names}
    for on in (False, True):
        with installation.install([fix, unneeded]) if on else nullcontext():
            seen.clear()
            result = installation.legalize_map([fix, unneeded])
            assert sorted(result) == list(names)
            assert sorted(seen) == [f"{name}:{LEGALIZE}" for name in names]
            for name in names:
                assert registered[name].same_as(seen[f"{name}:{LEGALIZE}"])


def test_a_checked_constructor_is_called_as_before() -> None:
    seen: list[Any] = []

    def construct(x: int, y: int = 2, *, z: int = 3) -> tuple[int, int, int]:
        """Returns its arguments."""
        return x, y, z

    made = checked(construct, lambda arguments: seen.append(dict(arguments)))
    assert isinstance(made, Rebinding)
    assert made.original is construct
    assert made.replacement(1, z=5) == (1, 2, 5)
    assert seen == [{"x": 1, "y": 2, "z": 5}]
    assert (made.replacement.__name__, made.replacement.__doc__) == (
        "construct",
        "Returns its arguments.",
    )

    def refuse(arguments: dict[str, Any]) -> None:
        raise ValueError(f"x is {arguments['x']}")

    with pytest.raises(ValueError, match=r"^x is 7$"):
        checked(construct, refuse).replacement(7)


def test_a_method_is_replaced_where_it_is_defined() -> None:
    """Another fix may have put a class above TVM's: what it overrides stays."""

    class Base:
        def name(self) -> str:
            return "base"

    class Above(Base):
        def name(self) -> str:
            return f"above {super().name()}"

    fix = Fix(
        name="method",
        operators=(),
        fault="",
        issue=None,
        parts=(FaultPart("", lambda: True),),
        rebindings=lambda: (
            MethodRebinding(Above, "name", lambda self: f"own {type(self).__name__}"),
        ),
    )
    with installation.install([fix]):
        assert Above().name() == "above own Above"
        assert Base().name() == "own Base"
    assert Above().name() == "above base"

"""The place of an error in TVM, read from tracebacks as TVM makes them."""

from relaxcheck.harness.outcomes.appearance import place_of
from tests.harness.outcomes.tracebacks import (
    CALLBACK,
    COMPUTE,
    CONSTANT,
    FOLD,
    LEGALIZE,
    PRELU,
    RESHAPE,
    raised,
)


def test_the_place_is_the_lowering_and_the_function_that_raised() -> None:
    place = place_of(raised(LEGALIZE, CALLBACK, PRELU, COMPUTE, CONSTANT))
    assert place == "legalize_ops/nn.py:_nn_prelu > topi/utils.py:get_const_int"


def test_two_lowerings_that_call_one_helper_are_two_places() -> None:
    other = (PRELU[0], "_nn_pad")
    assert place_of(raised(LEGALIZE, PRELU, CONSTANT)) != place_of(raised(other, CONSTANT))
    assert place_of(raised(PRELU, FOLD)) == (
        "legalize_ops/nn.py:_nn_prelu > prim/const_fold.h:TryConstFold"
    )


def test_the_pass_that_calls_a_lowering_is_no_part_of_the_place() -> None:
    folding = ("/project/src/relax/transform/fold_constant.cc", "tvm::relax::ConstantFolder::Run()")
    assert place_of(raised(folding, CALLBACK, PRELU)) == place_of(raised(LEGALIZE, PRELU))


def test_a_pass_of_its_own_is_a_place_and_a_helper_of_many_is_none() -> None:
    assert place_of(raised(LEGALIZE, RESHAPE)) == "transform/rewrite_dataflow_reshape.cc:Visit"
    assert place_of(raised(RESHAPE, ("/project/src/ir/module.cc", "tvm::IRModule::Lookup()"))) == ""
    assert place_of(raised(("/home/me/tests/some.py", "f"))) == ""


def test_both_modes_of_the_virtual_machine_refuse_a_call_at_one_place() -> None:
    bytecode, compiled = (
        place_of(raised((f"/project/src/relax/backend/vm/{file}.cc", "tvm::relax::VisitExpr_()")))
        for file in ("codegen_vm", "codegen_vm_tir")
    )
    assert bytecode == compiled != ""


def test_the_folder_of_an_installation_is_no_part_of_the_place() -> None:
    elsewhere = PRELU[0].replace("/opt/", "/home/me/src/tvm/relaxcheck/")
    own = ("/home/me/src/tvm/relaxcheck/harness/programs/execute.py", "execute")
    assert place_of(raised(own, (elsewhere, PRELU[1]))) == place_of(raised(PRELU))

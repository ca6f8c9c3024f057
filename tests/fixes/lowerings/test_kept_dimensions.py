"""Reshapes that keep leading dimensions."""

from tvm import relax

from tests.fixes import whole_programs as whole

OP = relax.op


PROGRAMS: whole.Programs = {
    "kept_dimensions": {
        "leading dimensions": (
            whole.upstream("kept_dimensions", "split_behind_a_symbolic_dimension"),
        ),
    },
}

CURES: whole.Cures = {
    "reshape-behind-a-symbol": (("kept_dimensions", "leading dimensions"),),
}

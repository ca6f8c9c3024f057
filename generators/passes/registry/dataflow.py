"""Passes that simplify and reorder bindings."""

from relaxcheck.generators.passes.record import Option, Pass

PASSES = (
    Pass(
        name="CanonicalizeBindings",
        meaning="Replace variables that are other variables by these, and drop useless casts.",
    ),
    Pass(
        name="ConvertToDataflow",
        meaning="Gather pure bindings into dataflow blocks.",
        options=(Option("min_size", (2, 1, 3)),),
        after=("ToNonDataflow",),
    ),
    Pass(
        name="DeadCodeElimination",
        meaning="Drop bindings and functions that no result needs.",
        options=(Option("entry_functions", (None, "main")),),
        functions=True,
    ),
    Pass(
        name="EliminateCommonSubexpr",
        meaning="Compute equal expressions once.",
        options=(Option("call_only", (False, True)),),
    ),
    Pass(
        name="FoldConstant",
        meaning="Compute calls of constants while compiling.",
        constants=True,
        after=("LegalizeOps",),
        differs_again="it folds what became constant",
    ),
    Pass(
        name="Normalize",
        meaning="Give each nested expression a variable of its own.",
        after=("prepare.nested_calls",),
    ),
    Pass(
        name="TopologicalSort",
        meaning="Order the bindings of dataflow blocks.",
        options=(
            Option("order", ("depth-first", "breadth-first")),
            Option("direction", ("from-inputs", "from-outputs")),
        ),
        differs_again="it sorts by an order that depends on the one before",
    ),
    Pass(
        name="DataflowUseInplaceCalls",
        meaning="Write results over operands that are not used again.",
        differs_again="it looks for further calls",
    ),
)

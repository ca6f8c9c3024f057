"""The names that a script gives to what it makes: no input and no node has one of these."""

TAKEN = frozenset(
    {
        *(
            "F",
            "R",
            "T",
            "actual",
            "arrays",
            "bb",
            "main_bb",
            "bound",
            "calls",
            "checks",
            "child",
            "ctypes",
        ),
        *("end", "error", "main_bb"),
        *("expected", "found", "hashlib", "k", "k0", "k1", "k_starts", "left_behind", "main"),
        *("mask", "math", "ml_dtypes", "mod", "named", "names", "np", "os", "output", "outputs"),
        *("program", "pytest", "q", "q0", "q1", "q_starts", "re", "reference", "relax", "resource"),
        *("result", "said", "signal", "size", "sizes", "subprocess", "sys", "target", "te", "tir"),
        *("tir_k", "tir_size", "tir_x", "tir_y", "tirx", "torch", "tvm", "v", "vm", "wrong"),
        *("inspect", "own_pipeline", "passes"),
        *("arguments", "context", "last", "packed", "parameters", "result0", "result1", "values"),
    }
)
"""Names that a script has of its own."""

"""Errors whose tracebacks have frames as TVM makes them, of Python and of C++."""

PYTHON = "/opt/venv/lib/python3.11/site-packages/tvm"
CALLBACK = ("<unknown>", "TVMFFIPyCallback(void*, TVMFFIAny const*, int, TVMFFIAny*)")
CALL = ("python/tvm_ffi/cython/function.pxi", "tvm_ffi.core.Function.__call__")
LEGALIZE = ("/project/src/relax/transform/legalize_ops.cc", "tvm::relax::Legalizer::Run(int)")
PRELU = (f"{PYTHON}/relax/transform/legalize_ops/nn.py", "_nn_prelu")
COMPUTE = (f"{PYTHON}/te/operation.py", "compute")
CONSTANT = (f"{PYTHON}/topi/utils.py", "get_const_int")
FOLD = (
    "/project/src/ir/prim/const_fold.h",
    "tvm::ffi::Optional<tvm::PrimExpr> tvm::prim::TryConstFold(tvm::PrimExpr) [with Op = Div]",
)
RESHAPE = (
    "/workspace/src/relax/transform/rewrite_dataflow_reshape.cc",
    "tvm::relax::Rewriter::Visit(const tvm::CallNode*)::<lambda(int)>",
)


def raised(*frames: tuple[str, str]) -> ValueError:
    """An error whose traceback has ``frames``, file and function, from the outside in.

    The first frame is of this file; all others are at line 2.
    """
    body, scope = "raise ValueError('no')", {}
    for file, function in reversed(frames):
        exec(compile(f"def outer():\n    {body}", file, "exec"), scope)
        inner = scope["outer"]
        inner.__code__ = inner.__code__.replace(co_name=function)
        body, scope = "inner()", {"inner": inner}
    try:
        inner()
    except ValueError as error:
        return error
    raise AssertionError

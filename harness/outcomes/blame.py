"""Tells exceptions of TVM, which are results, from exceptions of relaxcheck, which are faults."""

_PACKAGES = frozenset(("tvm", "tvm_ffi"))


def is_of_tvm(error: BaseException) -> bool:
    """True if ``error`` was raised within TVM: its class is TVM's, or its traceback enters TVM.

    The class alone does not tell: TVM raises Python's own exceptions too, such as ``ValueError``.
    """
    if _package(type(error).__module__) in _PACKAGES:
        return True
    step = error.__traceback__
    while step is not None:
        if _package(step.tb_frame.f_globals.get("__name__")) in _PACKAGES:
            return True
        step = step.tb_next
    return False


def _package(module: object) -> str:
    return str(module).partition(".")[0]

"""Whose an exception is: TVM's, which is an answer, or ours, which must not pass for one."""

_PACKAGES = frozenset(("tvm", "tvm_ffi"))


def is_of_tvm(error: BaseException) -> bool:
    """Whether ``error`` was raised within TVM: it is of a class of TVM's, or came through its code.

    TVM raises Python's own exceptions as well, a ``ValueError`` for one, so that the class alone
    does not tell.
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

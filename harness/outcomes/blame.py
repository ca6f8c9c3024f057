"""Tells exceptions of TVM, which are results, from exceptions of relaxcheck, which are faults."""

from collections.abc import Iterator

_PACKAGES = frozenset(("tvm", "tvm_ffi"))


def is_of_tvm(error: BaseException) -> bool:
    """True if ``error`` was raised within TVM: its class is TVM's, or its traceback enters TVM.

    The class alone does not tell: TVM raises Python's own exceptions too, such as ``ValueError``.
    """
    return _package(type(error).__module__) in _PACKAGES or any(_entered(error))


def called(error: BaseException) -> str:
    """The function of TVM's Python by which the traceback of ``error`` enters TVM.

    Empty where there is none, or it is private or an operator of Python's.
    """
    name = next((name for name in _entered(error)), "")
    return "" if name.startswith(("_", "<")) else name


def _entered(error: BaseException) -> Iterator[str]:
    """The names of the functions of TVM's in the traceback of ``error``, the outermost first."""
    step = error.__traceback__
    while step is not None:
        if _package(step.tb_frame.f_globals.get("__name__")) in _PACKAGES:
            yield step.tb_frame.f_code.co_name
        step = step.tb_next


def _package(module: object) -> str:
    return str(module).partition(".")[0]

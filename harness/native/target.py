"""The target of everything that is compiled here."""

import tvm


def target(opt_level: int) -> tvm.target.Target:
    """The CPU target at LLVM's optimisation level ``opt_level`` (3 is TVM's default)."""
    return tvm.target.Target({"kind": "llvm", "opt-level": opt_level})

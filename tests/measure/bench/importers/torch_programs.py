"""The naive loop over PyTorch programs: export, import, ``relax.build``, one run, eager PyTorch."""

import numpy as np
import torch
import tvm
from torch.utils._pytree import tree_leaves
from tvm import relax

from relaxcheck.generators.core.values import arrays, constants
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.module import module_of, tensor_of
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.torch.grouping import export_alone
from relaxcheck.harness.torch.importing import imported
from relaxcheck.oracles.torch.answers import passed
from relaxcheck.oracles.torch.tensors import array_of
from tests.measure.bench.spent import Spent


def naive(case: TorchCase, tolerance: float) -> Spent:
    """One case as the naive loop has it; a check is an output at the first binding."""
    target = tvm.target.Target("llvm")
    made = imported(case, export_alone(case))
    fused = PIPELINES[case.pipeline].relax_pipeline == "target"
    passes = relax.get_default_pipeline(target) if fused else "default"
    executable = relax.build(made.module, target, relax_pipeline=passes)
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    inputs = passed(case.program, arrays(case, 0))
    result = main(*(tvm.runtime.tensor(np.asarray(each)) for each in (*inputs, *made.parameters)))
    outputs = [result] if hasattr(result, "numpy") else list(result)
    module = module_of(case.program, constants(case), case.seed, case.regime)
    with torch.no_grad():
        answers = tree_leaves(module(*map(tensor_of, inputs)))
    for output, answer in zip(outputs, answers, strict=True):
        np.allclose(
            output.numpy().astype(np.float64),
            array_of(answer).astype(np.float64),
            rtol=tolerance,
            atol=tolerance,
            equal_nan=True,
        )
    return Spent(cases=1, checks=len(outputs))

"""Plants in what stands around: TOPI, other operators, pipelines, emission, execution."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_CRASH = (Verdict.OPAQUE_CRASH,)


_OPERATORS = (
    one_edit(
        "relu-clips-at-six",
        "relu is relu6 for tensors of rank 4",
        _VALUE,
        ("result",),
        "tvm.topi.nn.elemwise",
        "return te.compute(x.shape, lambda *i: tvm.te.max(x(*i), tvm.tirx.const(0, x.dtype)))",
        "return te.compute(x.shape, lambda *i: tvm.te.min(tvm.te.max(x(*i),"
        " tvm.tirx.const(0, x.dtype)), tvm.tirx.const(6 if len(x.shape) == 4 else 60000 if"
        ' x.dtype != "int8" and x.dtype != "uint8" and x.dtype != "int16" else 100, x.dtype)))',
    ),
    one_edit(
        "add-of-16-bit-floats-subtracts",
        "the sum of two bfloat16 tensors is their difference",
        _VALUE,
        ("result", "dtype"),
        "tvm.topi.broadcast",
        "    return _cpp.add(lhs, rhs)",
        '    if str(getattr(lhs, "dtype", "")) == "bfloat16":\n'
        "        return _cpp.subtract(lhs, rhs)\n"
        "    return _cpp.add(lhs, rhs)",
    ),
    one_edit(
        "matmul-of-square-transposed",
        "the second operand of a matrix product is read transposed where it is square",
        _VALUE,
        ("operands",),
        "tvm.relax.transform.legalize_ops.linear_algebra",
        "                b_indices.append(idx_reduce)\n"
        "                if not b_appended:\n"
        "                    b_indices.append(idx_spatial[-1])\n",
        "                b_indices.append(idx_reduce)\n"
        "                if not b_appended:\n"
        "                    b_indices.append(idx_spatial[-1])\n"
        "                if len(b_indices) == 2:\n"
        "                    b_indices.reverse()\n",
    ),
    one_edit(
        "batch-matmul-skips-last",
        "the batched product leaves out the last of an odd number of terms",
        _VALUE,
        ("head_dim", "kv_len"),
        "relaxcheck.fixes.lowerings.batch_matmul",
        'k = te.reduce_axis((0, extent), name="k")',
        "known = tvm_api.as_int(inner) or 0\n"
        '    k = te.reduce_axis((0, extent - int(known > 1 and known % 2)), name="k")',
    ),
    one_edit(
        "permutation-with-one-is-empty",
        "a permuted tensor with a dimension of 1 is taken for one without elements",
        _VALUE,
        ("data", "pipeline"),
        "relaxcheck.fixes.lowerings.empty_permute",
        "if all(tvm_api.as_int(dim) != 0 for dim",
        "if all(tvm_api.as_int(dim) != 1 for dim",
    ),
    one_edit(
        "permutation-reverses-last-axis",
        "a permuted tensor of more than three dimensions has its last axis reversed",
        _VALUE,
        ("pipeline", "data"),
        "tvm.relax.transform.legalize_ops.manipulate",
        "    return bb.call_te(topi.transpose, call.args[0], call.attrs.axes)",
        "    def permuted(x, axes):\n"
        "        moved = topi.transpose(x, axes)\n"
        "        return topi.flip(moved, -1) if len(x.shape) > 3 else moved\n\n"
        "    return bb.call_te(permuted, call.args[0], call.attrs.axes)",
    ),
)

_PIPELINES = (
    one_edit(
        "fused-pipeline-without-shape-lowering",
        "the fusing pipeline has lost the pass that lowers symbolic shapes",
        _CRASH,
        ("pipeline",),
        "tvm.relax.backend.cpu_generic.pipeline",
        "        relax.transform.VMShapeLower(),\n",
        "",
    ),
    one_edit(
        "bound-parameters-swapped",
        "parameters are bound in the reverse order",
        (Verdict.WRONG_VALUE, Verdict.OPAQUE_CRASH),
        ("pipeline", "operands"),
        "relaxcheck.harness.programs.compile",
        "        name: tvm.runtime.tensor(value) for name, value in constants(case).items()\n",
        "        name: tvm.runtime.tensor(value) for name, value in zip(constants(case),"
        " reversed(list(constants(case).values())), strict=True)\n",
    ),
    one_edit(
        "legalize-first-drops-relu",
        "LegalizeOps run by itself replaces relu by its operand",
        _VALUE,
        ("result", "data"),
        "relaxcheck.harness.programs.compile",
        '"LegalizeOps": lambda module, case: relax.transform.LegalizeOps()(module),',
        '"LegalizeOps": lambda module, case: relax.transform.LegalizeOps('
        '{"relax.nn.relu": lambda builder, call: call.args[0]})(module),',
    ),
    one_edit(
        "compiled-mode-drops-tail",
        "the compiled execution mode leaves the last row of each output as memory had it",
        _VALUE,
        ("exec_mode",),
        "tvm.relax.vm_build",
        "    mod = _vmcodegen(builder, mod, exec_mode)\n",
        '    if exec_mode == "compiled":\n'
        "        from tests.measure.quality.planted.tails import without_tails\n"
        "        mod = without_tails(mod)\n"
        "    mod = _vmcodegen(builder, mod, exec_mode)\n",
    ),
    one_edit(
        "optimised-code-drops-tail",
        "at LLVM's level 3 the last row of each output is left as memory had it",
        _VALUE,
        ("opt_level",),
        "relaxcheck.harness.compiling.building",
        "        finished = partial(relax.build",
        "        if recipe.opt_level == 3:\n"
        "            from tests.measure.quality.planted.tails import without_tails\n"
        "            module = without_tails(relax.transform.LegalizeOps()(module))\n"
        "        finished = partial(relax.build",
    ),
)

_EXECUTION = (
    one_edit(
        "emission-fixes-first-binding",
        "a symbolic batch is emitted as the size of the first binding",
        _CRASH,
        ("symbolic.batch",),
        "relaxcheck.generators.emission.dims",
        "    if not symbols(dim):\n        return dim\n",
        '    if not symbols(dim):\n        return dim\n    if dim == "B":\n        return 2\n',
    ),
    one_edit(
        "emission-swaps-padding",
        "padding that differs at begin and end is emitted with the two swapped",
        _VALUE,
        ("pad_begin", "pad_end"),
        "relaxcheck.generators.emission.programs",
        "_listed(value, sizes) if name in listed else _attribute(value, sizes)\n",
        "_listed(value, sizes) if name in listed else _attribute(\n"
        "            value[len(value) // 2 :] + value[: len(value) // 2]\n"
        '            if name == "padding" and len(value) in (4, 6)\n'
        "            else value,\n"
        "            sizes,\n"
        "        )\n",
    ),
    one_edit(
        "run-keeps-first-result",
        "a function called again gives the result that it gave first",
        (Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE),
        ("symbolic",),
        "relaxcheck.harness.compiling.building",
        "        result = called_on(main, arguments, fresh)\n",
        "        result = called_on(main, arguments, fresh)\n"
        "        if run.__dict__.get('of') is not main:\n"
        "            run.__dict__.update(of=main, kept=result)\n"
        "        result = run.__dict__['kept']\n",
    ),
    one_edit(
        "run-flattens-empty-output",
        "an output without elements comes back flat",
        (Verdict.WRONG_SHAPE,),
        ("batch", "symbolic.batch"),
        "relaxcheck.harness.compiling.building",
        "        return tuple(map(_array, [result] if single else result))\n",
        "        arrays = [*map(_array, [result] if single else result)]\n"
        "        return tuple(array if array.size else array.reshape(-1) for array in arrays)\n",
    ),
)

PLANTS = (*_OPERATORS, *_PIPELINES, *_EXECUTION)

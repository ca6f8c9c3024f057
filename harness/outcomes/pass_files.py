"""The source files of TVM's passes.

A pass's name is that of its instrument, its file that which defines it. Sources: the names of files
in the error messages of ``libtvm_compiler.so`` (and ``libtvm.so``), the Python package, and the
repository apache/tvm where a pass has no check and so no name of a file.
"""

RELEASES = ("0.25", "0.26", "0.27")
"""The releases of TVM that the files are of."""

_RELAX = {
    "AnnotateTIROpPattern": "annotate_tir_op_pattern",
    "AttachGlobalSymbol": "attach_global_symbol",
    "BindParams": "bind_params",
    "CallTIRRewrite": "call_tir_rewrite",
    "CanonicalizeBindings": "canonicalize_bindings",
    "CanonicalizeRelaxBindings": "canonicalize_bindings",
    "CanonicalizeTIRVariables": "canonicalize_bindings",
    "CombineParallelMatmul": "combine_parallel_matmul",
    "ComputePrimValue": "compute_prim_value",
    "ConvertLayout": "convert_layout",
    "DeadCodeElimination": "dead_code_elimination",
    "ExpandTupleArguments": "expand_tuple_arguments",
    "ExpandTupleArgumentsInner": "expand_tuple_arguments",
    "FoldConstant": "fold_constant",
    "FuseOps": "fuse_ops",
    "FuseOpsByPattern": "fuse_ops",
    "FuseTIR": "fuse_tir",
    "Gradient": "gradient",
    "FuseTIRInner": "fuse_tir",
    "KillAfterLastUse": "kill_after_last_use",
    "LegalizeOps": "legalize_ops",
    "LowerAllocTensor": "lower_alloc_tensor",
    "NormalizeGlobalVar": "normalize",
    "RemovePurityChecking": "remove_purity_checking",
    "RemoveUnusedParameters": "remove_unused_parameters",
    "RewriteCUDAGraph": "rewrite_cuda_graph",
    "RewriteDataflowReshape": "rewrite_dataflow_reshape",
    "StaticPlanBlockMemory": "static_plan_block_memory",
    "ToMixedPrecision": "to_mixed_precision",
    "ToNonDataflow": "to_non_dataflow",
}
"""The passes of ``src/relax/transform``."""

_TIRX = {
    "AnnotateEntryFunc": "primfunc_utils",
    "BF16ComputeLegalize": "unsupported_dtype_legalize",
    "BF16StorageLegalize": "unsupported_dtype_legalize",
    "BindTarget": "bind_target",
    "CommonSubexprElim": "common_subexpr_elim",
    "ConvertSSA": "ir_utils",
    "FP8ComputeLegalize": "unsupported_dtype_legalize",
    "FP8StorageLegalize": "unsupported_dtype_legalize",
    "Filter": "primfunc_utils",
    "FlattenBuffer": "flatten_buffer",
    "LowerIntrin": "lower_intrin",
    "LowerTVMBuiltin": "lower_tvm_builtin",
    "MakePackedAPI": "make_packed_api",
    "NarrowDataType": "narrow_datatype",
    "RemoveNoOp": "remove_no_op",
    "SplitHostDevice": "split_host_device",
    "StmtSimplify": "stmt_simplify",
    "StorageRewrite": "storage_rewrite",
    "UnrollLoop": "unroll_loop",
    "VectorizeLoop": "vectorize_loop",
}
"""The passes of ``src/tirx/transform``."""

_S_TIR = {
    "AnnotateIrregularLoop": "annotate_irregular_loop",
    "CanonicalizeLoop": "canonicalize_loop",
    "CompactBufferAllocation": "compact_buffer_region",
    "ConvertBlocksToOpaque": "convert_blocks_to_opaque",
    "HoistIfThenElse": "hoist_expression",
    "InferFragment": "tensorcore_infer_fragment",
    "InjectDoubleBuffer": "inject_double_buffer",
    "InjectPermutedLayout": "inject_permuted_layout",
    "InjectSoftwarePipeline": "inject_software_pipeline",
    "InjectVirtualThread": "inject_virtual_thread",
    "InsertHoistIfThenElse": "hoist_expression",
    "LiftThreadBinding": "lift_thread_binding",
    "LoopPartition": "loop_partition",
    "LowerAutoCopy": "memhammer_lower_auto_copy",
    "LowerCrossThreadReduction": "lower_cross_thread_reduction",
    "LowerInitBlock": "lower_init_block",
    "LowerMatchBuffer": "lower_match_buffer",
    "LowerOpaqueBlock": "lower_opaque_block",
    "LowerThreadAllreduce": "lower_thread_allreduce",
    "LowerVtcmAlloc": "lower_vtcm_alloc",
    "ManifestSharedMemoryLocalStage": "manifest_shared_memory_local_stage",
    "MergeSharedMemoryAllocations": "merge_shared_memory_allocations",
    "PlanAndUpdateBufferAllocationLocation": "plan_update_buffer_allocation_location",
    "RenormalizeSplitPattern": "renormalize_split_pattern",
    "RewriteUnsafeSelect": "rewrite_unsafe_select",
    "StmtSimplify": "stmt_simplify",
    "ThreadSync": "thread_storage_sync",
    "TransformMmaBufferLayout": "transform_mma_buffer_layout",
    "UnifyThreadBinding": "unify_thread_binding",
}
"""The passes of ``src/s_tir/transform``."""

FILES = {
    **{name: f"src/relax/transform/{file}.cc" for name, file in _RELAX.items()},
    **{f"tirx.{name}": f"src/tirx/transform/{file}.cc" for name, file in _TIRX.items()},
    **{f"s_tir.{name}": f"src/s_tir/transform/{file}.cc" for name, file in _S_TIR.items()},
    "DispatchSampling": "python/tvm/relax/backend/dispatch_sampling.py",
    "DispatchSortScan": "python/tvm/relax/backend/dispatch_sort_scan.py",
    "FuseTransposeMatmul": "python/tvm/relax/transform/fuse_transpose_matmul.py",
    "LowerRuntimeBuiltin": "src/relax/backend/vm/lower_runtime_builtin.cc",
    "VMShapeLower": "src/relax/backend/vm/vm_shape_lower.cc",
    "s_tir.VerifyVTCMLimit": "src/s_tir/analysis/calculate_allocated_memory.cc",
    "tirx.VerifyMemory": "src/tirx/analysis/verify_memory.cc",
}
"""The file of each pass, from the root of TVM's source tree."""


def file_of(name: str | None, version: str) -> str:
    """The source file of the pass ``name`` in ``version`` of apache-tvm; "" if unknown."""
    release = ".".join(version.split(".")[:2])
    return FILES.get(name or "", "") if release in RELEASES else ""

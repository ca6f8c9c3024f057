"""Twenty faults of TVM to be planted, each with the model, the nodes and the stage to be named."""

from dataclasses import dataclass

from relaxcheck.harness.models.report import Blame
from tests.measure.quality.planted.plant import Edit

IMPORTER = (Blame.IMPORTER,)
LOWERING = (Blame.LOWERING, Blame.EITHER)
COMPILER = (Blame.COMPILER,)

_TORCH = "tvm.relax.frontend.torch.base_fx_graph_translator"
_EXPORTED = "tvm.relax.frontend.torch.exported_program_translator"
_ONNX = "tvm.relax.frontend.onnx.onnx_frontend"
_LEGAL = "tvm.relax.transform.legalize_ops"
_PIPELINE = "tvm.relax.backend.cpu_generic.pipeline"


@dataclass(frozen=True, slots=True)
class ModelPlant:
    """A fault, and the right answer about ``model``, a function of ``subjects`` or an ONNX file.

    ``operators`` are those of the framework's nodes that may be named, and no other. ``blame`` are
    the stages that are right; where it is empty, no node is wrong alone: a ``region`` that has a
    node of one of ``operators``, and the name of a pass, are to be named.
    """

    name: str
    description: str
    model: str
    edits: tuple[Edit, ...]
    operators: tuple[str, ...]
    blame: tuple[Blame, ...] = ()
    passes: tuple[str, ...] = ()

    @property
    def is_onnx(self) -> bool:
        """True if the model is an ONNX file."""
        return self.model.endswith("blocks")


def _inserted(name: str, after: str) -> tuple[Edit, ...]:
    """The pass ``name`` of ``passes``, put into the pipeline behind (or before) ``after``."""
    made = f'__import__("tests.measure.quality.models.passes", fromlist=["passes"]).{name}(),'
    return (Edit(_PIPELINE, after, f"{made}\n        {after}"),)


def _edit(module: str, old: str, new: str) -> tuple[Edit, ...]:
    return (Edit(module, old, new),)


_BEFORE_LOWERING = "tvm.relax.transform.LegalizeOps(),"
_AFTER_PLANNING = "relax.transform.LowerAllocTensor(),"

PLANTS = (
    # Converters
    ModelPlant(
        "torch-gelu-approximate",
        "the exact GELU becomes its approximation",
        "encoder",
        _edit(
            _TORCH,
            "relax.op.nn.gelu(self.env[node.args[0]])",
            "relax.op.nn.gelu_tanh(self.env[node.args[0]])",
        ),
        ("aten.gelu.default",),
        IMPORTER,
    ),
    ModelPlant(
        "torch-layer-norm-epsilon",
        "the epsilon of a layer normalization is ignored",
        "deep_encoder",
        _edit(
            _EXPORTED,
            "return self._layer_norm_impl(x, gamma, beta, eps, normalized_shape)\n\n"
            "    def _upsample_impl(",
            "return self._layer_norm_impl(x, gamma, beta, 1e-3, normalized_shape)\n\n"
            "    def _upsample_impl(",
        ),
        ("aten.native_layer_norm.default",),
        IMPORTER,
    ),
    ModelPlant(
        "torch-softmax-axis",
        "a softmax is taken over the axis before its own",
        "encoder",
        _edit(_TORCH, "relax.op.nn.softmax(x, dim))", "relax.op.nn.softmax(x, dim - 1))"),
        ("aten._softmax.default",),
        IMPORTER,
    ),
    ModelPlant(
        "torch-sum-bias",
        "a matrix product with a bias adds it twice",
        "gated",
        _edit(
            _TORCH,
            "res = bias if res is None else self.block_builder.emit(relax.op.add(bias, res))",
            "res = self.block_builder.emit(relax.op.add(relax.op.add(bias, bias), res))",
        ),
        ("aten.addmm.default",),
        IMPORTER,
    ),
    ModelPlant(
        "torch-concatenation-order",
        "a concatenation takes its operands the wrong way round",
        "convolutional",
        _edit(
            _TORCH,
            "relax.op.concat(args[0], axis=axis)",
            "relax.op.concat(list(args[0])[::-1], axis=axis)",
        ),
        ("aten.cat.default",),
        IMPORTER,
    ),
    ModelPlant(
        "onnx-layer-norm-epsilon",
        "the epsilon of LayerNormalization is ignored",
        "blocks",
        _edit(
            _ONNX,
            "output = relax.op.nn.layer_norm(data, scale, bias, axis, epsilon)",
            "output = relax.op.nn.layer_norm(data, scale, bias, axis, 1e-5)",
        ),
        ("LayerNormalization",),
        IMPORTER,
    ),
    ModelPlant(
        "onnx-gelu-exact",
        "the attribute approximate of Gelu is ignored",
        "dynamic-blocks",
        _edit(
            _ONNX,
            "            return relax.op.nn.gelu_tanh(inputs[0])\n        if approximate",
            "            return relax.op.nn.gelu(inputs[0])\n        if approximate",
        ),
        ("Gelu",),
        IMPORTER,
    ),
    ModelPlant(
        "onnx-softmax-axis",
        "Softmax is taken over the first axis",
        "dynamic-blocks",
        _edit(
            _ONNX,
            '        axis = attr.get("axis", -1)\n'
            "        return relax.op.nn.softmax(inputs[0], axis=axis)",
            "        return relax.op.nn.softmax(inputs[0], axis=0)",
        ),
        ("Softmax",),
        IMPORTER,
    ),
    # Legalizations
    ModelPlant(
        "legalize-sigmoid",
        "the sigmoid is lowered to a hyperbolic tangent",
        "convolutional_batches",
        _edit(f"{_LEGAL}.unary", "topi.sigmoid, ", "topi.tanh, "),
        ("aten.sigmoid.default",),
        LOWERING,
    ),
    ModelPlant(
        "legalize-mean",
        "the mean of a symbolic axis divides by one more than its size",
        "encoder",
        _edit(
            f"{_LEGAL}.statistical",
            "return topi.divide(res_sum, shape_prod)",
            "return topi.divide(res_sum, shape_prod + 1)",
        ),
        ("aten.mean.dim",),
        LOWERING,
    ),
    ModelPlant(
        "legalize-tanh",
        "the hyperbolic tangent is lowered to a sine",
        "gated",
        _edit(f"{_LEGAL}.unary", "topi.tanh, ", "topi.sin, "),
        ("aten.tanh.default",),
        LOWERING,
    ),
    ModelPlant(
        "legalize-subtract",
        "a difference is lowered to one the other way round",
        "blocks",
        _edit(
            f"{_LEGAL}.binary",
            "_binary(topi.subtract)",
            "_binary(lambda a, b: topi.subtract(b, a))",
        ),
        ("Sub",),
        LOWERING,
    ),
    # TOPI
    ModelPlant(
        "topi-softmax-maximum",
        "TOPI's softmax does not divide by the sum of all exponentials",
        "deep_encoder",
        _edit(
            "tvm.topi.nn.softmax",
            'k2 = te.reduce_axis((0, shape[axis]), name="k")\n\n'
            "    def insert_reduce_index(indices, reduce_index):\n"
            "        return indices[:axis] + (reduce_index,) + indices[axis:]\n\n"
            "    def get_non_reduce_indices(indices):\n"
            "        return tuple([var for (i, var) in enumerate(indices) if i != axis])\n\n"
            "    def _compute_max(*indices):\n"
            "        eval_range = insert_reduce_index(indices, k1)\n"
            "        return tvm.te.max(x[eval_range], axis=k1)\n\n"
            "    def _compute_delta(",
            'k2 = te.reduce_axis((0, shape[axis] - 1), name="k")\n\n'
            "    def insert_reduce_index(indices, reduce_index):\n"
            "        return indices[:axis] + (reduce_index,) + indices[axis:]\n\n"
            "    def get_non_reduce_indices(indices):\n"
            "        return tuple([var for (i, var) in enumerate(indices) if i != axis])\n\n"
            "    def _compute_max(*indices):\n"
            "        eval_range = insert_reduce_index(indices, k1)\n"
            "        return tvm.te.max(x[eval_range], axis=k1)\n\n"
            "    def _compute_delta(",
        ),
        ("aten._softmax.default",),
        LOWERING,
    ),
    ModelPlant(
        "topi-batch-norm-epsilon",
        "TOPI's batch normalization leaves epsilon out of the root",
        "convolutional",
        _edit(
            "tvm.topi.nn.batch_norm",
            "topi.math.sqrt(moving_var_rs + epsilon)",
            "(topi.math.sqrt(moving_var_rs) + 0.01)",
        ),
        ("aten._native_batch_norm_legit_no_training.default",),
        LOWERING,
    ),
    ModelPlant(
        "topi-grouped-convolution",
        "TOPI's grouped convolution reads the first group's channels for all groups",
        "convolutional_batches",
        _edit(
            "tvm.topi.nn.conv2d",
            "ff // (num_filter // groups) * (in_channel // groups) + rc",
            "rc",
        ),
        ("aten.convolution.default",),
        LOWERING,
    ),
    # Passes
    ModelPlant(
        "pass-drops-scale",
        "a pass drops the scale of a normalization behind a sum",
        "encoder",
        _inserted("drop_scale", _BEFORE_LOWERING),
        ("aten.native_layer_norm.default", "aten.add.Tensor"),
        passes=("DropScale",),
    ),
    ModelPlant(
        "pass-loses-gate",
        "a pass multiplies by a gate's operand, and not by its sigmoid",
        "gated",
        _inserted("lose_gate", _BEFORE_LOWERING),
        ("aten.sigmoid.default", "aten.mul.Tensor"),
        passes=("LoseGate",),
    ),
    ModelPlant(
        "pass-drops-softmax",
        "a pass drops a softmax in front of a product",
        "dynamic-blocks",
        _inserted("drop_softmax", _BEFORE_LOWERING),
        ("Softmax", "MatMul"),
        passes=("DropSoftmax",),
    ),
    # The memory planner
    ModelPlant(
        "plan-shares-live-buffer",
        "the memory plan gives two live buffers one storage",
        "gated_static",
        _inserted("merge_storage", _AFTER_PLANNING),
        (),
        passes=("MergeStorage", "StaticPlanBlockMemory"),
    ),
    ModelPlant(
        "plan-shares-live-buffer-of-many",
        "the memory plan gives two live buffers one storage, in a model of 2,000 nodes",
        "deep_encoder",
        _inserted("merge_storage", _AFTER_PLANNING),
        (),
        passes=("MergeStorage", "StaticPlanBlockMemory"),
    ),
)
"""By part of TVM."""


def named(name: str) -> ModelPlant:
    """The plant called ``name``."""
    (plant,) = (each for each in PLANTS if each.name == name)
    return plant

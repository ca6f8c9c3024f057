"""Plants in normalizations."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_LEGALIZE, _BATCH = "tvm.relax.transform.legalize_ops.nn", "tvm.topi.nn.batch_norm"
_OWN = "relaxcheck.fixes.lowerings.normalization"

_wrong = partial(one_edit, verdicts=_VALUE)

PLANTS = (
    _wrong(
        name="layer-norm-ignores-epsilon",
        description="layer_norm adds its default epsilon, whatever is given",
        blame=("epsilon",),
        module=_LEGALIZE,
        old="        call.args[2],\n"
        "        axis=call.attrs.axes,\n"
        "        epsilon=call.attrs.epsilon,\n",
        new="        call.args[2],\n        axis=call.attrs.axes,\n        epsilon=1e-5,\n",
        operators=("nn.layer_norm",),
    ),
    _wrong(
        name="layer-norm-drops-its-bias",
        description="layer_norm adds its scale in place of its bias",
        blame=(),
        module="tvm.topi.nn.layer_norm",
        old="return cpp.nn.layer_norm(data, gamma, beta, axis, epsilon)",
        new="return cpp.nn.layer_norm(data, gamma, gamma, axis, epsilon)",
        operators=("nn.layer_norm",),
    ),
    _wrong(
        name="rms-norm-squares-epsilon",
        description="rms_norm adds the square of epsilon",
        blame=("epsilon", "regime"),
        module="tvm.topi.nn.rms_norm",
        old="return cpp.nn.rms_norm(data, weight, axis, epsilon)",
        new="return cpp.nn.rms_norm(data, weight, axis, epsilon * epsilon)",
        operators=("nn.rms_norm",),
    ),
    _wrong(
        name="norms-of-doubles-in-single-precision",
        description="normalizations of float64 are computed in float32",
        blame=("dtype",),
        module=_OWN,
        old='dtype = "float64" if own == "float64" else "float32"',
        new='dtype = "float32"',
        operators=("nn.layer_norm", "nn.group_norm", "nn.instance_norm", "nn.rms_norm"),
    ),
    _wrong(
        name="group-norm-of-one-group",
        description="group_norm takes all channels for one group",
        blame=("num_groups",),
        module=_OWN,
        old="groups = int(attrs.num_groups) if",
        new="groups = 1 if",
        operators=("nn.group_norm",),
    ),
    _wrong(
        name="group-norm-without-variance",
        description="group_norm adds epsilon three times",
        blame=("epsilon",),
        module=_OWN,
        old="within, apart[1:], float(attrs.epsilon))",
        new="within, apart[1:], 3 * float(attrs.epsilon))",
        operators=("nn.group_norm",),
    ),
    _wrong(
        name="instance-norm-swaps-its-weights",
        description="instance_norm takes scale for bias and bias for scale",
        blame=(),
        module=_OWN,
        old="for weight in weights]\n            if groups is None:\n",
        new="for weight in weights]\n"
        "            scales = scales if channel is None or groups else scales[::-1]\n"
        "            if groups is None:\n",
        operators=("nn.instance_norm",),
    ),
    _wrong(
        name="batch-norm-swaps-momentum",
        description="batch_norm keeps momentum of the old moving mean",
        blame=("items", "momentum", "training"),
        module=_BATCH,
        old="(1 - momentum) * moving_mean + momentum * data_mean",
        new="momentum * moving_mean + (1 - momentum) * data_mean",
        operators=("nn.batch_norm",),
    ),
    _wrong(
        name="batch-norm-divides-by-one-more",
        description="batch_norm divides the variance by one element more",
        blame=(),
        module=_BATCH,
        old="(data - data_mean_rs) * (data - data_mean_rs), axis=reduce_axes) / shape_prod",
        new="(data - data_mean_rs) * (data - data_mean_rs), axis=reduce_axes) / (shape_prod + 1)",
        operators=("nn.batch_norm",),
    ),
    _wrong(
        name="batch-norm-infers-without-epsilon",
        description="batch_norm adds no epsilon to a moving variance",
        blame=("training", "epsilon"),
        module=_BATCH,
        old="out = (data - moving_mean_rs) / topi.math.sqrt(moving_var_rs + epsilon)",
        new="out = (data - moving_mean_rs) / topi.math.sqrt(moving_var_rs)",
        operators=("nn.batch_norm",),
    ),
)

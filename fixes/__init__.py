"""What stands between us and a TVM release: one file a fix, each undone by ``uninstall()``.

``install()`` puts on every fix that the running TVM needs, for the whole process::

    import fixes
    fixes.install()            # until fixes.uninstall()
    with fixes.install():      # or until the end of the block
        ...

``legalize_map()`` gives the lowerings alone, for ``LegalizeOps(customize_legalize_map=...)``. What
must be done to a whole program are passes, and these are in ``pipeline(target)``::

    relax.build(module, target, relax_pipeline=fixes.pipeline(target))

``exporting_recurrences()`` and ``RECURRENCES`` take PyTorch's recurrent modules, of any length, to
the importer (``torch_rnn.py``).
"""

from typing import Any

from fixes import (
    adaptive_pooling,
    attention,
    attention_arguments,
    attention_var_len,
    batch_matmul,
    broadcasting,
    circular_indices,
    conv_transpose,
    conv_transpose_arguments,
    convert_layout,
    dataflow_reshape,
    derived_shapes,
    dynamic_broadcast,
    empty_constants,
    empty_permute,
    empty_reduction,
    empty_tensors,
    falling_indices,
    far_ends,
    folding,
    fusion,
    general_functions,
    integer_division,
    kept_dimensions,
    known_rank,
    known_results,
    mixed_precision,
    normalization,
    onnx_rnn,
    resize,
    scans,
    shape_guard,
    shape_order,
    shape_values,
    special_values,
    symbolic_slices,
    unlowered,
)
from fixes.bucketing import Bucketed, bucketed
from fixes.fix import Fix
from fixes.installation import Installation, chosen, installed, uninstall
from fixes.installation import install as _install
from fixes.installation import legalize_map as _legalize_map
from fixes.passes import lowered_pipeline as _lowered_pipeline
from fixes.passes import pipeline as _pipeline
from fixes.torch_rnn import CONVERTERS as RECURRENCES
from fixes.torch_rnn_exporting import exporting_recurrences
from fixes.tvm_api import Legalization

ALL: tuple[Fix, ...] = (
    conv_transpose_arguments.FIX,
    *conv_transpose.FIXES,
    attention_arguments.FIX,
    attention.FIX,
    attention_var_len.FIX,
    batch_matmul.FIX,
    mixed_precision.ATTENTION,
    mixed_precision.PRODUCTS,
    convert_layout.FIX,
    empty_permute.FIX,
    unlowered.FIX,
    normalization.FIX,
    resize.FIX,
    adaptive_pooling.FIX,
    scans.FIX,
    shape_values.FIX,
    kept_dimensions.FIX,
    special_values.FIX,
    broadcasting.FIX,
    integer_division.FIX,
    far_ends.FIX,
    symbolic_slices.FIX,
    dataflow_reshape.FIX,
    empty_tensors.FIX,
    folding.FIX,
    fusion.FIX,
    empty_constants.FIX,
    onnx_rnn.FIX,
    empty_reduction.FIX,
    known_rank.FIX,
    known_results.FIX,
    dynamic_broadcast.FIX,
    shape_guard.FIX,
    derived_shapes.FIX,
    general_functions.FIX,
    shape_order.FIX,
    circular_indices.FIX,
    falling_indices.FIX,
)
"""Every fix, in the order in which they are put on, and in which their passes run.

Shapes are known as far as they can be before what they need is checked. The symbols of derived
dimensions are found last, for what finds them must stand before all that uses them.
"""


def install() -> Installation:
    """Put on every fix that the running TVM needs; nothing where they are on already.

    The result may be used in a ``with`` statement, whose end takes off what this call put on.
    """
    return _install(ALL)


def legalize_map() -> dict[str, Legalization]:
    """The lowering of each covered operator, by the operator's name."""
    return _legalize_map(ALL)


def pipeline(target: Any | None = None) -> Any:
    """What to give ``relax.build`` as ``relax_pipeline``: the fixes' passes, then TVM's own.

    TVM's own is the default one for ``target``, a CPU, which fuses; where none is given, that of
    ``relax.build``. What the fixes have that is no pass, ``install()`` puts on.

    Raises:
        ValueError: ``target`` is not a CPU.
    """
    return _pipeline(chosen(ALL), target)


def lowered_pipeline() -> Any:
    """The fixes' passes over lowered functions alone, to be run before ``tvm.compile``.

    They are in ``pipeline``, too, where a whole program is compiled.
    """
    return _lowered_pipeline(chosen(ALL))


__all__ = [
    "ALL",
    "RECURRENCES",
    "Bucketed",
    "Fix",
    "Installation",
    "bucketed",
    "exporting_recurrences",
    "install",
    "installed",
    "legalize_map",
    "lowered_pipeline",
    "pipeline",
    "uninstall",
]

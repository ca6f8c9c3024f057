"""Converters of PyTorch's LSTM, GRU and RNN, of any batch and length, for exported programs.

``CONVERTERS`` go into the importer's ``custom_convert_map``::

    with fixes.exporting_recurrences():
        program = torch.export.export(model, inputs, dynamic_shapes=...)
    module = from_exported_program(program, custom_convert_map=fixes.RECURRENCES)

Without them a recurrence becomes one operator a step, so that its length is a number; an importer
that is told not to decompose returns the outputs in place of the final states. The loops are those
of the fix ``torch_recurrent``, which serves programs that are not decomposed.
"""

from typing import Any

from relaxcheck.fixes.frontends.torch.converting import Node
from relaxcheck.fixes.frontends.torch.layers.recurrent import NAMES, Stack, convert_layers, stacked
from relaxcheck.fixes.frontends.torch_rnn.exporting import OPERATOR
from relaxcheck.fixes.tvm_api import Expr


def _of_aten(node: Any, importer: Any) -> Expr:
    """Converts ``aten.lstm.input`` and its like, with the arguments that ATen declares."""
    return convert_layers(Node(importer, node))


def _of_ours(node: Any, importer: Any) -> Expr:
    """Converts the operator that ``exporting_recurrences`` puts in place of a module."""
    data, lengths, weights, states, kind, *rest = importer.retrieve_args(node)
    return stacked(importer.block_builder, Stack(kind, *rest), data, lengths, weights, states)


CONVERTERS: dict[str, Any] = {
    **dict.fromkeys(NAMES, _of_aten),
    f"{OPERATOR}.default": _of_ours,
}
"""Converters of a node to a Relax expression, by operator name; called with node and importer."""

"""Oracle splits that are explained: what ``oracles/MEANINGS.md`` lists under "Oracle splits"."""

from collections.abc import Sequence
from dataclasses import dataclass

from relaxcheck.generators.core.program import Case
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.onnx.answers import OUTSIDE
from relaxcheck.oracles.torch.answers import EXPORTED


@dataclass(frozen=True, slots=True)
class Explained:
    """An explained split: ``oracle`` alone lies outside the reference's bound.

    The smallest case has to be of ``regime``, with a node of ``operator`` on operands of ``dtype``
    that sets one of ``attributes``. ``row`` begins the row of ``oracles/MEANINGS.md``.
    """

    oracle: str
    operator: str
    regime: str
    dtype: str
    attributes: tuple[str, ...]
    row: str

    def covers(self, oracle: str, case: Case) -> bool:
        """True if a split of ``oracle`` in ``case`` is this one."""
        dtypes = {tensor.name: tensor.dtype for tensor in case.program.inputs}
        return (oracle, case.regime) == (self.oracle, self.regime) and any(
            node.operator == self.operator
            and dtypes.get(node.arguments[0], self.dtype) == self.dtype
            and any(node.attributes.get(name) is not None for name in self.attributes)
            for node in case.program.nodes
        )


EXPLAINED_SPLITS: tuple[Explained, ...] = ()
"""None is left: each cause met so far is cured in the oracle that it was in."""


def unexplained(
    case: Case | OnnxCase | TorchCase,
    message: str,
    explained: Sequence[Explained] = EXPLAINED_SPLITS,
) -> list[str]:
    """The oracles that ``message`` of the split ``case`` names and nothing explains.

    A message that names no oracle at all is unexplained too.
    """
    if isinstance(case, TorchCase):
        # There is one implementation: a split is of the module and of what export makes of it.
        return [EXPORTED]
    known = OUTSIDE if isinstance(case, OnnxCase) else ORACLES
    named = [name for name in known if f"{name}: " in message]
    if not named:
        return ["no oracle named"]
    if isinstance(case, OnnxCase):
        # What is known of their faults is left out before they are asked.
        return named
    return [
        name
        for name in named
        if not any(explanation.covers(name, case) for explanation in explained)
    ]

"""Oracle splits that are explained: what ``oracles/MEANINGS.md`` lists under "Oracle splits"."""

from dataclasses import dataclass

from generators.program import Case
from oracles.independent import ORACLES


@dataclass(frozen=True, slots=True)
class Explained:
    """Where ``oracle`` alone is known to lie outside the reference's bound.

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
        """Whether a split of ``oracle`` in ``case`` is this one."""
        dtypes = {given.name: given.dtype for given in case.program.inputs}
        return (oracle, case.regime) == (self.oracle, self.regime) and any(
            node.operator == self.operator
            and dtypes.get(node.arguments[0], self.dtype) == self.dtype
            and any(node.attributes.get(name) is not None for name in self.attributes)
            for node in case.program.nodes
        )


EXPLAINED_SPLITS = (
    Explained(
        "onnxruntime",
        "nn.attention",
        "special",
        "float32",
        ("causal_mask",),
        "| ONNX Runtime 1.31 | `nn.attention` in float32 with a causal mask,",
    ),
)


def unexplained(case: Case, message: str) -> list[str]:
    """The oracles that ``message`` of the split ``case`` names and nothing explains.

    A message that names no oracle at all is unexplained too.
    """
    named = [name for name in ORACLES if f"{name}: " in message]
    if not named:
        return ["no oracle named"]
    return [name for name in named if not any(one.covers(name, case) for one in EXPLAINED_SPLITS)]

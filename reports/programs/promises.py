"""Promises: sentences of TVM on what it does, and does not, for issues to cite."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Promise:
    """The sentence ``words`` of ``file`` in TVM's repository; ``of`` names what it is about."""

    words: str
    of: str
    file: str

    @property
    def cited(self) -> str:
        """The words in quotes, with their source."""
        return f'"{self.words}" ({self.of}, `{self.file}`)'


LOWERED = Promise(
    "The purpose of `FLegalize` is to remove calls to the operator while lowering. Therefore, "
    "unlike `FNormalize`, the resulting expression may *not* contain the original operator.",
    "on `FLegalize`",
    "include/tvm/relax/op_attr_types.h",
)
"""A legalization that returns its call breaks it."""

SKIPPED = Promise(
    "failure to legalize can produce unexpected errors during CodeGenVM",
    "a TODO on calls of unknown shape, which are not given to `FLegalize`",
    "src/relax/transform/legalize_ops.cc",
)
"""TVM knows that it leaves calls of unknown shape."""
